/**
 * Row policies and masks against the same second opinion: what a caller under random policies gets from the planner must be what evaluate.ts makes of
 * the query where the hidden rows are gone and the masked values are replaced. POLICY_CASES=n, SEED=n as in differential.test.ts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generated, SEED } from '../../support/generated.ts';
import { sizesOf } from '../../support/sizes.ts';
import { Cases } from './cases.ts';
import { accessOf, changeOf, genPolicies, type PolicySet, smaller } from './gen-policies.ts';
import { Harness, type Outcome } from './harness.ts';
import { Rng } from './rng.ts';
import type { Case } from './shrink.ts';

const SIZES = sizesOf('integration/differential/policies');

const PER_WORLD = 20;
const MOST_SHRINKS = 400;
const cases = Number(process.env.POLICY_CASES ?? SIZES.queries);

type Guarded = Case & { readonly policies: PolicySet };

/** A case with policies. Shrinking keeps the policies that are still valid. */
class GuardedCases extends fc.Arbitrary<Guarded> {
  private readonly plain = new Cases(PER_WORLD);

  generate(random: fc.Random): fc.Value<Guarded> {
    const { value } = this.plain.generate(random);
    return new fc.Value({ ...value, policies: genPolicies(new Rng(random), value.world) }, undefined);
  }

  canShrinkWithoutContext(_value: unknown): _value is Guarded {
    return true;
  }

  shrink(value: Guarded): fc.Stream<fc.Value<Guarded>> {
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
    const counts = new Map<string, number>();
    let cause = '';
    let last = '';
    let shrinks = 0;
    const property = fc.asyncProperty(new GuardedCases(), async (c) => {
      if (cause && ++shrinks > MOST_SHRINKS) return;
      const outcomes = await harness
        .outcomes(c, (printer) => ({ access: accessOf(c.policies, c.world, printer), change: changeOf(c.policies, c.world) }))
        .catch((e: unknown): Outcome[] => [{ kind: 'fail', cause: `world: ${(e as Error).message}`, rows: 0, text: String((e as Error).stack) }]);
      if (!cause) for (const o of outcomes) counts.set(o.kind, (counts.get(o.kind) ?? 0) + 1);
      if (!cause) counts.set('rows', (counts.get('rows') ?? 0) + outcomes.filter((o) => o.rows > 0).length);
      const failed = outcomes.find((o) => o.kind === 'fail' && (!cause || o.cause === cause));
      if (!failed) return;
      cause = failed.cause;
      last = failed.text;
      throw new Error(cause);
    });
    const { failed } = await fc.check(property, generated(worlds, worlds));
    if (failed) throw new Error(`${cause}\nSEED=${SEED} POLICY_CASES=${cases}\n\n${last}`);
    console.log(`policies: ${[...counts].map(([k, n]) => `${k} ${n}`).join(', ')}, cached ${harness.readCaches}, cubes ${harness.readCubes}`);
    const share = (kind: string): number => (counts.get(kind) ?? 0) / (worlds * PER_WORLD);
    // queries that are too large, or too slow for the datasource, may only be exceptions
    expect(share('large')).toBeLessThanOrEqual(0.02);
    expect(share('rows')).toBeGreaterThan(0.4);
  });
});
