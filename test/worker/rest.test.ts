import { exports } from 'cloudflare:workers';
import { describe, expect, inject, it, vi } from 'vitest';
import { flat } from './flat-prototypes.ts';
import { logged } from './no-secrets.ts';

const BASE = 'http://127.0.0.1:8787';
const ADMIN = inject('adminToken');

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}

async function send(
  method: string,
  path: string,
  { token = ADMIN as string | null, headers = {} as Record<string, string>, body = undefined as string | undefined } = {},
): Promise<Answer> {
  const all = { ...(token === null ? {} : { 'x-api-key': token }), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers };
  const response = await exports.default.fetch(new Request(BASE + path, { method, headers: all, ...(body === undefined ? {} : { body }), redirect: 'manual' }));
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

const query = (sql: string, ontology: string | undefined = '', options: { token?: string | null; headers?: Record<string, string> } = {}): Promise<Answer> =>
  send('POST', '/svc/api/query/', { ...options, body: JSON.stringify({ ...(ontology === undefined ? {} : { ontology_name: ontology }), query: sql }) });

function failed(answer: Answer, status: number, code?: string): void {
  expect({ status: answer.status, shape: answer.json?.status, id: answer.json?.request_id }).toEqual({
    status,
    shape: 'error',
    id: answer.headers.get('x-request-id'),
  });
  expect(answer.json.data.length).toBeGreaterThan(0);
  if (code !== undefined) expect(answer.json.code).toBe(code);
}

async function rows(sql: string, ontology?: string, options?: { token?: string }): Promise<unknown> {
  const answer = await query(sql, ontology, options);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json.status).toBe('success');
  return answer.json.data;
}

it('requests add no proxies to the prototypes of their wrappers', async () => {
  await send('GET', '/health');
  const before = flat.reused;
  await send('GET', '/health');
  expect(flat.reused).toBeGreaterThan(before);
});

describe('every answer', () => {
  it('health needs no credential', async () => {
    for (const path of ['/svc/api/health', '/svc/api/health/']) {
      const { status, json } = await send('GET', path, { token: null });
      expect([status, json.status, json.name]).toEqual([200, 'success', 'svc']);
    }
  });

  it('has a line in the log, which is searched for secrets at the end', async () => {
    await send('GET', '/svc/api/get_ontologies', { headers: { 'x-request-id': 'looked-for' } });
    await vi.waitFor(() => expect(logged.filter((line) => line.includes('"request_id":"looked-for"'))).toHaveLength(1));
  });

  it('has a request id, the caller\u2019s if it is valid, and is not cached', async () => {
    const own = await send('GET', '/svc/api/health', { headers: { 'x-request-id': 'A_b-c.9' } });
    expect([own.headers.get('x-request-id'), own.headers.get('cache-control')]).toEqual(['A_b-c.9', 'private, no-store']);
    const strange = await send('GET', '/svc/api/health', { headers: { 'x-request-id': 'a b' } });
    expect(strange.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('an unknown path is 404, another method 405 with allow', async () => {
    failed(await send('GET', '/svc/api/nothing', { token: null }), 404, 'unknown_path');
    failed(await send('GET', '/other/api/health', { token: null }), 404);
    const answer = await send('GET', '/svc/api/query/');
    failed(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe('POST');
    expect((await send('DELETE', '/svc/api/get_ontologies')).headers.get('allow')).toBe('GET, POST');
  });

  it('a missing or invalid credential is 401 with www-authenticate', async () => {
    const bad: Record<string, string>[] = [
      {},
      { 'x-api-key': '' },
      { 'x-api-key': 'tk_' },
      { 'x-api-key': `${ADMIN}x` },
      { 'x-api-key': inject('strangersToken') },
      { authorization: 'Bearer tk_wrong' },
      { authorization: 'Basic eDp5' },
      { 'x-api-key': 'tk_wrong', authorization: `Bearer ${ADMIN}` },
      { 'x-jwt-token': 'a.b.c' },
    ];
    for (const headers of bad) {
      const answer = await send('GET', '/svc/api/get_ontologies/', { token: null, headers });
      failed(answer, 401);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
    expect((await send('GET', '/svc/api/get_ontologies/', { token: null, headers: { authorization: `Bearer ${ADMIN}` } })).status).toBe(200);
    expect((await send('GET', '/svc/api/get_ontologies/', { headers: { authorization: 'nonsense' } })).status).toBe(200);
  });

  it('a foreign Host is refused on loopback', async () => {
    const response = await exports.default.fetch(new Request('http://evil.example/svc/api/health'));
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([421, 'misdirected_request']);
  });

  it('a URL of more than 16 KiB is 414, a body over 1 MiB 413', async () => {
    failed(await send('GET', `/svc/api/get_ontology/${'a'.repeat(16 * 1024)}`), 414);
    failed(await send('POST', '/svc/api/query', { body: JSON.stringify({ query: 'SELECT 1' }).padEnd(1024 * 1024 + 1) }), 413);
  });

  it('bodies are JSON of the documented form', async () => {
    const post = (body: string, type = 'application/json') => send('POST', '/svc/api/query', { body, headers: { 'content-type': type } });
    for (const type of ['text/plain', 'application/xml', 'application/x-www-form-urlencoded']) failed(await post('{"query":"SELECT 1"}', type), 415);
    for (const body of [
      '',
      '{',
      'null',
      '[]',
      '{}',
      '{"query":5}',
      '{"query":" "}',
      '{"query":"-- nothing"}',
      '{"query":"SELECT 1","ontology_name":7}',
      '{"__proto__":{"query":"SELECT 1"}}',
    ])
      failed(await post(body), 400);
    const answer = await post('{"query":"SELECT 1 AS one"}', 'application/json; charset=utf-8');
    expect(answer.json).toEqual({ status: 'success', data: [{ one: 1 }] });
  });
});

describe('a script', () => {
  const SCRIPT = `CREATE ONTOLOGY zoo DESCRIPTION 'Animals';
CREATE CONCEPT animal (no bigint, name string, weight decimal, PRIMARY KEY (no), LABEL (name));
CREATE MAPPING map_animal INTO animal AS SELECT no, called AS name, weight FROM zoo.t_animal;`;

  it('creates an ontology with its model in one version', async () => {
    const answer = await query(SCRIPT, 'zoo');
    expect(answer.json.data).toEqual([{ version: answer.headers.get('x-ontology-version'), statements: 3, warnings: [] }]);
    const detail = (await send('GET', '/svc/api/get_ontology/zoo')).json.data;
    expect(detail.version).toBe(answer.json.data[0].version);
    expect(detail.datasources).toEqual([{ name: 'main', type: 'postgres', is_active: true }]);
    expect(detail.ontology.map((c: { concept: string }) => c.concept)).toEqual(['animal']);
    // other files of this project have ontologies of their own in the same catalog
    const listed: string[] = (await send('GET', '/svc/api/get_ontologies/')).json.data;
    expect(listed.filter((name) => name === 'zoo')).toEqual(['zoo']);
  });

  it('returns rows as PostgreSQL writes them', async () => {
    const answer = await query('SELECT name, weight FROM svc.animal ORDER BY no', 'ZOO');
    expect(answer.text).toBe(
      '{"status":"success","data":[{"name":"Ada","weight":12.50},{"name":"B\u00e4r","weight":9007199254740993},{"name":null,"weight":null}]}',
    );
  });

  it('of a concept by its URL returns the SQL', async () => {
    const { json, headers } = await send('GET', '/svc/api/q/zoo/concept/Animal/', { headers: { 'results-limit': '1' } });
    expect(json.executed_query).toBe('SELECT * FROM `svc`.`animal`');
    expect(json.data).toEqual([{ entity_id: 'animal:1', entity_type: 'animal', entity_label: 'Ada', no: 1, name: 'Ada', weight: 12.5 }]);
    expect(headers.get('x-ontology-version')).toMatch(/^[0-9a-f-]{36}$/);
    failed(await send('GET', '/svc/api/q/zoo/concept/animl'), 404, 'unknown_concept');
    failed(await send('GET', '/svc/api/q/zoo/concept/animal?_subj_=no'), 400);
  });

  it('as text returns a bare array on the other route family', async () => {
    const answer = await send('POST', '/svc/openapi/ontology/zoo/query', {
      body: 'SELECT count(*) AS n FROM svc.animal',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.text).toBe('[{"n":3}]');
    failed(
      await send('POST', '/svc/openapi/ontology/zoo/query?datasource=nowhere', { body: 'SELECT 1', headers: { 'content-type': 'text/plain' } }),
      400,
      'unknown_datasource',
    );
  });

  it('with an error has no effect and reports its position in characters', async () => {
    const before = (await send('GET', '/svc/api/get_ontology/zoo')).json.data.version;
    const sql = "CREATE PROPERTY kept string DESCRIPTION '\u{1f701}'; SELECT naem FROM svc.animal";
    const answer = await query(sql, 'zoo');
    failed(answer, 400);
    expect(answer.json.position).toBe([...sql.slice(0, sql.indexOf('naem'))].length + 1);
    failed(await query('CREATE PROPERTY kept string; CREATE CONCEPT c INHERITS (nobody)', 'zoo'), 400);
    failed(await query('CREATE MAPPING m2 INTO animal AS SELECT no FROM zoo.absent', 'zoo'), 400, 'mapping_failed');
    expect((await send('GET', '/svc/api/get_ontology/zoo')).json.data.version).toBe(before);
  });

  it('never reaches the catalog', async () => {
    for (const sql of [
      'SELECT * FROM kg_catalog.tokens',
      'SELECT (SELECT hash FROM kg_catalog.tokens LIMIT 1) AS x',
      'WITH a AS (SELECT * FROM kg_catalog.users) SELECT * FROM a',
    ])
      failed(await query(sql, 'zoo'), 400);
    failed(await query('CREATE MAPPING sly INTO animal AS SELECT 1 AS no, hash AS name FROM kg_catalog.tokens', 'zoo'), 400);
    failed(await query('CREATE VIEW sly USING main AS SELECT hash FROM kg_catalog.tokens', 'zoo'), 400);
    failed(await query("SELECT query_to_xml('SELECT * FROM kg_catalog.tokens', true, true, '')", 'zoo'), 400);
  });

  it('of two simultaneous writers one gets 409 or both are committed', async () => {
    const names = ['w1', 'w2', 'w3', 'w4'];
    const answers = await Promise.all(names.map((n) => query(`CREATE PROPERTY ${n} string`, 'zoo')));
    for (const a of answers) if (a.status !== 200) failed(a, 409, 'version_conflict');
    const kept = names.filter((_, i) => answers[i]?.status === 200);
    expect(kept.length).toBeGreaterThan(0);
    const { properties } = (await send('GET', '/svc/api/get_ontology/zoo')).json.data;
    expect(names.filter((n) => n in properties)).toEqual(kept);
  });

  it('rolls back to an old version', async () => {
    const { version } = (await send('GET', '/svc/api/get_ontology/zoo')).json.data;
    await rows('CREATE PROPERTY passing string', 'zoo');
    await rows(`ROLLBACK ONTOLOGY zoo TO VERSION '${version}'`, 'zoo');
    const { properties } = (await send('GET', '/svc/api/get_ontology/zoo')).json.data;
    expect('passing' in properties).toBe(false);
    failed(await query("ROLLBACK ONTOLOGY zoo TO VERSION '00000000-0000-4000-8000-000000000000'", 'zoo'), 400, 'unknown_version');
  });
});

describe('users', () => {
  it('have no rights, then what they are granted, at once', async () => {
    await rows("CREATE USER ann PASSWORD 'x'");
    failed(await query('CREATE USER Ann'), 400, 'exists');
    const [{ token, user, token_id, expires }] = (await rows('CREATE TOKEN FOR ANN')) as {
      token: string;
      user: string;
      token_id: string;
      expires: string;
    }[] as [{ token: string; user: string; token_id: string; expires: string }];
    expect(user).toBe('ann');
    expect(token_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Math.round((Date.parse(expires) - Date.now()) / 86_400_000)).toBe(90);
    expect((await send('GET', '/svc/api/get_ontologies/', { token })).json.data).toEqual([]);
    const hidden = await query('SELECT 1', 'zoo', { token });
    const unknown = await query('SELECT 1', 'zzz', { token });
    failed(hidden, 404, 'unknown_ontology');
    expect(hidden.json.data.replace('zoo', '')).toBe(unknown.json.data.replace('zzz', ''));
    failed(await query('CREATE ONTOLOGY mine', '', { token }), 403);
    failed(await query('CREATE USER eve', '', { token }), 403);
    failed(await query('DROP ONTOLOGY zoo', '', { token }), 400);
    await rows('GRANT QUERY ON ALL ontology.zoo TO USER ann');
    expect((await send('GET', '/svc/api/get_ontologies/', { token })).json.data).toEqual(['zoo']);
    expect(await rows('SELECT count(*) AS n FROM svc.animal', 'zoo', { token })).toEqual([{ n: 3 }]);
    failed(await query('CREATE PROPERTY x string', 'zoo', { token }), 403);
    failed(await query('GRANT QUERY ON ALL ontology.zoo TO USER ann', '', { token }), 403);
    await rows('GRANT EDIT ON ontology.zoo TO USER ann');
    await rows('CREATE PROPERTY x string', 'zoo', { token });
    failed(await query('CREATE MAPPING again INTO animal AS SELECT no FROM zoo.t_animal', 'zoo', { token }), 403);
    await rows('GRANT QUERY ON datasource.main TO USER ann');
    await rows('CREATE MAPPING again INTO animal AS SELECT no FROM zoo.t_animal; DROP MAPPING again', 'zoo', { token });
  });

  it('have tokens that expire', async () => {
    await rows('CREATE USER bob');
    failed(await query("CREATE TOKEN FOR bob EXPIRES 'whenever'"), 400, 'bad_time');
    failed(await query("CREATE TOKEN FOR bob EXPIRES '2001-01-01T00:00:00Z'"), 400, 'bad_time');
    failed(await query("CREATE TOKEN FOR bob EXPIRES '20000-01-01'"), 400, 'bad_time');
    const tokenFor = async (ms: number) =>
      ((await rows(`CREATE TOKEN FOR bob EXPIRES '${new Date(Date.now() + ms).toISOString()}'`)) as [{ token: string }])[0].token;
    const lasting = await tokenFor(600_000);
    expect((await send('GET', '/svc/api/get_ontologies', { token: lasting })).status).toBe(200);
    const short = await tokenFor(1500);
    await new Promise((resolve) => setTimeout(resolve, 1800));
    failed(await send('GET', '/svc/api/get_ontologies', { token: short }), 401);
  });

  it('and all other objects of one script see its effects', async () => {
    const [row] = (await rows('CREATE ONTOLOGY together; CREATE USER cid; GRANT QUERY ON ALL ontology.together TO USER cid; CREATE TOKEN FOR cid')) as [
      { token: string },
    ];
    expect((await send('GET', '/svc/api/get_ontologies', { token: row.token })).json.data).toEqual(['together']);
    await rows('DROP ONTOLOGY together');
    await rows('CREATE ONTOLOGY together');
    expect((await send('GET', '/svc/api/get_ontologies', { token: row.token })).json.data).toEqual([]);
  });
});

describe('datasources', () => {
  it('name a variable that begins with DATASOURCE_ and is set', async () => {
    failed(await query("CREATE DATASOURCE d TYPE postgres SECRET 'CATALOG_URL'"), 400, 'bad_secret');
    failed(await query("CREATE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_ABSENT'"), 400, 'secret_not_set');
    await rows("CREATE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_MAIN'; ALTER ONTOLOGY zoo ADD DATASOURCE d");
    failed(await query('DROP DATASOURCE d'), 400, 'in_use');
    await rows('ALTER ONTOLOGY zoo REMOVE DATASOURCE d; DROP DATASOURCE d');
    failed(await query('ALTER ONTOLOGY zoo REMOVE DATASOURCE main'), 400, 'in_use');
  });
});
