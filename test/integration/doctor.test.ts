/** `kg doctor` over a database without faults, and over one with faults. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER, DEVELOPER, READER } from '../../dev/roles.ts';
import { main } from '../../src/cli/kg.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let server: Server;
let base: string;
/** The answers of the simulated service to statements. */
let answer: [status: number, body: unknown];

beforeAll(async () => {
  service = await startService({ tables: ['CREATE SCHEMA shop', 'CREATE TABLE shop.item (id integer PRIMARY KEY)'] });
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
  it('reports success, one line for each check', async () => {
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
      'datasource main: the role kg_reader is read-only, with statement_timeout, search_path, TimeZone, DateStyle and jit set',
      'datasource main: the role kg_reader can only read: it creates nothing, writes nothing, and has no access to kg_catalog',
      'datasource main: the role kg_reader may execute no function that runs SQL texts, reads files or settings, shows sessions, waits or locks',
      'datasource main: the role kg_reader has temp_file_limit 1GB, lock_timeout 10s, idle_in_transaction_session_timeout 2min, and at most 40 connections',
      'datasource main: JSON arrives as PostgreSQL wrote it',
    ]);
    expect(of('warn')).toEqual([expect.stringMatching(/^datasource main: random_page_cost is 4/)]);
  });

  it('never shows a connection string', async () => {
    const { out } = await doctor({ DATASOURCE_OTHER: 'postgres://u:secretword@h', CATALOG_URL: '{"url":"postgres://u:secretword@h"' });
    expect(out.join('\n')).not.toContain('secretword');
    expect(out.filter((l) => l.startsWith('fail')).map((l) => l.split(':')[0])).toEqual(['fail  catalog', 'fail  datasource other']);
  });

  it('fails on a service that does not answer, and on a token that is refused', async () => {
    const gone = await doctor({ KG_URL: 'http://127.0.0.1:9' });
    expect(gone.code).toBe(1);
    expect(gone.of('fail')).toEqual([expect.stringMatching(/^service: http:\/\/127\.0\.0\.1:9\/svc\/api\/health does not answer/)]);
    answer = [401, { status: 'error', code: 'unauthorized', data: 'the token is not known', hint: 'fix it' }];
    const refused = await doctor();
    answer = [200, { status: 'success', data: [] }];
    expect([refused.code, refused.of('fail')]).toEqual([1, ['token: the token is not known (unauthorized); fix it']]);
    expect((await doctor({ KG_URL: '', KG_TOKEN: '' })).of('fail')).toEqual([expect.stringMatching(/^service: no service found/)]);
  });

  it('warns of databases without a connection', async () => {
    const { code, of } = await doctor({ CATALOG_URL: '', DATASOURCE_MAIN: '' });
    expect(code).toBe(0);
    expect(of('warn')).toEqual([
      'catalog: not checked: set CATALOG_URL to the value that the service has',
      'datasource main: not checked: set DATASOURCE_MAIN to the value that the service has',
    ]);
  });

  it('fails on a role that may write, create objects or read the catalog', async () => {
    const asDeveloper = await doctor({ DATASOURCE_MAIN: service.database.secret(DEVELOPER) });
    expect(asDeveloper.code).toBe(1);
    expect(asDeveloper.of('fail').map((l) => l.split(':')[1]?.trim())).toEqual([
      'the role kg_dev is not read-only',
      'the role kg_dev has access to the catalog',
      'the role kg_dev may create schemas',
      'the role kg_dev may create tables',
      'the role kg_dev may write to shop.item',
      expect.stringMatching(/^the role kg_dev may execute functions that run SQL texts \(ts_stat, query_to_xml, .* \d+ more\); .*wait \(pg_sleep, /),
    ]);
    expect(asDeveloper.of('warn').join('\n')).toMatch(/no statement_timeout.*ALTER ROLE kg_dev SET statement_timeout = '30000ms'/);
    expect(asDeveloper.of('warn').join('\n')).toMatch(/ALTER ROLE kg_dev SET search_path = ''/);
    expect((await doctor({ DATASOURCE_MAIN: service.database.secret(CATALOG_OWNER) })).of('fail').join('\n')).toMatch(
      /kg_catalog_owner has access to the catalog: REVOKE/,
    );
    await dev('GRANT INSERT ON shop.item TO kg_reader');
    expect((await doctor()).of('fail')).toEqual([expect.stringMatching(/^datasource main: the role kg_reader may write to shop\.item/)]);
    await dev('REVOKE INSERT ON shop.item FROM kg_reader');
    await dev('GRANT UPDATE (id) ON shop.item TO kg_reader');
    await dev('CREATE SEQUENCE shop.numbers');
    await dev('GRANT USAGE ON SEQUENCE shop.numbers TO kg_reader');
    expect((await doctor()).of('fail')).toEqual([expect.stringMatching(/^datasource main: the role kg_reader may write to shop\.item, shop\.numbers: REVOKE/)]);
    await dev('REVOKE UPDATE (id) ON shop.item FROM kg_reader');
    await dev('DROP SEQUENCE shop.numbers');
    await owner('GRANT USAGE ON SCHEMA kg_catalog TO kg_reader');
    expect((await doctor()).of('fail')).toEqual([expect.stringMatching(/^datasource main: the role kg_reader has access to the catalog/)]);
    await owner('REVOKE USAGE ON SCHEMA kg_catalog FROM kg_reader');
  });

  /** Its lines about the role, while these statements of a superuser are in effect. */
  async function whilst(statements: readonly string[], undo: readonly string[]) {
    const { superuser } = service.database;
    try {
      for (const sql of statements) await superuser(sql);
      const { code, of } = await doctor();
      const about = (state: string) => of(state).filter((l) => l.startsWith('datasource main: the role kg_reader') || l.includes('statement of the role'));
      return { code, fail: about('fail'), warn: about('warn') };
    } finally {
      for (const sql of undo) await superuser(sql);
    }
  }
  const ABOUT = 'datasource main: the role kg_reader';

  it('fails on functions that show or stop other sessions, and warns of the other ones', async () => {
    const open = [
      'GRANT EXECUTE ON FUNCTION ts_stat(text), ts_stat(text, text), pg_sleep, nextval TO kg_reader',
      'GRANT EXECUTE ON FUNCTION lo_get(oid) TO PUBLIC',
    ];
    const close = [
      'REVOKE EXECUTE ON FUNCTION ts_stat(text), ts_stat(text, text), pg_sleep, nextval FROM kg_reader',
      'REVOKE EXECUTE ON FUNCTION lo_get(oid) FROM PUBLIC',
    ];
    const advice = 'a superuser can run docs/restrict-functions.sql';
    expect(await whilst(open, close)).toEqual({
      code: 1,
      fail: [`${ABOUT} may execute functions that run SQL texts (ts_stat); use large objects (lo_get); wait (pg_sleep): ${advice}`],
      warn: [`${ABOUT} may execute functions that use sequences (nextval): ${advice}`],
    });
    // without a superuser, the operator cannot change this
    const hosted = await whilst([...open, 'CREATE ROLE neon_superuser'], [...close, 'DROP ROLE neon_superuser']);
    expect(hosted).toEqual({
      code: 0,
      fail: [],
      warn: [
        expect.stringMatching(
          / run SQL texts \(ts_stat\); .*; use sequences \(nextval\): Neon does not allow revoking the right, so only the planner's checks/,
        ),
      ],
    });
  });

  it('fails on attributes of the role, and on memberships with further rights', async () => {
    expect((await whilst(['ALTER ROLE kg_reader CREATEDB BYPASSRLS'], ['ALTER ROLE kg_reader NOCREATEDB NOBYPASSRLS'])).fail).toEqual([
      `${ABOUT} has CREATEDB, BYPASSRLS: ALTER ROLE kg_reader NOCREATEDB NOBYPASSRLS`,
    ]);
    const { fail, code } = await whilst(
      ['CREATE ROLE analysts', 'CREATE ROLE staff', 'GRANT pg_monitor TO staff', 'GRANT staff, analysts TO kg_reader', 'GRANT pg_read_all_data TO kg_reader'],
      ['REVOKE pg_read_all_data FROM kg_reader', 'DROP ROLE staff, analysts'],
    );
    const more = `${ABOUT} has more rights through pg_read_all_data, staff: REVOKE pg_read_all_data, staff FROM kg_reader, or create the role again with CREATE ROLE`;
    // both bring rights that have lines of their own
    expect([code, fail[0], fail.length]).toEqual([1, more, 3]);
    expect((await whilst(['GRANT kg_catalog_owner TO kg_reader'], ['REVOKE kg_catalog_owner FROM kg_reader'])).fail[0]).toMatch(/has access to the catalog/);
  });

  it('warns of missing limits, and of functions that run with the rights of others', async () => {
    const lift = ['temp_file_limit', 'lock_timeout', 'idle_in_transaction_session_timeout'].map((name) => `ALTER ROLE kg_reader RESET ${name}`);
    const limits = [
      `SET temp_file_limit = '1GB'`,
      `SET lock_timeout = '10s'`,
      `SET idle_in_transaction_session_timeout = '2min'`,
      'CONNECTION LIMIT 40',
      'RESET work_mem',
    ];
    const lifted = await whilst(
      [...lift, 'ALTER ROLE kg_reader CONNECTION LIMIT -1', `ALTER ROLE kg_reader SET work_mem = '512MB'`],
      limits.map((l) => `ALTER ROLE kg_reader ${l}`),
    );
    expect(lifted).toEqual({
      code: 0,
      fail: [],
      warn: [
        `${ABOUT} has no temp_file_limit: ALTER ROLE kg_reader SET temp_file_limit = '1GB', which a superuser may run`,
        `${ABOUT} has no lock_timeout: ALTER ROLE kg_reader SET lock_timeout = '10s'`,
        `${ABOUT} has no idle_in_transaction_session_timeout: ALTER ROLE kg_reader SET idle_in_transaction_session_timeout = '2min'`,
        `${ABOUT} has no connection limit: ALTER ROLE kg_reader CONNECTION LIMIT 40`,
        expect.stringMatching(/each hash in a statement of the role kg_reader may use 1024 MB .*: ALTER ROLE kg_reader SET work_mem = '16MB'$/),
      ],
    });
    await dev("CREATE FUNCTION shop.all_of_it() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM shop.item'");
    expect((await doctor()).of('warn')).toContainEqual(
      expect.stringMatching(/^datasource main: the role kg_reader may execute shop\.all_of_it with the rights/),
    );
    await dev('DROP FUNCTION shop.all_of_it()');
  });

  it('reports a timeout that differs from that of the service', async () => {
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
