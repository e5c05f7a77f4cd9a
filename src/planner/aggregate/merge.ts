/**
 * The levels of a block combined by group: UNION ALL of their rows, grouped once more (docs/design/aggregates-over-several-paths.md#combining-levels). A join
 * would need an equality that treats NULLs as equal, which PostgreSQL runs as a nested loop.
 */
import { call, cast, column, equals, integer, lastName, type Node, nullValue, type SelectStmt, select, subselect, target, unionAll } from '../tree.ts';
import type { Work } from '../work.ts';
import { isAggregateCall } from './calls.ts';

/** How the one value of a column is taken out of a group's rows, in all but one of which it is NULL. */
export type Pick = 'max' | 'bool' | 'any';

/** A sub-select with a row a group: `g0..` the group's values, `n` the number of the grouping set, and columns. */
export interface Level {
  readonly query: SelectStmt;
  readonly columns: readonly { readonly name: string; readonly pick: Pick }[];
}

const ORDERED = /^(count|sum|avg|min|max|stddev.*|var_.*|variance|corr|covar_.*|regr_.*|string_agg|array_agg|rank|dense_rank|percent_rank|cume_dist)$/;

/** How the value of an aggregate expression is taken: types without an order, or unknown here, by an array. */
export function pickOf(expression: Node, type?: string): Pick {
  if (type !== undefined) return type === 'boolean' ? 'bool' : type === 'jsonb' || type === 'uuid' ? 'any' : 'max';
  if (!isAggregateCall(expression)) return 'any';
  const name = lastName(expression.FuncCall.funcname);
  if (/^(bool_and|bool_or|every)$/.test(name)) return 'bool';
  if (/^percentile_/.test(name)) return 'A_ArrayExpr' in (bare(expression.FuncCall.args?.[0]) ?? {}) ? 'max' : 'any';
  return ORDERED.test(name) ? 'max' : 'any';
}

const bare = (node: Node | undefined): Node | undefined => (node && 'TypeCast' in node ? bare(node.TypeCast.arg) : node);

/** Two levels as one, a row a group. Both have the same groups. */
export function merge(work: Work, a: Level, b: Level, groups: number, several: boolean): Level {
  const keys = [...Array.from({ length: groups }, (_, i) => `g${i}`), ...(several ? ['n'] : [])];
  const arm = (level: Level, number: string): SelectStmt => {
    const alias = work.alias();
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
  const all = work.alias();
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
