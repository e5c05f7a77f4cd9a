/**
 * Noninterference: the answers to a caller with policies do not depend on hidden rows and values. Random queries with
 * expressions that may raise an error are run twice; in between, every hidden row and every masked value changes. The two answers, rows or
 * errors, must be equal. The test does not know barriers: it only compares. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patience } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { MODEL, POLICIES, TABLES } from './generated/hidden-values.ts';
import { compareTwins, shareOf } from './generated/twin-answers.ts';

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
    const answers = async (queries: readonly string[]) =>
      (await Promise.all(queries.map((q) => s.query(q, ontologies[at], rob)))).map(({ status, json }) => ({
        text: `${status} ${JSON.stringify({ ...json, request_id: '' })}`,
        outcome: `${status} ${json.code ?? ''}`,
      }));
    // a test of queries that all fail, or that never do, would show nothing
    const shareOfRows = (so: ReadonlyMap<string, number>): number => shareOf(so, (outcome) => outcome === '200 ');
    const world = { exec: (statement: string) => s.database.exec(statement), answers };
    const counts = await compareTwins(world, { worlds: SIZES.worlds, queries: SIZES.queries }, (so) => shareOfRows(so) > 0.4);
    if (process.env.DEEP) process.stderr.write(`${POLICIES[at]?.[0]}: ${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
    expect(shareOfRows(counts)).toBeGreaterThan(0.4);
  });
});
