/** The fetch that providers are called with: bounded answers, no redirects, and the parameters of LLM_ADDITIONAL_PARAMS. */
import { readBounded } from '../../bytes.ts';

/** Bytes that an answer may have: a hundred times what a turn needs. */
const MAX_ANSWER_BYTES = 1_000_000;

/** Headers that no longer hold once the body has been read. */
const OF_THE_TRANSFER = ['content-encoding', 'content-length', 'transfer-encoding'];

/** An answer that does not end. */
export class EndlessAnswer extends Error {
  constructor() {
    super(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    this.name = 'EndlessAnswer';
  }
}

export type Fetch = typeof globalThis.fetch;

/**
 * A fetch whose answers are read whole, up to a bound, and that follows no redirect: the key is for the configured address
 * alone. @throws EndlessAnswer
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

/** A fetch that puts `params` into each JSON body. */
export const fetchWith =
  (params: Readonly<Record<string, unknown>>, send: Fetch): Fetch =>
  (input, init) =>
    typeof init?.body === 'string' ? send(input, { ...init, body: JSON.stringify(merged(JSON.parse(init.body), params)) }) : send(input, init);

/** `value` with the members of `params`, objects merged member by member. */
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
