/** Embeddings of texts with Workers AI, if the binding AI exists (docs/ai.md). */

import { modelFailed } from '../failures.ts';
import type { Deadline } from '../types.ts';
import type { AiBinding } from './open.ts';
import { within } from './within.ts';

/** Multilingual, 1024 dimensions, texts of up to 8192 tokens. */
const MODEL = '@cf/baai/bge-m3';
/** The maximum number of texts in one call. */
const MAX_TEXTS = 100;

/** @returns a function that returns one vector for each text, all of the same length. It throws SvcError 502 `llm_failed`, 504 `llm_timeout` */
export function embeddings(ai: AiBinding, timeoutMs: number, log: (line: Readonly<Record<string, unknown>>) => void) {
  return async (texts: readonly string[], deadline: Deadline): Promise<readonly (readonly number[])[]> => {
    const vectors: (readonly number[])[] = [];
    for (let at = 0; at < texts.length; at += MAX_TEXTS) {
      const part = texts.slice(at, at + MAX_TEXTS);
      const found = await within(deadline, timeoutMs, async () => {
        try {
          return vectorsOf(await ai.run(MODEL, { text: part }), part.length);
        } catch (error) {
          log({ level: 'error', event: 'embeddings_failed', fault: error instanceof Error ? error.name : typeof error });
          throw modelFailed();
        }
      });
      vectors.push(...found);
    }
    if (vectors.some((v) => v.length !== vectors[0]?.length)) throw modelFailed();
    return vectors;
  };
}

function vectorsOf(answer: unknown, count: number): readonly (readonly number[])[] {
  const data = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined;
  const good = Array.isArray(data) && data.length === count && data.every((v) => Array.isArray(v) && v.length > 0 && v.every((n) => Number.isFinite(n)));
  if (!good) throw new TypeError('no vectors');
  return data as number[][];
}
