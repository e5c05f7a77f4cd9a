/** Random hostile requests: no 5xx, no hang, every body of the documented form. */
import { Agent, request as httpRequest, type IncomingHttpHeaders, validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, SERVICE_BINDINGS, serviceSettings, startScripts } from '../../bench/lib/stack.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { generated, patience } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';
import { builtService } from './support/built.ts';
import { breach, type Document } from './support/contract.ts';

const SIZES = sizesOf('integration/hostile');

const COUNT = SIZES.requests;
/** An answer that takes longer counts as missing. */
const PATIENCE_MS = 120_000;

let database: LocalPostgres;
let running: Running;
let base: string;
let admin: string;
let document: Document;
const agent = new Agent({ keepAlive: true, maxSockets: 4 });

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A raw request: no client corrects its path or headers. */
function send(method: string, path: string, headers: Record<string, string>, body?: Uint8Array | string): Promise<Answer> {
  const { hostname, port } = new URL(base);
  // by default Node sends no length with DELETE and similar methods
  const all = body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, method, path, headers: all, agent, timeout: PATIENCE_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }));
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', reject);
    request.end(body);
  });
}

beforeAll(async () => {
  database = await borrowPostgres();
  await database.exec('CREATE SCHEMA zoo');
  await database.exec('CREATE TABLE zoo.t_animal (no bigint PRIMARY KEY, called text, weight numeric)');
  await database.exec("INSERT INTO zoo.t_animal VALUES (1, 'Ada', 12.50), (2, 'B\u00e4r', 9007199254740993), (3, NULL, NULL)");
  const { adminToken, bindings } = await serviceSettings({ local: database, name: '' });
  admin = adminToken;
  running = await startScripts({ service: { script: await builtService(), bindings, more: SERVICE_BINDINGS } });
  base = running.urls.service as string;
  const sql = `CREATE ONTOLOGY pen; CREATE CONCEPT animal (no bigint, name string, weight decimal, PRIMARY KEY (no));
    CREATE MAPPING m INTO animal AS SELECT no, called AS name, weight FROM zoo.t_animal; CREATE VIEW v AS SELECT no, name FROM svc.animal`;
  const made = await send('POST', '/svc/api/query', { 'x-api-key': admin, 'content-type': 'application/json' }, JSON.stringify({ query: sql }));
  expect(made.status, made.text).toBe(200);
  document = JSON.parse((await send('GET', '/svc/api/openapi.json', { 'x-api-key': admin })).text);
});
afterAll(async () => {
  agent.destroy();
  await running?.stop();
  await database?.close();
});

interface Hostile {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | string | undefined;
}

const nasty = fc.constantFrom(
  '%00',
  '%ff',
  '%C0%AF',
  '%E0%A4%A',
  '%',
  '..%2f..',
  '%0d%0aset-cookie:a=b',
  "'",
  '"',
  '`',
  '--',
  '/*',
  '\\',
  ';',
  '$1',
  '{{',
  '%F0%9F%98%80',
  '%u0041',
  '__proto__',
  'constructor',
  'NaN',
  '-1',
  '1e999',
  '99999999999999999999999',
  '0x10',
  'null',
  'true',
  '[]',
  '*',
  '%2A',
  '~',
  '[c*99]',
  'pen',
  'animal',
  'v',
  'no',
  'name',
  '%E2%80%AE',
);
const segment = fc.oneof(
  nasty,
  fc
    .string({ maxLength: 12 })
    .map(encodeURIComponent)
    .filter((s) => s !== '.' && s !== '..'),
  fc.array(nasty, { minLength: 1, maxLength: 4 }).map((p) => p.join('')),
);
const known = fc.constantFrom('pen', 'animal', 'v');
const part = fc.oneof({ weight: 3, arbitrary: known }, { weight: 2, arbitrary: segment });
const parameter = fc.tuple(
  fc.oneof(
    fc.constantFrom('_subj_', '_op_', '_comp_', '_conj_', '_subj1_', '_op1_', '_comp1_', '_select_', '_order_', '_limit_', '_offset_', 'datasource'),
    segment,
  ),
  fc.oneof(fc.constantFrom('no', 'name', 'weight', 'eq', 'in', 'like', 'is_null', 'AND', '1', 'main'), segment),
);
const search = fc.array(parameter, { maxLength: 6 }).map((list) => (list.length === 0 ? '' : `?${list.map(([k, v]) => `${k}=${v}`).join('&')}`));
/** Whole groups of filters: an existing subject, an operator, anything as value. */
const filters = fc
  .array(fc.tuple(fc.constantFrom('no', 'name', 'weight', 'entity_id'), fc.constantFrom('eq', 'in', 'not_in', 'like', 'gt', 'lte', 'is_null'), segment), {
    minLength: 1,
    maxLength: 4,
  })
  .map(
    (list) => `?${list.map(([subject, operator, value], i) => `_subj${i || ''}_=${subject}&_op${i || ''}_=${operator}&_comp${i || ''}_=${value}`).join('&')}`,
  );
const path = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constantFrom('get_ontology', 'get_config', 'clear_cache', 'openapi'), part).map(([a, b]) => `/svc/api/${a}/${b}`),
      fc.tuple(part, fc.constantFrom('concept', 'view', 'other'), part).map(([o, k, n]) => `/svc/api/q/${o}/${k}/${n}`),
      fc.constantFrom(
        '/svc/api/query',
        '/svc/api/get_ontologies',
        '/svc/api/get_agents',
        '/svc/api/openapi.json',
        '/svc/api/docs',
        '/svc/api/health',
        '/',
        '/svc',
        '/svc/api',
      ),
      part.map((o) => `/svc/openapi/ontology/${o}/query`),
      segment.map((id) => `/svc/openapi/get-async-results/${id}`),
      fc.array(segment, { maxLength: 5 }).map((list) => `/${list.join('/')}`),
    ),
    fc.constantFrom('', '/', '//'),
    search,
  )
  .map((list) => list.join(''));

const sql = fc.oneof(
  fc.constantFrom(
    'SELECT 1 AS one',
    'SELECT * FROM svc.animal',
    'SELECT',
    ';',
    "SELECT '\u0000'",
    'SHOW',
    'DESC',
    'EXPLAIN',
    'CREATE',
    'DROP ONTOLOGY',
    'ROLLBACK',
    'SELECT \ud800',
    '\ufeffSELECT 1',
    'SELECT pg_sleep(9)',
  ),
  fc
    .array(
      fc.constantFrom(
        'SELECT',
        'FROM',
        'svc.animal',
        'WHERE',
        '(',
        ')',
        ',',
        "'",
        '"',
        '`',
        '"a[b].c"',
        '*',
        'name',
        '1',
        ';',
        '--',
        '/*',
        'CREATE',
        'CONCEPT',
        'AS',
        '$$',
        '\u{1f600}',
        '\u0007',
      ),
      { maxLength: 12 },
    )
    .map((w) => w.join(' ')),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const body = fc.oneof(
  sql,
  fc.tuple(sql, fc.oneof(known, fc.string(), fc.jsonValue())).map(([query, ontology_name]) => JSON.stringify({ query, ontology_name })),
  fc.jsonValue().map((v) => JSON.stringify(v)),
  fc.nat(3000).map((n) => '['.repeat(n) + ']'.repeat(n)),
  fc.nat(2000).map((n) => `{"query":${'{"a":'.repeat(n)}1${'}'.repeat(n)}}`),
  fc.constantFrom('{"query":1e999}', '{"query":', '{"__proto__":{"query":"SELECT 1"}}', '{"query":"SELECT 1","query":5}', `{"query":"${'('.repeat(3000)}"}`),
  fc.uint8Array({ maxLength: 60 }),
);
const header = fc.tuple(
  fc.constantFrom(
    'content-type',
    'accept',
    'results-limit',
    'nested',
    'x-async',
    'x-request-id',
    'x-ontology-version',
    'if-none-match',
    'x-api-impersonate-user',
    'x-jwt-token',
    'authorization',
    'api-nested-format-properties',
    'cache-control',
    'origin',
    'content-encoding',
  ),
  fc.oneof(
    fc.constantFrom(
      'application/json',
      'text/plain',
      'text/csv',
      'application/x-ndjson',
      '*/*',
      'true',
      'false',
      '1',
      '0',
      '-1',
      '',
      'a, b',
      ';',
      'gzip',
      'Bearer',
      '*',
      '"',
      'W/"',
      'null',
    ),
    fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((c) => String.fromCharCode(c)), maxLength: 30 }),
  ),
);
const few = fc.array(header, { maxLength: 2 });
/** Requests that pass further: existing routes, with the hostile part in the body or in the filters. */
const deep: fc.Arbitrary<Hostile> = fc.oneof(
  fc.record({
    method: fc.constant('POST'),
    path: fc.constantFrom('/svc/api/query', '/svc/api/query/'),
    headers: few,
    body: fc.oneof(
      sql.map((query) => JSON.stringify({ ontology_name: 'pen', query })),
      body,
    ),
  }),
  fc.record({
    method: fc.constant('POST'),
    path: search.map((query) => `/svc/openapi/ontology/pen/query${query}`),
    headers: few,
    body: sql,
  }),
  fc.record({
    method: fc.constant('GET'),
    path: fc.tuple(fc.constantFrom('concept/animal', 'view/v'), fc.oneof(search, filters)).map(([thing, query]) => `/svc/api/q/pen/${thing}${query}`),
    headers: few,
    body: fc.constant(undefined),
  }),
);
const wild: fc.Arbitrary<Hostile> = fc.record({
  method: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('GET', 'POST') },
    { weight: 1, arbitrary: fc.constantFrom('PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'PROPFIND') },
  ),
  path,
  headers: fc.array(header, { maxLength: 4 }),
  body: fc.option(body, { nil: undefined }),
});

const hostile = fc.oneof(deep, wild);

/** The problem with the answer to a request; the empty text: none. */
async function fault(h: Hostile): Promise<string> {
  const headers: Record<string, string> = { 'x-api-key': admin };
  if (h.method === 'POST') headers['content-type'] = h.path.startsWith('/svc/openapi') ? 'text/plain' : 'application/json';
  for (const [name, value] of h.headers) headers[name] = value;
  const sendable = !/[^\x21-\xff]/.test(h.path) && Object.entries(headers).every(([name, value]) => isSendable(name, value));
  // a request that cannot be sent is skipped
  if (!sendable) return '';
  const { status, headers: got, text } = await send(h.method, h.path, headers, /^(GET|HEAD)$/.test(h.method) ? undefined : h.body);
  const at = `HTTP ${status} ${text.slice(0, 300)}`;
  if (status >= 500) return at;
  if (got['set-cookie'] !== undefined) return `${at}: a cookie`;
  const header = (name: string): string | null => (typeof got[name] === 'string' ? got[name] : null);
  // every spelling of `/` leads to the console, which is not part of the API
  if (status === 303 && header('location') === '/svc/console/') return '';
  const wrong = breach(document, h.method, h.path, { status, header, text });
  return wrong === '' ? '' : `${at}: ${wrong}`;
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

describe('hostile requests', () => {
  it(
    'get a documented answer',
    async () => {
      await fc.assert(
        fc.asyncProperty(hostile, async (h) => {
          expect(await fault(h)).toBe('');
        }),
        generated(COUNT, COUNT),
      );
    },
    patience(15 * 60_000),
  );

  it('do not affect the service', async () => {
    const answer = await send(
      'POST',
      '/svc/openapi/ontology/pen/query',
      { 'x-api-key': admin, 'content-type': 'text/plain' },
      'SELECT count(*) AS n FROM svc.animal',
    );
    expect(answer.text).toBe('[{"n":3}]');
  });
});
