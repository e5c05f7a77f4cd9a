/**
 * The recursion of a walk, level by level (docs/design/sql-shapes.md#walks). Each row of the recursive query is one level: the nodes that are new on it, as arrays
 * of their values, and all nodes seen so far. A level without new nodes ends the recursion.
 */
import type { WithClause } from '@pgsql/types';
import {
  and,
  call,
  cast,
  clone,
  column,
  equals,
  exists,
  integer,
  isNotNull,
  join,
  type Node,
  not,
  operator,
  type SelectStmt,
  select,
  string,
  subselect,
  target,
} from '../plan/tree.ts';

/** The edges of a walk. */
export interface Edges {
  /** The edges from `a0..` to `b0..`. */
  readonly rows: SelectStmt;
  /** The nodes `k0..` at which an edge may end; undefined: the edges end at nodes, or lead nowhere from there. */
  readonly ends?: SelectStmt | undefined;
  /** The nodes `d0..` from which a walk may go on; undefined: from all. */
  readonly leaves?: SelectStmt | undefined;
}

/** The first level of a walk: its nodes `n0..`, each once, of which those in `ends` count. */
export interface First {
  readonly nodes: SelectStmt;
  readonly ends?: SelectStmt | undefined;
}

const LEVELS = 's';

/** The columns `prefix0`, `prefix1` .. under an alias. */
export const columnsOf = (alias: string, prefix: string, width: number): Node[] => Array.from({ length: width }, (_, i) => column(alias, `${prefix}${i}`));

/** The condition that two lists of columns are equal. */
export const allEqual = (left: readonly Node[], right: readonly Node[]): Node => and(left.map((l, i) => equals(l, right[i] as Node))) as Node;

/** The nodes `n0..` at the ends of the edges from a node, each once. @param width the number of values of a node at an end */
export function nodesAfter({ rows, ends }: Edges, start: readonly Node[], width = start.length): First {
  const follows = allEqual(columnsOf('e', 'a', start.length), start);
  return { nodes: newNodes([subselect(rows, 'e')], and([follows, ...columnsOf('e', 'b', width).map(isNotNull)]) as Node, width), ends };
}

/** The node with these values, unless one of them is NULL. @param ends the nodes among which it must be */
export const nodeOf = (values: readonly Node[], ends?: SelectStmt): First => ({
  nodes: select({ targetList: values.map((v, i) => target(v, `n${i}`)), whereClause: and(values.map((v) => isNotNull(clone(v)))) as Node }),
  ends,
});

/**
 * The recursive query. It yields the nodes `n0..` that can be reached in at most `depth` levels, each once with the `level` on which it was found first.
 * @param types the SQL types of a node's values
 */
export function walkLevels(first: First, edges: Edges, types: readonly string[], depth: number): SelectStmt {
  const width = types.length;
  const found = columnsOf('x', 'f', width);
  const seed = select({
    targetList: [target(cast(integer('1'), 'integer')), ...found.map((f) => target(f)), ...columnsOf('x', 'f', width).map((f) => target(f))],
    fromClause: [subselect(collected(first.nodes, first.ends, types), 'x')],
    whereClause: isNotNull(column('x', 'f0')),
  });
  const next = select({
    targetList: [
      target(operator('+', column(LEVELS, 'level'), integer('1'))),
      ...columnsOf('x', 'f', width).map((f) => target(f)),
      ...columnsOf('x', 'f', width).map((f, i) => target(operator('||', column(LEVELS, `v${i}`), f))),
    ],
    fromClause: [levels(), subselect(collected(onward(edges, width), edges.ends, types), 'x', { lateral: true })],
    whereClause: and([operator('<', column(LEVELS, 'level'), integer(String(depth))), isNotNull(column('x', 'f0'))]) as Node,
  });
  return select({
    withClause: recursion(['level', ...names('f', width), ...names('v', width)], seed, next, true),
    targetList: [...columnsOf('u', 'n', width).map((v, i) => target(v, `n${i}`)), target(column(LEVELS, 'level'), 'level')],
    fromClause: [levels(), elements('f', 'u', width)],
  });
}

/**
 * The same where each node leads to at most one other: no level has more than one node, so one row is one step. A walk that returns to a node repeats its cycle until
 * all steps are taken, which are few.
 */
export function walkChain(first: First, edges: Edges, types: readonly string[], depth: number): SelectStmt {
  const width = types.length;
  const nodes = (): Node[] => columnsOf(LEVELS, 'n', width);
  const step = select({
    targetList: [
      ...columnsOf('e', 'b', width).map((v, i) => target(cast(v, types[i] as string))),
      target(operator('+', column(LEVELS, 'level'), integer('1'))),
    ],
    fromClause: [join('JOIN_INNER', levels(), subselect(edges.rows, 'e'), allEqual(columnsOf('e', 'a', width), nodes()))],
    whereClause: and([operator('<', column(LEVELS, 'level'), integer(String(depth))), ...columnsOf('e', 'b', width).map(isNotNull)]) as Node,
  });
  const seed = select({
    targetList: [...columnsOf('x', 'n', width).map((v, i) => target(cast(v, types[i] as string))), target(cast(integer('1'), 'integer'))],
    fromClause: [subselect(first.nodes, 'x')],
  });
  return select({
    withClause: recursion([...names('n', width), 'level'], seed, step, false),
    targetList: [...nodes().map((v, i) => target(v, `n${i}`)), target(call('min', [column(LEVELS, 'level')]), 'level')],
    fromClause: [levels()],
    groupClause: nodes(),
  });
}

/** WITH RECURSIVE over the levels. @param all whether rows are kept that an earlier step has found */
const recursion = (columns: readonly string[], larg: SelectStmt, rarg: SelectStmt, all: boolean): WithClause => ({
  recursive: true,
  ctes: [
    {
      CommonTableExpr: {
        ctename: LEVELS,
        ctematerialized: 'CTEMaterializeDefault',
        aliascolnames: columns.map(string),
        ctequery: { SelectStmt: { limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_UNION', ...(all ? { all } : {}), larg, rarg } },
      },
    },
  ],
});

const names = (prefix: string, width: number): string[] => Array.from({ length: width }, (_, i) => `${prefix}${i}`);

const levels = (): Node => ({ RangeVar: { relname: LEVELS, inh: true, relpersistence: 'p' } });

/** The nodes `n0..` in the arrays of a level, as an item of FROM. */
function elements(prefix: string, alias: string, width: number): Node {
  const unnested = call('unnest', columnsOf(LEVELS, prefix, width));
  return { RangeFunction: { functions: [{ List: { items: [unnested, {} as Node] } }], alias: { aliasname: alias, colnames: names('n', width).map(string) } } };
}

/** The arrays `f0..` of the nodes at which an edge may end. The values are cast only here, because a value of another row may have no cast. */
function collected(nodes: SelectStmt, ends: SelectStmt | undefined, types: readonly string[]): SelectStmt {
  const width = types.length;
  const exist =
    ends &&
    exists(select({ targetList: [], fromClause: [subselect(ends, 'k')], whereClause: allEqual(columnsOf('k', 'k', width), columnsOf('x', 'n', width)) }));
  return select({
    targetList: types.map((type, i) => target(call('array_agg', [cast(column('x', `n${i}`), type)]), `f${i}`)),
    fromClause: [subselect(nodes, 'x')],
    ...(exist ? { whereClause: exist } : {}),
  });
}

/** The nodes that one step from the last level reaches and that no level has, each once. */
function onward({ rows, leaves }: Edges, width: number): SelectStmt {
  const front = columnsOf('u', 'n', width);
  const mayGoOn =
    leaves &&
    exists(select({ targetList: [], fromClause: [subselect(leaves, 'd')], whereClause: allEqual(columnsOf('d', 'd', width), columnsOf('u', 'n', width)) }));
  const follows = join('JOIN_INNER', elements('f', 'u', width), subselect(rows, 'e'), allEqual(columnsOf('e', 'a', width), front));
  return newNodes([follows], and([...(mayGoOn ? [mayGoOn] : []), ...columnsOf('e', 'b', width).map(isNotNull), isNew(width)]), width);
}

/** The ends `b0..` of edges, each once and sorted: look-ups in the order of an index take about half the time. */
const newNodes = (from: Node[], where: Node | undefined, width: number): SelectStmt =>
  select({
    distinctClause: [{} as Node],
    targetList: columnsOf('e', 'b', width).map((v, i) => target(v, `n${i}`)),
    fromClause: from,
    ...(where ? { whereClause: where } : {}),
    sortClause: names('n', width).map((name) => ({ SortBy: { node: column(name), sortby_dir: 'SORTBY_DEFAULT', sortby_nulls: 'SORTBY_NULLS_DEFAULT' } })),
  });

/** The condition that no level has the end of an edge. PostgreSQL hashes the sub-query of NOT IN; with NOT EXISTS it may choose a nested loop. */
function isNew(width: number): Node {
  const end = columnsOf('e', 'b', width);
  const seen = select({ targetList: columnsOf('v', 'n', width).map((v) => target(v)), fromClause: [elements('v', 'v', width)] });
  const testexpr: Node = width === 1 ? (end[0] as Node) : { RowExpr: { args: end, row_format: 'COERCE_IMPLICIT_CAST' } };
  return not({ SubLink: { subLinkType: 'ANY_SUBLINK', testexpr, subselect: { SelectStmt: seen } } });
}
