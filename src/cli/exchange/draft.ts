/** A model under construction: what an import collects. */

import { quoteBack } from '../../language/quote.ts';
import { type ConceptDef, EMPTY_MODEL, type MappingDef, type MeasureDef, type Model, type PropertyDef, type RelationshipDef } from '../../ontology/model.ts';
import { fold, sameName } from '../../ontology/names.ts';
import { ossieType } from './ossie-values.ts';

/** A concept under construction. */
export interface DraftConcept {
  readonly name: string;
  parents: string[];
  properties: string[];
  multi: string[];
  measures: string[];
  key: string[];
  label: string[];
  relationships: RelationshipDef[];
  description: string | null;
  tags: Record<string, string>;
  logic: ConceptDef['logic'];
}

/** A property as one place of a document describes it. `type` is undefined if the place does not state it. */
export interface Described {
  readonly name: string;
  readonly type: string | undefined;
  /** False if the document's type may be one of several types here: an exact type of the same family from another place replaces it. */
  readonly isExact?: boolean;
  readonly multi?: boolean;
  readonly description?: string | null;
  readonly tags?: Readonly<Record<string, string>>;
  readonly expression?: string | null;
}

/** Collects concepts, properties, measures and mappings. Names match without regard to case. */
export class Draft {
  readonly losses: string[] = [];
  readonly concepts: DraftConcept[] = [];
  readonly mappings: MappingDef[] = [];
  readonly measures: MeasureDef[] = [];
  readonly #byName = new Map<string, DraftConcept>();
  readonly #properties = new Map<string, PropertyDef & { readonly isTyped: boolean; readonly isExact: boolean; readonly isWhole?: boolean }>();
  /** Properties whose type is assumed, because mappings compare their values. */
  readonly #assumed = new Set<string>();
  description: string | null = null;
  config: Record<string, string> = {};

  concept(name: string): DraftConcept | undefined {
    return this.#byName.get(fold(name));
  }

  /** Adds a concept; an existing one is returned. */
  addConcept(name: string): DraftConcept {
    const found = this.concept(name);
    if (found) return found;
    const made: DraftConcept = {
      name,
      parents: [],
      properties: [],
      multi: [],
      measures: [],
      key: [],
      label: [],
      relationships: [],
      description: null,
      tags: {},
      logic: null,
    };
    this.concepts.push(made);
    this.#byName.set(fold(name), made);
    return made;
  }

  property(name: string): PropertyDef | undefined {
    return this.#properties.get(fold(name));
  }

  /**
   * Adds a property. All concepts share the properties, so one with another type or expression gets another name.
   * @param place what describes it, for messages and for that name
   * @returns its name
   */
  addProperty(d: Described, place: string): string {
    const old = this.#properties.get(fold(d.name));
    const made = {
      name: d.name,
      type: d.type ?? 'string',
      multi: d.multi ?? false,
      description: d.description ?? null,
      tags: d.tags ?? {},
      expression: d.expression ?? null,
      isTyped: d.type !== undefined,
      isExact: d.type !== undefined && (d.isExact ?? true),
    };
    if (old === undefined) {
      this.#properties.set(fold(d.name), made);
      return d.name;
    }
    if (old.isWhole) return old.name;
    const isFamily = !(old.isExact && made.isExact) && ossieType(old.type) === ossieType(made.type);
    const sameType = old.type === made.type || !old.isTyped || !made.isTyped || isFamily;
    if (!sameType || old.multi !== made.multi || old.expression !== made.expression) {
      const name = `${place}_${d.name}`;
      if (!this.#properties.has(fold(name)))
        this.losses.push(`property ${d.name} of ${place} is named ${name}, because ${d.name} has another ${sameType ? 'definition' : 'type'} elsewhere`);
      return this.addProperty({ ...d, name }, place);
    }
    if (made.description !== null && old.description !== null && made.description !== old.description)
      this.losses.push(`description of ${d.name} at ${place}: all concepts share the property, and it is described as "${old.description}"`);
    this.#properties.set(fold(d.name), {
      ...old,
      type: old.isExact || !made.isTyped || (old.isTyped && !made.isExact) ? old.type : made.type,
      isTyped: old.isTyped || made.isTyped,
      isExact: old.isExact || made.isExact,
      description: old.description ?? made.description,
      tags: { ...made.tags, ...old.tags },
    });
    return old.name;
  }

  /** Adds a property that is described completely: other places change nothing. */
  define(p: PropertyDef): void {
    this.#properties.set(fold(p.name), { ...p, isTyped: true, isExact: true, isWhole: true });
  }

  /** Gives a type to a property whose type no document states. */
  typed(name: string, type: string): void {
    const old = this.#properties.get(fold(name));
    if (old && !old.isTyped) this.#properties.set(fold(name), { ...old, type, isTyped: true, isExact: true });
  }

  /** Copies the type of one property to another whose type no document states. */
  alike(one: string, other: string): void {
    const [a, b] = [this.#properties.get(fold(one)), this.#properties.get(fold(other))];
    if (a?.isTyped && b) this.typed(other, a.type);
    else if (b?.isTyped) this.typed(one, b.type);
  }

  /** The SQL of a column that a link compares with a property: as text if no document states the type of the property, which is a string then. */
  compared(sql: string, name: string): string {
    const p = this.#properties.get(fold(name));
    if (p === undefined || (p.isTyped && !this.#assumed.has(fold(name)))) return sql;
    this.#properties.set(fold(name), { ...p, isTyped: true, isExact: true });
    this.#assumed.add(fold(name));
    return `CAST(${sql} AS text)`;
  }

  /** Reports a loss that several places would report. */
  once(loss: string): void {
    if (!this.losses.includes(loss)) this.losses.push(loss);
  }

  /** Gives a property its expression. */
  calculated(name: string, expression: string): void {
    const old = this.#properties.get(fold(name));
    if (old) this.#properties.set(fold(name), { ...old, expression });
  }

  /** The properties whose type no document states. */
  get untyped(): readonly string[] {
    return [...this.#properties.values()].filter((p) => !p.isTyped || this.#assumed.has(fold(p.name))).map((p) => p.name);
  }

  /** A concept and its ancestors, nearest first. */
  lineage(name: string): readonly DraftConcept[] {
    const found: DraftConcept[] = [];
    const visit = (n: string): void => {
      const c = this.concept(n);
      if (c === undefined || found.includes(c)) return;
      found.push(c);
      c.parents.forEach(visit);
    };
    visit(name);
    return found;
  }

  /** The descendants of a concept. */
  descendants(name: string): readonly DraftConcept[] {
    const children = Map.groupBy(
      this.concepts.flatMap((c) => c.parents.map((parent) => ({ c, parent: fold(parent) }))),
      ({ parent }) => parent,
    );
    const found = new Set<DraftConcept>();
    const visit = (n: string): void => {
      for (const { c } of children.get(fold(n)) ?? []) {
        if (found.has(c) || sameName(c.name, name)) continue;
        found.add(c);
        visit(c.name);
      }
    };
    if (this.concept(name) !== undefined) visit(name);
    return this.concepts.filter((c) => found.has(c));
  }

  /** The key of a concept, own or inherited. */
  keyOf(name: string): readonly string[] {
    return this.lineage(name).find((c) => c.key.length > 0)?.key ?? [];
  }

  /** The relationships that start at a concept in a direction, by name: their names and the concepts they lead to. */
  #leading(from: string, name: string): readonly { readonly name: string; readonly target: string }[] {
    const near = this.lineage(from);
    const forward = near.flatMap((c) => c.relationships.filter((r) => sameName(r.name, name)).map((r) => ({ name: r.name, target: r.target })));
    if (forward.length > 0) return forward.slice(0, 1);
    return this.concepts.flatMap((c) =>
      c.relationships
        .filter((r) => sameName(r.inverse ?? `~${r.name}`, name) && near.some((n) => sameName(n.name, r.target)))
        .map((r) => ({ name: r.inverse ?? `~${r.name}`, target: c.name })),
    );
  }

  /** A property, or a path to one, in the ontology language; undefined if the names match no property or several. */
  path(from: string, names: readonly string[]): string | undefined {
    let at = from;
    let text = '';
    for (const name of names.slice(0, -1)) {
      const [next, ...more] = this.#leading(at, name);
      if (next === undefined || more.length > 0) return undefined;
      text += `${next.name}[${next.target}].`;
      at = next.target;
    }
    const last = names.at(-1) ?? '';
    const own = this.lineage(at).flatMap((c) => [...c.properties, ...c.multi]);
    const found = own.find((p) => sameName(p, last));
    return found === undefined ? undefined : quoteBack(text + found);
  }

  /** The whole model. */
  model(): Model {
    return {
      ...EMPTY_MODEL,
      description: this.description,
      config: this.config,
      properties: [...this.#properties.values()].map(({ isTyped: _, isExact: __, isWhole: ___, ...p }) => p),
      measures: this.measures,
      concepts: this.concepts.map(({ key, ...c }) => ({ ...c, primaryKey: key })),
      mappings: this.mappings,
    };
  }
}
