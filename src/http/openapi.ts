/** The OpenAPI 3.1 document of the service (docs/design/rows-and-json.md#documents). */
import { PROMPT_NAMES } from '../llm/templates.ts';
import { clientPaths } from './openapi-clients.ts';
import {
  answer,
  bodySchemas,
  FILTER_PARAMETERS,
  HEADERS,
  headerParameter,
  type JsonObject,
  operation,
  PARAMETERS,
  pathParameter,
  queryParameter,
  RESPONSES,
  ROW_PARAMETERS,
  ref,
  rowsAnswer,
  STATEMENT,
  use,
} from './openapi-parts.ts';
import { questionPaths } from './openapi-questions.ts';

/** The content of all documents. */
export interface DocumentBase {
  readonly product: string;
  /** The release of the service. */
  readonly release: string;
  /** The address of the service; null: the address of the document. */
  readonly url: string | null;
}

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

/** Builds the document of the service. */
export function serviceDocument(base: DocumentBase): JsonObject {
  const { product } = base;
  const api = `/${product}/api`;
  const paths: JsonObject = {
    [`${api}/health`]: {
      get: operation({
        id: 'health',
        tag: 'Service',
        summary: 'Reports that the service is running',
        answers: { 200: answer('The service is running', 'Health') },
        known: false,
      }),
    },
    [`${api}/health/ready`]: {
      get: operation({
        id: 'health_ready',
        tag: 'Service',
        summary: 'Checks the catalog, its migrations, each datasource, Workers KV and the Durable Objects',
        description: 'For administrators. The language model is not asked.',
        answers: { 200: answer('All that is configured answers', 'Ready') },
        fails: [403, 503],
      }),
    },
    [`${api}/get_token`]: {
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
    [`${api}/get_ontologies`]: both('get_ontologies', (id) =>
      operation({
        id,
        tag: 'Ontologies',
        summary: 'Lists the names of the ontologies that the caller may see',
        answers: { 200: answer('Names', 'Ontologies') },
      }),
    ),
    [`${api}/get_ontology/{ontology_name}`]: both('get_ontology', (id) =>
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
    [`${api}/query`]: {
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
    [`${api}/model/{ontology_name}/plan`]: {
      post: operation({
        id: 'plan_model',
        tag: 'Ontologies',
        summary: 'Says what model files would change',
        description: 'Checks the files as `apply_model` does, and saves nothing.',
        ...MODEL,
      }),
    },
    [`${api}/model/{ontology_name}/apply`]: {
      post: operation({
        id: 'apply_model',
        tag: 'Ontologies',
        summary: 'Makes an ontology as model files say, in one version',
        description: 'Creates the ontology if it does not exist and the caller may create it. Needs EDIT ON ALL of the ontology.',
        ...MODEL,
        parameters: [...MODEL.parameters, ...CHANGE_PARAMETERS],
      }),
    },
    [`${api}/q/{ontology_name}/concept/{concept_name}`]: {
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
    [`${api}/q/{ontology_name}/view/{view_name}`]: {
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
    [`${api}/get_agents`]: both('get_agents', (id) =>
      operation({ id, tag: 'Service', summary: 'Lists the agents with an ontology that the caller may see', answers: { 200: answer('Agents', 'Agents') } }),
    ),
    [`${api}/get_config/{config_name}`]: both('get_config', (id) =>
      operation({
        id,
        tag: 'Service',
        summary: 'Returns a setting that ALLOWED_CONFIG_ENVS_IN_API lists by exact name',
        parameters: [pathParameter('config_name', 'The name of a variable')],
        answers: { 200: answer('Its value', 'Config') },
        fails: [404],
      }),
    ),
    [`${api}/llm_prompts/{prompt_name}`]: {
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
    [`${api}/clear_cache/{ontology_name}`]: both('clear_cache', (id) =>
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
    [`/${product}/openapi/ontology/{ontology_name}/query`]: {
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
    ...questionPaths(product),
    ...clientPaths(product),
    [`/${product}/openapi/get-async-results/{response_id}`]: {
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
    [`${api}/openapi.json`]: { get: documentOperation('openapi', 'This document', []) },
    [`${api}/openapi/{ontology_name}.json`]: {
      get: documentOperation('openapi_of_ontology', 'A document with a path for each concept and view of an ontology', [ontology], [404]),
    },
    [`${api}/docs`]: {
      get: operation({
        id: 'docs',
        tag: 'Documents',
        summary: 'A page that shows the documents and can send requests',
        answers: { 200: { description: 'The page', content: { 'text/html': { schema: { type: 'string' } } } } },
        known: false,
      }),
    },
  };
  return document(base, `${product}: knowledge-graph query API`, SERVICE_TEXT(product), paths, {});
}

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

const SERVICE_TEXT = (product: string): string =>
  `Every path works with and without a trailing slash. Every error is \`{"status":"error",...}\` with a \`code\`. The virtual schemas in SQL are ` +
  `\`${product}\`, \`e${product}\`, \`d${product}\` and \`v${product}\`.`;

/** Builds a document from its paths and schemas. */
export const document = ({ release, url }: DocumentBase, title: string, description: string, paths: JsonObject, schemas: JsonObject): JsonObject => ({
  openapi: '3.1.0',
  info: { title, version: release, description },
  servers: [{ url: url ?? '/' }],
  security: [{ ApiToken: [] }, { Bearer: [] }, { Jwt: [] }],
  paths,
  components: {
    securitySchemes: {
      ApiToken: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'A user API token; it begins with `tk_`' },
      Bearer: { type: 'http', scheme: 'bearer', description: 'The same token as `Authorization: Bearer`' },
      UserPassword: { type: 'http', scheme: 'bearer', bearerFormat: 'Fernet', description: 'The output of `npm run generate-bearer`; only for `get_token`' },
      Jwt: {
        type: 'apiKey',
        in: 'header',
        name: 'x-jwt-token',
        description: 'A JWT of an identity provider, if JWTs are enabled; the header `x-jwt-tenant-id` names its tenant',
      },
    },
    headers: HEADERS,
    parameters: PARAMETERS(),
    responses: RESPONSES,
    schemas: { ...bodySchemas(), ...schemas },
  },
});
