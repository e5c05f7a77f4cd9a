/** The servers of the load: PostgreSQL with one hot standby, and the built Worker over them, whose catalog is in a PostgreSQL of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ScratchPostgres, startScratchPostgres, startStandby } from '../../dev/scratch-postgres.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { type SqlServer, startSqlServer } from '../../dev/sql-server.ts';
import { buildService } from '../lib/build.ts';
import { SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';

const READER = 'load_reader';
const WRITER = 'load_writer';
const ORDERS = 60_000;
export const CUSTOMERS = 3000;
export const REGIONS = 20;
const FUNCTIONS = ['control_system', 'control_checkpoint', 'control_recovery', 'current_wal_insert_lsn', 'last_wal_replay_lsn']
  .map((name) => `pg_catalog.pg_${name}()`)
  .join(', ');

const SETUP = [
  `CREATE ROLE ${READER} LOGIN`,
  `ALTER ROLE ${READER} SET default_transaction_read_only = on`,
  `ALTER ROLE ${READER} SET statement_timeout = '30s'`,
  `ALTER ROLE ${READER} SET search_path = ''`,
  `ALTER ROLE ${READER} SET "TimeZone" = 'UTC'`,
  `ALTER ROLE ${READER} SET jit = off`,
  `CREATE ROLE ${WRITER} LOGIN`,
  'CREATE SCHEMA shop',
  'CREATE SCHEMA svc_cache',
  'CREATE TABLE shop.region (id int PRIMARY KEY, name text NOT NULL)',
  'CREATE TABLE shop.customer (id int PRIMARY KEY, name text NOT NULL, region_id int NOT NULL REFERENCES shop.region)',
  'CREATE TABLE shop.orders (id int PRIMARY KEY, customer_id int NOT NULL REFERENCES shop.customer, amount int NOT NULL, placed date NOT NULL)',
  `INSERT INTO shop.region SELECT i, 'Region ' || i FROM generate_series(1, ${REGIONS}) i`,
  `INSERT INTO shop.customer SELECT i, 'Customer ' || i, 1 + i * 7 % ${REGIONS} FROM generate_series(1, ${CUSTOMERS}) i`,
  `INSERT INTO shop.orders SELECT i, 1 + i * 13 % ${CUSTOMERS}, i * 17 % 1000, date '2026-01-01' + i % 300 FROM generate_series(1, ${ORDERS}) i`,
  'CREATE INDEX ON shop.customer (region_id)',
  'CREATE INDEX ON shop.orders (customer_id)',
  'VACUUM ANALYZE',
  `GRANT USAGE ON SCHEMA shop, svc_cache TO ${READER}, ${WRITER}`,
  `GRANT SELECT ON ALL TABLES IN SCHEMA shop TO ${READER}, ${WRITER}`,
  `GRANT CREATE ON SCHEMA svc_cache TO ${WRITER}`,
  `GRANT EXECUTE ON FUNCTION ${FUNCTIONS} TO ${READER}`,
];

export const MODEL = `CREATE OR REPLACE DATASOURCE d TYPE postgres SECRET 'DATASOURCE_D' OPTIONS (replicas = 'DATASOURCE_D_R1', max_lag = '10 s');
CREATE ONTOLOGY shop; ALTER ONTOLOGY shop ADD DATASOURCE d;
CREATE CONCEPT region (id integer, name string, PRIMARY KEY (id), LABEL (name));
CREATE CONCEPT customer (id integer, name string, region_id integer, PRIMARY KEY (id), LABEL (name),
  CONSTRAINT in_region FOREIGN KEY (region_id) REFERENCES region (id) INVERSEOF has_customer);
CREATE CONCEPT purchase (id integer, customer_id integer, amount integer, placed date, PRIMARY KEY (id),
  CONSTRAINT placed_by FOREIGN KEY (customer_id) REFERENCES customer (id) INVERSEOF has_placed);
CREATE MAPPING m_region INTO (region) USING d AS SELECT id, name FROM shop.region;
CREATE MAPPING m_customer INTO (customer) USING d AS SELECT id, name, region_id FROM shop.customer;
CREATE MAPPING m_purchase INTO (purchase) USING d AS SELECT id, customer_id, amount, placed FROM shop.orders`;

export const JOB = "CREATE JOB refresh SCHEDULE '*/5 * * * *' AS CACHE MAPPING m_customer OPTIONS (schema = 'svc_cache', max_age = '5 minutes')";

export interface Servers {
  /** The address of the Worker. */
  readonly base: string;
  readonly adminToken: string;
  readonly primary: ScratchPostgres;
  readonly name: string;
  /** Ends the standby without notice, as if its machine had lost its power. */
  kill(): Promise<void>;
  /** Makes a standby again, at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const endpointOf = (server: ScratchPostgres, user: string, port = 0): Promise<SqlServer> =>
  startSqlServer({ port, backend: new PgBackend(() => ({ connectionString: `postgres://${user}@127.0.0.1:${server.port}/postgres` }), { max: 20 }) });

const secretOf = (user: string, { endpoint }: SqlServer): string => JSON.stringify({ url: `postgres://${user}@127.0.0.1/postgres`, endpoint });

async function dataOf(server: ScratchPostgres): Promise<string> {
  const [row] = (await server.exec('SHOW data_directory')) as { data_directory: string }[];
  return row?.data_directory ?? '';
}

/** Starts all servers, with the tables and the roles. */
export async function startServers(): Promise<Servers> {
  const open: { stop(): Promise<void> }[] = [];
  const kept = <T>(made: T, stop: (of: T) => Promise<void>): T => {
    open.unshift({ stop: () => stop(made) });
    return made;
  };
  const stop = async (): Promise<void> => {
    for (const { stop: one } of open) await one().catch(() => undefined);
  };
  try {
    const primary = kept(await startScratchPostgres(), (s) => s.stop());
    for (const sql of SETUP) await primary.exec(sql);
    const replica = { server: await startStandby(primary) } as { server: ScratchPostgres; http: SqlServer };
    replica.http = await endpointOf(replica.server, READER);
    open.unshift({
      stop: async () => {
        await replica.http.close();
        await replica.server.stop();
      },
    });
    const ends = [await endpointOf(primary, READER), await endpointOf(primary, WRITER)].map((http) => kept(http, (s) => s.close())) as [SqlServer, SqlServer];
    const { adminToken, bindings } = await serviceSettings(await worldDatabase());
    const more = {
      DATASOURCE_D: secretOf(READER, ends[0]),
      DATASOURCE_D_WRITER: secretOf(WRITER, ends[1]),
      DATASOURCE_D_R1: secretOf(READER, replica.http),
    };
    const script = await buildService('load');
    const running = kept(await startScripts({ service: { script, bindings: { ...bindings, ...more }, more: SERVICE_BINDINGS } }), (s) => s.stop());
    const [version] = (await primary.exec("SELECT current_setting('server_version') AS version")) as { version: string }[];
    return {
      base: running.urls.service as string,
      adminToken,
      primary,
      name: `PostgreSQL ${version?.version}`,
      stop,
      kill: async () => {
        const pid = Number(readFileSync(join(await dataOf(replica.server), 'postmaster.pid'), 'utf8').split('\n')[0]);
        process.kill(pid, 'SIGKILL');
      },
      restart: async () => {
        const { port } = replica.http;
        const gone = replica.server;
        replica.server = await startStandby(primary);
        await replica.http.close();
        replica.http = await endpointOf(replica.server, READER, port);
        await gone.stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
