/** Values in the log: data that a caller sends and data in rows must not be in it, however a request fails. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loggedFault, SvcError } from '../../src/errors.ts';
import { startService, type TestService } from '../support/service.ts';

const SECRET = 'Geheim4711';

let s: TestService;
const lines: unknown[] = [];
beforeAll(async () => {
  s = await startService({ parts: { log: (line) => void lines.push(line) } });
  await s.database.exec('CREATE SCHEMA shop');
  await s.database.exec('CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text)');
  await s.database.exec(`INSERT INTO shop.t_city VALUES (1, '${SECRET}')`);
  await s.rows(
    'CREATE ONTOLOGY shop; CREATE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city',
    'shop',
  );
});
afterAll(() => s?.close());
beforeEach(() => lines.splice(0));

const post = (path: string, body: string, type = 'application/json') =>
  s.fetch(path, { method: 'POST', headers: { 'x-api-key': s.token, 'content-type': type }, body });
const query = (sql: string) => post('/svc/api/query', JSON.stringify({ ontology_name: 'shop', query: sql }));

/** The log after a request that fails with this status. */
async function logged(answer: Promise<Response>, status: number): Promise<string> {
  const response = await answer;
  expect([response.status, await response.text()][0]).toBe(status);
  expect(lines.length).toBeGreaterThan(0);
  return JSON.stringify(lines);
}

describe('The log has no value of a row', () => {
  it.each([
    'SELECT CAST(name AS int) AS n FROM svc.city',
    'SELECT CAST(name AS date) AS n FROM svc.city',
    "SELECT CAST(name AS json) ->> 'a' AS n FROM svc.city",
    'SELECT name::uuid AS n FROM svc.city',
    "SELECT to_date(name, 'YYYY') AS n FROM svc.city",
    'SELECT name::interval AS n FROM svc.city',
    "SELECT (name || ' & &')::tsquery AS n FROM svc.city",
    `SELECT ('''' || name)::tsvector AS n FROM svc.city`,
    "SELECT ('$' || name || ' ' || name)::jsonpath AS n FROM svc.city",
  ])('if %s fails', async (sql) => {
    const log = await logged(query(sql), 400);
    expect(log).not.toContain(SECRET);
    expect(log).toMatch(/SQLSTATE (22|42601)/);
  });
});

describe('The log has nothing of a body', () => {
  it.each([
    ['that is one word', SECRET],
    ['that is not JSON', `ALTER USER ann SET PASSWORD = '${SECRET}'`],
    ['that breaks off', `{"ontology_name": "", "query": "ALTER USER ann SET PASSWORD = '${SECRET}'`],
    ['with a line end in a text', `{"query": "CREATE USER ann\n PASSWORD '${SECRET}'"}`],
    ['of another kind', `["${SECRET}"]`],
    ['with a member of another kind', `{"query": ["${SECRET}"]}`],
  ])('%s', async (_what, body) => {
    expect(await logged(post('/svc/api/query', body), 400)).not.toContain(SECRET);
  });

  it.each([
    `CREATE USER ann PASSWORD '${SECRET}' and more`,
    `CREATE USER ann OPTIONS (secret = '${SECRET}', secret = '${SECRET}')`,
    `ALTER USER nobody SET PASSWORD = '${SECRET}'`,
    `SELECT '${SECRET}'::int AS n`,
    `SELECT * FROM svc.city WHERE name = '${SECRET}`,
    `REVOKE TOKEN '${SECRET}'`,
    `CREATE MAPPING failing INTO (city) AS SELECT 1 AS id, '${SECRET}'::int AS name`,
    `CREATE VIEW failing AS SELECT '${SECRET}'::int AS n FROM shop.t_city`,
    `SELECT '${SECRET} & &'::tsquery AS n`,
  ])('%s', async (sql) => {
    expect(await logged(query(sql), 400)).not.toContain(SECRET);
  });
});

describe('An error in the log', () => {
  it('keeps a text without values, and the position in the code', () => {
    const fault = loggedFault(
      new SvcError(502, 'datasource_failed', 'it failed', { cause: Object.assign(new Error('relation "a" does not exist'), { sqlstate: '42P01' }) }),
    );
    expect(fault).toMatchObject({ name: 'SvcError', message: 'it failed', cause: { message: 'relation "a" does not exist' } });
    expect(fault.stack).toMatch(/^SvcError: it failed\n\s+at /);
  });

  it('has no part of a message in its stack', () => {
    const fault = loggedFault(Object.assign(new Error(`bad value\n    at ${SECRET}`), { sqlstate: '22P02' }));
    expect(JSON.stringify(fault)).not.toContain(SECRET);
    expect(fault.message).toBe('SQLSTATE 22P02');
  });
});
