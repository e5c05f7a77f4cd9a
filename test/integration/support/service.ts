/**
 * The whole service in plain Node: routes, operations, planner, engine and catalog over a local database, without the
 * Workers runtime, so that a test can look at what reaches the database.
 */
import { vi } from 'vitest';
import { migrate, runOverHttp } from '../../../dev/migrate.ts';
import { CATALOG_OWNER, READER } from '../../../dev/roles.ts';
import { type LocalPostgres, type LocalPostgresOptions, startLocalPostgres } from '../../../dev/testing.ts';
import { createToken } from '../../../src/auth/tokens.ts';
import { neonDb } from '../../../src/catalog/db.ts';
import { keyValues } from '../../../src/catalog/kv.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { readConfig } from '../../../src/config.ts';
import { createApp } from '../../../src/http/app.ts';
import type { Runtime } from '../../../src/service.ts';
import { borrowPostgres } from '../../support/databases/index.ts';
import { memoryNamespace } from '../../unit/catalog/memory-namespace.ts';
import { memoryStatements } from './async-memory.ts';

export interface Answered {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}

export interface NodeService {
  readonly database: LocalPostgres;
  /** The administrator's token. */
  readonly token: string;
  /** Any request, as it is. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** POST query/ as the administrator. */
  query(sql: string, ontology?: string): Promise<Answered>;
  /** GET of a path below /svc/api as the administrator. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** The rows of a query that must succeed. */
  rows(sql: string, ontology?: string): Promise<Record<string, unknown>[]>;
  /** Texts of the statements that have been sent as kg_reader since the last call. */
  reached(): string[];
  close(): Promise<void>;
}

async function startMigrated(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const database = await startLocalPostgres(options);
  await migrate(runOverHttp(database.connectionString(CATALOG_OWNER), database.endpoint));
  return database;
}

/** Starts it over an embedded database (or another) with the catalog's tables. `env`: further settings; `parts`: further parts of the runtime. */
export async function startNodeService(
  env: Record<string, string> = {},
  parts: Partial<Runtime> = {},
  options: LocalPostgresOptions = {},
): Promise<NodeService> {
  const database = await (Object.keys(options).length === 0 ? borrowPostgres() : startMigrated(options));
  const token = createToken();
  const config = readConfig({ CATALOG_URL: database.secret(CATALOG_OWNER), DATASOURCE_MAIN: database.secret(READER), ADMIN_TOKEN: token, ...env });
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
  const app = createApp('svc', '0.1.0');

  let sent: string[] = [];
  const real = globalThis.fetch;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    if (new Headers(init?.headers).get('neon-connection-string')?.includes(`//${READER}:`)) sent.push(String(init?.body));
    return real(input, init);
  });

  const answered = async (request: Request): Promise<Answered> => {
    const response = await app.fetch(request, { runtime });
    const text = await response.text();
    return { status: response.status, text, json: JSON.parse(text) };
  };
  const query = (sql: string, ontology = ''): Promise<Answered> =>
    answered(
      new Request('http://127.0.0.1/svc/api/query', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': token },
        body: JSON.stringify({ ontology_name: ontology, query: sql }),
      }),
    );
  return {
    database,
    token,
    fetch: async (path, init) => app.fetch(new Request(`http://127.0.0.1${path}`, init), { runtime }),
    query,
    get: (path, headers = {}) => answered(new Request(`http://127.0.0.1/svc/api/${path}`, { headers: { 'x-api-key': token, ...headers } })),
    rows: async (sql, ontology) => {
      const { status, text, json } = await query(sql, ontology);
      if (status !== 200) throw new Error(`${status} ${text} for ${sql}`);
      return json.data;
    },
    reached: () => {
      const all = sent;
      sent = [];
      return all;
    },
    close: async () => {
      spy.mockRestore();
      await database.close();
    },
  };
}
