/** Reads where a datasource on Citus has its tables (docs/design/sql-shapes.md#where-a-datasource-has-its-tables). */

import { SvcError } from '../errors.ts';
import type { Placed, Placements } from '../planner/index.ts';
import type { Datasource } from './datasource.ts';
import { httpEngine } from './engine.ts';
import { DatasourceFault } from './errors.ts';
import type { Check } from './rows.ts';
import { fixed, type OwnText, written } from './statement.ts';

/** The tables that are distributed by the hash of a column, and reference tables (as null), of which only 10,000 are read; and views with set operations, also in views below them. */
export const PLACEMENTS = fixed`WITH RECURSIVE unions(oid) AS (
    SELECT ev_class FROM pg_catalog.pg_rewrite WHERE ev_action::text LIKE '%{SETOPERATIONSTMT %'
    UNION SELECT w.ev_class FROM unions u JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = u.oid AND d.classid = 'pg_catalog.pg_rewrite'::regclass
      JOIN pg_catalog.pg_rewrite w ON w.oid = d.objid)
  (SELECT json_build_array(json_build_array(n.nspname, c.relname), 'union')::text
  FROM unions u JOIN pg_catalog.pg_class c ON c.oid = u.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'v' AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1)
  UNION ALL (SELECT json_build_array(json_build_array(n.nspname, c.relname), CASE WHEN p.partmethod = 'h' THEN json_build_object('column', a.attname, 'group', p.colocationid) END)::text
  FROM pg_catalog.pg_dist_partition p JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = substring(p.partkey from ':varattno ([0-9]+)')::integer
  WHERE CASE p.partmethod WHEN 'h' THEN p.colocationid > 0 AND a.attnum IS NOT NULL ELSE p.partmethod = 'n' AND p.repmodel = 't' END ORDER BY 1 LIMIT 10000)`;

const UNDEFINED_TABLE = '42P01';

/** The tables in the rows of `PLACEMENTS`. */
export const placementsIn = (rows: readonly (readonly (string | null)[])[]): Placements =>
  new Map(
    rows.map(([json]) => {
      const [table, placed] = JSON.parse(json ?? 'null') as [unknown, Placed | 'union' | null];
      return [JSON.stringify(table), placed] as const;
    }),
  );

/** The distributed tables and reference tables of a datasource on Citus; undefined if it is not on Citus. @throws SvcError if it cannot be asked */
export async function placementsOf(datasource: Datasource, timeoutMs: number): Promise<Placements | undefined> {
  try {
    const [result] = await httpEngine.batch(datasource, [{ text: PLACEMENTS }], { timeoutMs, ownText: true });
    return placementsIn(result?.rows ?? []);
  } catch (error) {
    if (error instanceof SvcError && error.cause instanceof DatasourceFault && error.cause.sqlstate === UNDEFINED_TABLE) return undefined;
    throw error;
  }
}

/** 503: tables that were reference tables are distributed by now. The rows of a statement that relies on them do not count. */
export class LayoutChanged extends SvcError {
  constructor() {
    super(503, 'datasource_conflict', 'the tables of the datasource were distributed in another way meanwhile', {
      hint: 'Send the request again.',
      headers: { 'retry-after': '1' },
    });
  }
}

const REFERENCE = fixed`p.partmethod = 'n' AND p.repmodel = 't'`;
/** True for a relation `c` of a check without a union in it or in a view below it, as `PLACEMENTS` names them. With OFFSET 0, only the definitions of these views are read. */
const NO_UNION = fixed`(c.relkind <> 'v' OR n.nspname IN ('pg_catalog', 'information_schema') OR NOT EXISTS (WITH RECURSIVE b(oid) AS (SELECT c.oid
    UNION SELECT d.refobjid FROM b JOIN pg_catalog.pg_rewrite w ON w.ev_class = b.oid
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass)
    SELECT FROM b, LATERAL (SELECT w.ev_action FROM pg_catalog.pg_rewrite w WHERE w.ev_class = b.oid OFFSET 0) w WHERE w.ev_action::text LIKE '%{SETOPERATIONSTMT %'))`;

/**
 * The check that tables still are what a plan relies on: reference tables, or no views with unions. It is sent after a statement, in its transaction: the statement has
 * locked them, so they are what they were when it was planned (docs/design/sql-shapes.md#unions-in-joins).
 * @param tables as in `Plan.relied`; at least one
 */
export function areAsPlanned(tables: readonly string[]): Check {
  const names = tables.map((t) => JSON.parse(t) as [string, string, 0?]);
  const either = names
    .map((name, i) => written`(n.nspname = $${2 * i + 1} AND c.relname = $${2 * i + 2} AND ${name.length > 2 ? NO_UNION : REFERENCE})`)
    .reduce((all: OwnText, one) => written`${all} OR ${one}`);
  return {
    statement: {
      text: written`SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_dist_partition p ON p.logicalrelid = c.oid WHERE ${either}`,
      params: names.flatMap((name) => name.slice(0, 2) as string[]),
    },
    accept: (rows) => {
      if (rows?.length !== tables.length) throw new LayoutChanged();
    },
  };
}

/** True if an error may come from a statement or a check that was made for tables as they were. */
export const mayBeOutdated = (error: unknown): boolean =>
  error instanceof LayoutChanged || (error instanceof SvcError && error.cause instanceof DatasourceFault && /^(42P01|42501)$/.test(error.cause.sqlstate ?? ''));
