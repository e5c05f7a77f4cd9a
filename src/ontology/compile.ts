/**
 * Turns a model into the lookups of graph.ts. Every lookup is computed on first use and then cached. In the middle of a
 * script a model may refer to objects that do not exist yet: such references are skipped here, and the checks at the
 * script's end (apply/finish.ts) reject them.
 */
import { CompiledConcept } from './compiled-concept.ts';
import type { Concept, Graph, Relationship } from './graph.ts';
import { kinshipIn } from './kinship.ts';
import { type Pair, type Pairs, pairRelationships, push, relationshipOf } from './links.ts';
import type { LinkDef, MappingDef, MeasureDef, Model, PropertyDef, ViewDef } from './model.ts';
import { byName, fold, THING } from './names.ts';
import { includedBy, partsOf } from './parts.ts';

/** Creates the lookups for one version of an ontology. Never fails. Does not copy the model. */
export function compile(model: Model, ontologyName: string): Graph {
  return new CompiledGraph(model, ontologyName);
}

/** For a graph of a part of a model (lens.ts): answers that need the whole model. */
export interface Origin {
  readonly graph: Graph;
  /** The concept of the whole model, which determines the rows. */
  whole(concept: Concept): Concept;
  relationships(concept: Concept): readonly Relationship[];
  readable(concept: Concept): boolean;
  reads(view: ViewDef): boolean;
}

/** Runs `make` on the first call and caches its result. */
function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export class CompiledGraph implements Graph {
  readonly model: Model;
  /** null for a graph of the whole model. */
  readonly origin: Origin | null;
  readonly ontology: string;
  readonly thing: CompiledConcept;
  readonly #nodes: () => ReadonlyMap<string, CompiledConcept>;
  readonly #properties: () => ReadonlyMap<string, PropertyDef>;
  readonly #measures: () => ReadonlyMap<string, MeasureDef>;
  readonly #mappings: () => ReadonlyMap<string, MappingDef>;
  readonly #views: () => ReadonlyMap<string, ViewDef>;
  readonly #concepts: () => readonly CompiledConcept[];
  /** Direct children, by the folded name of the parent. */
  readonly children: () => ReadonlyMap<string, readonly CompiledConcept[]>;
  /** Mappings of kinds `concept` and `multi`, by the folded name of the concept mapped into. */
  readonly mappingsOf: () => ReadonlyMap<string, readonly MappingDef[]>;
  readonly pairs: () => Pairs;
  /** Link mappings of each relationship. `forward`: whether the mapping's `forward` end is the far end of the relationship. */
  readonly linksOf: () => ReadonlyMap<Pair, readonly { readonly mapping: MappingDef; readonly link: LinkDef; readonly forward: boolean }[]>;
  readonly #relationships = new Map<Pair, { readonly forward: Direction; readonly back: Direction }>();

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

  /** Both directions of a relationship; undefined if its target does not exist. */
  relationships(pair: Pair): { readonly forward: Direction; readonly back: Direction } | undefined {
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
  readonly symmetric: boolean;
  readonly description: string | null;
  readonly def: Relationship['def'];
  readonly declaredBy: Concept;
  #links: Relationship['links'] | undefined;
  #included: readonly Relationship[] | undefined;
  #parts: readonly Relationship[] | undefined;
  readonly #graph: CompiledGraph;
  readonly #pair: Pair;

  constructor(graph: CompiledGraph, pair: Pair, from: Concept, target: Concept, isInverse: boolean) {
    const { def, twin } = pair;
    const own = isInverse ? twin : def;
    this.#graph = graph;
    this.#pair = pair;
    this.name = isInverse ? pair.inverseName : def.name;
    this.inverseName = isInverse ? def.name : pair.inverseName;
    this.isInverse = isInverse;
    this.kind = def.kind;
    this.from = from;
    this.target = target;
    const properties = (names: readonly string[]) => names.flatMap((n) => graph.property(n) ?? []);
    this.source = properties(isInverse ? def.references : def.source);
    this.references = properties(isInverse ? def.source : def.references);
    const transitive = own?.transitive ?? def.transitive ?? twin?.transitive ?? null;
    // a walk that goes on by a relationship of its target has no other direction
    this.transitive = transitive !== null && isInverse && own?.transitive == null && !from.isA(target) && !target.isA(from) ? null : transitive;
    // a description fits the direction that it was written for
    this.description = own?.description ?? null;
    this.symmetric = def.symmetric ?? false;
    this.def = def;
    this.declaredBy = isInverse ? target : from;
  }

  get links(): Relationship['links'] {
    this.#links ??= (this.#graph.linksOf().get(this.#pair) ?? []).map(({ mapping, link, forward }) =>
      forward === this.isInverse ? { mapping, near: link.forward, far: link.back } : { mapping, near: link.back, far: link.forward },
    );
    return this.#links;
  }
  get reverse(): Relationship {
    return this.#graph.relationships(this.#pair)?.[this.isInverse ? 'forward' : 'back'] as Direction;
  }
  get included(): readonly Relationship[] {
    this.#included ??= this.#findIncluded();
    return this.#included;
  }
  get parts(): readonly Relationship[] {
    this.#parts ??= partsOf(this);
    return this.#parts;
  }
  get whole(): Relationship {
    return this;
  }

  #findIncluded(): readonly Relationship[] {
    const { def, twin } = this.#pair;
    if (def.includes === undefined && twin?.includes === undefined) return [];
    const { from, target, isInverse } = this;
    // the target's own declaration of the relationship may include others too
    const named = (names: readonly string[] | undefined, at: Concept, to: Concept) => (names ?? []).flatMap((name) => includedBy(at, name, to));
    const others = named(isInverse ? def.includes : twin?.includes, target, from).map((r) => r.reverse);
    return [...new Set([...named((isInverse ? twin : def)?.includes, from, target), ...others])];
  }
}
