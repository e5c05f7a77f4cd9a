/** CREATE [OR REPLACE] CONCEPT. Objects that it refers to may be created later in the script, so finish.ts checks the references. */
import { badRequest, quoted } from '../../errors.ts';
import type { ConceptElement, CreateConcept, Name } from '../../language/statements.ts';
import { NO_MEMBERS } from '../compact.ts';
import type { ConceptDef, LogicDef, Model, PropertyDef, RelationshipDef, Transitivity } from '../model.ts';
import { fold, sameName, THING } from '../names.ts';
import { parseType } from '../types.ts';
import { checkName, exists, notThing, tagsOf } from './checks.ts';
import { type ApplyContext, keyOf, neutralSchema } from './context.ts';
import { append, find, isKept, put } from './lists.ts';

export const MAX_DEPTH = 32;

/** Adds a concept, or replaces one and keeps its position, and creates properties that the ontology does not have yet. */
export function createConcept(model: Model, s: CreateConcept, context: ApplyContext): Model {
  notThing(s.name, s.replace ? 'replaced' : 'created');
  checkName(s.name, 'concept', isKept(model, context.before, 'concepts', s.name.text));
  const old = find(model.concepts, s.name.text);
  if (old && !s.replace) throw exists('concept', old.name, s.name.offset);
  const name = old?.name ?? s.name.text;
  const { places } = context;
  places.set(s.name.offset, 'concept', name);

  const build = new ConceptBuilder(model, name, context);
  for (const element of s.elements) build.add(element);
  const parents: string[] = [];
  const named = new Set([THING]);
  for (const parent of s.parents) {
    places.set(parent.offset, 'concept', name, 'parent', parent.text);
    if (named.has(fold(parent.text))) continue;
    named.add(fold(parent.text));
    parents.push(parent.text);
  }
  const logic = logicOf(s, name, context);
  const def: ConceptDef = { name, parents, ...build.parts, description: s.description, tags: tagsOf(s.tags), logic };
  return { ...model, properties: append(model.properties, build.created), concepts: put(model.concepts, def) };
}

class ConceptBuilder {
  readonly parts = {
    properties: [] as string[],
    multi: [] as string[],
    measures: [] as string[],
    primaryKey: [] as string[],
    label: [] as string[],
    relationships: [] as RelationshipDef[],
  };
  /** The properties that this statement creates. */
  readonly created: PropertyDef[] = [];
  /** Folded names of the properties and measures listed so far. */
  readonly #listed = new Set<string>();
  readonly #related = new Set<string>();
  readonly #model: Model;
  readonly #concept: string;
  readonly #context: ApplyContext;

  constructor(model: Model, concept: string, context: ApplyContext) {
    this.#model = model;
    this.#concept = concept;
    this.#context = context;
  }

  add(element: ConceptElement): void {
    switch (element.kind) {
      case 'property':
        this.parts.properties.push(this.#property(element.name, element.type, false));
        break;
      case 'multivalue':
        this.parts.multi.push(this.#property(element.name, element.type, true));
        break;
      case 'measure':
        this.#measure(element.name, element.type);
        break;
      case 'primary_key':
        this.#names('key', element.offset, element.names, this.parts.primaryKey);
        break;
      case 'label':
        this.#names('label', element.offset, element.names, this.parts.label);
        break;
      default:
        this.#relationship(element);
    }
  }

  /** Returns the declared spelling of a property, and creates the property if it does not exist. Properties are global: one name, one type. */
  #property(name: Name, written: Name, multi: boolean): string {
    const { name: type } = parseType(written.text, written.offset);
    this.#once(name);
    this.#context.places.set(name.offset, 'concept', this.#concept, 'property', name.text);
    const known = find(this.#model.properties, name.text);
    if (!known) {
      checkName(name, 'property', isKept(this.#model, this.#context.before, 'properties', name.text));
      const measure = find(this.#model.measures, name.text);
      if (measure)
        throw badRequest('exists', `${quoted(measure.name)} is a measure; a concept lists it as ${quoted(measure.name)} MEASURE ${measure.type}`, {
          offset: name.offset,
        });
      this.#context.places.set(name.offset, 'property', name.text);
      this.created.push({ name: name.text, type, multi, description: null, tags: NO_MEMBERS, expression: null });
      return name.text;
    }
    if (known.type !== type) {
      throw badRequest('type_mismatch', `the property ${quoted(known.name)} is of type ${known.type} in this ontology, not ${type}`, {
        offset: written.offset,
        hint: 'a property has one type wherever it is listed; use that type or another name',
      });
    }
    if (known.multi !== multi) {
      throw badRequest('type_mismatch', `the property ${quoted(known.name)} is ${known.multi ? 'multi-value' : 'single-valued'} in this ontology`, {
        offset: name.offset,
        hint: known.multi ? `list it as CONSTRAINT ${quoted(known.name)} MULTIVALUE ${known.type}` : 'use another name',
      });
    }
    return known.name;
  }

  #measure(name: Name, written: Name): void {
    const { name: type } = parseType(written.text, written.offset);
    this.#once(name);
    const { places } = this.#context;
    places.set(name.offset, 'concept', this.#concept, 'measure', name.text);
    places.set(written.offset, 'concept', this.#concept, 'measure', name.text, 'type');
    places.measureTypes.set(keyOf([this.#concept, name.text]), type);
    this.parts.measures.push(name.text);
  }

  #once(name: Name): void {
    if (this.#listed.has(fold(name.text))) {
      throw badRequest('exists', `the concept ${quoted(this.#concept)} lists ${quoted(name.text)} twice`, { offset: name.offset });
    }
    this.#listed.add(fold(name.text));
  }

  #names(what: 'key' | 'label', offset: number, list: readonly Name[], into: string[]): void {
    const title = what === 'key' ? 'PRIMARY KEY' : 'LABEL';
    const code = what === 'key' ? 'bad_key' : 'bad_label';
    if (into.length > 0) throw badRequest(code, `the concept ${quoted(this.#concept)} has two clauses ${title}`, { offset });
    this.#context.places.set(offset, 'concept', this.#concept, what);
    const named = new Set<string>();
    for (const n of list) {
      if (named.has(fold(n.text))) throw badRequest(code, `${title} names ${quoted(n.text)} twice`, { offset: n.offset });
      this.#context.places.set(n.offset, 'concept', this.#concept, what, n.text);
      named.add(fold(n.text));
      into.push(n.text);
    }
  }

  #relationship(e: Extract<ConceptElement, { kind: 'foreign_key' | 'multireference' }>): void {
    const { places } = this.#context;
    const path = ['concept', this.#concept, 'relationship', e.name.text];
    checkName(e.name, 'relationship', this.#had(e.name));
    if (this.#related.has(fold(e.name.text))) {
      throw badRequest('exists', `the concept ${quoted(this.#concept)} has two relationships ${quoted(e.name.text)}`, { offset: e.name.offset });
    }
    this.#related.add(fold(e.name.text));
    places.set(e.name.offset, ...path);
    places.set(e.target.offset, ...path, 'target');
    if (e.inverse) {
      checkName(e.inverse, 'relationship', this.#had(e.inverse));
      places.set(e.inverse.offset, ...path, 'inverse');
      if (sameName(e.inverse.text, e.name.text) && sameName(e.target.text, this.#concept)) {
        throw badRequest('exists', `the relationship ${quoted(e.name.text)} and its inverse need two names`, { offset: e.inverse.offset });
      }
    }
    if (typeof e.transitive === 'number') checkDepth(e.transitive, e.name);
    for (const n of e.includes) places.set(n.offset, ...path, 'include', n.text);
    const [source, references] = e.kind === 'foreign_key' ? [e.source, e.references] : [[], []];
    for (const n of source) places.set(n.offset, ...path, 'source', n.text);
    for (const n of references) places.set(n.offset, ...path, 'reference', n.text);
    if (source.length !== references.length) {
      throw badRequest(
        'bad_relationship',
        `the relationship ${quoted(e.name.text)} has ${source.length} properties for ${references.length} of ${quoted(e.target.text)}`,
        {
          offset: e.name.offset,
        },
      );
    }
    this.parts.relationships.push({
      name: e.name.text,
      kind: e.kind === 'foreign_key' ? 'fk' : 'mtm',
      target: e.target.text,
      source: source.map((n) => n.text),
      references: references.map((n) => n.text),
      inverse: e.inverse?.text ?? null,
      transitive: e.transitive,
      ...(e.symmetric ? { symmetric: true } : {}),
      ...(e.includes.length > 0 ? { includes: this.#included(e.includes, e.name) } : {}),
      description: e.description,
    });
  }

  /** Whether the concept has a relationship, or the inverse of one, of that name before the statement. */
  #had(name: Name): () => boolean {
    return () =>
      [this.#model, this.#context.before]
        .flatMap((m) => (m && find(m.concepts, this.#concept)?.relationships) ?? [])
        .some((r) => sameName(r.name, name.text) || (r.inverse !== null && sameName(r.inverse, name.text)));
  }

  #included(names: readonly Name[], relationship: Name): readonly string[] {
    const named = new Set<string>();
    const twice = names.find((n) => named.size === named.add(fold(n.text)).size);
    if (twice === undefined) return names.map((n) => n.text);
    throw badRequest('bad_includes', `the relationship ${quoted(relationship.text)} includes ${quoted(twice.text)} twice`, { offset: twice.offset });
  }
}

function checkDepth(depth: Exclude<Transitivity, string | null>, at: Name): void {
  if (Number.isInteger(depth) && depth >= 1 && depth <= MAX_DEPTH) return;
  throw badRequest('bad_depth', `TRANSITIVE(${depth}) of ${quoted(at.text)}: the depth is a whole number from 1 to ${MAX_DEPTH}`, { offset: at.offset });
}

function logicOf(s: CreateConcept, name: string, context: ApplyContext): LogicDef | null {
  const { places } = context;
  places.references.delete(keyOf(['concept', name]));
  places.sql('logic', name, s.logic?.condition ?? null);
  if (!s.logic) return null;
  const { schema: written, concept, condition } = s.logic;
  // a concept without a schema is read from dsvc, as in any FROM
  const schema = written ? neutralSchema(written.text, context.product) : 'dsvc';
  if (schema !== 'svc' && schema !== 'esvc' && schema !== 'dsvc') {
    throw badRequest('unknown_schema', `the source of a logic concept must be in svc, esvc or dsvc, not in ${quoted(written?.text ?? '')}`, {
      offset: written?.offset,
    });
  }
  places.set(concept.offset, 'concept', name, 'logic');
  places.references.set(keyOf(['concept', name]), context.referencesOf(condition, 'expression'));
  return { schema, concept: fold(concept.text) === THING ? THING : concept.text, condition: context.textOf(condition, 'expression') };
}
