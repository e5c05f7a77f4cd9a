/**
 * Noninterference: the answers to a caller with policies do not depend on hidden rows and values. Random queries with
 * expressions that may raise an error are run twice; in between, every hidden row and every masked value changes. The two answers, rows or
 * errors, must be equal. The test does not know barriers: it only compares. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generated, patience, SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { query } from './generated/failing-queries.ts';
import { filled, MODEL, POLICIES, TABLES } from './generated/hidden-values.ts';

const SIZES = sizesOf('attacks/leaks-generated');

let s: TestService;
let rob: string;
const ontologies: string[] = [];
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.user('nobody');
  rob = await s.user('rob');
  for (const [i, [, policies]] of POLICIES.entries()) {
    const name = `gen${i}`;
    ontologies.push(name);
    await s.rows(`CREATE ONTOLOGY ${name}; ${MODEL}; GRANT QUERY ON ALL ontology.${name} TO USER rob`);
    if (policies.length > 0) await s.rows(policies.join('; '), name);
  }
});
afterAll(() => s?.close());

describe.each(POLICIES.map(([what], i) => [what, i] as const))('under %s', (_, at) => {
  it('no answer depends on hidden data', { timeout: patience(120_000) }, async () => {
    const counts = new Map<string, number>();
    const property = fc.asyncProperty(
      fc.array(query, { minLength: SIZES.queries, maxLength: SIZES.queries }),
      fc.nat(),
      fc.nat(),
      async (queries, one, other) => {
        const answers: string[][] = [];
        for (const seed of [one, other]) {
          for (const statement of filled(seed)) await s.database.exec(statement);
          const all = await Promise.all(queries.map((q) => s.query(q, ontologies[at], rob)));
          answers.push(all.map(({ status, json }) => `${status} ${JSON.stringify({ ...json, request_id: '' })}`));
          for (const { status, json } of all) counts.set(`${status} ${json.code ?? ''}`, (counts.get(`${status} ${json.code ?? ''}`) ?? 0) + 1);
        }
        for (const [i, q] of queries.entries()) if (answers[0]?.[i] !== answers[1]?.[i]) throw new Error(`${q}\n${answers[0]?.[i]}\n${answers[1]?.[i]}`);
      },
    );
    const { failed, errorInstance, counterexample } = await fc.check(property, { ...generated(SIZES.worlds, SIZES.worlds), endOnFailure: true });
    if (failed)
      throw new Error(`SEED=${SEED} values ${counterexample?.slice(1).join(', ')}
${(errorInstance as Error | undefined)?.message ?? ''}`);
    const sum = [...counts.values()].reduce((a, b) => a + b, 0);
    if (process.env.DEEP) process.stderr.write(`${POLICIES[at]?.[0]}: ${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
    // a test of queries that all fail, or that never do, would show nothing
    expect((counts.get('200 ') ?? 0) / sum).toBeGreaterThan(0.4);
  });
});
