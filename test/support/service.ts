/**
 * The whole service in plain Node: routes, operations, planner, engine and catalog over a database with an empty catalog, without the Workers runtime, so that a
 * test can inspect the requests to the database.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { migrate, runOverHttp } from '../../dev/migrate.ts';
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import { type LocalPostgres, type LocalPostgresOptions, startLocalPostgres } from '../../dev/testing.ts';
import { authenticate } from '../../src/auth/authenticate.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { neonDb } from '../../src/catalog/db.ts';
import { keyValues } from '../../src/catalog/kv.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { readConfig } from '../../src/config.ts';
import { createApp } from '../../src/http/app.ts';
import { type Runtime, type ServiceRequest, Spending } from '../../src/service.ts';
import { memoryStatements } from './async-memory.ts';
import { borrowPostgres } from './databases/index.ts';
import { memoryNamespace } from './memory-namespace.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}

type Settings = Readonly<Record<string, string>>;

/** Options of `startService`. */
export interface ServiceOptions {
  /** Statements that create the mapped tables. */
  readonly tables?: readonly string[];
  /** Further variables of the environment. */
  readonly settings?: Settings | ((database: LocalPostgres) => Settings);
  /** Additional or replaced parts of the runtime. */
  readonly parts?: Partial<Runtime>;
  /** Options of a database of the service's own. Without them the database is borrowed. */
  readonly database?: LocalPostgresOptions;
}

/**
 * How often a request is repeated that has this status. On a busy machine the catalog or the datasource does not answer in time; to give up a request restarts
 * the embedded database, which takes long there.
 */
const REPEATED: Readonly<Record<number, number>> = { 502: 8, 503: 8, 504: 3 };
const LONGEST_PAUSE_MS = 5000;
/** The maximum number of requests of a process that are repeated: more are a fault of the service, also if each of them succeeds at last. */
const MOST_REPEATED = 20;
let repeated = 0;

/** An answer, repeated while the catalog or the database cannot be reached or does not answer in time. A failure that does not depend on the machine stays. */
export async function reached<T extends { readonly status: number }>(ask: () => Promise<T>): Promise<T> {
  let answer = await ask();
  if (answer.status in REPEATED && ++repeated > MOST_REPEATED) return answer;
  for (let n = 0; n < (REPEATED[answer.status] ?? 0); n++) {
    await pause(Math.min(100 * 2 ** n, LONGEST_PAUSE_MS));
    answer = await ask();
  }
  return answer;
}

export interface TestService {
  readonly database: LocalPostgres;
  /** The administrator's token. */
  readonly token: string;
  /** Any request, unchanged. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** POST query/, as the administrator if no token is given. */
  query(sql: string, ontology?: string, token?: string): Promise<Answer>;
  /** GET of a path below /svc/api as the administrator. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** The rows of a statement. @throws Error with the answer if the statement fails */
  // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
  rows(sql: string, ontology?: string, token?: string): Promise<any[]>;
  /** `status code` of a statement that fails. */
  fault(sql: string, ontology?: string, token?: string): Promise<string>;
  /** Creates a user with these grants. @returns its token */
  user(name: string, ...grants: string[]): Promise<string>;
  /** Bodies of the requests that were sent as kg_reader since the last call. */
  reached(): string[];
  /** The argument of the service's operations for the user of a token. `parts`: replaced parts of the runtime. */
  request(token: string, parts?: Partial<Runtime>): Promise<ServiceRequest>;
  close(): Promise<void>;
}

async function startMigrated(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const database = await startLocalPostgres(options);
  await migrate(runOverHttp(database.connectionString(CATALOG_OWNER), database.endpoint));
  return database;
}

/** Starts the service. */
export async function startService({ tables = [], settings = {}, parts = {}, database: own }: ServiceOptions = {}): Promise<TestService> {
  const database = await (own === undefined ? borrowPostgres() : startMigrated(own));
  for (const statement of tables) await database.exec(statement);
  const admin = createToken();
  const more = typeof settings === 'function' ? settings(database) : settings;
  const config = readConfig({ CATALOG_URL: database.secret(CATALOG_OWNER), DATASOURCE_MAIN: database.secret(READER), ADMIN_TOKEN: admin, ...more });
  if (config.catalog === null) throw new Error('no catalog');
  const runtime: Runtime = {
    config,
    db: neonDb(config.catalog),
    parser: await loadNodeParser(),
    now: Date.now,
    waitUntil: () => undefined,
    log: () => undefined,
    asyncStatements: memoryStatements(() => runtime),
    kv: keyValues(memoryNamespace(), { scope: 'test', secret: 'test' }),
    ...parts,
  };
  const app = createApp(config.product, '0.1.0');

  let sent: string[] = [];
  const real = globalThis.fetch;
  // not a spy: a test may add its own
  globalThis.fetch = (input, init) => {
    if (new Headers(init?.headers).get('neon-connection-string')?.includes(`//${READER}:`)) sent.push(String(init?.body));
    return real(input, init);
  };

  const fetched = async (path: string, init?: RequestInit): Promise<Response> => app.fetch(new Request(`http://127.0.0.1${path}`, init), { runtime });
  const answered = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetched(`/${config.product}/api/${path}`, init);
    const text = await response.text();
    return { status: response.status, text, json: JSON.parse(text) };
  };
  const query: TestService['query'] = (sql, ontology = '', token = admin) =>
    answered('query', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': token },
      body: JSON.stringify({ ontology_name: ontology, query: sql }),
    });
  const rows: TestService['rows'] = async (sql, ontology, token) => {
    const { status, text, json } = await query(sql, ontology, token);
    if (status !== 200) throw new Error(`${status} ${text} for ${sql}`);
    return json.data;
  };
  return {
    database,
    token: admin,
    fetch: fetched,
    query,
    get: (path, headers = {}) => answered(path, { headers: { 'x-api-key': admin, ...headers } }),
    rows,
    fault: async (sql, ontology, token) => {
      const { status, json } = await query(sql, ontology, token);
      return `${status} ${json.code}`;
    },
    user: async (name, ...grants) => {
      const [row] = await rows([`CREATE USER ${name}`, ...grants.map((g) => `GRANT ${g} TO USER ${name}`), `CREATE TOKEN FOR ${name}`].join('; '));
      return row.token;
    },
    reached: () => {
      const all = sent;
      sent = [];
      return all;
    },
    request: async (token, other = {}) => ({
      runtime: { ...runtime, ...other },
      caller: await authenticate(new Headers({ 'x-api-key': token }), config, runtime),
      requestId: 'test',
      spending: new Spending(),
      signal: new AbortController().signal,
      permitted: null,
      knownVersion: null,
      about: () => undefined,
    }),
    close: async () => {
      globalThis.fetch = real;
      await database.close();
    },
  };
}
