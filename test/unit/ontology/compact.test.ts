import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { largeModel } from '../../../bench/lib/large-model.ts';
import { parseModel } from '../../../src/ontology/compact.ts';
import { compile } from '../../../src/ontology/compile.ts';
import { run } from './script.ts';

const MIB = 1024 * 1024;

/** Bytes of heap that the result of `make` uses. */
function heapOf(make: () => unknown): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  const made = make();
  const kept = used() - before;
  expect(made).toBeDefined();
  return kept;
}

describe('a stored model in memory', () => {
  it('equals its JSON', () => {
    const text = JSON.stringify(largeModel(30, 6));
    expect(parseModel(text)).toEqual(JSON.parse(text));
    expect(JSON.stringify(parseModel(text))).toBe(text);
  });

  it('shares one empty list and one empty object, which are frozen', () => {
    const { concepts, properties, views } = parseModel(JSON.stringify(largeModel(30, 6)));
    const [first, second] = concepts;
    expect(first?.multi).toBe(second?.measures);
    expect(views).toBe(first?.multi);
    expect(first?.tags).toBe(properties[0]?.tags);
    expect(() => ((first?.multi ?? []) as string[]).push('x')).toThrow(TypeError);
    expect(() => Object.assign(first?.tags ?? {}, { x: 'y' })).toThrow(TypeError);
  });

  it('takes less than 12 MiB with 2,000 concepts and 20,000 properties, and the graph over it', () => {
    const text = JSON.stringify(largeModel(2000, 10));
    const kept = heapOf(() => {
      const graph = compile(parseModel(text), 'large');
      graph.property('concept_1_property_0');
      graph.concept('concept_1')?.relationship('refers_0_1');
      graph.mapping('map_1');
      return graph;
    });
    expect(kept / MIB).toBeGreaterThan(1);
    expect(kept / MIB).toBeLessThan(12);
  });
});

it('a script makes concepts with the same shared values', () => {
  const { concepts, properties } = run('CREATE CONCEPT a (k int); CREATE CONCEPT b (l int)').model;
  const [a, b] = concepts;
  expect([a?.multi === b?.measures, a?.tags === properties[0]?.tags, a?.parents === b?.label]).toEqual([true, true, true]);
  expect(a?.multi).toEqual([]);
});
