/** The checks of VALIDATE DATA on a Citus cluster find what they find over an undistributed PostgreSQL. It creates and drops the schema checked there. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { READER } from '../../dev/roles.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { startSqlServer } from '../../dev/sql-server.ts';
import { type LocalPostgres, startLocalPostgres } from '../../dev/testing.ts';
import { graphOf } from '../../examples/world/graph.ts';
import { DataReader } from '../../src/checks/reader.ts';
import { checkSteps, type Found } from '../../src/checks/run.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { type Datasource, parseDatasourceSecret } from '../../src/engine/datasource.ts';
import { placementsOf } from '../../src/engine/placements.ts';
import type { Placements } from '../../src/planner/index.ts';
import { targetFor } from '../../src/planner/lower/placed.ts';

const url = inject('citusUrl');
const client = new pg.Client({ connectionString: url });
const exec = async (sql: string): Promise<void> => void (await client.query(sql));

const TABLES = `CREATE TABLE checked.town (tid integer, name text, kind text);
  ${['a', 'b'].map((t) => `CREATE TABLE checked.${t} (id integer, town integer, boss integer, kind text, age text)`).join(';\n')};
  CREATE TABLE checked.knows (x integer, y integer, since date);
  INSERT INTO checked.town SELECT n, 'Town ' || n % 38, 'k' || n % 5 FROM generate_series(1, 40) n;
  INSERT INTO checked.town VALUES (7, 'Again', 'k7'), (NULL, 'Nowhere', 'k9');
  INSERT INTO checked.a SELECT n, 1 + n % 44, n / 2, 'k' || n % 7, n::text FROM generate_series(1, 60) n;
  INSERT INTO checked.b SELECT 55 + n, 1 + n % 43, n + 90, 'k' || n % 3, n::text FROM generate_series(1, 60) n;
  INSERT INTO checked.knows SELECT n, 1 + n * 3 % 130, date '2026-01-01' + n FROM generate_series(1, 50) n`.split(';');
const MODEL = `CREATE ONTOLOGY checked;
  CREATE PROPERTY twice integer AS SELECT age * 2;
  CREATE MEASURE ages decimal AS SELECT SUM(age);
  CREATE CONCEPT town (tid integer, name string, kind string, PRIMARY KEY (tid));
  CREATE CONCEPT person (id integer, town integer, boss integer, kind string, age integer, twice integer, ages MEASURE decimal, PRIMARY KEY (id),
    CONSTRAINT lives_in FOREIGN KEY (town) REFERENCES town (tid) INVERSEOF houses, CONSTRAINT under FOREIGN KEY (boss) REFERENCES person (id) INVERSEOF over,
    CONSTRAINT alike FOREIGN KEY (kind) REFERENCES town (kind) INVERSEOF likes);
  CREATE MAPPING m_town INTO town AS SELECT tid, name, kind FROM checked.town;
  ${['a', 'b'].map((t) => `CREATE MAPPING m_${t} INTO person AS SELECT id, town, boss, kind, age::integer AS age FROM checked.${t}`).join('; ')};
  CREATE VIEW pairs AS SELECT p.id, t.name FROM svc.person p JOIN svc.town t ON t.kind = p.kind;
  CREATE VIEW lonely AS SELECT p.id FROM svc.person p WHERE NOT EXISTS (SELECT 1 FROM svc.town t WHERE t.kind = p.kind AND t.name <> 'Town 1')`;

let plain: LocalPostgres;
let main: Datasource;
const ends: (() => Promise<void>)[] = [];
const parser = await loadNodeParser();
const graph = graphOf(MODEL, 'checked', parser);

async function endpointOf(connection: string): Promise<Datasource> {
  const http = await startSqlServer({ backend: new PgBackend(() => ({ connectionString: connection })) });
  ends.push(() => http.close());
  return { name: 'main', url: connection, endpoint: http.endpoint };
}

/** What the checks of the model find. */
async function found(datasource: Datasource, placements?: Placements): Promise<Found> {
  const targets = new Map(placements ? [['main', targetFor(placements)] as const] : []);
  const datasources = new Map([['main', datasource]]);
  const reader = new DataReader({
    graph,
    parser,
    product: 'svc',
    activeDatasource: 'main',
    allowedFunctions: new Set(),
    datasources,
    targets,
    timeoutMs: 60_000,
  });
  const all: Found = { counts: [], findings: [], statistics: [] };
  for (const step of checkSteps(reader)) await step(all);
  return { ...all, findings: all.findings.filter((f) => f.code !== 'no_index') };
}

beforeAll(async () => {
  await client.connect();
  await exec('DROP SCHEMA IF EXISTS checked CASCADE');
  plain = await startLocalPostgres({ backend: 'pg' });
  for (const sql of ['CREATE SCHEMA checked', ...TABLES]) {
    await exec(sql);
    await plain.exec(sql);
  }
  main = await endpointOf(url);
}, 300_000);
afterAll(async () => {
  for (const end of ends) await end();
  await plain?.close();
  await exec('DROP SCHEMA IF EXISTS checked CASCADE');
  await client.end();
});

describe('on Citus, the checks of data', () => {
  it.each([
    ['by the keys', { town: 'kind', a: 'id', b: 'id', knows: 'x' }],
    ['by other columns', { town: 'name', a: 'town', b: 'id', knows: 'y' }],
    ['with towns as a reference table', { town: null, a: 'id', b: 'id', knows: 'x' }],
  ] as const)('find what they find over an undistributed database: %s', async (_, columns) => {
    for (const [table, column] of Object.entries(columns)) {
      await exec(`SELECT undistribute_table('checked.${table}') FROM pg_dist_partition WHERE logicalrelid = 'checked.${table}'::regclass`);
      await exec(column ? `SELECT create_distributed_table('checked.${table}', '${column}')` : `SELECT create_reference_table('checked.${table}')`);
    }
    const expected = await found({ name: 'main', ...parseDatasourceSecret(plain.secret(READER)) });
    expect(expected.findings.map((f) => f.code)).toEqual(expect.arrayContaining(['key_shared', 'dangling_key', 'null_key', 'key_not_unique']));
    const before = await placementsOf(main, 10_000);
    expect(await found(main, before)).toEqual(expected);
    if (columns.town !== null) return;
    // the layout has changed since it was read
    for (const sql of ["SELECT undistribute_table('checked.town')", "SELECT create_distributed_table('checked.town', 'name')"]) await exec(sql);
    expect(await found(main, before)).toEqual(expected);
  });
});
