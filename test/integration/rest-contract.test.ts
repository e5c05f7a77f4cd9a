/** Every answer of every endpoint, including errors, matches the OpenAPI document. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeBearer } from '../../src/auth/bearer.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { catalogUnavailable } from '../../src/catalog/db.ts';
import { createApp } from '../../src/http/app.ts';
import { startService, type TestService } from '../support/service.ts';
import { SimulatedModel } from '../support/tools.ts';
import { asked as askedOfFake, fakeRuntime } from '../unit/http/fake-runtime.ts';
import { breach, type Document, pathOf } from './support/contract.ts';

const SALT = 'a salt';

const llm = new SimulatedModel();

let service: TestService;
let reader: string;
let document: Document;
let shop: Document;

beforeAll(async () => {
  service = await startService({
    parts: { llm },
    settings: { ALLOWED_CONFIG_ENVS_IN_API: 'ROW_LIMIT', ROW_LIMIT: '7', STATEMENT_TIMEOUT_MS: '5000', API_AUTH_SALT: SALT },
  });
  await service.database.exec('CREATE SCHEMA s');
  await service.database.exec('CREATE TABLE s.t (id int PRIMARY KEY, name text, price numeric, born date, big bigint, at timestamptz, up int)');
  await service.database.exec(
    "INSERT INTO s.t SELECT n, 'n' || n, n * 1.5, '2024-02-29', 9007199254740993, '2024-02-29T10:00:00Z', nullif(n - 1, 0) FROM generate_series(1, 5) n",
  );
  await service.rows(
    `CREATE ONTOLOGY shop DESCRIPTION 'A shop';
CREATE PROPERTY price decimal(10,2) DESCRIPTION 'What it costs' WITH TAGS (format = 'currency:EUR');
CREATE CONCEPT item (id integer, name string, price decimal(10,2), born date, big bigint, seen timestamptz, up integer, PRIMARY KEY (id), LABEL (name),
  CONSTRAINT above FOREIGN KEY (up) REFERENCES item (id) INVERSEOF below TRANSITIVE(3)) DESCRIPTION 'A thing on sale';
CREATE CONCEPT dear INHERITS (item) FROM svc.item WHERE price > 3;
CREATE CONCEPT "odd {name}/ö" (no integer, PRIMARY KEY (no));
CREATE MAPPING m INTO item AS SELECT id, name, price, born, big, at AS seen, up FROM s.t;
CREATE VIEW cheap AS SELECT name, price FROM svc.item WHERE price < 3`,
  );
  await service.rows("CREATE AGENT helper ONTOLOGY (shop) DESCRIPTION 'Helps' OPTIONS (note = 'Be brief')", '');
  const [made] = (await service.rows('CREATE USER ann; GRANT QUERY ON ontology.shop.concept.item TO USER ann; CREATE TOKEN FOR ann')) as [{ token: string }];
  reader = made.token;
  document = await read('/svc/api/openapi.json');
  shop = await read('/svc/api/openapi/shop.json');
});
afterAll(() => service.close());

const read = async (path: string, token = service.token): Promise<Document> => (await service.fetch(path, { headers: { 'x-api-key': token } })).json();

/** The tested parts of the document: operations with their statuses. */
const asked = new Set<string>();

async function check(
  doc: Document,
  method: string,
  path: string,
  init: { token?: string | null; headers?: Record<string, string>; body?: string } = {},
): Promise<number> {
  const { token = service.token, headers = {}, body } = init;
  const response = await service.fetch(path, {
    method,
    headers: { ...(token === null ? {} : { 'x-api-key': token }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const wrong = breach(doc, method, path, { status: response.status, header: (name) => response.headers.get(name), text });
  expect(wrong, `${method} ${path.slice(0, 200)} -> ${response.status} ${text.slice(0, 300)}`).toBe('');
  if (doc === document) asked.add(`${method} ${pathOf(doc, path)} ${response.status}`);
  return response.status;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const TEXT = { 'content-type': 'text/plain' };
const query = (sql: unknown, ontology: unknown = 'shop') => ({ headers: JSON_TYPE, body: JSON.stringify({ ontology_name: ontology, query: sql }) });
const files = (text: string) => ({ headers: JSON_TYPE, body: JSON.stringify({ files: [{ name: 'a.kg', text }] }) });

/** Requests of browsers: the assets of the docs page, the console, and the pages on which users sign in; and the documentation as files for language models. */
const PAGES = /\/docs\/(script\.js|style\.css)$|^\/$|^\/llms(-full)?\.txt$|^\/svc\/(console|docs|login|logout|get_svc_user_token|oauth)\b/;

describe('the document of the service', () => {
  it('describes every route, and no other one', () => {
    const routes = createApp('svc', '1')
      .routes.filter((r) => r.method !== 'ALL' && r.path !== '/*' && !PAGES.test(r.path))
      .map((r) => `${r.method} ${r.path.replace(/:[a-z]+/g, '{}').replace('/openapi/{}', r.path.includes(':document') ? '/openapi/{}.json' : '/openapi/{}')}`);
    const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{[^}]+\}/g, '{}')}`),
    );
    expect([...new Set(routes)].sort()).toEqual(described.sort());
  });

  it('matches answers', async () => {
    for (const [method, path] of [
      ['GET', '/svc/api/health'],
      ['GET', '/svc/api/health/ready'],
      ['GET', '/svc/api/get_ontologies/'],
      ['POST', '/svc/api/get_ontologies'],
      ['GET', '/svc/api/health/ready'],
      ['GET', '/svc/api/get_agents'],
      ['POST', '/svc/api/get_agents/'],
      ['GET', '/svc/api/get_ontology/shop'],
      ['POST', '/svc/api/get_ontology/SHOP/'],
      ['GET', '/svc/api/get_config/ROW_LIMIT'],
      ['POST', '/svc/api/get_config/ROW_LIMIT'],
      ['POST', '/svc/api/llm_prompts/identify_concept'],
      ['POST', '/svc/api/llm_prompts/generate_answer/'],
      ['GET', '/svc/api/fetch_conversation_history/?conversation_id=c&top=2'],
      ['GET', '/svc/api/clear_cache/shop'],
      ['POST', '/svc/api/clear_cache/shop'],
      ['GET', '/svc/api/q/shop/concept/item'],
      [
        'GET',
        '/svc/api/q/shop/concept/item/?_subj_=id&_op_=gt&_comp_=2&_conj_=or&_subj1_=name&_op1_=eq&_comp1_=n1&_select_=name,id&_order_=-id&_limit_=3&_offset_=1',
      ],
      ['GET', '/svc/api/q/shop/view/cheap'],
      ['GET', '/svc/api/openapi.json'],
      ['GET', '/svc/api/openapi/shop.json'],
      ['GET', '/svc/api/docs'],
    ] as const) {
      expect(await check(document, method, path), path).toBe(200);
    }
    for (const [path, body] of [
      ['/svc/api/kb/search', '{"question": "how many", "knowledge_bases": ["shop"]}'],
      ['/svc-server/log_agent/history', '{"query_id": "q", "question": "how many", "ontology": "shop"}'],
      ['/svc-server/log_benchmark/running', '{}'],
    ] as const)
      expect(await check(document, 'POST', path, { headers: JSON_TYPE, body }), path).toBe(200);
    for (const what of ['plan', 'apply'])
      for (const n of ['1', '2'])
        expect(await check(document, 'POST', `/svc/api/model/files/${what}`, files(`CREATE CONCEPT listed_${n} (a bigint)`))).toBe(200);
    for (const sql of [
      'SELECT 1 AS one',
      'SELECT * FROM svc.item',
      'SHOW CONCEPTS',
      'SELECT * FROM SYS_PROPERTIES',
      'CREATE PROPERTY extra string',
      'DESC svc.item',
    ])
      expect(await check(document, 'POST', '/svc/api/query/', query(sql)), sql).toBe(200);
    for (const accept of ['text/csv', 'application/x-ndjson', '*/*'])
      expect(await check(document, 'POST', '/svc/openapi/ontology/shop/query', { body: 'SELECT * FROM svc.item', headers: { ...TEXT, accept } })).toBe(200);
    const nested = { nested: 'true', 'api-nested-format-properties': 'true' };
    expect(
      await check(document, 'POST', '/svc/openapi/ontology/shop/query', {
        body: 'SELECT entity_id, "below[item].name" FROM dsvc.item',
        headers: { ...TEXT, ...nested },
      }),
    ).toBe(200);
  });

  it('matches get_token', async () => {
    await service.rows("CREATE USER bea PASSWORD 'right'", '');
    for (const [password, status] of [
      ['right', 200],
      ['wrong', 401],
    ] as const) {
      const authorization = `Bearer ${await makeBearer({ user: 'bea', password }, SALT, Date.now())}`;
      expect(await check(document, 'POST', '/svc/api/get_token', { token: null, headers: { authorization } })).toBe(status);
    }
  });

  it('matches async statements', async () => {
    const send = (sql: string) =>
      service.fetch('/svc/openapi/ontology/shop/query', { method: 'POST', body: sql, headers: { ...TEXT, 'x-async': 'true', 'x-api-key': service.token } });
    expect(await check(document, 'POST', '/svc/openapi/ontology/shop/query', { body: 'SELECT 1', headers: { ...TEXT, 'x-async': 'true' } })).toBe(202);
    for (const [sql, status] of [
      ['SELECT * FROM svc.item', 'completed'],
      ['SELEC', 'error'],
    ]) {
      const { poll_url } = (await (await send(sql as string)).json()) as { poll_url: string };
      expect(await check(document, 'GET', poll_url)).toBe(200);
      await expect.poll(async () => (await read(poll_url)).status).toBe(status);
      expect(await check(document, 'GET', poll_url)).toBe(200);
    }
    expect(await check(document, 'GET', '/svc/openapi/get-async-results/nothing')).toBe(404);
  });

  it('matches questions', async () => {
    llm.says(['SELECT id, big FROM svc.item']);
    const asks = (body: string, headers = {}) => ({ body, headers: { ...JSON_TYPE, ontology: 'shop', ...headers } });
    for (const what of ['prompt', 'answer']) {
      const path = `/svc/openapi/execute/${what}`;
      expect(await check(document, 'POST', path, asks('{"prompt": "Which?"}'))).toBe(200);
      expect(await check(document, 'POST', path, asks('{"prompt": "Which?"}', { 'x-async': 'true' }))).toBe(202);
      expect(await check(document, 'POST', path, asks('{}'))).toBe(400);
      expect(await check(document, 'POST', path, asks('{"prompt": "Which?"}', { ontology: 'shp' }))).toBe(403);
      expect(await check(document, 'POST', path, { body: '{"prompt": "Which?"}', headers: JSON_TYPE })).toBe(404);
      const response = await service.fetch(path, { method: 'POST', ...asks('{"prompt": "Which?"}', { 'x-async': 'true', 'x-api-key': service.token }) });
      const { poll_url } = (await response.json()) as { poll_url: string };
      await expect.poll(async () => (await read(poll_url)).status).toBe('completed');
      expect(await check(document, 'GET', poll_url)).toBe(200);
    }
    expect(await check(document, 'GET', '/svc/openapi/execute/show_ontologies')).toBe(200);
  });

  it('matches errors', async () => {
    const cases: [number, string, string, Parameters<typeof check>[3]?][] = [
      [401, 'GET', '/svc/api/get_ontologies', { token: null }],
      [401, 'POST', '/svc/api/query', { ...query('SELECT 1'), token: 'tk_wrong' }],
      [401, 'GET', '/svc/openapi/get-async-results/x', { token: null }],
      [401, 'GET', '/svc/api/openapi/shop.json', { token: null }],
      [404, 'GET', '/svc/api/get_ontology/shp'],
      [404, 'GET', '/svc/api/get_config/ADMIN_TOKEN'],
      [404, 'POST', '/svc/api/llm_prompts/generate_sq'],
      [404, 'POST', '/svc-server/log_agent/none', { headers: JSON_TYPE, body: '{}' }],
      [404, 'POST', '/svc-server/log_benchmark/none', { headers: JSON_TYPE, body: '{}' }],
      [405, 'GET', '/svc/api/llm_prompts/generate_sql'],
      [404, 'GET', '/svc/api/clear_cache/none'],
      [404, 'POST', '/svc/api/get_ontology/shp/'],
      [404, 'POST', '/svc/api/get_config/ADMIN_TOKEN/'],
      [404, 'POST', '/svc/api/clear_cache/none/'],
      [404, 'POST', '/svc/openapi/ontology/shp/query', { headers: TEXT, body: 'SELECT 1' }],
      [404, 'GET', '/svc/api/q/shop/concept/itm'],
      [404, 'GET', '/svc/api/q/shop/view/item'],
      [404, 'GET', '/svc/api/openapi/shp.json'],
      [404, 'POST', '/svc/api/query', query('SELECT 1', 'shp')],
      [403, 'POST', '/svc/api/query', { ...query('CREATE PROPERTY x string'), token: reader }],
      [404, 'POST', '/svc/api/model/shp/plan', { ...files(''), token: reader }],
      [404, 'POST', '/svc/api/model/shp/apply', { ...files(''), token: reader }],
      [403, 'POST', '/svc/api/model/shop/plan', { ...files(''), token: reader }],
      [400, 'POST', '/svc/api/model/shop/apply', files('SELECT 1')],
      [400, 'POST', '/svc/api/model/shop/apply', { headers: JSON_TYPE, body: '{"files": 1}' }],
      [403, 'GET', '/svc/api/get_ontologies', { headers: { 'x-api-impersonate-user': 'nobody-of-that-name' } }],
      [400, 'POST', '/svc/api/query', query('SELECT nam FROM svc.item')],
      [400, 'POST', '/svc/api/query', query('SELECT 1 / (id - id) AS x FROM svc.item')],
      [400, 'POST', '/svc/api/query', query(5)],
      [400, 'POST', '/svc/api/query', { headers: JSON_TYPE, body: '{' }],
      [400, 'POST', '/svc/api/query', { ...query('SELECT 1'), headers: { ...JSON_TYPE, 'results-limit': '0' } }],
      [400, 'GET', '/svc/api/q/shop/concept/item?_subj_=id'],
      [400, 'GET', '/svc/api/q/shop/concept/item?_subj_=id&_op_=eq&_comp_=x'],
      [400, 'POST', '/svc/openapi/ontology/shop/query?datasource=none', { headers: TEXT, body: 'SELECT 1' }],
      [400, 'POST', '/svc/openapi/ontology/shop/query', { headers: TEXT, body: '' }],
      [400, 'GET', '/svc/api/q/shop/view/cheap?_op_=eq'],
      [406, 'POST', '/svc/api/query', { ...query('SELECT 1'), headers: { ...JSON_TYPE, accept: 'text/html' } }],
      [406, 'GET', '/svc/api/q/shop/concept/item', { headers: { accept: 'application/xml' } }],
      [406, 'GET', '/svc/api/q/shop/view/cheap', { headers: { accept: 'text/csv;q=0' } }],
      [406, 'POST', '/svc/openapi/ontology/shop/query', { headers: { ...TEXT, accept: 'image/png' }, body: 'SELECT 1' }],
      [413, 'POST', '/svc/api/query', query(`SELECT '${'x'.repeat(70_000)}'`)],
      [413, 'POST', '/svc/openapi/ontology/shop/query', { headers: TEXT, body: ' '.repeat(1_048_577) }],
      [414, 'GET', `/svc/api/get_ontology/${'x'.repeat(17_000)}`],
      [415, 'POST', '/svc/api/query', { headers: TEXT, body: '{"query":"SELECT 1"}' }],
      [415, 'POST', '/svc/openapi/ontology/shop/query', { headers: JSON_TYPE, body: 'SELECT 1' }],
      [421, 'GET', '/svc/api/health', { headers: { host: 'evil.example' } }],
    ];
    for (const [status, method, path, init] of cases) expect(await check(document, method, path, init), `${method} ${path.slice(0, 100)}`).toBe(status);
  });

  /** A URL for each path of the document, and the request for it. */
  const ADDRESSES: Readonly<Record<string, string>> = {
    ontology_name: 'shop',
    concept_name: 'item',
    view_name: 'cheap',
    config_name: 'ROW_LIMIT',
    prompt_name: 'generate_sql',
    response_id: '7',
    call: 'running',
  };
  const operations = (): { method: string; path: string; template: string; known: boolean; init: RequestInit }[] =>
    Object.entries(document.paths as Record<string, Record<string, Document>>).flatMap(([template, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        method: method.toUpperCase(),
        template,
        path: template.replace(/\{([^}]+)\}/g, (_, name: string) => ADDRESSES[name] ?? 'x'),
        known: operation.security === undefined,
        init: !operation.requestBody
          ? {}
          : operation.requestBody.content['application/json']
            ? { headers: JSON_TYPE, body: '{"query": "SELECT 1"}' }
            : { headers: TEXT, body: 'SELECT 1' },
      })),
    );

  it('matches the errors of every operation', async () => {
    const all = operations();
    expect(all.length).toBeGreaterThan(17);
    for (const { method, path, known, init } of all) {
      const { headers = {}, ...rest } = init as { headers?: Record<string, string>; body?: string };
      const at = `${method} ${path}`;
      expect(await check(document, method, `${path}?${'x'.repeat(17_000)}`, { ...rest, headers }), at).toBe(414);
      expect(await check(document, method, path, { ...rest, headers: { ...headers, host: 'evil.example' } }), at).toBe(421);
      if (!known) continue;
      expect(await check(document, method, path, { ...rest, headers, token: null }), at).toBe(401);
      expect(await check(document, method, path, { ...rest, headers, token: 'tk_\u00e9' }), at).toBe(401);
      expect(await check(document, method, path, { ...rest, headers: { ...headers, authorization: 'Basic eDp5' }, token: null }), at).toBe(401);
      expect(await check(document, method, path, { ...rest, headers: { ...headers, 'x-api-impersonate-user': 'nobody-of-that-name' } }), at).toBe(403);
      if (method !== 'POST') continue;
      expect(await check(document, method, path, { headers: JSON_TYPE, body: ' '.repeat(1_048_577) }), at).toBe(413);
      expect(await check(document, method, path, { headers: { 'content-type': 'image/png' }, body: '{}' }), at).toBe(415);
      expect(await check(document, method, path, { headers, body: '\u0000\ud800'.slice(0, 1) }), at).toBeLessThan(500);
    }
    for (const { path } of all)
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'PROPFIND']) {
        const status = await check(document, method, path);
        // HEAD is GET without its body
        expect(status, `${method} ${path}`).toSatisfy((s) => s === 405 || method === 'HEAD');
      }
  });

  it('matches the answers to too many requests, without the catalog, and to errors of the service', async () => {
    const ADMIN = createToken();
    const settings = { ADMIN_TOKEN: ADMIN, API_AUTH_SALT: SALT };
    const full = () => fakeRuntime(settings, { admit: async () => false });
    const down = () =>
      fakeRuntime(settings, { db: { query: () => Promise.reject(catalogUnavailable(null)), batch: () => Promise.reject(catalogUnavailable(null)) } });
    const broken = () =>
      fakeRuntime(settings, { db: { query: () => Promise.reject(new Error('secret of ours')), batch: () => Promise.reject(new Error('secret of ours')) } });
    // a correctly signed bearer: an invalid one reaches no object
    const authorization = `Bearer ${await makeBearer({ user: 'bea', password: 'right' }, SALT, Date.now())}`;
    for (const [status, runtime] of [
      [429, full],
      [503, down],
      [500, broken],
    ] as const) {
      for (const { method, path, known, init } of operations()) {
        if (!known && path !== '/svc/api/get_token') continue;
        const credential: Record<string, string> = known ? { 'x-api-key': ADMIN } : { authorization };
        const response = await askedOfFake(path, { method, ...init, headers: { ...(init.headers as object), ...credential } }, runtime());
        const text = await response.text();
        expect(
          breach(document, method, path, { status: response.status, header: (name) => response.headers.get(name), text }),
          `${method} ${path} ${text}`,
        ).toBe('');
        expect(response.status, `${method} ${path} ${text}`).toBe(status);
        expect(text).not.toContain('secret');
        asked.add(`${method} ${pathOf(document, path)} ${status}`);
      }
    }
  });

  it('is answered with 304 if it has not changed', async () => {
    const etag = (await service.fetch('/svc/api/openapi.json', { headers: { 'x-api-key': service.token } })).headers.get('etag') as string;
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    for (const path of ['/svc/api/openapi.json', '/svc/api/get_ontology/shop', '/svc/api/openapi/shop.json']) {
      const own = (await service.fetch(path, { headers: { 'x-api-key': service.token } })).headers.get('etag') as string;
      expect(await check(document, 'GET', path, { headers: { 'if-none-match': `"other", ${own}` } })).toBe(304);
      expect(await check(document, 'GET', path, { headers: { 'if-none-match': '"other"' } })).toBe(200);
      expect(await check(document, 'GET', path, { token: null, headers: { 'if-none-match': own } })).toBe(401);
    }
    const mine = await service.fetch('/svc/api/openapi/shop.json', { headers: { 'x-api-key': service.token } });
    const hers = await service.fetch('/svc/api/openapi/shop.json', { headers: { 'x-api-key': reader } });
    expect(mine.headers.get('etag')).not.toBe(hers.headers.get('etag'));
  });

  it('was compared with answers of every operation, and every status except those of another test', () => {
    const left = operations().flatMap(({ method, template }) =>
      Object.keys(document.paths[template][method.toLowerCase()].responses)
        .filter((status) => !asked.has(`${method} ${template} ${status}`))
        .map((status) => `${status} ${method} ${template}`),
    );
    // 502 and 504 are in faults.test.ts, 409 takes two writers; a GET has no body that could be invalid, but its URL could
    const elsewhere = /^(409|502|504) |^(413|415) GET |^400 (GET|POST) (?!\/svc\/api\/q)|^500 GET \/svc\/api\/(health|docs)$/;
    expect(left.filter((l) => !elsewhere.test(l))).toEqual([]);
  });
});

describe('the document of an ontology', () => {
  it('has a path for every concept and view, with matching answers', async () => {
    const paths = Object.keys(shop.paths).filter((p) => p.startsWith('/svc/api/q/'));
    expect(paths).toEqual([
      '/svc/api/q/shop/concept/item',
      '/svc/api/q/shop/concept/dear',
      `/svc/api/q/shop/concept/${encodeURIComponent('odd {name}/ö')}`,
      '/svc/api/q/shop/view/cheap',
    ]);
    for (const path of paths) expect(await check(shop, 'GET', path)).toBe(200);
    expect(await check(shop, 'POST', '/svc/openapi/ontology/shop/query', { body: 'SELECT 1', headers: TEXT })).toBe(200);
  });

  it('has the columns with their types', () => {
    const { item } = Object.fromEntries(
      Object.entries(shop.components.schemas as Document).map(([name, s]) => [name.replace(/^concept\./, ''), s]),
    ) as Document;
    expect(Object.keys(item.properties)).toEqual(['entity_id', 'entity_type', 'entity_label', 'id', 'name', 'price', 'born', 'big', 'seen', 'up']);
    expect(item.properties.price).toEqual({ type: ['number', 'string', 'null'], description: 'What it costs' });
    expect([item.properties.big, item.properties.born, item.properties.seen]).toEqual([
      { type: ['integer', 'null'], format: 'int64' },
      { type: ['string', 'null'], format: 'date' },
      { type: ['string', 'null'], format: 'date-time' },
    ]);
    expect(Object.keys(shop.components.schemas['view.cheap'].properties)).toEqual(['name', 'price']);
  });

  it('contains nothing that its caller may not see', async () => {
    const hers = await read('/svc/api/openapi/shop.json', reader);
    expect(Object.keys(hers.paths)).toEqual(['/svc/api/q/shop/concept/item', '/svc/openapi/ontology/shop/query']);
    expect(JSON.stringify(hers)).not.toMatch(/dear|cheap|odd/);
  });
});
