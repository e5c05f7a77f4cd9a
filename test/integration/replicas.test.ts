/** The options of a datasource about replicas, and replicas that are none. replicas.deep.test.ts has real ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READER } from '../../dev/roles.ts';
import { doctor } from '../../src/cli/doctor.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
/** docs/scale-out.md#what-the-role-needs */
const FUNCTIONS = ['control_system', 'control_checkpoint', 'control_recovery', 'current_wal_insert_lsn', 'last_wal_replay_lsn']
  .map((name) => `pg_catalog.pg_${name}()`)
  .join(', ');
const lines: Readonly<Record<string, unknown>>[] = [];

beforeAll(async () => {
  service = await startService({
    tables: ['CREATE SCHEMA shop', 'CREATE TABLE shop.t AS SELECT 1 AS id', `GRANT USAGE ON SCHEMA shop TO ${READER}`, `GRANT SELECT ON shop.t TO ${READER}`],
    settings: { DATASOURCE_GONE: JSON.stringify({ url: 'postgres://u:secret-77@db.internal/x', endpoint: 'http://127.0.0.1:1/sql' }) },
    parts: { log: (line) => lines.push(line) },
  });
  const secrets = (await service.request(service.token)).runtime.config.datasourceSecrets as Record<string, string>;
  secrets.DATASOURCE_SELF = service.database.secret(READER);
  await service.database.superuser(`GRANT EXECUTE ON FUNCTION ${FUNCTIONS} TO ${READER}`);
  await service.rows(`CREATE ONTOLOGY o; CREATE CONCEPT c (id integer, PRIMARY KEY (id)); CREATE MAPPING m INTO (c) AS SELECT id FROM shop.t`);
});
afterAll(async () => {
  await service?.database.superuser(`REVOKE EXECUTE ON FUNCTION ${FUNCTIONS} FROM ${READER}`);
  await service?.close();
});

const create = (options: string, name = 'd'): string => `CREATE OR REPLACE DATASOURCE ${name} TYPE postgres SECRET 'DATASOURCE_MAIN' OPTIONS (${options})`;

describe('the options', () => {
  it.each([
    ["replicas = 'PATH'", '400 bad_secret'],
    ["replicas = 'DATASOURCE_A,, DATASOURCE_B'", '400 bad_secret'],
    ["replicas = 'postgres://u:p@h/d'", '400 bad_secret'],
    ["replicas = 'DATASOURCE_MAIN'", '400 bad_value'],
    ["replicas = 'DATASOURCE_A, DATASOURCE_A'", '400 bad_value'],
    [`replicas = '${Array.from({ length: 9 }, (_, i) => `DATASOURCE_R${i}`).join(', ')}'`, '400 bad_value'],
    ["replicas = 'DATASOURCE_GONE', max_lag = '10'", '400 bad_value'],
    ["replicas = 'DATASOURCE_GONE', max_lag = '2 h'", '400 bad_value'],
  ])('%s are refused', async (options, fault) => {
    expect(await service.fault(create(options))).toBe(fault);
  });

  it('come back from SHOW CREATE, and a missing variable is a warning', async () => {
    const options = "replicas = 'DATASOURCE_GONE, DATASOURCE_NONE', max_lag = '2 min'";
    expect(await service.rows(create(options))).toEqual([expect.objectContaining({ warning: expect.stringMatching(/: DATASOURCE_NONE$/) })]);
    const [row] = await service.rows('SHOW CREATE DATASOURCE d');
    expect(Object.values(row).join()).toContain(`OPTIONS (${options.replace('replicas', '`replicas`').replace('max_lag', '`max_lag`')})`);
    expect(await service.rows(create("replicas = 'DATASOURCE_GONE'"))).toEqual([expect.not.objectContaining({ warning: expect.anything() })]);
    await service.rows('DROP DATASOURCE d');
  });
});

describe('replicas that are none', () => {
  const read = async (headers: Readonly<Record<string, string>> = {}): Promise<readonly [number, string, string | null]> => {
    const response = await service.fetch('/svc/openapi/ontology/o/query', {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-api-key': service.token, ...headers },
      body: 'SELECT id FROM svc.c',
    });
    return [response.status, await response.text(), response.headers.get('x-datasource')];
  };

  it('do not matter without the option', async () => {
    expect(await read()).toEqual([200, '[{"id":1}]', null]);
    expect(await read({ 'x-consistency': 'primary' })).toEqual([200, '[{"id":1}]', null]);
    expect((await read({ 'x-consistency': 'eventual' }))[0]).toBe(400);
  });

  it('answer nothing', async () => {
    await service.rows(create("replicas = 'DATASOURCE_GONE, DATASOURCE_SELF, DATASOURCE_NONE'", 'main'));
    const reasons = (): unknown[] => lines.filter((l) => l.event === 'replica').map((l) => l.reason);
    await expect
      .poll(async () => {
        expect(await read()).toEqual([200, '[{"id":1}]', 'primary; name=main']);
        return reasons();
      })
      .toEqual(expect.arrayContaining(['it failed', 'not a standby']));
    expect(JSON.stringify(lines)).not.toContain('secret-77');
    const response = await service.fetch('/svc/api/health/ready', { headers: { 'x-api-key': service.token } });
    const text = await response.text();
    expect(response.status).toBe(200);
    const { checks } = JSON.parse(text).data as { checks: { name: string; state: string; detail?: string }[] };
    expect(checks.filter((c) => c.name.includes('replica')).map(({ state, detail }) => `${state}: ${detail}`)).toEqual([
      expect.stringMatching(/^warning: the datasource failed/),
      'warning: it is not used: not a standby',
      'warning: its variable is not set, or is invalid',
    ]);
    expect(text).not.toContain('secret-77');
  });

  it('are warnings of kg doctor', async () => {
    const report = await doctor({
      CATALOG_URL: service.database.secret('kg_catalog_owner'),
      DATASOURCE_MAIN: service.database.secret(READER),
      DATASOURCE_GONE: JSON.stringify({ url: 'postgres://u:secret-77@db.internal/x', endpoint: 'http://127.0.0.1:1/sql' }),
      DATASOURCE_SELF: service.database.secret(READER),
      KG_URL: 'http://127.0.0.1:1/svc',
      KG_TOKEN: 'x',
    });
    const found = report.lines.filter((l) => /replica \d:/.test(l));
    expect(found).toEqual([
      expect.stringMatching(/^warn +datasource main replica 1: its position, or that of the datasource, cannot be read/),
      expect.stringMatching(/^warn +datasource main replica 2: it is not used: not a standby/),
      expect.stringMatching(/^warn +datasource main replica 3: DATASOURCE_NONE is not set here/),
    ]);
  });
});
