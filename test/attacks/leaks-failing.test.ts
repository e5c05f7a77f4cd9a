/** Conditions that fail, or do not end, on one hidden value: the answer is the same whether a hidden row has the value or not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestService } from '../integration/service.ts';
import { Crew } from './editors-crew.ts';
import { on } from './editors-model.ts';

let crew: Crew;
let s: TestService;
beforeAll(async () => {
  crew = await Crew.open();
  s = crew.service;
  await s.database.exec('ALTER TABLE crew.t_worker ALTER fname TYPE text COLLATE "POSIX", ALTER ssn TYPE text COLLATE "C"');
}, 180_000);
afterAll(() => s?.close());

const FAR = (day: string): string =>
  `EXISTS (SELECT 1 FROM (SELECT ${day} AS d OFFSET 0) v WHERE CASE WHEN w.salary = # THEN v.d ELSE TIMESTAMP '2020-01-01 00:00' END IS NOT NULL)`;
const PRODUCT = Array.from({ length: 30 }, (_, i) => `svc.num n${i}`).join(', ');
const NEVER = Array.from({ length: 30 }, (_, i) => `n${i}.n = -1`).join(' OR ');

const CONDITIONS: readonly (readonly [string, string])[] = [
  ['a day of another order', FAR("DATE '1/1/294277'")],
  ['a day with points', FAR("DATE '1.1.294277'")],
  ['a day without separators', FAR("DATE '2942770101'")],
  ['a name beside a text of another collation', "CASE WHEN w.salary = # THEN CASE WHEN w.given = 'q' THEN name 'x' ELSE w.given END = 'y' ELSE true END"],
  ['texts of two collations', 'w.salary = # AND w.given = w.ssn'],
  ['an order of texts of two collations', 'w.salary = # AND w.given < w.ssn'],
  ['a text of one of two collations', "w.salary = # AND lower(CASE WHEN w.grade > 0 THEN w.given ELSE w.ssn END) = 'q'"],
  ['a sub-query without an end', `EXISTS (SELECT 1 FROM ${PRODUCT} WHERE w.salary = # AND (${NEVER}))`],
];
const POLICIES: readonly (readonly [string, string])[] = [
  ['a path', `"works_in[firm].country" = 'DE'`],
  ['a sub-query', "EXISTS (SELECT 1 FROM svc.firm f WHERE f.country = 'DE' AND f.firm_id = grade)"],
];

describe.each(POLICIES)('under a policy with %s', (_, policy) => {
  it.each(CONDITIONS)('%s tells nothing of a hidden row', { timeout: 30_000 }, async (__, condition) => {
    const ontology = await crew.ontology(on(policy));
    // 3000 is the salary of a hidden worker, 3001 of none
    const answers = ['3000', '3001'].map((salary) =>
      s.query(`SELECT w.given FROM svc.worker w WHERE w.salary = 1 OR ${condition.replaceAll('#', salary)}`, ontology, crew.tokens.rob),
    );
    const [one, other] = (await Promise.all(answers)).map(({ status, json }) => [status, json.data]);
    expect(one).toEqual(other);
    expect(one?.[0]).toBe(200);
  });
});
