/** The statements of an increment: a new table gets the rows that have changed, then the other rows of an older table that the mapping still has. */
import type { CachedRows, Increment, RowKey } from './cached-table.ts';
import { fixed, type OwnText, type Statement, withoutRows, written } from './statement.ts';

/** Names of columns of a relation, separated by commas. @param columns at least one */
export const allOf = (relation: string, columns: readonly string[]): OwnText =>
  joined(
    columns.map((name) => written`${relation}.${name}`),
    fixed`, `,
  );

/** A condition: one of the columns is NULL. */
export const anyOf = (relation: string, columns: readonly string[]): OwnText =>
  joined(
    columns.map((name) => written`${relation}.${name} IS NULL`),
    fixed` OR `,
  );

const joined = ([first = fixed`NULL`, ...rest]: readonly OwnText[], between: OwnText): OwnText =>
  rest.reduce((list, next) => written`${list}${between}${next}`, first);

/** The value from which rows count as changed, and the lowest value of the type. Without a highest value, all rows do. */
const FROM = {
  integer: { lowest: fixed`'-9223372036854775808'::int8`, value: fixed`::int8 - $1::int8` },
  date: { lowest: fixed`'-infinity'::timestamp`, value: fixed`::timestamp - make_interval(secs => $1::float8)` },
  timestamp: { lowest: fixed`'-infinity'::timestamp`, value: fixed` - make_interval(secs => $1::float8)` },
  timestamptz: { lowest: fixed`'-infinity'::timestamptz`, value: fixed` - make_interval(secs => $1::float8)` },
};

/** The condition for a column of the rows `o`, and the parameters, of the value from which rows count as changed. */
function sinceOf({ from, column, type, overlap, asOf }: Increment): { readonly since: OwnText; readonly params: readonly string[] } {
  const { lowest, value } = FROM[type as keyof typeof FROM] ?? FROM.integer;
  const isTime = type in FROM;
  const known = isTime ? written` FILTER (WHERE o.${column} <= $2::timestamptz)` : fixed``;
  return {
    since: written`coalesce((SELECT (max(o.${column})${known})${value} FROM ${from.schema}.${from.name} o), ${lowest})`,
    params: isTime ? [String(overlap), asOf] : [String(overlap)],
  };
}

/** A condition: the row of a mapping has changed, or has no value that shows it, or no key. */
const isChanged = (column: string, key: RowKey, since: OwnText): OwnText => written`d.${column} >= ${since} OR ${anyOf('d', [column, ...key])}`;

/** Two rows with the same key. */
const sameKeys = (key: RowKey, other: (column: string) => OwnText): OwnText =>
  joined(
    key.map((k) => written`o.${k} = ${other(k)}`),
    fixed` AND `,
  );

/**
 * An increment of rows that another database sends.
 * @param rows the SELECT of the mapping's rows
 */
export interface SentIncrement {
  /** For the database of the older table: the value from which rows count as changed. */
  readonly since: Statement;
  /** For the other database, with that value as $1: whether a row `d` of the mapping has changed. */
  readonly isChanged: OwnText;
  /** For the database of the table: the rows of the older one whose keys are among `r`. @param keyOf the column of `r` with a column of the key */
  readonly kept: (keyOf: (column: string) => OwnText, r: OwnText) => OwnText;
}

/** See `SentIncrement`. */
export function sentIncrement(key: RowKey, increment: Increment): SentIncrement {
  const { from, column, type } = increment;
  const { since, params } = sinceOf(increment);
  const typeOf = type === 'date' ? fixed`timestamp` : type in FROM ? written`${type}` : fixed`int8`;
  return {
    since: { text: written`SELECT (${since})::text`, params },
    isChanged: isChanged(column, key, written`$1::pg_catalog.${typeOf}`),
    kept: (keyOf, r) => written`SELECT o.* FROM ${r} JOIN ${from.schema}.${from.name} o ON ${sameKeys(key, keyOf)}`,
  };
}

/**
 * The statements that make and fill a table. It gets the columns and types that the mapping has now. A time after that of the older table's rows is no highest
 * value: rows with such a time are read every time. So are rows without a value, or without a key. A row of the older table is kept only if the mapping has a row with
 * its key now. It may have been deleted, or a condition or join of the mapping may leave it out. The keys are a list that refers to nothing outside of it, so that a
 * distributed datasource can run it.
 */
export function incrementOf({ schema, name, rows }: CachedRows, key: RowKey, increment: Increment): readonly Statement[] {
  const { from, column } = increment;
  const { since, params } = sinceOf(increment);
  const changed = written`SELECT * FROM (\n${rows}\n) d WHERE ${isChanged(column, key, since)}`;
  const isLeft = written`(${allOf('o', key)}) IN (SELECT ${allOf('d', key)} FROM (\n${rows}\n) d)`;
  const isNew = written`EXISTS (SELECT FROM ${schema}.${name} n WHERE ${sameKeys(key, (k) => written`n.${k}`)})`;
  const others = written`SELECT o.* FROM ${from.schema}.${from.name} o WHERE NOT (${anyOf('o', key)}) AND ${isLeft} AND NOT ${isNew}`;
  return [
    { text: written`CREATE TABLE ${schema}.${name} AS ${withoutRows(rows)}` },
    { text: written`INSERT INTO ${schema}.${name} ${changed}`, params },
    { text: written`INSERT INTO ${schema}.${name} ${others}` },
  ];
}
