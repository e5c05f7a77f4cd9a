/** The MCP server in the Workers runtime: clients of the SDK over both transports and both eras, and forbidden raw requests. */
/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { createExecutionContext, env, listDurableObjectIds } from 'cloudflare:test';
import { exports } from 'cloudflare:workers';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import worker from 'built-worker';
import { beforeAll, describe, expect, inject, it } from 'vitest';

const BASE = 'http://127.0.0.1:8787';
const ADMIN = inject('adminToken');

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}

const call = (url: string, init: RequestInit): Promise<Response> => exports.default.fetch(new Request(url, init));

async function send(method: string, path: string, { token = ADMIN as string | null, headers = {} as Record<string, string>, body = '' } = {}): Promise<Answer> {
  const all = { ...(token === null ? {} : { 'x-api-key': token }), ...(body === '' ? {} : { 'content-type': 'application/json' }), ...headers };
  const response = await call(BASE + path, { method, headers: all, ...(body === '' ? {} : { body }) });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

const script = (sql: string, ontology = '') => send('POST', '/svc/api/query', { body: JSON.stringify({ query: sql, ontology_name: ontology }) });
const rpc = (method: string, params?: object, id: number | string = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
type Options = { token?: string | null; headers?: Record<string, string>; at?: string };
const post = (method: string, params?: object, { at = '/svc/api/mcp', ...options }: Options = {}) =>
  send('POST', at, { ...options, body: rpc(method, params) });
const tool = (name: string, args: object, options?: Options) => post('tools/call', { name, arguments: args }, options);
const rowsOf = async (query: string, options?: Options) => (await tool('execute_sql', { query }, options)).json.result.structuredContent.rows;
async function refusal(name: string, args: object, options?: Options): Promise<string> {
  const { status, json } = await tool(name, args, options);
  expect([status, json.result?.isError], JSON.stringify(json)).toEqual([200, true]);
  return json.result.content[0].text;
}

const AT_PARK = { 'x-ontology': 'park' };
let dora: string;
let edna: string;
beforeAll(async () => {
  await script(
    'CREATE ONTOLOGY park; CREATE CONCEPT animal (no bigint, name string, weight decimal, PRIMARY KEY (no)); CREATE MAPPING m INTO animal AS SELECT no, called AS name, weight FROM zoo.t_animal',
  );
  await script('CREATE ONTOLOGY den; CREATE CONCEPT cub (no bigint, PRIMARY KEY (no)); CREATE MAPPING m INTO cub AS SELECT no FROM zoo.t_animal');
  await script('CREATE AGENT keeper ONTOLOGY (park)');
  dora = (await script('CREATE USER dora; GRANT EDIT ON ALL ontology.park TO USER dora; CREATE TOKEN FOR dora')).json.data[0].token;
  edna = (await script('CREATE USER edna; GRANT QUERY ON ALL ontology.den TO USER edna; CREATE TOKEN FOR edna')).json.data[0].token;
});

describe('clients of the SDK', () => {
  const fetcher = (url: string | URL, init?: RequestInit) => call(String(url), init ?? {});
  const requestInit = { headers: { 'x-api-key': ADMIN, 'x-ontology': 'park' } };
  const transports = {
    'Streamable HTTP': () => new StreamableHTTPClientTransport(new URL(`${BASE}/svc/api/mcp/`), { fetch: fetcher, requestInit }),
    SSE: () =>
      new SSEClientTransport(new URL(`${BASE}/svc/api/mcp/sse`), {
        fetch: fetcher,
        requestInit,
        eventSourceInit: { fetch: (url, init) => fetcher(url, { ...init, headers: { ...init.headers, ...requestInit.headers } }) },
      }),
  };
  for (const [name, transport] of Object.entries(transports)) {
    it(`list, call, read and ask over ${name}`, async () => {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport());
      expect(client.getServerVersion()).toMatchObject({ name: 'svc' });
      expect(client.getInstructions()).toMatch(/list_ontologies.*describe_knowledge_graph.*execute_sql/s);
      expect((await client.listTools()).tools).toHaveLength(10);
      const { structuredContent, content } = await client.callTool({
        name: 'execute_sql',
        arguments: { query: 'SELECT no, name, weight FROM svc.animal ORDER BY no' },
      });
      const expected = [
        { no: 1, name: 'Ada', weight: 12.5 },
        { no: 2, name: 'B\u00e4r', weight: '9007199254740993' },
        { no: 3, name: null, weight: null },
      ];
      expect(structuredContent).toEqual({ rows: expected, row_count: 3, truncated: false });
      expect(JSON.parse((content as { text: string }[])[0]?.text ?? '')).toEqual(structuredContent);
      const { resources } = await client.listResources();
      expect(resources.map((r) => r.uri).filter((uri) => /\/(den|park)$/.test(uri))).toEqual(['ontology://den', 'ontology://park']);
      const { contents } = await client.readResource({ uri: 'ontology://park' });
      expect((contents[0] as { text: string }).text).toMatch(/animal < thing key\(no\)\n {2}no bigint/);
      expect((await client.listPrompts()).prompts.map((p) => p.name)).toEqual(['explore', 'answer']);
      const prompt = await client.getPrompt({ name: 'answer', arguments: { question: 'How heavy is Ada?' } });
      expect(JSON.stringify(prompt.messages)).toMatch(/How heavy is Ada.*'park'/);
      await client.close();
    });
  }

  for (const [name, transport] of [
    ['Streamable HTTP', () => new StreamableHTTPClientTransport(new URL(`${BASE}/svc/api/mcp?content=structured`), { fetch: fetcher, requestInit })],
    [
      'SSE',
      () =>
        new SSEClientTransport(new URL(`${BASE}/svc/api/mcp/sse?content=structured`), {
          fetch: fetcher,
          requestInit,
          eventSourceInit: { fetch: (url, init) => fetcher(url, { ...init, headers: { ...init.headers, ...requestInit.headers } }) },
        }),
    ],
  ] as const) {
    it(`get rows once over ${name} if they ask for it`, async () => {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(transport());
      const result = await client.callTool({ name: 'execute_sql', arguments: { query: 'SELECT name FROM svc.animal WHERE no = 1' } });
      expect(result.structuredContent).toEqual({ rows: [{ name: 'Ada' }], row_count: 1, truncated: false });
      expect(result.content).toEqual([{ type: 'text', text: 'The rows are in structuredContent. {"row_count":1,"truncated":false}' }]);
      const listed = await client.callTool({ name: 'list_ontologies', arguments: {} });
      expect(JSON.parse((listed.content as { text: string }[])[0]?.text ?? '')).toEqual(listed.structuredContent);
      await client.close();
    });
  }

  it('speak 2026-07-28 without a session', async () => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(transports['Streamable HTTP']());
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    const { structuredContent } = await client.callTool({ name: 'search_values', arguments: { concept: 'animal', property: 'name', text: 'A' } });
    expect(structuredContent).toEqual({ values: ['Ada'], truncated: false });
    await client.close();
  });
});

describe('the caller', () => {
  it('has one object, regardless of invented session ids', async () => {
    await post('ping', undefined, { token: dora });
    const before = (await listDurableObjectIds(env.MCP_PRINCIPAL)).length;
    expect(before, 'objects that store nothing are listed').toBeGreaterThan(0);
    // the Worker itself, because the way through the test's own runtime takes longer with each request
    const ask = async (method: string, path: string, headers: Record<string, string>): Promise<number> => {
      const init = { method, headers: { 'content-type': 'application/json', ...headers }, ...(method === 'GET' ? {} : { body: rpc('ping') }) };
      const response = await worker.fetch(new Request(BASE + path, init) as Parameters<typeof worker.fetch>[0], env, createExecutionContext());
      await response.body?.cancel();
      return response.status;
    };
    // all ways to name a session, with and without a credential: a thousand different ids
    const doras = { 'x-api-key': dora };
    const ways: readonly (readonly [number, (id: string) => Promise<number>])[] = [
      [200, (id) => ask('POST', '/svc/api/mcp', { ...doras, 'mcp-session-id': id })],
      [404, (id) => ask('POST', `/svc/api/mcp/message?sessionId=${id}`, doras)],
      [401, (id) => ask('POST', '/svc/api/mcp', { 'mcp-session-id': id })],
      [401, (id) => ask('POST', `/svc/api/mcp/message?sessionId=${id}`, { 'x-api-key': inject('strangersToken') })],
      [405, (id) => ask('GET', '/svc/api/mcp', { ...doras, 'mcp-session-id': id })],
    ];
    for (let round = 0; round < 200; round++) {
      const answers = await Promise.all(ways.map(([, way]) => way(crypto.randomUUID())));
      expect(answers).toEqual(ways.map(([status]) => status));
    }
    expect(await listDurableObjectIds(env.MCP_PRINCIPAL)).toHaveLength(before);
  });

  it('is identified only by the credential: no header or member of the body changes it', async () => {
    const headers = { 'x-user': 'admin', 'x-principal': 'admin', 'cf-access-authenticated-user-email': 'admin', cookie: 'svc_session=x' };
    const { json } = await tool('list_ontologies', { user: 'admin' }, { token: edna, headers });
    expect(json.result.structuredContent.ontologies.map((o: { name: string }) => o.name)).toEqual(['den']);
    const own = await send('POST', '/svc/api/mcp', {
      token: edna,
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        caller: { userId: 'admin' },
        params: { name: 'list_ontologies', arguments: {}, caller: {} },
      }),
    });
    expect(own.text).not.toMatch(/park/);
  });

  it('cannot impersonate another user', async () => {
    const answer = await post('tools/list', undefined, { headers: { 'x-api-impersonate-user': 'edna' } });
    expect([answer.status, answer.json.error.data.code]).toEqual([400, 'impersonation_not_here']);
    const bad = await post('tools/list', undefined, { token: 'tk_bad', headers: { 'x-api-impersonate-user': 'edna' } });
    expect([bad.status, bad.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer/)]);
  });

  it('gets nothing of another user\u2019s stream', async () => {
    const opened = await call(`${BASE}/svc/api/mcp/sse?ontology=park`, { headers: { 'x-api-key': dora } });
    const reader = (opened.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    const endpoint = /^event: endpoint\ndata: (.*)\n\n$/.exec(await next())?.[1] ?? '';
    expect(endpoint).toMatch(/^\/svc\/api\/mcp\/message\?sessionId=[0-9a-f-]{36}&ontology=park$/);
    const query = { name: 'execute_sql', arguments: { query: 'SELECT COUNT(*) AS n FROM svc.animal' } };
    // an ontology that she may not see is reported first, as everywhere
    expect((await post('tools/call', query, { token: edna, at: endpoint })).status).toBe(403);
    expect((await post('tools/call', query, { token: edna, at: endpoint.replace('&ontology=park', '') })).status).toBe(404);
    expect((await post('tools/call', query, { token: null, at: endpoint })).status).toBe(401);
    expect((await post('tools/call', query, { token: dora, at: endpoint })).status).toBe(202);
    expect(JSON.parse((await next()).replace(/^event: message\ndata: /, '')).result.structuredContent.rows).toEqual([{ n: 3 }]);
    await reader.cancel();
  });
});

describe('the ontology of a call', () => {
  it('is refused at once if the URL or a header names an ontology that the caller may not see', async () => {
    for (const options of [{ headers: AT_PARK }, { at: '/svc/api/mcp?ontology=park' }, { headers: { 'x-ontology': 'nowhere' } }]) {
      for (const method of ['initialize', 'tools/list', 'ping']) {
        const { status, json } = await post(method, {}, { ...options, token: edna });
        expect([status, json.error.message]).toEqual([403, expect.stringMatching(/^no access to ontology '(park|nowhere)'$/)]);
      }
    }
    expect((await post('ping', {}, { headers: { 'x-agent': 'keeper', 'x-ontology': 'den' } })).json.error.message).toBe("no access to ontology 'den'");
    const [hidden, absent] = await Promise.all(['keeper', 'keepre'].map((agent) => post('ping', {}, { token: edna, headers: { 'x-agent': agent } })));
    expect([hidden?.status, hidden?.text.replace('keeper', '?')]).toEqual([403, absent?.text.replace('keepre', '?')]);
  });

  it('is limited by the agent, also for changes of the model', async () => {
    const headers = { 'x-agent': 'keeper' };
    expect(await rowsOf('SELECT COUNT(*) AS n FROM svc.animal', { headers })).toEqual([{ n: 3 }]);
    expect((await tool('list_datasources', {}, { headers })).json.result.structuredContent.datasources.map((d: { name: string }) => d.name)).toEqual(['main']);
    for (const name of ['execute_sql', 'describe_knowledge_graph', 'list_datasources', 'search_values']) {
      expect(await refusal(name, { query: 'SELECT 1 AS a', concept: 'cub', property: 'no', ontology: 'den' }, { headers })).toBe("no access to ontology 'den'");
    }
    const options = { headers, at: '/svc/api/mcp?mode=model' };
    expect(await refusal('execute_sql', { query: 'DROP ONTOLOGY den' }, options)).toMatch(/agent/);
    expect(await refusal('execute_sql', { query: "ALTER ONTOLOGY den SET DESCRIPTION = 'x'" }, options)).toMatch(/about the ontology `park`/);
    const names: string[] = (await script('SHOW ONTOLOGIES')).json.data.map((o: { ontology: string }) => o.ontology);
    expect(names.filter((name) => /^(den|park)$/.test(name))).toEqual(['den', 'park']);
  });
});

describe('execute_sql', () => {
  it('checks and explains without running', async () => {
    const dry = async (query: string, options?: Options) =>
      (await tool('execute_sql', { query, dry_run: true }, { headers: AT_PARK, ...options })).json.result.structuredContent;
    expect(await dry('SELECT name FROM svc.animal')).toEqual({
      rows: [],
      row_count: 0,
      truncated: false,
      sql: expect.stringMatching(/zoo\.t_animal/),
      plan: expect.stringMatching(/Scan/),
    });
    expect(await dry('SHOW CONCEPTS')).toEqual({ rows: [], row_count: 0, truncated: false });
    expect(await refusal('execute_sql', { query: 'SELECT nmae FROM svc.animal', dry_run: true }, { headers: AT_PARK })).toMatch(/`name`.*\(at character 8\)/s);
    const model = { at: '/svc/api/mcp?mode=model', token: dora };
    expect(await dry('CREATE PROPERTY never string', model)).toEqual({ rows: [], row_count: 0, truncated: false });
    expect(await rowsOf("SELECT COUNT(*) AS n FROM svc.SYS_PROPERTIES WHERE property_name = 'never'", { headers: AT_PARK })).toEqual([{ n: 0 }]);
  });

  it('hides tables from callers who may not see them', async () => {
    const { text } = await tool('execute_sql', { query: 'SELECT no FROM svc.cub', dry_run: true, ontology: 'den' }, { token: edna });
    expect(text).toMatch(/"isError":true|"plan"/);
    expect(text).not.toMatch(/t_animal/);
    expect(await refusal('execute_sql', { query: 'SELECT 1 / (no - no) AS x FROM svc.cub', ontology: 'den' }, { token: edna })).not.toMatch(/t_animal/);
  });

  it('changes no user, right, token, policy or datasource in any mode', async () => {
    const options = { headers: AT_PARK, at: '/svc/api/mcp?mode=model' };
    for (const query of [
      'CREATE USER mallory',
      'CREATE TOKEN FOR dora',
      'GRANT EDIT ON ALL ontology.den TO USER dora',
      'GRANT ROLE admin TO USER dora',
      'CREATE POLICY p ON CONCEPT animal TO PUBLIC USING (no = 1)',
      "CREATE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_MAIN'",
      'ALTER ONTOLOGY park REMOVE DATASOURCE main',
      'REFRESH PERMISSIONS',
      "SELECT COUNT(*) AS n FROM svc.animal; ALTER USER dora SET PASSWORD = 'x'",
    ]) {
      expect(await refusal('execute_sql', { query }, options), query).toMatch(/cannot be changed here/);
    }
    expect((await script("SELECT COUNT(*) AS n FROM svc.SYS_USERS WHERE user_name = 'mallory'")).json.data).toEqual([{ n: 0 }]);
  });

  it('changes the model in mode=model for callers with the right', async () => {
    const query = 'CREATE PROPERTY `made` string';
    expect(await refusal('execute_sql', { query }, { headers: AT_PARK, token: dora })).toMatch(/mode=model/);
    const options = { at: '/svc/api/mcp?mode=model' };
    expect(await refusal('execute_sql', { query, ontology: 'den' }, { ...options, token: edna })).toMatch(/EDIT/);
    const { json } = await tool('execute_sql', { query, ontology: 'park' }, { ...options, token: dora });
    expect(json.result.structuredContent.rows).toEqual([{ version: expect.stringMatching(/^[0-9a-f-]{36}$/), statements: 1, warnings: [] }]);
  });
});

describe('the protocol', () => {
  it('answers an unsupported method, a stream and the end of a session with 405', async () => {
    for (const [method, path, allow] of [
      ['GET', '/svc/api/mcp', 'POST'],
      ['DELETE', '/svc/api/mcp/', 'POST'],
      ['POST', '/svc/api/mcp/sse', 'GET'],
      ['PUT', '/svc/api/mcp/message', 'POST'],
    ] as const) {
      const { status, headers } = await send(method, path);
      expect([status, headers.get('allow')], path).toEqual([405, allow]);
    }
    expect((await send('GET', '/svc/api/mcp', { token: null })).status).toBe(401);
    expect((await send('POST', '/svc/api/mcp/health', { token: null })).status).toBe(405);
  });

  it('refuses a body that is too large or whose content type is not JSON', async () => {
    expect((await send('POST', '/svc/api/mcp', { body: JSON.stringify({ x: 'x'.repeat(1024 * 1024) }) })).status).toBe(413);
    expect((await send('POST', '/svc/api/mcp', { body: rpc('ping'), headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  });

  it('answers a batch in one array and runs its tools concurrently', async () => {
    const batch = [1, 2, 3].map((id) =>
      JSON.parse(rpc('tools/call', { name: 'execute_sql', arguments: { query: `SELECT ${id} AS n FROM svc.animal WHERE no = 1` } }, id)),
    );
    const { status, json } = await send('POST', '/svc/api/mcp', { body: JSON.stringify(batch), headers: AT_PARK });
    expect(status).toBe(200);
    expect(json.map((m: { id: number; result: { structuredContent: { rows: object[] } } }) => [m.id, m.result.structuredContent.rows]).sort()).toEqual(
      [1, 2, 3].map((id) => [id, [{ n: id }]]),
    );
    const notes = await send('POST', '/svc/api/mcp', { body: JSON.stringify([{ jsonrpc: '2.0', method: 'notifications/initialized' }]) });
    expect([notes.status, notes.text]).toEqual([202, '']);
  });

  it('refuses pages of other origins on loopback', async () => {
    const { status, headers } = await post('ping', undefined, { headers: { origin: 'https://evil.example' } });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([403, null]);
    const preflight = await send('OPTIONS', '/svc/api/mcp', {
      token: null,
      headers: { origin: 'http://localhost:6274', 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin'), preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      'http://localhost:6274',
      expect.stringMatching(/authorization.*mcp-protocol-version.*x-api-key/),
    ]);
  });
});

describe('a resource that does not exist', () => {
  it('gives the same error, also if its URI has invalid escapes', async () => {
    const read = async (uri: string) => (await post('resources/read', { uri }, { token: edna })).json.error;
    for (const name of ['park', 'nope', '%zz', '%ff', '%25zz']) {
      const { code, message } = await read(`ontology://${name}`);
      expect([name, code, message.replace(/ontology:\S+/, '')]).toEqual([name, -32602, 'Resource  not found']);
    }
  });
});
