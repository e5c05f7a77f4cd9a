import fc from 'fast-check';
import { checkUntil } from '../../support/checked.ts';
import { SEED } from '../../support/generated.ts';
import { query } from './failing-queries.ts';
import { filled } from './hidden-values.ts';

/** An answer as a text that can be compared, and what kind of answer it is. */
export interface Answer {
  readonly text: string;
  readonly outcome: string;
}

/** One world of `filled`: how to fill its tables and how to answer queries. */
export interface World {
  exec(statement: string): Promise<unknown>;
  answers(queries: readonly string[]): Promise<readonly Answer[]>;
}

/**
 * Answers random queries twice, with other hidden rows and masked values, and throws if the two answers to a query differ.
 * @param isEnough whether the answers so far have what the test counts; while they do not, worlds are added
 * @returns the number of answers of each kind
 */
export async function compareTwins(
  { exec, answers }: World,
  sizes: { readonly worlds: number; readonly queries: number },
  isEnough: (counts: ReadonlyMap<string, number>) => boolean,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const property = fc.asyncProperty(
    fc.array(query, { minLength: sizes.queries, maxLength: sizes.queries }),
    fc.nat(),
    fc.nat(),
    async (queries, one, other) => {
      const both: (readonly Answer[])[] = [];
      for (const seed of [one, other]) {
        for (const statement of filled(seed)) await exec(statement);
        both.push(await answers(queries));
      }
      for (const { outcome } of both.flat()) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      for (const [i, q] of queries.entries()) {
        const [a, b] = both.map((all) => all[i]?.text);
        if (a !== b) throw new Error(`${q}\n${a}\n${b}`);
      }
    },
  );
  const { failed, errorInstance, counterexample } = await checkUntil(property, sizes.worlds, () => isEnough(counts));
  if (failed) throw new Error(`SEED=${SEED} values ${counterexample?.slice(1).join(', ')}\n${(errorInstance as Error | undefined)?.message ?? ''}`);
  return counts;
}

/** The part of the answers whose kind satisfies a condition. */
export function shareOf(counts: ReadonlyMap<string, number>, isCounted: (outcome: string) => boolean): number {
  const sum = (entries: readonly (readonly [string, number])[]): number => entries.reduce((n, [, m]) => n + m, 0);
  return sum([...counts].filter(([outcome]) => isCounted(outcome))) / sum([...counts]);
}
