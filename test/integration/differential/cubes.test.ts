/**
 * Cached cubes against the second opinion: generated queries on cubes over one concept and its to-one paths, a quarter of them as a caller under policies. CUBE_CASES=n, SEED=n as in
 * differential.test.ts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Partials } from '../../../src/planner/cached/partials.ts';
import { call, lastName, type Node, rewrite } from '../../../src/planner/plan/tree.ts';
import { SEED } from '../../support/generated.ts';
import { sizesOf } from '../../support/sizes.ts';
import { refusalsOf } from './block.ts';
import { asCaller, checkCases, type Guarded, shown } from './check.ts';
import { Evaluator } from './evaluate.ts';
import type { Col, FromItem, Hop, Query, Schema, Select } from './expr.ts';
import { ALL_FEATURES } from './gen-base.ts';
import type { Rel } from './gen-from.ts';
import { genPolicies, smaller } from './gen-policies.ts';
import { QueryGen } from './gen-query.ts';
import { genWorld } from './gen-world.ts';
import { Harness } from './harness.ts';
import { Rng } from './rng.ts';
import { shrinkCase } from './shrink.ts';
import type { World } from './world.ts';

const SIZES = sizesOf('integration/differential/cubes');

const PER_WORLD = 20;
const MOST_SHRINKS = 400;
/** In so many worlds a query shows each of the faults that the test makes. */
const FAULT_WORLDS = 2000;
const cases = Number(process.env.CUBE_CASES ?? SIZES.queries);

/** Cubes without paths or with to-one paths, and queries on them. */
class CubesToCache extends QueryGen {
  #spare: string[] = [];

  override make(): Query {
    return { ctes: [], body: this.onCube(true) };
  }

  /** Some aliases are names of columns of the cube. A name without the alias of the cube would then mean the alias. */
  override onCube(top: boolean): Select {
    const columns = this.cubes.flatMap((v) => v.kinds.map(([name]) => name));
    this.#spare = this.r.chance(35) ? this.r.some(columns, 2) : [];
    const names = new Set(this.#spare);
    const body = super.onCube(top);
    this.#spare = [];
    const shown = body.items.map((i) =>
      i.k !== 'expr' ? '*' : (i.as ?? (i.e.k === 'cm' ? i.e.name : i.e.k === 'col' && i.e.leaf.k === 'out' ? i.e.leaf.name : '')),
    );
    if (new Set(shown).size < shown.length) return this.onCube(top);
    const isAlias = body.items.some((i) => i.k === 'expr' && i.as !== null && names.has(i.as));
    return isAlias ? { ...body, qualify: true } : body;
  }

  protected override name(prefix: string): string {
    return (prefix === 'k' && this.#spare.pop()) || super.name(prefix);
  }

  protected override conceptRel(alias: string, schema: Schema, concept: string, count: number): Rel {
    const toOne = (path: readonly Hop[]): boolean => path.every((hop) => this.onto.isToOne(hop));
    let rel = super.conceptRel(alias, schema, concept, count);
    for (let n = this.r.chance(70) ? 6 : 0; n > 0 && !rel.paths.some(toOne); n--) rel = super.conceptRel(alias, schema, concept, count);
    const isKept = ({ path, leaf }: Col): boolean => toOne(path) && leaf.k !== 'multi';
    return {
      ...rel,
      paths: rel.paths.filter(toOne),
      places: rel.places.map((place) => place.filter(isKept)).filter((place) => place.length > 0),
      measures: rel.measures.filter((m) => m.path.length === 0),
    };
  }

  /** A cube that is joined is read live; differential.test.ts has such queries. */
  protected override joined(cube: FromItem): { from: FromItem[]; other: null } {
    return { from: [cube], other: null };
  }
}

/** True if a table can give a measure of a cube, as far as its aggregate decides it. */
const hasKeptMeasure = ({ body }: Query): boolean =>
  body.k === 'select' && body.items.some((i) => i.k === 'expr' && i.e.k === 'agg' && /^(sum|avg|min|max|count)$/.test(i.e.fn) && !i.e.distinct);

/** The world with two cubes, if they can be asked for. */
function withCubes(r: Rng, world: World): World {
  let out: World = { ...world, views: [] };
  for (let n = 0; n < 40 && (out.views ?? []).length < 2; n++) {
    const { onto } = new Evaluator(out);
    const cube = new CubesToCache(r, out, onto).cube();
    if (cube && hasKeptMeasure(cube.q) && refusalsOf(cube.q, onto).size === 0)
      out = { ...out, views: [...(out.views ?? []), { name: `cube${n}`, cube: true, ...cube }] };
  }
  return out;
}

/** The world, in which a concept at the end of relationships has the rows of a mapping twice: a path that is to-one by the model may lead to two rows. */
function withTwins(r: Rng, world: World): World {
  const ends = new Set(world.concepts.flatMap((c) => c.rels.map((d) => d.target)));
  const found = world.mappings.filter((m) => m.kind === 'concept' && ends.has(m.concept ?? ''));
  if (found.length === 0) return world;
  const twin = r.pick(found);
  return { ...world, mappings: [...world.mappings, { ...twin, name: `${twin.name}_twin` }] };
}

/** In so many worlds at most a case looks for a measure. */
const MOST_WORLDS = 30;

class CubeCases extends fc.Arbitrary<Guarded> {
  readonly #hasTwins: boolean;
  readonly #measure: string | null;

  /** `measure`: the aggregate of a measure that the cubes have. */
  constructor(hasTwins = false, measure: string | null = null) {
    super();
    this.#hasTwins = hasTwins;
    this.#measure = measure;
  }

  #world(r: Rng): World {
    const made = genWorld(r, ALL_FEATURES);
    return withCubes(r, this.#hasTwins ? withTwins(r, made) : made);
  }

  #hasMeasure({ views }: World): boolean {
    const has = ({ body }: Query): boolean => body.k === 'select' && body.items.some((i) => i.k === 'expr' && i.e.k === 'agg' && i.e.fn === this.#measure);
    return this.#measure === null || (views ?? []).some(({ q }) => has(q));
  }

  generate(random: fc.Random): fc.Value<Guarded> {
    const r = new Rng(random);
    let world = this.#world(r);
    for (let n = 1; n < MOST_WORLDS && !this.#hasMeasure(world); n++) world = this.#world(r);
    const { onto } = new Evaluator(world);
    const queries = (world.views ?? []).length === 0 ? [] : Array.from({ length: PER_WORLD }, () => new CubesToCache(r, world, onto).make());
    const policies = r.chance(25) ? genPolicies(r, world) : null;
    return new fc.Value({ world, queries, backQuotes: r.chance(30), policies }, undefined);
  }

  canShrinkWithoutContext(_value: unknown): _value is Guarded {
    return true;
  }

  shrink(value: Guarded): fc.Stream<fc.Value<Guarded>> {
    const { policies } = value;
    const fewer = policies === null ? [] : [...smaller(policies)].map((p) => new fc.Value<Guarded>({ ...value, policies: p }, undefined));
    return fc.stream(fewer.values()).join(fc.stream(shrinkCase(value)).map((c) => new fc.Value<Guarded>({ ...c, policies }, undefined)));
  }
}

describe('queries on cached cubes get what the rows give', () => {
  let harness: Harness;
  beforeAll(async () => {
    console.log(`cubes: SEED=${SEED} CUBE_CASES=${cases}`);
    harness = await Harness.open();
  });
  afterAll(() => harness.close());

  it(`on ${cases} queries over generated cubes, rows and policies`, { timeout: 3_600_000 }, async () => {
    const worlds = Math.ceil(cases / PER_WORLD);
    const look = (c: Guarded) => asCaller(harness, c);
    const counts = await checkCases({
      cases: new CubeCases(),
      worlds,
      mostShrinks: MOST_SHRINKS,
      given: `CUBE_CASES=${cases}`,
      look,
      isEnough: () => harness.readCubes > cases / 20,
    });
    console.log(`cubes: ${shown(counts)}, cached ${harness.readCubes}, over paths ${harness.readPaths}`);
    if (process.env.CACHES === 'none') return;
    expect(harness.readCubes).toBeGreaterThan(cases / 20);
    if (cases >= 600) expect(harness.readPaths).toBeGreaterThan(cases / 50);
  });

  it.skipIf(process.env.CACHES === 'none')('and what is live, where a to-one path leads to several rows', { timeout: 3_600_000 }, async () => {
    const worlds = Math.ceil(cases / PER_WORLD);
    const look = async (c: Guarded) => harness.alike(c);
    const counts = await checkCases({ cases: new CubeCases(true), worlds, mostShrinks: MOST_SHRINKS, given: `CUBE_CASES=${cases}`, look });
    console.log(`cubes over twins: ${shown(counts)}, several rows ${harness.multiplied}`);
    if (cases >= 600) expect(harness.multiplied).toBeGreaterThan(0);
  });

  it.skipIf(process.env.CACHES === 'none')('and the fault is found that such a cube is cached', { timeout: 3_600_000 }, async () => {
    vi.spyOn(Harness.prototype, 'isCountedOnce').mockResolvedValue(true);
    try {
      const look = (c: Guarded) => harness.alike(c);
      const run = { cases: new CubeCases(true), worlds: FAULT_WORLDS, mostShrinks: 0, given: 'a fault', look, skipped: 32 };
      await expect(checkCases(run)).rejects.toThrow(/^live:/);
    } finally {
      vi.restoreAllMocks();
    }
  });

  const FAULTS = [
    ['sum', 'max'],
    ['min', 'max'],
    ['max', 'min'],
  ] as const;
  it.skipIf(process.env.CACHES === 'none').each(FAULTS)(
    'and a fault is found: %s of the rows of the table is their %s',
    { timeout: 3_600_000 },
    async (right, wrong) => {
      const real = Partials.prototype.template;
      vi.spyOn(Partials.prototype, 'template').mockImplementation(function (this: Partials, expression) {
        const made = real.call(this, expression);
        return (
          made && (rewrite(made, (n) => ('FuncCall' in n && lastName(n.FuncCall.funcname) === right ? call(wrong, n.FuncCall.args ?? []) : undefined)) as Node)
        );
      });
      try {
        const run = { cases: new CubeCases(false, right), worlds: FAULT_WORLDS, mostShrinks: 0, given: 'a fault', look: (c: Guarded) => asCaller(harness, c) };
        await expect(checkCases(run)).rejects.toThrow(/^mismatch: values/);
      } finally {
        vi.restoreAllMocks();
      }
    },
  );
});
