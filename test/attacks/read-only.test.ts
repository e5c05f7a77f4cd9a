/** Requests with `x-read-only`: a statement of another author, such as the text of a link, must change nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { by, catalog, s, startCallers } from './callers.ts';

beforeAll(startCallers);
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

  it.each(CHANGES)('does not run %s, by itself or after a statement that reads', async (change) => {
    const before = await state();
    for (const sql of [change, `SELECT 1 AS one; ${change}`, `EXPLAIN (LOGICAL) SELECT 1 AS one; ${change}`]) {
      const json = await send('/svc/api/query', JSON.stringify({ ontology_name: 'shop', query: sql }), 'application/json');
      const text = await send('/svc/openapi/ontology/shop/query', sql, 'text/plain');
      for (const answer of [json, text]) expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'read_only' }]);
    }
    const started = await send('/svc/openapi/ontology/shop/query', change, 'text/plain', { 'x-async': 'true' });
    const { poll_url } = (await started.json()) as { poll_url: string };
    const read = async () => (await s.fetch(poll_url, { headers: by(s.token) })).text();
    await expect.poll(read).toContain('"error_type"');
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

const JSON_BODY = {
  query: 'CREATE ROLE intruder',
  prompt: 'how many cities',
  files: [{ name: 'a', text: 'CREATE CONCEPT intruder (id bigint)' }],
  form_token: 'x',
};
const FORM_BODY = 'user=admin&password=x&decision=allow&grant=x&form_token=x&grant_type=authorization_code';
/** The routes. `refused`: a request that changes something is 403. `reads`: no request changes anything but records about requests. */
const ROUTES: Readonly<Record<string, 'reads' | 'refused'>> = {
  'GET /': 'reads',
  'GET /llms.txt': 'reads',
  'GET /llms-full.txt': 'reads',
  'GET /svc/docs/:file': 'reads',
  'GET /svc/api/health': 'reads',
  'GET /svc/api/health/ready': 'reads',
  'GET /svc/api/get_ontologies': 'reads',
  'POST /svc/api/get_ontologies': 'reads',
  'GET /svc/api/get_agents': 'reads',
  'POST /svc/api/get_agents': 'reads',
  'GET /svc/api/get_config/:name': 'reads',
  'POST /svc/api/get_config/:name': 'reads',
  'POST /svc/api/llm_prompts/:name': 'reads',
  'GET /svc/api/clear_cache/:ontology': 'refused',
  'POST /svc/api/clear_cache/:ontology': 'refused',
  'GET /svc/api/get_ontology/:ontology': 'reads',
  'POST /svc/api/get_ontology/:ontology': 'reads',
  'POST /svc/api/query': 'refused',
  'POST /svc/api/model/:ontology/plan': 'reads',
  'POST /svc/api/model/:ontology/apply': 'refused',
  'GET /svc/api/q/:ontology/concept/:concept': 'reads',
  'GET /svc/api/q/:ontology/view/:view': 'reads',
  'POST /svc/openapi/ontology/:ontology/query': 'refused',
  'POST /svc/openapi/execute/prompt': 'reads',
  'POST /svc/openapi/execute/answer': 'reads',
  'GET /svc/openapi/execute/show_ontologies': 'reads',
  'GET /svc/openapi/get-async-results/:id': 'reads',
  'GET /svc/api/fetch_conversation_history': 'reads',
  'POST /svc/api/kb/search': 'reads',
  'POST /svc-server/log_agent/:call': 'refused',
  'POST /svc-server/log_benchmark/:call': 'refused',
  'GET /svc/api/openapi.json': 'reads',
  'GET /svc/api/openapi/:document': 'reads',
  'GET /svc/api/docs': 'reads',
  'GET /svc/api/docs/script.js': 'reads',
  'GET /svc/api/docs/style.css': 'reads',
  'POST /svc/api/get_token': 'refused',
  'GET /svc/login/style.css': 'reads',
  'GET /svc/login': 'reads',
  'POST /svc/login': 'refused',
  'GET /svc/login/callback': 'refused',
  'POST /svc/logout': 'refused',
  'GET /svc/get_svc_user_token': 'refused',
  'GET /svc/console': 'reads',
  'GET /svc/console/assets/:file': 'reads',
  'GET /svc/console/session': 'reads',
  'POST /svc/console/token': 'refused',
  'POST /svc/console/link': 'refused',
  'GET /svc/console/enter': 'refused',
  'ALL /.well-known/oauth-authorization-server': 'reads',
  'ALL /.well-known/oauth-protected-resource': 'reads',
  'ALL /.well-known/oauth-authorization-server/svc/api/mcp': 'reads',
  'ALL /.well-known/oauth-protected-resource/svc/api/mcp': 'reads',
  'ALL /svc/oauth/token': 'refused',
  'ALL /svc/oauth/register': 'refused',
  'GET /svc/oauth/authorize': 'reads',
  'POST /svc/oauth/authorize': 'refused',
  'GET /svc/oauth/grants': 'reads',
  'POST /svc/oauth/grants': 'refused',
};

describe('each route with x-read-only', () => {
  /** All rows of the catalog, without the records about requests. */
  async function stored(): Promise<string> {
    const tables = await catalog("SELECT table_name AS t FROM information_schema.tables WHERE table_schema = 'kg_catalog' ORDER BY 1");
    const kept = tables.map(({ t }) => String(t)).filter((t) => !/^(audit|agents_history)/.test(t));
    const rows = await Promise.all(kept.map((t) => catalog(`SELECT to_jsonb(r) - 'last_used' AS r FROM kg_catalog."${t}" r ORDER BY 1`)));
    return JSON.stringify([kept, rows]);
  }

  it('is in the list of this test', () => {
    const routes = createApp('svc', '1').routes.filter(({ path }) => path !== '/*');
    expect([...new Set(routes.map(({ method, path }) => `${method} ${path}`))].sort()).toEqual(Object.keys(ROUTES).sort());
  });

  it.each(Object.entries(ROUTES))('%s: %s', async (route, effect) => {
    const before = await stored();
    const [method = '', pattern = ''] = route.split(' ');
    const path = pattern.replace(':ontology', 'shop').replace(':concept', 'city').replace(/:\w+/, '00000000-0000-4000-8000-000000000000');
    const isForm = /login|logout|oauth/.test(path);
    const init =
      method === 'GET'
        ? {}
        : { method: 'POST', body: isForm ? FORM_BODY : path.endsWith('/query') && path.includes('openapi') ? JSON_BODY.query : JSON.stringify(JSON_BODY) };
    const type = isForm ? 'application/x-www-form-urlencoded' : path.includes('openapi/ontology') ? 'text/plain' : 'application/json';
    const answer = await s.fetch(path, { ...init, headers: { 'x-read-only': 'true', ...by(s.token), 'content-type': type } });
    const text = await answer.text();
    if (effect === 'refused') expect([answer.status, JSON.parse(text)]).toMatchObject([403, { code: 'read_only' }]);
    else expect(text).not.toContain('"code":"read_only"');
    expect(await stored()).toBe(before);
  });
});
