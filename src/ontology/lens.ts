/**
 * A model as one caller sees it (docs/design/rights-and-visibility.md#the-visible-part-of-a-model): a graph without hidden concepts and views, and without
 * what belongs only to them. It is the graph of a smaller model, so names, lists and hints are the same as if the hidden parts did not exist.
 * Only rows come from the whole model: a visible concept has the properties that it inherits from hidden ones, as its own, and the rows of its hidden descendants.
 */
import { CompiledGraph } from './compile.ts';
import { type CompiledConcept, ConceptWithRows } from './compiled-concept.ts';
import type { Concept, Graph, Relationship, Rows } from './graph.ts';
import type { ConceptDef, MappingDef, MeasureDef, Model, PropertyDef, RelationshipDef, ViewDef } from './model.ts';
import { ENTITY_COLUMNS, fold } from './names.ts';
import { includedBy, partsOf } from './parts.ts';
import { followPath, isPath } from './paths.ts';

/** What a caller may see of a model, by name. */
export interface Sight {
  concept(name: string): boolean;
  view(name: string): boolean;
  /** Whether its rows may be read. Called only for a concept that the caller sees. */
  readsConcept(name: string): boolean;
  readsView(name: string): boolean;
  /** The column names in an expression of the model. */
  columnsOf(expression: string): readonly string[];
}

/**
 * The visible part of `whole`, a graph made by `compile`.
 * @param like another graph of this kind for the same visible concepts and views. Its model is used if it does not depend on which rows may be read.
 */
export function lensOf(whole: Graph, sight: Sight, like?: Graph): Graph {
  return new Lens(whole as CompiledGraph, sight, like).graph;
}

const NONE: readonly CompiledConcept[] = [];

/** The elements for which `keep` is true; the list itself if these are all. */
const part = <T>(list: readonly T[], keep: (element: T) => boolean): readonly T[] => (list.every(keep) ? list : list.filter(keep));

/** The list that a declaration has, if it is equal to `list`. */
const shared = <T>(list: readonly T[], declared: readonly T[]): readonly T[] =>
  list.length === declared.length && list.every((element, i) => element === declared[i]) ? declared : list;

/** Folded names of the properties of a concept that it shows and hides; of those that only descendants have, whether a visible one shows it. */
interface Names {
  readonly concept: CompiledConcept;
  readonly own: ReadonlySet<string>;
  readonly lost: ReadonlySet<string>;
  readonly derived: () => ReadonlyMap<string, boolean>;
}

class Lens {
  readonly graph: CompiledGraph;
  readonly #whole: CompiledGraph;
  readonly #sight: Sight;
  /** The hidden ancestors between a visible concept and the next visible ones, each after its parents. */
  readonly #absorbed = new Map<CompiledConcept, readonly CompiledConcept[]>();
  /** The declarations of the visible concepts, because a set of objects is faster than one of names. */
  readonly #visible: ReadonlySet<ConceptDef | null>;
  #thing: Concept | undefined;
  readonly #somewhere = new Map<PropertyDef, boolean>();
  /** True if a calculated property has a path. */
  readonly #hasPaths: boolean;
  readonly #shown = new Map<string, boolean>();
  #names: Names | undefined;

  constructor(whole: CompiledGraph, sight: Sight, like?: Graph) {
    this.#whole = whole;
    this.#sight = sight;
    this.#hasPaths = whole.model.properties.some((p) => p.expression !== null && isPath(p.expression));
    this.#visible = new Set(whole.concepts.filter((c) => sight.concept(c.name)).map((c) => c.def));
    const isOfNames = !this.#hasPaths && !whole.model.concepts.some((c) => c.relationships.some((r) => r.includes !== undefined));
    this.graph = new CompiledGraph(like !== undefined && isOfNames ? like.model : this.#model(), whole.ontology, {
      graph: whole,
      whole: (concept) => (concept.def === null ? this.#wholeThing() : (whole.concept(concept.name) as Concept)),
      relationships: (concept) => this.#relationships(concept),
      readable: (concept) => (concept.def === null ? this.#readsThing() : sight.readsConcept(concept.name)),
      reads: (view) => sight.readsView(view.name),
    });
  }

  #sees(concept: Concept): boolean {
    return concept.def === null || this.#visible.has(concept.def);
  }

  #reads(concept: Concept): boolean {
    return concept.def !== null && this.#visible.has(concept.def) && this.#sight.readsConcept(concept.name);
  }

  /** `thing` is the union of the readable concepts. `thing` is not readable if the caller may see concepts but may read no concept. */
  #readsThing(): boolean {
    const { concepts } = this.graph;
    return concepts.length === 0 || concepts.some((c) => c.readable);
  }

  #wholeThing(): Concept {
    this.#thing ??= new ConceptWithRows(this.#whole, this.#whole.thing, this.#rowsOfThing());
    return this.#thing;
  }

  #rowsOfThing(): Rows {
    const { rows } = this.#whole.thing;
    if (rows.kind !== 'mappings') return rows;
    return { ...rows, sources: rows.sources.filter(({ target }) => [target, ...target.ancestors].some((c) => this.#reads(c))) };
  }

  #absorbedBy(concept: CompiledConcept): readonly CompiledConcept[] {
    if (concept.parents.every((p) => this.#sees(p))) return NONE;
    const known = this.#absorbed.get(concept);
    if (known) return known;
    const done = new Set<CompiledConcept>();
    const open = new Set<CompiledConcept>();
    const stack: CompiledConcept[] = [concept];
    for (let c = stack.at(-1); c; c = stack.at(-1)) {
      open.add(c);
      const next = c.parents.find((p) => !open.has(p) && !this.#sees(p));
      if (next) {
        stack.push(next);
        continue;
      }
      done.add(c);
      stack.pop();
    }
    done.delete(concept);
    this.#absorbed.set(concept, [...done]);
    return [...done];
  }

  #model(): Model {
    const { model } = this.#whole;
    const seen = this.#whole.concepts.filter((c) => this.#sees(c));
    const concepts = seen.map((c) => this.#concept(c));
    // a property that no concept has is visible only if all concepts are
    const every = seen.length === this.#whole.concepts.length;
    const properties = every ? new Set<string>() : this.#shownBy(seen);
    const measures = new Set(every ? [] : concepts.flatMap((c) => c.measures.map(fold)));
    const links = this.#links();
    const sees = (name: string): boolean => this.#sight.concept(name);
    const isSeen = (m: MappingDef): boolean =>
      m.link === null ? m.concept !== null && sees(m.concept) : links.has(m) && sees(m.link.forward.concept) && sees(m.link.back.concept);
    return {
      ...model,
      concepts,
      properties: every ? model.properties : model.properties.filter((p) => properties.has(fold(p.name))),
      measures: every ? model.measures : model.measures.filter((m) => measures.has(fold(m.name))),
      mappings: part(model.mappings, isSeen),
      views: part(model.views, (v: ViewDef) => this.#sight.view(v.name)),
    };
  }

  /** The folded names of the properties that one of the concepts shows. Those without a path are shown by all concepts that have them, so only the others need the properties of each. */
  #shownBy(concepts: readonly CompiledConcept[]): ReadonlySet<string> {
    const names = new Set<string>();
    const lineages = new Set(concepts);
    const carriers = new Set<CompiledConcept>();
    const isCalculated = (name: string): boolean => this.#hasPaths && this.#whole.property(name)?.expression != null;
    for (const c of lineages) {
      for (const parent of c.parents) lineages.add(parent);
      for (const name of c.def?.multi ?? []) names.add(fold(name));
      for (const name of c.def?.properties ?? []) {
        if (isCalculated(name)) carriers.add(c);
        else names.add(fold(name));
      }
    }
    for (const c of carriers) {
      for (const child of c.children) carriers.add(child);
      if (this.#sees(c)) for (const { def } of c.properties) if (this.#shows(c, def.name)) names.add(fold(def.name));
    }
    return names;
  }

  /** The mappings of links between visible concepts. */
  #links(): ReadonlySet<MappingDef> {
    const links = new Set<MappingDef>();
    for (const [pair, own] of this.#whole.linksOf()) {
      const r = this.#whole.relationships(pair)?.forward;
      if (r && this.#sees(r.from) && this.#sees(r.target)) for (const { mapping } of own) links.add(mapping);
    }
    return links;
  }

  /** A concept as it would have been declared without the hidden parts. */
  #concept(concept: CompiledConcept): ConceptDef {
    const def = concept.def as ConceptDef;
    const absorbed = this.#absorbedBy(concept);
    const all = (own: (d: ConceptDef) => readonly string[]): readonly string[] => {
      if (absorbed.length === 0) return own(def);
      const names = new Map<string, string>();
      for (const d of [...absorbed.flatMap((c) => c.def ?? []), def]) for (const name of own(d)) names.set(fold(name), name);
      return [...names.values()];
    };
    const measures = all((d) => d.measures);
    const computes = (measure: MeasureDef | undefined): boolean => measure !== undefined && this.#computes(concept, measure);
    // the nearest declaration applies; if it belongs to a hidden concept, it becomes this concept's own
    const nearest = (own: (d: ConceptDef) => readonly string[]): readonly string[] => {
      if (own(def).length > 0 || def.parents.length === 0) return own(def);
      const holder = concept.ancestors.find((c) => c.def && own(c.def).length > 0);
      return holder?.def && !this.#sees(holder) ? own(holder.def) : own(def);
    };
    const shows = (name: string): boolean => this.#shows(concept, name);
    const [properties, label] = [all((d) => d.properties), nearest((d) => d.label)];
    return {
      ...def,
      parents: shared(this.#parents(concept, absorbed), def.parents),
      properties: part(properties, shows),
      multi: all((d) => d.multi),
      measures: part(measures, (name) => computes(this.#whole.measure(name))),
      primaryKey: nearest((d) => d.primaryKey),
      label: part(label, shows),
      relationships: shared(this.#declarations(concept, absorbed), def.relationships),
      logic: def.logic && (fold(def.logic.concept) === 'thing' || this.#sight.concept(def.logic.concept)) ? def.logic : null,
    };
  }

  /** The nearest visible ancestors on each path upward, in INHERITS order, without `thing`. */
  #parents(concept: CompiledConcept, absorbed: readonly CompiledConcept[]): readonly string[] {
    if (absorbed.length === 0) return concept.parents.flatMap((p) => (p.def === null ? [] : p.name));
    const hidden = new Set([concept, ...absorbed]);
    const named = new Set(concept.parents.filter((p) => !hidden.has(p)));
    const found = new Set<CompiledConcept>();
    const seen = new Set<CompiledConcept>();
    const stack = [...concept.parents].reverse();
    for (let c = stack.pop(); c; c = stack.pop()) {
      if (seen.has(c)) continue;
      seen.add(c);
      if (hidden.has(c)) stack.push(...[...c.parents].reverse());
      else if (c.def !== null) found.add(c);
    }
    return [...found].filter((c) => named.has(c) || ![...found].some((o) => o !== c && o.isA(c))).map((c) => c.name);
  }

  /** Whether a calculated property reads only what the caller sees: its paths lead along visible relationships to concepts whose rows the caller may read. */
  #shows(concept: Concept, name: string, expanding: ReadonlySet<string> = new Set()): boolean {
    const { expression } = (this.#hasPaths && this.#whole.property(name)) || {};
    if (expression == null) return true;
    const key = `${concept.name} ${fold(name)}`;
    if (expanding.has(key)) return true;
    const known = this.#shown.get(key);
    if (known !== undefined) return known;
    const inner = new Set([...expanding, key]);
    const shows = this.#sight.columnsOf(expression).every((n) => (isPath(n) ? this.#follows(concept, n, inner) : this.#shows(concept, n, inner)));
    this.#shown.set(key, shows);
    return shows;
  }

  #follows(from: Concept, path: string, expanding: ReadonlySet<string>): boolean {
    const followed = followPath(from, path);
    const last = followed?.hops.at(-1);
    if (!followed || !last) return false;
    if (!followed.hops.every(({ relationship, concept, rows }) => this.#sees(relationship.target) && this.#sees(concept) && this.#reads(rows))) return false;
    if (followed.property === undefined) return true;
    const { concept, property } = { concept: last.concept, property: fold(followed.property) };
    const has = [...concept.properties, ...concept.multi].some((p) => fold(p.def.name) === property);
    if (!has && !ENTITY_COLUMNS.includes(property) && !(concept === last.rows && this.#derives(concept, property))) return false;
    return this.#shows(concept, property, expanding);
  }

  /** Whether a descendant of a concept has a property, and the caller may read the descendant's rows: a path to the concept can name no other. */
  #derives(concept: Concept, name: string): boolean {
    return concept.descendants.some((d) => this.#reads(d) && d.properties.some((p) => fold(p.def.name) === name));
  }

  /** The names of a concept. They are computed once for all its measures. */
  #namesOf(concept: CompiledConcept): Names {
    if (this.#names?.concept === concept) return this.#names;
    const own = new Set([...concept.properties.filter((p) => this.#shows(concept, p.def.name)), ...concept.multi].map((p) => fold(p.def.name)));
    const lost = new Set(concept.properties.map((p) => fold(p.def.name)).filter((name) => !own.has(name)));
    let found: ReadonlyMap<string, boolean> | undefined;
    const derived = (): ReadonlyMap<string, boolean> => {
      if (found) return found;
      const below = new Set<string>();
      for (const d of concept.descendants) if (this.#sees(d)) for (const { def } of d.properties) if (this.#shows(d, def.name)) below.add(fold(def.name));
      found = new Map(concept.derivedProperties.map((p) => [fold(p.def.name), below.has(fold(p.def.name))]));
      return found;
    };
    this.#names = { concept, own, lost, derived };
    return this.#names;
  }

  /** Whether a measure reads only visible properties. Properties that only hidden descendants have are hidden. */
  #computes(concept: CompiledConcept, measure: MeasureDef, expanding: ReadonlySet<MeasureDef> = new Set()): boolean {
    if (expanding.has(measure)) return true;
    const { own, lost, derived } = this.#namesOf(concept);
    const names = [measure.expression, ...(measure.filter === null ? [] : [measure.filter])].flatMap((sql) => this.#sight.columnsOf(sql));
    return names.every((name) => {
      if (own.has(fold(name))) return true;
      if (lost.has(fold(name))) return false;
      const below = derived().get(fold(name));
      if (below !== undefined) return below;
      const inner = this.#whole.measure(name);
      return inner === undefined || this.#computes(concept, inner, new Set([...expanding, measure]));
    });
  }

  /** The relationships of a concept of the whole model whose targets are visible; to `thing`, those over properties that a visible concept shows. */
  #seenFrom(concept: CompiledConcept): readonly Relationship[] {
    return concept.relationshipsTo((target) => this.#sees(target)).filter((r) => this.#mayShow(r));
  }

  #mayShow(r: Relationship): boolean {
    return (r.target.def !== null && r.from.def !== null) || (r.isInverse ? r.source : r.references).every((p) => this.#showsSomewhere(p));
  }

  #showsSomewhere(property: PropertyDef): boolean {
    const known = this.#somewhere.get(property);
    if (known !== undefined) return known;
    const shows = (c: Concept): boolean => this.#sees(c) && c.properties.some(({ def }) => def === property) && this.#shows(c, property.name);
    const found = this.#whole.concepts.some(shows);
    this.#somewhere.set(property, found);
    return found;
  }

  /** The relationships that the concept, or a hidden ancestor in its place, declares. The inverse of a hidden ancestor's relationship has no name. */
  #declarations(concept: CompiledConcept, absorbed: readonly CompiledConcept[]): readonly RelationshipDef[] {
    if (absorbed.length === 0) return this.#ownDeclarations(concept);
    const declaring = new Set<Concept>([concept, ...absorbed]);
    const own = new Set(concept.def?.relationships);
    return this.#seenFrom(concept)
      .filter((r) => !r.isInverse && declaring.has(r.declaredBy))
      .map((r) => this.#withSeenIncludes(own.has(r.def) ? r.def : { ...r.def, inverse: null }, r));
  }

  /** As `#declarations`, for a concept whose parents are visible: nothing hides its own relationships, so the inherited ones need not be known. */
  #ownDeclarations(concept: CompiledConcept): readonly RelationshipDef[] {
    const own = this.#whole.pairs().from.get(fold(concept.name)) ?? [];
    return own.flatMap((pair) => {
      const target = this.#whole.concept(pair.def.target);
      if (!target || !this.#sees(target)) return [];
      if (target.def !== null && pair.def.includes === undefined) return pair.def;
      const r = this.#whole.relationships(pair)?.forward;
      return r && this.#mayShow(r) ? this.#withSeenIncludes(pair.def, r) : [];
    });
  }

  /** The declaration without the names of relationships that the caller does not see. */
  #withSeenIncludes(def: RelationshipDef, r: Relationship): RelationshipDef {
    const { includes, ...rest } = def;
    if (includes === undefined) return def;
    const seen = includes.filter((name) => includedBy(r.from, name, r.target).some((part) => this.#counts(r, part)));
    if (seen.length === includes.length) return def;
    return seen.length === 0 ? rest : { ...rest, includes: seen };
  }

  /** True if pairs of a part are pairs of a relationship for the caller: it reads the rows at both ends as those of the part, or the relationship has the same ends. */
  #counts(r: Relationship, part: Relationship): boolean {
    const reads = (end: Concept, of: Concept): boolean => of.isA(end) || this.#reads(end);
    return reads(part.from, r.from) && reads(part.target, r.target);
  }

  #relationships(concept: Concept): readonly Relationship[] {
    const whole = this.#whole.concept(concept.name);
    return whole ? this.#seenFrom(whole).map((r) => this.#relationship(concept, r)) : [];
  }

  /** A relationship as seen from `concept`, which declares or inherits it. */
  #relationship(concept: Concept, r: Relationship): Relationship {
    const target = this.graph.concept(r.target.name) as Concept;
    const isSeen = this.#sees(r.from);
    const from = isSeen ? (this.graph.concept(r.from.name) as Concept) : this.#holderOf(concept, r.from);
    const counts = (part: Relationship): boolean => this.#counts(r, part);
    return {
      ...fieldsOf(r),
      included: r.included.filter(counts),
      parts: partsOf(r, counts),
      inverseName: isSeen ? r.inverseName : null,
      from,
      target,
      declaredBy: r.isInverse ? target : from,
      whole: r,
    };
  }

  /** The nearest visible concept that absorbs a hidden one. */
  #holderOf(concept: Concept, hidden: Concept): Concept {
    const absorbs = (c: Concept): boolean => {
      const whole = this.#whole.concept(c.name);
      return whole !== undefined && whole.def !== null && this.#absorbedBy(whole).some((a) => a === hidden);
    };
    return [concept, ...concept.ancestors].find(absorbs) ?? concept;
  }
}

/** The fields that do not depend on the caller. `links` stays lazy. */
const fieldsOf = (r: Relationship) => ({
  name: r.name,
  isInverse: r.isInverse,
  kind: r.kind,
  source: r.source,
  references: r.references,
  transitive: r.transitive,
  symmetric: r.symmetric,
  reverse: r.reverse,
  description: r.description,
  def: r.def,
  links: r.links,
});
