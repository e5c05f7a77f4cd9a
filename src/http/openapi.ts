/** The OpenAPI 3.1 document of the service (docs/design/rows-and-json.md#documents). */
import { PROMPT_NAMES } from '../llm/templates.ts';
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

/** What stands in every document. */
export interface DocumentBase {
  readonly product: string;
  /** The release of the service. */
  readonly release: string;
  /** Where the service is; null: where the document came from. */
  readonly url: string | null;
}

const ontology = pathParameter('ontology_name', 'The name of an ontology');
const version = use('x-ontology-version');

export const QUERY_BODY: JsonObject = { required: true, content: { 'application/json': { schema: ref('Query') } } };
export const SQL_BODY: JsonObject = {
  required: true,
  description: 'One or several SQL statements as UTF-8, parted by `;`: the answer is that of the last one',
  content: { 'text/plain': { schema: { type: 'string' } }, 'application/text': { schema: { type: 'string' } } },
};
export const ASYNC_PARAMETERS: readonly JsonObject[] = [
  queryParameter('datasource', 'Where to run a query that touches no mapping, instead of the active datasource'),
  headerParameter('x-async', { type: 'boolean', default: false, description: 'Answers 202 at once; the rows are asked for at `poll_url`' }),
];
export const ASYNC_STARTED: JsonObject = answer('The statement runs on', 'AsyncStarted', 'x-ontology-version');

export const FILTERS_TEXT =
  'Without parameters all rows. Filters are groups of parameters: the first one `_subj_`, `_op_`, `_comp_`, `_conj_`, further ones with a number before the ' +
  'last underscore (`_subj1_`, `_op1_`, ...). `nested` works where a filter or `_select_` names a relationship or a multi-value property.';

/** A path that answers GET and POST alike. */
const both = (id: string, make: (id: string) => JsonObject): JsonObject => ({ get: make(id), post: make(`${id}_by_post`) });

/** The whole document. */
export function serviceDocument(base: DocumentBase): JsonObject {
  const { product } = base;
  const api = `/${product}/api`;
  const paths: JsonObject = {
    [`${api}/health`]: {
      get: operation({ id: 'health', tag: 'Service', summary: 'Whether the service runs', answers: { 200: answer('It does', 'Health') }, known: false }),
    },
    [`${api}/get_token`]: {
      post: {
        ...operation({
          id: 'get_token',
          tag: 'Service',
          summary: 'An API token for user and password',
          description: 'The bearer is a Fernet token over base64(`user:password`); it is good for 24 hours. After five failures answers come late.',
          answers: { 200: answer('One API token', 'Tokens') },
          fails: [401, 429, 503],
          known: false,
        }),
        security: [{ UserPassword: [] }],
      },
    },
    [`${api}/get_ontologies`]: both('get_ontologies', (id) =>
      operation({ id, tag: 'Ontologies', summary: 'Names of the ontologies that the caller may see', answers: { 200: answer('Names', 'Ontologies') } }),
    ),
    [`${api}/get_ontology/{ontology_name}`]: both('get_ontology', (id) =>
      operation({
        id,
        tag: 'Ontologies',
        summary: 'Concepts, properties, relationships and views of an ontology',
        description: 'Only what the caller may see. The answer has an ETag; `if-none-match` is answered with 304.',
        parameters: [ontology, version],
        answers: {
          200: answer('The ontology', 'Ontology', 'x-ontology-version', 'etag'),
          ...(id === 'get_ontology' ? { 304: { description: 'It is as it was' } } : {}),
        },
        fails: [404],
      }),
    ),
    [`${api}/query`]: {
      post: operation({
        id: 'query',
        tag: 'Queries',
        summary: 'Runs SQL: any statement of the language',
        parameters: [...ROW_PARAMETERS, version],
        body: QUERY_BODY,
        answers: { 200: rowsAnswer('Rows of the last statement', 'Result') },
        fails: STATEMENT,
      }),
    },
    [`${api}/q/{ontology_name}/concept/{concept_name}`]: {
      get: operation({
        id: 'concept',
        tag: 'Queries',
        summary: 'Rows of a concept, filtered by the address',
        description: FILTERS_TEXT,
        parameters: [ontology, pathParameter('concept_name', 'The name of a concept'), ...FILTER_PARAMETERS, ...ROW_PARAMETERS, version],
        answers: { 200: rowsAnswer('Rows, and the SQL that ran', 'Listed') },
        fails: STATEMENT,
      }),
    },
    [`${api}/q/{ontology_name}/view/{view_name}`]: {
      get: operation({
        id: 'view',
        tag: 'Queries',
        summary: 'Rows of a view, filtered by the address',
        description: FILTERS_TEXT,
        parameters: [ontology, pathParameter('view_name', 'The name of a view'), ...FILTER_PARAMETERS, ...ROW_PARAMETERS, version],
        answers: { 200: rowsAnswer('Rows, and the SQL that ran', 'Listed') },
        fails: STATEMENT,
      }),
    },
    [`${api}/get_agents`]: both('get_agents', (id) =>
      operation({ id, tag: 'Service', summary: 'Agents with an ontology that the caller may see', answers: { 200: answer('Agents', 'Agents') } }),
    ),
    [`${api}/get_config/{config_name}`]: both('get_config', (id) =>
      operation({
        id,
        tag: 'Service',
        summary: 'A setting that ALLOWED_CONFIG_ENVS_IN_API lists by its exact name',
        parameters: [pathParameter('config_name', 'The name of a variable')],
        answers: { 200: answer('Its value', 'Config') },
        fails: [404],
      }),
    ),
    [`${api}/llm_prompts/{prompt_name}`]: {
      post: operation({
        id: 'llm_prompts',
        tag: 'Service',
        summary: 'Prompts for programs that ask a language model of their own',
        description: 'The body is empty. `{name}` in a template stands for what the program puts there; `{{` and `}}` are braces.',
        parameters: [pathParameter('prompt_name', PROMPT_NAMES.join(', '))],
        answers: { 200: answer('Its messages, in their order', 'Prompt') },
        fails: [404],
      }),
    },
    [`${api}/clear_cache/{ontology_name}`]: both('clear_cache', (id) =>
      operation({
        id,
        tag: 'Service',
        summary: 'Makes every cached result of an ontology unreachable',
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
        summary: 'Runs SQL that is the body itself; the answer is a bare array of rows',
        parameters: [ontology, ...ASYNC_PARAMETERS, ...ROW_PARAMETERS, version],
        body: SQL_BODY,
        answers: { 200: rowsAnswer('Rows of the last statement', 'Rows'), 202: ASYNC_STARTED },
        fails: STATEMENT,
      }),
    },
    [`/${product}/openapi/get-async-results/{response_id}`]: {
      get: operation({
        id: 'get_async_results',
        tag: 'Queries as text',
        summary: 'How a statement sent with `x-async` stands, and its rows',
        description: 'For ten minutes from its end on, and for the user who sent it alone.',
        parameters: [pathParameter('response_id', 'The `response_id` of the 202')],
        answers: {
          200: answer('Running, completed with rows, or ended in an error', 'AsyncResult', 'x-ontology-version'),
          404: answer('Unknown, expired, or another user\u2019s', 'AsyncUnknown'),
        },
      }),
    },
    [`${api}/openapi.json`]: { get: documentOperation('openapi', 'This document', []) },
    [`${api}/openapi/{ontology_name}.json`]: {
      get: documentOperation('openapi_of_ontology', 'A document with a path for every concept and view of an ontology', [ontology], [404]),
    },
    [`${api}/docs`]: {
      get: operation({
        id: 'docs',
        tag: 'Documents',
        summary: 'A page that shows the documents and tries calls',
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
      304: { description: 'It is as it was' },
    },
    fails,
  });

const SERVICE_TEXT = (product: string): string =>
  `Every path answers with and without a trailing slash. A failure is \`{"status":"error",...}\` with a \`code\`, everywhere. The virtual schemas in SQL are ` +
  `\`${product}\`, \`e${product}\`, \`d${product}\` and \`v${product}\`.`;

/** A document round its paths. */
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
      UserPassword: { type: 'http', scheme: 'bearer', bearerFormat: 'Fernet', description: 'What `npm run generate-bearer` prints; for `get_token` alone' },
      Jwt: {
        type: 'apiKey',
        in: 'header',
        name: 'x-jwt-token',
        description: 'A JWT of an identity provider, where the service takes them; the header `x-jwt-tenant-id` names its tenant',
      },
    },
    headers: HEADERS,
    parameters: PARAMETERS(),
    responses: RESPONSES,
    schemas: { ...bodySchemas(), ...schemas },
  },
});
