/** Reads model files for the command line: single files, and all `*.kg` files of folders. */
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Failure } from './failure.ts';
import { madeBy } from './run.ts';
import { readScript, type ScriptFile } from './script-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads files, and the files of folders with one of these endings.
 * @throws Failure if a file cannot be read, or a folder has no such file
 */
export async function readModelFiles(paths: readonly string[], env: Env, endings: readonly string[] = ['.kg']): Promise<readonly ScriptFile[]> {
  if (paths.length === 0) throw new Failure('a file or a folder is missing', 2);
  const found = await Promise.all(paths.map(async (path) => ((await isFolder(path, env)) ? filesIn(path, env, endings) : [path])));
  return Promise.all([...new Set(found.flat())].map((path) => readScript(path, env)));
}

const isFolder = async (path: string, env: Env): Promise<boolean> =>
  path !== '-' &&
  (await stat(resolve(env.INIT_CWD ?? '.', path)).then(
    (s) => s.isDirectory(),
    () => false,
  ));

/** The paths of all files below a folder with one of these endings, sorted. */
async function filesIn(folder: string, env: Env, endings: readonly string[]): Promise<string[]> {
  const entries = await readdir(resolve(env.INIT_CWD ?? '.', folder), { recursive: true, withFileTypes: true });
  const root = resolve(env.INIT_CWD ?? '.', folder);
  const files = entries
    .filter((e) => e.isFile() && endings.some((ending) => e.name.endsWith(ending)))
    .map((e) => join(folder, join(e.parentPath, e.name).slice(root.length + 1)));
  if (files.length === 0) throw new Failure(`the folder ${folder} has no file that ends with ${endings.join(' or ')}`);
  return files.sort();
}

/** The ontology that files are about: the given one, or that of their CREATE ONTOLOGY. @throws Failure if both are missing */
export function ontologyOf(files: readonly ScriptFile[], given: string | undefined): string {
  const found = given ?? files.map((file) => madeBy(file.text)).find((name) => name !== null);
  if (found === undefined || found === null) throw new Failure('--ontology NAME is missing, and no file starts with CREATE ONTOLOGY', 2);
  return found;
}
