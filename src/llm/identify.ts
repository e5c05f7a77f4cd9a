/**
 * Which concept, view or cube a question is about: words rank them all, the best go to a language model as a small tree, and the model
 * chooses one of those. Nothing that it says can name anything else.
 */
import { z } from 'zod';
import { cacheOf } from '../cache.ts';
import { notFound } from '../errors.ts';
import type { QuestionModel, ServiceRequest, Subject } from '../service.ts';
import { fenced, line } from './fence.ts';
import { type Ranked, rank } from './rank.ts';
import { type RankIndex, rankIndex } from './rank-index.ts';
import { CONCEPT_RULES } from './templates.ts';
import { type Candidate, candidateTree } from './tree.ts';
import type { Deadline, LanguageModels, Told } from './types.ts';
import { samplesWithin } from './values.ts';
import { fused, nearness } from './vectors.ts';

export interface Identify {
  readonly request: ServiceRequest;
  readonly model: QuestionModel;
  /** What may be chosen: subjects of the model, as the scope of the question leaves them. */
  readonly subjects: readonly Subject[];
  readonly question: string;
  /** Undefined: words alone decide. */
  readonly llm?: LanguageModels | undefined;
  /** Undefined: a call of the model may take as long as one may. */
  readonly deadline?: Deadline | undefined;
  /** Of the agent and the call, for the model. */
  readonly note?: string | undefined;
}

export interface RankedCandidate {
  readonly name: string;
  readonly kind: Subject['kind'];
  /** 0 to 1: relative to the best. */
  readonly score: number;
  readonly why: readonly string[];
}

export interface Identified {
  readonly subject: Subject;
  readonly reason: string;
  /** The best first: those that the model chose from, or would have. */
  readonly candidates: readonly RankedCandidate[];
  /** No model was needed. */
  readonly certain: boolean;
  /** What the model's turn has cost, where it was asked. */
  readonly told?: Told<unknown>;
}

/** Candidates that a model is shown. */
const MOST_CANDIDATES = 25;
const TREE_TOKENS = 3_000;
/** Values are looked at of all subjects of a small ontology, and of the best ones of a large one. */
const MOST_SAMPLED = 30;
/** A question does not wait longer for values: names do without. */
const SAMPLES_MS = 1_500;
const QUESTION = 4_000;
const NOTE = 4_000;
const REASON = 500;
/** The next best has at most this part of the score of one that is certain. */
const FAR_BELOW = 0.5;

/**
 * @throws SvcError 404 `no_candidates`: there is nothing to choose from; as `LanguageModels.ask`
 */
export async function identify(wanted: Identify): Promise<Identified> {
  const { question, subjects } = wanted;
  const [only, ...others] = subjects;
  if (only === undefined) {
    throw notFound('no_candidates', 'Nothing of this ontology is left to ask about', {
      hint: 'Widen concepts_list, views_list or include_tags; describe_knowledge_graph tells what there is',
    });
  }
  if (others.length === 0) {
    return {
      subject: only,
      reason: `\`${only.name}\` is the only one that may be asked about.`,
      candidates: [{ name: only.name, kind: only.kind, score: 1, why: [] }],
      certain: true,
    };
  }
  const index = indexOf(wanted.model);
  let ranked = rank(question, subjects, { index });
  if (!isCertain(ranked)) {
    const sampled = ranked.filter((r) => r.subject.kind !== 'cube').slice(0, MOST_SAMPLED);
    const wait = Math.min(SAMPLES_MS, wanted.deadline?.left() ?? SAMPLES_MS);
    const samples = await samplesWithin(
      wanted.request,
      wanted.model,
      sampled.map((r) => r.subject),
      wait,
    );
    if (samples.size > 0) ranked = rank(question, subjects, { index, samples });
  }
  const [best] = ranked;
  if (best === undefined) throw new Error('subjects of another model');
  if (isCertain(ranked)) {
    return {
      subject: best.subject,
      reason: `The question names \`${best.subject.name}\` and nothing else: ${best.why.join('; ')}.`,
      candidates: told(ranked),
      certain: true,
    };
  }
  const { llm } = wanted;
  if (llm === undefined) return { subject: best.subject, reason: byWords(best), candidates: told(ranked), certain: false };
  const deadline = wanted.deadline ?? deadlineOf(wanted.request.signal, llm.timeoutMs);
  return chosen(await blended(ranked, llm, question, deadline), wanted, llm, deadline);
}

/**
 * Whether words alone decide: the best one is named as a whole, it explains every word that says something, no other one is named, and
 * the next has not half of its score. `ranked` as `rank` gives it.
 */
export function isCertain([best, ...others]: readonly Ranked[]): boolean {
  return best?.named === true && best.explains && others.every((o) => !o.named && o.score <= FAR_BELOW);
}

const indexes = cacheOf<RankIndex>('question-words');

/** The index of the whole model, remembered for callers who see the same of it. */
function indexOf({ shape, subjects }: QuestionModel): RankIndex {
  const known = indexes.get(shape);
  if (known !== undefined) return known;
  const made = rankIndex(subjects);
  indexes.set(shape, made, made.bytes);
  return made;
}

const told = (ranked: readonly Ranked[]): readonly RankedCandidate[] =>
  ranked.slice(0, MOST_CANDIDATES).map(({ subject, score, why }) => ({ name: subject.name, kind: subject.kind, score, why }));

const byWords = ({ subject, why }: Ranked): string =>
  why.length === 0
    ? `No word of the question is known; \`${subject.name}\` stands first.`
    : `\`${subject.name}\` fits the words of the question best: ${why.join('; ')}.`;

/** The order by words and by meaning, where the model has embeddings. */
async function blended(ranked: readonly Ranked[], llm: LanguageModels, question: string, deadline: Deadline): Promise<readonly Ranked[]> {
  const subjects = ranked.map((r) => r.subject);
  const near = await nearness(llm, question, subjects, deadline);
  if (near === undefined || near.size === 0) return ranked;
  const counted = ranked.findIndex((r) => r.score === 0);
  return fused(counted < 0 ? ranked.length : counted, ranked.length, near).map(({ place, score }) => ({ ...(ranked[place] as Ranked), score }));
}

async function chosen(ranked: readonly Ranked[], { question, note }: Identify, llm: LanguageModels, deadline: Deadline): Promise<Identified> {
  const candidates = named(ranked.slice(0, MOST_CANDIDATES));
  const best = candidates[0] as Named;
  const answer = await llm.ask(
    {
      stage: 'concept',
      system: CONCEPT_RULES,
      user: [
        `Question: ${fenced(cut(question, QUESTION))}`,
        `Concepts and views, likely ones first:\n${fenced(candidateTree(candidates, TREE_TOKENS))}`,
        ...(note?.trim() ? [`Note: ${fenced(cut(note.trim(), NOTE))}`] : []),
      ].join('\n'),
      schema: z.object({
        reason: z.string().describe('One short sentence'),
        concept: z.enum(candidates.map((c) => c.name) as [string, ...string[]]).describe('The concept or view'),
      }),
    },
    deadline,
  );
  const { value } = answer;
  const found = value === undefined ? undefined : candidates.find((c) => c.name === value.concept);
  const reason = line(value?.reason ?? '', REASON);
  return {
    subject: (found ?? best).subject,
    reason: found === undefined ? `The model named none of the candidates. ${byWords(best.ranked)}` : reason === '' ? byWords(found.ranked) : reason,
    candidates: told(ranked),
    certain: false,
    told: answer,
  };
}

interface Named extends Candidate {
  readonly ranked: Ranked;
}

/** Under names that are unique: a view that is called as a concept is says so. */
function named(ranked: readonly Ranked[]): readonly Named[] {
  const taken = new Set<string>();
  return ranked.map((r) => {
    const { name, kind } = r.subject;
    const isConcept = kind === 'concept';
    const shared = !isConcept && ranked.some((o) => o !== r && o.subject.name.toLowerCase() === name.toLowerCase());
    let unique = line(shared ? `${name} (${kind})` : name, 160);
    while (taken.has(unique)) unique += "'";
    taken.add(unique);
    return { name: unique, subject: r.subject, why: r.why, ranked: r };
  });
}

/** A text cut between characters. */
const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`);

const deadlineOf = (signal: AbortSignal, ms: number): Deadline => {
  const until = Date.now() + ms;
  return { signal, left: () => until - Date.now() };
};
