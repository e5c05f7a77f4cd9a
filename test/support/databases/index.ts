/** A database with an empty catalog for one test file. */
import { migrate, runOverHttp } from '../../../dev/migrate.ts';
import { CATALOG_OWNER, DEVELOPER } from '../../../dev/roles.ts';
import { type LocalPostgres, postSql, startLocalPostgres } from '../../../dev/testing.ts';
import type { Loan, Wish } from './host.ts';

/**
 * Lends an embedded database with the roles of the service and the tables of an empty catalog. It is like new: a database that a file has changed outside of
 * its own schemas is not lent again. Files that change roles or settings on purpose start their own with `startLocalPostgres`.
 * Without the test runner it starts a database.
 */
export async function borrowPostgres(): Promise<LocalPostgres> {
  if (process.env.TEST_DATABASES === undefined) {
    const database = await startLocalPostgres();
    await migrate(runOverHttp(database.connectionString(CATALOG_OWNER), database.endpoint));
    return database;
  }
  const { id, endpoint, connections } = (await ask({ kind: 'borrow', pid: process.pid })) as Loan;
  const connectionString: LocalPostgres['connectionString'] = (role = DEVELOPER) => connections[role];
  return {
    endpoint,
    connectionString,
    secret: (role) => JSON.stringify({ url: connectionString(role), endpoint }),
    superuser: async (sql) => (await ask({ kind: 'superuser', id, sql })) as Record<string, unknown>[],
    exec: (sql, params = [], role = DEVELOPER) => postSql(endpoint, connectionString(role), sql, params),
    close: async () => {
      await ask({ kind: 'give back', id });
    },
  };
}

async function ask(wish: Wish): Promise<unknown> {
  const headers = { 'x-secret': process.env.TEST_DATABASES_SECRET ?? '', connection: 'close' };
  const response = await realFetch(process.env.TEST_DATABASES ?? '', { method: 'POST', headers, body: JSON.stringify(wish) });
  const body = (await response.json()) as { value?: unknown; message?: string; code?: string };
  if (!response.ok) throw Object.assign(new Error(body.message), { code: body.code });
  return body.value;
}

/** Tests replace the global one. */
const realFetch = globalThis.fetch;
