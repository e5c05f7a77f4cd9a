/**
 * When a client of the SDK cancels a call, or disconnects, its statement is cancelled in PostgreSQL: on the built Worker, by the SSE transport.
 * For Streamable HTTP the pinned workerd reports a disconnection only after the head of the answer (caller-leaves.test.ts);
 * test/worker/mcp-leaves.test.ts has the cases in which it is reported.
 */
import { Client, SSEClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalPostgres, localPostgresAvailable, startLocalPostgres } from '../../dev/testing.ts';
import { ask, type BuiltWorkers, startBuiltWorkers } from './support/worker.ts';

const missing = !localPostgresAvailable();
if (missing) console.warn('mcp-clients-leave.deep.test: no PostgreSQL on this machine; it is skipped');

describe.skipIf(missing)('a client of the SSE transport', () => {
  let database: LocalPostgres;
  let workers: BuiltWorkers<'service'>;
  beforeAll(async () => {
    database = await startLocalPostgres({ backend: 'pg' });
    await database.exec("CREATE TABLE t AS SELECT n AS id, 'n' || n AS name FROM generate_series(1, 5000) n");
    workers = await startBuiltWorkers(database, { service: { STATEMENT_TIMEOUT_MS: '60000' } });
    const query = `CREATE ONTOLOGY shop; CREATE CONCEPT item (id integer, name string, PRIMARY KEY (id)); CREATE MAPPING m INTO item AS SELECT id, name FROM public.t`;
    const headers = { 'x-api-key': workers.token, 'content-type': 'application/json' };
    const made = await ask(workers.urls.service, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query }) });
    expect(made.status, made.text).toBe(200);
  });
  afterAll(async () => {
    await workers?.stop();
    await database?.close();
  });

  const running = async (): Promise<unknown> =>
    (
      await database.superuser(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%left alone%' AND pid <> pg_backend_pid()",
      )
    )[0]?.n;
  const becomes = (n: number) => expect.poll(running).toBe(n);
  const SLOW = "SELECT count(*) AS n FROM svc.item a, svc.item b, svc.item c WHERE a.name || b.name || c.name <> 'left alone'";
  const call = (query: string) => ({ name: 'execute_sql', arguments: { query } });
  async function connect(): Promise<Client> {
    const headers = { 'x-api-key': workers.token, 'x-ontology': 'shop' };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new SSEClientTransport(new URL('/svc/api/mcp/sse', workers.urls.service), { requestInit: { headers } }));
    return client;
  }

  it('cancels its statement by cancelling the call, and continues', async () => {
    const client = await connect();
    const back = new AbortController();
    const answer = client.callTool(call(SLOW), { signal: back.signal });
    await becomes(1);
    back.abort('changed my mind');
    await expect(answer).rejects.toThrow('changed my mind');
    await becomes(0);
    expect((await client.callTool(call('SELECT count(*) AS n FROM svc.item'))).structuredContent).toMatchObject({ rows: [{ n: 5000 }] });
    await client.close();
  });

  it('cancels its statement by disconnecting, which is noticed with the next comment at the latest', async () => {
    const client = await connect();
    const answer = client.callTool(call(SLOW)).catch((error: unknown) => error);
    await becomes(1);
    await client.close();
    expect(await answer).toBeInstanceOf(Error);
    await becomes(0);
  });
});
