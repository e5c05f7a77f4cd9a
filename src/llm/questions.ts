/**
 * Answers questions in words (docs/design/mcp.md#questions): finds the concept, the SQL, the rows and the answer. The graph bounds the model: it chooses among what
 * the caller may read, and its statement runs only if the planner accepts it for the caller.
 */
import { badRequest, SvcError } from '../errors.ts';
import { conversationOf, questionModel, recordQuestion, storeQuestion } from '../service/ops/questions.ts';
import { type Conversation, callerGone } from '../service.ts';
import { answerFrom } from './answer.ts';
import { failure } from './failed.ts';
import { outOfTime } from './failures.ts';
import { clean } from './fence.ts';
import { withoutColumns } from './hidden-columns.ts';
import { type About, type Asking, type Clear, type Details, NOTHING, type QueriedData, Question } from './question.ts';
import { askBack } from './readings.ts';
import { Run } from './run.ts';
import { settingsOf } from './settings.ts';
import type { Rows } from './statement.ts';

/** The maximum length of a question. Each model call contains the question. */
const MAX_PROMPT = 16_000;

export interface IdentifiedConcept extends About {
  readonly reason: string;
  readonly candidates: readonly string[];
  readonly details: Details;
}

export interface GeneratedSql extends About {
  readonly sql: string;
  readonly is_valid: boolean;
  readonly error?: string;
  readonly details: Details;
}

export interface AnsweredQuestion extends Clear {
  readonly answer: string;
  readonly warnings: readonly string[];
  readonly sql: string;
  readonly rows: Rows;
  readonly details: Details;
}

/** Finds the concept that a question is about; views are excluded. @throws SvcError 404 `no_candidates`; errors of the model; as `questionModel` */
export const identifyConcept = (asking: Asking): Promise<IdentifiedConcept> =>
  asked(asking, { concepts: true }, async (question) => {
    const { subject, reason, candidates } = await question.identified();
    return { ...question.about(subject), reason, candidates: candidates.map((c) => c.name), details: question.details() };
  });

/**
 * Writes SQL for a question. The planner and the datasource check it, but it does not run. `is_valid` is false if no valid statement was found.
 * @throws SvcError 404 `no_candidates`; errors of the model and the datasource; as `questionModel`
 */
export const generateSql = (asking: Asking): Promise<GeneratedSql> =>
  asked(asking, {}, async (question) => {
    const made = await question.statement(0, 'first');
    if (made.kind === 'made') {
      return { ...question.aboutRelations(made.result.relations), sql: made.sql, is_valid: true, details: question.details() };
    }
    if (made.kind === 'unclear') throw new Error('the question must not be asked back');
    const error = failure(made);
    const about = question.about(await question.subject());
    question.note({ error });
    return { ...about, sql: made.tries.findLast((t) => t.sql !== null)?.sql ?? '', is_valid: false, error: error.message, details: question.details() };
  });

/** Answers a question with rows. @throws SvcError 400 `no_valid_sql`, `not_answerable`; as `generateSql` */
export const queryData = (asking: Asking): Promise<QueriedData> => asked(asking, {}, (question) => question.data('first'));

/** Answers a question in words, with the rows that the answer is based on. @throws SvcError as `queryData` */
export const askQuestion = (asking: Asking): Promise<AnsweredQuestion> =>
  asked(asking, {}, async (question) => {
    const { sql, rows, truncated, status, readings } = await question.data('ask');
    const { run, settings } = question;
    if (status === 'clarify') return { status, readings, answer: askBack(readings), warnings: [], sql, rows: { rows, truncated }, details: question.details() };
    const { answer, warnings } = await answerFrom(run, { question: asking.prompt, note: settings.note, sql, rows: { rows, truncated } });
    return { status, readings, answer, warnings, sql, rows: { rows, truncated }, details: question.details() };
  });

/** Runs a question under its deadline, and records it in the history. @throws SvcError 400 `empty_prompt`, `prompt_too_long` */
async function asked<T>(from: Asking, { concepts = false }: { readonly concepts?: boolean }, work: (question: Question) => Promise<T>): Promise<T> {
  const { agent, prompt } = from;
  if (clean(prompt).trim() === '') throw badRequest('empty_prompt', 'The prompt is empty', { hint: 'Ask a question' });
  if (prompt.length > MAX_PROMPT) {
    throw badRequest('prompt_too_long', `The prompt is longer than ${MAX_PROMPT} characters`, {
      hint: 'Ask one question; put what applies to all questions into the note of an agent',
    });
  }
  const { now } = from.request.runtime;
  const started = now();
  const run = new Run(from.llm, from.request.signal, now, from.report);
  // the question's deadline also ends its statements
  const request = { ...from.request, signal: run.deadline.signal };
  const asking = { ...from, request };
  let question: Question | undefined;
  let failed: unknown;
  let conversation: Conversation | undefined;
  try {
    const settings = settingsOf(agent?.options ?? {}, asking.args, request.runtime.config.product);
    const model = withoutColumns(await questionModel(request, asking.ontology), settings.hiddenColumns);
    if (asking.conversation != null) conversation = await conversationOf(request, asking.ontology, asking.conversation, settings.earlier);
    question = new Question(asking, model, settings, run, { started, conceptsAlone: concepts, earlier: conversation?.turns ?? [] });
    return await work(question);
  } catch (error) {
    if (from.request.signal.aborted) failed = callerGone(error);
    else failed = run.deadline.left() <= 0 ? outOfTime(error) : error;
    throw failed;
  } finally {
    run.end();
    const { concept, sql, error, tries, isUnclear } = question?.noted ?? NOTHING;
    const fault = failed ?? error ?? null;
    const { inputTokens, outputTokens } = run.costs;
    const record = {
      agent: agent?.name ?? null,
      ontology: asking.ontology,
      question: prompt,
      concept,
      query: sql,
      status: fault === null ? (isUnclear ? 'clarify' : 'success') : fault instanceof SvcError && fault.code === 'not_answerable' ? 'refused' : 'error',
      started,
      durationMs: now() - started,
      tokens: inputTokens + outputTokens,
      tries,
      error: fault,
      conversation: conversation?.key ?? null,
    };
    // the next question of a conversation must find this one
    if (conversation === undefined) recordQuestion(request, record);
    else await storeQuestion(request, record);
  }
}
