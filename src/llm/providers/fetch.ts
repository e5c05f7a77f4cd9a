/** The fetch that providers use: bounded answers, no redirects, and the parameters of LLM_ADDITIONAL_PARAMS. */
import { readBounded } from '../../bytes.ts';

/** The maximum size of an answer: a hundred times what a turn needs. */
const MAX_ANSWER_BYTES = 1_000_000;

/** Headers that are no longer valid after the body was read. */
const OF_THE_TRANSFER = ['content-encoding', 'content-length', 'transfer-encoding'];

/** The answer exceeds the maximum size. */
export class EndlessAnswer extends Error {
  constructor() {
    super(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    this.name = 'EndlessAnswer';
  }
}

export type Fetch = typeof globalThis.fetch;

/**
 * A fetch that reads answers completely, up to a maximum size, and follows no redirects, because the key is only for the configured
 * address. @throws EndlessAnswer
 */
export const boundedFetch =
  (send: Fetch): Fetch =>
  async (input, init) => {
    const response = await send(input, { ...init, redirect: 'manual' });
    const { bytes, isCut } = await readBounded(response.body, MAX_ANSWER_BYTES);
    if (isCut) throw new EndlessAnswer();
    const headers = new Headers(response.headers);
    for (const name of OF_THE_TRANSFER) headers.delete(name);
    const { status, statusText } = response;
    return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers });
  };

/** A fetch that merges `params` into each JSON body. */
export const fetchWith =
  (params: Readonly<Record<string, unknown>>, send: Fetch): Fetch =>
  (input, init) =>
    typeof init?.body === 'string' ? send(input, { ...init, body: JSON.stringify(merged(JSON.parse(init.body), params)) }) : send(input, init);

/** Merges `params` into `value`, recursively for objects. */
export function merged(value: unknown, params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result: Record<string, unknown> = { ...(isObject(value) ? value : {}) };
  for (const [name, param] of Object.entries(params)) {
    const old = Object.hasOwn(result, name) ? result[name] : undefined;
    Object.defineProperty(result, name, {
      value: isObject(old) && isObject(param) ? merged(old, param) : param,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return result;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
