/**
 * Sizes of generated and permuted tests: the first number is that of `npm test`, the second that of `npm run test:deep`. A test file reads its own line with `sizesOf`.
 * DEEP_TIMES=n limits a deep run: to the third number, or to n times the first number if there is no third one. The third number is that of n = 8; a smaller n takes
 * the same share of it.
 */
import { DEEP, TIMES } from './generated.ts';

type Size = readonly [quick: number, deep: number, limited?: number];

/** By test file. Numbers of cases, except `every`: one of that many entries of a list is tested, different ones in each place. */
export const SIZES = {
  // The planner against independent implementations.
  'integration/differential/differential': { queries: [120, 10_000, 2400] },
  'integration/differential/policies': { queries: [60, 10_000, 640] },
  'integration/differential/cubes': { queries: [25, 10_000, 640] },
  'integration/cached-across-generated': { rounds: [7, 400, 40], queries: [4, 7, 6] },
  'integration/cached-across-increments': { refreshes: [4, 300, 40] },
  // `every`: of the requests of a run, at which it is killed.
  'integration/cached-killed': { every: [13, 1, 2], everyOfSteps: [61, 1, 5] },
  // One of `every` points of a run is tried: an odd number takes turns between before and after a request.
  'integration/jobs-killed': { every: [5, 1, 1] },
  'integration/walks': { everyDepth: [2, 1, 1] },
  'integration/hidden-twins': { models: [1, 120, 16] },
  'integration/planner/decorrelate': { queries: [15, 400, 400], joined: [15, 150, 150] },
  // `every`: of the queries of the corpora. An odd number: they are planned without policies and with them in turn.
  'integration/planner/placed': { every: [5, 1, 1] },
  'integration/planner/far-filters': { queries: [60, 10_000, 480] },
  'integration/planner/names': { lists: [100, 5000] },
  // What PostgreSQL resolves in the statements of plans; `servers`: the number of databases for each statement; `everyQuestion`: of the corpora other than forms.ts.
  'attacks/analysis': { queries: [50, 20_000, 4000], servers: [1, 2], everyQuestion: [3, 1, 1] },
  // `everySet`: of the operators that build a set; `everyList`: of the statements about a model.
  'attacks/bounds': { everySet: [3, 1, 1], everyList: [2, 1, 1] },
  'attacks/budget': { everyScript: [4, 1, 1] },
  'attacks/fields': { queries: [400, 200_000, 8000] },
  'attacks/every-function': { every: [120, 1, 8], everyOfForm: [20, 1, 2], everySchema: [80, 1, 5] },
  'attacks/every-function-in-models': { every: [20, 1, 2] },
  // Noninterference: what callers may not see changes, and answers must not.
  // `everyPlace`: of the places of a statement in which a condition is tried, besides WHERE.
  'attacks/leaks': { everyPlace: [3, 1, 1] },
  'attacks/leaks-failing': { everyOfPolicy: [4, 1, 1] },
  'attacks/hidden-names': { everyKind: [8, 1, 1] },
  'attacks/twin-doors': { everyImpersonated: [4, 1, 1] },
  'attacks/editors-writers': { everyNext: [4, 1, 1] },
  'attacks/leaks-generated': { worlds: [1, 100], queries: [40, 40, 40] },
  'attacks/leaks-distributed': { worlds: [1, 12, 2], queries: [40, 40, 40], every: [5, 1, 1] },
  'attacks/cached-readers': { models: [1, 200, 16] },
  'attacks/deleted-rows': { worlds: [2, 400, 16], requests: [40, 100] },
  'attacks/renamed-keys': { worlds: [1, 100], queries: [24, 60, 60] },
  // Which policies a change of a model affects.
  'unit/planner/touched/touched': { worlds: [12, 20_000, 600] },
  'unit/planner/touched/unaffected': { worlds: [12, 20_000, 600] },
  'attacks/kin': { worlds: [1, 300, 16] },
  'attacks/closed-values': { worlds: [1, 400, 16] },
  'attacks/partial-readers': { models: [1, 400, 16] },
  'attacks/partial-editors': { models: [2, 500] },
  'attacks/makers': { scripts: [50, 10_000, 1200] },
  'attacks/editors-interference': { scripts: [3, 120, 16], everyKind: [12, 1, 1] },
  'attacks/editors-links': { scripts: [2, 400, 32], everyKind: [6, 1, 1] },
  'attacks/prepared-generated': { scripts: [10, 300, 40], everyKind: [6, 1, 1] },
  'attacks/editors-generated': { ontologies: [15, 3000], faults: [2, 3] },
  'attacks/sight': { queries: [5, 600, 80] },
  'attacks/isolates': { rounds: [1, 150], everyProbe: [3, 1, 1] },
  'attacks/shared-entries': { requests: [60, 6000] },
  // Model files.
  'integration/model-round-trips': { models: [2, 20_000, 60] },
  // Requests. `everyRefused`: of the refused statements that the test of the guard has.
  'integration/corpus': { everyRefused: [3, 1, 1] },
  // `everyFault`: of the faults of a database, for a kind of statement; each fault is tried for one of them.
  'integration/faults': { everyFault: [2, 1, 1] },
  'integration/hostile': { requests: [250, 100_000, 4000] },
  'integration/hostile-raw': { requests: [120, 20_000, 2000] },
  'integration/filters': { everyPayload: [40, 1], filters: [40, 2500], fewer: [20, 1000], values: [300, 20_000], patterns: [60, 4000] },
  'integration/filters-elsewhere': { everyPayload: [40, 1] },
  'integration/mcp-conformance': { everyTarget: [2, 1] },
  'integration/dev-conformance': { everyBackend: [2, 1] },
  'integration/engine': { everyBackend: [2, 1] },
  // Samples in the formats of kg export.
  'integration/exchange': { everyWay: [3, 1] },
  'integration/shacl': { everySample: [2, 1] },
  // `everyScheme`: of the colour schemes light and dark.
  'integration/console': { everyScheme: [2, 1, 1] },
  'integration/console-strangers': { everyScheme: [2, 1, 1] },
  'integration/console-query': { rows: [10_000, 1_000_000, 1_000_000], concepts: [500, 2000], expansions: [8, 200, 200] },
  // `loads`: a load that is interrupted and repeated.
  'integration/world': { loads: [0, 1] },
  'unit/regular-expressions': { every: [8, 1, 1], everyRead: [8, 1, 1] },
  // `everyQuestion`: of the statements of the corpora other than forms.ts, without policies and with them in turn.
  'unit/planner/effort/few-joins': { queries: [60, 20_000, 2400] },
  'unit/planner/logical': { everyTrap: [12, 1, 1], everyQuestion: [5, 1, 1], queries: [100, 1000] },
  'unit/planner/verify/accepted': { queries: [20, 10_000, 480], everyTrap: [48, 1, 1] },
  'unit/planner/verify/mutated': { statements: [1000, 30_000], everyTrap: [6, 1] },
  'unit/planner/print-random': { trees: [150, 20_000, 2400] },
  'unit/service/caller/sight': { ontologies: [8, 600] },
  'unit/service/model-target': { models: [6, 20_000, 2000] },
  'unit/cli/exchange/ossie': { models: [4, 20_000, 2000] },
  'unit/cli/exchange/rdf': { models: [4, 20_000, 2000] },
  'unit/http/login': { forms: [250, 50_000, 4000] },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Size>>>>;

/** The `n` of DEEP_TIMES that the third numbers are made for. */
const WHOLE = 8;

/**
 * The number of a deep run with DEEP_TIMES=n, between the first two. A number of `every` decreases from the first to the second.
 * @param times n; Infinity without DEEP_TIMES
 */
export function deepSize([quick, deep, limited]: Size, times: number): number {
  if (quick === 0) return deep;
  const isEvery = deep < quick;
  if (times === Number.POSITIVE_INFINITY || limited === undefined) return isEvery ? Math.max(deep, Math.ceil(quick / times)) : Math.min(deep, quick * times);
  const share = Math.min(1, times / WHOLE);
  return isEvery ? Math.min(quick, Math.ceil(limited / share)) : Math.max(Math.min(quick, limited), Math.ceil(limited * share));
}

/** The sizes of a test file in this run. */
export function sizesOf<F extends keyof typeof SIZES>(file: F): { readonly [K in keyof (typeof SIZES)[F]]: number } {
  const sizes = Object.entries<Size>(SIZES[file]).map(([what, size]) => [what, DEEP ? deepSize(size, TIMES) : size[0]]);
  return Object.fromEntries(sizes) as { readonly [K in keyof (typeof SIZES)[F]]: number };
}

/** One of `every` entries of a list; `turn` selects which. */
export const oneIn = <T>(every: number, list: readonly T[], turn: number): readonly T[] => list.filter((_, i) => (i + turn) % every === 0);
