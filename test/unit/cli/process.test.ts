import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

const TOP = join(import.meta.dirname, '../../..');
const run = (...args: readonly string[]): string => execFileSync(process.execPath, args, { cwd: TOP, encoding: 'utf8' });

it('kg validates a model file in a process of its own, which runs the sources without a build', () => {
  expect(run('src/cli/kg.ts', 'validate', 'examples/world/model.kg')).toMatch(/^examples\/world\/model\.kg: \d+ statements, 0 warnings/);
});

it('every file of the command can be loaded by Node', () => {
  const files = globSync('src/cli/**/*.ts', { cwd: TOP }).map((f) => pathToFileURL(join(TOP, f)).href);
  const program = `for (const f of ${JSON.stringify(files)}) await import(f); console.log('loaded');`;
  expect(files.length).toBeGreaterThan(30);
  expect(run('--input-type=module', '--eval', program).trim()).toBe('loaded');
});
