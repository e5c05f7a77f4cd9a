/**
 * Tables that are distributed in another way while the service runs, on a Citus cluster: no answer has other rows than those of an undistributed database. It creates and
 * drops the schemas moved and moved_cache there, and the role moved_reader.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { startSqlServer } from '../../dev/sql-server.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { forgetRoles } from '../../src/engine/settings.ts';
import { forgetTargets } from '../../src/service/read/distributed.ts';
import { forgetRenewals } from '../../src/service/read/placements.ts';
import { startService, type TestService } from '../support/service.ts';

const url = inject('citusUrl');
const client = new pg.Client({ connectionString: url });
const exec = async (sql: string): Promise<void> => void (await client.query(sql));

const TABLES = `CREATE TABLE moved.town (tid integer, name text, kind text);
  ${['a', 'b'].map((t) => `CREATE TABLE moved.${t} (id integer, town integer, kind text);`).join('\n')}
  CREATE VIEW moved.seen AS SELECT id, town, kind FROM moved.a;
  INSERT INTO moved.town SELECT n, 'Town ' || n, 'k' || n % 5 FROM generate_series(1, 40) n;
  INSERT INTO moved.a SELECT n, 1 + n % 41, 'k' || n % 7 FROM generate_series(1, 60) n;
  INSERT INTO moved.b SELECT 100 + n, 1 + n % 43, 'k' || n % 3 FROM generate_series(1, 60) n`.split(';');
const modelOf = (ontology: string): string => `CREATE ONTOLOGY ${ontology};
  ${ontology === 'far' ? 'ALTER ONTOLOGY far ADD DATASOURCE far;' : ''}
  CREATE CONCEPT town (tid integer, name string, kind string, PRIMARY KEY (tid));
  CREATE CONCEPT person (id integer, town integer, kind string, PRIMARY KEY (id), CONSTRAINT lives_in FOREIGN KEY (town) REFERENCES town (tid) INVERSEOF houses);
  CREATE CONCEPT seen (id integer, town integer, PRIMARY KEY (id));
  CREATE MAPPING m_seen INTO seen ${ontology === 'far' ? 'USING far' : ''} AS SELECT id, town FROM moved.seen;
  CREATE CONCEPT home (id integer, name string, PRIMARY KEY (id));
  CREATE MAPPING m_home INTO home ${ontology === 'far' ? 'USING far' : ''} AS SELECT x.id, t.name
    FROM (SELECT id, town FROM moved.a UNION ALL SELECT id, town FROM moved.b) x JOIN moved.town t ON t.tid = x.town;
  CREATE MAPPING m_town INTO town ${ontology === 'far' ? 'USING far' : ''} AS SELECT tid, name, kind FROM moved.town;
  ${['a', 'b'].map((t) => `CREATE MAPPING m_${t} INTO person ${ontology === 'far' ? 'USING far' : ''} AS SELECT id, town, kind FROM moved.${t}`).join('; ')}`;
const QUERIES = [
  'SELECT p.id, t.name FROM svc.person p JOIN svc.town t ON t.tid = p.town ORDER BY p.id',
  'SELECT id, "lives_in[town].name" AS name FROM dsvc.person ORDER BY id',
  'SELECT COUNT(*) AS n FROM svc.person p JOIN svc.town t ON t.kind = p.kind',
  'SELECT tid, COUNT("houses[person].id") AS n FROM dsvc.town GROUP BY tid ORDER BY tid',
  'SELECT p.id, q.id AS other FROM svc.person p JOIN svc.person q ON q.town = p.id ORDER BY 1, 2',
];

let service: TestService;
let end: (() => Promise<void>) | undefined;

beforeAll(async () => {
  await client.connect();
  await exec('DROP SCHEMA IF EXISTS moved, moved_cache CASCADE');
  await exec('DROP ROLE IF EXISTS moved_reader');
  for (const sql of ['CREATE SCHEMA moved', 'CREATE SCHEMA moved_cache', 'CREATE ROLE moved_reader LOGIN', ...TABLES]) await exec(sql);
  await exec("SELECT create_reference_table('moved.town')");
  for (const t of ['a', 'b']) await exec(`SELECT create_distributed_table('moved.${t}', 'id')`);
  for (const sql of [
    'GRANT USAGE ON SCHEMA moved, moved_cache TO moved_reader',
    'ALTER DEFAULT PRIVILEGES IN SCHEMA moved GRANT SELECT ON TABLES TO moved_reader',
  ])
    await exec(sql);
  await exec('GRANT SELECT ON ALL TABLES IN SCHEMA moved TO moved_reader');
  const readerUrl = Object.assign(new URL(url), { username: 'moved_reader' }).href;
  const http = await startSqlServer({ backend: new PgBackend((login) => ({ connectionString: login.user === 'moved_reader' ? readerUrl : url })) });
  end = () => http.close();
  const secret = (connection: string): string => JSON.stringify({ url: connection, endpoint: http.endpoint });
  service = await startService({
    database: { backend: 'pg' },
    tables: ['CREATE SCHEMA moved', ...TABLES],
    settings: () => ({ DATASOURCE_FAR: secret(readerUrl), DATASOURCE_FAR_WRITER: secret(url), STATEMENT_TIMEOUT_MS: '60000' }),
  });
  await service.rows("CREATE DATASOURCE far TYPE postgres SECRET 'DATASOURCE_FAR'");
  for (const ontology of ['near', 'far']) await service.rows(modelOf(ontology), ontology);
}, 300_000);
afterAll(async () => {
  await service?.close();
  await end?.();
  await exec('DROP SCHEMA IF EXISTS moved, moved_cache CASCADE');
  await exec('DROP ROLE moved_reader');
  await client.end();
});

const DISTRIBUTE = ["SELECT undistribute_table('moved.town')", "SELECT create_distributed_table('moved.town', 'tid')"];
const REFER = ["SELECT undistribute_table('moved.town')", "SELECT create_reference_table('moved.town')"];

it.each([
  ['is distributed', DISTRIBUTE, false],
  ['is a reference table again', REFER, false],
  ['is distributed while a query waits for it', DISTRIBUTE, true],
] as const)('the rows are those of an undistributed database if a table %s', async (_, change, waits) => {
  const expected = await Promise.all(QUERIES.map((text) => service.rows(text, 'near')));
  for (const [i, text] of QUERIES.entries()) expect(await service.rows(text, 'far')).toEqual(expected[i]);
  await exec('BEGIN');
  for (const sql of change) await exec(sql);
  const waiting = waits ? QUERIES.map((text) => service.rows(text, 'far')) : [];
  if (waits) await expect.poll(waitingSessions, { timeout: 60_000 }).toBeGreaterThan(2);
  await exec('COMMIT');
  const found = waits ? await Promise.all(waiting) : [];
  if (!waits) for (const text of QUERIES) found.push(await service.rows(text, 'far'));
  expect(found).toEqual(expected);
});

it('a mapping is not cached without the rows that Citus loses if a table is distributed meanwhile', async () => {
  const CACHE = "CACHE MAPPING m_home OPTIONS (schema = 'moved_cache', max_age = '1 hour')";
  const rows = (ontology: string) => service.rows('SELECT id, name FROM svc.home ORDER BY id', ontology);
  const expected = await rows('near');
  for (const sql of REFER) await exec(sql);
  await exec('BEGIN');
  for (const sql of DISTRIBUTE) await exec(sql);
  const refused = service.fault(CACHE, 'far');
  await expect.poll(waitingSessions, { timeout: 60_000 }).toBeGreaterThan(0);
  await exec('COMMIT');
  expect(await refused).toBe('503 datasource_conflict');
  expect(await rows('far')).toEqual(expected);
  await service.rows(CACHE, 'far');
  expect(await rows('far')).toEqual(expected);
});

it('no rows are lost in an isolate that knows nothing of the datasource, if no layout is stored', async () => {
  for (const sql of DISTRIBUTE) await exec(sql);
  const home = 'SELECT id, name FROM svc.home ORDER BY id';
  const expected = await Promise.all([home, ...QUERIES].map((text) => service.rows(text, 'near')));
  const forget = async (): Promise<void> => {
    await service.database.superuser('UPDATE kg_catalog.datasources SET placements = NULL, placements_digest = NULL, placed = NULL');
    for (const forgetAll of [forgetRoles, forgetTargets, forgetRenewals, forgetSnapshots]) forgetAll();
  };
  await service.rows('UNCACHE MAPPING m_home', 'far');
  await forget();
  await service.rows("CACHE MAPPING m_home OPTIONS (schema = 'moved_cache', max_age = '1 hour')", 'far');
  expect(await service.rows(home, 'far')).toEqual(expected[0]);
  await service.rows('UNCACHE MAPPING m_home', 'far');
  await forget();
  expect(await Promise.all([home, ...QUERIES].map((text) => service.rows(text, 'far')))).toEqual(expected);
});

it('the rows are those of an undistributed database if a view becomes one with a union', async () => {
  const query = 'SELECT s.id, p.id AS other FROM svc.seen s JOIN svc.seen p ON p.town = s.id ORDER BY 1, 2';
  for (const union of ['', ' UNION ALL SELECT id, town, kind FROM moved.b']) {
    const change = `CREATE OR REPLACE VIEW moved.seen AS SELECT id, town, kind FROM moved.a${union}`;
    await service.database.superuser(change);
    await exec(change);
    const expected = await service.rows(query, 'near');
    expect(expected.length).toBeGreaterThan(40);
    for (const _ of ['planned for the other view', 'planned for this one']) expect(await service.rows(query, 'far')).toEqual(expected);
  }
});

async function waitingSessions(): Promise<number> {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  try {
    return (await other.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).rows.length;
  } finally {
    await other.end();
  }
}
