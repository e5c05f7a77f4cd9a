/**
 * Row policies and masks against the same second opinion: what a caller under random policies gets from the planner must be what evaluate.ts makes of
 * the query where the hidden rows are gone and the masked values are replaced. POLICY_CASES=n, SEED=n as in differential.test.ts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SEED } from '../../support/generated.ts';
import { sizesOf } from '../../support/sizes.ts';
import { Cases } from './cases.ts';
import { asCaller, checkCases, type Guarded, shown } from './check.ts';
import { genPolicies, type PolicySet, smaller } from './gen-policies.ts';
import { Harness } from './harness.ts';
import { Rng } from './rng.ts';

const SIZES = sizesOf('integration/differential/policies');

const PER_WORLD = 20;
const MOST_SHRINKS = 400;
const cases = Number(process.env.POLICY_CASES ?? SIZES.queries);

type WithPolicies = Guarded & { readonly policies: PolicySet };

/** A case with policies. Shrinking keeps the policies that are still valid. */
class GuardedCases extends fc.Arbitrary<WithPolicies> {
  private readonly plain = new Cases(PER_WORLD);

  generate(random: fc.Random): fc.Value<WithPolicies> {
    const { value } = this.plain.generate(random);
    return new fc.Value({ ...value, policies: genPolicies(new Rng(random), value.world) }, undefined);
  }

  canShrinkWithoutContext(_value: unknown): _value is WithPolicies {
    return true;
  }

  shrink(value: WithPolicies): fc.Stream<fc.Value<WithPolicies>> {
    const fewer = [...smaller(value.policies)].map((policies) => new fc.Value({ ...value, policies }, undefined));
    return fc.stream(fewer.values()).join(this.plain.shrink(value).map(({ value: v }) => new fc.Value({ ...v, policies: value.policies }, undefined)));
  }
}

describe('a caller under policies gets what is left of the rows and values', () => {
  let harness: Harness;
  beforeAll(async () => {
    console.log(`policies: SEED=${SEED} CASES=${cases}`);
    harness = await Harness.open();
  });
  afterAll(() => harness.close());

  it(`on ${cases} queries over generated ontologies, rows and policies`, { timeout: 3_600_000 }, async () => {
    const worlds = Math.ceil(cases / PER_WORLD);
    const look = (c: Guarded) => asCaller(harness, c);
    const counts = await checkCases({ cases: new GuardedCases(), worlds, mostShrinks: MOST_SHRINKS, given: `POLICY_CASES=${cases}`, look });
    console.log(`policies: ${shown(counts)}, cached ${harness.readCaches}, cubes ${harness.readCubes}, views ${harness.readViews}`);
    const share = (kind: string): number => (counts.get(kind) ?? 0) / (worlds * PER_WORLD);
    // queries that are too large, or too slow for the datasource, may only be exceptions; the policies of one world may make all of its queries too large
    expect(share('large')).toBeLessThanOrEqual(cases >= 2000 ? 0.02 : 0.1);
    expect(share('rows')).toBeGreaterThan(0.4);
  });
});
