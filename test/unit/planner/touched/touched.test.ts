/**
 * A change of a model skips the policies that it does not affect. For random models, policies and scripts: a skipped policy means the same in both versions, so the check
 * of all policies would have the same result.
 */
import { expect, it } from 'vitest';
import type { PolicyRow } from '../../../../src/catalog/policies.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { SvcError } from '../../../../src/errors.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import type { Graph } from '../../../../src/ontology/graph.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import { Touched } from '../../../../src/planner/touched/index.ts';
import { checkPolicies, checkPolicy } from '../../../../src/service/write/policy-check.ts';
import { Rng } from '../../../integration/differential/rng.ts';
import { SEED } from '../../../support/generated.ts';
import { sizesOf } from '../../../support/sizes.ts';
import { Maker } from './worlds.ts';

const SIZES = sizesOf('unit/planner/touched/touched');
const parser = await loadNodeParser();
const context = { parser, product: 'svc', activeDatasource: 'main', allowedFunctions: new Set<string>() };

const valid = <T>(make: () => T): T | undefined => {
  try {
    return make();
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
};

const row = (concept: string, condition: string): PolicyRow =>
  ({ kind: 'row', name: `p ${concept} ${condition}`, key: 'p', concept, condition, grantees: [], isPublic: true }) as PolicyRow;

/** What a condition means, as SQL. */
const meaning = (graph: Graph, { concept, condition }: { concept: string; condition: string }): string => {
  const { sql, params } = planSelect(
    { ...context, graph },
    { text: `SELECT 1 AS one FROM dsvc."${concept.replaceAll(`"`, `""`)}" WHERE (${condition}\n)`, offset: 0 },
  );
  return JSON.stringify([sql, params]);
};

const fault = (make: () => void): string => {
  try {
    make();
    return 'valid';
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return JSON.stringify([error.status, error.code, error.message, error.hint, error.offset]);
  }
};

interface Counts {
  changes: number;
  policies: number;
  skipped: number;
  invalid: number;
  changed: number;
}

function round(seed: number, counts: Counts): void {
  const r = Rng.from(seed);
  const maker = new Maker(r);
  maker.create();
  const { world, model } = maker;
  const before = compile(model, 'zoo');
  const policies: PolicyRow[] = [];
  for (let i = 0; i < 25; i++) {
    const concept = r.pick(maker.world.concepts).name;
    const policy = r.chance(80)
      ? row(concept, maker.condition(concept))
      : ({
          kind: 'mask',
          name: `mask ${i}`,
          key: 'm',
          grantees: [],
          concept: r.chance(50) ? null : concept,
          property: r.pick(['id', 'a', 'b', 'calc0', 'x y']),
          mask: r.pick([{ kind: 'null' }, { kind: 'hash' }, { kind: 'with', expression: r.pick(['a + 1', 'calc1', '"aa"']) }]),
        } as PolicyRow);
    if (valid(() => checkPolicy(context, before, policy) ?? true)) policies.push(policy);
  }
  for (let i = 0; i < 6; i++) {
    maker.world = world;
    maker.model = model;
    const statements = Array.from({ length: r.pick([1, 1, 1, 2, 3]) }, () => maker.attempt(() => maker.change()));
    const script = statements.filter((s) => s !== undefined).join(';\n');
    if (script === '') continue;
    counts.changes++;
    const after = compile(maker.model, 'zoo');
    const touched = new Touched(before, after);
    const all = fault(() => checkPolicies(context, { before: undefined, after }, policies, 7));
    expect(
      fault(() => checkPolicies(context, { before, after }, policies, 7)),
      `${seed}: ${script}`,
    ).toBe(all);
    for (const policy of policies) {
      counts.policies++;
      const isSkipped = !(policy.kind === 'row'
        ? touched.hasRule({ concept: policy.concept, conditions: [{ policy: '', condition: policy.condition }] })
        : touched.hasMask(policy));
      if (isSkipped) counts.skipped++;
      const what = `${seed}\n${JSON.stringify(model, null, 1)}\n---\n${script}\n---\n${JSON.stringify(policy)}`;
      if (isSkipped)
        expect(
          fault(() => checkPolicy(context, after, policy)),
          what,
        ).toBe('valid');
      else if (fault(() => checkPolicy(context, after, policy)) !== 'valid') counts.invalid++;
      if (policy.kind !== 'row') continue;
      const now = valid(() => meaning(after, policy));
      const isSame = now === meaning(before, policy);
      if (!isSame) counts.changed++;
      if (isSkipped) expect(isSame, what).toBe(true);
    }
  }
}

it('a policy that a change does not affect means the same after it', () => {
  const counts: Counts = { changes: 0, policies: 0, skipped: 0, invalid: 0, changed: 0 };
  for (let i = 0; i < SIZES.worlds; i++) round(SEED + i, counts);
  const { changes, policies, skipped, invalid, changed } = counts;
  expect(changes).toBeGreaterThan(SIZES.worlds / 2);
  expect(skipped).toBeGreaterThan(policies / 10);
  expect([invalid > 0, changed > 0]).toEqual([true, true]);
}, 600_000);
