/** Texts over integer columns: hops, links and walks compare them as texts, and they are sorted as texts. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA t',
      'CREATE TABLE t.person (id int PRIMARY KEY, name text, boss int)',
      "INSERT INTO t.person VALUES (1, 'Ann', NULL), (2, 'Bob', 1), (10, 'Cy', 2)",
      'CREATE TABLE t.friend (a int, b int)',
      'INSERT INTO t.friend VALUES (1, 10), (2, 1)',
    ],
  });
  await service.rows(`CREATE ONTOLOGY texts;
    CREATE CONCEPT person (id string, name string, boss string, PRIMARY KEY (id), LABEL (name),
      CONSTRAINT above FOREIGN KEY (boss) REFERENCES person (id) INVERSEOF below TRANSITIVE,
      CONSTRAINT friend MULTIREFERENCE person INVERSEOF friend_of TRANSITIVE, CONSTRAINT nick MULTIVALUE string, CONSTRAINT other MULTIVALUE string);
    CREATE MAPPING people INTO person AS SELECT id, name, boss FROM t.person;
    CREATE MAPPING nicks INTO person MULTIVALUE nick AS SELECT id::text AS id, upper(name) AS nick FROM t.person WHERE id < 10;
    CREATE MAPPING others INTO person MULTIVALUE other AS SELECT id, lower(name) AS other FROM t.person WHERE id > 1;
    CREATE MAPPING friends (CONSTRAINT friend FOREIGN KEY (b) REFERENCES person (id), CONSTRAINT friend_of FOREIGN KEY (a) REFERENCES person (id))
      AS SELECT a::text AS a, b::text AS b FROM t.friend`);
});
afterAll(() => service?.close());

it.each([
  ['a hop', 'SELECT name, "above[person].name" AS o FROM dsvc.person', 'Ann -, Bob Ann, Cy Bob'],
  ['a hop back', 'SELECT name, "below[person].name" AS o FROM dsvc.person', 'Ann Bob, Bob Cy, Cy -'],
  ['a walk', 'SELECT name, "above[person*].name" AS o FROM dsvc.person', 'Ann -, Bob Ann, Cy Ann, Cy Bob'],
  ['a walk back', 'SELECT name, "below[person*].name" AS o FROM dsvc.person', 'Ann Bob, Ann Cy, Bob Cy, Cy -'],
  ['links', 'SELECT name, "friend[person].name" AS o FROM dsvc.person', 'Ann Cy, Bob Ann, Cy -'],
  ['links back', 'SELECT name, "friend_of[person].name" AS o FROM dsvc.person', 'Ann Bob, Bob -, Cy Ann'],
  ['a walk over links', 'SELECT name, "friend[person*].name" AS o FROM dsvc.person', 'Ann Cy, Bob Ann, Bob Cy, Cy -'],
  ['several values', 'SELECT name, nick AS o FROM dsvc.person', 'Ann ANN, Bob BOB, Cy -'],
  ['several values by integers', 'SELECT name, other AS o FROM dsvc.person', 'Ann -, Bob bob, Cy cy'],
])('%s', async (_, sql, wanted) => {
  const rows = await service.rows(`${sql} ORDER BY 1, 2`, 'texts');
  expect(rows.map(({ name, o }) => `${name} ${o ?? '-'}`).join(', ')).toBe(wanted);
});

it('are sorted as texts, with and without LIMIT', async () => {
  for (const limit of ['', ' LIMIT 5'])
    expect((await service.rows(`SELECT id FROM svc.person ORDER BY id${limit}`, 'texts')).map(({ id }) => id)).toEqual(['1', '10', '2']);
});

it('are joined as integers if both columns are, so that an index can be used', async () => {
  const [explained] = await service.rows('EXPLAIN SELECT name, "above[person].name" AS o FROM dsvc.person', 'texts');
  expect(explained?.SQL).toMatch(/boss AS .* ON /);
  expect(explained?.SQL).not.toMatch(/(id|boss)::text/);
});
