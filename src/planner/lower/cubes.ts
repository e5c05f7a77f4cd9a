/** The aggregates of a block that reads cubes (docs/design/aggregates-over-several-paths.md#cubes). */
import type { ColumnRef, FuncCall } from '@pgsql/types';
import type { CubeRelation } from '../bind/cubes.ts';
import { LocatedError } from '../plan/located-error.ts';
import { and, call, clone, conjuncts, locationIn, type Node, rewrite, type SelectStmt, walk } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { isAggregateCall } from './aggregate/calls.ts';
import { aggregateInWhere, hintOfBare } from './aggregate/measures.ts';

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
  const found = (ref: ColumnRef): Measure | undefined => {
    const made = references.aggregate(ref);
    const cube = cubes.find((c) => c === made?.cube);
    return made && cube && { name: made.name, make: made.make, cube };
  };
  change((n) => {
    if (!isAggregateCall(n)) return undefined;
    const rows = n.FuncCall.agg_star ? cubes[0]?.rows() : undefined;
    const made = rows ?? markedIn(n, found)?.make();
    return made && locatedAt(locationIn(n), narrowed(made, n.FuncCall.agg_filter));
  });
  refuseBare(tree, found, false);
  walk(stmt.whereClause, (n) => {
    if ('SelectStmt' in n) return false;
    if (isAggregateCall(n) && markedIn(n, found)) throw aggregateInWhere(n);
    return undefined;
  });
  refuseBare([stmt.whereClause, stmt.groupClause], found, true);
}

/** A column of a cube of the block that is an aggregate. */
interface Measure {
  readonly cube: CubeRelation;
  readonly name: string;
  readonly make: () => Node;
}
type Found = (ref: ColumnRef) => Measure | undefined;

/** The measure that an aggregate call marks. */
function markedIn({ FuncCall: { args = [] } }: { readonly FuncCall: FuncCall }, found: Found): Measure | undefined {
  const [arg] = args;
  return arg && args.length === 1 && 'ColumnRef' in arg ? found(arg.ColumnRef) : undefined;
}

/** Throws 400 `bare_measure` for a measure of a cube. @param filters true: the tree filters rows before they are grouped */
function refuseBare(tree: unknown, found: Found, filters: boolean): void {
  walk(tree, (n) => {
    const bare = 'ColumnRef' in n ? found(n.ColumnRef) : undefined;
    if (bare)
      throw new LocatedError('bare_measure', `the measure \`${bare.name}\` of the cube \`${bare.cube.cube.name}\` is used outside an aggregate`, n, {
        hint: hintOfBare(`SUM(${bare.name})`, filters),
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
