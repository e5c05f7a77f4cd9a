/** Flat rows as texts in other forms: with keys and values changed, as CSV records. */
import { type ShownColumn, shownText } from './presentation.ts';
import type { Row } from './scan.ts';

/** Writes a row as a JSON object under other keys, with changed values. */
export function flatWriter(columns: readonly (ShownColumn | null)[]): (row: Row) => string {
  const kept = columns.flatMap((column, i) => (column === null ? [] : [{ ...column, i }]));
  return ({ text, starts, ends }) => {
    let out = '{';
    for (const column of kept) out += `${out.length === 1 ? '' : ','}${column.key}${shownText(column, text.slice(starts[column.i], ends[column.i]))}`;
    return `${out}}`;
  };
}

const NEEDS_QUOTES = /[",\r\n]/;

/** A field of RFC 4180. The empty text is quoted, so that it is not taken for NULL. */
export const csvField = (text: string): string => (text === '' ? '""' : NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A record of RFC 4180 with its line break. */
export const csvRecord = (fields: readonly string[]): string => `${fields.join(',')}\r\n`;

/** The field of a JSON value: texts without their quotes, NULL as nothing, all else as it is written. */
export function csvValue(source: string): string {
  if (source.charCodeAt(0) !== 0x22) return source === 'null' ? '' : csvField(source);
  return csvField(source.includes('\\') ? (JSON.parse(source) as string) : source.slice(1, -1));
}

/** Writes a row as a CSV record. `columns`: as of `flatColumns`; undefined: all as they come. */
export function csvWriter(count: number, columns: readonly (ShownColumn | null)[] | undefined): (row: Row) => string {
  const kept = Array.from({ length: count }, (_, i) => i).filter((i) => columns === undefined || columns[i] !== null);
  return ({ text, starts, ends }) => {
    const fields = kept.map((i) => {
      const source = text.slice(starts[i], ends[i]);
      const column = columns?.[i];
      return csvValue(column ? shownText(column, source) : source);
    });
    return csvRecord(fields);
  };
}
