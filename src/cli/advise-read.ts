/** What `kg advise` reads from a datasource: definitions of tables, their rows, and how Citus has them. */
import type { Datasource } from '../engine/datasource.ts';
import { httpEngine } from '../engine/engine.ts';
import { fixed, type SqlText, written } from '../engine/statement.ts';
import { readTables } from '../engine/tables.ts';
import type { LayoutTable } from './advise-layout.ts';

/** Less than the 300 s after which Node's fetch gives up. */
const TIMEOUT_MS = 280_000;

const IS_CITUS = fixed`SELECT (pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL)::text`;
/** A table of the view citus_tables, which may be in the schema public or citus; local tables that Citus knows are left out. */
export const PLACED = fixed`SELECT json_build_object('key', n.nspname || '.' || c.relname, 'kind', CASE p.partmethod WHEN 'n' THEN 'reference' ELSE 'distributed' END,
    'column', CASE WHEN p.partmethod <> 'n' THEN column_to_column_name(p.logicalrelid, p.partkey) END, 'group', p.colocationid)::text
  FROM pg_catalog.pg_dist_partition p JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE p.partmethod <> 'n' OR p.repmodel = 't'`;
/** The rows that ANALYZE counted. Nothing is known of a table before it, and of a distributed one on its coordinator. */
const ESTIMATED = fixed`SELECT json_build_object('key', n.nspname || '.' || c.relname, 'rows', CASE WHEN c.relkind = 'r' AND c.reltuples > 0 THEN c.reltuples::bigint END)::text
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition`;

/** A table, `schema.table`, and how Citus has it. */
export type PlacedTable = NonNullable<LayoutTable['now']> & { readonly key: string };

const textsOf = async (datasource: Datasource, text: SqlText): Promise<string[]> => {
  const [result] = await httpEngine.batch(datasource, [{ text }], { timeoutMs: TIMEOUT_MS, ownText: true });
  return (result?.rows ?? []).map(([value]) => String(value));
};

/** The tables of a datasource on Citus that are distributed, or are reference tables. @throws SvcError if it does not answer */
export const readPlaced = async (datasource: Datasource): Promise<readonly PlacedTable[]> =>
  (await textsOf(datasource, PLACED)).map((json) => JSON.parse(json) as PlacedTable);

/**
 * The tables with these keys, `schema.table`. Views and foreign tables are left out.
 * @throws SvcError if the datasource does not answer
 */
export async function readLayoutTables(datasource: Datasource, wanted: ReadonlySet<string>): Promise<readonly LayoutTable[]> {
  const texts = (text: SqlText): Promise<string[]> => textsOf(datasource, text);
  const isCitus = (await texts(IS_CITUS))[0] === 'true';
  const placed = isCitus ? await readPlaced(datasource) : [];
  const estimated = new Map(
    (await texts(ESTIMATED)).map((json) => JSON.parse(json) as { key: string; rows: number | null }).map(({ key, rows }) => [key, rows]),
  );
  const found: LayoutTable[] = [];
  for (const t of await readTables(datasource, TIMEOUT_MS)) {
    const key = `${t.schema}.${t.name}`;
    if (t.isView || !wanted.has(key) || !estimated.has(key)) continue;
    const { key: _, ...now } = placed.find((p) => p.key === key) ?? { key };
    const rows = estimated.get(key) ?? Number((await texts(written`SELECT pg_catalog.count(*)::text FROM ${t.schema}.${t.name}`))[0]);
    found.push({
      key,
      rows,
      types: new Map(t.columns.map((c) => [c.name, c.type])),
      uniques: [...(t.primaryKey.length > 0 ? [t.primaryKey] : []), ...t.uniques],
      foreignKeys: t.foreignKeys.map((f) => ({ name: f.name, columns: f.columns, target: `${f.targetSchema}.${f.target}`, references: f.references })),
      now: 'kind' in now ? (now as LayoutTable['now']) : undefined,
    });
  }
  return found;
}
