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

/**
 * The statements that make and fill a table. It gets the columns and types that the mapping has now. A time after that of the older table's rows is no highest
 * value: rows with such a time are read every time. So are rows without a value, or without a key. A row of the older table is kept only if the mapping has a row
 * with its key now: it may have been deleted, or a condition or join of the mapping may leave it out. The keys are a list that refers to nothing outside of it, so that
 * a distributed datasource can run it.
 */
export function incrementOf({ schema, name, rows }: CachedRows, key: RowKey, { from, column, type, overlap, asOf }: Increment): readonly Statement[] {
  const { lowest, value } = FROM[type as keyof typeof FROM] ?? FROM.integer;
  const isTime = type in FROM;
  const known = isTime ? written` FILTER (WHERE o.${column} <= $2::timestamptz)` : fixed``;
  const since = written`coalesce((SELECT (max(o.${column})${known})${value} FROM ${from.schema}.${from.name} o), ${lowest})`;
  const changed = written`SELECT * FROM (\n${rows}\n) d WHERE d.${column} >= ${since} OR ${anyOf('d', [column, ...key])}`;
  const sameKey = joined(
    key.map((k) => written`n.${k} = o.${k}`),
    fixed` AND `,
  );
  const isLeft = written`(${allOf('o', key)}) IN (SELECT ${allOf('d', key)} FROM (\n${rows}\n) d)`;
  const isNew = written`EXISTS (SELECT FROM ${schema}.${name} n WHERE ${sameKey})`;
  const others = written`SELECT o.* FROM ${from.schema}.${from.name} o WHERE NOT (${anyOf('o', key)}) AND ${isLeft} AND NOT ${isNew}`;
  return [
    { text: written`CREATE TABLE ${schema}.${name} AS ${withoutRows(rows)}` },
    { text: written`INSERT INTO ${schema}.${name} ${changed}`, params: isTime ? [String(overlap), asOf] : [String(overlap)] },
    { text: written`INSERT INTO ${schema}.${name} ${others}` },
  ];
}
