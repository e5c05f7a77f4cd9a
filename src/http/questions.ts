/** Questions in words over REST, for programs that do not speak MCP (docs/rest.md#questions). */
import type { RestQuestion } from '../service.ts';
import { asynchronous, listOntologies, type ServiceRequest } from '../service.ts';
import { json, success } from './answers.ts';
import { readText, requireJson } from './body.ts';
import type { AppContext } from './context.ts';
import { jsonOf, malformedBody, resultsLimit, wantsAsync } from './input.ts';
import { asyncStarted } from './openapi-async.ts';

// what questions need is loaded by the first of them (docs/design/platform-rules.md#the-script)
const loaded = async () => {
  const [{ answerOver, askingOver }, { cutRows }] = await Promise.all([import('../llm/rest.ts'), import('../nesting/cut.ts')]);
  return { answerOver, askingOver, collect: cutRows };
};

/** Answers a question with rows (`prompt`) or in words (`answer`). @throws SvcError 400 `malformed_body`, `bad_results_limit`; as `answerOver` and `startAsyncQuestion` */
export async function askQuestion(c: AppContext, product: string, request: ServiceRequest, kind: RestQuestion['kind']): Promise<Response> {
  const question = await questionOf(c, kind);
  const { answerOver, askingOver, collect } = await loaded();
  if (wantsAsync(c.req.raw.headers)) {
    const { ontology } = askingOver(request, question, collect);
    return asyncStarted(c, product, await (await asynchronous()).startAsyncQuestion(request, ontology, question));
  }
  const { data, rows } = await answerOver(request, question, collect);
  c.set('rows', rows);
  return success(c, data);
}

/** Lists the ontologies that the caller sees. */
export const showOntologies = (c: AppContext, request: ServiceRequest): Response =>
  json(
    c,
    200,
    listOntologies(request).map((ontology) => ({ ontology })),
  );

const FORM = '{"prompt": "<question>"}';

async function questionOf(c: AppContext, kind: RestQuestion['kind']): Promise<RestQuestion> {
  const text = await readText(c);
  requireJson(c.req.raw);
  const { headers } = c.req.raw;
  const named = (name: string): string | null => headers.get(name)?.trim() || headers.get(`x-${name}`)?.trim() || null;
  return {
    kind,
    ...bodyOf(text),
    ontology: named('ontology'),
    agent: named('agent'),
    conversation: headers.get('x-conversation-id'),
    limit: resultsLimit(headers),
  };
}

/** The members of the body. @throws SvcError 400 `malformed_json`; `malformed_body`, which names the member */
function bodyOf(text: string): Pick<RestQuestion, 'prompt' | 'onAmbiguity' | 'reading'> {
  const body = jsonOf(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw malformedBody(FORM, '');
  const { prompt, on_ambiguity: onAmbiguity = null, reading = null } = body as Readonly<Record<string, unknown>>;
  if (typeof prompt !== 'string' || prompt.trim() === '') throw malformedBody(FORM, 'prompt');
  if (onAmbiguity !== null && onAmbiguity !== 'ask' && onAmbiguity !== 'first') throw malformedBody(FORM, 'on_ambiguity');
  if (reading !== null && typeof reading !== 'string') throw malformedBody(FORM, 'reading');
  return { prompt, onAmbiguity, reading };
}
