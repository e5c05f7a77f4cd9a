/** Reads from a datasource which references its foreign keys enforce (docs/design/sql-shapes.md#enforced-references). */
import type { Datasource } from './datasource.ts';
import { httpEngine } from './engine.ts';
import { fixed } from './statement.ts';

/**
 * The foreign keys that PostgreSQL checks for all rows. They are valid and enforced, and all their triggers are enabled. No subscription writes to the tables and no
 * table inherits from them, because PostgreSQL would not check those rows. The role may read all rows and columns of the referenced table. The columns have one type
 * in which equal values are identical: int8, int2, int4, text or varchar. At most 10,000 are read; others do not count as enforced.
 */
export const ENFORCED = fixed`SELECT json_build_array(
    json_build_array(pn.nspname, p.relname), json_build_array(fn.nspname, f.relname),
    (SELECT json_agg(json_build_array(a.attname, b.attname) ORDER BY a.attname) FROM unnest(c.conkey, c.confkey) k(near, far)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = p.oid AND a.attnum = k.near JOIN pg_catalog.pg_attribute b ON b.attrelid = f.oid AND b.attnum = k.far))::text AS key
  FROM pg_catalog.pg_constraint c
  JOIN pg_catalog.pg_class p ON p.oid = c.conrelid JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace
  JOIN pg_catalog.pg_class f ON f.oid = c.confrelid JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
  WHERE c.contype = 'f' AND c.convalidated AND coalesce(to_jsonb(c) ->> 'conenforced', 'true') = 'true'
    AND p.relkind = 'r' AND f.relkind = 'r' AND NOT p.relhassubclass AND NOT f.relhassubclass AND NOT f.relrowsecurity
    AND has_schema_privilege(fn.oid, 'USAGE') AND has_table_privilege(f.oid, 'SELECT')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgconstraint = c.oid AND t.tgenabled NOT IN ('O', 'A'))
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_subscription_rel s WHERE s.srrelid IN (p.oid, f.oid))
    AND NOT EXISTS (SELECT FROM unnest(c.conkey, c.confkey) k(near, far)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = p.oid AND a.attnum = k.near JOIN pg_catalog.pg_attribute b ON b.attrelid = f.oid AND b.attnum = k.far
      WHERE a.atttypid <> b.atttypid OR a.attcollation <> b.attcollation OR a.atttypid NOT IN (20, 21, 23, 25, 1043)
        OR EXISTS (SELECT FROM pg_catalog.pg_collation l WHERE l.oid = a.attcollation AND NOT l.collisdeterministic))
  ORDER BY 1 LIMIT 10000`;

/** The name of a reference (`enforcedKey` of the planner) in a row of `ENFORCED`. */
export const keyOfRow = (json: string): string => JSON.stringify(JSON.parse(json));

/** The references that a datasource enforces. @throws SvcError if it cannot be asked */
export async function enforcedReferences(datasource: Datasource, timeoutMs: number): Promise<ReadonlySet<string>> {
  const [result] = await httpEngine.batch(datasource, [{ text: ENFORCED }], { timeoutMs, ownText: true });
  return new Set(result?.rows.map(([json]) => keyOfRow(json ?? 'null')));
}
