/**
 * Noninterference after scripts of editors: the answers to a caller with policies do not depend on what the policies hide, before a script of an editor and
 * after it. Random scripts change concepts, properties, measures, views and cubes. After each accepted script, all relations are read twice;
 * in between, every hidden row and every masked value changes. The test does not use the rules for editors: it only compares answers.
 * SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkUntil } from '../support/checked.ts';
import { DEEP, patience, SEED } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';
import { PROBES, script } from './generated/editing-scripts.ts';
import { filled, MODEL, POLICIES, TABLES } from './generated/hidden-values.ts';
import { withPair } from './generated/pair.ts';

const SIZES = sizesOf('attacks/editors-interference');

const pair = withPair(TABLES);

/** The answers to both. No query has a result that differs between runs. */
const seen = async (ontology: string): Promise<string[]> =>
  (await Promise.all([pair.reader, pair.editor].map((token) => pair.seen(ontology, PROBES, token)))).flat();

/** One in four kinds: three different ones, because an accepted script takes 400 queries. */
const KINDS = POLICIES.map(([what, policies], i) => [what, policies, i] as const).filter((_, i) => i % SIZES.everyKind === 1 % SIZES.everyKind);

describe.each(KINDS)('under %s', (_, policies, at) => {
  it('no script of an editor makes an answer depend on hidden data', { timeout: patience(120_000) }, async () => {
    const ontology = `ed${at}`;
    await pair.s.rows(
      `CREATE ONTOLOGY ${ontology}; ${MODEL}; CREATE CONCEPT own (own_p bigint, PRIMARY KEY (own_p)); GRANT QUERY ON ALL ontology.${ontology} TO USER rob; GRANT EDIT ON ALL ontology.${ontology} TO USER ed`,
    );
    for (const p of policies) await pair.s.rows(p, ontology);
    const base = (await pair.s.rows('SHOW VERSION', ontology))[0].id;
    const counts = new Map<string, number>();
    const count = (what: string): void => {
      counts.set(what, (counts.get(what) ?? 0) + 1);
    };
    const property = fc.asyncProperty(script, fc.nat(), fc.nat(), async (text, one, other) => {
      const { status, json } = await pair.s.query(text, ontology, pair.editor);
      count(status === 403 ? '403' : `${status} ${json.code ?? ''}`);
      if (status >= 500) throw new Error(`${status} ${json.data}`);
      if (status !== 200) return;
      try {
        const answers: string[][] = [];
        for (const seed of [one, other]) {
          for (const statement of filled(seed)) await pair.s.database.exec(statement);
          answers.push(await seen(ontology));
        }
        for (const a of answers[0] ?? []) if (a.startsWith('200')) count('probes with rows');
        for (const [i, a] of (answers[0] as string[]).entries())
          if (a !== answers[1]?.[i]) throw new Error(`${i < PROBES.length ? 'reader' : 'editor'}: ${PROBES[i % PROBES.length]}\n${a}\n${answers[1]?.[i]}`);
      } finally {
        await pair.s.rows(`ROLLBACK ONTOLOGY ${ontology} TO VERSION '${base}'`, ontology);
      }
    });
    const { failed, errorInstance, counterexample } = await checkUntil(property, SIZES.scripts, () => (counts.get('probes with rows') ?? 0) > 50);
    if (DEEP) process.stderr.write(`${POLICIES[at]?.[0]}: ${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
    if (failed)
      throw new Error(
        `SEED=${SEED} values ${counterexample?.slice(1).join(', ')}\n${counterexample?.[0]}\n${(errorInstance as Error | undefined)?.message ?? ''}`,
      );
    expect(counts.get('probes with rows') ?? 0).toBeGreaterThan(50);
  });
});
