/**
 * Scripts of modelling statements as the service runs them: from their text to the calls that write the new version. The catalog writes nothing, and the datasource
 * answers each question about columns at once.
 */
import type { Caller } from '../../src/auth/authenticate.ts';
import { readConfig } from '../../src/config.ts';
import { SvcError } from '../../src/errors.ts';
import type { SqlParser } from '../../src/language/parser.ts';
import { runScript } from '../../src/service/ops/script.ts';
import type { Runtime, ServiceRequest } from '../../src/service/runtime.ts';
import { Spending } from '../../src/service/spending.ts';

const connection = JSON.stringify({ url: 'postgres://u:p@db.localhost/x', endpoint: 'http://127.0.0.1:1/sql' });
const config = readConfig({ DATASOURCE_MAIN: connection });

/** What a script has cost. */
export interface Scripted {
  /** Of its error, or `accepted`. */
  readonly code: string;
  readonly error: SvcError | undefined;
  readonly spending: Spending;
}

/** The columns that a SELECT names with AS. */
const fieldsOf = (query: string): readonly object[] =>
  [...(query.split(/\sFROM\s/i, 1)[0] as string).matchAll(/ AS ("[^"]+"|\w+)/g)].map(([, name]) => ({ name: name?.replaceAll('"', ''), dataTypeID: 20 }));

/** The answer of a datasource to questions about columns: all of them are bigint. */
async function answer(_address: unknown, init?: { readonly body?: unknown }): Promise<Response> {
  const body = JSON.parse(String(init?.body)) as { query: string; queries?: readonly { query: string }[] };
  const results = (body.queries ?? [body]).map(({ query }) => ({
    fields: query.endsWith('LIMIT 0') ? fieldsOf(query) : [],
    rows: query.includes('pg_collation_for') ? [['"default"']] : [],
  }));
  return Response.json(body.queries === undefined ? results[0] : { results });
}

/** Replaces `fetch` while `make` runs. */
async function withDatasource<T>(make: () => Promise<T>): Promise<T> {
  const real = globalThis.fetch;
  globalThis.fetch = answer as typeof fetch;
  try {
    return await make();
  } finally {
    globalThis.fetch = real;
  }
}

/** What a script begins with. */
export interface World {
  readonly parser: SqlParser;
  /** Changes of the caller, who is an administrator. */
  readonly principal?: Partial<Caller['principal']>;
  readonly snapshot?: Partial<Caller['snapshot']>;
  /** The ontology of the request; by default the script creates one. */
  readonly ontology?: string;
}

/** Runs a script in a request of its own, without sending anything. */
export async function scripted(text: string, { parser, principal, snapshot, ontology }: World): Promise<Scripted> {
  const caller: Caller = {
    principal: { userId: 'a', name: 'a', isAdmin: true, roles: [], grants: [], credential: 'admin_token', tenant: null, claims: {}, ...principal },
    snapshot: {
      ...{ verifiedAt: 0, isWhole: true, agents: [], ontologies: [], roles: [], grants: [], token: null, user: null, permissions: 0, cacheGeneration: 0 },
      ...{ maskKey: '', datasources: [{ id: 'main', name: 'main', key: 'main', type: 'postgres', secret: 'DATASOURCE_MAIN' }] },
      ...snapshot,
    },
    refresh: async () => caller,
  } as unknown as Caller;
  const db = { query: async () => [], batch: async (calls: readonly unknown[]) => calls.map(() => []) };
  const runtime = { config, parser, db, now: () => 0, waitUntil: () => undefined, log: () => undefined } as unknown as Runtime;
  const spending = new Spending();
  const request = { runtime, spending, caller, about: () => undefined, requestId: 'r', permitted: null, knownVersion: null } as unknown as ServiceRequest;
  const script = { sql: ontology === undefined ? `CREATE ONTOLOGY m;${text}` : text, ontology: ontology ?? '', datasource: null, limit: null };
  try {
    await withDatasource(() => runScript(request, script as never));
    return { code: 'accepted', error: undefined, spending };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { code: error.code, error, spending };
  }
}
