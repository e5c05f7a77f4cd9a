/** Reads the definitions of tables from a datasource. */
import type { Datasource } from './datasource.ts';
import { httpEngine } from './engine.ts';
import { fixed } from './statement.ts';

/** A column. `type` is its name in pg_type (for a domain, that of the underlying type). */
export interface DbColumn {
  readonly name: string;
  readonly type: string;
  /** Precision, for numeric(p,s). */
  readonly precision: number | null;
  readonly scale: number | null;
  readonly notNull: boolean;
  readonly comment: string | null;
  /** The values of an enumeration type, in its order. */
  readonly values: readonly string[] | null;
  /** The definition of a check constraint that reads only this column. */
  readonly check: string | null;
}

export interface DbForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly targetSchema: string;
  readonly target: string;
  readonly references: readonly string[];
  readonly comment: string | null;
}

/** A table, or a view if `isView`. */
export interface DbTable {
  readonly schema: string;
  readonly name: string;
  readonly isView: boolean;
  readonly comment: string | null;
  readonly columns: readonly DbColumn[];
  readonly primaryKey: readonly string[];
  /** Columns of the other unique indexes, except partial ones and those with expressions. */
  readonly uniques: readonly (readonly string[])[];
  readonly foreignKeys: readonly DbForeignKey[];
}

/**
 * Tables and views of users that the role may read, without partitions (their table represents them), tables of extensions, and the service's own.
 * Columns of keys are those of an index without its INCLUDE columns.
 */
const READ = fixed`SELECT CASE WHEN $2::bigint IS NULL OR sum(octet_length(x.definition)) OVER (ORDER BY x.schema, x.name) <= $2::bigint THEN x.definition END
  FROM (SELECT t.schema, t.name, json_build_object(
    'schema', t.schema, 'name', t.name, 'isView', t.is_view, 'comment', t.comment,
    'columns', (
      SELECT coalesce(json_agg(json_build_object(
        'name', a.attname, 'type', b.typname, 'notNull', a.attnotnull, 'comment', col_description(t.oid, a.attnum),
        'values', (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum e WHERE e.enumtypid = b.oid),
        'check', (SELECT min(pg_get_constraintdef(k.oid)) FROM pg_catalog.pg_constraint k
          WHERE k.conrelid = t.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum] AND pg_get_constraintdef(k.oid) LIKE '%= ANY (%ARRAY[%'),
        'precision', CASE WHEN b.typname = 'numeric' AND m.typmod >= 4 THEN ((m.typmod - 4) >> 16) & 65535 END,
        'scale', CASE WHEN b.typname = 'numeric' AND m.typmod >= 4 THEN (((m.typmod - 4) & 2047) # 1024) - 1024 END) ORDER BY a.attnum), '[]')
      FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
      JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN y.typtype = 'd' THEN y.typbasetype ELSE y.oid END
      CROSS JOIN LATERAL (SELECT CASE WHEN y.typtype = 'd' THEN y.typtypmod ELSE a.atttypmod END AS typmod) m
      WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped),
    'primaryKey', coalesce((SELECT (SELECT json_agg(k.attname ORDER BY u.at) FROM unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) WITH ORDINALITY u(number, at)
    JOIN pg_catalog.pg_attribute k ON k.attrelid = t.oid AND k.attnum = u.number) FROM pg_catalog.pg_index i WHERE i.indrelid = t.oid AND i.indisprimary), '[]'),
    'uniques', (
      SELECT coalesce(json_agg(x.columns ORDER BY x.size, x.name), '[]') FROM (
        SELECT i.indnkeyatts AS size, c.relname AS name, (SELECT json_agg(k.attname ORDER BY u.at) FROM unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) WITH ORDINALITY u(number, at)
    JOIN pg_catalog.pg_attribute k ON k.attrelid = t.oid AND k.attnum = u.number) AS columns
        FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = t.oid AND i.indisunique AND NOT i.indisprimary AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL) x),
    'foreignKeys', (
      SELECT coalesce(json_agg(json_build_object(
        'name', f.conname, 'columns', (SELECT json_agg(k.attname ORDER BY u.at) FROM unnest(f.conkey) WITH ORDINALITY u(number, at)
    JOIN pg_catalog.pg_attribute k ON k.attrelid = f.conrelid AND k.attnum = u.number), 'targetSchema', n.nspname, 'target', c.relname,
        'references', (SELECT json_agg(k.attname ORDER BY u.at) FROM unnest(f.confkey) WITH ORDINALITY u(number, at)
    JOIN pg_catalog.pg_attribute k ON k.attrelid = f.confrelid AND k.attnum = u.number), 'comment', obj_description(f.oid, 'pg_constraint')) ORDER BY f.conkey, f.conname), '[]')
      FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.confrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE f.conrelid = t.oid AND f.contype = 'f' AND f.conparentid = 0)
  )::text AS definition
  FROM (
  SELECT c.oid, n.nspname AS schema, c.relname AS name, c.relkind IN ('v', 'm') AS is_view, obj_description(c.oid, 'pg_class') AS comment
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition
    AND n.nspname NOT IN ('information_schema', 'kg_catalog') AND n.nspname !~ '^pg_'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')) t ORDER BY t.schema, t.name LIMIT $1::int) x ORDER BY x.schema, x.name`;

/** The most that `readDefinitions` reads. */
export interface TableLimits {
  readonly tables: number;
  /** Bytes of all definitions. */
  readonly bytes: number;
}

/**
 * The tables and views that the role of the datasource may read, ordered by schema and name: each as JSON of a `DbTable`.
 * @param limits null: all
 * @returns no more than `limits.tables`; null instead of a definition beyond `limits.bytes`
 * @throws SvcError if the datasource cannot be reached
 */
export async function readDefinitions(datasource: Datasource, timeoutMs: number, limits: TableLimits | null): Promise<(string | null)[]> {
  const params = limits === null ? [null, null] : [String(limits.tables), String(limits.bytes)];
  const [result] = await httpEngine.batch(datasource, [{ text: READ, params }], { timeoutMs, ownText: true });
  return (result?.rows ?? []).map(([json]) => json ?? null);
}

/** All tables and views that the role of the datasource may read, ordered by schema and name. @throws SvcError if the datasource cannot be reached */
export const readTables = async (datasource: Datasource, timeoutMs: number): Promise<DbTable[]> =>
  (await readDefinitions(datasource, timeoutMs, null)).map((json) => JSON.parse(json ?? 'null') as DbTable);
