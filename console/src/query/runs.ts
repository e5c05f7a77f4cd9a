/** What each sheet runs, and what came of it. A statement goes on while the user looks at another sheet, and ends when its sheet is closed. */
import { useEffect, useState } from 'preact/hooks';
import { Latest } from '../api/latest.ts';
import type { Outcome } from './result.tsx';
import type { Sheet } from './sheets.ts';

interface Runs {
  /** The result of a sheet; null before it has run anything. */
  outcomeOf(id: number): Outcome | null;
  isRunning(id: number): boolean;
  /** The requests of a sheet. */
  of(id: number): Latest;
  show(id: number, outcome: Outcome): void;
}

/** @param sheets the open ones */
export function useRuns(sheets: readonly Sheet[]): Runs {
  const [requests] = useState(() => new Map<number, Latest>());
  const [outcomes, setOutcomes] = useState<ReadonlyMap<number, Outcome>>(new Map());
  const end = (open: readonly Sheet[]): void => {
    for (const id of [...requests.keys()].filter((key) => open.every((s) => s.id !== key))) {
      requests.get(id)?.forget();
      requests.delete(id);
      setOutcomes((before) => new Map([...before].filter(([key]) => key !== id)));
    }
  };
  useEffect(() => end(sheets), [sheets]);
  useEffect(() => () => end([]), []);
  return {
    outcomeOf: (id) => outcomes.get(id) ?? null,
    isRunning: (id) => outcomes.get(id)?.kind === 'running',
    of(id) {
      const known = requests.get(id) ?? new Latest();
      requests.set(id, known);
      return known;
    },
    show: (id, outcome) => setOutcomes((before) => new Map(before).set(id, outcome)),
  };
}
