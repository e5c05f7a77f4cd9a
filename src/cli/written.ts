/** Writes files below a folder, and never through a symbolic link: a folder of a strange repository may have some that lead to other files of the user. */
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { Failure, printable } from './failure.ts';

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (s) => s.isSymbolicLink(),
    () => false,
  );

/** The folder and those on the way to it, where they are below another one. */
function foldersBelow(base: string, folder: string): readonly string[] {
  const way = relative(base, folder);
  if (way === '' || isAbsolute(way)) return [];
  const parts = way.split(sep);
  return parts[0] === '..' ? [] : parts.map((_, i) => join(base, ...parts.slice(0, i + 1)));
}

/**
 * Checks that no file, and no folder on the way to one, is a symbolic link.
 * @param base the working directory. Where the folder is below it, the folder and those on the way to it are checked, too; the user has chosen those above.
 * @param names paths below the folder, with slashes
 * @throws Failure
 */
export async function requireNoLinks(base: string, folder: string, names: Iterable<string>): Promise<void> {
  const paths = new Set<string>(foldersBelow(base, folder));
  for (const name of names) {
    const parts = name.split('/');
    for (let length = 1; length <= parts.length; length++) paths.add(join(folder, ...parts.slice(0, length)));
  }
  for (const path of paths)
    if (await isLink(path)) throw new Failure(`${printable(path)} is a symbolic link, which an export does not write through; remove it`);
}

/** Writes a file below a folder. @param base the working directory @param name its path below the folder @throws Failure if a part of the path is a symbolic link */
export async function writeBelow(base: string, folder: string, name: string, text: string): Promise<void> {
  await requireNoLinks(base, folder, [name]);
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
