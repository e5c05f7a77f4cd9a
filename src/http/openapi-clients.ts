/** The OpenAPI paths that public clients of this field use in addition to those for SQL. */
import { answer, type JsonObject, operation, pathParameter } from './openapi-parts.ts';

const TEXT: JsonObject = { type: 'string' };
const JSON_BODY = (schema: JsonObject): JsonObject => ({ required: true, content: { 'application/json': { schema } } });
const queryParameter = (name: string, schema: JsonObject, required: boolean): JsonObject => ({ name, in: 'query', required, schema });

const MESSAGE: JsonObject = {
  type: 'object',
  required: ['message_id', 'question', 'answer', 'sql', 'is_follow_up', 'parent_query_id'],
  properties: {
    message_id: TEXT,
    question: TEXT,
    answer: TEXT,
    sql: TEXT,
    concept: { type: ['string', 'null'] },
    ontology: { type: ['string', 'null'] },
    is_follow_up: { type: 'boolean' },
    parent_query_id: { type: ['string', 'null'] },
    created: { type: 'string', format: 'date-time' },
  },
};
const MESSAGES: JsonObject = {
  type: 'object',
  required: ['status', 'data'],
  properties: { status: { const: 'success' }, data: { type: 'array', items: MESSAGE } },
};

const MATCHES: JsonObject = {
  type: 'object',
  required: ['matches', 'match_level'],
  properties: {
    matches: { type: 'array', items: { type: 'object', required: ['knowledge_base', 'example_name', 'question', 'query', 'confidence'] } },
    match_level: { enum: ['high', 'medium', 'none'] },
    per_kb_max_changed_on: { type: 'object' },
  },
};

const SEARCH: JsonObject = {
  type: 'object',
  required: ['question', 'knowledge_bases'],
  properties: {
    question: TEXT,
    knowledge_bases: { type: 'array', minItems: 1, maxItems: 100, items: TEXT },
    top_k: { type: 'integer', minimum: 1, maximum: 20, default: 5 },
    high_threshold: { type: 'number', minimum: 0, maximum: 1, default: 0.8 },
    medium_threshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
  },
};

const reports = (id: string, summary: string, calls: string): JsonObject => ({
  post: operation({
    id,
    tag: 'Clients',
    summary,
    description: 'The token is also accepted as the password of HTTP Basic for the user `token`.',
    parameters: [pathParameter('call', calls)],
    body: JSON_BODY({ type: 'object' }),
    answers: { 200: answer('Accepted', 'Success') },
    fails: [404],
  }),
});

/** The paths for clients with a language model of their own. */
export const clientPaths = (product: string): JsonObject => ({
  [`/${product}/api/fetch_conversation_history`]: {
    get: operation({
      id: 'fetch_conversation_history',
      tag: 'Clients',
      summary: 'Returns the last questions of a conversation of the caller, and those that they follow, oldest first',
      parameters: [queryParameter('conversation_id', TEXT, true), queryParameter('top', { type: 'integer', minimum: 1, default: 3 }, false)],
      answers: { 200: answer('The messages', MESSAGES) },
    }),
  },
  [`/${product}/api/kb/search`]: {
    post: operation({
      id: 'kb_search',
      tag: 'Clients',
      summary: 'Finds the verified examples of ontologies whose questions are similar to a question',
      body: JSON_BODY(SEARCH),
      answers: { 200: answer('The examples, most similar first', MATCHES) },
    }),
  },
  [`/${product}-server/log_agent/{call}`]: reports(
    'log_agent',
    'Reports a question that a client answers; `history` is stored',
    'running, running_update_step, history, trace',
  ),
  [`/${product}-server/log_benchmark/{call}`]: reports(
    'log_benchmark',
    'Reports the run of a benchmark; nothing is stored',
    'running, running_update_completed, history',
  ),
});
