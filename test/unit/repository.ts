/** The files of the repository, for the tests of its rules. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Import, importsOf } from './imports.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
export const read = (file: string): string => readFileSync(join(TOP, file), 'utf8');

// Uncommitted files count too, so that a violation is found before the commit.
export const FILES = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: TOP,
  encoding: 'utf8',
})
  .split('\0')
  .filter((f) => f !== '' && exists(f));
function exists(file: string): boolean {
  try {
    read(file);
    return true;
  } catch {
    return false;
  }
}
export const SOURCES = FILES.filter((f) => /^src\/.*\.ts$/.test(f));

/** Imports of a file of src from other files of src, as paths below src. */
export const innerImports = (file: string, imports: readonly Import[]): { readonly target: string; readonly typeOnly: boolean }[] =>
  imports
    .filter((i) => i.from.startsWith('.'))
    .map((i) => ({ target: normalize(join(dirname(file), i.from)), typeOnly: i.typeOnly }))
    .filter((i) => i.target.startsWith('src/'))
    .map((i) => ({ ...i, target: i.target.slice('src/'.length) }));

/** Files that import each other in a cycle, as sorted lists of paths below src. */
export function circles(): readonly (readonly string[])[] {
  const next = new Map(SOURCES.map((f) => [f.slice(4), innerImports(f, importsOf(read(f))).flatMap((i) => (i.typeOnly ? [] : [i.target]))]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file) as number);
    open.push(file);
    for (const target of next.get(file) ?? []) {
      if (!index.has(target)) visit(target);
      if (open.includes(target)) low.set(file, Math.min(low.get(file) as number, low.get(target) as number));
    }
    if (low.get(file) !== index.get(file)) return;
    const circle = open.splice(open.indexOf(file));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const file of next.keys()) if (!index.has(file)) visit(file);
  return found.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
}
