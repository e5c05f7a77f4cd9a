/** What public clients of this field send in addition to SQL: conversations, reports of questions and benchmarks, knowledge bases (docs/python.md). */
import { badRequest, notFound } from '../errors.ts';
import { searchKnowledge } from '../llm/knowledge-bases.ts';
import { conversationMessages, reportQuestion } from '../service/ops/questions.ts';
import type { ServiceRequest } from '../service.ts';
import { json, success } from './answers.ts';
import { readText, requireJson } from './body.ts';
import type { AppContext } from './context.ts';
import { jsonOf, malformedBody } from './input.ts';

type Body = Readonly<Record<string, unknown>>;

/** The headers of a report with its credential as other requests send it: these clients send the token as the password of `Basic` for the user `token`. */
export function reportHeaders(sent: Headers): Headers {
  const headers = new Headers(sent);
  const basic = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
  if (basic !== undefined) {
    headers.delete('authorization');
    const password = passwordOf(basic);
    headers.set(password.startsWith('tk_') ? 'x-api-key' : 'x-jwt-token', password);
  }
  return headers;
}

/** The password of `user:password` in base64; a text that is no token if it is not of this form. */
function passwordOf(basic: string): string {
  try {
    return atob(basic)
      .replace(/^[^:]*:/, '')
      .replace(/[^\x21-\x7e]/g, '');
  } catch {
    return 'tk_';
  }
}

/** GET fetch_conversation_history?conversation_id=..&top=n. @throws SvcError 400 `bad_parameter` */
export async function conversationHistory(c: AppContext, request: ServiceRequest): Promise<Response> {
  const id = c.req.query('conversation_id')?.trim() ?? '';
  if (id === '' || id.length > 200) throw badRequest('bad_parameter', 'conversation_id must be a text of 1 to 200 characters');
  const top = c.req.query('top') ?? '3';
  if (!/^\d{1,4}$/.test(top) || Number(top) < 1) throw badRequest('bad_parameter', 'top must be a positive integer');
  return success(c, await conversationMessages(request, id, Number(top)));
}

/** What a client reports, and when. Only the end of a question is stored. */
const REPORTS: Readonly<Record<string, readonly string[]>> = {
  log_agent: ['running', 'running_update_step', 'history', 'trace'],
  log_benchmark: ['running', 'running_update_completed', 'history'],
};

/** POST /<product>-server/<log>/<call>. @throws SvcError 400 `malformed_json`, `malformed_body`; 404 `unknown_path` */
export async function report(c: AppContext, request: ServiceRequest, log: string, call: string): Promise<Response> {
  const calls = Object.hasOwn(REPORTS, log) ? REPORTS[log] : undefined;
  if (calls?.includes(call) !== true) throw notFound('unknown_path', 'This path does not exist');
  const body = await bodyOf(c, '{"query_id": "<id>", ...}');
  if (log === 'log_agent' && call === 'history') await store(request, body);
  return json(c, 200, { status: 'success' });
}

async function store(request: ServiceRequest, body: Body): Promise<void> {
  const text = (name: string): string | null => (typeof body[name] === 'string' && body[name].trim() !== '' ? body[name] : null);
  const number = (name: string): number => (typeof body[name] === 'number' ? body[name] : 0);
  const [queryId, question] = [text('query_id'), text('question')];
  if (queryId === null || question === null)
    throw malformedBody('{"query_id": "<id>", "question": "<question>", ...}', queryId === null ? 'query_id' : 'question');
  const now = request.runtime.now();
  // sent in UTC without a zone
  const time = Date.parse(`${text('start_time')?.replace(' ', 'T')}Z`);
  await reportQuestion(request, {
    queryId,
    question,
    parentQueryId: text('parent_query_id'),
    isFollowUp: typeof body.is_follow_up === 'boolean' ? body.is_follow_up : null,
    answer: text('answer'),
    conversationId: text('conversation_id'),
    agent: text('agent_name'),
    ontology: text('ontology')?.split(',')[0]?.trim() ?? null,
    concept: text('concept'),
    query: text('generated_sql'),
    status: text('status') ?? 'completed',
    // a later time would put the question before those of other users, and keep it for longer
    started: time >= 0 && time <= now ? time : now,
    durationMs: number('duration'),
    tokens: number('total_tokens'),
    tries: 1 + number('retry_count') + number('no_results_retry_count'),
    error: text('error'),
  });
}

const SEARCH_FORM = '{"question": "<question>", "knowledge_bases": ["<ontology>"], "top_k": 5, "high_threshold": 0.8, "medium_threshold": 0.5}';

/** POST kb/search. @throws SvcError 400 `malformed_json`; `malformed_body`, which names the member */
export async function knowledgeSearch(c: AppContext, request: ServiceRequest): Promise<Response> {
  const body = await bodyOf(c, SEARCH_FORM);
  const { question, knowledge_bases: names, top_k: most = 5, high_threshold: high = 0.8, medium_threshold: medium = 0.5 } = body;
  if (typeof question !== 'string' || question.trim() === '') throw malformedBody(SEARCH_FORM, 'question');
  if (!Array.isArray(names) || names.length === 0 || names.length > 100 || !names.every((n) => typeof n === 'string'))
    throw malformedBody(SEARCH_FORM, 'knowledge_bases');
  if (!Number.isInteger(most) || Number(most) < 1 || Number(most) > 20) throw malformedBody(SEARCH_FORM, 'top_k');
  if (!isShare(high)) throw malformedBody(SEARCH_FORM, 'high_threshold');
  if (!isShare(medium) || medium > high) throw malformedBody(SEARCH_FORM, 'medium_threshold');
  return json(c, 200, await searchKnowledge(request, { question, names, most: Number(most), high, medium }));
}

const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;

async function bodyOf(c: AppContext, form: string): Promise<Body> {
  const text = await readText(c);
  requireJson(c.req.raw);
  const body = jsonOf(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw malformedBody(form, '');
  return body as Body;
}
