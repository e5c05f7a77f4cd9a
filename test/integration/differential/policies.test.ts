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
import { Evaluator } from './evaluate.ts';
import { changeOf, genPolicies, type PolicySet, smaller, type Trait, traitsOfPolicies } from './gen-policies.ts';
import { Harness } from './harness.ts';
import { Rng } from './rng.ts';
import type { World } from './world.ts';

const SIZES = sizesOf('integration/differential/policies');

const MOST_SHRINKS = 400;
const cases = Number(process.env.POLICY_CASES ?? SIZES.queries);
/** A short run has few worlds: one of them may decide the shares of its outcomes. */
const isShort = cases < 600;
const PER_WORLD = isShort ? 10 : 20;

type WithPolicies = Guarded & { readonly policies: PolicySet };

/** Whether at least half of the rows of each guarded concept are visible: a short run of queries without rows would show little. */
function leavesRows(policies: PolicySet, world: World): boolean {
  const { onto } = new Evaluator(world);
  const { hides } = changeOf(policies, world);
  return policies.rows.every(({ concept }) => {
    const rows = onto.rows(concept);
    return rows.filter((thing) => !hides(thing)).length * 2 >= rows.length && rows.length > 0;
  });
}

/** In so many worlds and sets of policies the first cases look for a condition with each trait. */
const MOST_WORLDS = 20;
const MOST_SETS = 10;

/** A case with policies. The first cases have a condition with each trait, so that a short run has them too. Shrinking keeps the policies that are still valid. */
class GuardedCases extends fc.Arbitrary<WithPolicies> {
  private readonly plain = new Cases(PER_WORLD);
  /** What no condition has had; rare ones first. */
  readonly missing: Trait[] = ['calculated', 'walk', 'path'];

  generate(random: fc.Random): fc.Value<WithPolicies> {
    for (let n = 1; ; n++) {
      const { value } = this.plain.generate(random);
      for (let m = 1; m <= MOST_SETS; m++) {
        const policies = genPolicies(new Rng(random), value.world);
        const traits = traitsOfPolicies(policies, value.world);
        const [wanted] = this.missing;
        const isWanted = wanted === undefined || (traits.has(wanted) && leavesRows(policies, value.world));
        if (!isWanted && (n < MOST_WORLDS || m < MOST_SETS)) continue;
        this.missing.splice(0, this.missing.length, ...this.missing.filter((t) => !traits.has(t)));
        return new fc.Value({ ...value, policies }, undefined);
      }
    }
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
    const small = { queries: 0, large: 0, most: 0 };
    const look = async (c: WithPolicies) => {
      const outcomes = await asCaller(harness, c);
      const traits = traitsOfPolicies(c.policies, c.world);
      if (traits.has('walk') || traits.has('calculated')) return outcomes;
      const large = outcomes.filter((o) => o.kind === 'large').length;
      small.queries += outcomes.length;
      small.large += large;
      small.most = Math.max(small.most, large);
      return outcomes;
    };
    const guarded = new GuardedCases();
    const shareOfRows = (so: ReadonlyMap<string, number>): number => (so.get('rows') ?? 0) / ((so.get('worlds') ?? 0) * PER_WORLD);
    const least = { queries: isShort ? PER_WORLD : cases / 2, rows: isShort ? 0.25 : 0.4 };
    const isLarge = (): boolean => small.large - small.most > (isShort ? 0.1 : 0.02) * small.queries;
    const isEnough = (so: ReadonlyMap<string, number>): boolean =>
      guarded.missing.length === 0 && small.queries >= least.queries && !isLarge() && shareOfRows(so) > least.rows;
    const counts = await checkCases({ cases: guarded, worlds, mostShrinks: MOST_SHRINKS, given: `POLICY_CASES=${cases}`, look, isEnough });
    console.log(
      `policies: ${shown(counts)}, under small policies ${small.large} of ${small.queries} large (${small.most} in one world), cached ${harness.readCaches}, cubes ${harness.readCubes}, views ${harness.readViews}`,
    );
    expect(guarded.missing, 'traits that no condition has').toEqual([]);
    // queries that are too large, or too slow for the datasource, may only be exceptions, except under walks and calculated properties over paths;
    // the policies of one world may make all of its queries too large
    expect(small.queries).toBeGreaterThanOrEqual(least.queries);
    expect(isLarge(), `${small.large} of ${small.queries} are too large`).toBe(false);
    expect(shareOfRows(counts)).toBeGreaterThan(least.rows);
  });
});
