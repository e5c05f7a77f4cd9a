/**
 * When a caller disconnects, its statement in PostgreSQL is cancelled, for every kind of request. In Node: the pinned workerd does not report a
 * disconnection before the head of the answer (its issues 4185 and 6832); faults.test.ts has the cases after that.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localPostgresAvailable } from '../../dev/testing.ts';
import { startService, type TestService } from '../support/service.ts';

const missing = !localPostgresAvailable();
if (missing) console.warn('caller-leaves.test: no PostgreSQL on this machine; it is skipped');

describe.skipIf(missing)('a caller who disconnects', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ settings: { STATEMENT_TIMEOUT_MS: '60000' }, database: { backend: 'pg' } });
    await service.database.exec('CREATE SCHEMA s');
    await service.database.exec("CREATE TABLE s.t AS SELECT n AS id, 'n' || n AS name FROM generate_series(1, 5000) n");
    await service.rows(`CREATE ONTOLOGY shop; CREATE CONCEPT item (id integer, name string, PRIMARY KEY (id));
      CREATE MAPPING m INTO item AS SELECT id, name FROM s.t;
      CREATE VIEW heavy AS SELECT a.id, a.name FROM svc.item a, svc.item b, svc.item c WHERE a.name || b.name || c.name <> 'left alone'`);
  });
  afterAll(() => service?.close());

  const running = async (): Promise<unknown> =>
    (
      await service.database.superuser(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%left alone%' AND pid <> pg_backend_pid()",
      )
    )[0]?.n;
  const SQL = "SELECT count(*) AS n FROM svc.item a, svc.item b, svc.item c WHERE a.name || b.name || c.name <> 'left alone'";
  const asks: readonly [string, string, RequestInit][] = [
    [
      'query',
      '/svc/api/query',
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ontology_name: 'shop', query: SQL }) },
    ],
    ['the openapi family', '/svc/openapi/ontology/shop/query', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: SQL }],
    ['a view by its address', '/svc/api/q/shop/view/heavy?_order_=name', {}],
    [
      'nested rows',
      '/svc/openapi/ontology/shop/query',
      { method: 'POST', headers: { 'content-type': 'text/plain', nested: 'true', accept: 'application/x-ndjson' }, body: SQL },
    ],
    [
      'a statement before the last one',
      '/svc/openapi/ontology/shop/query',
      { method: 'POST', headers: { 'content-type': 'text/plain' }, body: `${SQL}; SELECT 1` },
    ],
  ];
  it.each(asks)('of %s has its statement cancelled', async (_, path, init) => {
    const leave = new AbortController();
    const answer = service.fetch(path, { ...init, headers: { ...init.headers, 'x-api-key': service.token }, signal: leave.signal });
    await expect.poll(running).toBe(1);
    leave.abort();
    await expect.poll(running).toBe(0);
    // no client reads it; the log has it
    expect((await answer).status).toBe(499);
    expect((await service.query('SELECT 1 AS one', 'shop')).json.data).toEqual([{ one: 1 }]);
  });
});
