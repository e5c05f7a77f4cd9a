/**
 * The planner against an independent second opinion: fast-check makes small worlds (tables, rows, an ontology over them) and queries; what the planner's SQL
 * returns on PostgreSQL must be what evaluate.ts makes of the query by the words of docs/design/paths-and-cardinality.md and
 * docs/design/aggregates-over-several-paths.md. CASES=n and SEED=n choose the run (test/support/generated.ts, sizes.ts).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SEED } from '../../support/generated.ts';
import { sizesOf } from '../../support/sizes.ts';
import { Cases } from './cases.ts';
import { checkCases, shown } from './check.ts';
import { Harness, type Outcome } from './harness.ts';
import type { Case } from './shrink.ts';

const SIZES = sizesOf('integration/differential/differential');

const PER_WORLD = 20;
const MOST_SHRINKS = 800;
const cases = Number(process.env.CASES ?? SIZES.queries);

type Counts = ReadonlyMap<string, number>;
const check = (worlds: number, look: (c: Case) => Promise<readonly Outcome[]>, isEnough: (counts: Counts) => boolean) =>
  checkCases({ cases: new Cases(PER_WORLD), worlds, mostShrinks: MOST_SHRINKS, given: `CASES=${cases}`, look, isEnough });
/** The part of the queries that had such an outcome. */
const share = (counts: Counts, kind: string): number => (counts.get(kind) ?? 0) / ((counts.get('worlds') ?? 0) * PER_WORLD);

describe('the planner and the second opinion agree', () => {
  let harness: Harness;
  beforeAll(async () => {
    console.log(`differential: SEED=${SEED} CASES=${cases}`);
    harness = await Harness.open();
  });
  afterAll(() => harness.close());

  it(`on ${cases} queries over generated ontologies and rows`, { timeout: 3_600_000 }, async () => {
    const isEnough = (counts: Counts): boolean => share(counts, 'rows') > 0.5 && (counts.get('proved') ?? 0) > 0;
    const counts = await check(Math.ceil(cases / PER_WORLD), (c) => harness.outcomes(c), isEnough);
    console.log(`differential: ${shown(counts)}, cached ${harness.readCaches}, cubes ${harness.readCubes}, views ${harness.readViews}`);
    // about half of the worlds have cached mappings, some have views
    if (cases >= 400 && process.env.CACHES !== 'none') expect(Math.min(harness.readCaches, harness.readViews)).toBeGreaterThan(0);
    // Queries that the planner does not support, or that are too large for a quick test, may only be exceptions.
    expect(share(counts, 'not_yet')).toBeLessThanOrEqual(0.02);
    expect(share(counts, 'large')).toBeLessThanOrEqual(0.02);
    // Queries without rows or refused prove little: most have some.
    expect(share(counts, 'rows')).toBeGreaterThan(0.5);
    expect(counts.get('proved') ?? 0).toBeGreaterThan(0);
  });

  it('rows(Q) = rows(Q where p) + rows(Q where not p) + rows(Q where p is null)', { timeout: 3_600_000 }, async () => {
    const partitions = async (c: Case): Promise<Outcome[]> => {
      const out: Outcome[] = [];
      for (const q of c.queries) {
        const o = await harness.partition(c, q);
        if (o) out.push(o);
      }
      return out;
    };
    const counts = await check(Math.ceil(cases / PER_WORLD / 5), partitions, (so) => (so.get('same') ?? 0) > 0);
    expect(counts.get('same') ?? 0).toBeGreaterThan(0);
  });
});
