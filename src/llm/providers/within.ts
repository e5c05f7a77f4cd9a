/** Limits the time of one call to LLM_TIMEOUT or the remaining time of the question. */

import { outOfTime } from '../failures.ts';
import type { Deadline } from '../types.ts';

/**
 * Runs `work` for at most `ms` and until the deadline. Then `signal` is aborted, and `within` does not wait for `work` any longer.
 * @throws SvcError 504 `llm_timeout`; the error of `work` if it fails in time
 */
export async function within<T>(deadline: Deadline, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const left = Math.min(ms, deadline.left());
  if (left <= 0 || deadline.signal.aborted) throw outOfTime();
  const stop = new AbortController();
  let end: () => void = () => undefined;
  const over = new Promise<never>((_, reject) => {
    end = () => {
      reject(outOfTime());
      stop.abort();
    };
  });
  const timer = setTimeout(end, left);
  deadline.signal.addEventListener('abort', end, { once: true });
  const working = work(stop.signal);
  working.catch(() => undefined); // an error after the time-out is ignored
  try {
    return await Promise.race([working, over]);
  } finally {
    clearTimeout(timer);
    deadline.signal.removeEventListener('abort', end);
  }
}
