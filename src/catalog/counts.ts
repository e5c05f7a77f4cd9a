/** Row counts of mappings, concepts and views. The command line counts them; they are stored by version. */
import { fold } from '../ontology/names.ts';
import { type Call, type CatalogDb, DbError, sql } from './db.ts';

export type CountedKind = 'mapping' | 'concept' | 'view';

/** The row count of one object. */
export interface RowCount {
  readonly kind: CountedKind;
  readonly name: string;
  readonly rows: number;
}

/** Returns the row count of an object, by name ignoring case; null if it was not counted. */
export type RowCounts = (kind: CountedKind, name: string) => number | null;

export const NO_COUNTS: RowCounts = () => null;

const READ = sql`SELECT kind, key, rows::text AS rows FROM kg_catalog.row_counts WHERE version = $1::uuid`;
const CLEAR = sql`DELETE FROM kg_catalog.row_counts WHERE version = $1::uuid`;
const KEEP = sql`INSERT INTO kg_catalog.row_counts (version, kind, key, rows)
  SELECT $1::uuid, c.kind, c.key, c.rows FROM json_to_recordset($2::json) AS c(kind text, key text, rows bigint)`;

const keyOf = (kind: string, key: string): string => `${kind} ${key}`;

/** Reads the row counts of a version. @throws SvcError 503 */
export async function readCounts(db: CatalogDb, version: string): Promise<RowCounts> {
  try {
    const found = new Map((await db.query(READ, [version])).map((row) => [keyOf(String(row.kind), String(row.key)), Number(row.rows)]));
    return (kind, name) => found.get(keyOf(kind, fold(name))) ?? null;
  } catch (error) {
    // the table does not exist until its migration is applied
    if (error instanceof DbError && error.sqlstate === '42P01') return NO_COUNTS;
    throw error;
  }
}

/** Replaces the row counts of a version. */
export const keepCounts = (version: string, counts: readonly RowCount[]): readonly Call[] => [
  { sql: CLEAR, params: [version] },
  { sql: KEEP, params: [version, JSON.stringify(counts.map(({ kind, name, rows }) => ({ kind, key: fold(name), rows })))] },
];
