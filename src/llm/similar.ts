/** Orders verified examples by their similarity to a question. Pure. */
import { sameQuestionAs } from '../service.ts';
import { stems } from './words.ts';

/** The minimum similarity to the question: shared words divided by all words of both. */
const MIN_LIKENESS = 0.2;

/** The examples of the same question first, then those that share words with it. */
export function nearest<T extends { readonly question: string }>(question: string, examples: readonly T[]): readonly T[] {
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
