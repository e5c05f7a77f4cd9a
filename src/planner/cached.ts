/** Cached mappings: the rows of a mapping's SELECT in a table of the datasource, from which queries read instead. */
import type { SqlParser } from '../language/parser.ts';
import type { Graph } from '../ontology/graph.ts';
import type { MappingDef } from '../ontology/model.ts';
import { collates } from './facts/column-types.ts';
import { column, select, subselect, target } from './plan/tree.ts';
import { PlanState } from './plan-state.ts';
import { printSelect } from './print/index.ts';
import { cachedColumn } from './read/cached-rows.ts';
import type { Declared } from './verify/index.ts';

/** The SELECT whose rows a cached table has. */
export interface CachedSelect {
  readonly sql: string;
  readonly declared: Declared;
}

/** Why the rows of a mapping cannot be cached. */
export type Uncacheable = 'volatile' | 'functions' | 'collation';

/**
 * Returns the SELECT of a mapping with the columns of a cached table, or why its rows may differ from one query to another.
 * @param allowedFunctions the functions of the datasource that the ontology allows
 * @throws SvcError 400 for what the guard refuses
 */
export function cachedSelect(graph: Graph, parser: SqlParser, mapping: MappingDef, allowedFunctions: ReadonlySet<string>): CachedSelect | Uncacheable {
  const state = new PlanState({ graph: graph.whole, parser, product: 'svc', activeDatasource: mapping.datasource, allowedFunctions });
  const parsed = state.texts.parse(mapping.sql, undefined, false, false);
  // what a function of the datasource returns may depend on the time, or on the role that calls it
  if (parsed.facts.functions.length > 0) return 'functions';
  if (state.facts.volatile || state.facts.clock) return 'volatile';
  // an explicit collation decides comparisons with other columns, a table's column has an implicit one
  if (collates(parsed.stmt)) return 'collation';
  const standIns = new Map([...parsed.standIns].map(([standIn, name]) => [name, standIn] as const));
  const { stmt } = state.texts.tableQuery(mapping, parsed);
  const targetList = mapping.columns.map(({ name }, i) => target(column('m', standIns.get(name) ?? name), cachedColumn(i)));
  return { sql: printSelect(select({ targetList, fromClause: [subselect(stmt, 'm')] })), declared: state.declared };
}
