/** Requests of a component: whether one runs, and its failure. Answers that are too late are not used. */
import { useEffect, useState } from 'preact/hooks';
import type { Failure } from '../api/http.ts';
import { Latest } from '../api/latest.ts';

export interface Attempt {
  readonly busy: boolean;
  readonly failure: Failure | null;
  /** Sends a request and uses its answer, unless another was sent since or the component is gone. A failure is kept until the next one. */
  attempt<T>(request: (signal: AbortSignal) => Promise<T>, use: (answer: T) => void): Promise<void>;
  /** Forgets the request and the failure. */
  forget(): void;
}

export function useAttempt(): Attempt {
  const [{ busy, failure }, set] = useState<Pick<Attempt, 'busy' | 'failure'>>({ busy: false, failure: null });
  const [latest] = useState(() => new Latest());
  useEffect(() => () => latest.forget(), []);
  return {
    busy,
    failure,
    attempt(request, use) {
      set({ busy: true, failure: null });
      return latest.ask(
        request,
        (answer) => {
          set({ busy: false, failure: null });
          use(answer);
        },
        (failed) => set({ busy: false, failure: failed }),
      );
    },
    forget() {
      latest.forget();
      set({ busy: false, failure: null });
    },
  };
}

export interface Answer<T> {
  /** Null until it has arrived. */
  readonly answer: T | null;
  readonly failure: Failure | null;
  /** Asks again; what was answered is shown until then. */
  again(): void;
}

/**
 * What a request answers.
 * @param of what the answer is about: when it changes, the old answer is not shown any more
 * @param since when it changes, the request is sent again, and the old answer is shown until the new one is there
 */
export function useAnswer<T>(request: (signal: AbortSignal) => Promise<T>, of: readonly unknown[], since: readonly unknown[] = []): Answer<T> {
  const [got, setGot] = useState<{ readonly of: readonly unknown[]; readonly answer: T } | null>(null);
  const { failure, attempt } = useAttempt();
  const again = (): void => void attempt(request, (answer) => setGot({ of, answer }));
  useEffect(again, [...of, ...since]);
  return { answer: got?.of.every((part, i) => part === of[i]) ? got.answer : null, failure, again };
}
