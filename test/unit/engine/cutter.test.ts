import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wholeOf } from '../../../src/bytes.ts';
import { EnvelopeError, RowCutter } from '../../../src/engine/cutter.ts';
import { generated } from '../../support/generated.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Cuts `text` in pieces that end at the positions `cuts`. */
function cut(text: string, cuts: readonly number[] = [], results = 0, after = 0): { text: string; cutter: RowCutter } {
  const all = bytes(text);
  const cutter = new RowCutter(results, 1, after);
  const places = [0, ...[...cuts].map((c) => c % (all.length + 1)).sort((a, b) => a - b), all.length];
  const pieces: Uint8Array[] = [];
  for (let i = 1; i < places.length; i++) pieces.push(cutter.push(all.slice(places[i - 1], places[i])).slice());
  cutter.finish();
  return { text: new TextDecoder().decode(wholeOf(pieces)), cutter };
}

const every = (length: number): number[] => Array.from({ length }, (_, i) => i);

const row = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 })) as fc.Arbitrary<unknown> },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown> },
);
const spaced = (value: unknown, indent: number): string => JSON.stringify(value, null, indent);

/** An envelope with its members in any order, and the values of its rows. */
const envelope = fc
  .record({
    rows: fc.array(row, { maxLength: 8 }),
    fields: fc.array(fc.record({ name: fc.string({ unit: 'grapheme' }), dataTypeID: fc.nat() }), { maxLength: 3 }),
    more: fc.dictionary(
      fc.string({ unit: 'grapheme' }).filter((k) => !['rows', 'fields', 'results', '__proto__'].includes(k)),
      fc.jsonValue(),
    ),
    seed: fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
    indent: fc.constantFrom(0, 0, 1),
  })
  .map(({ rows, fields, more, seed, indent }) => {
    const members: [string, unknown][] = [
      ...Object.entries(more),
      ['fields', fields],
      ['command', 'SELECT'],
      ['rows', rows.map((r) => [r])],
      ['rowCount', rows.length],
    ];
    const order = members.map((m, i) => ({ m, at: seed[i % seed.length] as number })).sort((a, b) => a.at - b.at);
    return { rows, text: `{${order.map(({ m: [name, value] }) => `${JSON.stringify(name)}:${spaced(value, indent)}`).join(',')}}` };
  });

describe('extracting the rows of an answer', () => {
  it('keeps the bytes of each row', () => {
    const text = '{"fields":[{"name":"row","dataTypeID":114}],"rows":[[{"n":12345678901234567890,"x":1.10}],[{"n":-0.0,"x":"]},[{\\"\\\\"}]],"rowCount":2}';
    const { text: got, cutter } = cut(text);
    expect(got).toBe('[{"n":12345678901234567890,"x":1.10},{"n":-0.0,"x":"]},[{\\"\\\\"}]');
    expect(cutter.rows).toBe(2);
  });

  it('returns an empty array for no rows', () => {
    expect(cut('{"fields":[],"rows":[],"command":"SELECT"}').text).toBe('[]');
    expect(cut('{"rows": [ ] }').text).toBe('[]');
  });

  it('returns the same for any pieces, at every byte', () => {
    const text = '{"a":"\\"}","rows":[[{"k":"é\\\\\\"😀","v":[1,{"q":null}]}],["\\\\"],[null],[-1.5e3],[[]]],"b":{"rows":[[1]]}}';
    const whole = cut(text).text;
    expect(whole).toBe('[{"k":"é\\\\\\"😀","v":[1,{"q":null}]},"\\\\",null,-1.5e3,[]]');
    for (const at of every(bytes(text).length)) expect(cut(text, [at]).text).toBe(whole);
    expect(cut(text, every(bytes(text).length)).text).toBe(whole);
  });

  it('equals JSON.parse of the whole for any envelope in any pieces', () => {
    fc.assert(
      fc.property(envelope, fc.array(fc.nat(), { maxLength: 40 }), ({ rows, text }, cuts) => {
        const { text: got, cutter } = cut(text, cuts);
        expect(JSON.parse(got)).toEqual(JSON.parse(JSON.stringify(rows)));
        expect(cutter.rows).toBe(rows.length);
      }),
      generated(500),
    );
  });

  it('cuts the last result of a batch and keeps the first', () => {
    fc.assert(
      fc.property(fc.array(envelope, { minLength: 2, maxLength: 4 }), fc.array(fc.nat(), { maxLength: 40 }), (envelopes, cuts) => {
        const { text, cutter } = cut(`{"results":[${envelopes.map((e) => e.text).join(', ')}]}`, cuts, envelopes.length);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(envelopes.at(-1)?.rows)));
        expect(new TextDecoder().decode(cutter.captured())).toBe(envelopes[0]?.text);
      }),
      generated(300),
    );
  });

  it('cuts the result before the last of a batch, and keeps the first and the last', () => {
    fc.assert(
      fc.property(fc.array(envelope, { minLength: 2, maxLength: 4 }), fc.array(fc.nat(), { maxLength: 40 }), (envelopes, cuts) => {
        const texts = envelopes.map((e) => e.text);
        const { text, cutter } = cut(`{"results":[${texts.join(', ')}],"more":{"rows":[[1]],"n":[{}]}}`, cuts, texts.length, 1);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(envelopes.at(-2)?.rows)));
        expect(new TextDecoder().decode(cutter.captured())).toBe(texts.length === 2 ? texts[1] : `${texts[0]},${texts.at(-1)}`);
      }),
      generated(300),
    );
  });

  it('returns the same of a result before the last one for any pieces, at every byte', () => {
    const one = '{"fields":[{"name":"a\\"]}"}],"rows":[["\\\\"],[{"rows":[[1]]}]],"n":-1.5e3}';
    const check = '{"rows":[["t]}\\""]] , "command":"SELECT"}';
    for (const rows of ['[]', '[[{"k":"é\\\\\\"😀","v":[1,{"q":null}]}],["\\\\"],[null],[-1.5e3],[[]]]']) {
      for (const [at, name] of ['{"rows":R,"x":{"rows":[[2]]},"fields":[]}', '{ "x":"\\"","fields":[{}],"rows":R }', '{"x":null,"rows":R}'].entries()) {
        for (const results of [2, 4]) {
          const texts = [...[one, one].slice(0, results - 2), name.replace('R', rows), check];
          const text = at === 0 ? `{"results":[${texts}],"more":{"rows":[[3]]}}` : `{"a":[{"results":[]}], "results" : [ ${texts.join(' , ')} ] }`;
          const length = bytes(text).length;
          const wanted = JSON.stringify((JSON.parse(rows) as unknown[][]).map(([value]) => value));
          const captured = results === 2 ? check : `${one},${check}`;
          for (const cuts of [[], every(length), ...every(length).map((i) => [i]), ...every(length).map((i) => [i, i + 1])]) {
            const got = cut(text, cuts, results, 1);
            expect(JSON.stringify(JSON.parse(got.text))).toBe(wanted);
            expect(new TextDecoder().decode(got.cutter.captured())).toBe(captured);
          }
          for (const end of every(length)) expect(() => cut(`${new TextDecoder().decode(bytes(text).slice(0, end))}`, [], results, 1)).toThrow(EnvelopeError);
        }
      }
    }
  });

  it('drops captured results that are too large, also if they come in pieces', () => {
    const large = `{"rows":[["${'x'.repeat(300 * 1024)}"]]}`;
    for (const [texts, after] of [
      [[large, '{"rows":[[1]]}'], 0],
      [['{"rows":[[1]]}', large], 1],
      [[large, '{"rows":[[1]]}', '{"rows":[["a"]]}'], 1],
    ] as const) {
      const text = `{"results":[${texts}]}`;
      for (const cuts of [[], [50, 100_000, 200_000]]) {
        const got = cut(text, cuts, texts.length, after);
        expect([got.text, got.cutter.captured()]).toEqual(['[1]', undefined]);
      }
    }
  });

  it('refuses every prefix of an answer as too short', () => {
    const text = '{"fields":[],"rows":[[{"a":"x"}],[{"a":1}]],"command":"SELECT"}';
    for (const end of every(text.length)) expect(() => cut(text.slice(0, end)), text.slice(0, end)).toThrow(EnvelopeError);
  });

  for (const [what, text, results] of [
    ['a page', '<html>rows</html>'],
    ['an array', '[[1]]'],
    ['no rows', '{"fields":[]}'],
    ['rows that are not an array', '{"rows":{"a":1}}'],
    ['a row that is not an array', '{"rows":[{"a":1}]}'],
    ['a row of two columns', '{"rows":[[1,2]]}'],
    ['a row of no column', '{"rows":[[]]}'],
    ['rows twice', '{"rows":[],"rows":[]}'],
    ['bytes after the answer', '{"rows":[]} {'],
    ['a batch instead of a single result', '{"results":[{"rows":[]}]}'],
    ['a single result instead of a batch', '{"rows":[]}', 2],
    ['too few results', '{"results":[{"rows":[]}]}', 2],
    ['too many results', '{"results":[{"rows":[]},{"rows":[]}]}', 1],
    ['a trailing comma in rows', '{"rows":[[1],]}'],
    ['two rows without a comma', '{"rows":[[1][2]]}'],
  ] as [string, string, number?][]) {
    it(`refuses ${what}`, () => {
      expect(() => cut(text, [], results ?? 0)).toThrow(EnvelopeError);
      expect(() => cut(text, every(text.length), results ?? 0)).toThrow(EnvelopeError);
    });
  }
});
