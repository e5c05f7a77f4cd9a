/**
 * How much generated and permuted tests try: `npm test` the first number, `npm run test:deep` the second. A test file reads its own line with `sizesOf`.
 * DEEP_TIMES=n bounds a deep run to n times the first number, with a random seed.
 */
import { DEEP, TIMES } from './generated.ts';

type Size = readonly [quick: number, deep: number];

/** By test file. Numbers of cases, except `every`: one in so many of a list is tried, different ones in each place. */
export const SIZES = {
  // The planner against independent opinions.
  'integration/differential/differential': { queries: [2000, 10_000] },
  'integration/differential/policies': { queries: [400, 10_000] },
  'integration/hidden-twins': { models: [4, 120] },
  'integration/planner/names': { lists: [300, 5000] },
  // What PostgreSQL resolves in the statements of plans; `servers`: in how many databases each statement is tried.
  'attacks/analysis': { queries: [2000, 20_000], servers: [1, 2] },
  'attacks/fields': { queries: [3000, 200_000] },
  'attacks/every-function': { every: [8, 1], everySchema: [5, 1] },
  // No interference: what callers may not see changes, and answers may not.
  'attacks/leaks-generated': { worlds: [2, 100] },
  'attacks/closed-values': { worlds: [3, 400] },
  'attacks/partial-readers': { models: [4, 400] },
  'attacks/partial-editors': { models: [5, 500] },
  'attacks/editors-interference': { scripts: [3, 120], everyKind: [4, 1] },
  'attacks/editors-generated': { ontologies: [100, 3000], faults: [2, 3] },
  'attacks/sight': { queries: [30, 600] },
  'attacks/isolates': { rounds: [2, 150] },
  'attacks/shared-entries': { requests: [120, 6000] },
  // Requests.
  'integration/hostile': { requests: [4000, 100_000] },
  'integration/hostile-raw': { requests: [700, 20_000] },
  'integration/filters': { everyPayload: [8, 1], filters: [100, 2500], fewer: [50, 1000], values: [500, 20_000], patterns: [100, 4000] },
  'integration/filters-elsewhere': { everyPayload: [8, 1] },
  // `loads`: one that is cut off and made anew.
  'integration/world': { loads: [0, 1] },
  'unit/planner/verify/accepted': { queries: [200, 10_000] },
  'unit/planner/verify/mutated': { statements: [1500, 30_000] },
  'unit/planner/print-random': { trees: [1000, 20_000] },
  'unit/service/sight': { ontologies: [15, 600] },
  'unit/http/login': { forms: [2000, 50_000] },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Size>>>>;

/** The number of this run between the two. A number of `every` falls from the first to the second. */
function now([quick, deep]: Size): number {
  if (!DEEP) return quick;
  if (quick === 0) return deep;
  return deep < quick ? Math.max(deep, Math.ceil(quick / TIMES)) : Math.min(deep, quick * TIMES);
}

/** The sizes of a test file in this run. */
export function sizesOf<F extends keyof typeof SIZES>(file: F): { readonly [K in keyof (typeof SIZES)[F]]: number } {
  return Object.fromEntries(Object.entries(SIZES[file]).map(([what, size]) => [what, now(size)])) as { readonly [K in keyof (typeof SIZES)[F]]: number };
}

/** One in `every` of a list; `turn`: which ones. */
export const oneIn = <T>(every: number, list: readonly T[], turn: number): readonly T[] => list.filter((_, i) => (i + turn) % every === 0);
