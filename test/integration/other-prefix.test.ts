/**
 * Clients that were written for another prefix run unchanged if PRODUCT_NAME is theirs: raw text bodies, bare arrays, error texts with
 * another status than 200, all over plain node:http against the built Worker.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { ask, type BuiltWorkers, startBuiltWorkers, type WorkerAnswer } from './support/worker.ts';

let database: LocalPostgres;
let workers: BuiltWorkers<'acme'>;

/** The behaviour of such a client: the SQL is the body, rows are a bare array, any status except 200 is an error whose body is its text. */
async function client(sql: string, headers: Record<string, string> = {}): Promise<unknown> {
  const { status, text } = await post('/acme/openapi/ontology/shop/query', sql, headers);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return JSON.parse(text);
}
const post = (path: string, body: string, headers: Record<string, string> = {}): Promise<WorkerAnswer> =>
  ask(workers.urls.acme, path, { method: 'POST', headers: { 'x-api-key': workers.token, 'content-type': 'application/text', ...headers }, body });
const get = async (path: string) => JSON.parse((await ask(workers.urls.acme, path, { headers: { 'x-api-key': workers.token } })).text);

beforeAll(async () => {
  database = await borrowPostgres();
  await database.exec('CREATE SCHEMA s');
  await database.exec('CREATE TABLE s.t (id int PRIMARY KEY, name text, up int)');
  await database.exec(`INSERT INTO s.t VALUES (1, 'Zo\u00eb "Z" O''Neil', NULL), (2, '\u6771\u4eac \u{1f600}', 1)`);
  workers = await startBuiltWorkers(database, { acme: { PRODUCT_NAME: 'acme' } });
  await client(`CREATE ONTOLOGY shop;
    CREATE CONCEPT item (id integer, name string, up integer, PRIMARY KEY (id), LABEL (name), CONSTRAINT above FOREIGN KEY (up) REFERENCES item (id) INVERSEOF below);
    CREATE CONCEPT first INHERITS (item) FROM acme.item WHERE id = 1;
    CREATE MAPPING m INTO item AS SELECT id, name, up FROM s.t; CREATE VIEW named AS SELECT id, name FROM acme.item`);
});
afterAll(async () => {
  await workers?.stop();
  await database?.close();
});

describe('a client of another prefix', () => {
  it('sends SQL as text and reads a bare array', async () => {
    expect(await client('SELECT 1')).toEqual([{ '?column?': 1 }]);
    expect(await client('SELECT 1 AS ok;')).toEqual([{ ok: 1 }]);
    expect(await client('SELECT id, name FROM acme.item ORDER BY id')).toEqual([
      { id: 1, name: 'Zo\u00eb "Z" O\'Neil' },
      { id: 2, name: '\u6771\u4eac \u{1f600}' },
    ]);
    for (const type of ['text/plain', 'application/text', 'text/plain; charset=utf-8'])
      expect(await client('SELECT 1 AS n', { 'content-type': type })).toEqual([{ n: 1 }]);
  });

  it('can use all its schemas, and the neutral names', async () => {
    for (const schema of ['acme', 'eacme', 'dacme', 'svc', 'esvc', 'dsvc'])
      expect(await client(`SELECT count(*) AS n FROM ${schema}.first`), schema).toEqual([{ n: 1 }]);
    for (const schema of ['vacme', 'vsvc']) expect(await client(`SELECT count(*) AS n FROM ${schema}.named`), schema).toEqual([{ n: 2 }]);
    expect(await client('SELECT name, `above[item].name` AS over FROM `dacme`.`item` WHERE `above[item].name` IS NOT NULL')).toEqual([
      { name: '\u6771\u4eac \u{1f600}', over: 'Zo\u00eb "Z" O\'Neil' },
    ]);
  });

  it('can send doubled quotes and any character', async () => {
    expect(await client("SELECT id FROM acme.item WHERE name = 'Zo\u00eb \"Z\" O''Neil'")).toEqual([{ id: 1 }]);
    expect(await client(`SELECT id AS "say ""it""" FROM acme.item WHERE name LIKE '%\u{1f600}'`)).toEqual([{ 'say "it"': 2 }]);
  });

  it('sends several statements and gets the rows of the last one', async () => {
    expect(await client("SELECT 1; SELECT ';' AS semicolon;\n-- a word; of comment\nSELECT id FROM acme.item WHERE id = 2;")).toEqual([{ id: 2 }]);
  });

  it('gets a text with another status than 200 for an error', async () => {
    await expect(client('SELECT nam FROM acme.item')).rejects.toThrow(/^400: .*did you mean `name`/);
    await expect(client('SELEC 1')).rejects.toThrow(/^400: /);
    await expect(client('SELECT 1', { 'x-api-key': 'tk_none' })).rejects.toThrow(/^401: /);
    expect((await post('/acme/openapi/ontology/shp/query', 'SELECT 1')).status).toBe(404);
    expect((await post('/acme/openapi/ontology/shop/query', '')).status).toBe(400);
  });

  it('calls the other endpoints, with and without a trailing slash', async () => {
    for (const slash of ['', '/']) {
      expect((await get(`/acme/api/get_ontologies${slash}`)).data).toEqual(['shop']);
      expect((await get(`/acme/api/get_ontology/shop${slash}`)).data.views.named.query).toBe('SELECT id, name FROM acme.item');
      const { data, executed_query } = await get(`/acme/api/q/shop/concept/item${slash}?_subj_=above&_op_=not_null`);
      expect([data.length, executed_query]).toEqual([1, expect.stringContaining('`dacme`.`item`')]);
      expect(await client(executed_query)).toEqual(data);
      const asked = await post(`/acme/api/query${slash}`, JSON.stringify({ ontology_name: 'shop', query: 'SELECT 1 AS n' }), {
        'content-type': 'application/json',
      });
      expect(asked.text).toBe('{"status":"success","data":[{"n":1}]}');
    }
    const { paths } = await get('/acme/api/openapi.json');
    // clients report their questions below the second prefix
    expect(Object.keys(paths).filter((path) => !/^\/acme(-server)?\//.test(path))).toEqual([]);
    const page = await ask(workers.urls.acme, '/acme/api/docs');
    expect(page.text).toContain('/acme/api/docs/script.js');
    expect(page.text).not.toContain('svc');
  });

  it('polls the result of an asynchronous statement', async () => {
    const { text, status } = await post('/acme/openapi/ontology/shop/query', 'SELECT count(*) AS n FROM acme.item', { 'x-async': 'true' });
    expect(status, text).toBe(202);
    const { poll_url } = JSON.parse(text);
    expect(poll_url).toMatch(/^\/acme\/openapi\/get-async-results\//);
    await expect.poll(async () => (await get(poll_url)).status).toBe('completed');
    expect((await get(poll_url)).response).toEqual([{ n: 2 }]);
  });

  it('finds nothing under the neutral prefix', async () => {
    for (const path of ['/svc/api/health', '/svc/api/get_ontologies', '/svc/openapi/ontology/shop/query'])
      expect((await ask(workers.urls.acme, path)).status, path).toBe(404);
    expect(JSON.parse((await ask(workers.urls.acme, '/acme/api/health')).text).name).toBe('acme');
  });
});
