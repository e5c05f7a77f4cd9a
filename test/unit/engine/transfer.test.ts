/** Rows on their way to another datasource are cut into parts that are complete arrays, wherever the pieces of the stream end. */
import { expect, it } from 'vitest';
import { isSendable, RowParts } from '../../../src/engine/transfer.ts';

const ROWS = [
  ['a', null],
  ['],["', '\\"]'],
  ['é😀\u2028', ''],
  ['\\\\', '[[['],
  ['x'.repeat(300), '\n\t"'],
  ['', null],
];

const partsOf = (text: string, piece: number, partBytes: number): unknown[][] => {
  const bytes = new TextEncoder().encode(text);
  const parts = new RowParts(partBytes);
  const found: string[] = [];
  for (let at = 0; at < bytes.length; at += piece) found.push(...parts.push(bytes.slice(at, at + piece)));
  const rest = parts.rest();
  return [...found, ...(rest === undefined ? [] : [rest])].map((p) => JSON.parse(p) as unknown[]);
};

it.each([1, 2, 7, 64, 10_000])('in pieces of %i bytes', (piece) => {
  for (const partBytes of [1, 30, 200, 100_000]) {
    const parts = partsOf(JSON.stringify(ROWS), piece, partBytes);
    expect(parts.flat()).toEqual(ROWS);
    expect(parts.every((p) => p.length > 0)).toBe(true);
    if (partBytes === 1) expect(parts).toHaveLength(ROWS.length);
  }
  expect(partsOf('[]', piece, 1)).toEqual([]);
});

it('and a row that is too large is refused', () => {
  const parts = new RowParts();
  const piece = new TextEncoder().encode('x'.repeat(1024 * 1024));
  parts.push(new TextEncoder().encode('[["'));
  expect(() => Array.from({ length: 17 }, () => parts.push(piece))).toThrow('16 MiB');
});

it('types that depend on a database are not sent', () => {
  expect(['int4', '_text', 'jsonb', 'numeric'].every(isSendable)).toBe(true);
  expect(['oid:16400', 'regclass', 'name', 'money', 'xml', undefined, 'int4range'].some(isSendable)).toBe(false);
});
