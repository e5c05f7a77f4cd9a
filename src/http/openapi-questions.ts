/** The OpenAPI paths of questions in words. */
import { answer, headerParameter, type JsonObject, operation, ref, use } from './openapi-parts.ts';

const text = (name: string, description: string): JsonObject => headerParameter(name, { type: 'string', description });

const PARAMETERS: readonly JsonObject[] = [
  text('ontology', 'The ontology; also as `x-ontology`. Default: the first one of the agent, otherwise that of the settings'),
  text('agent', 'An agent, whose options apply; also as `x-agent`'),
  headerParameter('x-conversation-id', {
    type: 'string',
    format: 'uuid',
    description: 'A UUID that the client makes up. Questions with the same one may refer to the earlier ones of the same user',
  }),
  use('results-limit'),
  headerParameter('x-async', { type: 'boolean', default: false, description: 'Answers 202 immediately; the answer is then available at `poll_url`' }),
];
const FAILS: readonly number[] = [404, 502, 504];

const asks = (id: string, summary: string, body: JsonObject): JsonObject => ({
  post: operation({
    id,
    tag: 'Questions',
    summary,
    description:
      'The language model of the service writes the SQL, which is run with the rights of the caller. 400 `llm_not_configured` without a language model.',
    parameters: PARAMETERS,
    body: { required: true, content: { 'application/json': { schema: ref('Question') } } },
    answers: { 200: body, 202: answer('The question will be answered', 'AsyncStarted') },
    fails: FAILS,
  }),
});

/** The paths under `/<product>/openapi/execute`. */
export const questionPaths = (product: string): JsonObject => ({
  [`/${product}/openapi/execute/prompt`]: asks(
    'execute_prompt',
    'Answers a question with rows',
    answer('The rows, and the SQL that was run', 'QuestionRows', 'x-ontology-version'),
  ),
  [`/${product}/openapi/execute/answer`]: asks(
    'execute_answer',
    'Answers a question in words',
    answer('The answer, with its rows and SQL', 'QuestionAnswer', 'x-ontology-version'),
  ),
  [`/${product}/openapi/execute/show_ontologies`]: {
    get: operation({
      id: 'show_ontologies',
      tag: 'Questions',
      summary: 'Lists the ontologies that the caller may see, as rows',
      answers: { 200: answer('Names', 'OntologyNames') },
    }),
  },
});
