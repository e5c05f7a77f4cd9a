/** docs/oauth-conformance.md quotes names of tests, after the letter of their file. A quote may end with `...`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

it('each quoted test of docs/oauth-conformance.md exists', () => {
  const page = read('docs/oauth-conformance.md');
  const files = new Map([...page.matchAll(/^\| ([A-Z]) \| `([\w/.-]+)`/gm)].map(([, letter = '', path = '']) => [letter, read(path)]));
  expect([...files.keys()].sort().join('')).toBe('ACLPRSW');
  const missing: string[] = [];
  let quotes = 0;
  for (const line of page.split('\n').filter((row) => row.startsWith('|'))) {
    let file = '';
    for (const [, letter, quote] of line.matchAll(/\b([A-Z])(?= ")|"([^"]+)"/g)) {
      if (letter !== undefined) file = letter;
      else if (quote !== undefined && file !== '') {
        quotes++;
        if (!files.get(file)?.includes(quote.replace(/ *\.\.\.$/, ''))) missing.push(`${file} "${quote}"`);
      }
    }
  }
  expect(quotes).toBeGreaterThan(40);
  expect(missing).toEqual([]);
});
