/** CREATE of properties, measures, mappings, views and cubes; tags and settings of the ontology. */
import { visited } from '../../budget.ts';
import { badRequest, nearest, quoted } from '../../errors.ts';
import type { AlterOntology, AlterTag, CreateMapping, CreateMeasure, CreateProperty, CreateView, LinkConstraint, SqlText } from '../../language/statements.ts';
import type { LinkEnd, MappingDef, Model, Tags } from '../model.ts';
import { fold, sameName } from '../names.ts';
import { parseType } from '../types.ts';
import { checkName, exists, notThing, tagsOf, unknown } from './checks.ts';
import { type ApplyContext, keyOf, neutralSchema, type RelationReference } from './context.ts';
import { find, isKept, put } from './lists.ts';

/** CREATE [OR REPLACE] PROPERTY. Properties and measures share one namespace. */
export function createProperty(model: Model, s: CreateProperty, context: ApplyContext): Model {
  checkName(s.name, 'property', isKept(model, context.before, 'properties', s.name.text));
  const { name: type } = parseType(s.type.text, s.type.offset);
  const old = find(model.properties, s.name.text);
  if (find(model.measures, s.name.text)) throw exists('measure', s.name.text, s.name.offset);
  if (old && !s.replace) throw exists('property', old.name, s.name.offset);
  if (old && old.multi !== s.multi) {
    const user = model.concepts.find((c) => {
      visited(2 * (c.properties.length + c.multi.length));
      return [...c.properties, ...c.multi].some((p) => sameName(p, old.name));
    });
    if (user) {
      throw badRequest('in_use', `the concept ${quoted(user.name)} uses ${quoted(old.name)} as ${old.multi ? 'a multi-value' : 'a single-valued'} property`, {
        offset: s.name.offset,
      });
    }
  }
  if (s.multi && s.expression) {
    throw badRequest('bad_property', `${quoted(s.name.text)} cannot be both calculated and multi-value`, { offset: s.expression.offset });
  }
  const name = old?.name ?? s.name.text;
  const { places } = context;
  places.set(s.name.offset, 'property', name);
  places.references.delete(keyOf(['property', name]));
  places.sql('property', name, s.expression);
  if (s.expression) places.references.set(keyOf(['property', name]), context.referencesOf(s.expression, 'expression'));
  const expression = s.expression && context.textOf(s.expression, 'expression');
  return { ...model, properties: put(model.properties, { name, type, multi: s.multi, description: s.description, tags: tagsOf(s.tags), expression }) };
}

/** CREATE [OR REPLACE] MEASURE. */
export function createMeasure(model: Model, s: CreateMeasure, context: ApplyContext): Model {
  checkName(s.name, 'measure', isKept(model, context.before, 'measures', s.name.text));
  const { name: type } = parseType(s.type.text, s.type.offset);
  const old = find(model.measures, s.name.text);
  if (find(model.properties, s.name.text)) throw exists('property', s.name.text, s.name.offset);
  if (old && !s.replace) throw exists('measure', old.name, s.name.offset);
  const name = old?.name ?? s.name.text;
  const refs = (text: SqlText | null) => (text ? context.referencesOf(text, 'expression') : []);
  context.places.set(s.name.offset, 'measure', name);
  context.places.sql('measure', name, s.expression, s.filter);
  context.places.references.set(keyOf(['measure', name]), [...refs(s.expression), ...refs(s.filter)]);
  const expression = context.textOf(s.expression, 'expression');
  const filter = s.filter && context.textOf(s.filter, 'expression');
  return { ...model, measures: put(model.measures, { name, type, description: s.description, tags: tagsOf(s.tags), expression, filter }) };
}

/** CREATE [OR REPLACE] MAPPING of all three kinds. Its targets may be created later in the script. */
export function createMapping(model: Model, s: CreateMapping, context: ApplyContext): Model {
  checkName(s.name, 'mapping', isKept(model, context.before, 'mappings', s.name.text));
  const old = find(model.mappings, s.name.text);
  if (old && !s.replace) throw exists('mapping', old.name, s.name.offset);
  const name = old?.name ?? s.name.text;
  const { places } = context;
  places.set(s.name.offset, 'mapping', name);
  places.sql('mapping', name, s.sql);
  const { target } = s;
  const ends: Pick<MappingDef, 'concept' | 'property' | 'link'> = { concept: null, property: null, link: null };
  if (target.kind === 'link') {
    const [forward, back] = target.constraints.map((end, i) => linkEnd(end, name, i, context));
    if (forward && back) Object.assign(ends, { link: { forward, back } });
  } else {
    notThing(target.concept, 'mapped');
    places.set(target.concept.offset, 'mapping', name, 'concept');
    Object.assign(ends, { concept: target.concept.text });
    if (target.kind === 'multi') {
      places.set(target.property.offset, 'mapping', name, 'property');
      Object.assign(ends, { property: target.property.text });
    }
  }
  notInternal(context.relationsOf(s.sql));
  const columns = context.columnsOf(s.sql) ?? [];
  const named = new Set<string>();
  const duplicate = columns.find((c) => named.size === named.add(fold(c.name)).size);
  if (duplicate) throw badRequest('duplicate_column', `the mapping ${quoted(name)} has two columns ${quoted(duplicate.name)}`, { offset: s.sql.offset });
  return {
    ...model,
    mappings: put(model.mappings, { name, kind: target.kind, ...ends, datasource: datasourceOf(s, context), sql: s.sql.text.trim(), columns }),
  };
}

function linkEnd(end: LinkConstraint, mapping: string, index: number, { places }: ApplyContext): LinkEnd {
  const path = ['mapping', mapping, 'link', String(index)];
  places.set(end.relationship.offset, ...path);
  places.set(end.relationship.offset, ...path, 'name', end.relationship.text);
  notThing(end.concept, 'mapped');
  places.set(end.concept.offset, ...path, 'concept');
  for (const c of end.columns) places.set(c.offset, ...path, 'column', c.text);
  for (const r of end.references) places.set(r.offset, ...path, 'reference', r.text);
  if (end.columns.length !== end.references.length) {
    throw badRequest(
      'bad_mapping',
      `${quoted(end.relationship.text)} has ${end.columns.length} columns for ${end.references.length} properties of ${quoted(end.concept.text)}`,
      {
        offset: end.relationship.offset,
      },
    );
  }
  const text = (n: { readonly text: string }) => n.text;
  return { relationship: end.relationship.text, columns: end.columns.map(text), concept: end.concept.text, references: end.references.map(text) };
}

/** Throws 400 `forbidden_relation` for schemas of the catalog and of PostgreSQL itself. The planner rejects them too, but here the position is known. */
function notInternal(relations: readonly RelationReference[]): void {
  const found = relations.find((r) => r.schema !== null && /^(kg_catalog|information_schema|pg_.*)$/i.test(r.schema));
  if (found) throw badRequest('forbidden_relation', `schema ${quoted(found.schema ?? '')} cannot be read`, { offset: found.offset });
}

/** The datasource of USING, or else the active one. */
function datasourceOf(s: CreateMapping, context: ApplyContext): string {
  if (!s.datasource) {
    if (context.activeDatasource !== null) return context.activeDatasource;
    throw badRequest('no_datasource', `the ontology has no active datasource for the mapping ${quoted(s.name.text)}`, {
      offset: s.name.offset,
      hint: 'name one with USING, or make one active with ALTER ONTOLOGY ... ACTIVATE DATASOURCE',
    });
  }
  return attached(s.datasource, context);
}

function attached(name: { readonly text: string; readonly offset: number }, { datasources }: ApplyContext): string {
  if (datasources === null) return name.text;
  const found = datasources.find((d) => sameName(d, name.text));
  if (found === undefined) throw unknown('datasource', name.text, name.offset, datasources, '', 'ALTER ONTOLOGY ... ADD DATASOURCE attaches one.');
  return found;
}

/** CREATE [OR REPLACE] [ONTOLOGY] VIEW and ONTOLOGY CUBE, which share one namespace. */
export function createView(model: Model, s: CreateView, context: ApplyContext): Model {
  checkName(s.name, s.cube ? 'cube' : 'view', isKept(model, context.before, 'views', s.name.text));
  const old = find(model.views, s.name.text);
  if (old && !s.replace) throw exists(old.cube ? 'cube' : 'view', old.name, s.name.offset);
  const name = old?.name ?? s.name.text;
  context.places.set(s.name.offset, 'view', name);
  context.places.sql('view', name, s.sql);
  const relations = context.relationsOf(s.sql);
  notInternal(relations);
  // a view over raw tables refers to nothing of the ontology
  const named = s.datasource ? attached(s.datasource, context) : !s.cube && readsTables(relations, context) ? context.activeDatasource : null;
  // the database may have a schema with the product's name, but hardly one with that of paths or views: each mapping names its own database
  const isVirtual = ({ schema }: RelationReference): boolean => schema !== null && !['svc', null].includes(neutralSchema(schema, context.product));
  const datasource = !s.cube && relations.some(isVirtual) ? null : named;
  const raw = datasource !== null && !s.cube;
  const key = keyOf(['view', name]);
  if (raw) {
    context.places.relations.delete(fold(name));
    context.places.references.delete(key);
  } else {
    context.places.relations.set(fold(name), relations);
    context.places.references.set(key, context.referencesOf(s.sql, 'select'));
  }
  const view = {
    name,
    cube: s.cube,
    datasource,
    description: s.description,
    tags: tagsOf(s.tags),
    // over raw tables, a schema with the product's name belongs to the datasource
    sql: raw ? s.sql.text.trim() : context.textOf(s.sql, 'select'),
    columns: context.columnsOf(s.sql) ?? [],
  };
  return { ...model, views: put(model.views, view) };
}

/** Whether a view reads only tables in schemas of a datasource. Without USING it then belongs to the active datasource, as a mapping does. */
function readsTables(relations: readonly RelationReference[], { product }: ApplyContext): boolean {
  const schemas = ['', 'e', 'd', 'v'].flatMap((p) => [`${p}svc`, p + product]);
  // a schema name similar to a virtual one is probably a typing error
  const isOwn = (schema: string | null): boolean => schema !== null && neutralSchema(schema, product) === null && nearest(schema, schemas) === undefined;
  return relations.length > 0 && relations.every((r) => isOwn(r.schema));
}

/** ALTER CONCEPT|PROPERTY|VIEW x UPDATE TAG k = 'v' | REMOVE TAG k. PROPERTY also accepts a measure, VIEW a cube. */
export function alterTag(model: Model, s: AlterTag): Model {
  const changed = <T extends { readonly name: string; readonly tags: Tags }>(values: readonly T[]): readonly T[] | null => {
    const old = find(values, s.name.text);
    return old ? put(values, { ...old, tags: tagged(old.tags, s) }) : null;
  };
  if (s.object === 'concept') {
    notThing(s.name, 'tagged');
    const concepts = changed(model.concepts);
    if (concepts) return { ...model, concepts };
    throw unknown('concept', s.name.text, s.name.offset, names(model.concepts));
  }
  if (s.object === 'view') {
    const views = changed(model.views);
    if (views) return { ...model, views };
    throw unknown('view', s.name.text, s.name.offset, names(model.views));
  }
  const properties = changed(model.properties);
  if (properties) return { ...model, properties };
  const measures = changed(model.measures);
  if (measures) return { ...model, measures };
  throw unknown('property', s.name.text, s.name.offset, names([...model.properties, ...model.measures]));
}

const names = (values: readonly { readonly name: string }[]): string[] => values.map((v) => v.name);

/** The cost of folding and copying a tag. */
const STEPS_OF_A_TAG = 20;

/** Keys of tags are case-insensitive, as all names are. An update keeps the existing spelling. */
function tagged(tags: Tags, s: AlterTag): Tags {
  const keys = Object.keys(tags);
  visited(STEPS_OF_A_TAG * keys.length);
  const wanted = fold(s.key.text);
  const known = keys.find((key) => fold(key) === wanted);
  // computed keys and spreads define members, also one named __proto__
  if (s.action === 'update') return { ...tags, [known ?? s.key.text]: s.value ?? '' };
  if (known === undefined) throw unknown('tag', s.key.text, s.key.offset, keys, ` of ${s.object} ${quoted(s.name.text)}`);
  const { [known]: _, ...rest } = tags;
  return rest;
}

/** ALTER ONTOLOGY n SET key = 't'. `allowed_functions` is not part of a version: the catalog stores it, and the model stays unchanged. */
export function alterOntology(model: Model, s: AlterOntology): Model {
  const key = fold(s.key.text);
  const bad = (rule: string): never => {
    throw badRequest('bad_config', `${key} must be ${rule}`, { offset: s.key.offset });
  };
  switch (key) {
    case 'description':
      return { ...model, description: s.value === '' ? null : s.value };
    case 'default_transitivity':
      if (!/^0*([1-9]|[12][0-9]|3[0-2])$/.test(s.value)) bad('a whole number from 1 to 32');
      return { ...model, config: { ...model.config, [key]: String(Number(s.value)) } };
    case 'quote':
      if (s.value !== '`' && s.value !== '"') bad('either a back-quote or a double quote');
      return { ...model, config: { ...model.config, [key]: s.value } };
    case 'allowed_functions':
      return model;
    default:
      throw badRequest('unknown_config', `unknown setting ${quoted(s.key.text)}`, {
        offset: s.key.offset,
        hint: 'the settings are description, default_transitivity, quote and allowed_functions',
      });
  }
}
