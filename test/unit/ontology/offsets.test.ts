/** Positions of a script's objects: they are found by their paths, and the paths are not kept. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { Offsets } from '../../../src/ontology/apply/offsets.ts';
import { Places } from '../../../src/ontology/apply.ts';
import { compile } from '../../../src/ontology/compile.ts';
import { EMPTY_MODEL } from '../../../src/ontology/model.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The bytes of memory in use. */
function held(): number {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('offsets by text', () => {
  it('are those that were set last, for each of many keys', () => {
    const offsets = new Offsets(0.3);
    const keys = Array.from({ length: 50_000 }, (_, i) => `["concept","c${i}","property","${'p'.repeat(i % 20)}${i}"]`);
    for (const [i, key] of keys.entries()) offsets.set(key, i);
    for (const [i, key] of keys.entries()) if (i % 3 === 0) offsets.set(key, 2 * i);
    expect(keys.filter((key, i) => offsets.get(key) !== (i % 3 === 0 ? 2 * i : i))).toEqual([]);
    expect(keys.filter((key) => offsets.get(`${key} `) !== undefined || offsets.get(key.toUpperCase()) !== undefined)).toEqual([]);
  });

  it('are found for keys that differ in one character or in their order', () => {
    const offsets = new Offsets(0.3);
    const keys = ['', 'a', 'b', 'ab', 'ba', 'aa', 'aaa', '\u0100', '\u0001', 'a\u0000', '\u0000a'];
    for (const [i, key] of keys.entries()) offsets.set(key, i);
    expect(keys.map((key) => offsets.get(key))).toEqual(keys.map((_, i) => i));
  });
});

it('places are found by the longest path that the script wrote, in any case', () => {
  const places = new Places();
  places.set(0, 'concept', 'Item');
  places.set(7, 'concept', 'Item', 'parent', 'Thing');
  expect(places.get('concept', 'ITEM')).toBe(0);
  expect(places.get('concept', 'item', 'parent')).toBeUndefined();
  expect(places.near('concept', 'item', 'parent', 'thing')).toBe(7);
  expect(places.near('concept', 'item', 'parent', 'other')).toBe(0);
  expect(places.near('concept', 'other')).toBeUndefined();
});

it('the seed decides which keys are near each other', () => {
  const slots = (seed: number): readonly number[] => {
    const spy = vi.spyOn(Math, 'imul');
    new Offsets(seed).get('key');
    const values = spy.mock.results.map((r) => r.value as number);
    spy.mockRestore();
    return values.slice(-2);
  };
  expect(slots(0.3)).toEqual(slots(0.3));
  expect(slots(0.3)).not.toEqual(slots(0.4));
});

describe('the memory of', () => {
  it('the position of a property', () => {
    const count = 100_000;
    const before = held();
    const places = new Places();
    for (let i = 0; i < count; i++) places.set(i, 'concept', `concept${i % 100}`, 'property', `property${i}`);
    const after = held();
    expect(places.get('concept', 'concept7', 'property', 'property7')).toBe(7);
    // the path has 45 characters
    expect((after - before) / count).toBeLessThan(45);
  });

  it('a direction of a relationship', () => {
    const count = 5000;
    const relationships = Array.from({ length: count }, (_, i) => ({
      ...{ name: `r${i}`, kind: 'mtm' as const, target: 'c', source: [], references: [], inverse: `s${i}`, transitive: null, description: null },
    }));
    const concept = {
      ...{
        name: 'c',
        parents: [],
        properties: [],
        multi: [],
        measures: [],
        primaryKey: [],
        label: [],
        relationships,
        description: null,
        tags: {},
        logic: null,
      },
    };
    const graph = compile({ ...EMPTY_MODEL, concepts: [concept] }, 'm');
    const c = graph.concept('c');
    const before = held();
    const found = c?.relationships ?? [];
    const after = held();
    expect(found).toHaveLength(2 * count);
    expect((after - before) / found.length).toBeLessThan(600);
  });
});
