/**
 * What the joins of a model reveal of rows and values that policies hide. Relationships and multi-value properties are joined by unmasked values, so a join by
 * a masked property reveals its value by the rows that it finds. Links and values of multi-value properties are visible with the rows that they are joined to,
 * so joining them to other rows would show them without the policies of their owners.
 */
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import { push } from '../../ontology/links.ts';
import type { LinkEnd, MappingDef, PropertyDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { parseType } from '../../ontology/types.ts';
import { multiMappings } from '../lower/joins.ts';
import { maskStandalone } from '../lower/masks.ts';
import { cast, select, target } from '../plan/tree.ts';
import { Policies, sourcesOf } from '../secure/policies.ts';
import type { Affected } from '../touched/affected.ts';
import { type End, type Ends, EndsOf, hasEnd } from './ends.ts';
import type { PolicyRules, Subject } from './enforced.ts';
import { accessFor, definitionOf, type ModelContext, planned } from './model-state.ts';

/** A join that the model makes between rows of its two sides. */
interface Join {
  /** The definition of the link or multi-value mapping between the two sides; '' for a foreign key. Equal texts mean the same rows between. */
  readonly between: string;
  readonly mapping: MappingDef | null;
  /** True if the change may affect it. */
  readonly isAffected: boolean;
  /** Planned when it is first called. */
  readonly sides: () => Sides;
  /** The concepts, one for each side, whose policies apply to the rows between. */
  readonly owners: readonly [Concept | null, Concept | null];
  readonly subject: Subject;
}

/** The SQL of a value that is joined to the rows of concepts, under one mask. */
interface LinkedValue {
  readonly texts: ReadonlySet<string>;
  readonly isMasked: boolean;
  readonly subject: Subject;
}

const NONE: Ends = new Map();

type Sides = readonly [Ends, Ends];

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** The joins of one version of a model, planned when they are first compared. Its methods do not throw. */
export class Joins {
  readonly #context: ModelContext;
  readonly #graph: Graph;
  readonly #policies: Policies;
  readonly #rules: PolicyRules;
  readonly #ends: EndsOf;
  readonly #affected: Affected;
  #joins: readonly Join[] | undefined;
  #between: ReadonlyMap<string, readonly Join[]> | undefined;
  /** By what is between the sides. */
  readonly #byEnd = new Map<string, ReadonlyMap<string, readonly Sides[]>>();

  /** @param affected what the change between the two compared versions may affect */
  constructor(context: ModelContext, graph: Graph, rules: PolicyRules, affected: Affected) {
    this.#context = context;
    this.#graph = graph;
    this.#rules = rules;
    this.#affected = affected;
    const access = accessFor(rules);
    this.#ends = new EndsOf(context, graph, access);
    this.#policies = Policies.of(access, graph);
  }

  /** The first rows or values that joins of this version reveal and `before` hides; undefined if there are none. */
  reveals(before: Joins): Subject | undefined {
    const linkedValues = this.linkedValues();
    for (const [key, { texts, isMasked, subject }] of before.linkedValues()) {
      if (!isMasked) continue;
      const now = linkedValues.get(key)?.texts;
      if (now === undefined || [...now].some((t) => !texts.has(t))) return subject;
    }
    for (const mapping of before.#graph.model.mappings) {
      if (mapping.kind === 'concept' || !before.#isGuarded(mapping)) continue;
      const now = this.#graph.mapping(mapping.name);
      if (now === undefined || definitionOf(now) !== definitionOf(mapping)) return subjectOf(mapping);
    }
    return this.#all().find((join) => join.isAffected && this.#isNew(join, before))?.subject;
  }

  /** The first mapping of links or values that satisfies `test` and is joined to rows to which `before` does not join it, or undefined. */
  added(before: Joins, test: (mapping: MappingDef) => boolean): MappingDef | undefined {
    return this.#all().find((join) => join.isAffected && join.mapping !== null && test(join.mapping) && this.#isNew(join, before))?.mapping ?? undefined;
  }

  /** True if a join reveals something that the joins of `before` do not. The rows of mappings that were added since belong to their author and do not count. */
  #isNew(join: Join, before: Joins): boolean {
    const [near, far] = join.sides();
    const isOld = (end: End): boolean => before.#graph.mapping(end.mapping.name) !== undefined;
    const shows = (end: End, i: 0 | 1): boolean => (end.isMasked && isOld(end)) || this.#lacks(end, join, i, before);
    if (![...near.values()].some((e) => shows(e, 0)) && ![...far.values()].some((e) => shows(e, 1))) return false;
    const contains = (ends: Ends, all: Ends): boolean => [...ends.values()].every((end) => hasEnd(all, end));
    const isWithin = ([a, b]: Sides): boolean => (contains(near, a) && contains(far, b)) || (contains(near, b) && contains(far, a));
    const [first] = near.values();
    if (first === undefined || before.#joinsOf(join.between, first).some(isWithin)) return false;
    return [...near.values()].some((a) => {
      const known = before.#joinsOf(join.between, a).map(([x, y]) => ({ x, y, isFirst: hasEnd(x, a), isSecond: hasEnd(y, a) }));
      if (far === NONE) return shows(a, 0) && !known.some((k) => k.isFirst || k.isSecond);
      const isKnown = (b: End): boolean => known.some(({ x, y, isFirst, isSecond }) => (isFirst && hasEnd(y, b)) || (isSecond && hasEnd(x, b)));
      return [...far.values()].some((b) => (shows(a, 0) || shows(b, 1)) && !isKnown(b));
    });
  }

  /**
   * True if a policy restricts the owners of the rows between, and this end could show those rows with other rows. These are rows of an old mapping, which may
   * have the same key, or rows of a new mapping to which one of the policies does not apply.
   */
  #lacks({ mapping: ended }: End, { mapping, owners }: Join, i: 0 | 1, before: Joins): boolean {
    const owner = owners[i];
    if (mapping === null || owner === null || before.#graph.mapping(mapping.name) === undefined) return false;
    const rules = [...before.#rulesAt(owner.name), ...this.#rulesAt(owner.name)];
    if (before.#graph.mapping(ended.name) !== undefined) return rules.length > 0;
    const applied = new Set(this.#rulesOf(ended));
    return rules.some((rule) => !applied.has(rule));
  }

  /** The concepts, as folded names, whose row policies apply to the rows of a mapping. */
  #rulesOf(mapping: MappingDef): readonly string[] {
    return this.#policies.rowRules(mapping).map((r) => fold(r.rule.concept));
  }

  #rulesAt(concept: string): readonly string[] {
    const found = this.#graph.concept(concept);
    return found === undefined ? [] : [...sourcesOf(found).mappings].flatMap((m) => this.#rulesOf(m));
  }

  /** True if a row policy restricts the rows that own the rows of a link or multi-value mapping. */
  #isGuarded(mapping: MappingDef): boolean {
    return [mapping.concept, mapping.link?.forward.concept, mapping.link?.back.concept].some((c) => c != null && this.#rulesAt(c).length > 0);
  }

  #all(): readonly Join[] {
    this.#joins ??= [...this.#relationships(), ...this.#multiValues()];
    return this.#joins;
  }

  /** The sides of the joins with the same rows between and this end on either side, before conditions. */
  #joinsOf(between: string, { text }: End): readonly Sides[] {
    let byEnd = this.#byEnd.get(between);
    if (byEnd === undefined) {
      this.#between ??= Map.groupBy(this.#all(), (join) => join.between);
      byEnd = byTexts((this.#between.get(between) ?? []).map(({ sides }) => sides()));
      this.#byEnd.set(between, byEnd);
    }
    return byEnd.get(text) ?? [];
  }

  /**
   * True if policies may matter for a join by these properties: a property is masked, or there are rows between and row policies. The comparison with the other
   * version decides which rows are restricted.
   */
  #concerns(properties: readonly PropertyDef[], hasBetween: boolean): boolean {
    return (hasBetween && this.#rules.rows.length > 0) || properties.some((p) => this.#ends.masked().has(p));
  }

  *#relationships(): Iterable<Join> {
    const graph = this.#graph;
    for (const owner of graph.concepts) {
      for (const r of owner.relationships) {
        if (r.isInverse || r.declaredBy !== owner) continue;
        const near = [owner, ...owner.descendants];
        const far = [r.target, ...r.target.descendants];
        const subject = { concept: owner.name, property: r.name };
        const isAffected = this.#affected.name(r.name);
        if (r.kind === 'fk') {
          if (!this.#concerns([...r.source, ...r.references], false)) continue;
          const sides = once(() => [this.#ends.of(near, r.source), this.#ends.of(far, r.references)] as const);
          yield { between: '', mapping: null, isAffected, sides, owners: [null, null], subject };
        } else {
          for (const link of r.links)
            if (this.#concerns(this.#referred(link.near, link.far), true)) yield { isAffected, subject, ...this.#link(link, near, far) };
        }
      }
    }
  }

  #referred(...ends: readonly LinkEnd[]): readonly PropertyDef[] {
    return ends.flatMap((end) => end.references).flatMap((name) => this.#graph.property(name) ?? []);
  }

  #link({ mapping, near, far }: Relationship['links'][number], from: readonly Concept[], to: readonly Concept[]): Omit<Join, 'subject' | 'isAffected'> {
    const side = (concepts: readonly Concept[], end: LinkEnd): Ends => this.#ends.of(concepts, this.#referred(end));
    const owner = (end: LinkEnd): Concept | null => this.#graph.concept(end.concept) ?? null;
    const sides = once(() => [side(from, near), side(to, far)] as const);
    return { between: definitionOf(mapping), mapping, sides, owners: [owner(near), owner(far)] };
  }

  *#multiValues(): Iterable<Join> {
    for (const { concept, def, mapping } of this.#multi()) {
      if (!this.#concerns(concept.key?.properties ?? [], true)) continue;
      const sides = once(() => [this.#ends.of([concept], concept.key?.properties ?? []), NONE] as const);
      const owner = this.#graph.concept(mapping.concept ?? '') ?? null;
      const isAffected = this.#affected.name(concept.name) || this.#affected.name(def.name) || this.#affected.mapping(mapping);
      yield { between: definitionOf(mapping), mapping, isAffected, sides, owners: [owner, null], subject: { concept: concept.name, property: def.name } };
    }
  }

  /** Each concept, with each mapping that gives it values of a multi-value property. */
  *#multi(): Iterable<{ readonly concept: Concept; readonly def: PropertyDef; readonly mapping: MappingDef }> {
    for (const concept of this.#graph.concepts) {
      if (concept.key === null) continue;
      for (const { def } of concept.multi) for (const mapping of multiMappings(this.#graph, concept, def)) yield { concept, def, mapping };
    }
  }

  /**
   * The values of links and multi-value properties with the name of a masked property, by mask and mapping; for a multi-value property also by the mapping of
   * the rows that own the values. The mask depends on the concept through which a row is read.
   */
  linkedValues(): ReadonlyMap<string, LinkedValue> {
    const found = new Map<string, { texts: Set<string>; isMasked: boolean; subject: Subject }>();
    for (const mask of this.#rules.masks) {
      const access = accessFor({ masks: [mask] });
      const def = this.#graph.property(mask.property);
      if (def === undefined) continue;
      const policies = Policies.of(access, this.#graph);
      const note = (mapping: MappingDef, ends: readonly Concept[], rows: readonly MappingDef[]): void => {
        const column = mapping.columns.find((c) => fold(c.name) === fold(def.name))?.name;
        if (column === undefined) return;
        const rule = policies.maskInAny(ends, def.name);
        const value = (): string | null =>
          planned(this.#context, this.#graph, access, (state) => {
            const plain = cast(state.texts.mapping(mapping).column(column), parseType(def.type).sql);
            return select({ targetList: [target(maskStandalone(state, plain, def.name, rule))] });
          });
        const sql = this.#affected.mask(mask, mapping) ? value() : rule !== undefined;
        for (const row of [undefined, ...rows]) {
          const key = JSON.stringify([fold(mask.policy), fold(mapping.name), row && fold(row.name)]);
          const known = found.get(key) ?? { texts: new Set<string>(), isMasked: false, subject: subjectOf(mapping) };
          known.texts.add(JSON.stringify([definitionOf(mapping), sql]));
          known.isMasked ||= rule !== undefined;
          found.set(key, known);
        }
      };
      for (const { concept, def: multi, mapping } of this.#multi()) if (multi === def) note(mapping, [concept], [...sourcesOf(concept).mappings]);
      for (const owner of this.#graph.concepts) {
        for (const r of owner.relationships) if (!r.isInverse && r.declaredBy === owner) for (const l of r.links) note(l.mapping, [r.from, r.target], []);
      }
    }
    return found;
  }
}

/** The sides of joins by the texts of their ends. */
function byTexts(joins: readonly Sides[]): ReadonlyMap<string, readonly Sides[]> {
  const found = new Map<string, Sides[]>();
  for (const sides of joins) {
    const texts = new Set(sides.flatMap((side) => [...side.values()].map((end) => end.text)));
    for (const text of texts) push(found, text, sides);
  }
  return found;
}

const subjectOf = (mapping: MappingDef): Subject => ({ concept: mapping.concept ?? mapping.link?.back.concept ?? null, property: mapping.property });
