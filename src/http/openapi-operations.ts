/** The operations of the service that have no file of their own, by path: the first part of its OpenAPI document. */
import { PROMPT_NAMES } from '../llm/templates.ts';
import {
  answer,
  FILTER_PARAMETERS,
  headerParameter,
  type JsonObject,
  operation,
  pathParameter,
  queryParameter,
  ROW_PARAMETERS,
  ref,
  rowsAnswer,
  STATEMENT,
  use,
} from './openapi-parts.ts';

/** Operations by path. */
type Paths = Readonly<Record<string, JsonObject>>;

const ontology = pathParameter('ontology_name', 'The name of an ontology');
const version = use('x-ontology-version');

const QUERY_BODY: JsonObject = { required: true, content: { 'application/json': { schema: ref('Query') } } };
export const SQL_BODY: JsonObject = {
  required: true,
  description: 'One or more SQL statements in UTF-8, separated by `;`. The answer is that of the last statement',
  content: { 'text/plain': { schema: { type: 'string' } }, 'application/text': { schema: { type: 'string' } } },
};
const MODEL = {
  parameters: [ontology],
  body: { required: true, content: { 'application/json': { schema: ref('ModelFiles') } } },
  answers: { 200: answer('The changes', 'ModelChanges') },
  fails: [404, 409, 502],
};
export const ASYNC_PARAMETERS: readonly JsonObject[] = [
  queryParameter('datasource', 'The datasource of a query that uses no mapping; the active datasource by default'),
  headerParameter('x-async', { type: 'boolean', default: false, description: 'Answers 202 immediately; the rows are then available at `poll_url`' }),
];
export const ASYNC_STARTED: JsonObject = answer('The statement was started', 'AsyncStarted', 'x-ontology-version');

/** Requests that may change something. */
export const CHANGE_PARAMETERS: readonly JsonObject[] = [
  headerParameter('x-read-only', {
    type: 'boolean',
    default: false,
    description: 'Refuses everything that changes something: 403 `read_only`, before any statement runs',
  }),
];

export const FILTERS_TEXT =
  'Returns all rows by default. A filter is a group of parameters: `_subj_`, `_op_`, `_comp_` and `_conj_` for the first one, with a number before the ' +
  'last underscore (`_subj1_`, `_op1_`, ...) for others. `nested` has an effect if a filter or `_select_` names a relationship or a multi-value property.';

/** A path that handles GET and POST in the same way. */
const both = (id: string, make: (id: string) => JsonObject): JsonObject => ({ get: make(id), post: make(`${id}_by_post`) });

/** Below `/<product>/api/`. */
export const API: Paths = {
  health: {
    get: operation({
      id: 'health',
      tag: 'Service',
      summary: 'Reports that the service is running',
      answers: { 200: answer('The service is running', 'Health') },
      known: false,
    }),
  },
  'health/ready': {
    get: operation({
      id: 'health_ready',
      tag: 'Service',
      summary: 'Checks the catalog, its migrations, each datasource, Workers KV, the Durable Objects and the jobs',
      description: 'For administrators. The language model is not asked.',
      answers: { 200: answer('All that is configured answers', 'Ready') },
      fails: [403, 503],
    }),
  },
  get_token: {
    post: {
      ...operation({
        id: 'get_token',
        tag: 'Service',
        summary: 'Issues an API token for a user name and password',
        description: 'The bearer is a Fernet token over base64(`user:password`); it is valid for 24 hours. After five failures, answers are delayed.',
        answers: { 200: answer('One API token', 'Tokens') },
        fails: [401, 429, 503],
        known: false,
      }),
      security: [{ UserPassword: [] }],
    },
  },
  get_ontologies: both('get_ontologies', (id) =>
    operation({
      id,
      tag: 'Ontologies',
      summary: 'Lists the names of the ontologies that the caller may see',
      answers: { 200: answer('Names', 'Ontologies') },
    }),
  ),
  'get_ontology/{ontology_name}': both('get_ontology', (id) =>
    operation({
      id,
      tag: 'Ontologies',
      summary: 'Describes concepts, properties, relationships and views of an ontology',
      description: 'Contains only what the caller may see. The answer has an ETag and supports `if-none-match`.',
      parameters: [ontology, version],
      answers: {
        200: answer('The ontology', 'Ontology', 'x-ontology-version', 'etag'),
        ...(id === 'get_ontology' ? { 304: { description: 'Not modified' } } : {}),
      },
      fails: [404],
    }),
  ),
  query: {
    post: operation({
      id: 'query',
      tag: 'Queries',
      summary: 'Runs SQL statements of any kind',
      parameters: [...CHANGE_PARAMETERS, ...ROW_PARAMETERS, version],
      body: QUERY_BODY,
      answers: { 200: rowsAnswer('Rows of the last statement', 'Result') },
      fails: STATEMENT,
    }),
  },
  'model/{ontology_name}/plan': {
    post: operation({
      id: 'plan_model',
      tag: 'Ontologies',
      summary: 'Says what model files would change',
      description: 'Checks the files as `apply_model` does, and saves nothing.',
      ...MODEL,
    }),
  },
  'model/{ontology_name}/apply': {
    post: operation({
      id: 'apply_model',
      tag: 'Ontologies',
      summary: 'Makes an ontology as model files say, in one version',
      description: 'Creates the ontology if it does not exist and the caller may create it. Needs EDIT ON ALL of the ontology.',
      ...MODEL,
      parameters: [...MODEL.parameters, ...CHANGE_PARAMETERS],
    }),
  },
  'q/{ontology_name}/concept/{concept_name}': {
    get: operation({
      id: 'concept',
      tag: 'Queries',
      summary: 'Returns the rows of a concept that match the filters',
      description: FILTERS_TEXT,
      parameters: [ontology, pathParameter('concept_name', 'The name of a concept'), ...FILTER_PARAMETERS, ...ROW_PARAMETERS, version],
      answers: { 200: rowsAnswer('Rows and the executed SQL', 'Listed') },
      fails: STATEMENT,
    }),
  },
  'q/{ontology_name}/view/{view_name}': {
    get: operation({
      id: 'view',
      tag: 'Queries',
      summary: 'Returns the rows of a view that match the filters',
      description: FILTERS_TEXT,
      parameters: [ontology, pathParameter('view_name', 'The name of a view'), ...FILTER_PARAMETERS, ...ROW_PARAMETERS, version],
      answers: { 200: rowsAnswer('Rows and the executed SQL', 'Listed') },
      fails: STATEMENT,
    }),
  },
  get_agents: both('get_agents', (id) =>
    operation({ id, tag: 'Service', summary: 'Lists the agents with an ontology that the caller may see', answers: { 200: answer('Agents', 'Agents') } }),
  ),
  'get_config/{config_name}': both('get_config', (id) =>
    operation({
      id,
      tag: 'Service',
      summary: 'Returns a setting that ALLOWED_CONFIG_ENVS_IN_API lists by exact name',
      parameters: [pathParameter('config_name', 'The name of a variable')],
      answers: { 200: answer('Its value', 'Config') },
      fails: [404],
    }),
  ),
  'llm_prompts/{prompt_name}': {
    post: operation({
      id: 'llm_prompts',
      tag: 'Service',
      summary: 'Returns prompts for programs that use their own language model',
      description: 'The body is empty. `{name}` in a template is a placeholder; `{{` and `}}` are literal braces.',
      parameters: [pathParameter('prompt_name', PROMPT_NAMES.join(', '))],
      answers: { 200: answer('The messages of the prompt, in order', 'Prompt') },
      fails: [404],
    }),
  },
  'clear_cache/{ontology_name}': both('clear_cache', (id) =>
    operation({
      id,
      tag: 'Service',
      summary: 'Invalidates all cached results of an ontology',
      description: 'Needs EDIT on the ontology.',
      parameters: [ontology],
      answers: { 200: answer('Done', 'Success') },
      fails: [404],
    }),
  ),
};

/** Statements in a text body, below `/<product>/openapi/`. */
export const STATEMENTS_AS_TEXT: Paths = {
  'ontology/{ontology_name}/query': {
    post: operation({
      id: 'query_text',
      tag: 'Queries as text',
      summary: 'Runs SQL in a text body; the answer is an array of rows',
      parameters: [ontology, ...ASYNC_PARAMETERS, ...ROW_PARAMETERS, version],
      body: SQL_BODY,
      answers: { 200: rowsAnswer('Rows of the last statement', 'Rows'), 202: ASYNC_STARTED },
      fails: STATEMENT,
    }),
  },
};

/** The rows of asynchronous statements, below `/<product>/openapi/`. */
export const ASYNC_RESULTS: Paths = {
  'get-async-results/{response_id}': {
    get: operation({
      id: 'get_async_results',
      tag: 'Queries as text',
      summary: 'Returns the state and the rows of a statement that was sent with `x-async`',
      description: 'Available for ten minutes after the end of the statement, only to the user who sent it.',
      parameters: [pathParameter('response_id', 'The `response_id` of the 202')],
      answers: {
        200: answer('The statement is running, has completed with rows, or has failed', 'AsyncResult', 'x-ontology-version'),
        404: answer('Unknown, expired, or sent by another user', 'AsyncUnknown'),
      },
    }),
  },
};

const documentOperation = (id: string, summary: string, parameters: readonly JsonObject[], fails: readonly number[] = []): JsonObject =>
  operation({
    id,
    tag: 'Documents',
    summary,
    parameters,
    answers: {
      200: answer('An OpenAPI 3.1 document', { type: 'object', required: ['openapi'], properties: { openapi: { type: 'string' } } }, 'etag'),
      304: { description: 'Not modified' },
    },
    fails,
  });

/** The documents, below `/<product>/api/`. */
export const DOCUMENTS: Paths = {
  'openapi.json': { get: documentOperation('openapi', 'This document', []) },
  'openapi/{ontology_name}.json': {
    get: documentOperation('openapi_of_ontology', 'A document with a path for each concept and view of an ontology', [ontology], [404]),
  },
  docs: {
    get: operation({
      id: 'docs',
      tag: 'Documents',
      summary: 'A page that shows the documents and can send requests',
      answers: { 200: { description: 'The page', content: { 'text/html': { schema: { type: 'string' } } } } },
      known: false,
    }),
  },
};
