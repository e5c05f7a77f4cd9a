/**
 * Statements in which texts of several writers read the same rows: the caller's own, and conditions of logic concepts, which read by the rights of their definers.
 * What one of them may read is nothing that another gets.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA several',
  'CREATE TABLE several.worker (id bigint PRIMARY KEY, name text, pay bigint, boss bigint, town_id bigint)',
  "INSERT INTO several.worker VALUES (2, 'Bob', 7000, 4, 1), (3, 'Cid', 5000, 2, 2)",
  'CREATE TABLE several.own (id bigint PRIMARY KEY, name text, pay bigint, boss bigint, town_id bigint)',
  "INSERT INTO several.own VALUES (4, 'Dan', 6500, 3, 1), (5, 'Eva', 100, 3, 2)",
  'CREATE TABLE several.town (tid bigint PRIMARY KEY, town_name text)',
  "INSERT INTO several.town VALUES (1, 'Oslo'), (2, 'Rome')",
];
const MODEL = `CREATE ONTOLOGY several;
  CREATE CONCEPT town (tid bigint, town_name string, PRIMARY KEY (tid));
  CREATE CONCEPT person (id bigint, name string, town_id bigint, PRIMARY KEY (id), CONSTRAINT lives_in FOREIGN KEY (town_id) REFERENCES town (tid) INVERSEOF home_of);
  CREATE CONCEPT led (boss bigint, CONSTRAINT led_by FOREIGN KEY (boss) REFERENCES person (id) INVERSEOF leads TRANSITIVE(5)) INHERITS (person);
  CREATE CONCEPT worker INHERITS (led);
  CREATE CONCEPT own (pay bigint) INHERITS (led);
  CREATE MAPPING m_town INTO (town) AS SELECT tid, town_name FROM several.town;
  CREATE MAPPING m_worker INTO (worker) AS SELECT id, name, pay, boss, town_id FROM several.worker;
  CREATE MAPPING m_own INTO (own) AS SELECT id, name, pay, boss, town_id FROM several.own;
`;
/** Conditions of a writer who may query everything, and of one who may not query `worker`. */
const CONDITIONS: readonly (readonly [writer: 'all' | 'part', name: string, source: string, condition: string])[] = [
  ['all', 'rich', 'person', 'pay > 6000'],
  ['all', 'poor', 'person', 'coalesce(pay, 0) < 6000'],
  ['all', 'near_bob', 'own', `"led_by[person*5].name" = 'Bob'`],
  ['part', 'rich_own', 'person', 'pay > 6000'],
  ['part', 'unpaid', 'person', 'pay IS NULL'],
  ['all', 'poor_c', 'poor', `"lives_in[town].home_of[person].name" = 'Cid' AND name < 'D'`],
];

let s: TestService;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(MODEL);
  const query = (names: readonly string[]): string[] => names.map((n) => `QUERY ON ontology.several.concept.${n}`);
  const logic = CONDITIONS.map(([, name]) => name);
  tokens.all = await s.user('writer_all', 'EDIT ON ontology.several', ...query(['town', 'person', 'led', 'worker', 'own', ...logic]));
  tokens.part = await s.user('writer_part', 'EDIT ON ontology.several', ...query(['town', 'person', 'own', 'led']));
  const define = async (by: string): Promise<void> => {
    for (const [writer, name, source, condition] of CONDITIONS)
      if (writer === by) await s.rows(`CREATE CONCEPT ${name} INHERITS (${source}) FROM dsvc.${source} WHERE ${condition}`, 'several', tokens[writer]);
  };
  await define('part');
  await s.rows('CREATE OR REPLACE CONCEPT worker (pay bigint) INHERITS (led)', 'several');
  await define('all');
  await s.rows('CREATE VIEW blocked AS SELECT id FROM dsvc.person WHERE pay > 6000', 'several', tokens.all);
  tokens.reader = await s.user('reader', ...query(['town', 'person', 'own', ...logic]));
  tokens.few = await s.user('few', ...query(['town', ...logic]));
  tokens.admin = s.token;
});
afterAll(() => s?.close());

const people = async (concept: string, where: string, token: string | undefined): Promise<unknown> => {
  const found = await s.rows(`SELECT DISTINCT name FROM dsvc.${concept}${where} ORDER BY name`, 'several', token);
  return found.map((r) => r.name);
};

describe('the rows of a logic concept are those that its definer may choose', () => {
  it.each([
    ['rich', ['Bob', 'Dan']],
    ['poor', ['Cid', 'Eva']],
    ['near_bob', ['Dan', 'Eva']],
    ['rich_own', ['Dan']],
    ['unpaid', ['Bob', 'Cid']],
    ['poor_c', ['Cid']],
  ])('%s, for every reader, with and without a path', async (concept, expected) => {
    for (const who of ['reader', 'few', 'admin']) {
      expect(await people(concept, '', tokens[who]), who).toEqual(expected);
      expect(await people(concept, ' WHERE "lives_in[town].town_name" IS NOT NULL', tokens[who]), who).toEqual(expected);
    }
    expect(await people('person', ` WHERE "_type_of_${concept}"`, tokens.reader)).toEqual(expected);
    expect(await people('person', ` WHERE "_type_of_${concept}" AND coalesce(pay, 1) > 0`, tokens.reader)).toEqual(expected);
  });
});

describe('a column has the same values with and without other columns', () => {
  const ITEMS = [
    'pay',
    'boss',
    '"led_by[person*5].name"',
    '"lives_in[town].town_name"',
    '"lives_in[town].home_of[person].pay"',
    ...CONDITIONS.map(([, name]) => `"_type_of_${name}"`),
  ];
  const of = (concept: string): readonly string[] =>
    concept === 'own' ? ITEMS.filter((i) => !/_type_of_(?!near_bob)/.test(i)) : ITEMS.filter((i) => !/led_by/.test(i));
  const pairs = ['person', 'own'].flatMap((c) => of(c).flatMap((a) => of(c).flatMap((b) => (a === b ? [] : [[c, a, b] as const]))));

  it.each(pairs)('%s: %s, %s', async (concept, a, b) => {
    const both = await s.rows(`SELECT DISTINCT id, k FROM (SELECT id, ${a} AS x, ${b} AS k FROM dsvc.${concept}) t ORDER BY id, k`, 'several', tokens.reader);
    const one = await s.rows(`SELECT DISTINCT id, ${b} AS k FROM dsvc.${concept} ORDER BY id, k`, 'several', tokens.reader);
    expect(both).toEqual(one);
  });
});

describe('policies on logic concepts of several writers', () => {
  it('hide the rows of each as its own definer chooses them', async () => {
    await s.rows('CREATE POLICY a ON CONCEPT rich_own TO PUBLIC USING (true); CREATE POLICY b ON CONCEPT rich TO PUBLIC USING (false)', 'several');
    expect(await people('person', '', tokens.reader)).toEqual(['Cid', 'Eva']);
    expect(await people('own', '', tokens.reader)).toEqual(['Eva']);
    await s.rows('DROP POLICY a; DROP POLICY b', 'several');
  });

  it.each([
    ['a logic concept', 'CREATE POLICY a ON CONCEPT rich TO PUBLIC USING (false)'],
    ['a condition over a logic concept', 'CREATE POLICY a ON CONCEPT person TO PUBLIC USING (id NOT IN (SELECT r.id FROM svc.rich r))'],
    ['a condition with _type_of_', 'CREATE POLICY a ON CONCEPT person TO PUBLIC USING (NOT "_type_of_rich")'],
    ['a condition over a view', 'CREATE POLICY a ON CONCEPT person TO PUBLIC USING (id NOT IN (SELECT r.id FROM vsvc.blocked r))'],
  ])('hide no fewer rows when the definer loses rights: %s', async (_, policy) => {
    await s.rows(policy, 'several');
    expect(await people('person', '', tokens.reader)).toEqual(['Cid', 'Eva']);
    await s.rows('REVOKE QUERY ON ontology.several.concept.worker FROM USER writer_all');
    expect(await people('person', '', tokens.reader)).toEqual(['Cid', 'Eva']);
    await s.rows('GRANT QUERY ON ontology.several.concept.worker TO USER writer_all; DROP POLICY a', 'several');
  });
});
