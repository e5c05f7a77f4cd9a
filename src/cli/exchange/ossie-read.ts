/** Reads Ossie documents, in YAML or JSON, and checks their shape. */
import { parse } from 'yaml';
import { z } from 'zod';
import { sameName } from '../../ontology/names.ts';
import { Failure } from '../failure.ts';
import type { ScriptFile } from '../script-file.ts';
import { identifier, plainColumn } from './expressions.ts';
import type { ConceptMapping, CoreDocument, MappingDocument, OntologyDocument, SemanticModel } from './ossie-types.ts';
import { unreadOfModel, unreadOfOntology } from './ossie-unread.ts';
import { extensionOf, sqlOf } from './ossie-values.ts';

const name = z.string().min(1);
const names = z.array(name);
const texts = z.array(z.string()).optional();
const textMap = z.record(z.string(), z.string());

/** Optional members of one type. */
const optionalEach = <T extends z.ZodType>(type: T, keys: readonly string[]): Readonly<Record<string, z.ZodOptional<T>>> =>
  Object.fromEntries(keys.map((key) => [key, type.optional()]));

const context = z.union([z.string(), z.looseObject({ synonyms: z.array(z.string()).optional(), instructions: z.string().optional() })]).optional();
/** What the extensions of this service contain, in every place (ossie-types.ts). */
const EXTENSION = z.looseObject({
  ...optionalEach(z.array(z.string()), ['statements', 'label', 'measures', 'own', 'includes', 'source', 'references']),
  ...optionalEach(textMap, ['config', 'tags', 'datasources']),
  ...optionalEach(z.string(), ['datasource', 'type', 'measure', 'name', 'end']),
  concepts: z
    .record(
      z.string(),
      z.lazy((): z.ZodType => EXTENSION),
    )
    .optional(),
  relationships: z
    .record(
      z.string(),
      z.lazy((): z.ZodType => EXTENSION),
    )
    .optional(),
  inverse: z.string().nullable().optional(),
  transitive: z.union([z.number(), z.literal('default')]).optional(),
  symmetric: z.literal(true).optional(),
  filtered: z.boolean().optional(),
  multivalue: z.looseObject({ concept: z.string(), property: z.string() }).optional(),
  link: z.looseObject({ concept: z.string(), relationship: z.string() }).optional(),
  logic: z.looseObject({ schema: z.enum(['svc', 'esvc', 'dsvc']), concept: z.string(), condition: z.string().optional() }).optional(),
});

const extensions = z
  .array(
    z.looseObject({ vendor_name: z.string(), data: z.string() }).superRefine((one, { addIssue }) => {
      const content = extensionOf([one]);
      for (const { path, message } of content === undefined ? [] : (EXTENSION.safeParse(content).error?.issues ?? []))
        addIssue({ code: 'custom', path: ['data', ...path], message });
    }),
  )
  .optional();
const expression = z.union([z.string(), z.looseObject({ dialects: z.array(z.looseObject({ dialect: z.string(), expression: z.string() })) })]);
const described = { description: z.string().optional(), ai_context: context, custom_extensions: extensions };

const SEMANTIC = z.looseObject({
  name,
  ...described,
  datasets: z.array(
    z.looseObject({
      name,
      source: name,
      ...described,
      primary_key: names.optional(),
      unique_keys: z.array(names).optional(),
      fields: z
        .array(
          z.looseObject({
            name,
            expression,
            ...described,
            datatype: z.string().optional(),
            dimension: z.looseObject({ is_time: z.boolean().optional() }).optional(),
          }),
        )
        .optional(),
    }),
  ),
  relationships: z.array(z.looseObject({ name, from: name, to: name, from_columns: names, to_columns: names, ...described })).optional(),
  metrics: z.array(z.looseObject({ name, expression, ...described, datatype: z.string().optional() })).optional(),
});
const CORE = z.looseObject({ version: z.string(), semantic_model: z.array(SEMANTIC) });

const OBJECT: z.ZodType = z.looseObject({
  concept: name.optional(),
  expression: z.string().optional(),
  get referent_mappings() {
    return z.array(REFERENT).optional();
  },
});
const REFERENT: z.ZodType = z.looseObject({
  relationship: name,
  expression: z.string().optional(),
  get referent_mappings() {
    return z.array(REFERENT).optional();
  },
});
const LINK: z.ZodType = z.looseObject({
  relationship: name.optional(),
  object_mapping: OBJECT,
  get children() {
    return z.array(LINK).optional();
  },
});
const MAPPINGS = z.array(z.looseObject({ concept: name, object_mappings: z.array(OBJECT).optional(), link_mappings: z.array(LINK).optional() }));
const ONTOLOGY = z.looseObject({
  version: z.string(),
  name,
  description: z.string().optional(),
  requires: texts,
  ontology: z.array(
    z.looseObject({
      concept: name,
      type: z.enum(['EntityType', 'ValueType']),
      description: z.string().optional(),
      extends: names.optional(),
      derived_by: texts,
      identify_by: names.optional(),
      requires: texts,
      relationships: z
        .array(
          z.looseObject({
            name,
            description: z.string().optional(),
            roles: z.array(z.looseObject({ concept: name, name: name.optional() })).optional(),
            multiplicity: z.enum(['ManyToOne', 'OneToOne']).optional(),
            derived_by: texts,
            requires: texts,
            verbalizes: z.array(z.string()),
          }),
        )
        .optional(),
    }),
  ),
  ontology_mappings: z.array(z.looseObject({ semantic_model: SEMANTIC.optional(), concept_mappings: MAPPINGS })).optional(),
});
const MAPPING = z.looseObject({ version: z.string(), name, concept_mappings: MAPPINGS });

/** The documents of one exchange. */
export interface Documents {
  readonly model: SemanticModel | undefined;
  readonly ontology: OntologyDocument | undefined;
  readonly mappings: readonly ConceptMapping[];
  /** What was not read. */
  readonly losses: readonly string[];
}

/** @throws Failure for a file that is not YAML or not a valid Ossie document, and for several semantic models */
export function readDocuments(files: readonly ScriptFile[]): Documents {
  const cores: CoreDocument[] = [];
  const ontologies: OntologyDocument[] = [];
  const mappings: ConceptMapping[] = [];
  const losses: string[] = [];
  for (const file of files) {
    const value = parsed(file);
    const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (keys.includes('semantic_model')) cores.push(checked<CoreDocument>(CORE, value, file));
    else if (keys.includes('ontology')) ontologies.push(checked<OntologyDocument>(ONTOLOGY, value, file));
    else if (keys.includes('concept_mappings')) mappings.push(...checked<MappingDocument>(MAPPING, value, file).concept_mappings);
    else throw new Failure(`${file.path} is not an Ossie document: it has neither semantic_model nor ontology nor concept_mappings`);
  }
  const models: SemanticModel[] = [];
  // of a model in several versions of the format, the newest
  for (const { semantic_model } of cores.sort((a, b) => (a.version < b.version ? 1 : -1)))
    models.push(...semantic_model.filter((m) => !models.some((known) => known.name === m.name)));
  for (const { ontology_mappings: embedded, requires } of ontologies) {
    for (const e of embedded ?? []) {
      mappings.push(...e.concept_mappings);
      if (e.semantic_model !== undefined && !models.some((m) => m.name === e.semantic_model?.name)) models.push(e.semantic_model);
    }
    for (const text of requires ?? []) losses.push(`condition on the whole ontology: ${text}`);
  }
  if (models.length > 1)
    throw new Failure(`the files have ${models.length} semantic models (${models.map((m) => m.name).join(', ')}); import them one at a time`);
  if (ontologies.length > 1) throw new Failure(`the files have ${ontologies.length} ontologies; import them one at a time`);
  if (models.length + ontologies.length === 0) throw new Failure('the files have no semantic model and no ontology');
  losses.push(...models.flatMap(unreadOfModel), ...ontologies.flatMap(unreadOfOntology));
  const [model] = models;
  return { model: model && withKeyColumns(model), ontology: ontologies[0], mappings, losses };
}

/** Adds the columns of keys that have no field, so that relationships over them are kept. */
function withKeyColumns(model: SemanticModel): SemanticModel {
  const datasets = model.datasets.map((d) => {
    const isField = (column: string): boolean =>
      (d.fields ?? []).some((f) => sameName(f.name, column) || plainColumn(sqlOf(f.expression) ?? '') === column.toLowerCase());
    const used = (model.relationships ?? []).flatMap((r) => [
      ...(sameName(r.from, d.name) ? r.from_columns : []),
      ...(sameName(r.to, d.name) ? r.to_columns : []),
    ]);
    const missing = [...new Set([...(d.primary_key ?? []), ...used])].filter((column) => !isField(column));
    // documents of this service have all columns that it can read
    const isOwn = extensionOf(d.custom_extensions) !== undefined;
    return missing.length === 0 || isOwn ? d : { ...d, fields: [...(d.fields ?? []), ...missing.map((name) => ({ name, expression: identifier(name) }))] };
  });
  return { ...model, datasets };
}

function parsed(file: ScriptFile): unknown {
  try {
    return parse(file.text, { maxAliasCount: 0 });
  } catch (e) {
    throw new Failure(`${file.path} is neither YAML nor JSON: ${e instanceof Error ? (e.message.split('\n')[0] ?? '') : ''}`);
  }
}

function checked<T>(schema: z.ZodType, value: unknown, file: ScriptFile): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data as T;
  const [issue] = result.error.issues;
  throw new Failure(`${file.path} does not have the shape of an Ossie document: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
}
