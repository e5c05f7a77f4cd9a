/**
 * The texts that may be sent to a datasource: SQL that the verifier has accepted (planner/verify), and constants of the service. Requests are built with
 * `sqlOf`, so that no other text reaches a database.
 */
import { Verified } from '../planner/verify/index.ts';

/** Required by the constructor, so that only this file can create an OwnText. */
const OWN = Symbol('own');

/** A constant of the service, or a text that this file builds from verified SQL. */
class OwnText {
  readonly #sql: string;

  constructor(sql: string, own: symbol) {
    if (own !== OWN) throw new TypeError('only the functions of this file create an OwnText');
    this.#sql = sql;
  }

  get sql(): string {
    return this.#sql;
  }

  static is(value: unknown): value is OwnText {
    return typeof value === 'object' && value !== null && #sql in value;
  }
}

export type { OwnText };

/** A text that may be sent. */
export type SqlText = Verified | OwnText;

/** One statement with text parameters. */
export interface Statement {
  readonly text: SqlText;
  readonly params?: readonly (string | null)[];
}

/** Returns the SQL of a text. @throws TypeError if the value is neither a Verified nor an OwnText at run time */
export function sqlOf(text: SqlText): string {
  if (!Verified.is(text) && !OwnText.is(text)) throw new TypeError('the verifier has not accepted this text');
  return text.sql;
}

/** Tag for constant texts of the service. @throws TypeError if the template contains values */
export function fixed(strings: TemplateStringsArray, ...none: never[]): OwnText {
  if (!Array.isArray(strings) || !Array.isArray(strings.raw) || strings.length !== 1 || none.length > 0)
    throw new TypeError('a fixed text must not contain values');
  return new OwnText(strings[0] as string, OWN);
}

/** Tag for texts with names, numbers and other texts: a string becomes a quoted name, a number an integer, and a text is inserted as it is. @throws TypeError for other numbers */
export function written(strings: TemplateStringsArray, ...parts: readonly (string | number | SqlText)[]): OwnText {
  if (!Array.isArray(strings) || !Array.isArray(strings.raw) || strings.length !== parts.length + 1) throw new TypeError('a written text is a template');
  return new OwnText(
    strings.reduce((sql, next, i) => `${sql}${partOf(parts[i - 1] as string | number | SqlText)}${next}`),
    OWN,
  );
}

function partOf(part: string | number | SqlText): string {
  if (typeof part === 'string') return `"${part.replaceAll('"', '""').replaceAll('\u0000', '')}"`;
  if (typeof part !== 'number') return sqlOf(part);
  if (!Number.isSafeInteger(part) || part < 0) throw new TypeError('a written number is an integer');
  return String(part);
}

/** A statement that only shows that the database answers. */
export const PING = fixed`SELECT 1`;

/** Returns a SET LOCAL statement. Name and value must be constants of the service. @throws TypeError if they contain unexpected characters */
export function setLocal(name: string, value: string): OwnText {
  if (!/^[A-Za-z_.]+$/.test(name) || !/^[\w ,./:+-]*$/.test(value)) throw new TypeError(`invalid setting: ${name}`);
  return new OwnText(`SET LOCAL "${name}" = '${value}'`, OWN);
}

/** The prefix that `explained` adds. */
export const EXPLAIN = 'EXPLAIN ';

/** EXPLAIN of a statement, which does not execute it. */
export const explained = (text: SqlText): OwnText => new OwnText(EXPLAIN + sqlOf(text), OWN);

/** The prefix that `withoutRows` adds. */
export const BEFORE = 'SELECT * FROM (\n';
// the line break ends a comment at the end of the text, which would otherwise include the parenthesis
const AFTER = '\n) q LIMIT 0';

/**
 * Returns a statement that yields collations of a statement's columns, in one row; the statement itself is not executed. The collation is `"default"` for a
 * type that is not collatable, and an empty text for a column whose collation is indeterminate.
 * @param count the number of columns of the statement
 * @param positions positions of the columns, from 0
 */
export function collationsOf(text: SqlText, count: number, positions: readonly number[]): OwnText {
  const value = (i: number): string =>
    `CASE WHEN (SELECT t.typcollation <> 0 FROM pg_catalog.pg_type t WHERE t.oid = pg_catalog.pg_typeof(q.c${i})) THEN COALESCE(pg_catalog.pg_collation_for(q.c${i}), '') ELSE '"default"' END AS c${i}`;
  const names = Array.from({ length: count }, (_, i) => `c${i}`);
  return new OwnText(`SELECT ${positions.map(value).join(', ')} FROM (SELECT 1) one LEFT JOIN (\n${sqlOf(text)}\n) q (${names.join(', ')}) ON false`, OWN);
}

/** Returns a statement with the columns of `text` and no rows. */
export const withoutRows = (text: SqlText): OwnText => new OwnText(`${BEFORE}${sqlOf(text)}${AFTER}`, OWN);
