/** JSON schemas for the parts of Ossie's documents that this service writes, from the tables of its specification. They allow no other members. */
const text = { type: 'string' } as const;
const names = { type: 'array', items: text } as const;
const object = (required: readonly string[], properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const list = (items: object) => ({ type: 'array', items });

const dialects = ['ANSI_SQL', 'SNOWFLAKE', 'MDX', 'TABLEAU', 'DATABRICKS', 'MAQL'];
const types = ['String', 'Integer', 'Decimal', 'Float', 'Boolean', 'Date', 'Time', 'DateTime', 'DateTimeTz', 'Opaque'];
const context = { oneOf: [text, { type: 'object', properties: { instructions: text, synonyms: names, examples: names } }] };
const expression = object(['dialects'], {
  dialects: { ...list(object(['dialect', 'expression'], { dialect: { enum: dialects }, expression: text })), minItems: 1 },
});

function core(version: string, vendor: object, typed: Readonly<Record<string, object>>) {
  const described = { ai_context: context, custom_extensions: list(object(['vendor_name', 'data'], { vendor_name: vendor, data: text })) };
  const field = object(['name', 'expression'], {
    name: text,
    expression,
    description: text,
    dimension: object([], { is_time: { type: 'boolean' } }),
    label: text,
    ...typed,
    ...described,
  });
  const dataset = object(['name', 'source'], {
    name: text,
    source: text,
    primary_key: names,
    unique_keys: list(names),
    description: text,
    fields: list(field),
    ...described,
  });
  const columns = { ...names, minItems: 1 };
  const relationship = object(['name', 'from', 'to', 'from_columns', 'to_columns'], {
    name: text,
    from: text,
    to: text,
    from_columns: columns,
    to_columns: columns,
    ...described,
  });
  const metric = object(['name', 'expression'], { name: text, expression, description: text, ...typed, ...described });
  const model = object(['name', 'datasets'], {
    name: text,
    description: text,
    datasets: { ...list(dataset), minItems: 1 },
    relationships: list(relationship),
    metrics: list(metric),
    ...described,
  });
  return object(['version', 'semantic_model'], { version: { const: version }, semantic_model: list(model) });
}
export const CORE_0_2 = core('0.2.0.dev0', text, { datatype: { enum: types } });
export const CORE_0_1 = core('0.1.1', { enum: ['COMMON', 'SNOWFLAKE', 'SALESFORCE', 'DBT', 'DATABRICKS', 'GOODDATA'] }, {});

const link = object(['name', 'verbalizes'], {
  name: text,
  description: text,
  roles: list(object(['concept'], { concept: text, name: text })),
  multiplicity: { enum: ['ManyToOne', 'OneToOne'] },
  derived_by: names,
  requires: names,
  verbalizes: names,
});
const component = object(['concept', 'type'], {
  concept: text,
  type: { enum: ['EntityType', 'ValueType'] },
  description: text,
  extends: names,
  derived_by: names,
  identify_by: names,
  requires: names,
  relationships: list(link),
});
export const ONTOLOGY = object(['version', 'name', 'ontology'], {
  version: { const: '0.2.0.dev0' },
  name: text,
  description: text,
  ontology: { ...list(component), minItems: 1 },
});

const reference = object(['name'], { name: { ...text, minLength: 1 }, iri: { ...text, minLength: 1 } });
const referent = object(['relationship'], { relationship: text, expression: text, referent_mappings: list({ $ref: '#/$defs/referent' }) });
const target = object([], { concept: text, expression: text, referent_mappings: list({ $ref: '#/$defs/referent' }) });
const branch = object(['object_mapping'], { relationship: text, object_mapping: target, children: list({ $ref: '#/$defs/branch' }) });
export const MAPPING = {
  ...object(['version', 'name', 'ontology_ref', 'semantic_model_ref', 'concept_mappings'], {
    version: { const: '0.2.0.dev0' },
    name: text,
    description: text,
    ontology_ref: reference,
    semantic_model_ref: reference,
    concept_mappings: list(object(['concept'], { concept: text, object_mappings: list(target), link_mappings: list({ $ref: '#/$defs/branch' }) })),
  }),
  $defs: { referent, branch },
};
