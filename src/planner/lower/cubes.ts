/** The aggregates of a block that reads cubes (docs/design/aggregates-over-several-paths.md#cubes). */

import type { CubeRelation } from '../bind/cubes.ts';
import { LocatedError } from '../plan/located-error.ts';
import { and, call, clone, conjuncts, locationIn, type Node, rewrite, type SelectStmt, walk } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { isAggregateCall } from './aggregate/calls.ts';

const CLAUSES = ['targetList', 'havingClause', 'sortClause', 'distinctClause', 'windowClause'] as const;

/**
 * Adds the aggregates of a block that reads cubes. A block with neither an aggregate nor GROUP BY is grouped by the dimensions that it selects, and its
 * measures need no aggregate. An aggregate call around a measure only marks the measure.
 * @throws SvcError 400 `bare_measure` for a measure outside an aggregate
 */
export function finishCubes(state: PlanState, stmt: SelectStmt, cubes: readonly CubeRelation[], selected: readonly Node[]): void {
  const { references } = state;
  const tree = CLAUSES.map((c) => stmt[c]);
  let aggregated = (stmt.groupClause?.length ?? 0) > 0 || stmt.havingClause !== undefined;
  walk(tree, (n) => {
    if ('SelectStmt' in n) return false;
    if (isAggregateCall(n)) aggregated = true;
    return undefined;
  });
  const change = (visit: (n: Node) => Node | undefined): void => {
    for (const clause of CLAUSES) if (stmt[clause]) (stmt as Record<string, unknown>)[clause] = rewrite(stmt[clause], visit);
  };
  if (!aggregated) {
    change((n) => ('ColumnRef' in n && (references.aggregate(n.ColumnRef) || references.measure(n.ColumnRef)) ? call('sum', [n]) : undefined));
    if (selected.length > 0) stmt.groupClause = selected.map(clone);
  }
  change((n) => {
    if (!isAggregateCall(n)) return undefined;
    const rows = n.FuncCall.agg_star ? cubes[0]?.rows() : undefined;
    if (rows) return locatedAt(locationIn(n), narrowed(rows, n.FuncCall.agg_filter));
    const arg = n.FuncCall.args?.[0];
    const made = arg && n.FuncCall.args?.length === 1 && 'ColumnRef' in arg ? references.aggregate(arg.ColumnRef) : undefined;
    if (!made || !cubes.some((c) => c === made.cube)) return undefined;
    return locatedAt(locationIn(n), narrowed(made.make(), n.FuncCall.agg_filter));
  });
  walk([tree, stmt.whereClause, stmt.groupClause], (n) => {
    const bare = 'ColumnRef' in n ? references.aggregate(n.ColumnRef) : undefined;
    const at = bare && cubes.find((c) => c === bare.cube);
    if (bare && at)
      throw new LocatedError('bare_measure', `the measure \`${bare.name}\` of the cube \`${at.cube.name}\` is used outside an aggregate`, n, {
        hint: `Write SUM(${bare.name}). The aggregate only marks the measure.`,
      });
    return undefined;
  });
}

/** Gives the calls of an aggregate expression, whose text is stored, the place where the statement names the cube's column (in place). */
function locatedAt(location: number | undefined, expression: Node): Node {
  if (location === undefined) return expression;
  walk(expression, (n) => {
    if (!isAggregateCall(n)) return undefined;
    n.FuncCall.location = location;
    return false;
  });
  return expression;
}

/** Adds a FILTER to each call of an aggregate expression. */
function narrowed(expression: Node, filter: Node | undefined): Node {
  if (filter) {
    walk(expression, (n) => {
      if (!isAggregateCall(n)) return undefined;
      n.FuncCall.agg_filter = and([...conjuncts(n.FuncCall.agg_filter), ...conjuncts(clone(filter))]) as Node;
      return false;
    });
  }
  return expression;
}
