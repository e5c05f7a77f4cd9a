/**
 * Finds the concept, view or cube that a question is about. Words rank all subjects, and the best ones are shown to a language model as a small tree.
 * The model chooses one of these; its answer cannot name anything else.
 */

import { z } from 'zod';
import { cacheOf } from '../cache.ts';
import { notFound } from '../errors.ts';
import type { QuestionModel, ServiceRequest, Subject } from '../service.ts';
import { remark } from './addresses.ts';
import { fenced, line } from './fence.ts';
import { type Ranked, rank } from './rank.ts';
import { type RankIndex, rankIndex } from './rank-index.ts';
import { CONCEPT_RULES } from './templates.ts';
import { type Candidate, candidateTree } from './tree.ts';
import type { Deadline, LanguageModels, Reply } from './types.ts';
import { samplesWithin } from './values.ts';
import { fused, nearness } from './vectors.ts';

export interface Identify {
  readonly request: ServiceRequest;
  readonly model: QuestionModel;
  /** The subjects to choose from: those of the model within the scope of the question. */
  readonly subjects: readonly Subject[];
  readonly question: string;
  /** If undefined, only words decide. */
  readonly llm?: LanguageModels | undefined;
  /** If undefined, the time-out of a model call applies. */
  readonly deadline?: Deadline | undefined;
  /** The notes of the agent and the call, for the model. */
  readonly note?: string | undefined;
  /** The result by words, if it is known already. */
  readonly byWords?: Identified | undefined;
}

export interface RankedCandidate {
  readonly name: string;
  readonly kind: Subject['kind'];
  /** 0 to 1, relative to the best one. */
  readonly score: number;
  readonly why: readonly string[];
}

export interface Identified {
  readonly subject: Subject;
  readonly reason: string;
  /** The best candidates first: those that the model chose from, or would have. */
  readonly candidates: readonly RankedCandidate[];
  /** All subjects, ranked by the words of the question; best first. */
  readonly ranked: readonly Ranked[];
  /** Whether words decided, without the model. */
  readonly certain: boolean;
  /** The model's turn, if there was one, for its costs. */
  readonly reply?: Reply<unknown>;
}

/** The maximum number of candidates to show to a model. */
const MAX_CANDIDATES = 25;
const TREE_TOKENS = 3_000;
/** The maximum number of subjects whose values are sampled: all of a small ontology, the best ones of a large one. */
const MAX_SAMPLED = 30;
/** The maximum time to wait for values. After that, only names are compared. */
const SAMPLES_MS = 1_500;
const QUESTION = 4_000;
const NOTE = 4_000;
const REASON = 500;
/** A subject is certain only if the next one has at most this part of its score. */
const FAR_BELOW = 0.5;

/**
 * Finds the subject. @throws SvcError 404 `no_candidates` if the lists leave no concept or view to choose from; as `LanguageModels.ask`
 */
export async function identify(wanted: Identify): Promise<Identified> {
  const { question, subjects } = wanted;
  const [only, ...others] = subjects;
  if (only === undefined) {
    throw notFound('no_candidates', 'The lists leave nothing of this ontology to ask about', {
      hint: 'Widen concepts_list, views_list or include_tags; describe_knowledge_graph lists the concepts and views',
    });
  }
  if (others.length === 0) {
    return {
      subject: only,
      reason: `\`${only.name}\` is the only candidate.`,
      candidates: [{ name: only.name, kind: only.kind, score: 1, why: [] }],
      ranked: [{ subject: only, score: 1, why: [], named: false, explains: false }],
      certain: true,
    };
  }
  if (wanted.byWords !== undefined && !wanted.byWords.certain) return withModel(wanted, wanted.byWords.ranked);
  const index = indexOf(wanted.model);
  let ranked = rank(question, subjects, { index });
  if (!isCertain(ranked)) {
    const sampled = ranked.filter((r) => r.subject.kind !== 'cube').slice(0, MAX_SAMPLED);
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
  if (best === undefined) throw new Error('the subjects belong to another model');
  if (isCertain(ranked)) {
    return {
      subject: best.subject,
      reason: `The question names only \`${best.subject.name}\`: ${best.why.join('; ')}.`,
      candidates: candidatesOf(ranked),
      ranked,
      certain: true,
    };
  }
  return withModel(wanted, ranked);
}

/** Lets the model choose, if there is one; otherwise words decide. */
async function withModel(wanted: Identify, ranked: readonly Ranked[]): Promise<Identified> {
  const { llm, question } = wanted;
  const best = ranked[0] as Ranked;
  if (llm === undefined) return { subject: best.subject, reason: byWords(best), candidates: candidatesOf(ranked), ranked, certain: false };
  const deadline = wanted.deadline ?? deadlineOf(wanted.request.signal, llm.timeoutMs);
  return chosen(await blended(ranked, llm, question, deadline), wanted, llm, deadline);
}

/**
 * Whether words decide without a model: the best subject is named as a whole, it explains every significant word, no other one is named, and
 * the next one has at most half of its score. `ranked` is a result of `rank`.
 */
export function isCertain([best, ...others]: readonly Ranked[]): boolean {
  return best?.named === true && best.explains && others.every((o) => !o.named && o.score <= FAR_BELOW);
}

const indexes = cacheOf<RankIndex>('question-words');

/** The index of the whole model, cached for callers who see the same part of it. */
export function indexOf({ shape, subjects }: QuestionModel): RankIndex {
  const known = indexes.get(shape);
  if (known !== undefined) return known;
  const made = rankIndex(subjects);
  indexes.set(shape, made, made.bytes);
  return made;
}

const candidatesOf = (ranked: readonly Ranked[]): readonly RankedCandidate[] =>
  ranked.slice(0, MAX_CANDIDATES).map(({ subject, score, why }) => ({ name: subject.name, kind: subject.kind, score, why }));

const byWords = ({ subject, why }: Ranked): string =>
  why.length === 0
    ? `No word of the question is known; \`${subject.name}\` is the first candidate.`
    : `\`${subject.name}\` matches the words of the question best: ${why.join('; ')}.`;

/** Combines the ranking by words with one by meaning, if the model has embeddings. */
async function blended(ranked: readonly Ranked[], llm: LanguageModels, question: string, deadline: Deadline): Promise<readonly Ranked[]> {
  const subjects = ranked.map((r) => r.subject);
  const near = await nearness(llm, question, subjects, deadline);
  if (near === undefined || near.size === 0) return ranked;
  const counted = ranked.findIndex((r) => r.score === 0);
  return fused(counted < 0 ? ranked.length : counted, ranked.length, near).map(({ place, score }) => ({ ...(ranked[place] as Ranked), score }));
}

async function chosen(ranked: readonly Ranked[], { question, note }: Identify, llm: LanguageModels, deadline: Deadline): Promise<Identified> {
  const candidates = named(ranked.slice(0, MAX_CANDIDATES));
  const best = candidates[0] as Named;
  const answer = await llm.ask(
    {
      stage: 'concept',
      system: CONCEPT_RULES,
      user: [
        `Question: ${fenced(cut(question, QUESTION))}`,
        `Concepts and views, most likely first:\n${fenced(candidateTree(candidates, TREE_TOKENS))}`,
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
  const reason = remark(value?.reason ?? '', REASON);
  return {
    subject: (found ?? best).subject,
    reason: found === undefined ? `The model chose none of the candidates. ${byWords(best.ranked)}` : reason === '' ? byWords(found.ranked) : reason,
    candidates: candidatesOf(ranked),
    ranked,
    certain: false,
    reply: answer,
  };
}

interface Named extends Candidate {
  readonly ranked: Ranked;
}

/** Gives candidates unique names: a view with the name of a concept is marked as a view. */
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

/** A text truncated between characters. */
const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`);

const deadlineOf = (signal: AbortSignal, ms: number): Deadline => {
  const until = Date.now() + ms;
  return { signal, left: () => until - Date.now() };
};
