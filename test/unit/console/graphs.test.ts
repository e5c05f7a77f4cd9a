/** The drawings of the console: what the model view shows, and the steps of the data view. */
import { describe, expect, it } from 'vitest';
import { add, begin, change, EMPTY, type Found, fromJson, MOST, redo, remove, step, toJson, undo } from '../../../console/src/data/graph.ts';
import { arrange } from '../../../console/src/data/layout.ts';
import { lookOf, PLAIN, readStyles, restyled } from '../../../console/src/data/style.ts';
import { layout, shown } from '../../../console/src/model/graph.ts';
import { Model } from '../../../console/src/model/model.ts';
import type { Relationship } from '../../../console/src/model/types.ts';

const relationship = (name: string, target: string, more: Partial<Relationship> = {}): Relationship => ({
  name,
  target,
  inverse: null,
  is_inverse: false,
  is_mtm: false,
  transitivity: null,
  source_properties: [],
  target_properties: [],
  description: null,
  inherited_from: null,
  ...more,
});
const concept = (name: string, inheritance: readonly string[], relationships: readonly Relationship[] = []) => ({
  concept: name,
  inheritance,
  description: null,
  primary_keys: [],
  label_keys: [],
  query: null,
  properties: [],
  relationships,
  mappings: [],
  tags: {},
});
const model = new Model('m', {
  version: '',
  datasources: [],
  properties: {},
  views: {},
  ontology: [
    concept('a', ['thing'], [relationship('r', 'b'), relationship('s', 'b', { is_mtm: true }), relationship('self', 'a', { transitivity: 3 })]),
    concept('b', ['thing'], [relationship('~r', 'a', { is_inverse: true }), relationship('t', 'c')]),
    concept('c', ['b'], [relationship('t', 'c', { inherited_from: 'b' })]),
    concept('d', ['c']),
  ],
});
const all = { focus: null, depth: 1, inheritance: true, relationships: true, collapsed: new Set<string>() };

describe('the drawing of a model', () => {
  it('has one edge for each pair of concepts, and none for inverse and inherited relationships', () => {
    const { edges } = shown(model, all);
    expect(edges.filter((e) => e.kind === 'relates')).toEqual([
      { from: 'a', to: 'b', kind: 'relates', labels: ['r n:1', 's n:m'] },
      { from: 'a', to: 'a', kind: 'relates', labels: ['self* n:1'] },
      { from: 'b', to: 'c', kind: 'relates', labels: ['t n:1'] },
    ]);
    expect(edges.filter((e) => e.kind === 'inherits').map((e) => `${e.from}>${e.to}`)).toEqual(['c>b', 'd>c']);
  });

  it('shows the surroundings of a concept up to a depth', () => {
    expect(shown(model, { ...all, focus: 'a' }).nodes).toEqual(['a', 'b']);
    expect(shown(model, { ...all, focus: 'a', depth: 2 }).nodes).toEqual(['a', 'b', 'c']);
    expect(shown(model, { ...all, focus: 'a', depth: 3 }).nodes).toEqual(['a', 'b', 'c', 'd']);
  });

  it('hides what is below a collapsed concept', () => {
    const found = shown(model, { ...all, collapsed: new Set(['b']) });
    expect(found.nodes).toEqual(['a', 'b']);
    expect(found.edges.every((e) => e.from !== 'c' && e.to !== 'c')).toBe(true);
  });

  it('places parents above their descendants, and no two concepts at one place', () => {
    const placed = layout(shown(model, all));
    const y = new Map(placed.nodes.map((n) => [n.name, n.y]));
    expect(y.get('b')).toBeLessThan(y.get('c')!);
    expect(y.get('c')).toBeLessThan(y.get('d')!);
    expect(new Set(placed.nodes.map((n) => `${n.x} ${n.y}`)).size).toBe(4);
  });

  it('places concepts with the names of members that every object has', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const ontology = names.map((name, i) => concept(name, i === 0 ? [] : [names[i - 1] as string], [relationship('r', name)]));
    const placed = layout(shown(new Model('m', { version: '', datasources: [], properties: {}, views: {}, ontology }), all));
    expect(placed.nodes.map((n) => n.name)).toEqual(names);
    expect(placed.edges.map((e) => e.kind)).toEqual(['inherits', 'inherits', 'inherits', 'relates', 'relates', 'relates', 'relates']);
    expect(new Set(placed.nodes.map((n) => `${n.x} ${n.y}`)).size).toBe(4);
  });
});

describe('the drawing of data', () => {
  const found = (n: number) => Array.from({ length: n }, (_, i) => ({ id: `c:${i}`, type: 'c', label: null }));

  it('adds entities and links once', () => {
    const link = { from: 'c:0', to: 'c:1', relationship: 'r' };
    const one = add(EMPTY, found(2), [link, link]);
    const two = add(one, found(3), [link]);
    expect([...two.entities.keys()]).toEqual(['c:0', 'c:1', 'c:2']);
    expect(two.links).toEqual([link]);
    expect(two.entities.get('c:0')).toBe(one.entities.get('c:0'));
  });

  it('has a limit', () => {
    expect(add(EMPTY, found(MOST + 10)).entities.size).toBe(MOST);
  });

  it('removes the links of an entity', () => {
    const graph = add(EMPTY, found(2), [{ from: 'c:0', to: 'c:1', relationship: 'r' }]);
    expect(remove(graph, 'c:1').links).toEqual([]);
  });

  it('undoes and repeats steps', () => {
    const first = add(EMPTY, found(1));
    const second = remove(first, 'c:0');
    const steps = step(step(begin(EMPTY), first), second);
    expect(undo(steps).now).toBe(first);
    expect(undo(undo(steps)).now).toBe(EMPTY);
    expect(undo(undo(undo(steps))).now).toBe(EMPTY);
    expect(redo(undo(steps)).now).toBe(second);
    expect(step(undo(steps), EMPTY).future).toEqual([]);
  });

  it('is the same after saving and loading', () => {
    const graph = add(EMPTY, found(3), [{ from: 'c:0', to: 'c:2', relationship: 'r' }]);
    expect(fromJson(toJson('shop', graph))).toEqual({ ontology: 'shop', graph });
    for (const text of ['', '{}', '[]', '{"ontology":"a","entities":[{"id":1}],"links":[]}', '{"ontology":"a","entities":[],"links":[null]}'])
      expect(fromJson(text)).toBeNull();
  });

  it('is not a line when entities are added one by one', () => {
    let graph = add(EMPTY, found(1));
    for (let i = 1; i < 4; i++)
      graph = arrange(add(graph, [found(i + 1)[i] as Found], [{ from: 'c:0', to: `c:${i}`, relationship: 'r' }], graph.entities.get('c:0')));
    const places = [...graph.entities.values()];
    for (const axis of ['x', 'y'] as const) {
      const values = places.map((e) => e[axis]);
      expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan(40);
    }
  });

  it('keeps pinned entities in place when it is arranged', () => {
    const graph = change(
      add(
        EMPTY,
        found(12),
        Array.from({ length: 11 }, (_, i) => ({ from: 'c:0', to: `c:${i + 1}`, relationship: 'r' })),
      ),
      new Map([['c:0', { x: 5, y: 7, pinned: true }]]),
    );
    const arranged = arrange(graph);
    expect(arranged.entities.get('c:0')).toMatchObject({ x: 5, y: 7 });
    const places = [...arranged.entities.values()].map((e) => `${Math.round(e.x / 20)} ${Math.round(e.y / 20)}`);
    expect(new Set(places).size).toBe(12);
  });
});

describe('the look of entities', () => {
  const values = new Map<string, Record<string, unknown>>([
    ['c:1', { kind: 'b', n: 0 }],
    ['c:2', { kind: 'a', n: '100.00' }],
    ['c:3', { kind: 'a', n: 25 }],
    ['c:4', { kind: null, n: null }],
  ]);
  const ids = [...values.keys()];

  it('gives each value a colour, and NULL another one', () => {
    const look = lookOf({ ...PLAIN, colourBy: 'kind' }, '#000000', ids, values, 'other');
    expect(look.colours.map((c) => c.text)).toEqual(['a', 'b', 'other']);
    expect(ids.map((id) => look.fill(id))).toEqual([1, 0, 0, 2].map((i) => look.colours[i]?.colour));
    expect(lookOf({ ...PLAIN, colour: '#123456' }, '#000000', ids, values, 'other').fill('c:1')).toBe('#123456');
  });

  it('grows with the area, from numbers and from decimals, which are texts', () => {
    const look = lookOf({ ...PLAIN, sizeBy: 'n' }, '#000000', ids, values, 'other');
    const [least, most, quarter, none] = ids.map((id) => look.radius(id) ** 2) as [number, number, number, number];
    expect(look.sizes).toEqual(['0', '100']);
    expect((quarter - least) / (most - least)).toBeCloseTo(0.25);
    expect(none).toBe(least);
  });

  it('writes a property below an entity that has it', () => {
    const look = lookOf({ ...PLAIN, labelBy: 'kind' }, '#000000', ids, values, 'other');
    expect(ids.map((id) => look.label(id))).toEqual(['b', 'a', 'a', null]);
  });

  it('is undone, saved and loaded with the drawing', () => {
    const plain = add(EMPTY, [{ id: 'c:1', type: 'c', label: null }]);
    const styled = { ...plain, styles: restyled(plain.styles, 'c', { colour: '#ff0000', sizeBy: 'n' }) };
    expect(undo(step(begin(plain), styled)).now.styles.size).toBe(0);
    expect(fromJson(toJson('shop', styled))?.graph).toEqual(styled);
    expect(restyled(styled.styles, 'c', PLAIN).size).toBe(0);
  });

  it('leaves out of a file everything that is not a style', () => {
    const read = readStyles({ c: { colour: 'url(//x)', sizeBy: 7, labelBy: 'n' }, d: null, e: 'red' });
    expect([...read]).toEqual([['c', { ...PLAIN, labelBy: 'n' }]]);
    for (const value of [null, 'x', [1], 3]) expect(readStyles(value).size).toBe(0);
  });
});
