/**
 * Preloaded into `npm start` by `npm run scale:citus -- --acceptance`: each data folder gets a database of its own on the cluster of `CITUS_URL`, whose
 * coordinator distributes every table that is created outside the catalog, by its first column. With `CITUS_DISTRIBUTED` (names of tables with commas) it
 * distributes only those, and makes the others reference tables.
 *
 * Statements of the developer's role also run in an undistributed database, which answers those that read tables. So the expected rows of a suite are those of a
 * PostgreSQL without Citus, which writes whole rows as JSON in another way than Citus.
 */
import { createHash } from 'node:crypto';
import type { Answer } from '../../dev/sql/answer.ts';

function inDatabase(url: string, name: string, host?: { readonly nodename: string; readonly nodeport: number }): string {
  const target = new URL(url);
  target.pathname = `/${name}`;
  if (host) {
    target.hostname = host.nodename;
    target.port = String(host.nodeport);
  }
  return target.href;
}

/** Creates the database on all nodes and makes them a cluster of their own, unless it exists. */
async function makeDatabase(url: string, name: string, distributed: readonly string[]): Promise<void> {
  const run = await connected(url);
  const nodes = (await run('SELECT nodename, nodeport, groupid <> 0 AS is_worker FROM pg_dist_node ORDER BY groupid')) as unknown as {
    readonly nodename: string;
    readonly nodeport: number;
    readonly is_worker: boolean;
  }[];
  const [known] = await run('SELECT FROM pg_database WHERE datname = $1', [name]);
  await run();
  if (known) return;
  for (const node of nodes) {
    const server = await connected(inDatabase(url, 'postgres', node));
    await server(`CREATE DATABASE ${name}`);
    await server();
    const database = await connected(inDatabase(url, name, node));
    await database('CREATE EXTENSION citus');
    await database();
  }
  const coordinator = await connected(inDatabase(url, name));
  for (const { nodename, nodeport, is_worker } of nodes)
    await coordinator(`SELECT ${is_worker ? 'citus_add_node' : 'citus_set_coordinator_host'}($1, $2)`, [nodename, nodeport]);
  await coordinator(trigger(distributed));
  await coordinator("CREATE EVENT TRIGGER scale_distribute ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.scale_distribute()");
  await coordinator();
}

/** The names of shards, which end with a number, are not those of tables. */
const trigger = (distributed: readonly string[]): string => `CREATE FUNCTION public.scale_distribute() RETURNS event_trigger LANGUAGE plpgsql AS $$
  DECLARE t record;
  BEGIN
    FOR t IN SELECT c.oid, a.attname::text AS distributed_by, c.relname FROM pg_event_trigger_ddl_commands() e JOIN pg_class c ON c.oid = e.objid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
      WHERE e.classid = 'pg_class'::regclass AND c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relispartition AND e.schema_name <> 'kg_catalog' AND c.relname !~ '_[0-9]{6,}$'
    LOOP
      IF ${distributed.length === 0 ? 'true' : `t.relname IN (${distributed.map((d) => `'${d.replaceAll("'", "''")}'`).join(', ')})`}
      THEN PERFORM create_distributed_table(t.oid::regclass, t.distributed_by);
      ELSE PERFORM create_reference_table(t.oid::regclass); END IF;
    END LOOP;
  END $$`;

/** Runs statements in one session; a call without one ends it. */
async function connected(url: string): Promise<(sql?: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return async (sql, values = []) => {
    if (sql !== undefined) return (await client.query(sql, [...values])).rows;
    await client.end();
    return [];
  };
}

/** Creates the undistributed database, unless it exists. */
async function makePlain(url: string, name: string): Promise<void> {
  const run = await connected(url);
  const [known] = await run('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (!known) await run(`CREATE DATABASE ${name}`);
  await run();
}

/** An answer that nobody reads. */
const NOWHERE = { write: () => true, drained: () => Promise.resolve() } as unknown as Answer;

/** What only the service's own database can answer: its roles, rights and catalog. */
const OF_THE_SERVER = /\bpg_(?!typeof)|has_\w+_privilege|kg_catalog|current_database/;

/** Sends the developer's statements to the undistributed database too, and its reads of tables only there. */
async function mirror(plainUrl: string): Promise<void> {
  const { PgBackend } = await import('../../dev/sql/pg-backend.ts');
  const { DEVELOPER } = await import('../../dev/roles.ts');
  const plain = new PgBackend(() => ({ connectionString: plainUrl }));
  const both = PgBackend.prototype.run;
  PgBackend.prototype.run = async function run(request, answer, signal) {
    if (this === plain || request.login.user !== DEVELOPER) return both.call(this, request, answer, signal);
    const texts = request.statements.map((s) => s.query).join(';');
    const isRead = /^[\s(]*(select|with|values|table)\b/i.test(texts);
    if (isRead && !OF_THE_SERVER.test(texts)) return both.call(plain, request, answer, signal);
    // what only one of the databases accepts is refused by the service's own
    if (!isRead)
      await both.call(plain, request, NOWHERE, signal).then(
        (release) => release(),
        () => undefined,
      );
    return both.call(this, request, answer, signal);
  };
}

const { CITUS_URL, CITUS_DISTRIBUTED = '', DATABASE_URL, DATA_DIR } = process.env;

if (/[\\/]dev[\\/]start\.ts$/.test(process.argv[1] ?? '') && CITUS_URL && !DATABASE_URL && DATA_DIR) {
  const name = `start_${createHash('sha256').update(DATA_DIR).digest('hex').slice(0, 12)}`;
  await makeDatabase(CITUS_URL, name, CITUS_DISTRIBUTED.split(',').filter(Boolean));
  await makePlain(CITUS_URL, `${name}_plain`);
  await mirror(inDatabase(CITUS_URL, `${name}_plain`));
  process.env.DATABASE_URL = inDatabase(CITUS_URL, name);
}
