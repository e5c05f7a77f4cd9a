/** The service in Node: its routes over a database of its own, for tests of statements. */
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { authenticate } from '../../src/auth/authenticate.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { neonDb } from '../../src/catalog/db.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { readConfig } from '../../src/config.ts';
import { createApp } from '../../src/http/app.ts';
import { type Runtime, type ServiceRequest, Spending } from '../../src/service.ts';
import { borrowPostgres } from '../support/databases/index.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}

export interface TestService {
  readonly database: LocalPostgres;
  readonly admin: string;
  /** POST query. */
  query(sql: string, ontology?: string, token?: string): Promise<Answer>;
  /** The rows of a statement that succeeds. @throws Error with the answer otherwise */
  // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
  rows(sql: string, ontology?: string, token?: string): Promise<any[]>;
  /** Makes a user with these grants. @returns its token */
  user(name: string, ...grants: string[]): Promise<string>;
  /** `status code` of a statement that fails. */
  fault(sql: string, ontology?: string, token?: string): Promise<string>;
  get(path: string): Promise<Answer>;
  /** What an operation of the service is asked with, by the holder of a token; `runtime`: other parts. */
  request(token: string, parts?: Partial<Runtime>): Promise<ServiceRequest>;
  close(): Promise<void>;
}

/** Starts it; `tables`: DDL for the mapped tables; `settings`: further variables. */
export async function startTestService(tables: readonly string[], settings: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const database = await borrowPostgres();
  for (const statement of tables) await database.exec(statement);
  const admin = createToken();
  const config = readConfig({ CATALOG_URL: database.secret(CATALOG_OWNER), DATASOURCE_MAIN: database.secret(READER), ADMIN_TOKEN: admin, ...settings });
  if (config.catalog === null) throw new Error('no catalog');
  const app = createApp(config.product, '0');
  const runtime: Runtime = {
    config,
    db: neonDb(config.catalog),
    parser: await loadNodeParser(),
    now: Date.now,
    waitUntil: () => undefined,
    log: () => undefined,
  };
  const send = async (method: string, path: string, token: string, body?: string): Promise<Answer> => {
    const headers = { 'x-api-key': token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const request = new Request(`http://127.0.0.1:8787/${config.product}/api/${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    const response = await app.fetch(request, { runtime });
    return { status: response.status, json: await response.json() };
  };
  const query = (sql: string, ontology = '', token = admin): Promise<Answer> =>
    send('POST', 'query/', token, JSON.stringify({ ontology_name: ontology, query: sql }));
  const rows: TestService['rows'] = async (sql, ontology, token) => {
    const { status, json } = await query(sql, ontology, token);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)} for ${sql}`);
    return json.data;
  };
  return {
    database,
    admin,
    query,
    rows,
    user: async (name, ...grants) => {
      await rows(`CREATE USER ${name}; ${grants.map((g) => `GRANT ${g} TO USER ${name}`).join('; ')}`);
      return (await rows(`CREATE TOKEN FOR ${name}`))[0].token;
    },
    fault: async (sql, ontology, token) => {
      const { status, json } = await query(sql, ontology, token);
      return `${status} ${json.code}`;
    },
    get: (path) => send('GET', path, admin),
    request: async (token, parts = {}) => ({
      runtime: { ...runtime, ...parts },
      caller: await authenticate(new Headers({ 'x-api-key': token }), config, runtime),
      requestId: 'test',
      spending: new Spending(),
      signal: new AbortController().signal,
      knownVersion: null,
      about: () => undefined,
    }),
    close: () => database.close(),
  };
}
