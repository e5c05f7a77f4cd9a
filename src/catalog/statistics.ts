/** Statistics of the values of mappings and views. The command line counts them; they are stored by version. */
import { fold } from '../ontology/names.ts';
import { type Call, type CatalogDb, sql } from './db.ts';

export type MeasuredKind = 'mapping' | 'view';

/** A value and how many rows have it. */
export interface FrequentValue {
  readonly value: string;
  readonly count: number;
}

/** The statistics of one column of a mapping or view. */
export interface PropertyStatistics {
  readonly kind: MeasuredKind;
  readonly name: string;
  readonly property: string;
  readonly distinct: number;
  readonly nulls: number;
  readonly notNull: number;
  /** The smallest and the largest value as text; null if the type has no order, or no row has a value. */
  readonly min: string | null;
  readonly max: string | null;
  /** The most frequent values, most frequent first; empty if they were not counted. */
  readonly frequent: readonly FrequentValue[];
}

/** Stored statistics. `counted` is ISO 8601 in UTC. */
export type StoredStatistics = Omit<PropertyStatistics, 'kind' | 'name' | 'property'> & { readonly counted: string };

/** Returns the statistics of a column, by names ignoring case; undefined if they were not counted. */
export type Statistics = (kind: MeasuredKind, name: string, property: string) => StoredStatistics | undefined;

const READ = sql`SELECT kind, key, property_key, stats::text AS stats, (to_json(counted AT TIME ZONE 'UTC') #>> '{}') || '+00:00' AS counted
  FROM kg_catalog.property_statistics WHERE version = $1::uuid`;
const CLEAR = sql`DELETE FROM kg_catalog.property_statistics WHERE version = $1::uuid`;
const KEEP = sql`INSERT INTO kg_catalog.property_statistics (version, kind, key, property_key, stats)
  SELECT $1::uuid, c.kind, c.key, c.property_key, c.stats FROM json_to_recordset($2::json) AS c(kind text, key text, property_key text, stats json)`;

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);

/** Reads the statistics of a version. @throws SvcError 503 */
export async function readStatistics(db: CatalogDb, version: string): Promise<Statistics> {
  const found = new Map<string, StoredStatistics>();
  for (const row of await db.query(READ, [version])) {
    const stats = JSON.parse(String(row.stats)) as Omit<StoredStatistics, 'counted'>;
    found.set(keyOf(String(row.kind), String(row.key), String(row.property_key)), { ...stats, counted: String(row.counted) });
  }
  return (kind, name, property) => found.get(keyOf(kind, fold(name), fold(property)));
}

/** Replaces the statistics of a version. */
export const keepStatistics = (version: string, statistics: readonly PropertyStatistics[]): readonly Call[] => [
  { sql: CLEAR, params: [version] },
  {
    sql: KEEP,
    params: [version, JSON.stringify(statistics.map(({ kind, name, property, ...stats }) => ({ kind, key: fold(name), property_key: fold(property), stats })))],
  },
];
