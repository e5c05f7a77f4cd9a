/**
 * Noninterference for readers with QUERY on some concepts: no answer depends on the value of a property in rows where no concept that they may query has it.
 * Random queries are run twice; in between, all such values change. SEED=n and DEEP=1 as in test/support/generated.ts.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkUntil } from '../support/checked.ts';
import { patience, SEED } from '../support/generated.ts';
import { reached, startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';
import { ask } from './generated/closed-queries.ts';
import { closedCells, filled, GRANTABLE, isHidden, isMasked, MODEL, POLICIES, TABLES } from './generated/closed-values.ts';

const SIZES = sizesOf('attacks/closed-values');

const BATCH = 60;

let s: TestService;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(MODEL);
  await s.rows(MODEL.replace('CREATE ONTOLOGY partial', 'CREATE ONTOLOGY veiled'));
  await s.rows(POLICIES.join('; '), 'veiled');
});
afterAll(() => s?.close());

describe('a reader with QUERY on some concepts', () => {
  it.each([
    ['no policies', 'partial', () => false, () => false],
    ['policies', 'veiled', isMasked, isHidden],
  ] as const)('and %s gets no answer that depends on closed values', { timeout: patience(120_000) }, async (_, ontology, masked, hidden) => {
    const counts = new Map<string, number>();
    let users = 0;
    const grants = fc.subarray([...GRANTABLE], { minLength: 1, maxLength: 5 });
    const cases = grants.chain((granted) =>
      fc.record({ granted: fc.constant(granted), queries: fc.array(ask(granted), { minLength: BATCH, maxLength: BATCH }) }),
    );
    const property = fc.asyncProperty(cases, async ({ granted, queries }) => {
      const user = await s.user(`${ontology}${++users}`, ...granted.map((g) => `QUERY ON ontology.${ontology}.${g}`));
      const closed = closedCells(granted, masked);
      const answers: string[][] = [];
      for (const other of [false, true]) {
        for (const statement of filled(closed, other, hidden)) await s.database.exec(statement);
        const all = await Promise.all(queries.map((q) => reached(() => s.query(q, ontology, user))));
        answers.push(all.map(({ status, json }) => `${status} ${JSON.stringify({ ...json, request_id: '' })}`));
        for (const { status, json } of all) counts.set(`${status} ${json.code ?? ''}`, (counts.get(`${status} ${json.code ?? ''}`) ?? 0) + 1);
      }
      for (const [i, q] of queries.entries())
        if (answers[0]?.[i] !== answers[1]?.[i]) throw new Error(`${granted.join(', ')}\n${q}\n${answers[0]?.[i]}\n${answers[1]?.[i]}`);
    });
    // a test of queries that all fail would show nothing
    const shareOfRows = (): number => (counts.get('200 ') ?? 0) / [...counts.values()].reduce((a, b) => a + b, 0);
    const { failed, errorInstance } = await checkUntil(property, SIZES.worlds, () => shareOfRows() > 0.3);
    if (failed) throw new Error(`SEED=${SEED}\n${(errorInstance as Error | undefined)?.message ?? ''}`);
    if (process.env.DEEP) process.stderr.write(`${[...counts].map(([k, n]) => `${k}: ${n}`).join(', ')}\n`);
    expect(shareOfRows()).toBeGreaterThan(0.3);
  });

  it('gets rows in an order that closed values do not change', async () => {
    for (const statement of filled(new Map(), false)) await s.database.exec(statement);
    const user = await s.user('sorter', ...['a', 'd', 'g'].map((c) => `QUERY ON ontology.partial.concept.${c}`));
    const sorted = await s.rows('SELECT entity_id, r FROM dsvc.a ORDER BY r, entity_id LIMIT 4', 'partial', user);
    expect(sorted).toEqual([
      { entity_id: 'a:31', r: 1 },
      { entity_id: 'a:41', r: 1 },
      { entity_id: 'a:32', r: 2 },
      { entity_id: 'a:1', r: null },
    ]);
  });
});
