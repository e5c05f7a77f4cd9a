/** What leaves the service beside rows: claims as texts, numbers of rows in system tables. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepCounts } from '../../src/catalog/counts.ts';
import { admins, ask, by, db, jwt, s, startCallers, user } from './callers.ts';

beforeAll(startCallers, 120_000);
afterAll(() => s?.close());

describe('A claim', () => {
  let email: string;
  beforeAll(async () => {
    const { name } = await user('cleo', 'QUERY ON ALL ontology.shop');
    email = `${name}@corp.example`;
    await admins(`ALTER USER ${name} SET EMAIL = '${email}'`);
  });

  it.each([
    ['an integer beyond 2^53', '9007199254740993', null],
    ['the integer that it would be rounded to', '9007199254740992', null],
    ['a negative one', '-9007199254740993', null],
    ['a number near infinity', '1e999', null],
    ['a text with U+0000', '"Lyon\\u0000"', null],
    ['a text with a lone surrogate', '"Lyon\\ud800"', null],
    ['the greatest integer that is exact', '9007199254740991', '9007199254740991'],
    ['a fraction', '1.5', '1.5'],
    ['a text of digits', '"9007199254740993"', '9007199254740993'],
    ['a text', '"Ly\\u00f3n \\ud83d\\ude00"', 'Ly\u00f3n \u{1f600}'],
  ])('of %s is its exact text, or NULL', async (_, json, text) => {
    const headers = jwt({ email, ...JSON.parse(`{"account":${json},"k\\u0000":"x"}`) });
    for (const sql of ["SELECT svc_claim('account') AS claim", "SELECT svc_claim(CASE name WHEN 'Lyon' THEN 'account' END) AS claim"]) {
      const { status, json: answer } = await ask(`${sql} FROM svc.city WHERE name = 'Lyon'`, headers, 'shop');
      expect([status, answer.data]).toEqual([200, [{ claim: text }]]);
    }
  });
});

describe('Numbers of rows in system tables', () => {
  const VIEWS = 'SELECT number_of_rows AS n FROM svc.SYS_VIEWS';
  const MAPPINGS = "SELECT number_of_rows AS n FROM svc.SYS_CONCEPT_MAPPINGS WHERE concept = 'city'";

  it('are told to who may query what they are of, and those of views to who has no masked values', async () => {
    await s.rows("CREATE ONTOLOGY VIEW berlins AS SELECT id FROM svc.city WHERE name = 'Berlin'", 'shop');
    const [version] = await s.rows('SHOW VERSION', 'shop');
    await db.batch(
      keepCounts(String(version?.id), [
        { kind: 'view', name: 'berlins', rows: 1 },
        { kind: 'mapping', name: 'm', rows: 2 },
      ]),
    );
    const query = by((await user('quentin', 'QUERY ON ALL ontology.shop')).token);
    const access = by((await user('abel', 'ACCESS ON ALL ontology.shop')).token);
    const counts = async (headers: Readonly<Record<string, string>>) => [
      (await ask(VIEWS, headers, 'shop')).json.data[0].n,
      (await ask(MAPPINGS, headers, 'shop')).json.data[0].n,
      (await ask('SHOW VIEWS', headers, 'shop')).json.data[0].number_of_rows,
    ];
    expect(await counts(query)).toEqual([1, 2, 1]);
    expect(await counts(access)).toEqual([null, null, null]);
    await s.rows('CREATE POLICY veil ON PROPERTY name MASK NULL', 'shop');
    expect(await counts(query)).toEqual([null, 2, null]);
    await s.rows('DROP POLICY veil', 'shop');
    expect(await counts(query)).toEqual([1, 2, 1]);
  });
});
