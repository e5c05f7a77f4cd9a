/** Ranks subjects by meaning, with embeddings, if the configured language model has them. */
import { cacheOf } from '../cache.ts';
import type { Subject } from '../service.ts';
import { line } from './fence.ts';
import { synonymsOf } from './rank-index.ts';
import type { Deadline, LanguageModels } from './types.ts';
import { words } from './words.ts';

/** The maximum number of texts in a call: the question, and subjects without a cached vector. */
const MAX_TEXTS = 96;
const MAX_CHARACTERS = 600;
/** The maximum time to wait for embeddings. After that, only words are used. */
const WAIT_MS = 2_000;

const kept = cacheOf<Float32Array>('vectors');

/**
 * The cosine similarity of subjects to the question, by their position in `subjects`. Vectors of the first ones are requested first; subjects without
 * a vector have no similarity. At most one call. Undefined if the service has no embeddings, or the call failed.
 */
export async function nearness(
  llm: LanguageModels,
  question: string,
  subjects: readonly Subject[],
  deadline: Deadline,
): Promise<ReadonlyMap<number, number> | undefined> {
  const { embed, name } = llm;
  if (embed === undefined || deadline.left() <= 0) return undefined;
  const texts = subjects.map(meaningOf);
  const keyOf = (text: string): string => `${name}\u0000${text}`;
  const missing = [...new Set(texts.filter((t) => kept.get(keyOf(t)) === undefined))].slice(0, MAX_TEXTS - 1);
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), WAIT_MS);
  const until = deadline.left() - WAIT_MS;
  try {
    const made = await embed([line(question, MAX_CHARACTERS), ...missing], {
      signal: AbortSignal.any([deadline.signal, end.signal]),
      left: () => Math.min(WAIT_MS, deadline.left() - Math.max(0, until)),
    });
    const [asked, ...rest] = made.map((v) => unit(v));
    if (asked === undefined || rest.length !== missing.length) return undefined;
    const fresh = new Map(missing.map((text, i) => [text, rest[i] as Float32Array]));
    for (const [text, vector] of fresh) kept.set(keyOf(text), vector, 4 * vector.length + 100);
    const found = new Map<number, number>();
    for (const [i, text] of texts.entries()) {
      const vector = fresh.get(text) ?? kept.get(keyOf(text));
      if (vector?.length === asked.length) found.set(i, dot(asked, vector));
    }
    return found;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** A short text for a subject. */
function meaningOf({ name, description, tags, columns }: Subject): string {
  const spaced = (text: string): string =>
    words(text)
      .map((w) => w.text)
      .join(' ');
  const own = columns.filter((c) => c.inheritedFrom === null);
  return line(
    [
      [spaced(name), ...synonymsOf(tags)].join(', '),
      ...(description ? [description] : []),
      ...(own.length === 0 ? [] : [own.map((c) => spaced(c.name)).join(', ')]),
    ].join('. '),
    MAX_CHARACTERS,
  );
}

function unit(vector: readonly number[]): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0)) || 1;
  return Float32Array.from(vector, (x) => x / length);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** The constant of reciprocal rank fusion. The smaller it is, the more the first ranks count. */
const RANK = 10;
/** The weight of the ranking by meaning. Words count more, because the modeller chose them. */
const BY_MEANING = 0.7;

/**
 * Fuses two rankings: by words (without reasons from position `counted` on) and by similarity. Returns positions in the first
 * ranking with scores of at most 1, best first.
 */
export function fused(counted: number, all: number, near: ReadonlyMap<number, number>): readonly { readonly place: number; readonly score: number }[] {
  const byMeaning = new Map([...near].sort(([, a], [, b]) => b - a).map(([place], rank) => [place, rank]));
  const made = Array.from({ length: all }, (_, place) => {
    const rank = byMeaning.get(place);
    return { place, score: (place < counted ? 1 / (RANK + place) : 0) + (rank === undefined ? 0 : BY_MEANING / (RANK + rank)) };
  }).sort((a, b) => b.score - a.score || a.place - b.place);
  const best = made[0]?.score || 1;
  return made.map(({ place, score }) => ({ place, score: Math.round((1000 * score) / best) / 1000 }));
}
