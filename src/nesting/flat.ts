/** Writes flat rows: as JSON with changed keys and values, and as CSV records. */
import { type ShownColumn, shownText } from './presentation.ts';
import type { Row } from './scan.ts';

/** Returns a writer of JSON objects with changed keys and values. */
export function flatWriter(columns: readonly (ShownColumn | null)[]): (row: Row) => string {
  const kept = columns.flatMap((column, i) => (column === null ? [] : [{ ...column, i }]));
  return ({ text, starts, ends }) => {
    let out = '{';
    for (const column of kept) out += `${out.length === 1 ? '' : ','}${column.key}${shownText(column, text.slice(starts[column.i], ends[column.i]))}`;
    return `${out}}`;
  };
}

const NEEDS_QUOTES = /[",\r\n]/;

/**
 * A field of RFC 4180. The empty text is quoted, so that it is not taken for NULL. `replaceAll` would make a chain of small texts: of 4 MB with many quotes it
 * takes 80 MB and 2 s, `split` and `join` 15 MB and 0.2 s.
 */
export const csvField = (text: string): string => (text === '' ? '""' : NEEDS_QUOTES.test(text) ? `"${text.split('"').join('""')}"` : text);

/** A record as in RFC 4180, with its line break. */
export const csvRecord = (fields: readonly string[]): string => `${fields.join(',')}\r\n`;

/** The CSV field of a JSON value: a string without its JSON quotes, NULL as an empty field, everything else unchanged. */
function csvValue(source: string): string {
  if (source.charCodeAt(0) !== 0x22) return source === 'null' ? '' : csvField(source);
  return csvField(source.includes('\\') ? (JSON.parse(source) as string) : source.slice(1, -1));
}

/** Returns a writer of CSV records. `columns` comes from `flatColumns`; undefined writes all columns unchanged. */
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
