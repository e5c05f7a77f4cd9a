/**
 * One question in words: its concept, the part of the graph that it is about, a valid statement and its rows. The graph bounds the model: it chooses among what
 * the caller may read, and its statement runs only if the planner accepts it for the caller.
 */
import { SvcError } from '../errors.ts';
import { examplesOf, sameQuestionAs } from '../service/ops/questions.ts';
import { type Answer, type Example, type NamedRelation, type QuestionModel, type ServiceRequest, type Subject, sameName, type Turn } from '../service.ts';
import { relationsOf } from './comparisons.ts';
import { failure } from './failed.ts';
import { type Attempt, type Generated, generate, type Try } from './generate.ts';
import { type Identified, identify } from './identify.ts';
import { Knowledge } from './knowledge.ts';
import type { OnAmbiguity, Reading } from './readings.ts';
import type { Costs, Run } from './run.ts';
import { subjectsIn } from './scope.ts';
import type { Arguments, Settings } from './settings.ts';
import { nearest } from './similar.ts';
import { type Ran, type Rows, runSelect } from './statement.ts';
import type { LanguageModels } from './types.ts';

/** The maximum number of verified examples in a prompt. */
const MAX_EXAMPLES = 4;

/** A question, with its caller and context. */
export interface Asking {
  readonly request: ServiceRequest;
  readonly ontology: string;
  readonly agent: { readonly name: string; readonly options: Readonly<Record<string, string>> } | undefined;
  readonly prompt: string;
  readonly args: Arguments;
  /** The id of the conversation that the question belongs to; null or undefined for a single question. */
  readonly conversation?: string | null | undefined;
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
export interface About {
  readonly ontology: string;
  readonly concept: string;
  readonly schema: string;
}

/** Whether the question was answered, or may mean several things: nothing was run then, `readings` has them, and the other members are empty. */
export interface Clear {
  readonly status: 'answered' | 'clarify';
  readonly readings: readonly Reading[];
}

export interface QueriedData extends About, Rows, Clear {
  readonly sql: string;
  readonly details: Details;
}

/** What the history gets to know. */
export interface Noted {
  readonly concept: string | null;
  readonly sql: string | null;
  readonly error: SvcError | null;
  readonly tries: number;
  readonly isUnclear: boolean;
}

/** What it gets to know of a question that never began. */
export const NOTHING: Noted = { concept: null, sql: null, error: null, tries: 0, isUnclear: false };

/** The result of a statement. */
interface Executed extends Ran, Attempt {}

export class Question {
  readonly run: Run;
  readonly settings: Settings;
  readonly #asking: Asking;
  readonly #model: QuestionModel;
  readonly #subjects: readonly Subject[];
  /** Earlier questions of the conversation, oldest first. */
  readonly #earlier: readonly Turn[];
  readonly #started: number;
  #byWords: Identified | undefined;
  #identified: Identified | undefined;
  readonly #tries: Try[] = [];
  #reason = '';
  #example: string | null = null;
  #noted: Noted = NOTHING;

  constructor(
    asking: Asking,
    model: QuestionModel,
    settings: Settings,
    run: Run,
    { started, conceptsAlone, earlier }: { readonly started: number; readonly conceptsAlone: boolean; readonly earlier: readonly Turn[] },
  ) {
    this.#asking = asking;
    this.#model = model;
    this.settings = settings;
    this.run = run;
    this.#earlier = earlier;
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

  /** The words that say what the question is about. It may refer to the question before it. */
  get #words(): string {
    return [this.#earlier.at(-1)?.question ?? '', this.#asking.prompt].join('\n').trim();
  }

  /** The subject of the question as its words say. Computed once. @throws SvcError 404 `no_candidates` */
  async #ranked(): Promise<Identified> {
    const { request } = this.#asking;
    this.#byWords ??= await identify({ request, model: this.#model, subjects: this.#subjects, question: this.#words, deadline: this.run.deadline });
    this.note({ concept: this.#byWords.subject.name });
    return this.#byWords;
  }

  /** The subject of the question, chosen by the model if words do not decide. Computed once. */
  async identified(): Promise<Identified> {
    if (this.#identified !== undefined) return this.#identified;
    const byWords = await this.#ranked();
    const { request, llm } = this.#asking;
    const { deadline } = this.run;
    if (!byWords.certain) this.run.begins('concept');
    const wanted = { request, model: this.#model, subjects: this.#subjects, question: this.#words, llm, deadline, note: this.settings.note };
    const found = byWords.certain ? byWords : await identify({ ...wanted, byWords });
    if (found.reply !== undefined) this.run.record('concept', found.reply);
    this.#identified = found;
    this.note({ concept: found.subject.name });
    return found;
  }

  /** The most likely subject, without a further call of the model. */
  async subject(): Promise<Subject> {
    return (this.#identified ?? (await this.#ranked())).subject;
  }

  async data(ifUnclear: OnAmbiguity): Promise<QueriedData> {
    const most = this.settings.maxLimit;
    const made = await this.statement(most, this.settings.onAmbiguity ?? ifUnclear);
    if (made.kind === 'unclear') {
      const { readings } = made;
      return { status: 'clarify', readings, rows: [], truncated: false, sql: '', ...this.about(await this.subject()), details: this.details() };
    }
    if (made.kind !== 'made') throw failure(made);
    const { rows, truncated, relations } = made.result;
    return { status: 'answered', readings: [], rows, truncated, sql: made.sql, ...this.aboutRelations(relations), details: this.details() };
  }

  /** Finds a valid statement, and returns it with its first rows; if `most` is 0, it is only checked. A verified example of the same question takes precedence over the model. */
  async statement(most: number, onAmbiguity: OnAmbiguity): Promise<Generated<Executed>> {
    const { prompt, request } = this.#asking;
    const { reading } = this.settings;
    const examples = await examplesOf(request, this.#asking.ontology, { rank: (all) => nearest(prompt, all), most: MAX_EXAMPLES });
    const isSame = sameQuestionAs(prompt);
    // the same words mean something else after another question
    const same = reading === null && this.#earlier.length === 0 ? examples.find((e) => isSame(e.question)) : undefined;
    const verified = same === undefined ? undefined : await this.#verified(same, most);
    if (verified !== undefined) return verified;
    const similar = examples.filter((e) => e.relations.every((r) => this.#admits(r)));
    const knowledge = await this.#knowledge(similar);
    const { product } = request.runtime.config;
    const made = await generate(
      this.run,
      {
        question: prompt,
        graph: knowledge,
        asksBack: onAmbiguity === 'ask' && reading === null,
        reading,
        earlier: this.#earlier,
        check: (sql) => this.#attempt(sql, 0, this.settings.depth),
        settings: this.settings,
        product,
        now: request.runtime.now(),
        examples: similar.map((e) => ({ question: e.question, sql: e.query })),
        emptyHint: (sql) => knowledge.emptyHint(sql),
        tries: this.#tries,
        // without case sensitivity, the spelling of values may differ in case
        doubt: async (sql) => (this.settings.caseSensitive ? '' : knowledge.doubt(sql)),
      },
      (sql) => this.#attempt(sql, most, this.settings.depth),
    );
    if (made.kind === 'made' || made.kind === 'unclear') this.#reason = made.reason;
    this.note({ sql: made.kind === 'made' ? made.sql : (made.tries.findLast((t) => t.sql !== null)?.sql ?? null), isUnclear: made.kind === 'unclear' });
    return made;
  }

  /** What the model gets to know. It chooses a concept first if it does not get the whole graph. */
  async #knowledge(similar: readonly Example[]): Promise<Knowledge> {
    const { request } = this.#asking;
    const { ranked } = await this.#ranked();
    const about = [
      ...this.#earlierSubjects(),
      ...similar.flatMap((e) => e.relations).map(({ kind, name }) => ({ kind: kind === 'concept' ? ('concept' as const) : ('view' as const), name })),
    ];
    const parts = {
      request,
      model: this.#model,
      subjects: this.#subjects,
      question: [this.#words, this.settings.reading ?? ''].join(' ').trim(),
      product: request.runtime.config.product,
      depth: this.settings.depth,
      ranked,
    };
    const known = await Knowledge.of({ ...parts, about });
    if (known.isWhole) return known;
    const { subject } = await this.identified();
    return Knowledge.of({ ...parts, about: [subject, ...about] });
  }

  /** What the earlier queries of the conversation read. */
  #earlierSubjects(): readonly Subject[] {
    const { product } = this.#asking.request.runtime.config;
    return this.#earlier.flatMap(({ query }) => relationsOf(query ?? '', product)).flatMap((name) => this.#model.subject(name) ?? []);
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

  async #attempt(sql: string, most: number, depth?: number): Promise<Executed> {
    const { request, ontology, collect } = this.#asking;
    const ran = await runSelect({ request, ontology, collect, admits: (relation) => this.#admits(relation), depth }, sql, most);
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
      reason: this.#reason || ((this.#identified ?? this.#byWords)?.reason ?? ''),
      candidates: (this.#identified ?? this.#byWords)?.candidates ?? [],
      tries: this.#tries,
      example: this.#example,
      model: this.run.llm.name,
      costs: this.run.costs,
      duration_ms: this.#asking.request.runtime.now() - this.#started,
    };
  }
}

/** Whether there is no row, or only one without information: aggregates over no rows are NULL and 0. */
const isEmpty = ({ rows }: Rows): boolean => rows.length === 0 || (rows.length === 1 && Object.values(rows[0] ?? {}).every((v) => v === null || v === 0));
