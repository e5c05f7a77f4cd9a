/** `kg doctor` over a database that is as it should be, and over one with faults. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER, DEVELOPER, READER } from '../../dev/roles.ts';
import { main } from '../../src/cli/kg.ts';
import { startTestService, type TestService } from './service.ts';

let service: TestService;
let server: Server;
let base: string;
/** What the stand-in for the service answers to statements. */
let answer: [status: number, body: unknown];

beforeAll(async () => {
  service = await startTestService(['CREATE SCHEMA shop', 'CREATE TABLE shop.item (id integer PRIMARY KEY)']);
  server = createServer((request, response) => {
    const [status, body] = request.url === '/svc/api/health' ? [200, { status: 'success', name: 'svc', version: '1.2.3' }] : answer;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server?.close();
  await service?.close();
});

async function doctor(env: Record<string, string> = {}) {
  answer ??= [200, { status: 'success', data: [{ ontology: 'shop' }] }];
  const out: string[] = [];
  const known = { KG_URL: base, KG_TOKEN: 'tk_x', CATALOG_URL: service.database.secret(CATALOG_OWNER), DATASOURCE_MAIN: service.database.secret(READER) };
  const code = await main(['doctor'], { ...known, SESSION_FILE: 'missing.json', ...env }, { out: (l) => out.push(l), err: (l) => out.push(l) });
  return { code, out, of: (state: string) => out.filter((l) => l.startsWith(`${state.padEnd(4)}  `)).map((l) => l.slice(6)) };
}
const dev = (sql: string) => service.database.exec(sql);
const owner = (sql: string) => service.database.exec(sql, [], CATALOG_OWNER);

describe('doctor', () => {
  it('finds all well, in one line each', async () => {
    const { code, out, of } = await doctor();
    expect(of('fail')).toEqual([]);
    expect(code).toBe(0);
    expect(out.every((l) => /^(ok {2}|warn|fail) {2}\S.*: \S/.test(l) && !l.includes('\n'))).toBe(true);
    expect(of('ok')).toEqual([
      `service: ${base} answers, version 1.2.3`,
      'token: it works and sees 1 ontology',
      'catalog: it answers',
      expect.stringMatching(/^migrations: all \d+ applied$/),
      expect.stringMatching(/^datasource main: PostgreSQL 1[5-8]/),
      'datasource main: the role kg_reader is read-only, with statement_timeout, search_path, TimeZone and DateStyle set',
      'datasource main: the role kg_reader reads alone: it makes nothing, writes nothing, and does not reach kg_catalog',
      'datasource main: JSON comes as PostgreSQL wrote it',
    ]);
    expect(of('warn')).toEqual([expect.stringMatching(/^datasource main: random_page_cost is 4/)]);
  });

  it('never shows a connection string', async () => {
    const { out } = await doctor({ DATASOURCE_OTHER: 'postgres://u:secretword@h', CATALOG_URL: '{"url":"postgres://u:secretword@h"' });
    expect(out.join('\n')).not.toContain('secretword');
    expect(out.filter((l) => l.startsWith('fail')).map((l) => l.split(':')[0])).toEqual(['fail  catalog', 'fail  datasource other']);
  });

  it('fails on a service that does not answer, and on a token that it does not take', async () => {
    const gone = await doctor({ KG_URL: 'http://127.0.0.1:9' });
    expect(gone.code).toBe(1);
    expect(gone.of('fail')).toEqual([expect.stringMatching(/^service: http:\/\/127\.0\.0\.1:9\/svc\/api\/health does not answer/)]);
    answer = [401, { status: 'error', code: 'unauthorized', data: 'the token is not known', hint: 'mend it' }];
    const refused = await doctor();
    answer = [200, { status: 'success', data: [] }];
    expect([refused.code, refused.of('fail')]).toEqual([1, ['token: the token is not known (unauthorized); mend it']]);
    expect((await doctor({ KG_URL: '', KG_TOKEN: '' })).of('fail')).toEqual([expect.stringMatching(/^service: no service found/)]);
  });

  it('warns of what it has no connection to', async () => {
    const { code, of } = await doctor({ CATALOG_URL: '', DATASOURCE_MAIN: '' });
    expect(code).toBe(0);
    expect(of('warn')).toEqual([
      'catalog: not looked at: set CATALOG_URL, as the service has it',
      'datasource main: not looked at: set DATASOURCE_MAIN, as the service has it',
    ]);
  });

  it('fails on a role that may write, make things or reach the catalog', async () => {
    const asDeveloper = await doctor({ DATASOURCE_MAIN: service.database.secret(DEVELOPER) });
    expect(asDeveloper.code).toBe(1);
    expect(asDeveloper.of('fail').map((l) => l.split(':')[1]?.trim())).toEqual([
      'the role kg_dev is not read-only',
      'the role kg_dev reaches the catalog',
      'the role kg_dev may make schemas',
      'the role kg_dev may make tables',
      'the role kg_dev may write to shop.item',
    ]);
    expect(asDeveloper.of('warn').join('\n')).toMatch(/no statement_timeout.*ALTER ROLE kg_dev SET statement_timeout = '30000ms'/);
    expect(asDeveloper.of('warn').join('\n')).toMatch(/ALTER ROLE kg_dev SET search_path = ''/);
    expect((await doctor({ DATASOURCE_MAIN: service.database.secret(CATALOG_OWNER) })).of('fail').join('\n')).toMatch(
      /kg_catalog_owner reaches the catalog: REVOKE/,
    );
    await dev('GRANT INSERT ON shop.item TO kg_reader');
    expect((await doctor()).of('fail')).toEqual([expect.stringMatching(/^datasource main: the role kg_reader may write to shop\.item/)]);
    await dev('REVOKE INSERT ON shop.item FROM kg_reader');
    await owner('GRANT USAGE ON SCHEMA kg_catalog TO kg_reader');
    expect((await doctor()).of('fail')).toEqual([expect.stringMatching(/^datasource main: the role kg_reader reaches the catalog/)]);
    await owner('REVOKE USAGE ON SCHEMA kg_catalog FROM kg_reader');
  });

  it('tells a time-out that is not the service own', async () => {
    expect((await doctor({ STATEMENT_TIMEOUT_MS: '5000' })).of('warn')[0]).toMatch(/statement_timeout of 30000 ms, the service's is 5000 ms/);
  });

  it('fails on a server that rewrites JSON', async () => {
    const rewriting = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const headers = Object.fromEntries(['neon-connection-string', 'neon-raw-text-output', 'neon-array-mode'].map((h) => [h, String(request.headers[h])]));
      const answered = await fetch(service.database.endpoint, { method: 'POST', headers, body: Buffer.concat(chunks) });
      response.writeHead(answered.status, { 'content-type': 'application/json' }).end(JSON.stringify(await answered.json()));
    });
    await new Promise<void>((done) => rewriting.listen(0, '127.0.0.1', done));
    const endpoint = `http://127.0.0.1:${(rewriting.address() as AddressInfo).port}/sql`;
    const { of } = await doctor({ DATASOURCE_MAIN: JSON.stringify({ url: service.database.connectionString(READER), endpoint }) });
    rewriting.close();
    rewriting.closeAllConnections();
    expect(of('fail')).toEqual([expect.stringMatching(/^datasource main: the SQL-over-HTTP server rewrites JSON/)]);
  });

  it('names migrations that are missing, and a datasource whose server is gone', async () => {
    const [last] = await owner('SELECT name, checksum FROM kg_catalog.migrations ORDER BY name DESC LIMIT 1');
    await owner(`DELETE FROM kg_catalog.migrations WHERE name = '${last?.name}'`);
    expect((await doctor()).of('fail')).toEqual([`migrations: ${last?.name} not applied: npm run migrate`]);
    await owner(`INSERT INTO kg_catalog.migrations (name, checksum) VALUES ('${last?.name}', 'other')`);
    expect((await doctor()).of('fail')).toEqual([expect.stringMatching(new RegExp(`^migrations: ${last?.name} changed`))]);
    await owner(`UPDATE kg_catalog.migrations SET checksum = '${last?.checksum}' WHERE name = '${last?.name}'`);
    const gone = JSON.stringify({ url: 'postgres://u:p@127.0.0.1/db', endpoint: 'http://127.0.0.1:9/sql' });
    expect((await doctor({ DATASOURCE_MAIN: gone })).of('fail')).toEqual([expect.stringMatching(/^datasource main: it does not answer/)]);
  });
});
