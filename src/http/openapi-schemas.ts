/** The bodies and parameters of the REST API as zod schemas. The OpenAPI documents are generated from them. */
import { z } from 'zod';
import { FILTER_OPERATORS } from '../service.ts';
import { MODEL_FILES, QUERY, RESULTS_LIMIT } from './schemas.ts';

const text = (description: string) => z.string().meta({ description });
const nullable = (description: string) => z.string().nullable().meta({ description });

const Failure = z
  .object({
    status: z.literal('error'),
    data: text('The error message'),
    code: z
      .string()
      .regex(/^[a-z][a-z0-9_]*$/)
      .meta({ description: 'Identifies the kind of error' }),
    hint: text('How to resolve the error').optional(),
    position: z.int().min(1).optional().meta({ description: 'The position of the error in the SQL: 1-based, in Unicode code points' }),
    request_id: text('The x-request-id of the answer'),
  })
  .meta({ description: 'An error of any path' });

const Row = z.record(z.string(), z.unknown()).meta({
  description: 'Members are in the order of the select list. Values are as PostgreSQL writes them as JSON; numbers keep all digits',
});
const Rows = z.array(Row);
const Success = z.object({ status: z.literal('success') });

const Health = Success.extend({ name: text('The product name'), version: text('The release of the service') });
const Ready = Success.extend({
  data: z.object({
    version: text('The release of the service'),
    checks: z.array(
      z.object({
        name: text('`catalog`, `migrations`, `datasource <name>`, `datasource <name> replica <n>`, `kv`, `durable_objects`, `jobs` or `language_model`'),
        state: z.enum(['ok', 'warning', 'failed', 'off']),
        ms: z.number().optional(),
        detail: z.string().optional(),
      }),
    ),
  }),
});
const Ontologies = Success.extend({ data: z.array(z.string()) });
const Tokens = Success.extend({ data: z.array(text('A user API token')).length(1) });
const Config = Success.extend({ data: z.record(z.string(), z.string()).meta({ description: 'One member, with the name of the variable' }) });
const Prompt = Success.extend({
  data: z.array(z.object({ type: z.enum(['SystemMessage', 'HumanMessage']), role: z.enum(['system', 'human']), template: z.string() })).min(1),
});
const Result = Success.extend({ data: Rows });
const Listed = Success.extend({ data: Rows, executed_query: text('The executed SQL, which can be sent to `query`') });

const Named = { kind: text('`concept`, `mapping`, `measure`, `property`, `view`, `cube`, `example`, `policy`, `ontology` or `setting`'), name: z.string() };
const ModelChanges = Success.extend({
  data: z.object({
    base: nullable('The version that the changes were computed from; null if the ontology does not exist'),
    version: nullable('The new version; null if nothing changes, and for a plan'),
    changes: z.array(
      z.object({
        action: z.enum(['create', 'change', 'drop']),
        ...Named,
        before: nullable('The statement that creates the object as it was'),
        after: nullable('The statement that creates the object as it will be'),
      }),
    ),
    unlisted: z.array(z.object(Named)).meta({ description: 'Objects of the ontology that no file contains' }),
    warnings: z.array(z.object({ code: z.string(), message: z.string(), file: z.string().optional(), position: z.int().optional() })),
  }),
});

const Agent = z.object({
  name: z.string(),
  description: z.string().nullable(),
  ontologies: z.array(z.string()),
  default_ontology: z.string().nullable(),
  concepts: z.array(z.string()),
  views: z.array(z.string()),
  options: z.record(z.string(), z.string()),
});
const Agents = Success.extend({ data: z.array(Agent) });

const Tags = z.record(z.string(), z.string());
const named = { name: z.string(), type: z.string(), description: z.string().nullable(), is_multi: z.boolean(), is_measure: z.boolean() };
const Property = z.object({ ...named, inherited_from: nullable('The ancestor that declares it; null: the concept itself') });
const Relationship = z.object({
  name: z.string(),
  target: z.string(),
  inverse: z.string().nullable(),
  is_inverse: z.boolean(),
  is_mtm: z.boolean(),
  transitivity: z.int().nullable().meta({ description: 'The maximum number of steps of `rel[c*]`; null: not transitive' }),
  is_symmetric: z.boolean().meta({ description: 'True if its pairs count in both directions' }),
  includes: z.array(z.string()).meta({ description: 'Relationships whose pairs are pairs of this one' }),
  source_properties: z.array(z.string()),
  target_properties: z.array(z.string()),
  description: z.string().nullable(),
  inherited_from: z.string().nullable(),
});
const Concept = z.object({
  concept: z.string(),
  inheritance: z.array(z.string()).meta({ description: 'Direct parents' }),
  inheritance_level: z.int(),
  description: z.string().nullable(),
  primary_keys: z.array(z.string()),
  label_keys: z.array(z.string()),
  query: nullable('The condition of a logic concept'),
  properties: z.array(Property),
  relationships: z.array(Relationship),
  mappings: z.array(z.string()),
  tags: Tags,
});
const View = z.object({
  description: z.string().nullable(),
  is_cube: z.boolean(),
  query: nullable('Its SELECT; null if the caller may not see everything that it reads'),
  columns: z.array(z.object({ name: z.string(), type: z.string().nullable() })),
  tags: Tags,
});
const { name: _, ...declared } = named;
const Ontology = Success.extend({
  data: z.object({
    datasources: z.array(z.object({ name: z.string(), type: z.string(), is_active: z.boolean() })),
    ontology: z.array(Concept),
    properties: z.record(z.string(), z.object({ ...declared, expression: z.string().nullable(), tags: Tags })),
    quote: z.enum(['`', '"']).meta({ description: 'The character that quotes identifiers in SQL' }),
    version: z.uuid(),
    views: z.record(z.string(), View),
  }),
});

const Question = z.object({
  prompt: text('The question'),
  on_ambiguity: z.enum(['ask', 'first']).nullish().meta({
    description:
      'If the question has several meanings: `ask` returns them as `readings` (default of `answer`); `first` takes the most likely (default of `prompt`)',
  }),
  reading: z.string().nullish().meta({ description: 'The reading to answer, one of the `readings` of an earlier answer' }),
});
const questioned = {
  status: z.enum(['answered', 'clarify']).meta({ description: '`clarify`: nothing was run, and `readings` are what the question may mean' }),
  readings: z.array(z.object({ reading: z.string(), sql: z.string() })),
  rows: Rows,
  row_count: z.int(),
  truncated: z.boolean().meta({ description: 'Whether there are more rows' }),
  sql: text('The SQL that was run'),
};
const QuestionRows = Success.extend({ data: z.object({ ...questioned, ontology: z.string(), concept: z.string(), schema: z.string() }) });
const QuestionAnswer = Success.extend({
  data: z.object({ ...questioned, answer: text('The answer in words'), warnings: z.array(z.string()) }),
});
const OntologyNames = z.array(z.object({ ontology: z.string() }));

const AsyncStarted = z.object({ async: z.literal(true), response_id: z.uuid(), poll_url: z.string(), message: z.string() });
const AsyncResult = z.union([
  z.object({ status: z.literal('running'), response_id: z.uuid() }),
  z.object({ status: z.literal('completed'), response: z.union([Rows, QuestionRows, QuestionAnswer]), original_status_code: z.literal(200) }),
  z.object({ status: z.literal('error'), error: z.string(), error_type: z.literal('ExecutionError') }),
]);
const AsyncUnknown = z.object({ error: z.literal('Response not found') });

/** The content of `components/schemas`. */
export const BODIES = {
  Agents,
  AsyncResult,
  AsyncStarted,
  AsyncUnknown,
  Config,
  Failure,
  Health,
  Listed,
  Ontologies,
  Ontology,
  OntologyNames,
  Prompt,
  Query: QUERY,
  Ready,
  ModelFiles: MODEL_FILES,
  ModelChanges,
  Question,
  QuestionAnswer,
  QuestionRows,
  Result,
  Row,
  Rows,
  Success,
  Tokens,
} as const;
export type BodyName = keyof typeof BODIES;

const flag = (description: string) => z.boolean().default(false).meta({ description });
const mode = 'Effective only with `nested` and `api-nested-format-properties`. ';

/** Headers of requests for rows. */
export const ROW_HEADERS = {
  'results-limit': RESULTS_LIMIT,
  'x-consistency': z.enum(['primary']).meta({ description: 'Reads from the primary of the datasource, not from a replica or the result cache' }),
  'x-server-timing': flag('Returns the header `server-timing`, if nothing of the ontology is hidden from the caller'),
  nested: flag('Returns related rows as nested objects, if the select list has the `entity_id` of the root and a relationship or multi-value column'),
  'api-nested-format-properties': flag('Formats values by the `format` tags of their properties'),
  'api-nested-case-sensitivity': flag(`${mode}Keys as in the SQL; otherwise in lower case`),
  'api-nested-format-booleans': flag(`${mode}Booleans as the texts true and false; otherwise as 1 and 0`),
  'api-nested-ignore-entity-id': flag(`${mode}Omits \`entity_id\` at all levels`),
  'api-nested-minimize-relationships': flag(`${mode}Keys of relationships are their names, without the targets`),
} as const;

/** Headers of requests about an ontology. */
export const VERSION_HEADER = z.uuid().meta({ description: 'A version that the caller has seen. The answer is from this version or a newer one' });

/** Filters of concepts and views: the parameters of the first group, and those that are not part of a group. */
export const FILTERS = {
  _subj_: text('The subject of the filter: a column, a relationship path such as `relationship[concept].property`, a relationship or a multi-value property'),
  _op_: z.enum(FILTER_OPERATORS).meta({ description: 'The operator; case is ignored' }),
  _comp_: text('The value; for `in` and `not_in` a comma-separated list (`\\,` is a comma in a value); none for `is_null` and `not_null`'),
  _conj_: z.enum(['AND', 'OR']).meta({ description: 'How this group is combined with the next one; AND by default' }),
  _select_: text('The columns: a comma-separated list, which may contain relationship paths'),
  _order_: text('The columns to sort by: a comma-separated list, with `-` before a name for descending order'),
  _limit_: z.int().min(0).meta({ description: 'The maximum number of rows' }),
  _offset_: z.int().min(0).meta({ description: 'The number of rows to skip' }),
} as const;
