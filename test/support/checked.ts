/** Runs of generated cases that last until the test has seen what it counts. */
import fc from 'fast-check';
import { generated } from './generated.ts';

/** The maximum number of additional cases: a deep run has enough of its own. */
const mostAdded = (runs: number): number => Math.min(20 * runs, 200);

/** Whether a run of `runs` cases goes on with the one at this place: an additional one, if `isEnough` returns false. */
export const goesOn = (at: number, runs: number, isEnough: () => boolean): boolean => at < runs || (at < runs + mostAdded(runs) && !isEnough());

/**
 * Checks a property on `runs` cases. While `isEnough` returns false, it adds cases, so that a small run with any seed has a case of each kind that its test
 * counts. The fixed seed of `npm test` adds few cases. The first failure ends the run;
 * `shrinks`: after a search for a smaller example.
 */
export async function checkUntil<T>(property: fc.IAsyncProperty<T>, runs: number, isEnough: () => boolean, shrinks = false): Promise<fc.RunDetails<T>> {
  let details = await fc.check(property, { ...generated(runs, runs), endOnFailure: !shrinks });
  for (let at = runs; !details.failed && goesOn(at, runs, isEnough); at++)
    details = await fc.check(property, { ...generated(1, 1), path: String(at), endOnFailure: !shrinks });
  return details;
}
