/** Prints the expressions of a bound block as SQL with the names of the ontology. */
import type { SubLink } from '@pgsql/types';
import type { BoundCube } from '../plan/block.ts';
import { mapped } from '../plan/mapped.ts';
import type { PathNode } from '../plan/path-node.ts';
import type { Reference } from '../plan/references.ts';
import { call, column, fieldsOf, type Node, type SelectStmt, string } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { printExpression } from '../print/index.ts';

/** The path of a node from its concept, such as `works_for[firm].houses[animal]`; '' for the concept itself. */
const pathOf = (node: PathNode): string =>
  [...(node.parent?.step ? [pathOf(node.parent)] : []), ...(node.step?.kind === 'hop' ? [node.step.hop.label] : [])].join('.');

/** The name of a column in queries. `name` is its name in the node's rows. */
export function columnName(node: PathNode, name: string): string {
  if (node.step?.kind === 'multi') return node.step.def.name;
  for (const [key, { name: own, wanted }] of node.columns) {
    if (own !== name) continue;
    if (wanted.kind === 'property' || wanted.kind === 'raw') return wanted.def.name;
    return wanted.kind === 'mapped_in' ? `_type_of_${key.slice(key.indexOf(':') + 1)}` : wanted.kind;
  }
  return name;
}

const linkColumn = (node: PathNode, name: string): string | undefined => [...node.linkColumns].find(([, yielded]) => yielded === name)?.[0];

/** Whether a node's rows are asked for a column: the level of a walk is not a column. */
const isColumn = (node: PathNode, name: string): boolean => node.wantedOf(name) !== undefined;

/** A column with its path as one identifier, such as `works_for[firm].name` or `knows[person]_since`. */
function pathColumn({ relation, node, alias, column: name }: Reference): string {
  const computed = relation.exposed.get(name)?.called;
  if (computed !== undefined) return computed;
  const path = pathOf(node.step?.kind === 'multi' && node.parent ? node.parent : node);
  const link = alias === node.alias ? undefined : linkColumn(node, name);
  if (link !== undefined) return `${path}_${link}`;
  const isLevel = node.step?.kind === 'hop' && node.step.hop.depth !== null && !isColumn(node, name);
  if (isLevel) return `${path}_transitivity_level`;
  return `${path === '' ? '' : `${path}.`}${columnName(node, name)}`;
}

/** Dimensions of cubes that a statement names, by their expressions: what they are in the cube's own text is not for its reader to know. */
export type Dimensions = ReadonlyMap<Node, readonly [alias: string, name: string]>;

/** The dimensions of all cubes of a statement: a sub-query may name those of a cube around it. */
export const dimensionsOf = (cubes: readonly BoundCube[]): Dimensions =>
  new Map(cubes.flatMap(({ relation }) => [...relation.named].map(([node, name]) => [node, [relation.alias, name] as const] as const)));

/** What the expressions of a statement's own text read of a node's rows. */
export interface Read {
  readonly columns: Set<string>;
  /** What is computed over several nodes, by its name in a text. */
  readonly computed: Set<string>;
  readonly links: Set<string>;
}

/**
 * Writes the expressions of one block; sub-queries go to `query`, which gives their name, or undefined for the query that binding makes for a whole row. What
 * they read of concepts is added to `reads`.
 */
export class Expressions {
  readonly #state: PlanState;
  readonly #written: (name: string) => string;
  readonly #query: (stmt: SelectStmt) => string | undefined;
  readonly #dimensions: Dimensions;
  readonly #reads: Map<PathNode, Read>;

  constructor(
    state: PlanState,
    written: (name: string) => string,
    { dimensions, reads }: { readonly dimensions: Dimensions; readonly reads: Map<PathNode, Read> },
    query: (stmt: SelectStmt) => string | undefined,
  ) {
    this.#state = state;
    this.#written = written;
    this.#query = query;
    this.#dimensions = dimensions;
    this.#reads = reads;
  }

  /** The text of a bound expression. */
  text(expression: Node): string {
    return printExpression(this.#named(expression) as Node);
  }

  /** Adds what a part reads that the plan does not show. */
  note(part: unknown): void {
    this.#named(part);
  }

  /** The node with all on the way to it. */
  #read(node: PathNode): Read {
    for (let at: PathNode | null = node; at; at = at.parent)
      if (!this.#reads.has(at)) this.#reads.set(at, { columns: new Set(), computed: new Set(), links: new Set() });
    return this.#reads.get(node) as Read;
  }

  /** Adds a column of a concept. */
  reads({ relation, node, alias, column: name }: Reference): void {
    const read = this.#read(node);
    const computed = relation.exposed.get(name)?.called;
    const link = alias === node.alias ? undefined : linkColumn(node, name);
    if (link !== undefined) read.links.add(link);
    else if (computed !== undefined) read.computed.add(computed);
    else if (isColumn(node, name)) read.columns.add(name);
  }

  #named(tree: unknown): unknown {
    return mapped(tree, (node) => {
      const dimension = this.#dimensions.get(node);
      if (dimension) return column(...dimension);
      if ('ColumnRef' in node) return this.#reference(node);
      if ('SubLink' in node) return this.#subLink(node.SubLink);
      if ('SelectStmt' in node) return this.#called(node.SelectStmt);
      return undefined;
    });
  }

  #reference(node: Extract<Node, { ColumnRef: unknown }>): Node {
    const { references } = this.#state;
    const ref = references.of(node.ColumnRef);
    if (ref) this.reads(ref);
    if (ref) return column(this.#written(ref.relation.called ?? ref.relation.alias), pathColumn(ref));
    const measure = references.measure(node.ColumnRef);
    if (measure) {
      this.#read(measure.node);
      const path = pathOf(measure.node);
      return column(measure.relation.called ?? measure.relation.alias, measure.cubeColumn ?? `measure.${path === '' ? '' : `${path}.`}${measure.def.name}`);
    }
    const fields = fieldsOf(references.settle({ ColumnRef: { ...node.ColumnRef } }, references.owner(node.ColumnRef) ?? node).ColumnRef);
    return { ColumnRef: { fields: fields.filter((f) => f !== '*').map((f) => string(this.#written(f))) } };
  }

  #called(stmt: SelectStmt): Node {
    const name = this.#query(stmt);
    if (name !== undefined) return column(name);
    const [item] = stmt.fromClause ?? [];
    const inner = item && 'RangeSubselect' in item ? item.RangeSubselect.subquery : undefined;
    const values = inner && 'SelectStmt' in inner ? (inner.SelectStmt.targetList ?? []) : [];
    const args = values.flatMap((t) => ('ResTarget' in t && t.ResTarget.val ? [this.#named(t.ResTarget.val) as Node] : []));
    return { RowExpr: { args, row_format: 'COERCE_EXPLICIT_CALL' } };
  }

  #subLink({ subLinkType, testexpr, subselect, operName }: SubLink): Node {
    const query = subselect && 'SelectStmt' in subselect ? this.#called(subselect.SelectStmt) : column('');
    if (subLinkType === 'EXISTS_SUBLINK') return call('exists', [query]);
    if (subLinkType === 'ARRAY_SUBLINK') return call('array', [query]);
    if (subLinkType === 'EXPR_SUBLINK' || !testexpr) return query;
    const kind = subLinkType === 'ALL_SUBLINK' ? 'AEXPR_OP_ALL' : 'AEXPR_OP_ANY';
    return { A_Expr: { kind, name: operName ?? [string('=')], lexpr: this.#named(testexpr) as Node, rexpr: query } };
  }
}
