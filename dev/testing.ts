import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { copyDatabase, openEmbedded } from './embedded.ts';
import type { Exec } from './reader.ts';
import { CATALOG_OWNER, DEVELOPER, newPassword, READER, scramVerifier, setUpRoles } from './roles.ts';
import { postgresPrograms, startScratchPostgres } from './scratch-postgres.ts';
import type { AnswerLimits } from './sql/answer.ts';
import type { Backend } from './sql/backend.ts';
import { PgBackend } from './sql/pg-backend.ts';
import { PgliteBackend } from './sql/pglite-backend.ts';
import type { Login } from './sql/protocol.ts';
import { sameSecret, startSqlServer } from './sql-server.ts';

/** The roles of a local database: the catalog's owner, the reader that runs queries, the developer who creates tables. */
export type LocalRole = typeof CATALOG_OWNER | typeof READER | typeof DEVELOPER;

/** A database for tests, with its SQL endpoint. */
export interface LocalPostgres {
  /** `http://127.0.0.1:PORT/sql` */
  endpoint: string;
  /** The connection string of a role; the default is kg_dev, which may create schemas and tables. */
  connectionString(role?: LocalRole): string;
  /** The value of CATALOG_URL or DATASOURCE_MAIN for a role: JSON with url and endpoint. */
  secret(role: LocalRole): string;
  /** The connection string of a role for PostgreSQL's own protocol, which PGlite does not speak. */
  direct?(role: LocalRole): string;
  /** Runs one statement as a superuser, without the endpoint, and returns its rows. */
  superuser(sql: string): Promise<Record<string, unknown>[]>;
  /** Runs one statement by the endpoint and returns its rows as objects of JSON values. Throws Error with PostgreSQL's message and code. */
  exec(sql: string, params?: unknown[], role?: LocalRole): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Whether PostgreSQL is installed on this machine, so that tests can start it. */
export const localPostgresAvailable = (): boolean => postgresPrograms() !== undefined;

/**
 * Starts a database in a temporary folder: PGlite, or an installed PostgreSQL server. It has the roles of a deployment
 * (docs/design/statements-and-versions.md#datasources-and-secrets) and the empty schema kg_catalog owned by kg_catalog_owner; kg_reader reads everything that
 * kg_dev creates.
 */
export async function startLocalPostgres({ backend = 'pglite', limits, statementTimeoutMs }: LocalPostgresOptions = {}): Promise<LocalPostgres> {
  const passwords = { [CATALOG_OWNER]: newPassword(), [READER]: newPassword(), [DEVELOPER]: newPassword() };
  const accepts = ({ user, password, database }: Login) =>
    database === 'postgres' && Object.hasOwn(passwords, user) && sameSecret(password, passwords[user as LocalRole]);
  const started = await (backend === 'pglite' ? startPglite(accepts) : startServer(accepts));
  try {
    const refused = await started.admin((exec) =>
      backend === 'pglite' ? renewRoles(exec, passwords, statementTimeoutMs) : setUpRoles({ ...rolesOf(exec, passwords), statementTimeoutMs }),
    );
    if (refused.length) throw new Error(refused.join('\n'));
    const server = await startSqlServer({ backend: started.backend, ...(limits ? { limits } : {}) });
    const connectionString = (role: LocalRole = DEVELOPER) => `postgres://${role}:${passwords[role]}@127.0.0.1:${server.port}/postgres`;
    return {
      endpoint: server.endpoint,
      connectionString,
      secret: (role) => JSON.stringify({ url: connectionString(role), endpoint: server.endpoint }),
      ...(started.port === undefined ? {} : { direct: (role: LocalRole) => `postgres://${role}:${passwords[role]}@127.0.0.1:${started.port}/postgres` }),
      superuser: (sql) => started.admin(async (exec) => (await exec(sql)).rows),
      exec: (sql, params = [], role = DEVELOPER) => postSql(server.endpoint, connectionString(role), sql, params),
      close: async () => {
        await server.close();
        await started.stop();
      },
    };
  } catch (error) {
    await started.backend.close();
    await started.stop();
    throw error;
  }
}

type Passwords = Readonly<Record<LocalRole, string>>;

const rolesOf = (exec: Exec, passwords: Passwords) => ({
  exec,
  passwords,
  developer: DEVELOPER,
  developerPassword: passwords[DEVELOPER],
  database: 'postgres',
  restrictFunctions: true,
});

/** Sets what differs from the roles of the template. */
async function renewRoles(exec: Exec, passwords: Passwords, statementTimeoutMs: number | undefined): Promise<string[]> {
  for (const [role, password] of Object.entries(passwords)) await exec(`ALTER ROLE ${role} PASSWORD '${scramVerifier(password)}'`);
  if (statementTimeoutMs !== undefined) await exec(`ALTER ROLE ${READER} SET statement_timeout = '${statementTimeoutMs}ms'`);
  return [];
}

/** Options of startLocalPostgres; the default is PGlite. */
export interface LocalPostgresOptions {
  backend?: 'pglite' | 'pg';
  limits?: Partial<AnswerLimits>;
  statementTimeoutMs?: number;
}

interface Started {
  backend: Backend;
  /** The address of PostgreSQL itself. */
  port?: number;
  /** Runs a function as a superuser. */
  admin<T>(work: (exec: Exec) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

async function startPglite(accepts: (login: Login) => boolean): Promise<Started> {
  const dir = mkdtempSync(join(tmpdir(), 'pglite-'));
  const dataDir = join(dir, 'pgdata');
  copyDatabase(await template(), dataDir);
  const backend = new PgliteBackend(await openEmbedded(dataDir), accepts);
  return {
    backend,
    admin: (work) => backend.exclusive(work),
    stop: async () => rmSync(dir, { recursive: true, force: true }),
  };
}

const CACHE = fileURLToPath(new URL('../node_modules/.cache/embedded/', import.meta.url));
/** The files on which the content of a prepared database depends. */
const PREPARED_BY = [
  'roles.ts',
  'reader.ts',
  'restrict-functions.ts',
  'sql/role-settings.ts',
  '../src/cli/reader-functions.ts',
  '../docs/restrict-functions.sql',
  'testing.ts',
];
const DAY_MS = 86_400_000;

/** A database to copy, because creating one takes seconds: without the roles, or with them and random passwords that nobody knows. */
async function template(hasRoles = true): Promise<string> {
  const { version } = JSON.parse(readFileSync(new URL('../node_modules/@electric-sql/pglite/package.json', import.meta.url), 'utf8')) as { version: string };
  const digest = createHash('sha256');
  for (const file of PREPARED_BY) digest.update(readFileSync(new URL(file, import.meta.url)));
  const name = `pglite-${version}${hasRoles ? `-${digest.digest('hex').slice(0, 12)}` : ''}`;
  const ready = join(CACHE, name);
  if (existsSync(ready)) return ready;
  mkdirSync(CACHE, { recursive: true });
  const mine = join(mkdtempSync(join(CACHE, 'new-')), 'pgdata');
  await (hasRoles ? prepare(mine) : (await openEmbedded(mine)).close());
  try {
    renameSync(mine, ready);
  } catch (error) {
    // Another test has created it first.
    if (!existsSync(ready)) throw error;
  }
  rmSync(join(mine, '..'), { recursive: true, force: true });
  if (hasRoles) removeOld(name);
  return ready;
}

/** Copies an empty database without roles, like the one that `npm start` spends seconds on creating, to a new folder. */
export const copyEmptyDatabase = async (folder: string): Promise<void> => copyDatabase(await template(false), folder);

/** Creates a database with the roles in a new folder. */
async function prepare(folder: string): Promise<void> {
  copyDatabase(await template(false), folder);
  const backend = new PgliteBackend(await openEmbedded(folder), () => false);
  const passwords = { [CATALOG_OWNER]: newPassword(), [READER]: newPassword(), [DEVELOPER]: newPassword() };
  const refused = await backend.exclusive((exec) => setUpRoles(rolesOf(exec, passwords)));
  await backend.close();
  if (refused.length) throw new Error(refused.join('\n'));
}

/** Removes the templates of other versions that are older than a day: another run may still copy a younger one. */
function removeOld(current: string): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    if (/^pglite-.+-[0-9a-f]{12}$/.test(name) && name !== current && Date.now() - statSync(path).mtimeMs > DAY_MS)
      rmSync(path, { recursive: true, force: true });
  }
}

async function startServer(accepts: (login: Login) => boolean): Promise<Started> {
  const scratch = await startScratchPostgres();
  const connect = (login: Login) =>
    accepts(login) ? { host: '127.0.0.1', port: scratch.port, user: login.user, password: login.password, database: login.database } : undefined;
  return {
    backend: new PgBackend(connect),
    admin: async (work) => {
      const client = new pg.Client({ connectionString: scratch.url });
      await client.connect();
      return await work((sql) => client.query(sql)).finally(() => client.end());
    },
    port: scratch.port,
    stop: () => scratch.stop(),
  };
}

/** Runs one statement by an SQL endpoint. */
export async function postSql(endpoint: string, connectionString: string, query: string, params: unknown[]): Promise<Record<string, unknown>[]> {
  const headers = { 'content-type': 'application/json', 'neon-connection-string': connectionString };
  const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify({ query, params }) });
  const body = (await response.json()) as { rows: Record<string, unknown>[]; message?: string; code?: string };
  if (!response.ok) throw Object.assign(new Error(`${body.message}\n  for ${query.slice(0, 300)}`), { code: body.code });
  return body.rows;
}
