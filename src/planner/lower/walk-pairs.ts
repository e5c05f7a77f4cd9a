/**
 * Walks over tables of a distributed datasource, which refuses a recursion over them (docs/design/sql-shapes.md#walks-over-distributed-tables): all walks of a path at
 * once, in one query for each step. A row is a pair of the start `k0..` of a walk and a node `n0..` that it reaches. Each level has the pairs that no level before has.
 */
import { isBarrier } from '../plan/barriers.ts';
import { and, cast, clone, column, integer, isNotNull, join, type Node, not, type SelectStmt, select, subselect, target, walk } from '../plan/tree.ts';
import { unionOf } from './union.ts';
import { allEqual, columnsOf, type Edges } from './walk-levels.ts';

/** The walks of a path from all rows at which they start. */
export interface PairWalk {
  /** The values `k0..` of the rows at which walks start. They have their declared types. */
  readonly starts: SelectStmt;
  /** The edges of the first step; undefined: the start is the first node itself. */
  readonly first: Edges | undefined;
  /** The nodes `k0..` among which the first node must be; undefined: it may be any. */
  readonly firstEnds: SelectStmt | undefined;
  readonly edges: Edges;
  /** The SQL types of a node's values. */
  readonly types: readonly string[];
  /** The number of values of a start. */
  readonly width: number;
  readonly depth: number;
}

/** Makes an item of FROM with an alias. */
export type Item = (alias: string) => Node;

/** The prefix of the names of common table expressions. No table of a mapping has it. */
const PREFIX = '~';

/** Materialized common table expressions: a distributed planner runs each as a statement of its own, and sends its rows to where the next one needs them. */
export class Steps {
  readonly #ctes: Node[] = [];

  /** Adds one. */
  add(name: string, query: SelectStmt): Item {
    const ctename = PREFIX + name;
    this.#ctes.push({ CommonTableExpr: { ctename, ctematerialized: 'CTEMaterializeAlways', ctequery: { SelectStmt: query } } });
    return (alias) => ({ RangeVar: { relname: ctename, inh: true, relpersistence: 'p', alias: { aliasname: alias } } });
  }

  /** A query that reads them. */
  before(query: SelectStmt): SelectStmt {
    return { withClause: { ctes: this.#ctes }, ...query };
  }

  /**
   * Rows that several steps read. Those of one table are read by each step where they are, by an index if there is one. For others, such as a join that the workers
   * cannot do by themselves, each step would collect them again, so they are collected once.
   */
  shared(name: string, rows: SelectStmt): Item {
    return readsOneTable(rows) ? (alias) => subselect(clone(rows), alias) : this.add(name, rows);
  }
}

function readsOneTable(rows: SelectStmt): boolean {
  let tables = 0;
  let isPlain = true;
  const see = (n: Node): boolean => {
    if ('RangeVar' in n) tables++;
    const query = 'SelectStmt' in n ? n.SelectStmt : undefined;
    isPlain &&= !('SubLink' in n) && !(query && !isScan(query));
    return isPlain;
  };
  if (!isScan(rows)) return false;
  walk(rows, see);
  return isPlain && tables === 1;
}

const isScan = (query: SelectStmt): boolean =>
  !isBarrier(query) && !('conditions' in query) && !query.larg && !query.limitCount && !query.limitOffset && !query.distinctClause && !query.groupClause;

/** The pairs that walks reach, each once, with the least level: an item of FROM with the columns `k0.., n0.., level`. */
export function walkPairs(steps: Steps, { starts, first, firstEnds, edges, types, width, depth }: PairWalk): Item {
  const nodes = types.length;
  const pairs = new Pairs(width, types);
  const start = steps.add('k', starts);
  const follow = steps.shared('e', edges.rows);
  const ends = edges.ends && steps.shared('n', edges.ends);
  const leaves = edges.leaves && steps.shared('d', edges.leaves);
  const found = first ? pairs.along(start, subselect(first.rows, 'e'), columnsOf('p', 'k', width)) : pairs.of(start, columnsOf('p', 'k', width));
  let level = steps.add('l1', pairs.settled(steps.add('s1', found), firstEnds && subselect(firstEnds, 'r'), 'k'));
  let seen = steps.add('w1', pairs.of(level, columnsOf('p', 'n', nodes), cast(integer('1'), 'integer')));
  for (let i = 2; i <= depth; i++) {
    const from = leaves ? steps.add(`d${i}`, pairs.settled(level, leaves('r'), 'd')) : level;
    const reached = steps.add(`s${i}`, pairs.along(from, follow('e'), columnsOf('p', 'n', nodes)));
    const added = steps.add(`u${i}`, pairs.unseen(reached, seen));
    level = steps.add(`l${i}`, pairs.settled(added, ends?.('r'), 'k'));
    const before = pairs.of(seen, columnsOf('p', 'n', nodes), column('p', 'level'));
    seen = steps.add(`w${i}`, unionOf([before, pairs.of(level, columnsOf('p', 'n', nodes), cast(integer(String(i)), 'integer'))]));
  }
  return seen;
}

/** The queries of the steps, each over pairs `p`. */
class Pairs {
  readonly #width: number;
  readonly #types: readonly string[];

  constructor(width: number, types: readonly string[]) {
    this.#width = width;
    this.#types = types;
  }

  /** The select list for nodes with these values. */
  #list(nodes: readonly Node[]): Node[] {
    return [...columnsOf('p', 'k', this.#width).map((v, i) => target(v, `k${i}`)), ...nodes.map((v, i) => target(v, `n${i}`))];
  }

  /** All pairs, with these values as their nodes. */
  of(from: Item, nodes: readonly Node[], level?: Node): SelectStmt {
    return select({ targetList: [...this.#list(nodes), ...(level ? [target(level, 'level')] : [])], fromClause: [from('p')] });
  }

  /** The pairs to which edges lead from pairs, whose nodes are the columns `at`. */
  along(from: Item, edges: Node, at: readonly Node[]): SelectStmt {
    const ends = columnsOf('e', 'b', this.#types.length);
    return select({
      distinctClause: [{} as Node],
      targetList: this.#list(ends),
      fromClause: [join('JOIN_INNER', from('p'), edges, allEqual(columnsOf('e', 'a', at.length), at))],
      whereClause: and(ends.map((e) => isNotNull(clone(e)))) as Node,
    });
  }

  /** The pairs that are not among others. Their values are not NULL; PostgreSQL hashes the sub-query of NOT IN. */
  unseen(from: Item, others: Item): SelectStmt {
    const values = (alias: string): Node[] => [...columnsOf(alias, 'k', this.#width), ...columnsOf(alias, 'n', this.#types.length)];
    const rows = select({ targetList: values('v').map((v) => target(v)), fromClause: [others('v')] });
    const testexpr: Node = { RowExpr: { args: values('p'), row_format: 'COERCE_IMPLICIT_CAST' } };
    const whereClause = not({ SubLink: { subLinkType: 'ANY_SUBLINK', testexpr, subselect: { SelectStmt: rows } } });
    return select({ targetList: this.#list(columnsOf('p', 'n', this.#types.length)), fromClause: [from('p')], whereClause });
  }

  /** The pairs whose nodes are among the rows `r`, with the declared types of a node. They are cast only here: a value of another row may have no cast. */
  settled(from: Item, among: Node | undefined, prefix: string): SelectStmt {
    const nodes = columnsOf('p', 'n', this.#types.length);
    const item = among ? join('JOIN_INNER', from('p'), among, allEqual(columnsOf('r', prefix, nodes.length), nodes)) : from('p');
    return select({ distinctClause: [{} as Node], targetList: this.#list(nodes.map((v, i) => cast(clone(v), this.#types[i] as string))), fromClause: [item] });
  }
}
