/** What depends on the objects of two versions of a model, by their names. */
import { visited } from '../../budget.ts';
import type { Graph } from '../../ontology/graph.ts';
import { push } from '../../ontology/links.ts';
import { isRaw, type Model, type RelationshipDef } from '../../ontology/model.ts';
import { fold, THING } from '../../ontology/names.ts';
import { keyOfName, Names } from './names-in-texts.ts';

/** An object that SQL reads by its name. */
export type Owner = readonly [kind: 'concept' | 'property' | 'measure' | 'view', name: string];

/** The names of both directions of a relationship. */
export const namesOf = ({ name, inverse }: RelationshipDef): readonly string[] => (inverse === null ? [name] : [name, inverse]);

/** The dependants in two versions of a model. */
export class Dependants {
  /** All relationships, each with the concept that declares it. */
  readonly relationships: { readonly owner: string; readonly def: RelationshipDef }[] = [];
  /** The objects whose texts may contain any name. */
  readonly unreadable: Owner[] = [];
  readonly #naming = new Map<string, Owner[]>();
  readonly #listing = new Map<string, Owner[]>();
  readonly #known = new Set<object>();

  constructor(graphs: readonly Graph[]) {
    const names = new Names();
    names.add(THING);
    for (const { model } of graphs) this.#list(model, names);
    this.#known.clear();
    for (const { model } of graphs) this.#read(model, names);
  }

  /** The objects whose texts may contain a name. */
  naming(name: string): readonly Owner[] {
    return this.#naming.get(keyOfName(name)) ?? [];
  }

  /** The concepts that list a property or measure, and those of links and values that have a column with its name. */
  listing(kind: 'property' | 'measure', name: string): readonly Owner[] {
    return this.#listing.get(`${kind} ${fold(name)}`) ?? [];
  }

  /** True if an object was not seen before. Most objects are the same in both versions. */
  #isNew(object: object): boolean {
    visited();
    if (this.#known.has(object)) return false;
    this.#known.add(object);
    return true;
  }

  #list({ concepts, properties, measures, views, mappings }: Model, names: Names): void {
    for (const { name } of [...properties, ...measures, ...views]) {
      visited();
      names.add(name);
    }
    for (const concept of concepts) {
      if (!this.#isNew(concept)) continue;
      names.add(concept.name);
      for (const def of concept.relationships) {
        for (const each of namesOf(def)) names.add(each);
        this.relationships.push({ owner: concept.name, def });
      }
      const list = (kind: 'property' | 'measure', listed: readonly string[]): void => {
        visited(listed.length);
        for (const each of listed) push(this.#listing, `${kind} ${fold(each)}`, ['concept', concept.name]);
      };
      list('property', concept.properties);
      list('property', concept.multi);
      list('measure', concept.measures);
    }
    for (const mapping of mappings) {
      if (mapping.kind === 'concept' || !this.#isNew(mapping)) continue;
      visited(mapping.columns.length);
      const ends = [mapping.concept, mapping.link?.forward.concept, mapping.link?.back.concept];
      for (const end of ends)
        for (const { name } of end == null ? [] : mapping.columns) push(this.#listing, `property ${fold(name)}`, ['concept', end as string]);
    }
  }

  #read({ concepts, properties, measures, views }: Model, names: Names): void {
    for (const p of properties) if (p.expression !== null) this.#text(p, ['property', p.name], p.expression, names);
    for (const m of measures) this.#text(m, ['measure', m.name], `${m.expression} ${m.filter ?? ''}`, names);
    for (const v of views) if (!isRaw(v)) this.#text(v, ['view', v.name], v.sql, names);
    for (const c of concepts) if (c.logic !== null) this.#text(c, ['concept', c.name], `${c.logic.concept} ${c.logic.condition}`, names);
  }

  #text(object: object, owner: Owner, text: string, names: Names): void {
    if (!this.#isNew(object)) return;
    const found = new Set<string>();
    names.find(text, (key) => {
      if (key === undefined) this.unreadable.push(owner);
      else found.add(key);
      return key === undefined;
    });
    for (const key of found) push(this.#naming, key, owner);
  }
}
