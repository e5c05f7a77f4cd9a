/** Walks over tables of a distributed datasource as joined relations: from all rows of one end together (walk-pairs.ts). */

import type { PropertyDef } from '../../ontology/model.ts';
import { whereOf } from '../plan/barriers.ts';
import type { PathNode } from '../plan/path-node.ts';
import { call, column, isNotNull, join, type Node, type SelectStmt, select, string, subselect, target } from '../plan/tree.ts';
import { actualProperty, type Wanted } from '../plan/wanted.ts';
import { type Joined, nodeSource } from './joins.ts';
import { conceptSource } from './sources.ts';
import type { Walk } from './walk.ts';
import { endRows, keyEdges, linkEdges } from './walk-edges.ts';
import { allEqual, columnsOf, type Edges } from './walk-levels.ts';
import { type Item, Steps, walkPairs } from './walk-pairs.ts';

/** A walk from the rows of its parent. */
interface FromStart {
  readonly node: PathNode;
  /** The alias of the nodes that the walk reaches. */
  readonly alias: string;
  readonly parent: PathNode;
  readonly starts: readonly PropertyDef[];
  /** Their values in a row of the parent. */
  readonly values: readonly Node[];
  /** The condition that a row of the node is a reached one. */
  readonly reached: Node;
  /** The SQL types of a node's values. */
  readonly types: readonly string[];
  readonly depth: number;
  /** The edges of the first step; undefined: the values of the parent are the first node. */
  readonly first: Edges | undefined;
  readonly edges: Edges;
}

function fromStart({ node, alias, parent, starts, values, reached, types, depth, first, edges }: FromStart): Joined {
  const steps = new Steps();
  const width = starts.length;
  const pairs = walkPairs(steps, { starts: startRows(parent, starts), first, firstEnds: first?.ends, edges, types, width, depth });
  const rows = rowsOfPairs(steps, pairs, node, alias, { reached, starts: columnsOf(alias, 'k', width) });
  return { item: subselect(rows, node.alias), condition: allEqual(columnsOf(node.alias, 's', width), values) };
}

/** What a walk that goes back from the far end needs besides the walk. */
interface FromEnd {
  readonly alias: string;
  /** The values of a row of the far end. */
  readonly ends: readonly Node[];
  readonly types: readonly string[];
  readonly edges: Edges;
}

function fromEnd(walk: Walk, node: PathNode, { alias, ends, types, edges }: FromEnd): Node {
  const { relationship, depth, nodes, isLink, starts } = walk;
  const width = nodes.length;
  const steps = new Steps();
  const first = !isLink && relationship.isInverse ? keyEdges(walk, true) : undefined;
  const firstEnds = isLink ? endRows(walk) : first?.ends;
  const found = walkPairs(steps, { starts: startRows(node, nodes), first, firstEnds, edges, types, width, depth });
  const pairs = isLink ? nextPairs(steps, found, linkEdges(walk, true, walk.startsAt), width, [width, starts.length]) : found;
  const reached = allEqual(columnsOf(alias, 'k', width), ends);
  return subselect(rowsOfPairs(steps, pairs, node, alias, { reached, starts: columnsOf(alias, 'n', starts.length) }), node.alias);
}

/** The form of walks in which each step is a query of its own. Only plans for a distributed datasource load it. */
export const walkSteps = { fromStart, fromEnd } as const;
export type WalkSteps = typeof walkSteps;

/** The values `k0..` of the rows of a node that WHERE can select. Rows of which a value is NULL have no walk. */
function startRows(node: PathNode, defs: readonly PropertyDef[]): SelectStmt {
  const { state, concept, filter } = node;
  const wanted = new Map<string, Wanted>(defs.map((def, i) => [`k${i}`, actualProperty(state, def)]));
  // a condition must not decide which walks are computed if a barrier hides rows: an error in one would reveal a row
  const conditions = (filter?.comparisons ?? []).flatMap((c, i) => {
    const shown = [...node.columns.values()].find(({ wanted: w }) => w.kind === 'property' && w.def === c.def && w.seen === c.seen && !w.actual);
    if (!shown || c.def.expression !== null) return [];
    wanted.set(`c${i}`, shown.wanted);
    return [{ node: c.on(column('p', `c${i}`)), when: 'without barriers' as const }];
  });
  // another read may have other first rows: several rows may have the last value of the order
  const { first: _, ...all } = filter ?? { comparisons: [] };
  const keys = columnsOf('p', 'k', defs.length);
  return select({
    distinctClause: [{} as Node],
    targetList: keys.map((v, i) => target(v, `k${i}`)),
    fromClause: [subselect(conceptSource(state, concept, wanted, concept, filter && { ...all, isComputedEarly: true }), 'p')],
    ...whereOf([...columnsOf('p', 'k', defs.length).map((k) => ({ node: isNotNull(k) })), ...conditions]),
  });
}

/** The pairs of a start and a node from which edges lead to another node, as pairs with that one, with the least level. */
function nextPairs(steps: Steps, pairs: Item, { rows }: Edges, width: number, [from, to]: readonly [number, number]): Item {
  const keys = (): Node[] => columnsOf('p', 'k', width);
  return steps.add(
    'z',
    select({
      targetList: [
        ...keys().map((v, i) => target(v, `k${i}`)),
        ...columnsOf('e', 'b', to).map((v, i) => target(v, `n${i}`)),
        target(call('min', [column('p', 'level')]), 'level'),
      ],
      fromClause: [join('JOIN_INNER', pairs('p'), subselect(rows, 'e'), allEqual(columnsOf('e', 'a', from), columnsOf('p', 'n', from)))],
      groupClause: [...keys(), ...columnsOf('e', 'b', to)],
    }),
  );
}

/** The rows of a node that are `reached`, with the `level` and, as `s0..`, the values at which the walks to them start. A planner that has to join them with other rows need not join tables for them. */
function rowsOfPairs(
  steps: Steps,
  pairs: Item,
  node: PathNode,
  alias: string,
  { reached, starts }: { readonly reached: Node; readonly starts: readonly Node[] },
): SelectStmt {
  const all = (of: string): Node => ({ ResTarget: { val: { ColumnRef: { fields: [string(of), { A_Star: {} }] } } } });
  const rows = steps.add(
    'r',
    select({
      targetList: [all(node.alias), target(column(alias, 'level'), 'level'), ...starts.map((v, i) => target(v, `s${i}`))],
      fromClause: [join('JOIN_INNER', pairs(alias), subselect(nodeSource(node), node.alias), reached)],
    }),
  );
  return steps.before(select({ targetList: [all('r')], fromClause: [rows('r')] }));
}
