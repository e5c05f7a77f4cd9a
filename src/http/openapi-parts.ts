/** Parts of OpenAPI 3.1 documents: schemas from zod, parameters, answers, operations. */
import { z } from 'zod';
import { BODIES, type BodyName, FILTERS, ROW_HEADERS, VERSION_HEADER } from './openapi-schemas.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

export const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** Keywords of zod's output that are removed. */
const DROPPED: readonly string[] = ['$schema', '$id', 'propertyNames'];

function plain(value: unknown): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value as Json;
  const entries = Object.entries(value).filter(
    ([key, v]) =>
      !DROPPED.includes(key) &&
      // later releases may add members
      !(key === 'additionalProperties' && v === false) &&
      !(key === 'maximum' && v === Number.MAX_SAFE_INTEGER) &&
      !(key === 'pattern' && (value as { format?: unknown }).format === 'uuid'),
  );
  return Object.fromEntries(entries.map(([key, v]) => [key, plain(v)]));
}

/** The JSON Schema of a zod schema. */
export const schemaOf = (schema: z.ZodType): JsonObject => plain(z.toJSONSchema(schema, { io: 'output' })) as JsonObject;

let bodies: JsonObject | undefined;

/** The JSON Schemas of all bodies, which refer to each other. */
export function bodySchemas(): JsonObject {
  if (bodies === undefined) {
    const registry = z.registry<{ id: string }>();
    for (const [id, schema] of Object.entries(BODIES)) registry.add(schema as z.ZodType, { id });
    bodies = plain(z.toJSONSchema(registry, { uri: (id) => `#/components/schemas/${id}`, io: 'output' }).schemas) as JsonObject;
  }
  return bodies;
}

const parameter = (place: 'header' | 'path' | 'query', name: string, schema: z.ZodType | JsonObject, required = false): JsonObject => {
  const { description, ...rest } = schema instanceof z.ZodType ? schemaOf(schema) : schema;
  return { name, in: place, ...(required ? { required } : {}), ...(description === undefined ? {} : { description }), schema: rest };
};

export const pathParameter = (name: string, description: string): JsonObject => parameter('path', name, { type: 'string', description }, true);
export const queryParameter = (name: string, description: string): JsonObject => parameter('query', name, { type: 'string', description });
export const headerParameter = (name: string, schema: JsonObject): JsonObject => parameter('header', name, schema);

/** The content of `components/parameters`, by the names that `use` takes. */
export const PARAMETERS = (): JsonObject =>
  Object.fromEntries([
    ...Object.entries(ROW_HEADERS).map(([name, schema]) => [name, parameter('header', name, schema)]),
    ['x-ontology-version', parameter('header', 'x-ontology-version', VERSION_HEADER)],
    ...Object.entries(FILTERS).map(([name, schema]) => [name, parameter('query', name, schema)]),
  ]);
export const use = (name: string): JsonObject => ({ $ref: `#/components/parameters/${name}` });
export const ROW_PARAMETERS: readonly JsonObject[] = Object.keys(ROW_HEADERS).map(use);
export const FILTER_PARAMETERS: readonly JsonObject[] = Object.keys(FILTERS).map(use);

/** Descriptions of error statuses. */
const FAILURES: Readonly<Record<number, string>> = {
  400: 'A malformed body, filter, parameter or SQL; a result over 50 MB',
  401: 'No credential, or an invalid one',
  403: 'The caller may see the object but lacks the required right',
  404: 'The object does not exist, or the caller may not see it',
  406: 'The requested format of rows is not supported',
  409: 'Another request changed the ontology concurrently',
  413: 'A body over 1 MiB, or a single statement over 64 KiB',
  414: 'An address over 16 KiB',
  415: 'The content-type is not supported',
  421: 'The service is not available under this host name',
  429: 'Too many requests',
  500: 'An internal error of the service',
  502: 'The datasource failed',
  503: 'The catalog or another required part cannot be reached or is not configured, or too many large answers are in progress',
  504: 'The statement ran out of time',
};

/** The content of `components/headers`: headers of answers. */
export const HEADERS: JsonObject = {
  'x-request-id': { description: 'The id of the request: the caller\u2019s own id if it is well-formed', schema: { type: 'string' } },
  'x-cache': { description: 'How the result cache was used; missing if it is off', schema: { enum: ['hit', 'miss', 'bypass'] } },
  'x-datasource': {
    description:
      'Which database returned the rows: `primary` or `replica 1`, with `; name=d` for callers who see the datasource; missing for cached results and datasources without replicas',
    schema: { type: 'string' },
  },
  'x-data-as-of': {
    description: 'When the oldest cached rows of the answer were read; absent if it was read from no cached mapping or cube',
    schema: { type: 'string', format: 'date-time' },
  },
  'x-ontology-version': { description: 'The version of the ontology that was used', schema: { type: 'string', format: 'uuid' } },
  'server-timing': { description: 'Milliseconds of the parts of the request, only for callers from whom nothing is hidden', schema: { type: 'string' } },
  etag: { description: 'The value for if-none-match', schema: { type: 'string' } },
  'retry-after': { description: 'Seconds', schema: { type: 'integer' } },
  'www-authenticate': { description: 'How to authenticate', schema: { type: 'string' } },
};
const answersWith = (...names: string[]): JsonObject =>
  Object.fromEntries(['x-request-id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The content of `components/responses`: one for each error status. */
export const RESPONSES: JsonObject = Object.fromEntries(
  Object.entries(FAILURES).map(([status, description]) => [
    `E${status}`,
    {
      description,
      headers: answersWith(...(status === '401' ? ['www-authenticate'] : status === '429' || status === '503' ? ['retry-after'] : [])),
      content: { 'application/json': { schema: ref('Failure') } },
    },
  ]),
);

const failures = (statuses: readonly number[]): JsonObject =>
  Object.fromEntries(statuses.map((status) => [String(status), { $ref: `#/components/responses/E${status}` }]));

/** Error statuses of all routes that need a credential. */
const COMMON = [400, 401, 403, 413, 414, 415, 421, 429, 500, 503] as const;
/** Additional error statuses of statements. */
export const STATEMENT = [404, 406, 409, 502, 504] as const;

/** A 200 with a body of a schema. */
export const answer = (description: string, schema: BodyName | JsonObject, ...headers: string[]): JsonObject => ({
  description,
  headers: answersWith(...headers),
  content: { 'application/json': { schema: typeof schema === 'string' ? ref(schema) : schema } },
});

/** A 200 with rows in JSON, CSV or NDJSON, selected by Accept. */
export const rowsAnswer = (description: string, json: BodyName | JsonObject): JsonObject => ({
  description,
  headers: answersWith('x-ontology-version', 'x-cache', 'x-datasource', 'x-data-as-of'),
  content: {
    'application/json': { schema: typeof json === 'string' ? ref(json) : json },
    'text/csv': { schema: { type: 'string', description: 'RFC 4180: a header record with the names, then a record for each row' } },
    'application/x-ndjson': {
      schema: { type: 'string', description: 'One row per line, as JSON. A last line with the member `error` means that the answer is incomplete' },
    },
  },
});

export interface OperationParts {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly parameters?: readonly JsonObject[] | undefined;
  readonly body?: JsonObject | undefined;
  readonly answers: JsonObject;
  /** Error statuses in addition to the common ones. */
  readonly fails?: readonly number[] | undefined;
  /** False if it needs no credential. */
  readonly known?: boolean | undefined;
}

export const operation = ({ id, tag, summary, description, parameters, body, answers, fails = [], known = true }: OperationParts): JsonObject => ({
  operationId: id,
  tags: [tag],
  summary,
  ...(description === undefined ? {} : { description }),
  ...(known ? {} : { security: [] }),
  ...(parameters === undefined ? {} : { parameters }),
  ...(body === undefined ? {} : { requestBody: body }),
  responses: { ...answers, ...failures([...(known ? COMMON : [414, 421, 500]), ...fails].sort((a, b) => a - b)) },
});
