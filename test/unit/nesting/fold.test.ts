/** Folding, against a plain reading of its rules over parsed values. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Presentation } from '../../../src/nesting/presentation.ts';
import { type Format, stageFor } from '../../../src/nesting/stage.ts';
import { type ColumnShape, nestedOrder, type Shape } from '../../../src/ontology/shape.ts';
import { generated } from '../../support/generated.ts';

const PLAIN: Presentation = {
  nested: true,
  formatProperties: false,
  caseSensitivity: false,
  formatBooleans: false,
  ignoreEntityId: false,
  minimizeRelationships: false,
};
const MODE: Presentation = { ...PLAIN, formatProperties: true };

/** A column by its key: `name`, `rel[c].name`, `rel[c]_link`; `*` after it: multi-valued; `=tag`: its format. */
function column(text: string): ColumnShape {
  const [, key = '', star, format] = /^(.*?)(\*)?(?:=(.*))?$/.exec(text) ?? [];
  const parts = /^((?:[^.[]+\[[^\]]*\]\.?)*)(_?)(.*)$/.exec(key) ?? [];
  const hops = (parts[1] ?? '').split(/(?<=\])\.?/).filter((h) => h !== '');
  const member = parts[3] ?? '';
  const kind = star ? 'multi' : parts[2] === '_' && hops.length > 0 ? 'link' : member === 'entity_id' ? 'id' : 'value';
  return { key, hops, member: hops.length > 0 ? member : key, kind, ofRoot: true, format: format ?? null, json: false };
}
const shape = (...columns: readonly string[]): Shape => ({ columns: columns.map(column), nests: true });

const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString();

/** What becomes of rows that are written already. */
function through(kind: Parameters<typeof stageFor>[0], format: Format, json: string): string {
  const stage = stageFor(kind, { format, presentation: PLAIN }, { maxBytes: 1e6, owner: 'ann' });
  return stage === undefined ? json : textOf([stage.push(new TextEncoder().encode(json)), ...stage.finish()]);
}

type Value = string | number | boolean | null;

/** The text that a stage makes of rows, whose values have the order of the shape. `size`: bytes a piece. */
function staged(
  of: Shape,
  rows: readonly (readonly Value[])[],
  { presentation = PLAIN, format = 'json' as Format, size = 7, nested = true, max = 50_000_000 } = {},
): string {
  const order = nested ? nestedOrder(of) : of.columns.map((_, i) => i);
  const keys = nested ? order.map((_, i) => `c${i}`) : of.columns.map((c) => c.key);
  const text = `[${rows.map((r) => `{${order.map((from, i) => `${JSON.stringify(keys[i])}:${JSON.stringify(r[from])}`).join(',')}}`).join(',')}]`;
  const stage = stageFor({ shape: of, nested }, { format, presentation }, { maxBytes: max, owner: 'ann' });
  if (stage === undefined) return text;
  const bytes = new TextEncoder().encode(text);
  const made: Uint8Array[] = [];
  try {
    for (let i = 0; i < bytes.length; i += size) made.push(stage.push(bytes.subarray(i, i + size)));
    return textOf([...made, ...stage.finish()]);
  } finally {
    stage.end();
  }
}
const folded = (of: Shape, rows: readonly (readonly Value[])[], presentation = PLAIN): unknown => JSON.parse(staged(of, rows, { presentation }));

type Thing = Record<string, unknown>;

/** The rules of docs/design/nested-results.md#which-rows-are-one-object, read plainly. */
function reference({ columns }: Shape, rows: readonly (readonly Value[])[]): Thing[] {
  const own = (hops: readonly string[]) => columns.flatMap((c, i) => (c.kind !== 'multi' && c.hops.join() === hops.join() ? [i] : []));
  const below = (hops: readonly string[]) => columns.flatMap((c, i) => (hops.every((h, k) => c.hops[k] === h) ? [i] : []));
  const fill = (hops: readonly string[], group: readonly (readonly Value[])[]): Thing => {
    const thing: Thing = Object.fromEntries(own(hops).map((i) => [columns[i]?.member, group[0]?.[i]]));
    columns.forEach((c, i) => {
      if (!hops.every((h, k) => c.hops[k] === h)) return;
      if (c.hops.length === hops.length) {
        if (c.kind === 'multi') thing[c.member] = [...new Set(group.map((r) => r[i]).filter((v) => v !== null))];
        return;
      }
      const key = c.hops[hops.length] as string;
      thing[key] ??= level([...hops, key], group);
    });
    return thing;
  };
  const level = (hops: readonly string[], group: readonly (readonly Value[])[]): Thing[] => {
    const groups = new Map<string, (readonly Value[])[]>();
    group.forEach((row, n) => {
      if (hops.length > 0 && below(hops).every((i) => row[i] === null)) return;
      const alone = hops.length === 0 && own(hops).some((i) => columns[i]?.kind === 'id' && row[i] === null);
      const key = JSON.stringify([...own(hops).map((i) => row[i]), ...(alone ? [n] : [])]);
      groups.set(key, [...(groups.get(key) ?? []), row]);
    });
    return [...groups.values()].map((g) => fill(hops, g));
  };
  return level([], rows);
}

const ORDERS = shape('entity_id', 'name', 'made[order].entity_id', 'made[order].date', 'made[order].includes[product].name');

describe('folding', () => {
  it('gives the example of docs/design/nested-results.md#the-shape-of-objects', () => {
    const rows = [
      ['customer:1', 'Ann', 'order:77', '2021-02-01', 'Ball'],
      ['customer:1', 'Ann', 'order:77', '2021-02-01', 'Bat'],
    ];
    expect(staged(ORDERS, rows)).toBe(
      '[{"entity_id":"customer:1","name":"Ann","made[order]":[{"entity_id":"order:77","date":"2021-02-01","includes[product]":[{"name":"Ball"},{"name":"Bat"}]}]}]',
    );
  });

  it('does what the rules say, over generated rows', () => {
    const columns = [
      'entity_id',
      'a',
      'r[c].x',
      'r[c].entity_id',
      'r[c]_l',
      'r[c].s[d].y',
      'r[c].s[d].m*',
      'r[c].t[d].y',
      'q[c].x',
      'q[c].r[c].s[d].y',
      'm*',
      'n*',
    ];
    const someColumns = fc.shuffledSubarray(columns.slice(1), { minLength: 1 }).map((some) => ['entity_id', ...some]);
    const value = fc.constantFrom<Value>(null, null, 1, 2, 'ä"\\', '東', true);
    const input = someColumns.chain((some) =>
      fc.tuple(fc.constant(shape(...some)), fc.array(fc.tuple(...some.map(() => value)), { maxLength: 40 }), fc.integer({ min: 1, max: 300 })),
    );
    fc.assert(
      fc.property(input, ([of, rows, size]) => {
        const text = staged(of, rows, { size });
        expect(JSON.parse(text)).toEqual(reference(of, rows));
        const lines = staged(of, rows, { size, format: 'ndjson' });
        expect(`[${lines.trimEnd().split('\n').join(',')}]`).toBe(text);
      }),
      generated(1500),
    );
  });

  it('finds things again among many', () => {
    const rows = Array.from({ length: 3000 }, (_, i) => [`c:${i % 100}`, 'x', `o:${i % 1000}`, null, `p${i % 7}`]);
    expect(folded(ORDERS, rows)).toEqual(reference(ORDERS, rows));
    const lone = Array.from({ length: 40 }, () => [null, 'x', 'o:1', null, null]);
    expect(folded(ORDERS, lone)).toEqual(reference(ORDERS, lone));
  });

  it('keeps numbers as they are written', () => {
    expect(
      through(
        { shape: shape('entity_id', 'n', 'r[c].n', 'm*'), nested: true },
        'json',
        '[{"c0":"a","c1":1.10,"c2":12345678901234567890.1234,"c3":9007199254740993}]',
      ),
    ).toBe('[{"entity_id":"a","n":1.10,"r[c]":[{"n":12345678901234567890.1234}],"m":[9007199254740993]}]');
  });

  it('is given up where it would take too much memory', () => {
    const rows = Array.from({ length: 500 }, (_, i) => [`customer:${i}`, 'x'.repeat(100), 'o', null, null]);
    expect(() => staged(ORDERS, rows, { max: 20_000 })).toThrow(expect.objectContaining({ status: 400, code: 'result_too_large' }));
    expect(() => staged(ORDERS, rows.slice(0, 20), { max: 20_000 })).not.toThrow();
    // the same few texts, under ever more parents
    const many = Array.from({ length: 500 }, (_, i) => [i, 'x', 'o', null, null]);
    expect(() => staged(ORDERS, many, { max: 20_000 })).toThrow(expect.objectContaining({ code: 'result_too_large' }));
  });
});

describe('the presentation of nested rows', () => {
  const of = shape('entity_id', 'Name=uppercase', 'vip', 'Made[Order].entity_id', 'Made[Order].day=date:DD.MM.', 'Made[Order].ok', 'hobby*=lowercase');
  const row: readonly Value[] = ['c:1', 'Ann', true, 'o:1', '2021-02-01', false, 'Chess'];
  it.each<[string, Presentation, unknown]>([
    ['plain', PLAIN, { entity_id: 'c:1', Name: 'Ann', vip: true, 'Made[Order]': [{ entity_id: 'o:1', day: '2021-02-01', ok: false }], hobby: ['Chess'] }],
    ['formatted', MODE, { entity_id: 'c:1', name: 'ANN', vip: 1, 'made[order]': [{ entity_id: 'o:1', day: '01.02.', ok: 0 }], hobby: ['chess'] }],
    [
      'with its letters',
      { ...MODE, caseSensitivity: true },
      { entity_id: 'c:1', Name: 'ANN', vip: 1, 'Made[Order]': [{ entity_id: 'o:1', day: '01.02.', ok: 0 }], hobby: ['chess'] },
    ],
    [
      'with texts for booleans',
      { ...MODE, formatBooleans: true },
      { entity_id: 'c:1', name: 'ANN', vip: 'true', 'made[order]': [{ entity_id: 'o:1', day: '01.02.', ok: 'false' }], hobby: ['chess'] },
    ],
    ['without ids', { ...MODE, ignoreEntityId: true }, { name: 'ANN', vip: 1, 'made[order]': [{ day: '01.02.', ok: 0 }], hobby: ['chess'] }],
    [
      'without targets',
      { ...MODE, minimizeRelationships: true },
      { entity_id: 'c:1', name: 'ANN', vip: 1, made: [{ entity_id: 'o:1', day: '01.02.', ok: 0 }], hobby: ['chess'] },
    ],
    [
      'the mode without formats',
      { ...PLAIN, caseSensitivity: true, formatBooleans: true, ignoreEntityId: true, minimizeRelationships: true },
      { entity_id: 'c:1', Name: 'Ann', vip: true, 'Made[Order]': [{ entity_id: 'o:1', day: '2021-02-01', ok: false }], hobby: ['Chess'] },
    ],
  ])('%s', (_, presentation, expected) => expect(folded(of, [row], presentation)).toEqual([expected]));

  it('never gives two members one key', () => {
    const alike = shape('entity_id', 'A', 'a', 'r[c].x', 'r[d].x', 's[c].x', 's[c]_x');
    expect(folded(alike, [['i', 1, 2, 3, 4, 5, 6]], { ...MODE, minimizeRelationships: true })).toEqual([
      { entity_id: 'i', A: 1, a: 2, 'r[c]': [{ x: 3 }], 'r[d]': [{ x: 4 }], s: [{ x: 5, _x: 6 }] },
    ]);
  });

  it('does not change true and false in JSON documents', () => {
    const json: Shape = { nests: true, columns: [column('entity_id'), { ...column('doc'), json: true }, column('r[c].x')] };
    expect(folded(json, [['i', true, null]], MODE)).toEqual([{ entity_id: 'i', doc: true, 'r[c]': [] }]);
  });

  it('groups by values as they were, not as they are shown', () => {
    const days = shape('entity_id', 'r[c].day=date:YYYY');
    const rows = [
      ['i', '2021-02-01'],
      ['i', '2021-03-01'],
    ];
    expect(folded(days, rows, MODE)).toEqual([{ entity_id: 'i', 'r[c]': [{ day: '2021' }, { day: '2021' }] }]);
    expect(folded(shape('entity_id', 'r[c].entity_id'), [...rows, ...rows], { ...MODE, ignoreEntityId: true })).toEqual([{ 'r[c]': [{}, {}] }]);
  });
});

describe('flat rows', () => {
  const of: Shape = { ...shape('entity_id', 'Name=uppercase', 'vip', 'Made[Order].n=number:1'), nests: false };
  const rows: readonly (readonly Value[])[] = [
    ['c:1', 'Ann', true, 1.25],
    ['c:2', 'say "hi", x\r\n', null, null],
  ];
  const flat = { nested: false };
  it('pass as they are where nothing changes', () => {
    expect(stageFor({ shape: of, nested: false }, { format: 'json', presentation: PLAIN }, { maxBytes: 1, owner: 'ann' })).toBeUndefined();
    const plain: Shape = { ...shape('a', 'b'), nests: false };
    expect(
      stageFor(
        { shape: plain, nested: false },
        { format: 'json', presentation: { ...PLAIN, nested: false, formatProperties: true } },
        { maxBytes: 1, owner: 'ann' },
      ),
    ).toBeUndefined();
  });
  it('are formatted by tags only without nested', () => {
    expect(JSON.parse(staged(of, rows, { ...flat, presentation: { ...MODE, nested: false, ignoreEntityId: true } }))).toEqual([
      { entity_id: 'c:1', Name: 'ANN', vip: true, 'Made[Order].n': '1.3' },
      { entity_id: 'c:2', Name: 'SAY "HI", X\r\n', vip: null, 'Made[Order].n': null },
    ]);
    expect(staged(of, [], { ...flat, presentation: MODE })).toBe('[]');
  });
  it('are in the mode with nested, though they do not nest', () => {
    expect(JSON.parse(staged(of, rows.slice(0, 1), { ...flat, presentation: { ...MODE, ignoreEntityId: true, minimizeRelationships: true } }))).toEqual([
      { name: 'ANN', vip: 1, 'made.n': '1.3' },
    ]);
  });
  it('are records of RFC 4180', () => {
    const csv = { ...flat, format: 'csv' as Format };
    expect(staged(of, rows, csv)).toBe('entity_id,Name,vip,Made[Order].n\r\nc:1,Ann,true,1.25\r\nc:2,"say ""hi"", x\r\n",,\r\n');
    expect(staged(of, [], csv)).toBe('entity_id,Name,vip,Made[Order].n\r\n');
    expect(staged(of, [['', 'a,b', false, 1]], { ...csv, presentation: { ...MODE, nested: false } })).toBe(
      'entity_id,Name,vip,Made[Order].n\r\n"","A,B",false,1.0\r\n',
    );
  });
  it('are lines', () => {
    expect(
      staged(of, rows, { ...flat, format: 'ndjson' })
        .split('\n')
        .filter((l) => l !== '')
        .map((l) => JSON.parse(l)),
    ).toEqual(rows.map((r) => ({ entity_id: r[0], Name: r[1], vip: r[2], 'Made[Order].n': r[3] })));
    expect(through({ shape: { ...shape('j'), nests: false }, nested: false }, 'ndjson', '[{"j":{\n  "a": 1\r\n}},{"j":2}]')).toBe(
      '{"j":{   "a": 1 }}\n{"j":2}\n',
    );
    expect(through({ shape: shape('entity_id', 'r[c].j'), nested: true }, 'ndjson', '[{"c0":"a","c1":{\n "a": 1}},{"c0":"b","c1":null}]')).toBe(
      '{"entity_id":"a","r[c]":[{"j":{  "a": 1}}]}\n{"entity_id":"b","r[c]":[]}\n',
    );
  });
});
