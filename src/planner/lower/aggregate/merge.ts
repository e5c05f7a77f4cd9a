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
  readonly columns: readonly LevelColumn[];
}

/** A column of a level. `type`: its SQL type, if it is known. */
export interface LevelColumn {
  readonly name: string;
  readonly pick: Pick;
  readonly type?: string | undefined;
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

/** Combines the levels of a block. All have the same groups. */
export function merge(state: PlanState, levels: readonly Level[], groups: number, several: boolean): Level {
  // PostgreSQL finds the type of a column of a UNION arm by arm, from the left, so from the third arm on it must be known.
  const isTyped = (level: Level): boolean => level.columns.every((c) => c.type !== undefined);
  const ordered = [...levels.filter((l) => !isTyped(l)), ...levels.filter(isTyped)];
  while (ordered.length > 2 && !isTyped(ordered[2] as Level)) ordered.unshift(union(state, ordered.splice(0, 2), groups, several));
  return union(state, ordered, groups, several);
}

/** One UNION ALL of levels, grouped again. */
function union(state: PlanState, levels: readonly Level[], groups: number, several: boolean): Level {
  const [first, ...others] = levels as readonly [Level, ...Level[]];
  if (others.length === 0) return first;
  const keys = [...Array.from({ length: groups }, (_, i) => `g${i}`), ...(several ? ['n'] : [])];
  const columns = levels.flatMap((level, l) => level.columns.map((c) => ({ ...c, number: String(l) })));
  const arm = (level: Level, number: number): SelectStmt => {
    const alias = state.alias();
    const own = new Set(level.columns.map((c) => c.name));
    const missing = (type: string | undefined): Node => (type === undefined ? nullValue() : cast(nullValue(), type));
    return select({
      targetList: [
        target(cast(integer(String(number)), 'integer'), 'l'),
        ...keys.map((k) => target(column(alias, k), k)),
        ...columns.map((c) => target(own.has(c.name) ? column(alias, c.name) : missing(c.type), c.name)),
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
    targetList: [...keys.map((k) => target(column(all, k), k)), ...columns.map((c) => target(pick(c.name, c.pick, c.number), c.name))],
    fromClause: [subselect(levels.map(arm).reduce(unionAll), all)],
    groupClause: keys.map((k) => column(all, k)),
  });
  return { query, columns: columns.map(({ name, pick, type }) => ({ name, pick, type })) };
}
