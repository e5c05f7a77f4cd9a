/** Names of a statement that are like names of the planner (`"~5"`), or that are longer than 63 bytes: the answers are those with other names. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../support/service.ts';

const LONG = 'n'.repeat(70);
const TABLES = [
  'CREATE SCHEMA raw',
  'CREATE TABLE raw.t (id bigint PRIMARY KEY, name text, n bigint, u bigint, "~5" bigint)',
  "INSERT INTO raw.t VALUES (1, 'a', 3, 1, 8), (2, 'b', 2, 1, 9)",
  'CREATE TABLE raw.u (id bigint PRIMARY KEY, name text)',
  "INSERT INTO raw.u VALUES (1, 'u1')",
];
const MODEL = `CREATE CONCEPT u (id bigint, name string, PRIMARY KEY (id));
CREATE CONCEPT t (id bigint, name string, n bigint, u bigint, x bigint, PRIMARY KEY (id), CONSTRAINT "to" FOREIGN KEY (u) REFERENCES u (id));
CREATE MAPPING mt INTO (t) AS SELECT "~1".id, "~1".name, "~1".n, "~1".u, "~5" AS x FROM raw.t "~1";
CREATE MAPPING mu INTO (u) AS SELECT id, name FROM raw.u;
CREATE VIEW v AS SELECT id AS "~1", name AS "~2" FROM svc.t "~3"`;

let s: TestService;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.query('CREATE ONTOLOGY o');
  expect((await s.query(MODEL, 'o')).status).toBe(200);
});
afterAll(() => s?.close());

/** Statements with the names A, B and C. */
const STATEMENTS = [
  'SELECT id AS A FROM dsvc.t ORDER BY A',
  'SELECT id AS A, name AS B, x AS C FROM dsvc.t ORDER BY upper(name) DESC',
  'SELECT A.id, A."to[u].name" FROM dsvc.t A ORDER BY A.id',
  'SELECT A.id, A."to[u].name" AS B, (SELECT count(*) FROM dsvc.u C WHERE C.id = A.id) AS C FROM dsvc.t A ORDER BY A.n',
  'SELECT A.B, sum(A.C) AS C FROM (SELECT id AS B, n AS C FROM svc.t) A GROUP BY B HAVING sum(C) > 0 ORDER BY C',
  'SELECT A."to[u].name" AS B, sum(n) AS C FROM dsvc.t A GROUP BY B ORDER BY A."to[u].name"',
  'WITH A(B) AS (SELECT id FROM svc.t) SELECT A.B FROM A ORDER BY -B',
  'WITH RECURSIVE A(B) AS (SELECT 1 UNION ALL SELECT B + 1 FROM A WHERE B < 3) SEARCH DEPTH FIRST BY B SET C SELECT B FROM A ORDER BY C',
  'SELECT A.id FROM svc.t JOIN svc.u USING (id) AS A',
  'SELECT * FROM svc.t A, svc.u B WHERE A.u = B.id ORDER BY A.id',
  'SELECT A.B FROM generate_series(1, 2) A(B)',
  'SELECT A FROM generate_series(1, 2) A',
  'SELECT id AS A FROM svc.t UNION SELECT id + 5 FROM svc.u ORDER BY A',
  'SELECT id, row_number() OVER A AS B FROM svc.t WINDOW A AS (ORDER BY id DESC) ORDER BY id',
  'SELECT (A).B AS C FROM (SELECT id AS B FROM svc.t) A ORDER BY C',
  'SELECT A AS B FROM svc.u A',
];

const namedBy = (text: string, names: Readonly<Record<string, string>>): string => text.replace(/\b[ABC]\b/g, (n) => names[n] as string);
const answer = async (sql: string): Promise<[number, string]> => {
  const { status, json } = await s.query(sql, 'o');
  return [status, JSON.stringify(json.data)];
};

describe.each([
  ['~1', '~2', '~3'],
  ['~2', '~3', '~4'],
  ['~3', '~2', '~5'],
  [LONG, `${LONG}2`, `${LONG}3`],
])('the names %s, %s and %s', (A, B, C) => {
  const quoted = { A: `"${A}"`, B: `"${B}"`, C: `"${C}"` };
  it.each(STATEMENTS)('%s', async (statement) => {
    const [status, rows] = await answer(namedBy(statement, { A: 'ya', B: 'yb', C: 'yc' }));
    expect([status, rows]).toEqual([200, expect.stringContaining('{')]);
    const keys: Record<string, string> = { ya: A, yb: B, yc: C };
    expect(await answer(namedBy(statement, quoted))).toEqual([200, rows.replace(/\by[abc]\b/g, (n) => keys[n] as string)]);
  });

  it('in an error', async () => {
    const { json } = await s.query(namedBy('SELECT A.z FROM (SELECT id FROM svc.t) A', quoted), 'o');
    expect(json).toMatchObject({ code: 'unknown_column', data: `unknown column \`z\` of \`${A}\`` });
  });
});

it.each(['~1', '~2', '~3', '~4'])('a row as JSON has the key %s', async (key) => {
  const rows = await s.rows(`SELECT row_to_json(x) AS j, to_jsonb("${key}") AS k FROM (SELECT id AS "${key}" FROM svc.t WHERE id = 2) x`, 'o');
  expect(rows).toEqual([{ j: { [key]: 2 }, k: 2 }]);
});

it.each(['~1', '~2', '~4'])('a view with such columns, read as %s', async (alias) => {
  expect(await s.rows(`SELECT * FROM vsvc.v "${alias}" ORDER BY "${alias}"."~1"`, 'o')).toEqual([
    { '~1': 1, '~2': 'a' },
    { '~1': 2, '~2': 'b' },
  ]);
});
