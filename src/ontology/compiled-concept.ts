/** One concept of a compiled model. Each lookup is computed on first use. */
import { listed, visited } from '../budget.ts';
import type { CompiledGraph } from './compile.ts';
import type { Concept, Graph, Property, Relationship, Rows } from './graph.ts';
import { push } from './links.ts';
import type { ConceptDef, MappingDef, MeasureDef, PropertyDef } from './model.ts';
import { fold, otherWay, THING } from './names.ts';
import { rowsOf } from './rows.ts';

export class CompiledConcept implements Concept {
  readonly name: string;
  readonly def: ConceptDef | null;
  /** Position in the order of declaration; -1 for `thing`. */
  readonly order: number;
  #parents: readonly CompiledConcept[] | undefined;
  #ancestors: readonly CompiledConcept[] | undefined;
  /** The declarations of the ancestors: a concept with a part of its rows (`ConceptWithRows`) has the same one as the concept itself. */
  #ancestorSet: ReadonlySet<ConceptDef | null> | undefined;
  #descendants: readonly CompiledConcept[] | undefined;
  #depth: number | undefined;
  #properties: readonly Property[] | undefined;
  #derived: readonly Property[] | undefined;
  #multi: readonly Property[] | undefined;
  #measures: Concept['measures'] | undefined;
  #key: Concept['key'] | undefined;
  #label: readonly PropertyDef[] | undefined;
  #relationships: readonly Relationship[] | undefined;
  #byName: ReadonlyMap<string, readonly Relationship[]> | undefined;
  #mappings: { readonly concept: readonly MappingDef[]; readonly multi: readonly MappingDef[] } | undefined;
  #rows: Rows | undefined;
  #isFindingRows = false;
  hasCircularRows = false;
  readonly #graph: CompiledGraph;

  constructor(graph: CompiledGraph, def: ConceptDef | null, order: number) {
    this.#graph = graph;
    this.def = def;
    this.name = def?.name ?? THING;
    this.order = order;
  }

  get graph(): Graph {
    return this.#graph;
  }
  get whole(): Concept {
    return this.#graph.origin?.whole(this) ?? this;
  }
  get readable(): boolean {
    return this.#graph.origin?.readable(this) ?? true;
  }
  get parents(): readonly CompiledConcept[] {
    this.#parents ??= this.#findParents();
    return this.#parents;
  }
  get children(): readonly CompiledConcept[] {
    return this.#graph.children().get(fold(this.name)) ?? [];
  }
  get ancestors(): readonly CompiledConcept[] {
    this.#ancestors ??= this.#findAncestors();
    return this.#ancestors;
  }
  get descendants(): readonly CompiledConcept[] {
    this.#descendants ??= this.#findDescendants();
    return this.#descendants;
  }
  get level(): number {
    return this.#depth ?? this.#findLevel();
  }
  isA(other: Concept): boolean {
    return other === this || other.def === null || other.def === this.def || this.#ancestorsAsSet().has(other.def);
  }
  get properties(): readonly Property[] {
    this.#properties ??= this.#collect((c) => c.def?.properties ?? []);
    return this.#properties;
  }
  get derivedProperties(): readonly Property[] {
    this.#derived ??= this.#findDerived();
    return this.#derived;
  }
  get multi(): readonly Property[] {
    this.#multi ??= this.#collect((c) => c.def?.multi ?? []);
    return this.#multi;
  }
  get measures(): Concept['measures'] {
    this.#measures ??= this.#findMeasures();
    return this.#measures;
  }
  get key(): Concept['key'] {
    if (this.#key === undefined) this.#key = this.#findKey();
    return this.#key;
  }
  get label(): readonly PropertyDef[] {
    this.#label ??= this.#findLabel();
    return this.#label;
  }
  get relationships(): readonly Relationship[] {
    this.#relationships ??= this.#graph.origin?.relationships(this) ?? this.relationshipsTo(() => true);
    return this.#relationships;
  }
  relationship(name: string): readonly Relationship[] {
    return this.#relationshipsByName().get(fold(name).replace(/^(~~)+/, '')) ?? [];
  }
  get mappings(): readonly MappingDef[] {
    return this.#ownMappings().concept;
  }
  get multiMappings(): readonly MappingDef[] {
    return this.#ownMappings().multi;
  }
  get rows(): Rows {
    if (this.#rows !== undefined) return this.#rows;
    if (this.#isFindingRows) {
      this.hasCircularRows = true;
      return { kind: 'mappings', fromAncestors: false, sources: [] };
    }
    this.#isFindingRows = true;
    try {
      this.#rows = this.#graph.origin
        ? this.whole.rows
        : rowsOf(this, this.#graph, (concept, rows) => new ConceptWithRows(this.#graph, concept as CompiledConcept, rows));
    } finally {
      // a budget may end before they are found, and a cached model is asked again
      this.#isFindingRows = false;
    }
    return this.#rows;
  }

  #ancestorsAsSet(): ReadonlySet<ConceptDef | null> {
    this.#ancestorSet ??= new Set(this.ancestors.map((a) => a.def));
    return this.#ancestorSet;
  }

  #relationshipsByName(): ReadonlyMap<string, readonly Relationship[]> {
    this.#byName ??= this.#findByName();
    return this.#byName;
  }

  #ownMappings(): { readonly concept: readonly MappingDef[]; readonly multi: readonly MappingDef[] } {
    if (this.#mappings === undefined) {
      const own = this.#graph.mappingsOf().get(fold(this.name)) ?? [];
      this.#mappings = { concept: own.filter((m) => m.kind === 'concept'), multi: own.filter((m) => m.kind === 'multi') };
    }
    return this.#mappings;
  }

  #findLabel(): readonly PropertyDef[] {
    const holder = [this, ...this.ancestors].find((c) => c.def && c.def.label.length > 0);
    return (holder?.def?.label ?? []).flatMap((name) => this.#graph.property(name) ?? []);
  }

  #findParents(): readonly CompiledConcept[] {
    if (!this.def) return [];
    const named = new Set(this.def.parents.flatMap((name) => this.#graph.concept(name) ?? []));
    return named.size > 0 ? [...named] : [this.#graph.thing];
  }

  #findAncestors(): readonly CompiledConcept[] {
    if (!this.def) return [];
    const found = new Set<CompiledConcept>(this.parents);
    for (const c of found) {
      listed(c.parents.length);
      for (const parent of c.parents) found.add(parent);
    }
    // removes itself in case of a cycle, which the checks at the script's end reject
    found.delete(this);
    found.delete(this.#graph.thing);
    return [...found, this.#graph.thing];
  }

  #findDescendants(): readonly CompiledConcept[] {
    if (!this.def) return this.#graph.concepts;
    const found = new Set<CompiledConcept>(this.children);
    for (const c of found) {
      listed(c.children.length);
      for (const child of c.children) found.add(child);
    }
    found.delete(this);
    return [...found].sort((a, b) => a.order - b.order);
  }

  /** The longest path to `thing`. Not recursive, because inheritance may be thousands of levels deep. */
  #findLevel(): number {
    const open = new Set<CompiledConcept>();
    const stack: CompiledConcept[] = [this];
    for (let c = stack.at(-1); c; c = stack.at(-1)) {
      open.add(c);
      const next = c.parents.find((p) => p.#depth === undefined && !open.has(p));
      if (next) {
        stack.push(next);
        continue;
      }
      c.#depth = c.def ? 1 + Math.max(...c.parents.map((p) => p.#depth ?? 0)) : 0;
      stack.pop();
    }
    return this.#depth ?? 0;
  }

  /** Itself and its ancestors, each after its parents, parents in INHERITS order. This is the order of SELECT *. */
  #lineage(): readonly CompiledConcept[] {
    const done = new Set<CompiledConcept>();
    const open = new Set<CompiledConcept>();
    const stack: CompiledConcept[] = [this];
    for (let c = stack.at(-1); c; c = stack.at(-1)) {
      open.add(c);
      visited(c.parents.length);
      const next = c.parents.find((p) => !open.has(p));
      if (next) {
        stack.push(next);
        continue;
      }
      done.add(c);
      stack.pop();
    }
    return [...done];
  }

  /** The properties that `own` returns over the whole lineage, each once. The owner is the nearest concept that declares the property. */
  #collect(own: (c: CompiledConcept) => readonly string[]): readonly Property[] {
    const defs = new Map<string, PropertyDef>();
    for (const c of this.#lineage()) {
      listed(own(c).length);
      for (const name of own(c)) {
        const def = this.#graph.property(name);
        if (def) defs.set(fold(name), def);
      }
    }
    const owners = this.#owners(own);
    return [...defs].map(([name, def]) => ({ def, owner: owners.get(name) ?? this }));
  }

  #owners(own: (c: CompiledConcept) => readonly string[]): ReadonlyMap<string, CompiledConcept> {
    const owners = new Map<string, CompiledConcept>();
    for (const c of [this, ...this.ancestors]) for (const name of own(c)) if (!owners.has(fold(name))) owners.set(fold(name), c);
    return owners;
  }

  #findDerived(): readonly Property[] {
    const known = new Set([...this.properties.map((p) => fold(p.def.name))]);
    const family = new Set<CompiledConcept>();
    for (const c of this.descendants) {
      visited(c.ancestors.length);
      // a caller who may read this concept but not the descendant gets no values of the descendant's properties here
      if (this.readable && !c.readable) continue;
      family.add(c);
      if (this.#graph.origin) for (const a of c.ancestors) if (a !== this && a.def && a.isA(this)) family.add(a);
      // properties that a descendant inherits from a parent outside this family are derived properties too
      for (const a of c.parents) if (a !== this && !family.has(a) && !a.isA(this)) for (const x of [a, ...a.ancestors]) family.add(x);
    }
    const derived: Property[] = [];
    for (const owner of [...family].sort((a, b) => a.order - b.order)) {
      listed(owner.def?.properties.length ?? 0);
      for (const name of owner.def?.properties ?? []) {
        const def = this.#graph.property(name);
        if (!def || known.has(fold(name))) continue;
        known.add(fold(name));
        derived.push({ def, owner });
      }
    }
    return derived;
  }

  #findMeasures(): Concept['measures'] {
    const own = (c: CompiledConcept) => c.def?.measures ?? [];
    const defs = new Map<string, MeasureDef>();
    for (const c of this.#lineage()) {
      listed(own(c).length);
      for (const name of own(c)) {
        const def = this.#graph.measure(name);
        if (def) defs.set(fold(name), def);
      }
    }
    const owners = this.#owners(own);
    return [...defs].map(([name, def]) => ({ def, owner: owners.get(name) ?? this }));
  }

  #findKey(): Concept['key'] {
    const keyed = this.#lineage().filter((c) => c.def && c.def.primaryKey.length > 0);
    // the lineage starts with the topmost concept; in a valid model all its keys are equal
    const nearest = [this, ...this.ancestors].find((c) => c.def && c.def.primaryKey.length > 0);
    if (!nearest?.def) return null;
    const text = keyText(nearest.def.primaryKey);
    const holder = keyed.find((c) => keyText(c.def?.primaryKey ?? []) === text) ?? nearest;
    return { properties: nearest.def.primaryKey.flatMap((name) => this.#graph.property(name) ?? []), holder };
  }

  /** Its relationships to targets for which `sees` is true. Other relationships do not hide inherited ones. */
  relationshipsTo(sees: (target: Concept) => boolean): readonly Relationship[] {
    const { from, to } = this.#graph.pairs();
    const hasAll = this.#namesOfProperties();
    const found: Relationship[] = [];
    // a nearer declaration hides those of ancestors under the same name; declarations of unrelated concepts do not hide each other
    const declaring = new Map<string, CompiledConcept[]>();
    for (const c of [this, ...this.ancestors]) {
      const add = (r: Relationship | undefined, own: boolean): void => {
        if (!r || !sees(r.target)) return;
        const nearer = declaring.get(fold(r.name)) ?? [];
        listed(1 + nearer.length);
        if (nearer.some((n) => n !== c && n.isA(c))) return;
        found.push(r);
        if (own) push(declaring, fold(r.name), c);
      };
      for (const pair of from.get(fold(c.name)) ?? []) add(this.#graph.relationships(pair)?.forward, true);
      for (const pair of to.get(fold(c.name)) ?? [])
        if (c.def !== null || hasAll(pair.def.references)) add(this.#graph.relationships(pair)?.back, pair.twin !== null);
    }
    return found;
  }

  /**
   * Returns a function that is true if the concept or one below it has all these properties. `thing` has the inverses of relationships to it, and so do the concepts that
   * they may lead to.
   */
  #namesOfProperties(): (names: readonly string[]) => boolean {
    let own: ReadonlySet<string> | undefined;
    let below: ReadonlySet<string> | undefined;
    const has = (name: string): boolean => {
      own ??= foldedNames(this.properties);
      if (own.has(fold(name))) return true;
      below ??= foldedNames(this.derivedProperties);
      return below.has(fold(name));
    };
    return (names) => this.def === null || names.every(has);
  }

  #findByName(): ReadonlyMap<string, readonly Relationship[]> {
    const byName = new Map<string, Relationship[]>();
    for (const r of this.relationships) {
      for (const name of new Set([fold(r.name), ...(r.inverseName === null ? [] : [otherWay(fold(r.inverseName))])])) push(byName, name, r);
    }
    return byName;
  }
}

const foldedNames = (properties: readonly Property[]): ReadonlySet<string> => new Set(properties.map((p) => fold(p.def.name)));

/** A concept with other rows than the model gives it: a part of them. */
export class ConceptWithRows extends CompiledConcept {
  readonly #own: Rows;

  constructor(graph: CompiledGraph, { def, order }: Pick<CompiledConcept, 'def' | 'order'>, rows: Rows) {
    super(graph, def, order);
    this.#own = rows;
  }

  override get rows(): Rows {
    return this.#own;
  }
}

/** A key as a comparable string. */
export const keyText = (names: readonly string[]): string => JSON.stringify(names.map(fold));
