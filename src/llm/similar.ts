/** Orders verified examples by their similarity to a question. Pure. */
import { sameQuestionAs } from '../service/ops/questions.ts';
import { stems } from './words.ts';

/** The minimum similarity to the question: shared words divided by all words of both. */
const MIN_LIKENESS = 0.2;

/** The similarity of two questions, 0 to 1: 1 for the same question, else the share of the words of both that they have in common, below 1. */
export function likeness(question: string): (other: string) => number {
  const asked = new Set(stems(question));
  const isSame = sameQuestionAs(question);
  return (other) => {
    if (isSame(other)) return 1;
    const words = new Set(stems(other));
    const shared = [...words].filter((w) => asked.has(w)).length;
    return words.size === 0 || asked.size === 0 ? 0 : Math.min(0.99, shared / (words.size + asked.size - shared));
  };
}

/** The examples of the same question first, then those that share words with it. */
export function nearest<T extends { readonly question: string }>(question: string, examples: readonly T[]): readonly T[] {
  const like = likeness(question);
  const scores = new Map(examples.map((e) => [e, like(e.question)]));
  return examples.filter((e) => (scores.get(e) ?? 0) >= MIN_LIKENESS).sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
}
