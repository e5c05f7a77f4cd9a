/**
 * What a change of a model may affect (docs/design/policies.md#which-policies-a-change-concerns): the names of all objects that differ between two versions, or that
 * depend on such an object. A text with none of these names means the same in both versions.
 */
import { visited } from '../../budget.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { ConceptDef, MappingDef, Model, RelationshipDef } from '../../ontology/model.ts';
import { byName, fold, THING } from '../../ontology/names.ts';
import type { MaskRule, RowRule } from '../secure/access.ts';
import { Dependants, namesOf, type Owner } from './dependants.ts';
import { Names } from './names-in-texts.ts';

/** The objects that a change of a model affects. */
export class Touched {
  /** True if the change may affect everything. */
  readonly isAll: boolean;
  readonly #graphs: readonly [Graph, Graph];
  readonly #names = new Names();
  /** Names whose dependants are not touched yet. */
  readonly #openNames: string[] = [];
  readonly #owners = new Set<string>();
  /** Objects whose relatives are not touched yet. */
  readonly #openOwners: Owner[] = [];
  /** The concepts whose rows, columns or relatives may differ, with their ancestors and descendants, as folded names. */
  readonly #concepts = new Set<string>();

  constructor(before: Graph, after: Graph) {
    this.#graphs = [before, after];
    this.isAll = JSON.stringify(before.model.config) !== JSON.stringify(after.model.config);
    if (this.isAll) return;
    this.#differences(before.model, after.model);
    if (this.#openNames.length > 0) this.#close();
  }

  /** True if a text may read something that is affected. */
  reaches(text: string): boolean {
    return this.isAll || this.#names.areIn(text);
  }

  /** True if an object with this name is affected. */
  hasName(name: string): boolean {
    return this.isAll || this.#names.has(name);
  }

  /** True if the conditions of a row rule may mean something else, or may apply to other rows. */
  hasRule({ concept, conditions }: RowRule): boolean {
    return this.hasName(concept) || conditions.some(({ condition }) => this.reaches(condition));
  }

  /** True if a mask may mean something else, or may apply to other rows. */
  hasMask({ concept, property, mask }: Omit<MaskRule, 'policy'>): boolean {
    if ((concept !== null && this.hasName(concept)) || this.hasName(property)) return true;
    return mask.kind === 'with' && this.reaches(mask.expression);
  }

  #differences(before: Model, after: Model): void {
    for (const { name } of changesOf(before.properties, after.properties)) this.#touch(['property', name]);
    for (const { name } of changesOf(before.measures, after.measures)) this.#touch(['measure', name]);
    for (const { name } of changesOf(before.views, after.views)) this.#touch(['view', name]);
    for (const { old, now } of changesOf(before.concepts, after.concepts)) this.#differs(old, now);
    for (const { old, now } of changesOf(before.mappings, after.mappings))
      for (const mapping of [old, now]) if (mapping !== undefined) this.#touchMapping(mapping);
    if (before.mappings === after.mappings) return;
    const [old, now] = [unusualColumns(before), unusualColumns(after)];
    for (const name of new Set([...old.keys(), ...now.keys()])) if (old.get(name) !== now.get(name)) this.#touch(['property', name]);
  }

  #differs(old: ConceptDef | undefined, now: ConceptDef | undefined): void {
    const { name } = (old ?? now) as ConceptDef;
    this.#touch(['concept', name]);
    for (const r of [...changedIn(old, now), ...changedIn(now, old)]) {
      for (const each of namesOf(r)) this.#note(each);
      this.#touch(['concept', r.target]);
    }
    // multi-valued properties have the values of all concepts with the same key
    for (const graph of this.#graphs) {
      const concept = graph.concept(name);
      for (const c of concept === undefined ? [] : [concept, ...concept.descendants]) {
        visited(1 + c.multiMappings.length);
        for (const m of c.multiMappings) if (m.property !== null) this.#touch(['property', m.property]);
      }
    }
  }

  #touchMapping({ concept, property, link }: MappingDef): void {
    if (concept !== null) this.#touch(['concept', concept]);
    if (property !== null) this.#touch(['property', property]);
    for (const end of link === null ? [] : [link.forward, link.back]) {
      this.#note(end.relationship);
      this.#touch(['concept', end.concept]);
    }
  }

  #touch(owner: Owner): void {
    const [kind, name] = owner;
    const key = `${kind} ${fold(name)}`;
    if (this.#owners.has(key)) return;
    this.#owners.add(key);
    this.#openOwners.push(owner);
    this.#note(name);
  }

  #note(name: string): void {
    if (this.#names.add(name)) this.#openNames.push(name);
  }

  #touchAll(owners: readonly Owner[]): void {
    visited(owners.length);
    for (const owner of owners) this.#touch(owner);
  }

  /** Touches what depends on touched objects, directly or through others. */
  #close(): void {
    const dependants = new Dependants(this.#graphs);
    this.#touchAll(dependants.unreadable);
    do {
      for (let name = this.#openNames.pop(); name !== undefined; name = this.#openNames.pop()) this.#touchAll(dependants.naming(name));
      for (let owner = this.#openOwners.pop(); owner !== undefined; owner = this.#openOwners.pop()) {
        const [kind, name] = owner;
        if (kind === 'concept') this.#touchKin(name);
        if (kind === 'property' || kind === 'measure') this.#touchAll(dependants.listing(kind, name));
      }
      this.#touchRelationships(dependants);
    } while (this.#openNames.length > 0);
  }

  /** Relatives have other rows or columns, so their names are touched too, but not their own relatives. */
  #touchKin(name: string): void {
    const add = (each: string): void => {
      this.#concepts.add(fold(each));
      this.#note(each);
    };
    add(name);
    add(THING);
    for (const graph of this.#graphs) {
      const concept = graph.concept(name);
      if (concept === undefined || concept.def === null) continue;
      visited(1 + concept.ancestors.length + concept.descendants.length);
      const kin = new Set([...concept.ancestors, ...concept.descendants]);
      // the columns of a descendant are also those of its other ancestors in svc
      for (const c of concept.descendants) {
        visited(c.ancestors.length);
        for (const ancestor of c.ancestors) kin.add(ancestor);
      }
      for (const c of kin) add(c.name);
    }
  }

  /** A relationship may have other pairs if an end of it is touched, or a relationship that it includes. */
  #touchRelationships({ relationships }: Dependants): void {
    visited(relationships.length);
    for (const { owner, def } of relationships) {
      const isTouched = [owner, def.target].some((c) => this.#concepts.has(fold(c))) || def.includes?.some((name) => this.#names.has(name));
      if (isTouched) for (const name of namesOf(def)) this.#note(name);
    }
  }
}

/** Descriptions and tags do not affect SQL. */
const textOf = (object: object): string => JSON.stringify(object, (key, value) => (key === 'description' || key === 'tags' ? undefined : value));

const isSame = (a: object, b: object | undefined): boolean => a === b || (b !== undefined && textOf(a) === textOf(b));

/** The relationships of a declaration that another one does not have. */
const changedIn = (concept: ConceptDef | undefined, other: ConceptDef | undefined): readonly RelationshipDef[] => {
  const others = new Map(other?.relationships.map((r) => [fold(r.name), r]));
  return (concept?.relationships ?? []).filter((r) => !isSame(r, others.get(fold(r.name))));
};

interface Change<T> {
  readonly name: string;
  readonly old: T | undefined;
  readonly now: T | undefined;
}

/** The objects that are in one list only, that differ, or that have another place in the order of declaration. */
function changesOf<T extends { readonly name: string }>(before: readonly T[], after: readonly T[]): readonly Change<T>[] {
  if (before === after) return [];
  visited(before.length + after.length);
  const [old, now] = [byName(before), byName(after)];
  const changed = new Map<string, Change<T>>();
  const note = (key: string): void => {
    const [a, b] = [old.get(key), now.get(key)];
    changed.set(key, { name: (a ?? b)?.name ?? key, old: a, now: b });
  };
  const order = [...now.keys()].filter((key) => old.has(key));
  let at = 0;
  for (const [key, object] of old) {
    while (at < order.length && changed.has(order[at] as string)) at++;
    if (order[at] !== key) note(key);
    else {
      at++;
      if (!isSame(object, now.get(key))) note(key);
    }
  }
  for (const key of now.keys()) if (!old.has(key)) note(key);
  return [...changed.values()];
}

/** The columns of a model whose types or collations matter to properties with their names in all concepts, with what matters. */
function unusualColumns({ mappings }: Model): ReadonlyMap<string, string> {
  const found = new Map<string, { readonly types: Set<string | undefined>; readonly collations: Set<string> }>();
  for (const { columns } of mappings) {
    visited(columns.length);
    for (const { name, type, collation } of columns) {
      const key = fold(name);
      const known = found.get(key) ?? { types: new Set(), collations: new Set() };
      found.set(key, known);
      known.types.add(type);
      known.collations.add(collation ?? 'default');
    }
  }
  const unusual = new Map<string, string>();
  for (const [key, { types, collations }] of found) {
    const [only] = types;
    const type = types.size === 1 && (only === 'float4' || only === 'inet') ? only : '';
    const collated = [...collations].sort().join('\n');
    if (type !== '' || collated !== 'default') unusual.set(key, `${type} ${collated}`);
  }
  return unusual;
}
