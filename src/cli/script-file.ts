/** A script in a file, and places in it as editors and compilers tell them. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Failure } from './failure.ts';

export interface ScriptFile {
  /** As the caller named it. */
  readonly path: string;
  readonly text: string;
}

/**
 * Reads a file; `-` is the standard input. A relative path starts where the caller stands: npm runs scripts in the
 * project's folder and tells the other one as INIT_CWD.
 *
 * @throws Failure that names the file
 */
export async function readScript(path: string, env: Readonly<Record<string, string | undefined>>): Promise<ScriptFile> {
  try {
    const bytes = path === '-' ? await buffer(process.stdin) : await readFile(resolve(env.INIT_CWD ?? '.', path));
    return { path: path === '-' ? '<stdin>' : path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (e) {
    if (e instanceof TypeError) throw new Failure(`${path} is not UTF-8 text`);
    const code = e instanceof Error && 'code' in e ? e.code : undefined;
    throw new Failure(code === 'ENOENT' ? `there is no file ${path}` : `${path} cannot be read (${code ?? 'unknown fault'})`);
  }
}

/** `file:line:column` of a 1-based position in Unicode code points; the file alone where there is none in it. */
export function placeIn(file: ScriptFile, position: number | undefined): string {
  if (position === undefined || position < 1) return file.path;
  const before = [...file.text].slice(0, position - 1);
  const line = before.filter((c) => c === '\n').length + 1;
  const column = before.length - before.lastIndexOf('\n');
  return `${file.path}:${line}:${column}`;
}
