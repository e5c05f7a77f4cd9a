/** The local SQL endpoint with both back ends, used by the real driver: its answers are those of Neon's proxy. */
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { type NeonDbError, neon, neonConfig } from '@neondatabase/serverless';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalPostgres, localPostgresAvailable, startLocalPostgres } from '../../dev/testing.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('integration/dev-conformance');
const TIMEOUT_MS = 1500;
const CAP = 2 * 1024 * 1024;
const SLOW = 'SELECT count(*) FROM generate_series(1, 1000000000)';

const fault = async (promise: Promise<unknown>): Promise<NeonDbError> => {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome, 'the statement must be refused').toBeInstanceOf(Error);
  return outcome as NeonDbError;
};

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** HTTP with only the given headers. */
const raw = (url: string, headers: OutgoingHttpHeaders, body: string, method = 'POST'): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (d: Buffer) => parts.push(d));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text: Buffer.concat(parts).toString() }));
    });
    sent.on('error', reject).end(body);
  });

for (const backend of oneIn(SIZES.everyBackend, ['pglite', 'pg'] as const, 0)) {
  const missing = backend === 'pg' && !localPostgresAvailable();
  describe.skipIf(missing)(`SQL over HTTP in front of ${backend}${missing ? ' (skipped: PostgreSQL is not installed)' : ''}`, () => {
    let db: LocalPostgres;
    beforeAll(async () => {
      db = await startLocalPostgres({ backend, statementTimeoutMs: TIMEOUT_MS, limits: { maxBytes: CAP } });
      await db.exec('CREATE SCHEMA t');
      await db.exec('CREATE TABLE t.item (id int PRIMARY KEY, name text NOT NULL)');
      await db.exec("INSERT INTO t.item SELECT g, 'item ' || g FROM generate_series(1, 100) g");
      await db.exec("CREATE TYPE t.mood AS ENUM ('calm', 'very glad')");
    });
    beforeEach(() => {
      neonConfig.fetchEndpoint = db.endpoint;
    });
    afterAll(async () => {
      await db?.close();
    });
    const sql = (role: Parameters<LocalPostgres['connectionString']>[0] = 'kg_dev') => neon(db.connectionString(role));
    /** A request as the engine's own client sends it: no raw text, array mode. */
    const plain = (query: string, params: unknown[] = [], headers: OutgoingHttpHeaders = {}) =>
      raw(
        db.endpoint,
        { 'content-type': 'application/json', 'neon-connection-string': db.connectionString(), 'neon-array-mode': 'true', ...headers },
        JSON.stringify({ query, params }),
      );

    describe('the driver', () => {
      it('returns rows as objects, as arrays and with the whole result', async () => {
        expect(await sql()`SELECT id, name FROM t.item WHERE id < ${3} ORDER BY id`).toEqual([
          { id: 1, name: 'item 1' },
          { id: 2, name: 'item 2' },
        ]);
        expect(await sql().query('SELECT id, name FROM t.item WHERE id = $1', [7], { arrayMode: true })).toEqual([[7, 'item 7']]);
        const full = await sql().query('SELECT id, name AS label FROM t.item WHERE id > 98 ORDER BY 1', [], { fullResults: true });
        expect(full).toMatchObject({ command: 'SELECT', rowCount: 2, rowAsArray: false, rows: [{ id: 99 }, { id: 100, label: 'item 100' }] });
        expect(full.fields).toMatchObject([
          { name: 'id', dataTypeID: 23, dataTypeSize: 4, columnID: 1, dataTypeModifier: -1, format: 'text' },
          { name: 'label', dataTypeID: 25, dataTypeSize: -1, columnID: 2 },
        ]);
        expect(full.fields[0]!.tableID).toBeGreaterThan(16_383);
      });

      it('returns command and row count of statements without rows', async () => {
        const run = (q: string) => sql().query(q, [], { fullResults: true });
        expect(await run('CREATE TABLE t.made (a int)')).toMatchObject({ command: 'CREATE', rowCount: null, rows: [], fields: [] });
        expect(await run('INSERT INTO t.made VALUES (1), (2)')).toMatchObject({ command: 'INSERT', rowCount: 2, rows: [] });
        expect(await run('UPDATE t.made SET a = 3 WHERE a = 9')).toMatchObject({ command: 'UPDATE', rowCount: 0 });
        expect(await run('DELETE FROM t.made RETURNING a')).toMatchObject({ command: 'DELETE', rowCount: 2, rows: [{ a: 1 }, { a: 2 }] });
        expect(await run('SELECT 1 AS a WHERE false')).toMatchObject({ rows: [], rowCount: 0, fields: [{ name: 'a' }] });
        await run('DROP TABLE t.made');
      });

      it('accepts all kinds of values as parameters', async () => {
        const [row] =
          await sql()`SELECT ${null}::int AS nothing, ${true}::boolean AS yes, ${-7}::int AS n, ${1.5}::float8 AS f, ${'12345678901234567890.10'}::numeric AS d,
          ${`quotes ' " \\ and ünïcödé 🌍`}::text AS s, ${{ a: [1, null, 'x'] }}::jsonb AS j, ${[1, 2, null]}::int[] AS numbers, ${['a', 'b "c"', 'd,e', 'NULL', '']}::text[] AS texts,
          ${[
            [1, 2],
            [3, 4],
          ]}::int[] AS square, ${Buffer.from([0, 255, 10])}::bytea AS bytes, ${new Date(Date.UTC(2024, 1, 29, 12))}::timestamptz AS moment, ${10n}::int8 AS big`;
        expect(row).toMatchObject({
          nothing: null,
          yes: true,
          n: -7,
          f: 1.5,
          d: '12345678901234567890.10',
          s: `quotes ' " \\ and ünïcödé 🌍`,
          j: { a: [1, null, 'x'] },
          numbers: [1, 2, null],
          texts: ['a', 'b "c"', 'd,e', 'NULL', ''],
          square: [
            [1, 2],
            [3, 4],
          ],
          moment: new Date(Date.UTC(2024, 1, 29, 12)),
          big: '10',
        });
        expect([...(row!.bytes as Uint8Array)]).toEqual([0, 255, 10]);
      });

      it('keeps a duplicate name, and an empty one, in array mode', async () => {
        expect(await sql().query('SELECT 1 AS a, 2 AS a, 3 AS "with ""quotes"""', [], { arrayMode: true })).toEqual([[1, 2, 3]]);
      });

      it('returns the code, position and detail of an error', async () => {
        const syntax = await fault(sql().query('SELECT 1 +'));
        expect(syntax).toMatchObject({ name: 'NeonDbError', code: '42601', severity: 'ERROR', position: '11' });
        expect(syntax.message).toBe('syntax error at end of input');
        const column = await fault(sql().query('SELECT nme FROM t.item'));
        expect(column).toMatchObject({ code: '42703', position: '8', hint: expect.stringContaining('name'), routine: expect.any(String) });
        const twice = await fault(sql().query("INSERT INTO t.item VALUES (1, 'again')"));
        expect(twice).toMatchObject({ code: '23505', detail: 'Key (id)=(1) already exists.', schema: 't', table: 'item', constraint: 'item_pkey' });
        const inner = await fault(sql().query("DO $$ BEGIN EXECUTE 'SELECT 1 FRM x'; END $$"));
        expect(inner).toMatchObject({ code: '42601', internalQuery: 'SELECT 1 FRM x', where: expect.stringContaining('PL/pgSQL') });
        expect(Number(inner.internalPosition)).toBeGreaterThan(0);
      });

      it('refuses a second statement, a wrong number of parameters and a malformed parameter', async () => {
        expect(await fault(sql().query('SELECT 1; SELECT 2'))).toMatchObject({ code: '42601' });
        expect(await fault(sql().query('SELECT $1::int, $2::int', [1]))).toMatchObject({ code: '08P01' });
        expect(await fault(sql().query('SELECT $1::int', ['one']))).toMatchObject({ code: '22P02' });
        expect(await sql()`SELECT 1 AS a`).toEqual([{ a: 1 }]);
      });

      it('returns an error in a late row as an error, and rows after that', async () => {
        expect(await fault(sql().query('SELECT 1 / (5000 - g) FROM generate_series(1, 6000) g'))).toMatchObject({ code: '22012' });
        expect(await sql()`SELECT count(*)::int AS n FROM t.item`).toEqual([{ n: 100 }]);
      });
    });

    describe('transactions', () => {
      it('return the results of all statements, and have no effect if one fails', async () => {
        const s = sql();
        const [inserted, counted] = await s.transaction([s`INSERT INTO t.item VALUES (201, 'x') RETURNING id`, s`SELECT count(*)::int AS n FROM t.item`]);
        expect([inserted, counted]).toEqual([[{ id: 201 }], [{ n: 101 }]]);
        expect(await fault(s.transaction([s`DELETE FROM t.item WHERE id = 201`, s`SELECT 1/0`]))).toMatchObject({ code: '22012' });
        expect(await s`SELECT count(*)::int AS n FROM t.item`).toEqual([{ n: 101 }]);
        await s`DELETE FROM t.item WHERE id = 201`;
      });

      it('have the requested isolation level and read-only mode', async () => {
        const s = sql();
        const state = () =>
          s`SELECT current_setting('transaction_isolation') AS level, current_setting('transaction_read_only') AS ro, current_setting('transaction_deferrable') AS d`;
        for (const [isolationLevel, level] of [
          ['ReadUncommitted', 'read uncommitted'],
          ['ReadCommitted', 'read committed'],
          ['RepeatableRead', 'repeatable read'],
          ['Serializable', 'serializable'],
        ] as const) {
          expect(await s.transaction([state()], { isolationLevel })).toEqual([[{ level, ro: 'off', d: 'off' }]]);
        }
        expect(await s.transaction([state()], { isolationLevel: 'Serializable', readOnly: true, deferrable: true })).toEqual([
          [{ level: 'serializable', ro: 'on', d: 'on' }],
        ]);
        expect(await fault(s.transaction([s`DELETE FROM t.item`], { readOnly: true }))).toMatchObject({ code: '25006' });
        expect(await s.transaction([s`SELECT 1 AS a`], { fullResults: true, arrayMode: true })).toMatchObject([{ rows: [[1]], command: 'SELECT' }]);
      });

      it('fail at their end if a deferred constraint is violated', async () => {
        const s = sql();
        await s`CREATE TABLE t.later (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)`;
        expect(await fault(s.transaction([s`INSERT INTO t.later VALUES (1)`, s`INSERT INTO t.later VALUES (1)`]))).toMatchObject({ code: '23505' });
        expect(await fault(s.query('INSERT INTO t.later VALUES (1), (1)'))).toMatchObject({ code: '23505' });
        expect(await s`SELECT count(*)::int AS n FROM t.later`).toEqual([{ n: 0 }]);
      });

      it('of simultaneous callers are isolated', async () => {
        const s = sql();
        await s`CREATE TABLE t.balance (id int PRIMARY KEY, amount int)`;
        await s`INSERT INTO t.balance VALUES (1, 0)`;
        const add = (i: number) =>
          i % 3 === 0
            ? s.transaction([s`UPDATE t.balance SET amount = amount + 1`, s`SELECT 1/0`]).catch(() => 'refused')
            : s.transaction([
                s`UPDATE t.balance SET amount = amount + 1`,
                s`SELECT set_config('my.mark', ${String(i)}, true)`,
                s`SELECT current_setting('my.mark') AS mark, pg_backend_pid() AS pid`,
              ]);
        const outcomes = await Promise.all(Array.from({ length: 30 }, (_, i) => add(i)));
        expect(outcomes.filter((o) => o === 'refused')).toHaveLength(10);
        outcomes.forEach((o, i) => {
          if (o !== 'refused') expect((o as { mark: string }[][])[2]![0]!.mark).toBe(String(i));
        });
        expect(await s`SELECT amount FROM t.balance`).toEqual([{ amount: 20 }]);
      });
    });

    describe('sessions', () => {
      it('keep no state of the previous request', async () => {
        const s = sql();
        const leave = [
          'SET search_path = t',
          "SET my.secret = 'x'",
          'CREATE TEMP TABLE left_over (a int)',
          'PREPARE p AS SELECT 1',
          'SELECT pg_advisory_lock(7)',
          'BEGIN',
          'LISTEN news',
        ];
        for (const q of leave) await s.query(q);
        for (let i = 0; i < 12; i++) {
          const [row] =
            await s`SELECT current_setting('search_path') AS path, current_setting('my.secret', true) AS secret, to_regclass('pg_temp.left_over')::text AS temp,
            (SELECT count(*)::int FROM pg_prepared_statements WHERE name = 'p') AS prepared, (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
            (SELECT count(*)::int FROM pg_listening_channels()) AS channels`;
          expect(row).toEqual({
            path: '"$user", public',
            secret: expect.toSatisfy((v) => v === null || v === ''),
            temp: null,
            prepared: 0,
            locks: 0,
            channels: 0,
          });
        }
      });

      it('belong to the role that the connection string names, with its settings', async () => {
        expect(await sql('kg_reader')`SELECT current_user::text AS me, session_user::text AS login`).toEqual([{ me: 'kg_reader', login: 'kg_reader' }]);
        const settings = {
          transaction_read_only: 'on',
          search_path: '""',
          TimeZone: 'UTC',
          DateStyle: 'ISO, MDY',
          jit: 'off',
          statement_timeout: `${TIMEOUT_MS}ms`,
        };
        for (const [name, value] of Object.entries(settings)) expect(await sql('kg_reader').query(`SHOW ${name}`)).toEqual([{ [name]: value }]);
        expect(await sql('kg_reader')`SELECT name FROM t.item WHERE id = 3`).toEqual([{ name: 'item 3' }]);
        expect(await fault(sql('kg_reader').query('CREATE TABLE t.x (a int)'))).toMatchObject({ code: '25006' });
        expect(await fault(sql('kg_reader').transaction([sql()`SET TRANSACTION READ WRITE`, sql()`DELETE FROM t.item`]))).toMatchObject({ code: '42501' });
        expect(await fault(sql('kg_catalog_owner').query('SELECT * FROM t.item'))).toMatchObject({ code: '42501' });
      });

      it('do not give the reader access to the catalog, as any user', async () => {
        await sql('kg_catalog_owner').query('CREATE TABLE IF NOT EXISTS kg_catalog.hidden (a int)');
        const reader = sql('kg_reader');
        const escapes = [
          'SET ROLE kg_catalog_owner',
          'SET ROLE postgres',
          'SET SESSION AUTHORIZATION kg_catalog_owner',
          "SELECT set_config('role', 'kg_catalog_owner', false)",
          'COMMIT',
          'RESET ROLE',
        ];
        for (const attempt of [...escapes, 'RESET SESSION AUTHORIZATION', 'ROLLBACK AND CHAIN']) {
          expect(await fault(reader.transaction([reader.query(attempt), reader`SELECT * FROM kg_catalog.hidden`])), attempt).toMatchObject({
            code: expect.stringMatching(/^(42501|42704)$/),
          });
        }
        expect(await fault(reader.query('SELECT * FROM kg_catalog.hidden'))).toMatchObject({ code: '42501' });
      });
    });

    describe('limits', () => {
      it('end a statement after the timeout of its role with 57014, and the next request works', async () => {
        expect(await fault(sql('kg_reader').query(SLOW))).toMatchObject({ code: '57014', message: 'canceling statement due to statement timeout' });
        expect(await sql('kg_reader')`SELECT count(*)::int AS n FROM t.item`).toEqual([{ n: 100 }]);
        expect(await sql()`SELECT count(*)::int AS n FROM t.item`).toEqual([{ n: 100 }]);
      });

      it('respect a timeout that a transaction sets itself', async () => {
        // for a role without a timeout only this can end it
        const s = sql();
        expect(await fault(s.transaction([s`SET LOCAL statement_timeout = '300ms'`, s.query(SLOW)]))).toMatchObject({ code: '57014' });
      });

      it('respect one that is set by parameters', async () => {
        const s = sql();
        const set = s.query('SELECT set_config($1, $2, true)', ['statement_timeout', '300']);
        expect(await fault(s.transaction([set, s.query(SLOW)]))).toMatchObject({ code: '57014' });
      });

      it('do not undo commits when a statement is ended', async () => {
        const s = sql();
        await s`CREATE TABLE t.kept AS SELECT g FROM generate_series(1, 5000) g`;
        await fault(sql('kg_reader').query(SLOW));
        expect(await s`SELECT count(*)::int AS n, sum(g)::int AS total FROM t.kept`).toEqual([{ n: 5000, total: 12_502_500 }]);
      });

      it('answer 507 above the limit, and the next request works', async () => {
        const big = await plain("SELECT repeat('x', 1000) FROM generate_series(1, 100000)");
        expect(big.status).toBe(507);
        expect(JSON.parse(big.text).message).toMatch(/response is too large/);
        const fits = await plain("SELECT repeat('x', 1000) FROM generate_series(1, 1500)");
        expect([fits.status, JSON.parse(fits.text).rowCount]).toEqual([200, 1500]);
      });

      it('cancel the statement of a caller who has disconnected', async () => {
        const gone = new AbortController();
        const slow = neon(db.connectionString(), { fetchOptions: { signal: gone.signal } }).query(`${SLOW} /* gone */`);
        setTimeout(() => gone.abort(), 300);
        await fault(slow);
        const running = async () => {
          const [row] =
            await sql()`SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%/* gone */%' AND pid <> pg_backend_pid()`;
          return row!.n;
        };
        await expect.poll(running).toBe(0);
      });
    });

    describe('values without raw text', () => {
      it('are JSON values as Neon writes them, JSON with its bytes unchanged', async () => {
        const { status, text } = await plain(
          `SELECT '{"b":1.10,  "a":12345678901234567890}'::json, '{"b": 1.10}'::jsonb, 1::int2, 2::int4, 3::int8, 1.50::numeric, 0.1::float8, 1e300::float8, 'NaN'::float8, '-Infinity'::float4,
            true, NULL::json, 'x "y"', DATE '2024-02-29', ARRAY[1,NULL,3], ARRAY[[true],[false]], ARRAY['a','b "c"','NULL',''], ARRAY['{"z":1.0}'::json], '[2:3]={5,6}'::int[], '{}'::text[],
            ARRAY['calm','very glad']::t.mood[], ARRAY['(1,1),(0,0)'::box, '(2,2),(1,1)'::box], $1::int`,
          [7],
        );
        expect(status).toBe(200);
        const rows = /"rows":(\[\[.*\]\]),"command":"SELECT","rowCount":1\}$/s.exec(text)?.[1];
        expect(rows).toBe(
          '[[{"b":1.10,  "a":12345678901234567890},{"b": 1.10},1,2,"3","1.50",0.1,1e+300,"NaN","-Infinity",true,null,"x \\"y\\"","2024-02-29",[1,null,3],[[true],[false]],' +
            '["a","b \\"c\\"","NULL",""],[{"z":1.0}],[5,6],[],["calm","very glad"],["(1,1),(0,0)","(2,2),(1,1)"],7]]',
        );
      });

      it('are in the envelope of the proxy', async () => {
        const { text, headers } = await plain("SELECT to_json('x'::text) AS r");
        expect(headers['content-type']).toBe('application/json');
        expect(text).toMatch(
          /^\{"rowAsArray":true,"fields":\[\{"name":"r","dataTypeID":114,"tableID":0,"columnID":0,"dataTypeSize":-1,"dataTypeModifier":-1,"format":"text"\}\],"rows":\[\["x"\]\],"command":"SELECT","rowCount":1\}$/,
        );
        const objects = await plain('SELECT 1 AS a, NULL AS b', [], { 'neon-array-mode': 'false' });
        expect(JSON.parse(objects.text)).toMatchObject({ rowAsArray: false, rows: [{ a: 1, b: null }] });
      });
    });

    describe('safety', () => {
      const body = JSON.stringify({ query: "INSERT INTO t.item VALUES (999, 'from a page')", params: [] });
      const untouched = async () => expect(await sql()`SELECT count(*)::int AS n FROM t.item WHERE id = 999`).toEqual([{ n: 0 }]);

      it('refuses a request with a missing, malformed or wrong connection string', async () => {
        const wrong = new URL(db.connectionString());
        wrong.password = 'not-it';
        const elsewhere = new URL(db.connectionString());
        elsewhere.pathname = '/template1';
        const nobody = db.connectionString().replace('kg_dev', 'postgres');
        for (const header of [
          undefined,
          '',
          'x',
          'postgres://kg_dev@127.0.0.1/postgres',
          wrong.href,
          elsewhere.href,
          nobody,
          db.connectionString().replace('kg_dev', '__proto__'),
        ]) {
          const reply = await raw(
            db.endpoint,
            { 'content-type': 'application/json', ...(header === undefined ? {} : { 'neon-connection-string': header }) },
            body,
          );
          expect([header, reply.status]).toEqual([header, 401]);
        }
        await untouched();
      });

      it('refuses a form of another site', async () => {
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain;charset=UTF-8', undefined]) {
          const origin = { origin: 'https://evil.example', ...(type ? { 'content-type': type } : {}) };
          const reply = await raw(db.endpoint, origin, body);
          expect([type, reply.status]).toEqual([type, 403]);
          expect((await raw(db.endpoint, { ...origin, 'neon-connection-string': db.connectionString() }, body)).status).toBe(403);
        }
        expect(
          (
            await raw(
              db.endpoint,
              { 'content-type': 'application/json', 'sec-fetch-site': 'cross-site', 'neon-connection-string': db.connectionString() },
              body,
            )
          ).status,
        ).toBe(403);
        await untouched();
      });

      it('refuses a Host that is not loopback', async () => {
        const port = new URL(db.endpoint).port;
        for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, `localhost.evil.example`, '10.0.0.1', '0.0.0.0']) {
          const reply = await raw(db.endpoint, { host, 'content-type': 'application/json', 'neon-connection-string': db.connectionString() }, body);
          expect(reply.status, host).toBeGreaterThanOrEqual(400);
          expect(reply.status, host).toBeLessThan(500);
        }
        await untouched();
        expect((await plain('SELECT 1', [], { host: `localhost:${port}` })).status).toBe(200);
      });

      it('answers no preflight and sends no CORS headers', async () => {
        const ask = { origin: 'https://evil.example', 'access-control-request-method': 'POST', 'access-control-request-headers': 'neon-connection-string' };
        const preflight = await raw(db.endpoint, ask, '', 'OPTIONS');
        expect(preflight.status).toBe(405);
        const answered = await plain('SELECT 1', [], { origin: 'https://evil.example' });
        expect(answered.status).toBe(200);
        for (const reply of [preflight, answered]) expect(Object.keys(reply.headers).filter((h) => h.startsWith('access-control'))).toEqual([]);
      });

      it('answers requests outside of the protocol with a clear error', async () => {
        const own = { 'content-type': 'application/json', 'neon-connection-string': db.connectionString() };
        for (const text of ['', '{', '[]', '{}', 'null', '{"query":1}', '{"query":"SELECT 1","params":{}}', '{"queries":[{}]}']) {
          const reply = await raw(db.endpoint, own, text);
          expect([text, reply.status]).toEqual([text, 400]);
          expect(JSON.parse(reply.text).message).toEqual(expect.any(String));
        }
        expect((await raw(db.endpoint, { ...own, 'neon-batch-isolation-level': 'Chaos' }, '{"queries":[]}')).status).toBe(400);
        expect((await raw(db.endpoint.replace('/sql', '/'), own, body)).status).toBe(404);
        expect((await raw(db.endpoint, own, '', 'GET')).status).toBe(405);
      });
    });
  });
}
