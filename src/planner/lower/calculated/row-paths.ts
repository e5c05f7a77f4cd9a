/**
 * The paths of calculated properties: from each row of a mapping to one related row, or to an aggregate over several
 * (docs/design/calculated-over-paths.md). The value belongs to the row, so an aggregate never multiplies rows, and nothing in the query changes it.
 */
import type { ColumnRef } from '@pgsql/types';
import { badRequest } from '../../../errors.ts';
import type { ConceptRelation } from '../../bind/relation.ts';
import type { PathNode } from '../../plan/path-node.ts';
import { isWalk } from '../../plan/path-node.ts';
import type { Frame } from '../../plan/position.ts';
import type { Reference, References } from '../../plan/references.ts';
import { and, coalesce, column, conjuncts, equals, integer, join, lastName, type Node, rewrite, select, subselect, target, walk } from '../../plan/tree.ts';
import type { Wanted } from '../../plan/wanted.ts';
import { joinBelow, retarget } from '../aggregate/conditions.ts';
import { type Joined, prepareJoins } from '../joins.ts';
import { hasBarriers } from '../visible.ts';
import { type Call, levelOfCall, type PathCall, pathCall, pathOf, requireSingle, severalAt } from './calls.ts';
import { followsAny } from './reads.ts';

/** What the paths start from. */
export interface PathsFrom {
  /** The concept of the row, whose paths are followed. */
  readonly relation: ConceptRelation;
  /** The value of a column of the row. */
  readonly near: (wanted: Wanted) => Node;
  /** The position at which the paths are planned: whose rights, policies and masks apply to what they read. */
  readonly at: Frame;
  /** True if all rows of the concept are read, as far as the planner knows. */
  readonly readsAll: boolean;
}

/** Calls that are computed once for all rows, grouped by the columns by which they are joined. */
interface Totals {
  readonly alias: string;
  readonly key: string;
  readonly top: PathNode;
  readonly nodes: ReadonlySet<PathNode>;
  readonly kind: PathCall['kind'];
  readonly calls: Call[];
}

/** The paths that the calculated properties of one SELECT over a mapping follow. */
export class RowPaths {
  readonly #from: PathsFrom;
  readonly #single = new Set<PathNode>();
  readonly #totals: Totals[] = [];

  constructor(from: PathsFrom) {
    this.#from = from;
  }

  /** The value of a path to one row. @throws SvcError 400 `several_values` for a path to several rows, and the errors of paths */
  single(ref: ColumnRef, called: string): Node {
    const { relation, at } = this.#from;
    return at(() => this.#valueOf(requireSingle(relation, ref, called)));
  }

  #valueOf({ node, alias, column: name }: Reference): Node {
    for (let at: PathNode | null = node; at?.parent; at = at.parent) this.#single.add(at);
    return column(alias, name);
  }

  /**
   * The value of an aggregate call. `plain` gives the value of a property of the row.
   * @throws SvcError 400 `bad_expression`, `fanout`, and the errors of paths
   */
  aggregate(written: Call, plain: (ref: ColumnRef) => Node, called: string): Node {
    const { relation, at } = this.#from;
    const level = at(() => levelOfCall(relation, written, called));
    const found: Reference[] = [];
    const node = rewrite(written, (n) => {
      if (!('ColumnRef' in n)) return undefined;
      const { ColumnRef } = n;
      const far = at(() => pathOf(relation, ColumnRef));
      if (!far) return plain(ColumnRef);
      if (severalAt(far.reference.node) === null) return this.#valueOf(far.reference);
      found.push(far.reference);
      return far.node;
    }) as Call;
    return at(() => this.#value(pathCall(relation, node, level, found)));
  }

  #value(call: PathCall): Node {
    const { relation, readsAll } = this.#from;
    const { state } = relation;
    state.facts.noteExpression(call.node, true, true);
    // The time of a walk, or of a call over several relations, grows with rows that may be hidden.
    if (state.facts.isRestricted && (call.nodes.size > 1 || [...call.nodes].some(isWalk))) state.facts.mayRaise = true;
    const isMany = readsAll || [...call.nodes].some((n) => hasBarriers(state, n.concept));
    return (isMany ? this.#total(call) : undefined) ?? this.#ofRow(call);
  }

  /** The call over the rows that belong to this row, as a sub-query. */
  #ofRow({ node, top, nodes, kind, isStrict }: PathCall): Node {
    const { relation } = this.#from;
    const { item, condition } = this.#joined(top, nodes, kind);
    const call = retarget(nodes, node, relation.state.references);
    const one = (): Node => subselect(select({ targetList: [target(integer('1'), 'one')] }), relation.state.alias());
    const query = isStrict
      ? select({ targetList: [target(call)], fromClause: [item], whereClause: condition })
      : select({ targetList: [target(call)], fromClause: [join('JOIN_LEFT', one(), item, condition)] });
    return { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: query } } };
  }

  /** The call as a column of totals that are computed once for all rows; undefined if it must be computed for each row. */
  #total({ node, top, nodes, kind, isStrict }: PathCall): Node | undefined {
    const { state } = this.#from.relation;
    if (!isStrict || [...nodes].some(isWalk) || readsRow(node, state.references)) return undefined;
    const key = [kind, ...[...nodes].map((n) => n.alias)].join(' ');
    let totals = this.#totals.find((t) => t.key === key);
    if (!totals) {
      totals = { alias: state.alias(), key, top, nodes, kind, calls: [] };
      this.#totals.push(totals);
    }
    const value = column(totals.alias, `v${totals.calls.push(node) - 1}`);
    return lastName(node.FuncCall.funcname) === 'count' ? coalesce(value, integer('0')) : value;
  }

  #joined(top: PathNode, nodes: ReadonlySet<PathNode>, kind: PathCall['kind']): Joined {
    const { root } = this.#from.relation;
    return joinBelow(top, prepareJoins(root, nodes), kind, (name) => this.#near(name));
  }

  #near(name: string): Node {
    const { relation, near } = this.#from;
    const wanted = relation.root.wantedOf(name) as Wanted;
    if (wanted.kind === 'property' && followsAny(relation.state, wanted.def))
      throw badRequest('bad_expression', `a calculated property must not follow a relationship by \`${wanted.def.name}\`, which follows paths itself`);
    return near(wanted);
  }

  /** What is joined to the rows. Called after all values are made. */
  joins(): Joined[] {
    const { relation, at, readsAll } = this.#from;
    if (readsAll) for (const node of this.#single) node.filter = { comparisons: [], readsAll, ...node.filter };
    return at(() => [
      ...[...relation.root.children.values()].filter((n) => this.#single.has(n)).map((n) => this.#joined(n, this.#single, 'JOIN_LEFT')),
      ...this.#totals.map((t) => this.#grouped(t)),
    ]);
  }

  #grouped({ alias, top, nodes, kind, calls }: Totals): Joined {
    const { state } = this.#from.relation;
    for (const node of nodes) node.filter = { comparisons: [], readsAll: true, ...node.filter };
    const { item, condition } = this.#joined(top, nodes, kind);
    const pairs = conjuncts(condition).map((c) => ('A_Expr' in c ? c.A_Expr : {})) as { lexpr: Node; rexpr: Node }[];
    const query = select({
      targetList: [...pairs.map(({ lexpr }, i) => target(lexpr, `k${i}`)), ...calls.map((c, i) => target(retarget(nodes, c, state.references), `v${i}`))],
      fromClause: [item],
      groupClause: pairs.map(({ lexpr }) => lexpr),
    });
    return { item: subselect(query, alias), condition: and(pairs.map(({ rexpr }, i) => equals(column(alias, `k${i}`), rexpr))) as Node };
  }
}

/** True if a call reads the row from which the paths start. */
function readsRow(tree: unknown, references: References): boolean {
  let found = false;
  walk(tree, (n) => {
    if ('ColumnRef' in n) found ||= references.of(n.ColumnRef) === undefined;
    return !found;
  });
  return found;
}
