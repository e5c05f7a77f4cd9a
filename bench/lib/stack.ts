/** Shared by the sections: a database with the sample graph's tables, and scripts running in workerd. */
import { Agent, request as httpRequest } from 'node:http';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from 'miniflare';
import { migrate, runOverHttp } from '../../dev/migrate.ts';
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import { ensureSampleModel } from '../../dev/start/provision.ts';
import { type LocalPostgres, localPostgresAvailable, startLocalPostgres } from '../../dev/testing.ts';
import { loadWorldTables } from '../../examples/world/load.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { COMPATIBILITY, type Script } from './build.ts';
import { ended, watched } from './limit.ts';

export interface WorldDatabase {
  readonly local: LocalPostgres;
  /** The name of the server, for the tables' titles. */
  readonly name: string;
}

let database: Promise<WorldDatabase> | undefined;

/** The database, started at the first call and shared by the sections. */
export function worldDatabase(): Promise<WorldDatabase> {
  database ??= (async () => {
    const backend = localPostgresAvailable() ? 'pg' : 'pglite';
    const local = await startLocalPostgres({ backend });
    await loadWorldTables(async (sql, params) => void (await local.exec(sql, params)));
    const [row] = await local.exec("SELECT current_setting('server_version') AS version");
    return { local, name: backend === 'pg' ? `PostgreSQL ${row?.version}` : `PGlite (PostgreSQL ${row?.version}): no PostgreSQL on this machine` };
  })();
  return database;
}

export async function closeDatabase(): Promise<void> {
  const open = await database?.catch(() => undefined);
  await open?.local.close();
}

/** Scripts by name, running in one workerd, each at its own URL. */
export interface Running {
  readonly urls: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** A script with its text bindings, and further options for Miniflare. */
export interface Started {
  readonly script: Script;
  readonly bindings?: Record<string, string>;
  readonly more?: Pick<V4WorkerOptions, 'kvNamespaces' | 'durableObjects' | 'unsafeDirectSockets' | 'serviceBindings'>;
}

/** Starts scripts. */
export async function startScripts(scripts: Readonly<Record<string, Started>>): Promise<Running> {
  const workers = Object.entries(scripts).map(
    ([name, { script, bindings = {}, more = {} }]): V4WorkerOptions => ({
      name,
      ...COMPATIBILITY,
      modulesRoot: script.modulesRoot,
      modules: script.modules,
      bindings,
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
      ...more,
    }),
  );
  // The log of the scripts is read and discarded.
  const quiet = { log: new Log(LogLevel.ERROR), handleStructuredLogs: () => undefined };
  // the inspector is asked only if a section takes too long
  const miniflare = new Miniflare(convertV4MiniflareOptions({ workers, inspectorPort: 0, ...quiet }));
  watched(miniflare);
  await miniflare.ready;
  const urls: Record<string, string> = {};
  for (const name of Object.keys(scripts)) urls[name] = (await miniflare.unsafeGetDirectURL(name)).origin;
  return { urls, stop: () => ended(miniflare) };
}

/** The bindings of the service's script in wrangler.toml, except its settings and static files. */
export const SERVICE_BINDINGS: Pick<V4WorkerOptions, 'kvNamespaces' | 'durableObjects'> = {
  kvNamespaces: ['CACHE'],
  durableObjects: {
    MCP_PRINCIPAL: { className: 'McpPrincipal', useSQLite: true },
    ASYNC_STATEMENT: { className: 'AsyncStatement', useSQLite: true },
    LOGIN_THROTTLE: { className: 'LoginThrottle', useSQLite: true },
    OAUTH_STORE: { className: 'OAuthStore', useSQLite: true },
    JOB: { className: 'ScheduledJob', useSQLite: true },
  },
};

/** The settings of a service over the database, whose catalog is created. */
export async function serviceSettings({ local }: WorldDatabase): Promise<{ adminToken: string; bindings: Record<string, string> }> {
  await migrate(runOverHttp(local.connectionString(CATALOG_OWNER), local.endpoint));
  const adminToken = createToken();
  return {
    adminToken,
    bindings: { CATALOG_URL: local.secret(CATALOG_OWNER), DATASOURCE_MAIN: local.secret(READER), ADMIN_TOKEN: adminToken, SESSION_SECRET: createToken() },
  };
}

/** Loads the sample's model into a running service. */
export const loadModel = (base: string, adminToken: string): Promise<void> => ensureSampleModel({ base, product: 'svc', adminToken });

// workerd closes a connection that is idle for five seconds, which would fail a request sent at that moment
const agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: 2000 });

/** Posts JSON on a kept-alive connection. Throws if the answer is not 200. */
export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Buffer> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const answer = Buffer.concat(chunks);
          if (response.statusCode === 200) resolve(answer);
          else reject(new Error(`HTTP ${response.statusCode}: ${answer.toString().slice(0, 500)}`));
        });
      },
    );
    request.on('error', reject);
    request.end(text);
  });
}

/** Closes kept-alive connections. */
export const closeConnections = (): void => agent.destroy();
