/** Symmetric and containing relationships under rights and policies: a pair that a caller may not see does not count for it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA ins',
  'CREATE TABLE ins.person (id int PRIMARY KEY, name text, boss int)',
  "INSERT INTO ins.person VALUES (1, 'ann', NULL), (2, 'bob', 1), (3, 'cid', 1), (4, 'dan', 2)",
  'CREATE TABLE ins.friend (a int, b int, w int)',
  'INSERT INTO ins.friend VALUES (1, 2, 5), (2, 1, 6), (3, 4, 7)',
  'CREATE TABLE ins.spy (id int, watches int)',
  'INSERT INTO ins.spy VALUES (11, 1), (12, 3)',
];
const PERSON = (more = ''): string => `CREATE OR REPLACE CONCEPT person (id int, name string, boss int, PRIMARY KEY (id), LABEL (name),
  CONSTRAINT under FOREIGN KEY (boss) REFERENCES person (id) INVERSEOF over,
  CONSTRAINT friend MULTIREFERENCE person SYMMETRIC,
  CONSTRAINT knows MULTIREFERENCE person INCLUDES (under, friend, watching) TRANSITIVE${more})`;
const MODEL = `CREATE ONTOLOGY ins;
  ${PERSON()};
  CREATE CONCEPT spy (watches int, CONSTRAINT watching FOREIGN KEY (watches) REFERENCES person (id)) INHERITS (person);
  CREATE MAPPING m1 INTO person AS SELECT id, name, boss FROM ins.person;
  CREATE MAPPING m2 INTO spy AS SELECT id, 'spy ' || id AS name, NULL::int AS boss, watches FROM ins.spy;
  CREATE MAPPING m3 (CONSTRAINT friend FOREIGN KEY (b) REFERENCES person (id), CONSTRAINT \`~friend\` FOREIGN KEY (a) REFERENCES person (id)) AS SELECT a, b, w FROM ins.friend;`;

let s: TestService;
const tokens = new Map<string, string>();
const user = async (name: string, ...grants: string[]): Promise<void> => void tokens.set(name, await s.user(name, ...grants));
const ask = (name: string, sql: string) => s.query(sql, 'ins', tokens.get(name));
/** The rows as texts, or the code of the error. */
const seen = async (name: string, sql: string): Promise<unknown> => {
  const { status, json } = await ask(name, sql);
  return status === 200
    ? json.data
        .map((row: Record<string, unknown>) =>
          Object.values(row)
            .map((v) => v ?? '-')
            .join(' '),
        )
        .sort()
    : (json.code ?? json.error?.code ?? json);
};
const KNOWS = 'SELECT id, "knows[person].id" AS other FROM dsvc.person';
const policy = (sql: string): Promise<unknown> => s.rows(`CREATE POLICY ${sql}`, 'ins');

beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(MODEL);
});
afterAll(() => s?.close());

describe('rights', () => {
  it('a reader of everything has all pairs', async () => {
    await user('all', 'QUERY ON ALL ontology.ins');
    expect(await seen('all', KNOWS)).toEqual(['1 2', '11 1', '12 3', '2 1', '3 1', '3 4', '4 2', '4 3'].sort());
  });
  it('pairs of a relationship of a concept that the caller does not see do not count', async () => {
    await user('part', 'QUERY ON ontology.ins.concept.person');
    expect(await seen('part', KNOWS)).toEqual(['1 2', '11 -', '12 -', '2 1', '3 1', '3 4', '4 2', '4 3'].sort());
    expect(await seen('part', 'SELECT id, "knows[person*2].id" AS other FROM dsvc.person WHERE id > 10')).toEqual(['11 -', '12 -']);
    expect(await seen('part', 'SELECT id, "~knows[person].id" AS other FROM dsvc.person WHERE id = 3')).toEqual(['3 4']);
  });
  it('metadata and scripts do not name what the caller does not see', async () => {
    const includes = "SELECT includes FROM svc.SYS_CONCEPT_RELATIONSHIPS WHERE concept = 'person' AND relationship_name = 'knows'";
    expect(await seen('all', includes)).toEqual(['under, friend, watching']);
    expect(await seen('part', includes)).toEqual(['under, friend']);
    expect(JSON.stringify((await ask('part', 'SHOW CREATE CONCEPT person')).json)).toMatch(/INCLUDES \(`under`, `friend`\)/);
    expect(await seen('all', "SELECT is_symmetric FROM svc.SYS_CONCEPT_RELATIONSHIPS WHERE concept = 'person' AND relationship_name = 'friend'")).toEqual([
      'true',
    ]);
  });
});

describe('policies', () => {
  it('hide pairs with their rows, at either end', async () => {
    await user('some', 'QUERY ON ALL ontology.ins');
    await policy("p1 ON CONCEPT person TO USER some USING (name <> 'bob')");
    await policy('p2 ON CONCEPT spy TO USER some USING (watches > 1)');
    expect(await seen('some', KNOWS)).toEqual(['1 -', '12 3', '3 1', '3 4', '4 3'].sort());
    expect(await seen('some', 'SELECT id, COUNT("friend[person].id") AS n, 10 / (id - 20) AS x FROM dsvc.person WHERE id < 5 GROUP BY id')).toEqual([
      '1 0 0',
      '3 1 0',
      '4 1 0',
    ]);
    expect(await seen('some', 'SELECT "knows[person*5].id" AS other FROM dsvc.person WHERE id = 12')).toEqual(['1', '3', '4']);
  });
  it('may follow them, over all rows', async () => {
    await user('near', 'QUERY ON ALL ontology.ins');
    await policy(`n1 ON CONCEPT person TO USER near USING ("knows[person].name" = 'ann' OR name = 'ann')`);
    await policy('n2 ON CONCEPT spy TO USER near USING (true)');
    expect(await seen('near', 'SELECT id FROM svc.person')).toEqual(['1', '11', '2', '3']);
  });
  it('are not weakened by editors who change what the relationship includes', async () => {
    await user('editor', 'QUERY ON ALL ontology.ins', 'EDIT ON ALL ontology.ins', 'QUERY ON ALL datasource');
    const link = (sql: string): string =>
      `CREATE OR REPLACE MAPPING m3 (CONSTRAINT friend FOREIGN KEY (b) REFERENCES person (id), CONSTRAINT \`~friend\` FOREIGN KEY (a) REFERENCES person (id)) AS ${sql}`;
    const less = PERSON().replace('under, friend, watching', 'under, friend');
    for (const change of [
      less,
      PERSON().replace('friend MULTIREFERENCE person SYMMETRIC', 'friend MULTIREFERENCE person'),
      PERSON(', CONSTRAINT x FOREIGN KEY (id) REFERENCES person (id)').replace('watching)', 'watching, x)'),
      PERSON().replace('(boss) REFERENCES person (id)', '(id) REFERENCES person (id)'),
      link('SELECT a, b, w FROM ins.friend UNION SELECT 4, 1, 0'),
      'CREATE OR REPLACE CONCEPT spy (watches int, CONSTRAINT watching FOREIGN KEY (id) REFERENCES person (id)) INHERITS (person)',
    ])
      expect(await seen('editor', change), change).toBe('forbidden');
    expect(await seen('near', 'SELECT id FROM svc.person')).toEqual(['1', '11', '2', '3']);
  });
  it('link columns of a symmetric relationship are refused with the reason', async () => {
    const { status, json } = await ask('all', 'SELECT "friend[person]_w" FROM dsvc.person');
    expect([status, json.code ?? json.error?.code]).toEqual([400, 'unknown_property']);
    expect(JSON.stringify(json)).toMatch(/may come from several links/);
  });
});
