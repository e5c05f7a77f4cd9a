/** Increments of cached mappings: the options, and what a refresh reads (docs/design/caches.md#increments). */
import { type BaseTable, findBase, type Incremental } from '../../catalog/caches.ts';
import type { CatalogDb } from '../../catalog/db.ts';
import type { Increment, RowKey } from '../../engine/cached-table.ts';
import { badRequest, didYouMean, nearest, quoted, type SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import { cachedColumn } from '../../planner/read/cached-rows.ts';

const DEFAULT_OVERLAP = { time: '10 minutes', integer: '1000' };
const DEFAULT_FULL_EVERY = '24';
const MOST_RUNS = 1000;
const MOST_OVERLAP = 1_000_000_000;
const MOST_SECONDS = 30 * 86_400;
const UNITS: Readonly<Record<string, number>> = { s: 1, second: 1, minute: 60, hour: 3600, day: 86_400 };

/** Types of a column that can show which rows have changed. */
const TIME = /^(date|timestamp|timestamptz)$/;
/** Those of them that are integers. */
export const INTEGER = /^int[248]$/;
/** Types whose values can be compared as keys. */
const KEY = /^(bool|int[248]|float[48]|numeric|text|varchar|bpchar|char|name|uuid|date|time|timetz|timestamp|timestamptz|inet|cidr|bytea)$/;

/** The options as a statement has them. */
export interface WrittenIncrements {
  readonly incremental: string | undefined;
  readonly overlap: string | undefined;
  readonly full_every: string | undefined;
  /** The position of an option. */
  readonly at: (option: string) => number;
  readonly mapping: MappingDef;
  readonly key: readonly number[] | undefined;
}

/** Reads the options of increments; null: every refresh reads all rows. @throws SvcError 400 `bad_value`, `not_supported` */
export function incrementalOf(written: WrittenIncrements): Incremental | null {
  const { incremental: name, overlap, full_every = DEFAULT_FULL_EVERY, at, mapping, key } = written;
  const bad = (option: string, message: string): SvcError => badRequest('bad_value', message, { offset: at(option) });
  if (name === undefined) {
    for (const option of ['overlap', 'full_every'] as const)
      if (written[option] !== undefined) throw bad(option, `${option} needs the option incremental, which names the column that shows what has changed`);
    return null;
  }
  const names = mapping.columns.map((c) => c.name);
  const column = mapping.columns.find((c) => sameName(c.name, name));
  if (column === undefined) throw bad('incremental', `the SELECT of the mapping has no column ${quoted(name)}${didYouMean(nearest(name, names))}`);
  const { type = '' } = column;
  const isTime = TIME.test(type);
  if (!isTime && !INTEGER.test(type))
    throw bad('incremental', `the column ${quoted(column.name)} must be a timestamp, a date or an integer that grows with each change of a row`);
  if (key === undefined) {
    throw badRequest('not_supported', `the rows of the mapping ${quoted(mapping.name)} have no key by which an increment could replace them`, {
      offset: at('incremental'),
      hint: 'Its concept needs a PRIMARY KEY, all columns of which are in the SELECT. Otherwise leave out `incremental`',
    });
  }
  const fullEvery = Number(/^\s*\d{1,4}\s*$/.test(full_every) ? full_every : Number.NaN);
  if (!(fullEvery >= 1 && fullEvery <= MOST_RUNS))
    throw bad('full_every', `full_every must be a number from 1 to ${MOST_RUNS}: one of so many refreshes reads all rows`);
  return { column: column.name, overlap: isTime ? seconds(bad, overlap) : units(bad, overlap), fullEvery };
}

type Refuse = (option: string, message: string) => SvcError;

function seconds(bad: Refuse, text = DEFAULT_OVERLAP.time): number {
  const overlap = /^\s*0\s*$/.test(text) ? 0 : secondsOf(text);
  if (overlap === undefined) throw bad('overlap', "overlap must be 0, or a time of at most 30 days, such as '10 minutes'");
  return overlap;
}

function units(bad: Refuse, text = DEFAULT_OVERLAP.integer): number {
  const overlap = Number(/^\s*\d{1,10}\s*$/.test(text) ? text : Number.NaN);
  if (!(overlap <= MOST_OVERLAP)) throw bad('overlap', `overlap must be a number from 0 to ${MOST_OVERLAP}, because the column has integers`);
  return overlap;
}

/** A time of 1 second to 30 days, such as `1 hour` or `45 s`; undefined for another text. */
export function secondsOf(text: string): number | undefined {
  const [, number, unit] = /^\s*(\d{1,7})\s*([a-z]+?)s?\s*$/i.exec(text.trim().replace(/^(\d+)\s*s$/i, '$1 second')) ?? [];
  const seconds = Number(number) * (UNITS[unit?.toLowerCase() ?? ''] ?? Number.NaN);
  return seconds >= 1 && seconds <= MOST_SECONDS ? seconds : undefined;
}

/** The positions of the key's columns in the rows of a mapping; undefined if its rows have no key of their own. */
export function keyOf(graph: Graph, mapping: MappingDef): readonly number[] | undefined {
  const key = mapping.kind === 'concept' ? graph.whole.concept(mapping.concept ?? '')?.key?.properties : undefined;
  const positions = (key ?? []).map((p) => mapping.columns.findIndex((c) => sameName(c.name, p.name)));
  return positions.length > 0 && positions.every((i) => i >= 0 && KEY.test(mapping.columns[i]?.type ?? '')) ? positions : undefined;
}

/** A refresh of a cache with increments. */
export interface Growing {
  /** The columns of the key, which must differ between the rows. */
  readonly key: RowKey;
  /** undefined: all rows must be read. */
  readonly increment: { readonly base: BaseTable; readonly rows: Increment } | undefined;
}

/** What decides whether an increment can be made. */
interface Wanted {
  readonly ontologyId: string;
  readonly cacheKey: string;
  readonly mapping: MappingDef;
  /** The columns of the key. */
  readonly key: readonly number[];
  readonly incremental: Incremental;
  /** The variable of the datasource, and digests of its connection and of the mapping. */
  readonly secret: string;
  readonly connection: string;
  readonly digest: string;
}

/** Decides what a refresh reads: the rows that have changed, if the current table has the rows of the same mapping and connection. @throws SvcError 503 */
export async function growingOf(db: CatalogDb, wanted: Wanted): Promise<Growing> {
  const { mapping, incremental } = wanted;
  const key = wanted.key.map(cachedColumn);
  const base = await findBase(db, wanted.ontologyId, wanted.cacheKey, incremental);
  const isSame = base?.secret === wanted.secret && base.connection === wanted.connection && base.digest === wanted.digest;
  if (base === undefined || !isSame || base.increments + 1 >= incremental.fullEvery) return { key, increment: undefined };
  const position = mapping.columns.findIndex((c) => c.name === incremental.column);
  const type = mapping.columns[position]?.type ?? '';
  const rows = { from: { schema: base.schema, name: base.table }, column: cachedColumn(position), type, overlap: incremental.overlap, asOf: base.asOf };
  return { key, increment: { base, rows } };
}
