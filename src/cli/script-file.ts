/** A script in a file, and positions in it in the notation of editors and compilers. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Failure } from './failure.ts';

export interface ScriptFile {
  /** The path as the caller wrote it. */
  readonly path: string;
  readonly text: string;
}

/**
 * Reads a file; `-` is the standard input. A relative path starts at the caller's folder: npm runs scripts in the
 * project's folder, and passes the caller's folder as INIT_CWD.
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
    throw new Failure(code === 'ENOENT' ? `file ${path} does not exist` : `${path} cannot be read (${code ?? 'unknown error'})`);
  }
}

/** `file:line:column` of a 1-based position in Unicode code points; only the file if the position is outside it. */
export function placeIn(file: ScriptFile, position: number | undefined): string {
  if (position === undefined || position < 1) return file.path;
  const before = [...file.text].slice(0, position - 1);
  const line = before.filter((c) => c === '\n').length + 1;
  const column = before.length - before.lastIndexOf('\n');
  return `${file.path}:${line}:${column}`;
}
