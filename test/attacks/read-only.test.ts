/** Requests with `x-read-only`: what somebody else wrote, such as the text of a link, must change nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { by, s, startCallers } from './callers.ts';

beforeAll(startCallers, 120_000);
afterAll(() => s?.close());

const CHANGES = [
  'CREATE ROLE intruder',
  "CREATE USER intruder PASSWORD 'x'",
  'GRANT ROLE admin TO USER intruder',
  'GRANT QUERY ON ALL ontology.shop TO USER intruder',
  'CREATE TOKEN FOR admin',
  'REFRESH PERMISSIONS',
  'CREATE CONCEPT intruder (id bigint)',
  'CREATE ONTOLOGY intruder',
  'DROP ONTOLOGY shop',
  'DROP CONCEPT city',
  "ALTER ONTOLOGY shop SET description = 'intruder'",
  'CREATE POLICY intruder ON CONCEPT city TO PUBLIC USING (true)',
  'CREATE AGENT intruder ONTOLOGY (shop)',
  "CREATE EXAMPLE 'intruder' AS SELECT name FROM svc.city",
] as const;

async function state(): Promise<string> {
  const lists = ['SYS_USERS', 'SYS_ROLES', 'SYS_GRANTS', 'SYS_AGENTS'].map((table) => s.rows(`SELECT * FROM svc.${table}`, 'shop'));
  return JSON.stringify([
    ...(await Promise.all(lists)),
    await s.rows('SHOW VERSIONS', 'shop'),
    await s.rows('SHOW ONTOLOGIES'),
    await s.rows('SHOW TOKEN FOR admin'),
  ]);
}

describe('a request with x-read-only', () => {
  const headers = { 'x-read-only': 'true' };
  const send = (path: string, body: string, type: string, more = {}) =>
    s.fetch(path, { method: 'POST', headers: { ...headers, ...by(s.token), 'content-type': type, ...more }, body });

  it.each(CHANGES)('does not run %s, alone or after a statement that reads', async (change) => {
    const before = await state();
    for (const sql of [change, `SELECT 1 AS one; ${change}`, `EXPLAIN (LOGICAL) SELECT 1 AS one; ${change}`]) {
      const json = await send('/svc/api/query', JSON.stringify({ ontology_name: 'shop', query: sql }), 'application/json');
      const text = await send('/svc/openapi/ontology/shop/query', sql, 'text/plain');
      for (const answer of [json, text]) expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'read_only' }]);
    }
    const started = await send('/svc/openapi/ontology/shop/query', change, 'text/plain', { 'x-async': 'true' });
    const { poll_url } = (await started.json()) as { poll_url: string };
    const read = async () => (await s.fetch(poll_url, { headers: by(s.token) })).text();
    await expect.poll(read, { timeout: 10_000 }).toContain('"error_type"');
    expect(await state()).toBe(before);
  });

  it('applies no model files, and clears no cache', async () => {
    const files = JSON.stringify({ files: [{ name: 'a', text: 'CREATE CONCEPT intruder (id bigint)' }] });
    const apply = await send('/svc/api/model/shop/apply', files, 'application/json');
    expect([apply.status, await apply.json()]).toMatchObject([403, { code: 'read_only' }]);
    expect((await send('/svc/api/model/shop/plan', files, 'application/json')).status).toBe(200);
    const token = await s.fetch('/svc/api/get_token', { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } });
    expect([token.status, await token.json()]).toMatchObject([403, { code: 'read_only' }]);
    const clear = await s.fetch('/svc/api/clear_cache/shop', { headers: { ...headers, ...by(s.token) } });
    expect([clear.status, await clear.json()]).toMatchObject([403, { code: 'read_only' }]);
  });

  it.each(['TRUE', ' true ', '1', 'yes', 'true, true', 'ture', 'on', '"true"'])('changes nothing with the value %j', async (value) => {
    const body = JSON.stringify({ query: 'CREATE ROLE intruder' });
    const answer = await send('/svc/api/query', body, 'application/json', { 'x-read-only': value });
    expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'read_only' }]);
  });

  it.each(['false', 'False', ''])('may change something with the value %j', async (value) => {
    const body = JSON.stringify({ query: 'CREATE ROLE allowed; DROP ROLE allowed' });
    expect((await send('/svc/api/query', body, 'application/json', { 'x-read-only': value })).status).toBe(200);
  });

  it('runs what only reads', async () => {
    const answer = await send(
      '/svc/api/query',
      JSON.stringify({ ontology_name: 'shop', query: 'SHOW CONCEPTS; SELECT count(*) AS n FROM svc.city' }),
      'application/json',
    );
    expect(answer.status).toBe(200);
  });
});
