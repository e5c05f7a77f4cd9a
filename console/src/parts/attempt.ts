/** Work that may fail: whether it runs, and its failure. */
import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../api/http.ts';

export interface Attempt {
  readonly busy: boolean;
  readonly failure: Failure | null;
  /** Runs the work, and keeps its failure until the next run. */
  attempt(work: () => Promise<void>): Promise<void>;
}

export function useAttempt(): Attempt {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setFailure(null);
    setBusy(true);
    try {
      await work();
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, attempt };
}
