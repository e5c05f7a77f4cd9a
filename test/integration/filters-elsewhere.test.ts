/**
 * Injection in other places than the filters (filters.test.ts has those): every header, the ontology and the datasource of the other
 * routes. With any text, either a statement with the same tree reaches the database, or no statement does.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { startService, type TestService } from '../support/service.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { PAYLOADS } from './filters-payloads.ts';

const SIZES = sizesOf('integration/filters-elsewhere');

const parser = await loadNodeParser();
let service: TestService;
beforeAll(async () => {
  service = await startService();
  await service.database.exec('CREATE SCHEMA s');
  await service.database.exec('CREATE TABLE s.t (id int PRIMARY KEY, name text, up int)');
  await service.database.exec("INSERT INTO s.t VALUES (1, 'Ann', NULL), (2, 'Bob', 1)");
  await service.rows(`CREATE ONTOLOGY shop;
    CREATE CONCEPT item (id integer, name string, up integer, PRIMARY KEY (id), CONSTRAINT above FOREIGN KEY (up) REFERENCES item (id) INVERSEOF below);
    CREATE MAPPING m INTO item AS SELECT id, name, up FROM s.t`);
});
afterAll(() => service.close());

/** A payload as a client sends it in a header: UTF-8, which cannot contain a line end. */
const inHeader = (payload: string): string =>
  Buffer.from(payload.replace(/[\r\n\0]/g, (c) => encodeURIComponent(c)))
    .toString('latin1')
    .trim();

/** The trees of the statements that have reached the datasource, with their parameters. */
const reached = (): { readonly trees: string[]; readonly params: unknown[] } => {
  const sent = service.reached().flatMap((body) => {
    const { queries, ...one } = JSON.parse(body);
    return (queries ?? [one]) as { query: string; params: unknown }[];
  });
  const tree = ({ query }: { query: string }) =>
    JSON.stringify(parser.parse(query).stmts, (key, value) => (key === 'location' || key === 'stmt_len' || key.endsWith('_location') ? undefined : value));
  return { trees: sent.map(tree), params: sent.map((s) => s.params) };
};

const FILTER = '/svc/api/q/shop/concept/item?_subj_=above[item].name&_op_=eq&_comp_=Ann';
const get = (path: string, headers: Record<string, string> = {}) => service.fetch(path, { headers: { 'x-api-key': service.token, ...headers } });
const post = (path: string, type: string, body: string, headers: Record<string, string> = {}) =>
  service.fetch(path, { method: 'POST', headers: { 'x-api-key': service.token, 'content-type': type, ...headers }, body });

describe('a payload in a header', () => {
  it('can be sent more than 200 times', () => expect(new Set(PAYLOADS.map(inHeader)).size).toBeGreaterThanOrEqual(200));
  beforeEach(() => void service.reached());

  const HEADERS = [
    'accept',
    'accept-language',
    'api-nested-case-sensitivity',
    'api-nested-format-booleans',
    'api-nested-format-properties',
    'api-nested-ignore-entity-id',
    'api-nested-minimize-relationships',
    'authorization',
    'cache-control',
    'content-type',
    'cookie',
    'if-none-match',
    'nested',
    'origin',
    'results-limit',
    'user-agent',
    'x-api-impersonate-user',
    'x-api-key',
    'x-async',
    'x-forwarded-for',
    'x-jwt-tenant-id',
    'x-jwt-token',
    'x-ontology-version',
    'x-request-id',
  ];
  it.each(HEADERS)(
    '%s',
    async (name) => {
      expect((await get(FILTER)).status).toBe(200);
      const plain = reached();
      expect(plain.trees).toHaveLength(1);
      expect(plain.params[0]).toEqual(['Ann']);
      for (const payload of oneIn(SIZES.everyPayload, PAYLOADS, HEADERS.indexOf(name))) {
        const answer = await get(FILTER, { [name]: inHeader(payload) });
        expect([200, 400, 401, 403, 406], `${payload}: ${await answer.text()}`).toContain(answer.status);
        const { trees, params } = reached();
        if (answer.status !== 200) {
          expect(trees, payload).toEqual([]);
          continue;
        }
        expect(trees, payload).toEqual(plain.trees);
        expect(params, payload).toEqual(plain.params);
      }
    },
    120_000,
  );
});

describe('a payload outside of the filters', () => {
  beforeEach(() => void service.reached());
  const places: readonly [string, (p: string) => Promise<Response>, readonly number[]][] = [
    ['ontology_name of a body', (p) => post('/svc/api/query', 'application/json', JSON.stringify({ ontology_name: `shop${p}`, query: 'SELECT 1' })), [404]],
    ['ontology of the other family', (p) => post(`/svc/openapi/ontology/${encodeURIComponent(`shop${p}`)}/query`, 'text/plain', 'SELECT 1'), [404]],
    ['datasource', (p) => post(`/svc/openapi/ontology/shop/query?datasource=${encodeURIComponent(`main${p}`)}`, 'text/plain', 'SELECT 1'), [400]],
    ['ontology of get_ontology', (p) => get(`/svc/api/get_ontology/${encodeURIComponent(`shop${p}`)}`), [404]],
    ['ontology of clear_cache', (p) => get(`/svc/api/clear_cache/${encodeURIComponent(`shop${p}`)}`), [404]],
    ['name of a setting', (p) => get(`/svc/api/get_config/${encodeURIComponent(`ROW_LIMIT${p}`)}`), [404]],
    ['id of an async statement', (p) => get(`/svc/openapi/get-async-results/${encodeURIComponent(`x${p}`)}`), [404]],
    ['ontology of a document', (p) => get(`/svc/api/openapi/${encodeURIComponent(`shop${p}`)}.json`), [404]],
  ];
  it.each(places)(
    '%s',
    async (place, ask, expected) => {
      for (const payload of oneIn(SIZES.everyPayload, PAYLOADS, place.length)) {
        const answer = await ask(payload);
        const text = await answer.text();
        expect(expected, `${payload}: ${text}`).toContain(answer.status);
        expect(JSON.parse(text), payload).toBeTypeOf('object');
      }
      expect(service.reached()).toEqual([]);
    },
    120_000,
  );
});
