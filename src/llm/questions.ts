/**
 * Answers questions in words (docs/design/mcp.md#questions): finds the concept, the SQL, the rows and the answer. The graph bounds the model: it chooses among what
 * the caller may read, and its statement runs only if the planner accepts it for the caller.
 */
import { badRequest, SvcError } from '../errors.ts';
import {
  type Answer,
  callerGone,
  type Example,
  examplesOf,
  type NamedRelation,
  type QuestionModel,
  questionModel,
  recordQuestion,
  type ServiceRequest,
  type Subject,
  sameName,
  sameQuestionAs,
} from '../service.ts';
import { answerFrom } from './answer.ts';
import { outOfTime } from './failures.ts';
import { clean } from './fence.ts';
import { type Attempt, type Generated, generate, noSql, refused, type Try } from './generate.ts';
import { type Identified, identify } from './identify.ts';
import { Knowledge } from './knowledge.ts';
import { type Costs, Run } from './run.ts';
import { subjectsIn } from './scope.ts';
import { type Arguments, type Settings, settingsOf } from './settings.ts';
import { type Ran, type Rows, runSelect } from './statement.ts';
import type { LanguageModels } from './types.ts';
import { stems } from './words.ts';

/** The maximum number of verified examples in a prompt, and their minimum similarity to the question: shared words divided by all words of both. */
const MAX_EXAMPLES = 4;
const MIN_LIKENESS = 0.2;

/** The maximum length of a question. Each model call contains the question. */
const MAX_PROMPT = 16_000;

/** A question, with its caller and context. */
export interface Asking {
  readonly request: ServiceRequest;
  readonly ontology: string;
  readonly agent: { readonly name: string; readonly options: Readonly<Record<string, string>> } | undefined;
  readonly prompt: string;
  readonly args: Arguments;
  readonly llm: LanguageModels;
  /** Reads the first rows of an answer. */
  readonly collect: (answer: Answer, most: number) => Promise<Rows>;
  /** Called for each step of the model, for progress messages. */
  readonly report?: ((step: string) => void) | undefined;
}

/** Reasons, attempts and costs of an answer (`verbose`). */
export interface Details {
  readonly reason: string;
  readonly candidates: readonly { readonly name: string; readonly kind: string; readonly score: number; readonly why: readonly string[] }[];
  readonly tries: readonly Try[];
  /** The verified example that was used instead of the model, or null. */
  readonly example: string | null;
  readonly model: string;
  readonly costs: Costs;
  readonly duration_ms: number;
}

/** The subject of a statement. */
interface About {
  readonly ontology: string;
  readonly concept: string;
  readonly schema: string;
}

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

export interface QueriedData extends About, Rows {
  readonly sql: string;
  readonly details: Details;
}

export interface AnsweredQuestion {
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
    const made = await question.statement(0);
    if (made.kind === 'made') {
      return { ...question.aboutRelations(made.result.relations), sql: made.sql, is_valid: true, details: question.details() };
    }
    const error = failure(made);
    const about = question.about((await question.identified()).subject);
    question.note({ error });
    return { ...about, sql: made.tries.findLast((t) => t.sql !== null)?.sql ?? '', is_valid: false, error: error.message, details: question.details() };
  });

/** Answers a question with rows. @throws SvcError 400 `no_valid_sql`, `not_answerable`; as `generateSql` */
export const queryData = (asking: Asking): Promise<QueriedData> => asked(asking, {}, (question) => question.data());

/** Answers a question in words, with the rows that the answer is based on. @throws SvcError as `queryData` */
export const askQuestion = (asking: Asking): Promise<AnsweredQuestion> =>
  asked(asking, {}, async (question) => {
    const { sql, rows, truncated } = await question.data();
    const { run, settings } = question;
    const { answer, warnings } = await answerFrom(run, { question: asking.prompt, note: settings.note, sql, rows: { rows, truncated } });
    return { answer, warnings, sql, rows: { rows, truncated }, details: question.details() };
  });

/** The error if no valid statement was found, or if the graph cannot answer the question. */
const failure = (made: Exclude<Generated<Attempt>, { kind: 'made' }>): SvcError => (made.kind === 'refused' ? refused(made.refusal) : noSql(made.tries));

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
  try {
    const model = await questionModel(request, asking.ontology);
    const settings = settingsOf(agent?.options ?? {}, asking.args);
    question = new Question(asking, model, settings, run, started, concepts);
    return await work(question);
  } catch (error) {
    if (from.request.signal.aborted) failed = callerGone(error);
    else failed = run.deadline.left() <= 0 ? outOfTime(error) : error;
    throw failed;
  } finally {
    run.end();
    const { concept, sql, error, tries } = question?.noted ?? { concept: null, sql: null, error: null, tries: 0 };
    const fault = failed ?? error ?? null;
    const { inputTokens, outputTokens } = run.costs;
    recordQuestion(request, {
      agent: agent?.name ?? null,
      ontology: asking.ontology,
      question: prompt,
      concept,
      query: sql,
      status: fault === null ? 'success' : fault instanceof SvcError && fault.code === 'not_answerable' ? 'refused' : 'error',
      started,
      durationMs: now() - started,
      tokens: inputTokens + outputTokens,
      tries,
      error: fault,
    });
  }
}

interface Noted {
  readonly concept: string | null;
  readonly sql: string | null;
  readonly error: SvcError | null;
  readonly tries: number;
}

/** The result of a statement. */
interface Executed extends Ran, Attempt {}

class Question {
  readonly run: Run;
  readonly settings: Settings;
  readonly #asking: Asking;
  readonly #model: QuestionModel;
  readonly #subjects: readonly Subject[];
  readonly #started: number;
  #identified: Identified | undefined;
  readonly #tries: Try[] = [];
  #reason = '';
  #example: string | null = null;
  #noted: Noted = { concept: null, sql: null, error: null, tries: 0 };

  constructor(asking: Asking, model: QuestionModel, settings: Settings, run: Run, started: number, conceptsAlone: boolean) {
    this.#asking = asking;
    this.#model = model;
    this.settings = settings;
    this.run = run;
    this.#started = started;
    const all = subjectsIn(model, settings.scope);
    this.#subjects = conceptsAlone ? all.filter((s) => s.kind === 'concept') : all;
  }

  get noted(): Noted {
    return { ...this.#noted, tries: this.#tries.length };
  }

  note(noted: Partial<Noted>): void {
    this.#noted = { ...this.#noted, ...noted };
  }

  /** The subject of the question. Computed once. */
  async identified(): Promise<Identified> {
    if (this.#identified !== undefined) return this.#identified;
    const { request, prompt, llm } = this.#asking;
    const { deadline } = this.run;
    this.run.begins('concept');
    const found = await identify({ request, model: this.#model, subjects: this.#subjects, question: prompt, llm, deadline, note: this.settings.note });
    if (found.reply !== undefined) this.run.record('concept', found.reply);
    this.#identified = found;
    this.note({ concept: found.subject.name });
    return found;
  }

  async data(): Promise<QueriedData> {
    const most = this.settings.maxLimit;
    const made = await this.statement(most);
    if (made.kind !== 'made') throw failure(made);
    const { rows, truncated, relations } = made.result;
    return { rows, truncated, sql: made.sql, ...this.aboutRelations(relations), details: this.details() };
  }

  /** Finds a valid statement, and returns it with its first rows; if `most` is 0, it is only checked. A verified example of the same question takes precedence over the model. */
  async statement(most: number): Promise<Generated<Executed>> {
    const { prompt, request } = this.#asking;
    const examples = await examplesOf(request, this.#asking.ontology, { rank: (all) => nearest(prompt, all), most: MAX_EXAMPLES });
    const isSame = sameQuestionAs(prompt);
    const same = examples.find((e) => isSame(e.question));
    const verified = same === undefined ? undefined : await this.#verified(same, most);
    if (verified !== undefined) return verified;
    const { subject } = await this.identified();
    const others = this.#subjects.filter((s) => s !== subject);
    const ranked = new Map(this.#identified?.candidates.map((c, i) => [`${c.kind} ${c.name}`, i]));
    const place = (s: Subject): number => ranked.get(`${s.kind} ${s.name}`) ?? Number.POSITIVE_INFINITY;
    const { product } = request.runtime.config;
    const knowledge = await Knowledge.of({
      request,
      model: this.#model,
      subject,
      others: others.filter((s) => place(s) < Number.POSITIVE_INFINITY).sort((a, b) => place(a) - place(b)),
      question: prompt,
      depth: this.settings.depth,
      product,
    });
    const made = await generate(
      this.run,
      {
        question: prompt,
        context: knowledge.text,
        settings: this.settings,
        product,
        now: request.runtime.now(),
        examples: examples.filter((e) => e.relations.every((r) => this.#admits(r))).map((e) => ({ question: e.question, sql: e.query })),
        emptyHint: (sql) => knowledge.emptyHint(sql),
        tries: this.#tries,
        // without case sensitivity, the spelling of values may differ in case
        doubt: async (sql) => (this.settings.caseSensitive ? '' : knowledge.doubt(sql)),
      },
      (sql) => this.#attempt(sql, most),
    );
    if (made.kind === 'made') {
      this.#reason = made.reason;
      this.note({ sql: made.sql });
    } else this.note({ sql: made.tries.findLast((t) => t.sql !== null)?.sql ?? null });
    return made;
  }

  /** Runs the SQL of a verified example. Returns undefined if it is outside the question's scope, or no longer valid. */
  async #verified({ question, query }: Example, most: number): Promise<Generated<Executed> | undefined> {
    try {
      const result = await this.#attempt(query, most);
      this.#example = question;
      this.#reason = 'A verified example answers this question.';
      this.#tries.push({ sql: query, error: null });
      this.note({ sql: query });
      return { kind: 'made', sql: query, result, reason: this.#reason, tries: this.#tries };
    } catch (error) {
      if (error instanceof SvcError && error.status < 500) return undefined;
      throw error;
    }
  }

  async #attempt(sql: string, most: number): Promise<Executed> {
    const { request, ontology, collect } = this.#asking;
    const ran = await runSelect({ request, ontology, collect, admits: (relation) => this.#admits(relation) }, sql, most);
    return { ...ran, isEmpty: most > 0 && isEmpty(ran) };
  }

  #admits({ kind, name }: NamedRelation): boolean {
    return this.#subjects.some((s) => (s.kind === 'concept') === (kind === 'concept') && sameName(s.name, name));
  }

  about({ kind, name }: Pick<Subject, 'kind' | 'name'>): About {
    return { ontology: this.#model.ontology, concept: name, schema: this.#schema(kind === 'concept' ? 'dsvc' : 'vsvc') };
  }

  /** The first relation that a statement reads. */
  aboutRelations([first]: readonly NamedRelation[]): About {
    if (first === undefined) throw new Error('the statement reads nothing');
    this.note({ concept: first.name });
    return { ontology: this.#model.ontology, concept: first.name, schema: this.#schema(first.schema) };
  }

  /** The name of a schema for callers. */
  #schema(neutral: NamedRelation['schema']): string {
    return neutral.replace('svc', this.#asking.request.runtime.config.product);
  }

  details(): Details {
    return {
      reason: this.#reason || (this.#identified?.reason ?? ''),
      candidates: this.#identified?.candidates ?? [],
      tries: this.#tries,
      example: this.#example,
      model: this.run.llm.name,
      costs: this.run.costs,
      duration_ms: this.#asking.request.runtime.now() - this.#started,
    };
  }
}

/** The examples of the same question first, then those that share words with it. */
function nearest<T extends { readonly question: string }>(question: string, examples: readonly T[]): readonly T[] {
  const asked = new Set(stems(question));
  const isSame = sameQuestionAs(question);
  const score = (example: T): number => {
    if (isSame(example.question)) return 2;
    const words = new Set(stems(example.question));
    const shared = [...words].filter((w) => asked.has(w)).length;
    return words.size === 0 || asked.size === 0 ? 0 : shared / (words.size + asked.size - shared);
  };
  const scores = new Map(examples.map((e) => [e, score(e)]));
  return examples.filter((e) => (scores.get(e) ?? 0) >= MIN_LIKENESS).sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
}

/** Whether there is no row, or only one without information: aggregates over no rows are NULL and 0. */
const isEmpty = ({ rows }: Rows): boolean => rows.length === 0 || (rows.length === 1 && Object.values(rows[0] ?? {}).every((v) => v === null || v === 0));
