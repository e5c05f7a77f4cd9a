/** Rows read from pieces of text, against JSON.parse. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Row, RowReader, RowsError } from '../../../src/nesting/scan.ts';
import { type ByteRow, ByteRowReader } from '../../../src/nesting/scan-bytes.ts';
import { cpuSeconds } from '../../support/cpu.ts';
import { generated } from '../../support/generated.ts';

/** The source texts of all rows, read from the given pieces. */
function read(pieces: readonly string[], columns: number): string[][] {
  const rows: string[][] = [];
  const take = ({ text, from, to, starts, ends }: Row): void => {
    expect(text[from]).toBe('{');
    expect(text[to - 1]).toBe('}');
    rows.push(Array.from({ length: columns }, (_, i) => text.slice(starts[i], ends[i])));
  };
  const reader = new RowReader(columns);
  for (const piece of pieces) reader.push(piece, take);
  reader.finish(take);
  expect(reader.rows).toBe(rows.length);
  return rows;
}

/** The same, read as bytes. */
function readBytes(pieces: readonly Uint8Array[], columns: number): string[][] {
  const rows: string[][] = [];
  const take = ({ bytes, starts, ends }: ByteRow): void => {
    rows.push(Array.from({ length: columns }, (_, i) => new TextDecoder().decode(bytes.subarray(starts[i], ends[i]))));
  };
  const reader = new ByteRowReader(columns);
  for (const piece of pieces) {
    const lent = piece.slice();
    reader.push(lent, take);
  }
  reader.finish(take);
  return rows;
}

const cutBytes = (bytes: Uint8Array, places: readonly number[]): Uint8Array[] => {
  const at = [...new Set(places.map((p) => p % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, i) => bytes.slice(from, at[i] ?? bytes.length));
};

const cut = (text: string, places: readonly number[]): string[] => {
  const at = [...new Set(places.map((p) => p % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, i) => text.slice(from, at[i] ?? text.length));
};

describe('a reader of rows', () => {
  it('finds the values of generated rows, however the text is cut', () => {
    const keys = fc.uniqueArray(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 });
    const rows = keys.chain((names) => fc.tuple(fc.constant(names), fc.array(fc.tuple(...names.map(() => fc.json())), { maxLength: 8 })));
    const blank = fc.constantFrom('', '', ' ', '\n ', '\t');
    fc.assert(
      fc.property(rows, fc.array(fc.nat(), { maxLength: 12 }), blank, ([names, values], places, space) => {
        const text = `[${values.map((row) => `{${row.map((v, i) => `${JSON.stringify(names[i])}:${space}${v}${space}`).join(',')}}`).join(',')}]`;
        const expected = values.map((row) => row.map((v) => v.trim()));
        expect(read(cut(text, places), names.length)).toEqual(expected);
        expect(readBytes(cutBytes(new TextEncoder().encode(text), places), names.length)).toEqual(expected);
      }),
      generated(1000),
    );
  });

  it('keeps every digit and every escape', () => {
    const text = '[{"a":12345678901234567890.1230,"b":"\\u0041\\"\\\\"}, {"a":1e+20,"b":null}]';
    expect(read([...text], 2)).toEqual([
      ['12345678901234567890.1230', '"\\u0041\\"\\\\"'],
      ['1e+20', 'null'],
    ]);
  });

  it('reads rows without columns and no rows', () => {
    expect(read(['[{},{}]'], 0)).toEqual([[], []]);
    expect(read(['[', ']'], 3)).toEqual([]);
  });

  // quadratic time is minutes
  it('takes a long row in many pieces in linear time', () => {
    const before = process.cpuUsage();
    const long = 'x'.repeat(3_900_000);
    const text = `[{"a":"${long}"}]`;
    const pieces: string[] = [];
    for (let i = 0; i < text.length; i += 1000) pieces.push(text.slice(i, i + 1000));
    expect(read(pieces, 1)[0]?.[0]?.length).toBe(long.length + 2);
    expect(cpuSeconds(before)).toBeLessThan(30);
  });

  it('refuses a row that is too long, when it has read no more than that', () => {
    const row = { status: 400, code: 'result_too_large', message: 'a row is larger than 4 MB' };
    const piece = 'x'.repeat(64 * 1024);
    for (const reader of [new RowReader(1), new ByteRowReader(1)]) {
      const push = (text: string): void => {
        if (reader instanceof RowReader) reader.push(text, () => undefined);
        else reader.push(new TextEncoder().encode(text), () => undefined);
      };
      push('[{"a":1},{"a":"');
      let most = 0;
      const flood = (): void => {
        for (let i = 0; i < 1000; i++) {
          push(piece);
          most = Math.max(most, reader.kept);
        }
      };
      expect(flood).toThrow(expect.objectContaining(row));
      expect(most).toBeLessThanOrEqual(4_000_000);
    }
    // many short rows may come at once
    const row100 = `{"a":"${'x'.repeat(92)}"}`;
    const reader = new RowReader(1);
    reader.push(`[${Array.from({ length: 50_000 }, () => row100).join(',')}]`, () => undefined);
    reader.finish(() => undefined);
    expect(reader.rows).toBe(50_000);
  });

  it.each([
    ['an early end', '[{"a":1}'],
    ['an early end inside a row', '[{"a":1'],
    ['nothing', ''],
    ['no array', '{"a":1}'],
    ['a row that is not an object', '[1]'],
    ['more columns', '[{"a":1,"b":2}]'],
    ['fewer columns', '[{}]'],
    ['text after the end', '[{"a":1}]x'],
    ['no value', '[{"a":}]'],
  ])('refuses %s', (_, text) => {
    expect(() => read([text], 1)).toThrow(RowsError);
    expect(() => readBytes([new TextEncoder().encode(text)], 1)).toThrow(RowsError);
  });

  it('reports them as a fault of the datasource', () => {
    const fault = expect.objectContaining({ status: 502, code: 'datasource_failed', message: 'the datasource failed or could not be reached' });
    expect(() => read(['[{"a":1}]x'], 1)).toThrow(fault);
    expect(() => readBytes([new TextEncoder().encode('lorem ipsum')], 1)).toThrow(fault);
  });
});
