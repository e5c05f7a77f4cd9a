/**
 * What joins of a model show of rows and values that policies keep back. Relationships and multi-value properties are joined by true values:
 * a join by a masked property tells its value by what it leads to. Rows of links, and values of multi-value properties, are shown with the
 * rows that they are joined to: who joins them to other rows shows them without the policies of their own.
 */
import { SvcError } from '../../errors.ts';
import type { Concept, Graph, Relationship } from '../../ontology/graph.ts';
import { push } from '../../ontology/links.ts';
import type { LinkEnd, MappingDef, PropertyDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { parseType } from '../../ontology/types.ts';
import { behindMask, multiMappings } from '../joins.ts';
import { Policies, sourcesOf } from '../policies.ts';
import { Branch } from '../sources.ts';
import { cast, fieldsOf, select, target, walk } from '../tree.ts';
import type { PolicyRules, Subject } from './enforced.ts';
import { accessFor, definitionOf, type ModelContext, ModelWork, planned } from './work.ts';

/** Rows of a mapping as an end of a join: by which values they are joined. */
interface End {
  readonly mapping: MappingDef;
  /** Equal texts: the same values of the same rows. */
  readonly text: string;
  /** Whether one of the values is masked, or calculated from a masked one. */
  readonly isMasked: boolean;
}
type Ends = ReadonlyMap<string, End>;

/** A join that the model makes between any row of one side and any of the other. */
interface Join {
  /** A foreign key, or the link or multi-value mapping between the two sides; equal texts: the same rows between them. */
  readonly between: string;
  readonly mapping: MappingDef | null;
  readonly sides: readonly [Ends, Ends];
  /** The concepts whose policies the rows between belong to, side by side. */
  readonly owners: readonly [Concept | null, Concept | null];
  readonly subject: Subject;
}

/** A value beside the rows of concepts, as the text of its SQL behind one mask. */
interface Beside {
  readonly texts: ReadonlySet<string>;
  readonly isMasked: boolean;
  readonly subject: Subject;
}

const NONE: Ends = new Map();
/** Begins the text of an end that cannot be planned: it equals no other. */
const UNPLANNED = 'unplanned ';
const has = (ends: Ends, key: string): boolean => !key.startsWith(UNPLANNED) && ends.has(key);

/** The joins of one version of a model. Nothing is worked out before it is asked for. Never fails. */
export class Joins {
  readonly #context: ModelContext;
  readonly #graph: Graph;
  readonly #policies: Policies;
  readonly #rules: PolicyRules;
  readonly #access: ReturnType<typeof accessFor>;
  readonly #ends = new Map<string, End>();
  #joins: readonly Join[] | undefined;
  #byEnd: ReadonlyMap<string, readonly Join[]> | undefined;
  #masked: ReadonlySet<PropertyDef> | undefined;
  readonly #named = new Map<PropertyDef, readonly PropertyDef[]>();

  constructor(context: ModelContext, graph: Graph, rules: PolicyRules) {
    this.#context = context;
    this.#graph = graph;
    this.#rules = rules;
    this.#access = accessFor(rules);
    this.#policies = Policies.of(this.#access, graph);
  }

  /** What this version shows by joins that `before` keeps back; undefined: nothing. */
  reveals(before: Joins): Subject | undefined {
    const besides = this.besides();
    for (const [key, { texts, isMasked, subject }] of before.besides()) {
      if (!isMasked) continue;
      const now = besides.get(key)?.texts;
      if (now === undefined || [...now].some((t) => !texts.has(t))) return subject;
    }
    for (const mapping of before.#graph.model.mappings) {
      if (mapping.kind === 'concept' || !before.#isGuarded(mapping)) continue;
      const now = this.#graph.mapping(mapping.name);
      if (now === undefined || definitionOf(now) !== definitionOf(mapping)) return subjectOf(mapping);
    }
    return this.#all().find((join) => this.#isNew(join, before))?.subject;
  }

  /** Whether a join shows what `before` does not. What was mapped since is its maker's to show. */
  #isNew(join: Join, before: Joins): boolean {
    const [near, far] = join.sides;
    const old = (end: End): boolean => before.#graph.mapping(end.mapping.name) !== undefined;
    const shows = (end: End, i: 0 | 1): boolean => (end.isMasked && old(end)) || this.#lacks(end, join, i, before);
    if (![...near.values()].some((e) => shows(e, 0)) && ![...far.values()].some((e) => shows(e, 1))) return false;
    const holds = (ends: Ends, all: Ends): boolean => [...ends.keys()].every((key) => has(all, key));
    const isWithin = ({ sides: [a, b] }: Join): boolean => (holds(near, a) && holds(far, b)) || (holds(near, b) && holds(far, a));
    const [first] = near.keys();
    if (first === undefined || before.#joinsOf(join.between, first).some(isWithin)) return false;
    if (far === NONE)
      return [...near].some(([key, e]) => shows(e, 0) && !before.#joinsOf(join.between, key).some(({ sides }) => sides.some((side) => has(side, key))));
    return [...near].some(([a, e]) => {
      const known = before.#joinsOf(join.between, a).map(({ sides: [x, y] }) => [has(x, a), x, y] as const);
      const isKnown = (b: string): boolean => known.some(([isFirst, x, y]) => (isFirst && has(y, b)) || (has(y, a) && has(x, b)));
      return [...far].some(([b, f]) => (shows(e, 0) || shows(f, 1)) && !isKnown(b));
    });
  }

  /** Whether rows between are joined to rows that lack a row policy of those which the rows between belong to. */
  #lacks(end: End, { mapping, owners }: Join, i: 0 | 1, before: Joins): boolean {
    const owner = owners[i];
    if (mapping === null || owner === null || before.#graph.mapping(mapping.name) === undefined) return false;
    const there = new Set(this.#rulesOf(end.mapping));
    return [...before.#rulesAt(owner.name), ...this.#rulesAt(owner.name)].some((rule) => !there.has(rule));
  }

  /** The concepts whose row policies the rows of a mapping must meet, folded. */
  #rulesOf(mapping: MappingDef): readonly string[] {
    return this.#policies.rowRules(mapping).map((r) => fold(r.rule.concept));
  }

  #rulesAt(concept: string): readonly string[] {
    const found = this.#graph.concept(concept);
    return found === undefined ? [] : [...sourcesOf(found).mappings].flatMap((m) => this.#rulesOf(m));
  }

  /** Whether the rows of a link or multi-value mapping belong to rows that a row policy narrows. */
  #isGuarded(mapping: MappingDef): boolean {
    return [mapping.concept, mapping.link?.forward.concept, mapping.link?.back.concept].some((c) => c != null && this.#rulesAt(c).length > 0);
  }

  #all(): readonly Join[] {
    this.#joins ??= [...this.#relationships(), ...this.#multiValues()];
    return this.#joins;
  }

  /** The joins with these rows between that have an end, on either side. */
  #joinsOf(between: string, end: string): readonly Join[] {
    if (this.#byEnd === undefined) {
      const byEnd = new Map<string, Join[]>();
      for (const join of this.#all()) for (const key of new Set(join.sides.flatMap((side) => [...side.keys()]))) push(byEnd, join.between + key, join);
      this.#byEnd = byEnd;
    }
    return this.#byEnd.get(between + end) ?? [];
  }

  /** Whether policies may have a say in a join by these properties, with these rows between. */
  #concerns(properties: readonly PropertyDef[], between: MappingDef | null): boolean {
    return properties.some((p) => this.#maskedProperties().has(p)) || (between !== null && this.#isGuarded(between));
  }

  /** The properties that are masked in some rows, and what is calculated from them. */
  #maskedProperties(): ReadonlySet<PropertyDef> {
    if (this.#masked !== undefined) return this.#masked;
    const masked = new Set(this.#rules.masks.flatMap((m) => this.#graph.property(m.property) ?? []));
    for (let size = -1; size < masked.size && masked.size > 0; ) {
      size = masked.size;
      for (const p of this.#graph.model.properties) if (!masked.has(p) && this.#namesIn(p).some((below) => masked.has(below))) masked.add(p);
    }
    this.#masked = masked;
    return masked;
  }

  /** The properties that a calculated one names. */
  #namesIn(def: PropertyDef): readonly PropertyDef[] {
    let names = this.#named.get(def);
    if (names === undefined) {
      names = def.expression === null ? [] : columnsIn(this.#context, this.#graph, def).flatMap((name) => this.#graph.property(name) ?? []);
      this.#named.set(def, names);
    }
    return names;
  }

  *#relationships(): Iterable<Join> {
    const graph = this.#graph;
    for (const owner of graph.concepts) {
      for (const r of owner.relationships) {
        if (r.isInverse || r.declaredBy !== owner) continue;
        const near = [owner, ...owner.descendants];
        const far = [r.target, ...r.target.descendants];
        const subject = { concept: owner.name, property: r.name };
        if (r.kind === 'fk') {
          if (!this.#concerns([...r.source, ...r.references], null)) continue;
          const sides = [this.#endsOf(near, r.source), this.#endsOf(far, r.references)] as const;
          yield { between: '', mapping: null, sides, owners: [null, null], subject };
        } else {
          for (const link of r.links) if (this.#concerns(this.#referred(link.near, link.far), link.mapping)) yield this.#link(link, near, far, subject);
        }
      }
    }
  }

  #referred(...ends: readonly LinkEnd[]): readonly PropertyDef[] {
    return ends.flatMap((end) => end.references).flatMap((name) => this.#graph.property(name) ?? []);
  }

  #link({ mapping, near, far }: Relationship['links'][number], from: readonly Concept[], to: readonly Concept[], subject: Subject): Join {
    const side = (concepts: readonly Concept[], end: LinkEnd): Ends => this.#endsOf(concepts, this.#referred(end));
    const owner = (end: LinkEnd): Concept | null => this.#graph.concept(end.concept) ?? null;
    return { between: definitionOf(mapping), mapping, sides: [side(from, near), side(to, far)], owners: [owner(near), owner(far)], subject };
  }

  *#multiValues(): Iterable<Join> {
    for (const { concept, def, mapping } of this.#multi()) {
      if (!this.#concerns(concept.key?.properties ?? [], mapping)) continue;
      const sides = [this.#endsOf([concept], concept.key?.properties ?? []), NONE] as const;
      const owner = this.#graph.concept(mapping.concept ?? '') ?? null;
      yield { between: definitionOf(mapping), mapping, sides, owners: [owner, null], subject: { concept: concept.name, property: def.name } };
    }
  }

  /** Each concept with each mapping that gives it values of a multi-value property. */
  *#multi(): Iterable<{ readonly concept: Concept; readonly def: PropertyDef; readonly mapping: MappingDef }> {
    for (const concept of this.#graph.concepts) {
      if (concept.key === null) continue;
      for (const { def } of concept.multi) for (const mapping of multiMappings(this.#graph, concept, def)) yield { concept, def, mapping };
    }
  }

  #endsOf(concepts: readonly Concept[], properties: readonly PropertyDef[]): Ends {
    const ends = new Map<string, End>();
    for (const concept of concepts) {
      for (const mapping of sourcesOf(concept).mappings) {
        const end = this.#end(concept, mapping, properties);
        ends.set(end.text, end);
      }
    }
    return ends;
  }

  #end(reader: Concept, mapping: MappingDef, properties: readonly PropertyDef[]): End {
    // only what is calculated depends on the concept through which a row is read
    const through = properties.some((p) => p.expression !== null) ? reader.name : '';
    const key = JSON.stringify([mapping.name, through, properties.map((p) => p.name)]);
    const known = this.#ends.get(key);
    if (known !== undefined) return known;
    const sql = planned(this.#context, this.#graph, this.#access, (work) => {
      const mapped = this.#graph.concept(mapping.concept ?? '') ?? reader;
      const wanted = properties.map((def, i) => [`v${i}`, { kind: 'property', def, actual: true }] as const);
      return new Branch(work, mapping, mapped, reader).select(new Map(wanted), []);
    });
    const text = sql === null ? UNPLANNED + key : JSON.stringify([definitionOf(mapping), sql]);
    const end = { mapping, text, isMasked: properties.some((p) => this.#isMasked(mapping, p)) };
    this.#ends.set(key, end);
    return end;
  }

  /** Whether a value in the rows of a mapping is masked, or calculated from one that is. */
  #isMasked(mapping: MappingDef, def: PropertyDef, seen: Set<PropertyDef> = new Set()): boolean {
    if (seen.has(def)) return false;
    seen.add(def);
    if (this.#policies.masks(mapping, def.name).length > 0) return true;
    return this.#namesIn(def).some((below) => this.#isMasked(mapping, below, seen));
  }

  /** The values beside rows that bear the name of a masked property: by mask and mapping. */
  besides(): ReadonlyMap<string, Beside> {
    const found = new Map<string, { texts: Set<string>; isMasked: boolean; subject: Subject }>();
    for (const mask of this.#rules.masks) {
      const access = accessFor({ masks: [mask] });
      const def = this.#graph.property(mask.property);
      if (def === undefined) continue;
      const policies = Policies.of(access, this.#graph);
      const note = (mapping: MappingDef, ends: readonly Concept[]): void => {
        const column = mapping.columns.find((c) => fold(c.name) === fold(def.name))?.name;
        if (column === undefined) return;
        const rule = policies.maskOnLink(ends, def.name);
        const sql = planned(this.#context, this.#graph, access, (work) => {
          const value = cast(work.mapping(mapping).column(column), parseType(def.type).sql);
          return select({ targetList: [target(behindMask(work, value, def.name, rule))] });
        });
        const key = JSON.stringify([fold(mask.policy), fold(mapping.name)]);
        const known = found.get(key) ?? { texts: new Set<string>(), isMasked: false, subject: subjectOf(mapping) };
        known.texts.add(JSON.stringify([definitionOf(mapping), sql]));
        known.isMasked ||= rule !== undefined;
        found.set(key, known);
      };
      for (const { concept, def: multi, mapping } of this.#multi()) if (multi === def) note(mapping, [concept]);
      for (const owner of this.#graph.concepts) {
        for (const r of owner.relationships) if (!r.isInverse && r.declaredBy === owner) for (const l of r.links) note(l.mapping, [r.from, r.target]);
      }
    }
    return found;
  }
}

const subjectOf = (mapping: MappingDef): Subject => ({ concept: mapping.concept ?? mapping.link?.back.concept ?? null, property: mapping.property });

/** The names of columns in the expression of a calculated property; where it cannot be read, all that there may be. */
function columnsIn(context: ModelContext, graph: Graph, def: PropertyDef): readonly string[] {
  const names: string[] = [];
  try {
    walk(new ModelWork(context, graph, accessFor({})).plainExpression(def, def.expression ?? ''), (n) => {
      if ('ColumnRef' in n) names.push(fieldsOf(n.ColumnRef).at(-1) ?? '');
      return undefined;
    });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return graph.model.properties.map((p) => p.name);
  }
  return names;
}
