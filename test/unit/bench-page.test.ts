/** What `npm run bench -- --page` writes into docs/performance.md. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Figure, figureCells, isMet, mergedRows, withPart } from '../../bench/lib/page.ts';
import { SECTIONS } from '../../bench/sections.ts';

const page = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8');
const figure = (section: string, value: number): Figure => ({ section, name: 'a point query', value, unit: 'x', aim: 1.1, bound: 'most' });

describe('the page of the benchmarks', () => {
  it.each(['aims', 'machine', ...Object.keys(SECTIONS)])('has a place for %s', (name) => {
    const written = withPart(page, name, '| 1 |');
    expect(written).toContain(`<!-- bench ${name} -->\n\n| 1 |\n\n<!-- end ${name} -->`);
    expect(withPart(written, name, '| 2 |')).not.toContain('| 1 |\n\n<!-- end');
  });

  it('replaces the rows of the sections that were run, and keeps the others in order', () => {
    const first = mergedRows(page, [figure('c', 1.2), figure('a', 1.3)].map(figureCells), new Set(Object.keys(SECTIONS)), Object.keys(SECTIONS));
    const table = withPart(page, 'aims', first.map((row) => `| ${row.join(' | ')} |`).join('\n'));
    expect(mergedRows(table, [figureCells(figure('a', 1.05))], new Set(['a']), Object.keys(SECTIONS))).toEqual([
      ['(a) a point query', 'at most x1.10', 'x1.05', 'yes'],
      ['(c) a point query', 'at most x1.10', 'x1.20', 'no'],
    ]);
  });

  it('knows a value that must not be below its aim', () => {
    expect(isMet({ ...figure('peer', 0.59), aim: 0.6, bound: 'least' })).toBe(false);
    expect(isMet({ ...figure('peer', 0.61), aim: 0.6, bound: 'least' })).toBe(true);
  });
});
