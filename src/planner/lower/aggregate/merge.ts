/**
 * Combines the levels of a block by group: a UNION ALL of their rows, grouped again (docs/design/aggregates-over-several-paths.md#combining-levels). A join
 * would need an equality that treats NULLs as equal, which PostgreSQL can only run as a nested loop.
 */
import { call, cast, column, equals, integer, lastName, type Node, nullValue, type SelectStmt, select, subselect, target, unionAll } from '../../plan/tree.ts';
import type { PlanState } from '../../plan-state.ts';
import { isAggregateCall } from './calls.ts';

/** How to get the value of a column from the rows of a group, of which at most one has a value. */
export type Pick = 'max' | 'bool' | 'any';

/** A sub-select with one row for each group: the group's values `g0..`, the number `n` of the grouping set, and columns. */
export interface Level {
  readonly query: SelectStmt;
  readonly columns: readonly { readonly name: string; readonly pick: Pick }[];
}

const ORDERED = /^(count|sum|avg|min|max|stddev.*|var_.*|variance|corr|covar_.*|regr_.*|string_agg|array_agg|rank|dense_rank|percent_rank|cume_dist)$/;

/** How to get the value of an aggregate expression. Types without an order, and types that are not known here, use an array. */
export function pickOf(expression: Node, type?: string): Pick {
  if (type !== undefined) return type === 'boolean' ? 'bool' : type === 'jsonb' || type === 'uuid' ? 'any' : 'max';
  if (!isAggregateCall(expression)) return 'any';
  const name = lastName(expression.FuncCall.funcname);
  if (/^(bool_and|bool_or|every)$/.test(name)) return 'bool';
  if (/^percentile_/.test(name)) return 'A_ArrayExpr' in (bare(expression.FuncCall.args?.[0]) ?? {}) ? 'max' : 'any';
  return ORDERED.test(name) ? 'max' : 'any';
}

const bare = (node: Node | undefined): Node | undefined => (node && 'TypeCast' in node ? bare(node.TypeCast.arg) : node);

/** Combines two levels into one. Both have the same groups. */
export function merge(state: PlanState, a: Level, b: Level, groups: number, several: boolean): Level {
  const keys = [...Array.from({ length: groups }, (_, i) => `g${i}`), ...(several ? ['n'] : [])];
  const arm = (level: Level, number: string): SelectStmt => {
    const alias = state.alias();
    const own = new Set(level.columns.map((c) => c.name));
    return select({
      targetList: [
        target(cast(integer(number), 'integer'), 'l'),
        ...keys.map((k) => target(column(alias, k), k)),
        ...[...a.columns, ...b.columns].map((c) => target(own.has(c.name) ? column(alias, c.name) : nullValue(), c.name)),
      ],
      fromClause: [subselect(level.query, alias)],
    });
  };
  const all = state.alias();
  const pick = (name: string, how: Pick, number: string): Node => {
    if (how === 'max') return call('max', [column(all, name)]);
    if (how === 'bool') return call('bool_or', [column(all, name)]);
    const collected = call('array_agg', [column(all, name)]) as { FuncCall: { agg_filter?: Node } };
    collected.FuncCall.agg_filter = equals(column(all, 'l'), integer(number));
    return { A_Indirection: { arg: collected as Node, indirection: [{ A_Indices: { uidx: integer('1') } }] } };
  };
  const query = select({
    targetList: [
      ...keys.map((k) => target(column(all, k), k)),
      ...a.columns.map((c) => target(pick(c.name, c.pick, '0'), c.name)),
      ...b.columns.map((c) => target(pick(c.name, c.pick, '1'), c.name)),
    ],
    fromClause: [subselect(unionAll(arm(a, '0'), arm(b, '1')), all)],
    groupClause: keys.map((k) => column(all, k)),
  });
  return { query, columns: [...a.columns, ...b.columns] };
}
