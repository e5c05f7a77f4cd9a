/** The state of one plan while it is made: its inputs, facts, texts, references, parameters and blocks. */
import { growing } from '../budget.ts';
import type { SvcError } from '../errors.ts';
import type { Concept, Graph } from '../ontology/graph.ts';
import { Facts } from './facts/facts.ts';
import type { GuardFacts } from './guard/index.ts';
import { type LateItem, slotOfLate } from './plan/barriers.ts';
import type { PendingBlock } from './plan/block.ts';
import { type BoundValue, boundText, type Defined, type NamedRelation, type PlanContext } from './plan/context.ts';
import { Position } from './plan/position.ts';
import { References } from './plan/references.ts';
import type { Node, SelectStmt } from './plan/tree.ts';
import { bindCaller } from './read/caller.ts';
import { Texts } from './read/texts.ts';
import { Policies } from './secure/policies.ts';
import type { Declared } from './verify/index.ts';

/** The state of one plan. */
export class PlanState {
  readonly context: PlanContext;
  readonly position = new Position();
  readonly facts: Facts;
  readonly texts: Texts;
  /** The references of resolved trees. */
  readonly references = new References();
  readonly params: (string | null)[] = [];
  /** For parameters with the rows of a system table: the length of the longest row. */
  readonly longestRows = new Map<number, number>();
  /** The values of the first parameters, which belong to a statement that the service has written (a filter). */
  readonly bound: readonly BoundValue[];
  /** Bound blocks that are not lowered yet, inner blocks first. */
  readonly blocks: PendingBlock[] = [];
  /** The foreign keys of the datasource that the plan relies on (`PlanContext.enforces`). */
  readonly trusted = new Set<string>();
  /** The outermost block of the statement; undefined before all of it is bound. */
  outermost: SelectStmt | undefined;
  /** The conditions of logic concepts of which it is known whether they may raise an error on a value. */
  readonly failing = new Map<object, boolean>();
  /** Items of FROM that have a second form for statements with barriers. */
  readonly late: LateItem[] = [];
  /** The error to throw if the statement needs barriers. */
  barrierRefusal: SvcError | undefined;
  /** The measures and calculated properties that divide, as messages call them. Only those that the caller sees. */
  readonly dividing = new Set<string>();
  /** The relations that the caller's own text names. */
  readonly relations: NamedRelation[] = [];
  /** The caller's policies over the whole model; undefined if no policy applies. */
  readonly policies: Policies | undefined;
  readonly #sights: Graph[] = [];
  #aliases = 0;
  readonly #parameters = new Map<string, number>();

  constructor(context: PlanContext, bound: readonly BoundValue[] = []) {
    this.context = context;
    this.bound = bound;
    this.policies = context.access && Policies.of(context.access, context.whole ?? context.graph.whole);
    const isRestricted = this.policies !== undefined || this.seen !== this.graph || context.queriesTables !== undefined;
    this.facts = new Facts(this.graph, this.position, isRestricted);
    this.texts = new Texts(context, this.facts, (tree, facts) => this.forCaller(tree, facts));
    this.params.push(...bound.map(boundText));
  }

  /** The datasource of the mappings that the statement has read so far; the active one if it has read none. */
  get datasource(): string {
    const [first] = this.texts.datasources;
    return first ?? this.context.activeDatasource;
  }

  /** True if the datasource keeps the names of a derived table's columns. */
  get keepsNames(): boolean {
    return this.context.keepsNames?.(this.datasource) ?? false;
  }

  /** The whole model. Rows, and names in stored texts, are looked up here. */
  get graph(): Graph {
    return this.context.whole ?? this.context.graph.whole;
  }

  /** The model as the caller sees it. */
  get seen(): Graph {
    return this.context.graph;
  }

  /**
   * The model that a stored text reads: as its definer sees it now; undefined for the whole model. Policies always read the whole model, since a policy must not change
   * when the rights of a definer change.
   */
  asDefined(defined: Defined): Graph | undefined {
    return this.position.isTrusted ? undefined : this.context.definer?.(defined);
  }

  /**
   * True if the caller's grants may hide rows of a concept, or of anything that a view reads if no concept is given. A condition that leaves out some of these rows must
   * then be a barrier, like the condition of a policy.
   */
  hidesRows(source?: Concept): boolean {
    return !this.position.isTrusted && this.seen !== this.graph && !(source && this.seen.concept(source.name)?.readable);
  }

  /** True if messages may name what is read at this position: what a view or a condition reads may be hidden from a caller who does not see the whole model. */
  get mayName(): boolean {
    return !this.position.isTrusted && (this.seen === this.graph || !this.position.isStored);
  }

  /**
   * True if rows that a mapping or raw view leaves out are hidden at the position that is planned, so that the condition of its SQL must be a barrier. This is so for
   * callers without the right `PlanContext.queriesTables`, except in conditions of policies, which read all rows.
   */
  hidesTables(datasource: string): boolean {
    return !this.position.isTrusted && !(this.context.queriesTables?.(datasource) ?? this.seen === this.graph);
  }

  /** A part of column keys that names the model which a reader sees: texts of several writers may read one relation. Empty for the whole model. */
  sightKey(graph: Graph): string {
    if (graph === this.graph) return '';
    if (!this.#sights.includes(graph)) this.#sights.push(graph);
    return ` seen ${this.#sights.indexOf(graph)}`;
  }

  /** Runs `make` and charges its cost to something that the caller sees. In the condition of a policy, the cost is charged to the policies. */
  grows<T>(what: () => string, make: () => T): T {
    return this.position.isTrusted ? make() : this.position.framed((inner) => growing(what(), inner), make);
  }

  /** Notes a relation of FROM, if the text is the caller's own. */
  noteRelation(relation: NamedRelation): void {
    if (this.position.isStored) return;
    if (!this.relations.some((r) => r.kind === relation.kind && r.name === relation.name && r.schema === relation.schema)) this.relations.push(relation);
  }

  /** Replaces calls of svc_username() and the like by their values for the caller (in place). @param facts those of the text of the tree */
  forCaller<T>(tree: T, facts: GuardFacts): T {
    return facts.callsReplaced ? this.bindCaller(tree) : tree;
  }

  protected bindCaller<T>(tree: T): T {
    const { tree: bound, isUsed } = bindCaller(tree, this.context.product, this.context.caller);
    this.facts.readsCaller ||= isUsed;
    return bound;
  }

  /** An item of FROM with a second form for statements with barriers. `withBarrier` makes that form later, at the current position. */
  item(plain: Node, withBarrier: () => Node): Node {
    const here = this.position.here();
    return slotOfLate(this.late.push({ plain, withBarrier: () => here(withBarrier) }) - 1);
  }

  /** The state of another plan, to find out what is true of a part of it for each caller with the same rights. */
  trial(changes: Partial<PlanContext> = {}): PlanState {
    return new PlanState({ ...this.context, ...changes, caller: undefined });
  }

  /** A new alias, which the plan does not use yet. A statement of a caller cannot contain it, because its names of this form are replaced by stand-ins. The SQL of mappings and raw views can. */
  alias(): string {
    this.#aliases++;
    return `~${this.#aliases}`;
  }

  /** The number of a parameter with a value. Equal keys share one parameter. */
  parameter(key: string, value: string): number {
    let n = this.#parameters.get(key);
    if (n === undefined) {
      n = this.params.push(value);
      this.#parameters.set(key, n);
    }
    return n;
  }

  /** The tables, functions and parameters that the SQL may name. */
  get declared(): Declared {
    return {
      tables: this.texts.tables,
      functions: this.context.allowedFunctions ?? new Set(),
      params: this.params.length,
    };
  }
}
