/**
 * A comparison of what policies enforce in two versions of a model does not plan what the change cannot affect. For random models, policies and scripts, its result is that
 * of a comparison that plans everything.
 */
import { expect, it, vi } from 'vitest';
import type { PolicyRow } from '../../../../src/catalog/policies.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { SvcError } from '../../../../src/errors.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import type { Graph } from '../../../../src/ontology/graph.ts';
import { concerned, joinedOtherwise, type PolicyRules, weakened } from '../../../../src/planner/enforcement/index.ts';
import { Affected } from '../../../../src/planner/touched/affected.ts';
import { rulesOf } from '../../../../src/service/write/kept-policies.ts';
import { checkPolicy } from '../../../../src/service/write/policy-check.ts';
import { Rng } from '../../../integration/differential/rng.ts';
import { goesOn } from '../../../support/checked.ts';
import { SEED } from '../../../support/generated.ts';
import { sizesOf } from '../../../support/sizes.ts';
import { Maker } from './worlds.ts';

const SIZES = sizesOf('unit/planner/touched/unaffected');
const parser = await loadNodeParser();
const context = { parser, product: 'svc', activeDatasource: 'main', allowedFunctions: new Set<string>() };

type Part = 'rule' | 'mask' | 'mapping' | 'name';
const PARTS: readonly Part[] = ['rule', 'mask', 'mapping', 'name'];
/** A changed mapping seldom matters without its concept. */
const NEEDED: readonly Part[] = ['mask', 'name', 'rule'];

/** Runs a comparison in which these parts are affected, or not. */
function having<T>(isAffected: boolean, parts: readonly Part[], make: () => T): T {
  const spies = parts.map((part) =>
    part === 'rule'
      ? vi.spyOn(Affected.prototype, part).mockImplementation((rule) => (isAffected ? rule : undefined))
      : vi.spyOn(Affected.prototype, part).mockReturnValue(isAffected),
  );
  try {
    return make();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const isValid = (graph: Graph, policy: PolicyRow): boolean => {
  try {
    checkPolicy(context, graph, policy);
    return true;
  } catch (error) {
    if (error instanceof SvcError) return false;
    throw error;
  }
};

function policiesOf(r: Rng, maker: Maker, graph: Graph): readonly PolicyRow[] {
  const made = Array.from({ length: 12 }, (_, i): PolicyRow => {
    const concept = r.pick(maker.world.concepts).name;
    const names = { name: `p${i}`, key: `p${i}`, grantees: [], isPublic: true };
    if (r.chance(60)) return { ...names, kind: 'row', concept, condition: maker.condition(concept) } as PolicyRow;
    const mask = r.pick([{ kind: 'null' }, { kind: 'hash' }, { kind: 'with', expression: r.pick(['a + 1', 'calc1', '"aa"', 'w', 'many']) }]);
    return {
      ...names,
      kind: 'mask',
      concept: r.chance(50) ? null : concept,
      property: r.pick(['id', 'a', 'b', 'calc0', 'x y', 'many', 'w']),
      mask,
    } as PolicyRow;
  });
  return made.filter((policy) => isValid(graph, policy));
}

const outcome = (make: () => unknown): string => {
  try {
    return JSON.stringify(make(), (_, value) => (value instanceof Set ? [...value].sort() : value)) ?? 'nothing';
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return error.code;
  }
};

/** What the comparisons of two versions find. */
const COMPARISONS = {
  weakened: (before: Graph, after: Graph, rules: PolicyRules) => weakened(context, before, after, rules),
  concerned: (before: Graph, after: Graph, rules: PolicyRules) => concerned(context, before, after, rules),
  joined: (before: Graph, after: Graph) => joinedOtherwise(context, before, after, { tables: () => false, concept: (name) => name.length > 1 })?.name,
} as const;

/** How many changes were compared, and which parts were needed for one of the results. */
interface Counts {
  changes: number;
  readonly needed: Set<Part>;
}

function round(seed: number, counts: Counts): void {
  const r = Rng.from(seed);
  const maker = new Maker(r);
  maker.create();
  const { world, model } = maker;
  const before = compile(model, 'zoo');
  const rules = rulesOf(policiesOf(r, maker, before));
  // a join over a condition that cannot be planned counts as new even if nothing changes
  const again = compile({ ...model, concepts: [...model.concepts] }, 'zoo');
  const comparisons = Object.entries(COMPARISONS).filter(([, compare]) => {
    const found = (after: Graph): string => having(true, PARTS, () => outcome(() => compare(before, after, rules)));
    return found(again) === found(before);
  });
  for (let i = 0; i < 6; i++) {
    maker.world = world;
    maker.model = model;
    const script = Array.from({ length: r.pick([1, 1, 2]) }, () => maker.attempt(() => maker.change())).filter((s) => s !== undefined);
    if (script.length === 0) continue;
    counts.changes++;
    const after = compile(maker.model, 'zoo');
    for (const [name, compare] of comparisons) {
      const found = (): string => outcome(() => compare(before, after, rules));
      const all = having(true, PARTS, found);
      expect(found(), `${seed} ${name}\n${JSON.stringify(model)}\n---\n${JSON.stringify(rules)}\n---\n${script.join(';\n')}`).toBe(all);
      for (const part of NEEDED) if (!counts.needed.has(part) && having(false, [part], found) !== all) counts.needed.add(part);
    }
  }
}

it('a comparison of two versions finds the same as one that plans everything', () => {
  const counts: Counts = { changes: 0, needed: new Set() };
  for (let i = 0; goesOn(i, SIZES.worlds, () => counts.needed.size === NEEDED.length); i++) round(SEED + i, counts);
  expect(counts.changes).toBeGreaterThan(SIZES.worlds / 2);
  // without one of them, the result is wrong
  expect([...counts.needed].sort()).toEqual(NEEDED);
}, 600_000);
