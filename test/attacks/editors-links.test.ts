/**
 * Noninterference after scripts of editors over links, composite keys, relationships that include others and multi-valued properties: the answers to a caller do not depend on rows, links
 * and values that policies hide, before a script of an editor and after it. Like editors-interference.test.ts, it only compares answers. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEEP, generated, patience, SEED } from '../support/generated.ts';
import { reached, startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { PROBES, script } from './generated/link-scripts.ts';
import { filled, MODEL, POLICIES, TABLES } from './generated/link-world.ts';

const SIZES = sizesOf('attacks/editors-links');

let s: TestService;
/** A reader, and an editor who may not make policies. */
const tokens: string[] = [];
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.user('nobody');
  tokens.push(await s.user('rob'), await s.user('ed'));
});
afterAll(() => s?.close());

/** The answers to the reader, as texts. */
async function seen(ontology: string, probes: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(probes.map((q) => reached(() => s.query(q, ontology, tokens[0]))));
  return answers.map(({ status, json }) => `${status} ${JSON.stringify({ ...json, request_id: '' })}`);
}

const KINDS = POLICIES.map(([what, policies], i) => [what, policies, i] as const).filter((_, i) => i % SIZES.everyKind === 0);

describe.each(KINDS)('under %s', (_, policies, at) => {
  it('no script of an editor makes an answer depend on hidden rows, links and values', { timeout: patience(120_000) }, async () => {
    const ontology = `lk${at}`;
    await s.rows(
      `CREATE ONTOLOGY ${ontology}; ${MODEL}; GRANT QUERY ON ALL ontology.${ontology} TO USER rob; GRANT EDIT ON ALL ontology.${ontology} TO USER ed`,
    );
    for (const p of policies) await s.rows(p, ontology);
    const base = (await s.rows('SHOW VERSION', ontology))[0].id;
    const counts = new Map<string, number>();
    const count = (what: string): void => {
      counts.set(what, (counts.get(what) ?? 0) + 1);
    };
    const check = async (one: number, other: number): Promise<void> => {
      const before: string[][] = [];
      let probes = PROBES;
      for (const seed of [one, other]) {
        for (const statement of filled(seed)) await s.database.exec(statement);
        const answers = await seen(ontology, probes);
        // what has no answer now has none with other values
        if (before.length === 0) probes = probes.filter((_q, i) => !/^40[03] .*"(unknown_|bad_|no_|ambiguous)/.test(answers[i] as string));
        before.push(before.length === 0 ? answers.filter((a) => !/^40[03] .*"(unknown_|bad_|no_|ambiguous)/.test(a)) : answers);
      }
      for (const [i, a] of (before[0] as string[]).entries()) {
        if (a.startsWith('200')) count('probes with rows');
        if (a !== before[1]?.[i]) throw new Error(`${probes[i]}\n${a}\n${before[1]?.[i]}`);
      }
    };
    await check(1, 2);
    const property = fc.asyncProperty(script, fc.nat(), fc.nat(), async (text, one, other) => {
      const { status, json } = await s.query(text, ontology, tokens[1]);
      count(status === 403 ? '403' : `${status} ${json.code ?? ''}`);
      if (status >= 500) throw new Error(`${status} ${json.data}`);
      if (status !== 200) return;
      try {
        await check(one, other);
      } finally {
        await s.rows(`ROLLBACK ONTOLOGY ${ontology} TO VERSION '${base}'`, ontology);
      }
    });
    const { failed, errorInstance, counterexample } = await fc.check(property, { ...generated(SIZES.scripts, SIZES.scripts), endOnFailure: true });
    if (DEEP) process.stderr.write(`${POLICIES[at]?.[0]}: ${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
    if (failed)
      throw new Error(
        `SEED=${SEED} values ${counterexample?.slice(1).join(', ')}\n${counterexample?.[0]}\n${(errorInstance as Error | undefined)?.message ?? ''}`,
      );
    expect(counts.get('probes with rows') ?? 0).toBeGreaterThan(50);
  });
});
