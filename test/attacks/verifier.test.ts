/** A faulty planner: what the verifier refuses if the guard did not. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import type { Plan } from '../../src/planner/index.ts';
import { Texts } from '../../src/planner/read/texts.ts';
import { startService, type TestService } from '../support/service.ts';

/** The fault: a change of the SQL of each plan. */
let fault: (plan: Plan) => Plan = (plan) => plan;
vi.mock('../../src/planner/index.ts', async (original) => {
  const real = await original<typeof import('../../src/planner/index.ts')>();
  return { ...real, planSelect: (...args: Parameters<typeof real.planSelect>) => fault(real.planSelect(...args)) };
});
afterAll(() => {
  vi.doUnmock('../../src/planner/index.ts');
});

let s: TestService;
const logged: Readonly<Record<string, unknown>>[] = [];

/** The log lines of this number of refusals since the last call. They come soon after the answers. */
async function refusals(count: number): Promise<typeof logged> {
  const ours = () => logged.filter((line) => line.event === 'refused_by_verifier');
  await expect.poll(() => ours().length, { interval: 5 }).toBe(count);
  const lines = ours();
  logged.length = 0;
  return lines;
}

beforeAll(async () => {
  s = await startService({ parts: { log: (line) => void logged.push(line) } });
  await s.database.exec('CREATE SCHEMA shop');
  await s.database.exec('CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text, secret text)');
  await s.database.exec('CREATE TABLE shop.t_other (id bigint)');
  await s.database.exec('CREATE TABLE shop.t_town (num bigint)');
  await s.database.exec("INSERT INTO shop.t_city VALUES (1, 'Berlin', 'x')");
  await s.rows(
    'CREATE ONTOLOGY shop; CREATE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city; CREATE MAPPING n INTO (city) AS SELECT t.num AS id FROM shop.t_town AS t',
    'shop',
  );
});
afterAll(() => s?.close());
afterEach(() => {
  fault = (plan) => plan;
  vi.restoreAllMocks();
});

/** The changed SQL of a plan, and the reason in the log. */
const FAULTS: readonly (readonly [string, (sql: string) => string, string])[] = [
  ['two statements', (sql) => `${sql}; ${sql}`, 'statement:2 statements'],
  ['no SELECT', () => 'DELETE FROM shop.t_city', 'statement:DeleteStmt'],
  ['a SELECT that writes', () => "WITH w AS (UPDATE shop.t_city SET name = '' RETURNING 1) SELECT '{}'::json FROM w", 'statement:UpdateStmt'],
  ['a setting', () => 'SET ROLE postgres', 'statement:VariableSetStmt'],
  ['text that is not SQL', (sql) => `${sql} ~~ garbage (`, 'syntax:parser'],
  ['another table', () => 'SELECT to_json(o.id) FROM shop.t_other AS o', 'relation:shop.t_other'],
  ['a table of the system', () => 'SELECT to_json(r.rolname) FROM pg_catalog.pg_roles AS r', 'relation:pg_catalog.pg_roles'],
  ['another column of the table', () => 'SELECT to_json(c.secret) FROM shop.t_city AS c', 'field:secret'],
  ['a column of another table', () => 'SELECT to_json(c.num) FROM shop.t_city AS c', 'field:num'],
  ['a column of another table, only by its name', () => 'SELECT to_json(num) FROM shop.t_city', 'column:num'],
  ['the whole row of the table', () => 'SELECT to_json(c) FROM shop.t_city AS c', 'row:shop.t_city'],
  ['the whole row of the table by a call in field notation', () => 'SELECT c.to_json FROM shop.t_city AS c', 'field:to_json'],
  [
    'another column of the table, hidden by one of a sub-select around it',
    () => "SELECT to_json((SELECT secret FROM shop.t_city)) FROM (SELECT 'y' AS secret) AS y",
    'column:secret',
  ],
  [
    'another column of the table, hidden by a name of the select list',
    () => "SELECT to_json(name) AS secret FROM shop.t_city ORDER BY secret || ''",
    'column:secret',
  ],
  [
    'another column of the table, hidden by the name of a relation',
    () => 'SELECT to_json((SELECT secret FROM shop.t_city)) FROM (SELECT 1 AS id) AS secret',
    'column:secret',
  ],
  ['a star over the table', () => 'SELECT to_json(x) FROM (SELECT * FROM shop.t_city) AS x', 'row:shop.t_city'],
  ['a star over the table’s row', () => 'SELECT to_json(ROW(c.*)) FROM shop.t_city AS c', 'row:shop.t_city'],
  ['a function', () => "SELECT to_json(pg_catalog.current_setting('server_version'))", 'function:pg_catalog.current_setting'],
  ['a function as a field', () => "SELECT to_json(('server_version').current_setting)", ''],
  ['a function of another schema', () => 'SELECT to_json(shop.twice(1))', 'function:shop.twice'],
  ['a look-up by a type', () => "SELECT to_json('shop.t_other'::regclass)", 'type:regclass'],
  ['an operator of a schema', () => 'SELECT to_json(1 OPERATOR(shop.+) 1)', 'operator:shop.+'],
  ['a parameter that is not bound', () => 'SELECT to_json($7::text)', 'parameter:$7'],
  ['a lock', () => 'SELECT to_json(c.id) FROM shop.t_city AS c FOR UPDATE', ''],
];

describe('a plan with', () => {
  it.each(FAULTS)('%s is not sent', async (_, change, reason) => {
    expect((await s.query('SELECT name FROM svc.city', 'shop')).json.data).toEqual([{ name: 'Berlin' }]);
    s.reached();
    fault = (plan) => ({ ...plan, sql: change(plan.sql) });
    const marked = `SELECT name AS n${FAULTS.findIndex(([, c]) => c === change)} FROM svc.city`;
    const { status, json } = await s.query(marked, 'shop');
    expect([status, json.code]).toEqual([500, 'refused_by_verifier']);
    expect(JSON.stringify(json)).not.toMatch(/t_city|t_other|pg_|regclass/);
    // EXPLAIN sends the same text, and so do REST and filters
    expect((await s.query(`EXPLAIN ${marked}`, 'shop')).json.code).toBe('refused_by_verifier');
    const rest = (await s.get('ontology/shop/concept/city?name=Berlin')).json;
    expect(rest).not.toMatchObject({ data: [{ name: 'Berlin' }] });
    expect(s.reached()).toEqual([]);
    for (const line of await refusals(rest.code === 'refused_by_verifier' ? 3 : 2)) {
      expect(line).toMatchObject({ level: 'error', digest: reason.startsWith('syntax') ? expect.anything() : expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect(String(line.reason).startsWith(reason)).toBe(true);
      expect(String(line.reason)).toMatch(/^[a-z_]+:/);
    }
  });

  it('no fault is verified once for all requests that share it', async () => {
    const { parser } = await import('../../src/cli/node-parser.ts').then(async (m) => ({ parser: await m.loadNodeParser() }));
    const parse = vi.spyOn(parser, 'parse');
    const finished = (): number => parse.mock.calls.filter(([sql]) => sql.includes('t_city')).length;
    const sql = 'SELECT name AS once FROM svc.city';
    await s.rows(sql, 'shop');
    const first = finished();
    expect(first).toBeGreaterThan(0);
    await s.rows(sql, 'shop');
    await s.rows(sql, 'shop');
    expect(finished()).toBe(first);
  });

  it('too many levels for the verifier is too complex, not a fault', async () => {
    fault = (plan) => ({ ...plan, sql: `SELECT ${'to_json('.repeat(5000)}1${')'.repeat(5000)}` });
    const { status, json } = await s.query('SELECT name AS deep FROM svc.city', 'shop');
    expect([status, json.code]).toEqual([400, 'too_complex']);
  });
});

describe('the description of a mapping', () => {
  it('is not requested with a faulty text', async () => {
    s.reached();
    vi.spyOn(Texts.prototype, 'tableSql').mockReturnValue('SELECT pg_sleep(1), id, name FROM shop.t_city');
    const { status, json } = await s.query('CREATE OR REPLACE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city WHERE id > 0', 'shop');
    expect([status, json.code]).toEqual([500, 'refused_by_verifier']);
    expect(s.reached()).toEqual([]);
  });
});

describe('the catalog', () => {
  it('is reached by another role, and never by a caller’s statement', async () => {
    await s.rows('SELECT name FROM svc.city', 'shop');
    const sent = vi.spyOn(globalThis, 'fetch');
    await s.rows('SELECT name AS other FROM svc.city', 'shop');
    const toCatalog = sent.mock.calls.filter(([, init]) => new Headers(init?.headers).get('neon-connection-string')?.includes(`//${CATALOG_OWNER}:`));
    for (const [, init] of toCatalog) expect(String(init?.body)).not.toContain('t_city');
  });
});
