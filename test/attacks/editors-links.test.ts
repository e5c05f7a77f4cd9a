/**
 * Noninterference after scripts of editors over links, composite keys, relationships that include others and multi-valued properties: the answers to a caller do not depend on rows, links
 * and values that policies hide, before a script of an editor and after it. Like editors-interference.test.ts, it only compares answers. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkUntil } from '../support/checked.ts';
import { DEEP, patience, SEED } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';
import { PROBES, script } from './generated/link-scripts.ts';
import { APART, filled, type Hidden, MODEL, POLICIES, TABLES } from './generated/link-world.ts';
import { withPair } from './generated/pair.ts';

const SIZES = sizesOf('attacks/editors-links');

const pair = withPair(TABLES);

/** What a reader and an editor see, and what must not matter to their answers. */
interface World {
  readonly what: string;
  readonly model: string;
  readonly policies: readonly string[];
  readonly grants: (ontology: string) => readonly string[];
  readonly hidden: Hidden;
}

/** Grants of QUERY to the reader, and of EDIT to the editor, on some concepts. */
const on =
  (concepts: readonly string[], more: readonly string[]) =>
  (o: string): readonly string[] => [
    ...concepts.flatMap((c) => [`QUERY ON ontology.${o}.concept.${c} TO USER rob`, `EDIT ON ontology.${o}.concept.${c} TO USER ed`]),
    `EDIT ON ontology.${o} TO USER ed`,
    ...more.map((m) => `${m} ontology.${o} TO USER ed`),
  ];
const PEOPLE = ['being', 'person', 'senior', 'busy', 'shut', 'kin', 'own', 'new1', 'new2'];
const FIRMS = ['firm', 'closed', 'own'];

const WORLDS: readonly World[] = [
  ...POLICIES.map(([what, policies]): World => {
    const grants = (o: string): readonly string[] => [`QUERY ON ALL ontology.${o} TO USER rob`, `EDIT ON ALL ontology.${o} TO USER ed`];
    return { what: `under ${what}`, model: MODEL, policies, grants, hidden: 'some' };
  }),
  { what: 'without a right on firms', model: APART, policies: [], grants: on(PEOPLE, []), hidden: 'firms' },
  { what: 'without a right on people', model: APART, policies: [], grants: on(FIRMS, []), hidden: 'people' },
  { what: 'without QUERY on firms', model: APART, policies: [], grants: on(PEOPLE, ['ACCESS ON ALL']), hidden: 'firms' },
  { what: 'without QUERY on people', model: APART, policies: [], grants: on(FIRMS, ['ACCESS ON ALL']), hidden: 'people' },
];
const KINDS = WORLDS.map((world, at) => ({ ...world, at })).filter((_, i) => i % SIZES.everyKind === 0);

describe.each(KINDS)('$what', ({ what, model, policies, grants, hidden, at }) => {
  it('no script of an editor makes an answer depend on hidden rows, links and values', { timeout: patience(120_000) }, async () => {
    const ontology = `lk${at}`;
    await pair.s.rows([`CREATE ONTOLOGY ${ontology}`, model, ...grants(ontology).map((g) => `GRANT ${g}`)].join('; '));
    for (const p of policies) await pair.s.rows(p, ontology);
    const base = (await pair.s.rows('SHOW VERSION', ontology))[0].id;
    const counts = new Map<string, number>();
    const count = (what: string): void => {
      counts.set(what, (counts.get(what) ?? 0) + 1);
    };
    const check = async (one: number, other: number): Promise<void> => {
      const before: string[][] = [];
      let probes = PROBES;
      for (const seed of [one, other]) {
        for (const statement of filled(seed, hidden)) await pair.s.database.exec(statement);
        const answers = await pair.seen(ontology, probes);
        // what has no answer now has none with other values
        if (before.length === 0) probes = probes.filter((_q, i) => !/^40[03] .*"(unknown_|bad_|no_|ambiguous)/.test(answers[i] as string));
        before.push(before.length === 0 ? answers.filter((a) => !/^40[03] .*"(unknown_|bad_|no_|ambiguous)/.test(a)) : answers);
      }
      for (const [i, a] of (before[0] as string[]).entries()) {
        if (a.startsWith('200')) count('probes with rows');
        // a busy machine
        if ([a, before[1]?.[i]].some((answer) => /^50[34] /.test(answer ?? ''))) continue;
        if (a !== before[1]?.[i]) throw new Error(`${probes[i]}\n${a}\n${before[1]?.[i]}`);
      }
    };
    await check(1, 2);
    const property = fc.asyncProperty(script, fc.nat(), fc.nat(), async (text, one, other) => {
      const { status, json } = await pair.s.query(text, ontology, pair.editor);
      count(status === 403 ? '403' : `${status} ${json.code ?? ''}`);
      if (status >= 500) throw new Error(`${status} ${json.data}`);
      if (status !== 200) return;
      try {
        await check(one, other);
      } finally {
        await pair.s.rows(`ROLLBACK ONTOLOGY ${ontology} TO VERSION '${base}'`, ontology);
      }
    });
    // a reader who sees only firms has few probes, and most scripts of their editor need a concept that it does not see
    const least = hidden === 'people' ? 5 : 50;
    const { failed, errorInstance, counterexample } = await checkUntil(property, SIZES.scripts, () => (counts.get('probes with rows') ?? 0) > least);
    if (DEEP) process.stderr.write(`${what}: ${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
    if (failed)
      throw new Error(
        `SEED=${SEED} values ${counterexample?.slice(1).join(', ')}\n${counterexample?.[0]}\n${(errorInstance as Error | undefined)?.message ?? ''}`,
      );
    expect(counts.get('probes with rows') ?? 0).toBeGreaterThan(least);
  });
});
