/** Runs generated cases, and fails with the smallest example of the first failure's cause. */
import fc from 'fast-check';
import { goesOn } from '../../support/checked.ts';
import { DEEP, generated, SEED } from '../../support/generated.ts';
import { accessOf, changeOf, type PolicySet } from './gen-policies.ts';
import type { Harness, Outcome } from './harness.ts';
import type { Case } from './shrink.ts';

/** A case and the policies of its caller; null: it has none. */
export type Guarded = Case & { readonly policies: PolicySet | null };

/** How cases are run. */
interface Run<C> {
  readonly cases: fc.Arbitrary<C>;
  readonly worlds: number;
  readonly mostShrinks: number;
  /** How the number of cases is given, as in `CASES=100`, for the message. */
  readonly given: string;
  readonly look: (c: C) => Promise<readonly Outcome[]>;
  /** The number of worlds that `npm test` leaves out at the beginning: with its seed, they are known to be without the fault that is looked for. */
  readonly skipped?: number;
  /** Whether the cases so far have what the test counts. While they do not, worlds are added. */
  readonly isEnough?: (counts: ReadonlyMap<string, number>) => boolean;
}

/** @returns how many outcomes of each kind there were, under `rows` how many had rows, and under `worlds` the number of worlds */
export async function checkCases<C>({
  cases,
  worlds,
  mostShrinks,
  given,
  look,
  skipped = 0,
  isEnough = () => true,
}: Run<C>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let cause = '';
  let last = '';
  let shrinks = 0;
  const gist = (text: string) => text.replace(/ \(.*$/, '');
  const property = fc.asyncProperty(cases, async (c) => {
    if (cause && ++shrinks > mostShrinks) return;
    const outcomes = await look(c).catch((e: unknown): Outcome[] => [
      { kind: 'fail', cause: `world: ${(e as Error).message}`, rows: 0, text: String((e as Error).stack) },
    ]);
    for (const o of cause ? [] : outcomes)
      for (const kind of o.kind === 'large' ? ['large', `large: ${o.cause}`] : [o.kind]) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (!cause) counts.set('worlds', (counts.get('worlds') ?? 0) + 1);
    if (!cause) counts.set('rows', (counts.get('rows') ?? 0) + outcomes.filter((o) => o.rows > 0).length);
    const failed = outcomes.find((o) => o.kind === 'fail' && (!cause || gist(o.cause) === gist(cause)));
    if (!failed) return;
    cause = failed.cause;
    last = failed.text;
    throw new Error(cause);
  });
  let { failed } = await fc.check(property, { ...generated(worlds, worlds), ...(DEEP || skipped === 0 ? {} : { path: String(skipped) }) });
  for (let at = worlds; !failed && goesOn(at, worlds, () => isEnough(counts)); at++)
    ({ failed } = await fc.check(property, { ...generated(1, 1), path: String(skipped + at) }));
  if (failed) throw new Error(`${cause}\nSEED=${SEED} ${given}\n\n${last}`);
  return counts;
}

/** The outcomes of a case, as the caller whom its policies concern. */
export const asCaller = (harness: Harness, c: Guarded): Promise<readonly Outcome[]> => {
  const { policies, world } = c;
  return harness.outcomes(c, policies === null ? undefined : (printer) => ({ access: accessOf(policies, world, printer), change: changeOf(policies, world) }));
};

export const shown = (counts: ReadonlyMap<string, number>): string => [...counts].map(([k, n]) => `${k} ${n}`).join(', ');
