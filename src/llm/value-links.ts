/** Finds the words of a question that are values of the data, to offer them as conditions. Pure. */
import type { Subject } from '../service.ts';
import { fieldOf, type RankIndex } from './rank-index.ts';
import { type Match, matches, type Samples } from './values.ts';
import { plain, root, stem, type Word, words } from './words.ts';

/** A value that the question names. */
export interface Linked {
  readonly subject: Subject;
  readonly column: string;
  readonly value: string;
}

export interface Sampled {
  readonly subject: Subject;
  readonly samples: Samples;
}

/** The values of samples that the question names, without those that are only common words or words of the graph's own names. */
export function linkedValues(question: string, sampled: readonly Sampled[], index: RankIndex): readonly Linked[] {
  const asked = words(question);
  return sampled.flatMap(({ subject, samples }) =>
    matches(asked, samples)
      .filter((m) => m.to - m.from > 1 || isMeant(asked[m.from] as Word, m, index))
      .map(({ column, value }) => ({ subject, column, value })),
  );
}

/**
 * Whether a single word means the value. It does if it is written like the value, capital letters included. Otherwise the word must be the value or its plural, and not
 * a word of a concept's or relationship's name: `hired` in `bikes that were hired by` is a relationship, even if a state is called so.
 */
function isMeant({ raw, text }: Word, { value }: Match, index: RankIndex): boolean {
  const written = value.trim();
  if (raw === written && /\p{Lu}/u.test(raw)) return true;
  const known = plain(written);
  if (text !== known && text !== pluralOf(known)) return false;
  return !isNameWord(stem(text), index);
}

const pluralOf = (text: string): string => (/[^aeiou]y$/.test(text) ? `${text.slice(0, -1)}ies` : /(?:s|x|z|ch|sh)$/.test(text) ? `${text}es` : `${text}s`);

/** Whether a form of a word is a name, or part of a name, of a concept or a relationship. */
function isNameWord(stemmed: string, { roots, postings }: RankIndex): boolean {
  const same = roots.get(root(stemmed)) ?? [];
  return [stemmed, ...same].some((word) => {
    const id = postings.ids.get(word);
    if (id === undefined) return false;
    for (let i = postings.starts[id] as number; i < (postings.starts[id + 1] as number); i++) if (NAMES.has(fieldOf(postings.codes[i] as number))) return true;
    return false;
  });
}

const NAMES: ReadonlySet<string> = new Set(['name', 'synonym', 'relationship']);
