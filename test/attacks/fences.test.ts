/**
 * Why a barrier is a sub-select with the condition in it, and not `t CROSS JOIN LATERAL (SELECT columns WHERE condition OFFSET 0)` (docs/design/policies.md#barriers): the
 * optimizer may join others with `t` before the condition, and then it depends on hidden rows whether an expression of the caller is evaluated. Plain SQL.
 */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memoryDatabase } from '../support/databases/memory.ts';

let db: PGlite;

/** Two schemas with the same visible rows and the same statistics. In `a` a hidden row has the salary 5010, in `b` none has. */
beforeAll(async () => {
  db = await memoryDatabase();
  for (const schema of ['a', 'b'])
    await db.exec(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.secret (id integer PRIMARY KEY, town text, salary integer, dept integer);
      INSERT INTO ${schema}.secret SELECT n, CASE WHEN n % 2 = 0 THEN 'Lisbon' ELSE 'Porto' END, n * 10, n % 7 FROM generate_series(1, 999) n;
      CREATE INDEX ON ${schema}.secret (salary); ANALYZE ${schema}.secret`);
  await db.exec(`CREATE TABLE u (x integer PRIMARY KEY); INSERT INTO u SELECT generate_series(1, 50); ANALYZE u;
    UPDATE b.secret SET salary = 5003 WHERE id = 501`);
});
afterAll(() => db.close());

/** The rows of `secret` that the policy `town = 'Lisbon'` admits and that meet a comparison of the caller, which cannot fail. */
const FENCES = {
  'a sub-select with the condition': (schema: string, compared: string) =>
    `(SELECT t.id, t.salary, t.dept FROM ${schema}.secret t WHERE t.town = 'Lisbon' AND ${compared} OFFSET 0) p`,
  'LATERAL with the condition': (schema: string, compared: string) =>
    `(SELECT p.* FROM (SELECT * FROM ${schema}.secret t WHERE ${compared}) t CROSS JOIN LATERAL (SELECT t.id, t.salary, t.dept WHERE t.town = 'Lisbon' OFFSET 0) p) p`,
};

/** Queries of a caller who looks for a hidden row: FROM and WHERE around the fenced rows. */
const QUERIES = ['p.id = u.x', 'p.dept < u.x', 'p.id > 0'].flatMap((joined) =>
  ['1 / (u.x - 7) > 5', 'u.x = 7 AND 1 / (u.x - 7) > 0', 'u.x < 9 AND 1 / (u.x - 7) > 0'].flatMap((fails) => [
    (p: string) => `SELECT p.id FROM ${p}, u WHERE ${fails} AND ${joined}`,
    (p: string) => `SELECT p.id FROM u, ${p} WHERE ${fails} AND ${joined} LIMIT 3`,
    (p: string) => `SELECT count(*) FROM u JOIN ${p} ON ${joined} WHERE ${fails}`,
  ]),
);

const answer = (sql: string): Promise<string> =>
  db.query(sql, [], { rowMode: 'array' }).then(
    ({ rows }) => JSON.stringify(rows),
    (error: Error) => error.message,
  );

/** The queries whose answers differ although the visible rows are the same. */
async function revealing(fence: (schema: string, compared: string) => string): Promise<string[]> {
  const found: string[] = [];
  for (const compared of ['t.salary = 5010', 't.salary BETWEEN 5005 AND 5015'])
    for (const query of QUERIES)
      if ((await answer(query(fence('a', compared)))) !== (await answer(query(fence('b', compared))))) found.push(query(fence('a', compared)));
  return found;
}

it('no query reveals a hidden row through a sub-select that contains the condition', async () => {
  expect(await revealing(FENCES['a sub-select with the condition'])).toEqual([]);
});

it('queries reveal a hidden row through LATERAL', async () => {
  expect(await revealing(FENCES['LATERAL with the condition'])).not.toEqual([]);
});
