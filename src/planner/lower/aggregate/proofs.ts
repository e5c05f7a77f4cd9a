/**
 * Proofs that a to-many path leads to at most one row in the joined rows that meet WHERE, for each row of a level
 * (docs/design/aggregates-over-several-paths.md#paths-that-are-one). The only premises are keys of the model and equations of WHERE.
 */
import type { PropertyDef } from '../../../ontology/model.ts';
import { parseType } from '../../../ontology/types.ts';
import type { ConceptRelation } from '../../bind/relation.ts';
import { isKeyHop } from '../../plan/hop.ts';
import type { PathNode } from '../../plan/path-node.ts';
import { conjuncts, lastName, type Node } from '../../plan/tree.ts';
import type { PlanState } from '../../plan-state.ts';

import { isKeyed } from './measures.ts';
import { strictNodes } from './strict.ts';

/** The name of the column of a node that has the values of a property, or of its `entity_id`. */
type Column = string;
const ENTITY_ID = 'entity_id';
const columnOf = (node: PathNode, name: string): Column => `${node.alias}.${name.toLowerCase()}`;

/** A side of an equation: a column of a node, or a value that is the same for all rows of the block. */
interface Side {
  readonly node?: PathNode;
  readonly column?: Column;
  /** The SQL type of the column without modifiers; undefined for an untyped constant. */
  readonly type: string | undefined;
  /** The collation of a text column: '' for the default, `unknown` if its mappings differ or it is computed; undefined for other types. */
  readonly collation?: string | undefined;
}

/** The columns that WHERE and the joins make equal. */
class Equations {
  readonly #parents = new Map<Column, Column>();
  /** The nodes with a column in each class, by its representative. */
  readonly #nodes = new Map<Column, Set<PathNode>>();
  readonly #constant = new Set<Column>();

  #find(column: Column): Column {
    let at = column;
    for (let up = this.#parents.get(at); up !== undefined; up = this.#parents.get(at)) at = up;
    return at;
  }

  /** Adds an equation. One between two values that are the same for all rows has no effect. */
  add(left: Side, right: Side): void {
    const sides = [left, right].filter((s) => s.node !== undefined && s.column !== undefined) as JoinSide[];
    for (const { node, column } of sides) {
      const at = this.#find(column);
      const nodes = this.#nodes.get(at) ?? new Set();
      this.#nodes.set(at, nodes.add(node));
    }
    const [a, b] = sides.map((s) => this.#find(s.column));
    if (a === undefined) return;
    if (b === undefined) this.#constant.add(a);
    if (b === undefined || a === b) return;
    this.#parents.set(b, a);
    this.#nodes.set(a, new Set([...(this.#nodes.get(a) ?? []), ...(this.#nodes.get(b) ?? [])]));
    if (this.#constant.has(b)) this.#constant.add(a);
  }

  /** True if the column is equal to a constant or to a column of one of the nodes. */
  fixes(column: Column, nodes: ReadonlySet<PathNode>): boolean {
    const at = this.#find(column);
    return this.#constant.has(at) || [...(this.#nodes.get(at) ?? [])].some((n) => nodes.has(n));
  }
}

/** What the proofs of a block depend on. */
interface Premises {
  readonly state: PlanState;
  readonly relations: readonly ConceptRelation[];
  readonly where: Node | undefined;
}

/** What the premises say of the joined rows that meet WHERE. */
interface Found {
  readonly equations: Equations;
  /** The nodes that have a row of their table, and not one of NULLs. */
  readonly real: ReadonlySet<PathNode>;
  /** All nodes of the block, parents first. */
  readonly nodes: readonly PathNode[];
}

/** The proofs of a block. They are made when a call needs them. */
export class Proofs {
  readonly #premises: Premises;
  #found: Found | undefined;

  constructor(premises: Premises) {
    this.#premises = premises;
  }

  /**
   * The nodes that have at most one row for each row of the given nodes, in the joined rows that meet WHERE, with the given nodes.
   * @param isGiven true for a node of the level: it has one row
   */
  given(isGiven: (node: PathNode) => boolean): ReadonlySet<PathNode> {
    this.#found ??= this.#find();
    const found = this.#found;
    const { nodes } = found;
    const known = new Set(nodes.filter((n) => n.parent === null || isGiven(n)));
    for (let size = 0; size !== known.size; ) {
      size = known.size;
      for (const node of nodes) if (!known.has(node) && hasOneRow(node, known, found)) known.add(node);
    }
    return known;
  }

  #find(): Found {
    const { state, relations, where } = this.#premises;
    const equations = new Equations();
    const nodes = relations.flatMap((r) => r.root.all());
    const conditions = conjuncts(where);
    const compared = conditions.flatMap((c) => [...strictNodes(c, state.references), ...equated(c).flatMap(([l, r]) => this.#equate(equations, l, r))]);
    const real = new Set<PathNode>();
    for (const n of compared) for (let at: PathNode | null = n; at; at = at.parent) real.add(at);
    // the join of a row of NULLs proves nothing
    for (const node of nodes) if (real.has(node)) for (const [own, parent] of joinPairs(node)) equations.add(own, parent);
    return { equations, real, nodes };
  }

  /** Adds an equation of WHERE, if its values are known. @returns the nodes of which it needs a row */
  #equate(equations: Equations, left: Node, right: Node): PathNode[] {
    const l = this.#sideOf(left);
    const r = this.#sideOf(right);
    if (!l || !r || !areComparedExactly(l.type, r.type) || !collateAlike(l, r)) return [];
    equations.add(l, r);
    return [l, r].flatMap((side) => side.node ?? []);
  }

  /** The side of an equation; undefined if its value or type is not known. */
  #sideOf(expression: Node): Side | undefined {
    if ('A_Const' in expression) return expression.A_Const.isnull ? undefined : { type: undefined };
    if (!('ColumnRef' in expression)) return undefined;
    const { state, relations } = this.#premises;
    const ref = state.references.of(expression.ColumnRef);
    if (!ref || ref.alias !== ref.node.alias) return undefined;
    const wanted = ref.node.wantedOf(ref.column);
    const { node } = ref;
    // a column of an outer query has one value
    const at = relations.includes(ref.relation) ? { node } : {};
    if (wanted?.kind === 'entity_id') {
      const key = node.concept.key?.properties ?? [];
      if (key.length === 0 || key.some((p) => isMasked(node, p))) return undefined;
      return { ...at, column: columnOf(node, ENTITY_ID), type: 'text', collation: collationOf(state, key) };
    }
    if (wanted?.kind !== 'property' || isMasked(node, wanted.def)) return undefined;
    const type = baseType(wanted.def);
    return { ...at, column: columnOf(node, wanted.def.name), type, collation: type === 'text' ? collationOf(state, [wanted.def]) : undefined };
  }
}

/** True if the joined rows that meet WHERE have at most one row of the node for each row of the known nodes. */
function hasOneRow(node: PathNode, known: ReadonlySet<PathNode>, { equations, real }: Found): boolean {
  const parent = node.parent as PathNode;
  const { step } = node;
  // equal link rows count, and a multi-value property has no key
  if (step?.kind !== 'hop' || !isKeyHop(step.hop)) return false;
  const isJoined = known.has(parent);
  if (isJoined && !node.toMany) return true;
  if (!isJoined && !real.has(node)) return false;
  const key = isKeyed(node.concept) ? (node.concept.key?.properties ?? []) : [];
  const joined = new Set(isJoined ? joinPairs(node).map(([own]) => own.column) : []);
  if (key.length === 0) return false;
  if (equations.fixes(columnOf(node, ENTITY_ID), known)) return true;
  return key.every((p) => joined.has(columnOf(node, p.name)) || equations.fixes(columnOf(node, p.name), known));
}

/** The pairs of expressions that a condition equates: those of `a = b`, or of `(a, b) = (c, d)`. */
function equated(condition: Node): [Node, Node][] {
  if (!('A_Expr' in condition)) return [];
  const { kind, name, lexpr, rexpr } = condition.A_Expr;
  if (kind !== 'AEXPR_OP' || name?.length !== 1 || lastName(name) !== '=' || !lexpr || !rexpr) return [];
  if ('RowExpr' in lexpr && 'RowExpr' in rexpr) {
    const right = rexpr.RowExpr.args ?? [];
    return (lexpr.RowExpr.args ?? []).flatMap((l, i) => (right[i] ? [[l, right[i]] as [Node, Node]] : []));
  }
  return [[lexpr, rexpr]];
}

type JoinSide = Side & Required<Pick<Side, 'node' | 'column'>>;

/** The columns of a node, and of its parent, that the join by a foreign key equates. */
function joinPairs(node: PathNode): [JoinSide, JoinSide][] {
  const { step, parent } = node;
  if (step?.kind !== 'hop' || !isKeyHop(step.hop) || !parent) return [];
  const { source, references } = step.hop.relationship;
  const sideOf = (at: PathNode, def: PropertyDef): JoinSide => ({ node: at, column: columnOf(at, def.name), type: baseType(def) });
  return references.flatMap((def, i) => {
    const own = sideOf(node, def);
    const near = sideOf(parent, source[i] as PropertyDef);
    return areComparedExactly(own.type, near.type) ? [[own, near] as [JoinSide, JoinSide]] : [];
  });
}

/** A masked value is not the value of the key: different rows have equal ones. */
const isMasked = (node: PathNode, def: PropertyDef): boolean => node.state.policies?.maskedBelow(node.state, node.concept, def) !== undefined;

const baseType = (def: PropertyDef): string => parseType(def.type).sql.replace(/\(.*/, '');

const INTEGERS = new Set(['smallint', 'integer', 'bigint']);

/** True if different values of one type are never equal to the same value of the other. PostgreSQL compares a bigint with a double as doubles, for example. */
const areComparedExactly = (a: string | undefined, b: string | undefined): boolean =>
  a === b || a === undefined || b === undefined || (INTEGERS.has(a) && INTEGERS.has(b));

/**
 * True if two columns are compared by the collation of both. Otherwise PostgreSQL may take the one of the other side, under which different values of a key may be
 * equal.
 */
const collateAlike = (a: Side, b: Side): boolean => a.type === undefined || b.type === undefined || (a.collation === b.collation && a.collation !== UNKNOWN);

const UNKNOWN = 'unknown';

/** The collation of the texts of some properties: '' for the default of the database. */
function collationOf(state: PlanState, properties: readonly PropertyDef[]): string {
  const found = new Set<string>();
  for (const def of properties.filter((p) => baseType(p) === 'text')) {
    const columns = state.graph.whole.model.mappings.flatMap((m) => m.columns).filter((c) => c.name.toLowerCase() === def.name.toLowerCase());
    if (def.expression !== null) found.add(UNKNOWN);
    for (const c of columns) found.add(c.collation === '' ? UNKNOWN : (c.collation ?? ''));
  }
  const [only = '', ...others] = found;
  return others.length > 0 ? UNKNOWN : only;
}
