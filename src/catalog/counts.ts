/** How many rows mappings, concepts and views had when the command line counted them; kept beside the version. */
import { fold } from '../ontology/names.ts';
import { type Call, type CatalogDb, DbError, sql } from './db.ts';

export type CountedKind = 'mapping' | 'concept' | 'view';

/** One number of rows. */
export interface RowCount {
  readonly kind: CountedKind;
  readonly name: string;
  readonly rows: number;
}

/** The number of rows of an object by name without case; null: not counted. */
export type RowCounts = (kind: CountedKind, name: string) => number | null;

export const NO_COUNTS: RowCounts = () => null;

const READ = sql`SELECT kind, key, rows::text AS rows FROM kg_catalog.row_counts WHERE version = $1::uuid`;
const CLEAR = sql`DELETE FROM kg_catalog.row_counts WHERE version = $1::uuid`;
const KEEP = sql`INSERT INTO kg_catalog.row_counts (version, kind, key, rows)
  SELECT $1::uuid, c.kind, c.key, c.rows FROM json_to_recordset($2::json) AS c(kind text, key text, rows bigint)`;

const keyOf = (kind: string, key: string): string => `${kind} ${key}`;

/** What was counted for a version. @throws SvcError 503 */
export async function readCounts(db: CatalogDb, version: string): Promise<RowCounts> {
  try {
    const found = new Map((await db.query(READ, [version])).map((row) => [keyOf(String(row.kind), String(row.key)), Number(row.rows)]));
    return (kind, name) => found.get(keyOf(kind, fold(name))) ?? null;
  } catch (error) {
    // a catalog whose migrations are behind has no such table: nothing was counted
    if (error instanceof DbError && error.sqlstate === '42P01') return NO_COUNTS;
    throw error;
  }
}

/** The statements that put new counts of a version in the place of old ones. */
export const keepCounts = (version: string, counts: readonly RowCount[]): readonly Call[] => [
  { sql: CLEAR, params: [version] },
  { sql: KEEP, params: [version, JSON.stringify(counts.map(({ kind, name, rows }) => ({ kind, key: fold(name), rows })))] },
];
