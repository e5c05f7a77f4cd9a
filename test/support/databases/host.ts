/** The process that owns the embedded databases for the test files: it lends one to a file at a time and cleans it before the next loan. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { migrate, runOverHttp } from '../../../dev/migrate.ts';
import { CATALOG_OWNER, DEVELOPER, READER } from '../../../dev/roles.ts';
import { type LocalPostgres, type LocalRole, startLocalPostgres } from '../../../dev/testing.ts';

/** The connection for a test file. */
export interface Loan {
  readonly id: number;
  /** `http://127.0.0.1:PORT/sql` */
  readonly endpoint: string;
  readonly connections: Readonly<Record<LocalRole, string>>;
}

/** Requests to the host. */
export type Wish =
  | { readonly kind: 'borrow'; readonly pid: number }
  | { readonly kind: 'give back'; readonly id: number }
  | { readonly kind: 'superuser'; readonly id: number; readonly sql: string };

interface Lent {
  readonly id: number;
  readonly database: LocalPostgres;
  readonly loan: Loan;
  /** Restores the rows of a new catalog. */
  readonly restore: string;
  /** The content of a new database. */
  readonly print: string;
  /** The process that uses it; undefined: none. */
  pid: number | undefined;
}

const SYSTEM = "nspname !~ '^pg_' AND nspname <> 'information_schema'";

/** Schemas that tests create. */
const DROP = `DO $$ DECLARE s name; BEGIN
  FOR s IN SELECT nspname FROM pg_namespace WHERE ${SYSTEM} AND nspname NOT IN ('public', 'kg_catalog') LOOP EXECUTE format('DROP SCHEMA %I CASCADE', s); END LOOP;
END $$`;

/** Everything that a test may leave outside of its schemas. A database in which this differs is not used again. */
const PRINT = `SELECT md5(concat_ws('#',
  (SELECT string_agg(concat_ws('|', n.nspname, n.nspowner, n.nspacl, c.relname, c.relkind, c.relowner, c.relacl, c.relnatts, c.relchecks, c.relhastriggers), ',' ORDER BY n.nspname, c.relname)
   FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind <> 'i' WHERE ${SYSTEM}),
  (SELECT count(*) FROM pg_class WHERE relpersistence = 't'),
  (SELECT concat_ws('|', count(*), md5(string_agg(concat_ws('|', oid, proowner, proacl), ',' ORDER BY oid))) FROM pg_proc),
  (SELECT count(*) FROM pg_type WHERE typcategory NOT IN ('C', 'A')), (SELECT count(*) FROM pg_operator), (SELECT count(*) FROM pg_cast), (SELECT count(*) FROM pg_collation),
  (SELECT string_agg(extname, ',' ORDER BY extname) FROM pg_extension), (SELECT count(*) FROM pg_event_trigger),
  (SELECT string_agg(concat_ws('|', a.oid, a.rolname, a.rolsuper, a.rolcreaterole, a.rolcreatedb, a.rolcanlogin, a.rolbypassrls, a.rolconnlimit, a.rolpassword), ',' ORDER BY a.oid) FROM pg_authid a),
  (SELECT string_agg(concat_ws('|', roleid, member), ',' ORDER BY roleid, member) FROM pg_auth_members),
  (SELECT string_agg(concat_ws('|', setdatabase, setrole, setconfig), ',' ORDER BY setdatabase, setrole) FROM pg_db_role_setting),
  (SELECT string_agg(concat_ws('|', defaclrole, defaclnamespace, defaclobjtype, defaclacl), ',' ORDER BY oid) FROM pg_default_acl),
  (SELECT string_agg(concat_ws('|', datname, datdba, datacl), ',' ORDER BY datname) FROM pg_database))) AS print`;

const all: Lent[] = [];
let made = 0;

const printOf = async (database: LocalPostgres): Promise<string> => String((await database.superuser(PRINT))[0]?.print);

async function make(pid: number): Promise<Lent> {
  const id = ++made;
  const database = await startLocalPostgres();
  await migrate(runOverHttp(database.connectionString(CATALOG_OWNER), database.endpoint));
  const tables = await database.superuser(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'kg_catalog'::regnamespace AND relkind = 'r' ORDER BY relname",
  );
  const names = tables.map((t) => String(t.name));
  const inserts: string[] = [];
  for (const name of names) {
    const [found] = await database.superuser(`SELECT json_agg(t) AS rows FROM kg_catalog.${name} t`);
    if (found?.rows)
      inserts.push(`INSERT INTO kg_catalog.${name} SELECT * FROM json_populate_recordset(NULL::kg_catalog.${name}, $rows$${JSON.stringify(found.rows)}$rows$)`);
  }
  const restore = [
    "SET session_replication_role = 'replica'",
    // TRUNCATE makes new files for each table and index
    ...names.map((n) => `DELETE FROM kg_catalog.${n}`),
    "SELECT setval(seqrelid, seqstart, false) FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid WHERE c.relnamespace = 'kg_catalog'::regnamespace",
    ...inserts,
    'RESET session_replication_role',
  ].join('; ');
  const connections = Object.fromEntries([CATALOG_OWNER, READER, DEVELOPER].map((role) => [role, database.connectionString(role as LocalRole)]));
  const lent: Lent = {
    id,
    database,
    loan: { id, endpoint: database.endpoint, connections: connections as Loan['connections'] },
    restore,
    print: await printOf(database),
    pid,
  };
  all.push(lent);
  return lent;
}

const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** A database that is not in use and was cleaned, or a new one. */
async function borrow(pid: number): Promise<Loan> {
  const free = all.find((l) => l.pid === undefined || !lives(l.pid));
  if (!free) return (await make(pid)).loan;
  free.pid = pid;
  try {
    await free.database.superuser(DROP);
    await free.database.superuser(free.restore);
    if ((await printOf(free.database)) === free.print) return free.loan;
  } catch {
    // it is not worth repairing
  }
  all.splice(all.indexOf(free), 1);
  void free.database.close().catch(() => undefined);
  return (await make(pid)).loan;
}

async function answer(wish: Wish): Promise<unknown> {
  if (wish.kind === 'borrow') return borrow(wish.pid);
  const lent = all.find((l) => l.id === wish.id);
  if (!lent) throw new Error('this database is no longer lent');
  if (wish.kind === 'superuser') return await lent.database.superuser(wish.sql);
  lent.pid = undefined;
  return null;
}

const server = createServer(async (request, response) => {
  try {
    if (request.headers['x-secret'] !== process.env.TEST_DATABASES_SECRET) throw new Error('a wrong secret');
    response.end(JSON.stringify({ value: await answer(JSON.parse(await text(request)) as Wish) }));
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    response.writeHead(500).end(JSON.stringify({ message, code }));
  }
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));

process.once('disconnect', async () => {
  await Promise.all(all.map((l) => l.database.close().catch(() => undefined)));
  process.exit(0);
});
