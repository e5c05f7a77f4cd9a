/** JSON with numbers as they were written: a number that a double cannot represent exactly becomes an `Exact`. */

/** A number as its text. */
export class Exact {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** JSON.stringify would write a text; the console prints values itself (`printed`). */
  toJSON(): string {
    return this.text;
  }
}

type Reviver = (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown;

// browsers without `context.source` (before 2024) keep the double
const exact: Reviver = (_key, value, context) =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source ? new Exact(context.source) : value;

/** Parses JSON. @throws SyntaxError */
export const parseExact = (text: string): unknown => JSON.parse(text, exact as (this: unknown, key: string, value: unknown) => unknown);

/** Prints a value as JSON, numbers as they were written. @param indent spaces for each level; 0: one line */
export function printed(value: unknown, indent = 0, level = 0): string {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const inner = Array.isArray(value)
    ? value.map((v) => printed(v, indent, level + 1))
    : Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}:${indent ? ' ' : ''}${printed(v, indent, level + 1)}`);
  if (inner.length === 0) return open + close;
  if (!indent) return `${open}${inner.join(',')}${close}`;
  const line = `\n${' '.repeat(indent * (level + 1))}`;
  return `${open}${line}${inner.join(`,${line}`)}\n${' '.repeat(indent * level)}${close}`;
}

/** A value as a table cell shows it; null for NULL. */
export function cellText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? printed(value) : String(value);
}

/** The number of a value, for charts; null for a value that is not a number. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (value instanceof Exact) return Number(value.text);
  return null;
}
