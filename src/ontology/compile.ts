/**
 * Turns a model into the lookups of graph.ts. Nothing is worked out before it is asked for; what was asked for is kept.
 * A model in the middle of a script may name what is not there yet: such names are passed over here, and the check at the
 * script's end (apply/finish.ts) refuses them.
 */
import { listed, visited } from '../budget.ts';
import type { Concept, Graph, Property, Relationship, Rows } from './graph.ts';
import { kinshipIn } from './kinship.ts';
import { type Pair, type Pairs, pairRelationships, push, relationshipOf } from './links.ts';
import type { ConceptDef, LinkDef, MappingDef, MeasureDef, Model, PropertyDef, ViewDef } from './model.ts';
import { byName, fold, otherWay, THING } from './names.ts';
import { rowsOf } from './rows.ts';

/** Makes the lookups over one version of an ontology. Never fails; the model is not copied. */
export function compile(model: Model, ontologyName: string): Graph {
  return new CompiledGraph(model, ontologyName);
}

/** What a graph of a part of a model (lens.ts) answers otherwise than that part alone would. */
export interface Origin {
  readonly graph: Graph;
  /** The concept by which rows are read. */
  whole(concept: Concept): Concept;
  relationships(concept: Concept): readonly Relationship[];
  readable(concept: Concept): boolean;
  reads(view: ViewDef): boolean;
}

/** Keeps the result of `make`, which runs when first asked. */
function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export class CompiledGraph implements Graph {
  readonly model: Model;
  /** null: it is a graph of the whole. */
  readonly origin: Origin | null;
  readonly ontology: string;
  readonly thing: CompiledConcept;
  readonly #nodes: () => ReadonlyMap<string, CompiledConcept>;
  readonly #properties: () => ReadonlyMap<string, PropertyDef>;
  readonly #measures: () => ReadonlyMap<string, MeasureDef>;
  readonly #mappings: () => ReadonlyMap<string, MappingDef>;
  readonly #views: () => ReadonlyMap<string, ViewDef>;
  readonly #concepts: () => readonly CompiledConcept[];
  /** Direct children by the folded name of the parent. */
  readonly children: () => ReadonlyMap<string, readonly CompiledConcept[]>;
  /** Mappings of kinds `concept` and `multi` by the folded name of the concept mapped into. */
  readonly mappingsOf: () => ReadonlyMap<string, readonly MappingDef[]>;
  readonly pairs: () => Pairs;
  /** Link mappings of each relationship; `forward`: the mapping's `forward` end is the relationship's far end. */
  readonly linksOf: () => ReadonlyMap<Pair, readonly { readonly mapping: MappingDef; readonly link: LinkDef; readonly forward: boolean }[]>;
  readonly #relationships = new Map<Pair, { readonly forward: Relationship; readonly back: Relationship }>();

  constructor(model: Model, ontology: string, origin: Origin | null = null) {
    this.model = model;
    this.origin = origin;
    this.ontology = ontology;
    this.thing = new CompiledConcept(this, null, -1);
    this.#nodes = lazy(() => {
      const nodes = new Map<string, CompiledConcept>();
      model.concepts.forEach((def, i) => {
        if (!nodes.has(fold(def.name))) nodes.set(fold(def.name), new CompiledConcept(this, def, i));
      });
      return nodes.set(THING, this.thing);
    });
    this.#properties = lazy(() => byName(model.properties));
    this.#measures = lazy(() => byName(model.measures));
    this.#mappings = lazy(() => byName(model.mappings));
    this.#views = lazy(() => byName(model.views));
    this.#concepts = lazy(() => [...this.#nodes().values()].filter((c) => c !== this.thing));
    this.children = lazy(() => {
      const children = new Map<string, CompiledConcept[]>();
      for (const c of this.concepts) for (const parent of c.parents) push(children, fold(parent.name), c);
      return children;
    });
    this.mappingsOf = lazy(() => {
      const mappings = new Map<string, MappingDef[]>();
      for (const m of model.mappings) if (m.concept !== null) push(mappings, fold(m.concept), m);
      return mappings;
    });
    this.pairs = lazy(() => pairRelationships(model));
    this.linksOf = lazy(() => {
      const links = new Map<Pair, { mapping: MappingDef; link: LinkDef; forward: boolean }[]>();
      for (const mapping of model.mappings) {
        const found = mapping.link && relationshipOf(mapping.link, this.pairs(), kinshipIn(this));
        if (mapping.link && found) push(links, found.pair, { mapping, link: mapping.link, forward: found.forward });
      }
      return links;
    });
  }

  get whole(): Graph {
    return this.origin?.graph ?? this;
  }
  get concepts(): readonly CompiledConcept[] {
    return this.#concepts();
  }

  concept(name: string): CompiledConcept | undefined {
    return this.#nodes().get(fold(name));
  }
  property(name: string): PropertyDef | undefined {
    return this.#properties().get(fold(name));
  }
  measure(name: string): MeasureDef | undefined {
    return this.#measures().get(fold(name));
  }
  mapping(name: string): MappingDef | undefined {
    return this.#mappings().get(fold(name));
  }
  view(name: string): ViewDef | undefined {
    return this.#views().get(fold(name));
  }
  reads(view: ViewDef): boolean {
    return this.origin?.reads(view) ?? true;
  }

  /** Both directions of a relationship; undefined where its target does not exist. */
  relationships(pair: Pair): { readonly forward: Relationship; readonly back: Relationship } | undefined {
    const known = this.#relationships.get(pair);
    if (known) return known;
    const owner = this.concept(pair.owner.name);
    const target = this.concept(pair.def.target);
    if (!owner || !target) return undefined;
    const made = { forward: new Direction(this, pair, owner, target, false), back: new Direction(this, pair, target, owner, true) };
    this.#relationships.set(pair, made);
    return made;
  }
}

/** One direction of a relationship. */
class Direction implements Relationship {
  readonly name: string;
  readonly inverseName: string;
  readonly isInverse: boolean;
  readonly kind: 'fk' | 'mtm';
  readonly from: Concept;
  readonly target: Concept;
  readonly source: readonly PropertyDef[];
  readonly references: readonly PropertyDef[];
  readonly transitive: Relationship['transitive'];
  readonly description: string | null;
  readonly def: Relationship['def'];
  readonly declaredBy: Concept;
  readonly #links: () => Relationship['links'];

  constructor(graph: CompiledGraph, pair: Pair, from: Concept, target: Concept, isInverse: boolean) {
    const { def, twin } = pair;
    const own = isInverse ? twin : def;
    this.name = isInverse ? pair.inverseName : def.name;
    this.inverseName = isInverse ? def.name : pair.inverseName;
    this.isInverse = isInverse;
    this.kind = def.kind;
    this.from = from;
    this.target = target;
    const properties = (names: readonly string[]) => names.flatMap((n) => graph.property(n) ?? []);
    this.source = properties(isInverse ? def.references : def.source);
    this.references = properties(isInverse ? def.source : def.references);
    this.transitive = own?.transitive ?? def.transitive ?? twin?.transitive ?? null;
    this.description = own?.description ?? def.description ?? twin?.description ?? null;
    this.def = def;
    this.declaredBy = isInverse ? target : from;
    this.#links = lazy(() =>
      (graph.linksOf().get(pair) ?? []).map(({ mapping, link, forward }) =>
        forward === isInverse ? { mapping, near: link.forward, far: link.back } : { mapping, near: link.back, far: link.forward },
      ),
    );
  }

  get links(): Relationship['links'] {
    return this.#links();
  }
  get whole(): Relationship {
    return this;
  }
}

export class CompiledConcept implements Concept {
  readonly name: string;
  readonly def: ConceptDef | null;
  /** Place in the order of declaration; -1 for `thing`. */
  readonly order: number;
  #parents: readonly CompiledConcept[] | undefined;
  #ancestors: readonly CompiledConcept[] | undefined;
  #ancestorSet: ReadonlySet<Concept> | undefined;
  #descendants: readonly CompiledConcept[] | undefined;
  #depth: number | undefined;
  #properties: readonly Property[] | undefined;
  #derived: readonly Property[] | undefined;
  #multi: readonly Property[] | undefined;
  #measures: Concept['measures'] | undefined;
  #key: Concept['key'] | undefined;
  #label: readonly PropertyDef[] | undefined;
  #relationships: readonly Relationship[] | undefined;
  #answering: ReadonlyMap<string, readonly Relationship[]> | undefined;
  #mappings: { readonly concept: readonly MappingDef[]; readonly multi: readonly MappingDef[] } | undefined;
  #rows: Rows | undefined;
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
    return other === this || other.def === null || this.#ancestorsAsSet().has(other);
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
    return this.#answers().get(fold(name).replace(/^(~~)+/, '')) ?? [];
  }
  get mappings(): readonly MappingDef[] {
    return this.#ownMappings().concept;
  }
  get multiMappings(): readonly MappingDef[] {
    return this.#ownMappings().multi;
  }
  get rows(): Rows {
    this.#rows ??= this.#graph.origin ? this.whole.rows : rowsOf(this, this.#graph);
    return this.#rows;
  }

  #ancestorsAsSet(): ReadonlySet<Concept> {
    this.#ancestorSet ??= new Set(this.ancestors);
    return this.#ancestorSet;
  }

  #answers(): ReadonlyMap<string, readonly Relationship[]> {
    this.#answering ??= this.#findAnswers();
    return this.#answering;
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
    // Only a circle, which the script's end refuses, leads back here.
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

  /** Longest way, by settling every concept after its parents: inheritance may be thousands of levels deep. */
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

  /** Itself and its ancestors, every concept after its parents, parents in INHERITS order: the order of SELECT *. */
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

  /** Properties that `own` names, over the whole lineage, each once and owned by the nearest concept that names it. */
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
      // who may read this concept and not that one is told of that one's properties elsewhere, and gets no values of them here
      if (this.readable && !c.readable) continue;
      family.add(c);
      if (this.#graph.origin) for (const a of c.ancestors) if (a !== this && a.def && a.isA(this)) family.add(a);
      // What a descendant has from a parent outside this family is a property of a derived concept too.
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
    // The lineage has the topmost concept first; a model that passed its checks has one and the same key all along it.
    const nearest = [this, ...this.ancestors].find((c) => c.def && c.def.primaryKey.length > 0);
    if (!nearest?.def) return null;
    const text = keyText(nearest.def.primaryKey);
    const holder = keyed.find((c) => keyText(c.def?.primaryKey ?? []) === text) ?? nearest;
    return { properties: nearest.def.primaryKey.flatMap((name) => this.#graph.property(name) ?? []), holder };
  }

  /** Its relationships to targets that `sees` lets through; what it keeps back hides nothing either. */
  relationshipsTo(sees: (target: Concept) => boolean): readonly Relationship[] {
    const { from, to } = this.#graph.pairs();
    const found: Relationship[] = [];
    // A nearer declaration hides what farther concepts have under its name; two concepts of one distance do not hide each other's.
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
      for (const pair of to.get(fold(c.name)) ?? []) add(this.#graph.relationships(pair)?.back, pair.twin !== null);
    }
    return found;
  }

  #findAnswers(): ReadonlyMap<string, readonly Relationship[]> {
    const answers = new Map<string, Relationship[]>();
    for (const r of this.relationships) {
      for (const name of new Set([fold(r.name), ...(r.inverseName === null ? [] : [otherWay(fold(r.inverseName))])])) push(answers, name, r);
    }
    return answers;
  }
}

/** A key as one comparable text. */
export const keyText = (names: readonly string[]): string => JSON.stringify(names.map(fold));
