/**
 * Requests that no HTTP client sends, over plain sockets: invalid heads, duplicate and injected headers, unusual methods and lengths, bytes
 * that are not text. HTTP requests get the documented answers of the service, others those of the server in front of it; no request hangs.
 */
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { generated, patience } from '../support/generated.ts';
import { sizesOf } from '../support/sizes.ts';
import { breach, type Document } from './support/contract.ts';
import { ask, type BuiltWorkers, startBuiltWorkers } from './support/worker.ts';

const SIZES = sizesOf('integration/hostile-raw');

const COUNT = SIZES.requests;
/** An answer that takes longer counts as missing. */
const PATIENCE_MS = 120_000;

let database: LocalPostgres;
let workers: BuiltWorkers<'service'>;
let document: Document;
let port: number;

beforeAll(async () => {
  database = await borrowPostgres();
  await database.exec('CREATE SCHEMA zoo');
  await database.exec('CREATE TABLE zoo.t_animal (no bigint PRIMARY KEY, called text)');
  await database.exec("INSERT INTO zoo.t_animal VALUES (1, 'Ada'), (2, NULL)");
  workers = await startBuiltWorkers(database, { service: {} });
  port = Number(new URL(workers.urls.service).port);
  const sql = `CREATE ONTOLOGY pen; CREATE CONCEPT animal (no bigint, name string, PRIMARY KEY (no));
    CREATE MAPPING m INTO animal AS SELECT no, called AS name FROM zoo.t_animal`;
  const made = await ask(workers.urls.service, '/svc/openapi/ontology/pen/query', {
    method: 'POST',
    headers: { 'x-api-key': workers.token, 'content-type': 'text/plain' },
    body: sql,
  });
  expect(made.status, made.text).toBe(200);
  document = JSON.parse((await ask(workers.urls.service, '/svc/api/openapi.json', { headers: { 'x-api-key': workers.token } })).text);
});
afterAll(async () => {
  await workers?.stop();
  await database?.close();
});

interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends raw bytes, and reads everything until the connection is closed. */
function talk(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.end(bytes));
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error('no answer in time'));
    }, PATIENCE_MS);
    socket.on('data', (part: Buffer) => parts.push(part));
    // the server closes the connection if it will not read on, so a write may fail; its answer still counts
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(parts));
    });
    socket.on('end', () => socket.destroy());
  });
}

/** The answers of a connection. @throws Error if the bytes are not HTTP */
function parse(bytes: Buffer, heads: readonly boolean[]): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) throw new Error(`no head in ${bytes.subarray(at, at + 200).toString()}`);
    const [first = '', ...lines] = bytes.subarray(at, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    const headers = new Headers(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as [string, string]));
    at = end + 4;
    if (status === 100) continue;
    let body: Buffer = Buffer.alloc(0);
    if (heads[answers.length] || status === 204 || status === 304) {
      // the answer has no body
    } else if (/chunked/i.test(headers.get('transfer-encoding') ?? '')) {
      for (;;) {
        const line = bytes.indexOf('\r\n', at);
        const size = Number.parseInt(bytes.subarray(at, line).toString(), 16);
        if (!(size >= 0)) throw new Error('a chunk without a size');
        body = Buffer.concat([body, bytes.subarray(line + 2, line + 2 + size)]);
        at = line + 4 + size;
        if (size === 0) break;
      }
    } else {
      const length = headers.get('content-length');
      const stop = length === null ? bytes.length : at + Number(length);
      body = bytes.subarray(at, stop);
      at = stop;
    }
    answers.push({ status, headers, text: body.toString() });
    // a server that will read no further request may explain why even after a HEAD
    if (/close/i.test(headers.get('connection') ?? '')) break;
  }
  return answers;
}

interface Raw {
  readonly method: string;
  readonly path: string;
  readonly version: string;
  /** Lines of the head, as bytes in latin1. */
  readonly lines: readonly string[];
  readonly body: string;
  /** Sent once more on the same connection. */
  readonly twice: boolean;
}

const PATHS = [
  '/svc/api/health',
  '/svc/api/get_ontologies/',
  '/svc/api/get_ontology/pen',
  '/svc/api/q/pen/concept/animal?_subj_=name&_op_=eq&_comp_=Ada',
  '/svc/api/query',
  '/svc/openapi/ontology/pen/query',
  '/svc/api/openapi.json',
  '/svc/openapi/get-async-results/1',
];
const bytes = (most: number) => fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: most }).map((list) => String.fromCharCode(...list));
const path = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PATHS) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...PATHS), fc.oneof(bytes(8), fc.constantFrom('/../..', '%00', '%0d%0ax:y', '\u00ff', '#a', '?\u0000', '%', '\\', ';', '?a=b?c')))
      .map((p) => p.join('')),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('*', '', 'http://evil.example/svc/api/health', 'http://127.0.0.1/svc/api/health', '//svc/api/health', 'svc/api/health'),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...PATHS), fc.constantFrom(15_000, 17_000, 60_000))
      .map(([p, n]) => `${p}${p.includes('?') ? '&' : '?'}${'x'.repeat(n)}`),
  },
);
const method = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('GET', 'POST') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'PURGE', 'get', 'GETX', '', 'G\u0000T', 'QUERY', 'PRI'),
  },
);
const line = fc.oneof(
  fc.constantFrom(
    'host: evil.example',
    'Host: 127.0.0.1',
    'content-length: 5',
    'content-length: -1',
    'content-length: 1e3',
    'content-length: 5, 5',
    'content-length: 99999999999999999999',
    'transfer-encoding: chunked',
    'transfer-encoding: gzip, chunked',
    'transfer-encoding: identity',
    'x-api-key: tk_other',
    'x-api-key:',
    'X-API-KEY: \u00e9',
    'authorization: Bearer tk_x',
    'content-type: application/json',
    'content-type: text/plain',
    'content-type: text/plain; charset=utf-16',
    'content-type: multipart/form-data; boundary=',
    'content-type:',
    'content-type: a/b, c/d',
    'content-encoding: gzip',
    'content-encoding: br, br',
    'accept: text/csv',
    'accept: application/x-ndjson;q=0.5, */*;q=0',
    'accept: ;;;,,,',
    'expect: 100-continue',
    'expect: nothing',
    'upgrade: websocket',
    'connection: upgrade',
    'connection: close, x-api-key',
    'connection: keep-alive',
    'range: bytes=0-1',
    'if-none-match: *',
    'if-match: "x"',
    'origin: null',
    'cookie: a=b; a=c',
    'results-limit: 1',
    'results-limit: 999999999999999999999',
    'results-limit: 1\u00a0',
    'nested: true',
    'x-async: true',
    'x-request-id: a\tb',
    'x-request-id: ok-1',
    'x-request-id: \u00e9',
    'x-forwarded-host: evil.example',
    'cf-connecting-ip: 1.2.3.4, 5.6.7.8',
    'x-http-method-override: DELETE',
    'x-ontology-version: 1',
    'no colon at all',
    ': no name',
    'bad name: x',
    'x y: z',
    ' folded',
    '\tfolded',
    'x-a: b\rc',
    'x-a: b\u0000c',
    'x-a: b\nx-injected: c',
  ),
  fc
    .tuple(fc.constantFrom('x-a', 'x-request-id', 'accept', 'x-api-key', 'results-limit', 'content-type', 'x-ontology-version'), bytes(20))
    .map(([n, v]) => `${n}: ${v}`),
  fc.constantFrom(4000, 40_000, 200_000).map((n) => `x-long: ${'x'.repeat(n)}`),
);
const body = fc.oneof(
  fc.constantFrom(
    '',
    '{"query":"SELECT 1"}',
    'SELECT 1',
    '5\r\nSELEC\r\n3\r\nT 1\r\n0\r\n\r\n',
    'zz\r\n',
    '-1\r\n\r\n',
    '0\r\n\r\nGET /svc/api/health HTTP/1.1\r\n\r\n',
    'ffffffffffffffff\r\n',
  ),
  bytes(60),
);
const raw: fc.Arbitrary<Raw> = fc.record({
  method,
  path,
  version: fc.oneof({ weight: 12, arbitrary: fc.constant('HTTP/1.1') }, fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/9', 'http/1.1', '', 'HTTP/1.1 x')),
  lines: fc.oneof(
    { weight: 6, arbitrary: fc.array(line, { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(fc.constant('x-many: y'), { minLength: 100, maxLength: 1500 }) },
  ),
  body,
  twice: fc.boolean(),
});

/** The problem with the answers; the empty text: none. */
async function fault(r: Raw): Promise<string> {
  const own = [`host: 127.0.0.1:${port}`, `x-api-key: ${workers.token}`];
  const framed = r.lines.some((l) => /^(content-length|transfer-encoding)/i.test(l));
  if (!framed && (r.body !== '' || r.method === 'POST')) own.push(`content-length: ${r.body.length}`);
  if (r.method === 'POST' && !r.lines.some((l) => /^content-type/i.test(l)))
    own.push(`content-type: ${r.path.includes('/openapi/ontology') ? 'text/plain' : 'application/json'}`);
  const one = Buffer.from(`${r.method} ${r.path} ${r.version}\r\n${[...own, ...r.lines].join('\r\n')}\r\n\r\n${r.body}`, 'latin1');
  const got = await talk(r.twice ? Buffer.concat([one, one]) : one);
  if (got.length === 0) return '';
  const answers = parse(got, r.twice ? [r.method === 'HEAD', r.method === 'HEAD'] : [r.method === 'HEAD']);
  for (const { status, headers, text } of answers) {
    const at = `HTTP ${status} ${text.slice(0, 300)}`;
    if (headers.has('set-cookie') || headers.has('x-injected')) return `${at}: a header of the caller's making`;
    // a request that the server in front refuses does not reach the service
    if (headers.get('x-request-id') === null) {
      // workerd itself answers 500 if it cannot parse a URL or a body's length
      const unclear = !r.path.startsWith('/') || r.lines.some((l) => /^(host|content-length|transfer-encoding|upgrade|connection|expect)\s*:/i.test(l));
      if (![400, 404, 413, 431, 501, 505].includes(status) && !(status === 500 && unclear)) return `${at}: not of the service`;
      continue;
    }
    ours++;
    if (status >= 500) return at;
    const wrong = held(r) ? breach(document, r.method, r.path, { status, header: (name) => headers.get(name), text }) : shape(status, text);
    if (wrong !== '') return `${at}: ${wrong}`;
  }
  return '';
}

/** Whether the operation of the request is unambiguous: not if parsers may read its URL differently, or if its body may be another request. */
const held = ({ path: asked, body: sent, lines }: Raw): boolean =>
  /^\/[\x21-\x7e]*$/.test(asked) && !/[\\#]|\/\.|%2e/i.test(asked) && !sent.includes('GET ') && lines.every((l) => !/[\r\n\0]/.test(l));

function shape(status: number, text: string): string {
  if (status < 400 || text === '' || text === '{"error":"Response not found"}') return '';
  const { status: word, data, code } = JSON.parse(text);
  return word === 'error' && typeof data === 'string' && typeof code === 'string' ? '' : 'another shape';
}

let ours = 0;

describe('requests over plain sockets', () => {
  it(
    'get a documented answer, or no answer',
    async () => {
      const all = fc.sample(raw, generated(COUNT, COUNT));
      const faults: string[] = [];
      const one = async (): Promise<void> => {
        for (let r = all.pop(); r !== undefined && faults.length < 20; r = all.pop()) {
          const wrong = await fault(r).catch(String);
          if (wrong !== '') faults.push(`${JSON.stringify(r).slice(0, 500)}: ${wrong}`);
        }
      };
      await Promise.all([one(), one(), one(), one()]);
      expect(faults).toEqual([]);
      // most of them have reached the service
      expect(ours).toBeGreaterThan(COUNT / 3);
    },
    patience(10 * 60_000),
  );

  const sent = (head: string, text = ''): Promise<RawAnswer[]> =>
    talk(Buffer.from(`${head.replaceAll('\n', '\r\n')}\r\n\r\n${text}`, 'latin1')).then((b) => parse(b, []));

  it('a duplicate header is a list, and not a key', async () => {
    const key = `x-api-key: ${workers.token}`;
    const [twice] = await sent(`GET /svc/api/get_ontologies HTTP/1.1\nhost: 127.0.0.1\n${key}\n${key}`);
    expect([twice?.status, JSON.parse(twice?.text ?? '').code]).toEqual([401, 'invalid_token']);
    const [limits] = await sent(`GET /svc/api/q/pen/concept/animal HTTP/1.1\nhost: 127.0.0.1\n${key}\nresults-limit: 1\nresults-limit: 2`);
    expect([limits?.status, JSON.parse(limits?.text ?? '').code]).toEqual([400, 'bad_results_limit']);
  });

  it('the length of a URL counts as it is sent', async () => {
    const key = `x-api-key: ${workers.token}`;
    const at = async (n: number) =>
      (await sent(`GET /svc/api/q/pen/concept/animal?_subj_=name&_op_=eq&_comp_=${'x'.repeat(n)} HTTP/1.1\nhost: 127.0.0.1\n${key}`))[0]?.status;
    expect([await at(12_000), await at(16_000), await at(16_500), await at(40_000)]).toEqual([200, 200, 414, 414]);
  });

  it('an invalid Host is refused', async () => {
    const [answer] = await sent('GET /svc/api/health HTTP/1.1\nhost: [::1');
    expect([answer?.status, JSON.parse(answer?.text ?? '').code]).toEqual([400, 'malformed_url']);
  });

  it('the service still works', async () => {
    const { text } = await ask(workers.urls.service, '/svc/openapi/ontology/pen/query', {
      method: 'POST',
      headers: { 'x-api-key': workers.token, 'content-type': 'text/plain' },
      body: 'SELECT count(*) AS n FROM svc.animal',
    });
    expect(text).toBe('[{"n":2}]');
  });
});
