/** The pages of MCP Apps: their size, that they load nothing, and what they make of the results of tools. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { membersOf, rowsOf } from '../../../console/src/apps/answer.ts';
import { around, conceptsOf, firstOf, IS_A, linksOf, MOST } from '../../../console/src/apps/neighbourhood.ts';
import { chosenIn, shapeOf } from '../../../console/src/query/shape.ts';
import { buildConsole } from '../../../scripts/build-console.ts';

describe('the built pages', () => {
  it('are at most 60 kB each, in one file, and load nothing', async () => {
    const folder = join(await buildConsole(), 'apps');
    expect(readdirSync(folder).sort()).toEqual(['graph.html', 'result.html']);
    for (const name of readdirSync(folder)) {
      const html = readFileSync(join(folder, name), 'utf8');
      expect(Buffer.byteLength(html), name).toBeLessThanOrEqual(60_000);
      // the names of XML languages are not addresses that something loads
      const addresses = [...html.matchAll(/\b(?:https?|wss?):\/\/[^\s"'`)]*/g)].map(([address]) => address);
      expect(
        addresses.filter((address) => !address.startsWith('http://www.w3.org/')),
        name,
      ).toEqual([]);
      const loads =
        /\b(?:fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\(|localStorage|sessionStorage|indexedDB)|@import|url\(|<link|<img|\bsrc=|\beval\(|new Function|innerHTML=(?!\w)/;
      expect(loads.exec(html)?.[0], name).toBeUndefined();
      expect(html.match(/<script/g), name).toHaveLength(1);
    }
  });
});

describe('the results of tools', () => {
  it('are read from their text where a host passes on nothing else', () => {
    const rows = [{ a: 1, b: '<b>' }];
    expect(membersOf({ structuredContent: { rows } })).toEqual({ rows });
    expect(membersOf({ content: [{ type: 'text', text: JSON.stringify({ rows }) }] })).toEqual({ rows });
    expect(membersOf({ content: [{ type: 'text', text: 'no JSON {' }] })).toEqual({});
    expect(membersOf({})).toEqual({});
    const table = rowsOf([{ a: 1 }, null, 'x', { a: 2, c: [3] }]);
    expect([table.length, table.columns, table.row(1)]).toEqual([2, ['a', 'c'], { a: 2, c: [3] }]);
  });

  it('have a chart by the types of their columns', () => {
    const guess = (...rows: readonly object[]) => chosenIn(shapeOf(rowsOf(rows), rows.length), null, null, null);
    expect(guess({ city: 'Oslo', n: 3 }, { city: 'Rome', n: 5 })).toEqual({ x: 'city', y: 'n', kind: 'bar' });
    expect(guess({ n: 3, day: '2026-01-01' })).toEqual({ x: 'day', y: 'n', kind: 'line' });
    expect(guess({ id: 1, weight: 2, height: 3 })).toEqual({ x: 'id', y: 'weight', kind: 'scatter' });
    expect(guess({ name: 'x' })).toEqual({ x: 'name', y: '', kind: 'bar' });
  });
});

describe('the neighbourhood of a concept', () => {
  const sections = {
    ontology: [
      { concept: 'place', inheritance: null, query: null },
      { concept: 'town', inheritance: 'place', primary_keys: 'no', description: 'A town', query: null },
      { concept: 'capital', inheritance: 'town', query: 'SELECT 1' },
      { concept: '__proto__', inheritance: null, query: null },
    ],
    relationships: [
      { concept: 'town', relationship_name: 'near', target_concept: 'town', is_inverse: false, transitivity: 1 },
      { concept: 'town', relationship_name: 'has_hidden', target_concept: 'hidden', is_inverse: false, transitivity: null },
      { concept: 'capital', relationship_name: 'near', target_concept: 'town', is_inverse: false, transitivity: 1 },
      { concept: 'place', relationship_name: 'of', target_concept: '__proto__', is_inverse: false, transitivity: null },
      { concept: '__proto__', relationship_name: 'has', target_concept: 'place', is_inverse: true, transitivity: null },
    ],
  };
  const concepts = conceptsOf(sections);
  const links = linksOf(concepts);

  it('has each link once, where it is declared', () => {
    expect(links).toEqual([
      { from: 'place', to: '__proto__', relationship: 'of' },
      { from: 'town', to: 'place', relationship: IS_A },
      { from: 'town', to: 'town', relationship: 'near*' },
      { from: 'capital', to: 'town', relationship: IS_A },
    ]);
  });

  it('begins with the wanted concept, or with the one that has the most links', () => {
    expect(firstOf(concepts, links, ['nothing', 'capital'])).toBe('capital');
    expect(firstOf(concepts, links, [])).toBe('town');
    expect(firstOf(conceptsOf({}), [], [])).toBeNull();
  });

  it('is drawn in circles, at most MOST concepts, no two at one place', () => {
    expect([...around(concepts, links, 'town', 1).entities.keys()]).toEqual(['town', 'place', 'capital']);
    expect([...around(concepts, links, 'town', 2).entities.keys()]).toEqual(['town', 'place', 'capital', '__proto__']);
    const many = Array.from({ length: 300 }, (_, i) => ({ concept: `c${i}`, inheritance: i === 0 ? null : `c${Math.floor((i - 1) / 12)}`, query: null }));
    const wide = conceptsOf({ ontology: many });
    const { entities } = around(wide, linksOf(wide), 'c0', 2);
    expect(entities.size).toBe(MOST);
    expect(new Set([...entities.values()].map((e) => `${Math.round(e.x)} ${Math.round(e.y)}`)).size).toBe(MOST);
  });
});
