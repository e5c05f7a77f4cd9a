/** Writes files below a folder, and never through a symbolic link: a folder of a strange repository may have some that lead to other files of the user. */
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure, printable } from './failure.ts';

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (s) => s.isSymbolicLink(),
    () => false,
  );

/** Checks that no file, and no folder on the way to one, is a symbolic link. @param names paths below the folder, with slashes @throws Failure */
export async function requireNoLinks(folder: string, names: Iterable<string>): Promise<void> {
  const paths = new Set<string>();
  for (const name of names) {
    const parts = name.split('/');
    for (let length = 1; length <= parts.length; length++) paths.add(join(folder, ...parts.slice(0, length)));
  }
  for (const path of paths)
    if (await isLink(path)) throw new Failure(`${printable(path)} is a symbolic link, which an export does not write through; remove it`);
}

/** Writes a file below a folder. @param name its path below the folder @throws Failure if a part of the path is a symbolic link */
export async function writeBelow(folder: string, name: string, text: string): Promise<void> {
  await requireNoLinks(folder, [name]);
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
