/** The tree of paths that a query follows from one concept in FROM (docs/design/paths-and-cardinality.md#joins), and the columns that it wants at each node. */
import { made } from '../../budget.ts';
import type { Concept } from '../../ontology/graph.ts';
import type { PropertyDef } from '../../ontology/model.ts';
import type { RowFilter } from '../lower/narrow.ts';
import { type Hop, isToMany } from '../plan/hop.ts';
import type { PlanState } from '../plan-state.ts';
import type { Wanted } from './wanted.ts';

/** The step that leads to a node: a hop of a path, or a multi-value property. */
export type Step = { readonly kind: 'hop'; readonly hop: Hop } | { readonly kind: 'multi'; readonly def: PropertyDef };

/** A relation of the join tree: the root, or the target of a step. */
export class PathNode {
  readonly parent: PathNode | null;
  readonly step: Step | null;
  /** The concept of the node's rows. For a multi-value property: the concept that has the property. */
  readonly concept: Concept;
  readonly alias: string;
  readonly state: PlanState;
  readonly children = new Map<string, PathNode>();
  /** The wanted columns of the concept, by their keys (`wantedKey`). */
  readonly columns = new Map<string, { readonly name: string; readonly wanted: Wanted }>();
  /** The same by their names. */
  readonly #wanted = new Map<string, Wanted>();
  /** The wanted columns of the link, by lower-case name. */
  readonly linkColumns = new Map<string, string>();
  /** The condition that rows of the node must satisfy if a row of the block satisfies WHERE. */
  filter: RowFilter | undefined;
  /** Where the statement names the path first; undefined if it does not. */
  location: number | undefined;
  /** True if another condition, or another item of FROM, may restrict the rows of the node. */
  isRestricted = false;

  constructor(state: PlanState, parent: PathNode | null, step: Step | null, concept: Concept) {
    made(10);
    this.parent = parent;
    this.step = step;
    this.concept = concept;
    this.alias = state.alias();
    this.state = state;
  }

  /** Adds a column to the node's source. @returns the name of the column there */
  want(key: string, wanted: Wanted, preferred?: string): string {
    const known = this.columns.get(key);
    if (known) return known.name;
    let name = preferred;
    // a property may have such a name
    for (let n = this.#wanted.size + 1; name === undefined || this.#wanted.has(name); n++) name = `c${n}`;
    this.#wanted.set(name, wanted);
    this.columns.set(key, { name, wanted });
    return name;
  }

  /** Makes a wanted column another one, under the same name. Who wants the column of the old key from now on gets a new column. */
  replace(key: string, by: string, wanted: Wanted): void {
    const { name } = this.columns.get(key) as { readonly name: string };
    this.columns.delete(key);
    this.#wanted.set(name, wanted);
    this.columns.set(by, { name, wanted });
  }

  /** What the column with a name in the node's source is. */
  wantedOf(name: string): Wanted | undefined {
    return this.#wanted.get(name);
  }

  /** True if the step to this node may lead to several rows. */
  get toMany(): boolean {
    return this.step !== null && (this.step.kind === 'multi' || isToMany(this.step.hop));
  }

  /** This node and its descendants, parents first. */
  all(): readonly PathNode[] {
    const found: PathNode[] = [];
    this.#addTo(found);
    return found;
  }

  #addTo(nodes: PathNode[]): void {
    nodes.push(this);
    if (this.children.size > 0) for (const child of this.children.values()) child.#addTo(nodes);
  }

  /** The node that a step leads to. Writers who see different parts of the model get different nodes for the same path. */
  child(step: Step): PathNode {
    const label = step.kind === 'hop' ? `${step.hop.label.toLowerCase()}${this.state.sightKey(step.hop.columns.graph)}` : `.${step.def.name.toLowerCase()}`;
    let node = this.children.get(label);
    if (!node) {
      this.state.facts.noteJoins();
      node = new PathNode(this.state, this, step, step.kind === 'hop' ? step.hop.rows : this.concept);
      this.children.set(label, node);
    }
    return node;
  }
}

/** The path to a node as a query writes it, without quotes: `works_for[company].located_in[town]`; empty for the root. */
export function pathOf(node: PathNode): string {
  const steps: string[] = [];
  for (let at = node; at.parent; at = at.parent) if (at.step) steps.unshift(at.step.kind === 'hop' ? at.step.hop.label : at.step.def.name);
  return steps.join('.');
}

/** The key of a wanted property column at a node. */
export const propertyKey = (def: PropertyDef, actual = false): string => `${actual ? 'a' : 'p'}:${def.name}`;

/** The alias of the link rows of a many-to-many node. */
export const linkAlias = (node: PathNode): string => `${node.alias}l`;

/** True if a walk leads to the node. */
export const isWalk = (node: PathNode): boolean => node.step?.kind === 'hop' && node.step.hop.depth !== null;
