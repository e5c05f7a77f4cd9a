import pg from 'pg';
import { DataFolderError, openEmbedded } from '../embedded.ts';
import { type Command, MigrationError, migrate, runOverHttp } from '../migrate.ts';
import { openFunctions } from '../reader.ts';
import { CATALOG_OWNER, DEVELOPER, grantExisting, READER, setUpRoles } from '../roles.ts';
import type { Backend } from '../sql/backend.ts';
import { PgBackend } from '../sql/pg-backend.ts';
import { PgliteBackend } from '../sql/pglite-backend.ts';
import type { Login } from '../sql/protocol.ts';
import { sameSecret, startSqlServer } from '../sql-server.ts';
import { StartFailure } from './failure.ts';
import type { Places } from './places.ts';
import { rolePassword, type Secrets } from './secrets.ts';
import { claimRoles, serverRoles } from './server-roles.ts';

type Role = typeof CATALOG_OWNER | typeof READER | typeof DEVELOPER;

/** The database of the service, with its SQL endpoint. */
export interface Database {
  endpoint: string;
  /** A connection string that the endpoint accepts. */
  url(role: Role): string;
  /** Creates roles and the catalog. Returns a line for each thing that was made on a server, and for each right of the reader that could not be revoked. Throws StartFailure. */
  prepare(statementTimeoutMs: number | undefined): Promise<string[]>;
  /** Runs one statement as the developer's role. */
  exec(sql: string, params?: unknown[]): Promise<void>;
  query(sql: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** The differences between the embedded database and a server. */
interface Origin {
  backend: Backend;
  database: string;
  passwords: Record<Role, string>;
  /** The names by which the roles log in. */
  names: Record<Role, string>;
  setUp(statementTimeoutMs: number | undefined): Promise<string[]>;
}

/** Opens the embedded database, or connects to DATABASE_URL, and starts the SQL endpoint for it. Throws StartFailure. */
export async function openDatabase(places: Places, secrets: Secrets): Promise<Database> {
  const origin = places.databaseUrl === undefined ? await openFolder(places, secrets) : await openServer(places.databaseUrl, places.restrictFunctions, secrets);
  const server = await startSqlServer({ backend: origin.backend });
  const url = (role: Role) => `postgres://${origin.names[role]}:${origin.passwords[role]}@127.0.0.1:${server.port}/${encodeURIComponent(origin.database)}`;
  const post = async (query: string, params: unknown[]) => {
    const headers = { 'content-type': 'application/json', 'neon-connection-string': url(DEVELOPER) };
    const response = await fetch(server.endpoint, { method: 'POST', headers, body: JSON.stringify({ query, params }) });
    const body = (await response.json()) as { rows: Record<string, unknown>[]; message?: string };
    if (!response.ok) throw new Error(body.message);
    return body.rows;
  };
  return {
    endpoint: server.endpoint,
    url,
    prepare: async (statementTimeoutMs) => {
      const refused = await origin.setUp(statementTimeoutMs);
      const run = runOverHttp(url(CATALOG_OWNER), server.endpoint);
      await migrate((commands: Command[]) => run(commands)).catch((error: unknown) => {
        const advice = error instanceof MigrationError && places.databaseUrl === undefined ? '; npm run reset clears the data folder' : '';
        throw new StartFailure(`the catalog cannot be set up: ${(error as Error).message}${advice}`);
      });
      return refused;
    },
    exec: async (sql, params = []) => void (await post(sql, params)),
    query: (sql) => post(sql, []),
    close: () => server.close(),
  };
}

const ROLES = [CATALOG_OWNER, READER, DEVELOPER] as const;
const EMBEDDED: Record<Role, string> = { [CATALOG_OWNER]: CATALOG_OWNER, [READER]: READER, [DEVELOPER]: DEVELOPER };

const acceptor = (passwords: Record<Role, string>, names: Record<Role, string>, database: string) => (login: Login) => {
  const role = ROLES.find((r) => names[r] === login.user);
  return role !== undefined && login.database === database && sameSecret(login.password, passwords[role]);
};

async function openFolder({ dataDir }: Places, { passwords }: Secrets): Promise<Origin> {
  const database = 'postgres';
  const host = await openEmbedded(dataDir).catch((error: unknown) => {
    throw error instanceof DataFolderError
      ? new StartFailure(`${error.message}; ${error.isDatabase ? 'npm run reset clears it, ' : ''}DATA_DIR names another`)
      : error;
  });
  const backend = new PgliteBackend(host, acceptor(passwords, EMBEDDED, database));
  const roles = { passwords, developer: DEVELOPER, developerPassword: passwords[DEVELOPER], database, restrictFunctions: true };
  const setUp = (statementTimeoutMs: number | undefined) =>
    backend.exclusive((exec) => setUpRoles({ ...roles, exec, statementTimeoutMs })).then((refused) => refused.map((line) => `${READER}: ${line}`));
  return { backend, database, passwords, names: EMBEDDED, setUp };
}

async function openServer(databaseUrl: string, restrictFunctions: boolean, secrets: Secrets): Promise<Origin> {
  const admin = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  admin.on('error', () => undefined);
  await admin.connect().catch((error: unknown) => {
    throw unreachable(databaseUrl, error);
  });
  try {
    const [me] = (await admin.query<{ role: string; database: string; superuser: boolean; missing: string[] }>(RIGHTS)).rows;
    if (me!.missing.length)
      throw new StartFailure(`DATABASE_URL's role ${me!.role} may not make roles and schemas; a superuser can grant that: ${me!.missing.join('; ')}`);
    const own = serverRoles(me!.database);
    const names = { [CATALOG_OWNER]: own.owner, [READER]: own.reader, [DEVELOPER]: DEVELOPER };
    const derived = (role: Role) => rolePassword(databaseUrl, names[role], secrets.passwords[role]);
    const passwords = { [CATALOG_OWNER]: derived(CATALOG_OWNER), [READER]: derived(READER), [DEVELOPER]: secrets.passwords[DEVELOPER] };
    const accepts = acceptor(passwords, names, me!.database);
    const connect = (login: Login): pg.ClientConfig | undefined => {
      if (!accepts(login)) return undefined;
      if (login.user === DEVELOPER) return { connectionString: databaseUrl };
      const target = new URL(databaseUrl);
      target.username = login.user;
      target.password = login.password;
      return { connectionString: target.href };
    };
    const backend = new PgBackend(connect);
    const setUp = async (statementTimeoutMs: number | undefined) => {
      // the database has answered before; on a busy machine, starting the Worker may keep this process from reading its answer for many seconds
      const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 60_000 });
      client.on('error', () => undefined);
      try {
        await client.connect();
        const exec = (sql: string) => client.query(sql);
        const made = await claimRoles(exec, me!.database, me!.role, restrictFunctions);
        const setup = { exec, passwords, developer: me!.role, database: me!.database, statementTimeoutMs, restrictFunctions };
        const refused = await setUpRoles({ ...setup, names: own });
        await grantExisting(exec, own.reader);
        const open = await openFunctions(exec, own.reader);
        const limits = open === 0 ? refused : [...refused, openLine(open, restrictFunctions || !me!.superuser)];
        return [...made.map((line) => `DATABASE_URL: ${line}`), ...limits.map((line) => `${own.reader}: ${line}`)];
      } catch (error) {
        if (error instanceof StartFailure) throw error;
        throw new StartFailure(`the roles cannot be set up in the database of DATABASE_URL: ${(error as Error).message}`);
      } finally {
        await client.end().catch(() => undefined);
      }
    };
    return { backend, database: me!.database, passwords, names, setUp };
  } finally {
    await admin.end().catch(() => undefined);
  }
}

const RIGHTS = `SELECT current_user::text AS role, current_database()::text AS database, r.rolsuper AS superuser, array_remove(ARRAY[
    CASE WHEN NOT (r.rolsuper OR r.rolcreaterole) THEN format('ALTER ROLE %I CREATEROLE', r.rolname) END,
    CASE WHEN NOT has_database_privilege(current_database(), 'CREATE') THEN format('GRANT CREATE ON DATABASE %I TO %I', current_database(), r.rolname) END
  ], NULL) AS missing FROM pg_roles r WHERE r.rolname = current_user`;

const openLine = (open: number, superuserOnly: boolean): string =>
  `it may execute ${open} functions that it does not need: ${superuserOnly ? 'a superuser can run docs/restrict-functions.sql' : 'RESTRICT_FUNCTIONS=true takes them from PUBLIC'}, and kg doctor names them`;

/** The location without the credentials, and the reason in words that contain none. */
function unreachable(databaseUrl: string, error: unknown): StartFailure {
  const { host, pathname } = new URL(databaseUrl);
  const { code, message = '' } = error as { code?: string; message?: string };
  const said =
    code && /^(28P01|28000)$/.test(code)
      ? 'it refuses the user or the password'
      : code === '3D000'
        ? 'there is no such database'
        : (code ?? message.split('\n')[0]);
  return new StartFailure(`the database of DATABASE_URL at ${host}${pathname} cannot be reached: ${said}`);
}

/** The value of CATALOG_URL or DATASOURCE_MAIN. */
export const connectionSetting = (database: Database, role: typeof CATALOG_OWNER | typeof READER | typeof DEVELOPER): string =>
  JSON.stringify({ url: database.url(role), endpoint: database.endpoint });
