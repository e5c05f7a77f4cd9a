/** Time for one call: LLM_TIMEOUT, or what the question has left of its own. */

import { outOfTime } from '../failures.ts';
import type { Deadline } from '../types.ts';

/**
 * What `work` gives within `ms` and the deadline. It is told to stop by the signal, and is not waited for where it does not.
 * @throws SvcError 504 `llm_timeout`, and what `work` throws in time
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
  working.catch(() => undefined); // nobody hears of it once the time is over
  try {
    return await Promise.race([working, over]);
  } finally {
    clearTimeout(timer);
    deadline.signal.removeEventListener('abort', end);
  }
}
