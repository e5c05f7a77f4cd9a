/**
 * Texts that may be sent to a datasource: finished SQL that the verifier has passed (planner/verify), and the service's own texts, which are
 * constants in its code. `sqlOf` is called where a request is made, so that no other text reaches a database.
 */
import { Verified } from '../planner/verify/index.ts';

/** What the constructor asks for: nothing outside of this file has it. */
const OWN = Symbol('own');

/** A text of the service's own, or one made of verified SQL by this file. */
class OwnText {
  readonly #sql: string;

  constructor(sql: string, own: symbol) {
    if (own !== OWN) throw new TypeError('own texts are made by the functions of this file');
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

/** The SQL of a text. @throws TypeError for what is neither verified nor the service's own, whatever its type says */
export function sqlOf(text: SqlText): string {
  if (!Verified.is(text) && !OwnText.is(text)) throw new TypeError('this text has not passed the verifier');
  return text.sql;
}

/** A constant text of the service's own, as a tagged template. @throws TypeError where values are put into it */
export function fixed(strings: TemplateStringsArray, ...none: never[]): OwnText {
  if (!Array.isArray(strings) || !Array.isArray(strings.raw) || strings.length !== 1 || none.length > 0) throw new TypeError('a fixed text has no values');
  return new OwnText(strings[0] as string, OWN);
}

/** Sets a setting for the transaction. Names and values are the service's own. @throws TypeError for characters that no such setting needs */
export function setLocal(name: string, value: string): OwnText {
  if (!/^[A-Za-z_.]+$/.test(name) || !/^[\w ,./:+-]*$/.test(value)) throw new TypeError(`no setting: ${name}`);
  return new OwnText(`SET LOCAL "${name}" = '${value}'`, OWN);
}

/** What `explained` puts before a text. */
export const EXPLAIN = 'EXPLAIN ';

/** Asks for the plan of a statement; it is not run. */
export const explained = (text: SqlText): OwnText => new OwnText(EXPLAIN + sqlOf(text), OWN);

/** What `withoutRows` puts before a text. */
export const BEFORE = 'SELECT * FROM (\n';
// A comment at the end of the text must not swallow the bracket, hence the line breaks.
const AFTER = '\n) q LIMIT 0';

/**
 * Asks for the collations of columns of a statement, in one row; the statement is not run. `count`: how many columns it has; `asked`: positions from 0.
 * A type without collations gives `"default"`, a column without a definite collation an empty text.
 */
export function collationsOf(text: SqlText, count: number, asked: readonly number[]): OwnText {
  const value = (i: number): string =>
    `CASE WHEN (SELECT t.typcollation <> 0 FROM pg_catalog.pg_type t WHERE t.oid = pg_catalog.pg_typeof(q.c${i})) THEN COALESCE(pg_catalog.pg_collation_for(q.c${i}), '') ELSE '"default"' END AS c${i}`;
  const names = Array.from({ length: count }, (_, i) => `c${i}`);
  return new OwnText(`SELECT ${asked.map(value).join(', ')} FROM (SELECT 1) one LEFT JOIN (\n${sqlOf(text)}\n) q (${names.join(', ')}) ON false`, OWN);
}

/** The columns of a statement without its rows. */
export const withoutRows = (text: SqlText): OwnText => new OwnText(`${BEFORE}${sqlOf(text)}${AFTER}`, OWN);
