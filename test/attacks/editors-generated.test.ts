/**
 * No script of an editor who may not make policies gives anyone access to more data. For random ontologies, policies, rights and scripts:
 *
 * A secret of a caller is a row, or a masked value, of the mapped tables that policies or grants hide from it: with and without it (or
 * with another value) the tables give the caller the same answers, but different answers to a caller who may query everything without policies. After an
 * accepted script it must still be a secret, unless the script's writer may query it and the caller's policies do not hide it. A writer who may
 * query the datasource may show tables that no policy covers, and new rows. For a caller who reads a logic concept without its source, only policies
 * count. generated/sight.ts computes the answers to callers.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { SvcError } from '../../src/errors.ts';
import type { SqlParser } from '../../src/language/parser.ts';
import type { Model } from '../../src/ontology/model.ts';
import { Joins } from '../../src/planner/enforcement/joined.ts';
import type { Rng } from '../integration/differential/rng.ts';
import { checkUntil } from '../support/checked.ts';
import { generated, patience, SEED } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';
import { type Case, genCase } from './generated/case.ts';
import { genScript } from './generated/gen.ts';
import { choices } from './generated/numbers.ts';
import { type Grant, ONTOLOGY, Ontology } from './generated/service.ts';
import { Sight, type Viewer } from './generated/sight.ts';
import { type Policy, policyText, type Spec, specText, type Table } from './generated/spec.ts';

const SIZES = sizesOf('attacks/editors-generated');

/** The check that a planted fault disables. */
const off = vi.hoisted(() => ({ enforced: false, usable: false }));
// the types of columns come from a datasource, which this test does not have
vi.mock(
  import('../../src/service/write/describe.ts'),
  () => ({ questionsAbout: () => [], described: async (_runtime: unknown, model: Model) => model, renewPlacements: () => undefined }) as never,
);
vi.mock(import('../../src/planner/enforcement/enforced.ts'), async (original) => {
  const actual = await original();
  return { ...actual, differences: (before, after) => (off.enforced ? [] : actual.differences(before, after)) };
});
vi.mock(import('../../src/service/write/writers.ts'), async (original) => {
  const actual = await original();
  return {
    ...actual,
    requireUsable: (...args) => (off.usable ? undefined : actual.requireUsable(...args)),
    requireUsableRows: (...args) => (off.usable ? undefined : actual.requireUsableRows(...args)),
  };
});
afterAll(() => {
  vi.doUnmock('../../src/service/write/describe.ts');
  vi.doUnmock('../../src/planner/enforcement/enforced.ts');
  vi.doUnmock('../../src/service/write/writers.ts');
});

let parser: SqlParser;
beforeAll(async () => {
  parser = await loadNodeParser();
});

/** The writer: the concepts that it may query (null: all), those that it may edit, and whether it may query the datasource. */
interface Writer {
  readonly viewer: Viewer;
  readonly grants: readonly Grant[];
  readonly readsTables: boolean;
}

/** `isPartly`: a writer who may not query all of the ontology. */
function genWriter(r: Rng, spec: Spec, isPartly: boolean): Writer {
  const ontology = ['ontology', ONTOLOGY];
  const readsTables = r.chance(40);
  const source: Grant[] = readsTables ? [{ privilege: 'query', on: ['datasource', 'main'], all: false }] : [];
  if (!isPartly && r.chance(60))
    return { viewer: { name: 'ed', reads: null }, grants: [...source, { privilege: 'edit', on: ontology, all: true }], readsTables };
  const names = spec.concepts.map((c) => c.name);
  const edits = r.some(names, r.int(1, 4));
  const queries = r.some(names, r.int(0, 3));
  const on = (privilege: 'edit' | 'query', list: readonly string[]): Grant[] => list.map((c) => ({ privilege, on: [...ontology, 'concept', c], all: false }));
  const grants: Grant[] = [...source, ...on('edit', edits), ...on('query', queries)];
  if (r.chance(70)) grants.push({ privilege: 'edit', on: ontology, all: false });
  if (r.chance(70)) grants.push({ privilege: 'access', on: ontology, all: true });
  return { viewer: { name: 'ed', reads: new Set([...edits, ...queries]) }, grants, readsTables };
}

/** Changed tables: without a row, or with another value in it. */
interface Secret {
  readonly table: string;
  readonly row: number;
  readonly column: string | null;
}

const without = (tables: readonly Table[], { table, row, column }: Secret): readonly Table[] =>
  tables.map((t) => {
    if (t.name !== table) return t;
    if (column === null) return { ...t, rows: t.rows.filter((_, i) => i !== row) };
    const at = t.columns.indexOf(column);
    return { ...t, rows: t.rows.map((cells, i) => (i === row ? cells.map((v, j) => (j === at ? (v + 1) % 4 : v)) : cells)) };
  });

function secretsOf({ spec, tables, policies }: Pick<Case, 'spec' | 'tables' | 'policies'>): readonly Secret[] {
  const masked = new Set(policies.flatMap((p) => (p.kind === 'mask' ? [p.prop] : [])));
  return tables.flatMap((t) => {
    const columns = new Set(spec.mappings.flatMap((m) => (m.table === t.name ? m.columns.flatMap((c) => (masked.has(c.as) ? [c.column] : [])) : [])));
    return t.rows.flatMap((_, row) => [{ table: t.name, row, column: null }, ...[...columns].map((column) => ({ table: t.name, row, column }))]);
  });
}

/** What some caller learns by a script; undefined: no caller learns anything. `others`: the tables that another user has mapped. */
function growth(
  c: Pick<Case, 'spec' | 'tables' | 'policies'>,
  after: Spec,
  writer: Writer,
  readers: readonly Viewer[],
  others: ReadonlySet<string>,
): string | undefined {
  const { spec, tables, policies } = c;
  const distinguishes = (of: Spec, by: readonly Policy[], who: Viewer, from = tables): ((s: Secret) => boolean) => {
    const as = (given: readonly Table[]): string => new Sight(of, given, by, who).all();
    const whole = as(from);
    return (s) => as(without(from, s)) !== whole;
  };
  const open = distinguishes(spec, [], { name: '', reads: null });
  const byWriter = distinguishes(spec, [], writer.viewer);
  // the rows that a policy shows depend on what its condition reads
  const byWriterUnderPolicies = distinguishes(spec, policies, writer.viewer);
  const bare = new Sight(spec, tables, policies, writer.viewer);
  for (const reader of readers) {
    const before = distinguishes(spec, policies, reader);
    const unbound = distinguishes(spec, policies, { name: reader.name, reads: null });
    const answered = distinguishes(spec, policies, { ...reader, isAnswered: true });
    // the rows of a new mapping are the responsibility of its writer, who may query the tables
    const now = distinguishes(
      after,
      policies,
      reader,
      tables.map((t) => (spec.mappings.some((m) => m.table === t.name) ? t : { ...t, rows: [] })),
    );
    // a reader of only a logic concept sees the result of its condition on the current model
    const isThroughOthers = spec.concepts.some((o) => o.logic !== null && reader.reads?.has(o.name) && !reader.reads.has(o.logic.source));
    for (const secret of secretsOf(c)) {
      if (!now(secret) || before(secret) || !open(secret)) continue;
      if (unbound(secret) && isThroughOthers) continue;
      // a row that is hidden only by a condition over masked values, which is refused
      if (secret.column === null && answered(secret)) continue;
      if (unbound(secret) && (byWriter(secret) || byWriterUnderPolicies(secret))) continue;
      // a user who may query a datasource may map its tables, also in two ways
      if (writer.readsTables && !others.has(secret.table)) continue;
      if (writer.readsTables && !bare.isCovered(secret.table)) continue;
      return `${reader.name}${reader.reads === null ? '' : ` (of ${[...reader.reads]})`} finds out about ${JSON.stringify(secret)}: ${JSON.stringify(tables.find((t) => t.name === secret.table))}`;
    }
  }
  return undefined;
}

const counts = new Map<string, number>();
const count = (what: string): void => {
  counts.set(what, (counts.get(what) ?? 0) + 1);
};

/** One run: an ontology, its policies, a writer, and up to three scripts in sequence. @throws Error if a caller learns more */
async function attempt(r: Rng, isPartly: boolean): Promise<void> {
  const made = genCase(r, parser);
  if (made === undefined) return count('no ontology');
  const { graph, tables, policies } = made;
  let { spec } = made;
  const writer = genWriter(r, spec, isPartly);
  const later = ['nf11', 'nf21', 'nf31'].filter(() => r.chance(50));
  const readers: Viewer[] = [
    { name: 'u1', reads: null },
    { name: 'u2', reads: new Set([...r.some(spec.concepts, r.int(1, 4)).map((c) => c.name), ...later]) },
    writer.viewer,
  ];
  const ontology = new Ontology(parser, graph, policies);
  const others = new Set(spec.mappings.map((m) => m.table));
  const versions = [{ version: ontology.version, spec }];
  const story = [specText(spec), ...policies.map(policyText), JSON.stringify(writer.grants)];
  for (let i = 1; i <= 3; i++) {
    const old = r.chance(15) ? r.pick(versions) : undefined;
    const script =
      old === undefined
        ? genScript(r, spec, `f${i}`, writer.readsTables)
        : { text: `ROLLBACK ONTOLOGY ${ONTOLOGY} TO VERSION '${old.version}'`, after: old.spec };
    if (script.text === '') continue;
    story.push(script.text);
    try {
      await ontology.apply(script.text, 'ed', writer.grants);
    } catch (e) {
      if (!(e instanceof SvcError) || e.status >= 500) throw e;
      count(e.status === 403 ? (/GRANT OPTION/.test(e.message) ? 'refused: policies' : /QUERY/.test(e.message) ? 'refused: QUERY' : 'refused: EDIT') : 'bad');
      story[story.length - 1] += ` -- ${e.status} ${e.message}`;
      continue;
    }
    count('accepted');
    const found = growth({ spec, tables, policies }, script.after, writer, readers, others);
    if (found !== undefined) throw new Error(`${found}\n${story.join('\n-- next\n')}`);
    ({ after: spec } = script);
    versions.push({ version: ontology.version, spec });
  }
}

const RUNS = SIZES.ontologies;
/** The number of runs in which a planted fault must be found. */
const FAULT_RUNS = 1500;
/** Runs with one seed each, so that a failed run can be repeated. */
const seeds = fc.noShrink(fc.integer({ min: 0, max: 2 ** 31 - 1 }));
const oneRun = (seed: number, isPartly = false): Promise<void> => attempt(choices(seed), isPartly);

describe('no script of an editor gives access to more data', () => {
  it(`in ${RUNS} ontologies`, { timeout: patience(120_000) }, async () => {
    const frequent = ['accepted', 'refused: policies', 'refused: QUERY'];
    const isEnough = (): boolean => frequent.every((what) => (counts.get(what) ?? 0) > RUNS / 10);
    const run = fc.asyncProperty(seeds, (seed) => oneRun(seed));
    const { failed, errorInstance, counterexample } = await checkUntil(run, RUNS, isEnough);
    if (failed) throw new Error(`SEED=${SEED} run ${counterexample}`, { cause: errorInstance });
    console.log(`editors: SEED=${SEED} ${[...counts].map(([what, n]) => `${what} ${n}`).join(', ')}`);
    // accepted and refused scripts must both be frequent
    for (const what of frequent) expect(counts.get(what) ?? 0, what).toBeGreaterThan(RUNS / 10);
  });

  const FAULTS: readonly (readonly [what: string, plant: () => unknown, isPartly?: boolean])[] = [
    ['what policies enforce', () => Object.assign(off, { enforced: true })],
    ['what joins show', () => vi.spyOn(Joins.prototype, 'reveals').mockReturnValue(undefined)],
    ['what writers may query', () => Object.assign(off, { usable: true }), true],
  ];
  it.for(FAULTS.slice(0, SIZES.faults))(
    'and a fault is found: without the check of %s',
    { timeout: patience(120_000) },
    async ([, plant, isPartly = false]) => {
      plant();
      try {
        const { errorInstance } = await fc.check(
          fc.asyncProperty(seeds, (seed) => oneRun(seed, isPartly)),
          generated(FAULT_RUNS, FAULT_RUNS),
        );
        expect(String(errorInstance)).toMatch(/finds out about/);
      } finally {
        Object.assign(off, { enforced: false, usable: false });
        vi.restoreAllMocks();
      }
    },
  );
});
