/** What the rows of a table may depend on, apart from rows: the role and the session that read it. */
import { badRequest } from '../errors.ts';
import type { Limits, TableName } from './cached-table.ts';
import type { Datasource } from './datasource.ts';
import { httpEngine } from './engine.ts';
import { fixed } from './statement.ts';

/**
 * Finds relations whose rows may differ between roles. $1 lists tables as pairs of schema and name. The statement also checks the views below these tables. A view counts
 * if its text reads the current role, a setting or a right, or if it calls a function that is not immutable. Text constants and quoted names in the view do not count. A foreign
 * table counts because PostgreSQL uses the user mapping of the role that reads it, except when a view with another owner reads it.
 */
const DEPENDENT = fixed`WITH RECURSIVE reached(oid, invoker) AS (
  SELECT c.oid, true FROM json_array_elements($1::json) n JOIN pg_namespace s ON s.nspname = n->>0 JOIN pg_class c ON c.relnamespace = s.oid AND c.relname = n->>1
  UNION
  SELECT e.oid, e.invoker FROM reached r JOIN pg_class c ON c.oid = r.oid CROSS JOIN LATERAL (
    SELECT d.refobjid AS oid, r.invoker AND EXISTS (SELECT FROM unnest(c.reloptions) o WHERE o ~* '^security_invoker=(on|true|yes|1|t|y)$') AS invoker
    FROM pg_rewrite w JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass
    WHERE w.ev_class = r.oid AND c.relkind = 'v'
    UNION ALL SELECT i.inhrelid, r.invoker FROM pg_inherits i WHERE i.inhparent = r.oid
  ) e
), definitions AS (
  SELECT c.oid, pg_get_viewdef(c.oid) AS sql FROM pg_class c WHERE c.relkind = 'v' AND c.oid IN (SELECT oid FROM reached)
), dependent AS (
  SELECT oid FROM definitions
  WHERE regexp_replace(sql, '"([^"]|"")*"|''([^'']|'''')*''', ' "" ', 'g')
      ~ '(^|[^a-zA-Z0-9_])((CURRENT_USER|SESSION_USER|SYSTEM_USER|CURRENT_ROLE|USER|CURRENT_SCHEMA)($|[^a-zA-Z0-9_])|((current_s|has_|pg_|to_reg|inet_|row_security|getpgusername|lo_)[a-z0-9_]*|[a-z]+_to_xml[a-z]*)[(])'
    OR sql ~ '"[a-z]+_(user|role|schema)" *[(]'
  UNION
  SELECT w.ev_class FROM pg_rewrite w JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
    LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
    JOIN pg_proc p ON p.oid = CASE WHEN d.refclassid = 'pg_proc'::regclass THEN d.refobjid ELSE o.oprcode::oid END
  WHERE p.provolatile <> 'i' AND w.ev_class IN (SELECT oid FROM definitions)
  UNION
  SELECT r.oid FROM reached r JOIN pg_foreign_table f ON f.ftrelid = r.oid JOIN pg_user_mappings u ON u.srvid = f.ftserver
  WHERE r.invoker AND u.umuser <> 0 AND u.usename IN (current_user, $2)
  UNION
  SELECT c.oid FROM pg_class c WHERE c.relkind = 'v' AND c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) AND c.oid IN (SELECT oid FROM reached)
)
SELECT s.nspname || '.' || c.relname, c.relkind FROM dependent d JOIN pg_class c ON c.oid = d.oid JOIN pg_namespace s ON s.oid = c.relnamespace ORDER BY 1 LIMIT 1`;

/**
 * Refuses tables whose rows may differ for the writer and the reader.
 * @param role the reader's role
 * @throws SvcError 400 `not_supported`, 502, 504
 */
export async function requireSameRows(writer: Datasource, role: string, tables: readonly TableName[], limits: Limits): Promise<void> {
  const params = [JSON.stringify(tables.map(({ schema, name }) => [schema, name])), role];
  const [answer] = await httpEngine.batch(writer, [{ text: DEPENDENT, params }], { ...limits, ownText: true });
  const [name, kind] = answer?.rows[0] ?? [];
  if (name === undefined) return;
  if (kind === 'f') {
    throw badRequest('not_supported', `the rows cannot be cached: the foreign table ${name} is read with user mappings of the writer's or the reader's own`, {
      hint: 'Read it through a view, which uses the user mapping of its owner, or make one user mapping FOR PUBLIC',
    });
  }
  throw badRequest('not_supported', `the rows cannot be cached: rows of the view ${name} may depend on the role or the session that reads it`, {
    hint: 'The view, or a function or operator in it that is not immutable, may read the user, settings or rights',
  });
}
