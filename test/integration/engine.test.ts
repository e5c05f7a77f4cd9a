/** The engine against the local SQL endpoint, in front of both back ends. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalPostgres, localPostgresAvailable, startLocalPostgres } from '../../dev/testing.ts';
import { type Datasource, parseDatasourceSecret } from '../../src/engine/datasource.ts';
import { httpEngine } from '../../src/engine/engine.ts';
import { operatorText } from '../../src/engine/operator.ts';
import type { RowsRequest } from '../../src/engine/rows.ts';
import { forgetRoles, knownRole } from '../../src/engine/settings.ts';
import { SvcError } from '../../src/errors.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('integration/engine');
const ROLE_TIMEOUT = 60_000;
/** The timeout of the role in a second database, for statements that run out of time. */
const SHORT_TIMEOUT = 2000;
/** The role has the first timeout as a setting, so the statement is sent as a single query; another timeout needs the batch. */
const MODES = [
  ['by itself', ROLE_TIMEOUT, SHORT_TIMEOUT],
  ['in a batch', 50_000, 1500],
] as const;

async function refusal(promise: Promise<unknown>): Promise<SvcError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof SvcError)) throw outcome ?? new Error('nothing was thrown');
  return outcome;
}

// the installed PostgreSQL if there is one
for (const backend of oneIn(SIZES.everyBackend, ['pglite', 'pg'] as const, localPostgresAvailable() ? 1 : 0)) {
  const missing = backend === 'pg' && !localPostgresAvailable();
  if (missing) console.warn('engine.test: no PostgreSQL on this machine; its half is skipped');

  describe.skipIf(missing)(`the engine on ${backend}`, () => {
    let local: LocalPostgres;
    let ds: Datasource;
    let developer: Datasource;
    const run = async (sql: string, more: Partial<RowsRequest> = {}) =>
      httpEngine.rows(ds, { text: operatorText(sql), timeoutMs: ROLE_TIMEOUT, maxBytes: 50_000_000, owner: 'ann', ...more });
    const text = async (sql: string, more: Partial<RowsRequest> = {}) => await new Response((await run(sql, more)).stream).text();

    beforeAll(async () => {
      local = await startLocalPostgres({ backend, statementTimeoutMs: ROLE_TIMEOUT });
      ds = { name: 'main', ...parseDatasourceSecret(local.secret('kg_reader')) };
      developer = { name: 'dev', ...parseDatasourceSecret(local.secret('kg_dev')) };
      await local.exec('CREATE SCHEMA shop');
      await local.exec('CREATE TABLE shop.t_item (id bigint PRIMARY KEY, price numeric(30,4), tags text[], doc json)');
      await local.exec(
        `INSERT INTO shop.t_item VALUES (9007199254740993, 1.5000, '{a,"b c"}', '{"b":1.10,"a":12345678901234567890}'), (2, 12345678901234567890123456.7800, NULL, NULL)`,
      );
    });
    afterAll(() => local?.close());
    beforeEach(forgetRoles);

    for (const [mode, timeoutMs, shortMs] of MODES) {
      describe(`a statement ${mode}`, () => {
        beforeEach(async () => {
          await text(`SELECT '{}'::json`);
          expect(knownRole(ds)).toMatchObject({ readOnly: true, timeoutMs: ROLE_TIMEOUT });
        });

        it('returns rows with every digit', async () => {
          expect(await text('SELECT to_json(t) FROM shop.t_item t ORDER BY id DESC', { timeoutMs })).toBe(
            '[{"id":9007199254740993,"price":1.5000,"tags":["a","b c"],"doc":{"b":1.10,"a":12345678901234567890}},' +
              '{"id":2,"price":12345678901234567890123456.7800,"tags":null,"doc":null}]',
          );
          expect(await text(`SELECT '{"b":1.10,"a":12345678901234567890}'::json`, { timeoutMs })).toBe('[{"b":1.10,"a":12345678901234567890}]');
        });

        it('returns all kinds of texts unchanged', async () => {
          const odd = 'quotes " \\ / \b\f\n\r\t é 東京 🜁 ]},[{ \u2028';
          const [row] = JSON.parse(
            await text('SELECT json_build_object($1::text, $2::text, $3::text, $4::text)', { timeoutMs, params: [odd, odd, 'null', null] }),
          );
          expect(row).toEqual({ [odd]: odd, null: null });
        });

        it('returns times in UTC and dates as ISO 8601', async () => {
          expect(await text(`SELECT json_build_array('2024-02-01T12:00:00+02'::timestamptz, DATE '2024-02-01')`, { timeoutMs })).toBe(
            '[["2024-02-01T10:00:00+00:00", "2024-02-01"]]',
          );
        });

        it('cannot write', async () => {
          const error = await refusal(run(`WITH w AS (INSERT INTO shop.t_item (id) VALUES (3) RETURNING id) SELECT to_json(w) FROM w`, { timeoutMs }));
          expect(error.status).toBeGreaterThanOrEqual(400);
          expect(error.message).not.toContain('t_item');
          expect(await local.exec('SELECT count(*)::int AS n FROM shop.t_item')).toEqual([{ n: 2 }]);
        });

        it('leaves no setting', async () => {
          const functions = 'FUNCTION set_config(text, text, boolean), current_setting(text)';
          await local.superuser(`GRANT EXECUTE ON ${functions} TO kg_reader`);
          try {
            await text(`SELECT to_json(set_config('TimeZone', 'Asia/Tokyo', false)), NULL::json LIMIT 0`, { timeoutMs });
            await text(`SELECT to_json(set_config('statement_timeout', '0', false))`, { timeoutMs });
            expect(await text(`SELECT json_build_array(current_setting('TimeZone'), current_setting('statement_timeout'))`, { timeoutMs })).toBe(
              `[["UTC", "${timeoutMs === ROLE_TIMEOUT ? '1min' : '50s'}"]]`,
            );
          } finally {
            await local.superuser(`REVOKE EXECUTE ON ${functions} FROM kg_reader`);
          }
          const error = await refusal(text(`SELECT to_json(set_config('statement_timeout', '0', false))`, { timeoutMs }));
          expect(error.cause).toMatchObject({ sqlstate: '42501' });
        });

        it('runs out of time', async () => {
          const hasty = await startLocalPostgres({ backend, statementTimeoutMs: SHORT_TIMEOUT });
          try {
            const other: Datasource = { name: 'hasty', ...parseDatasourceSecret(hasty.secret('kg_reader')) };
            const rows = (sql: string, ms: number) => httpEngine.rows(other, { text: operatorText(sql), timeoutMs: ms, maxBytes: 1e6, owner: 'ann' });
            await rows(`SELECT '{}'::json`, ROLE_TIMEOUT);
            expect(knownRole(other)).toMatchObject({ timeoutMs: SHORT_TIMEOUT });
            const error = await refusal(rows('SELECT to_json(count(*)) FROM generate_series(1, 100000) a, generate_series(1, 100000) b', shortMs));
            expect([error.status, error.code, error.cause]).toMatchObject([504, 'statement_timeout', { sqlstate: '57014' }]);
            const again = await rows(`SELECT '{"again":true}'::json`, ROLE_TIMEOUT);
            expect(await new Response(again.stream).text()).toBe('[{"again":true}]');
          } finally {
            await hasty.close();
          }
        });

        it('reports errors of the statement and hides those of the tables', async () => {
          const divided = await refusal(run('SELECT to_json(1 / (id - 2)) FROM shop.t_item', { timeoutMs }));
          expect([divided.status, divided.code, divided.message]).toEqual([400, 'division_by_zero', 'division by zero']);
          const gone = await refusal(run('SELECT to_json(x) FROM shop.t_gone x', { timeoutMs }));
          expect([gone.status, gone.code]).toEqual([502, 'datasource_failed']);
          expect(`${gone.message} ${gone.hint}`).not.toMatch(/t_gone|shop/);
          const typed = await refusal(run('SELECT to_json(upper(t.price)) FROM shop.t_item t', { timeoutMs, physicalNames: ['t_item', 'price', 'shop'] }));
          expect([typed.status, typed.code, typed.message]).toEqual([400, 'undefined_function', 'function upper(numeric) does not exist']);
        });
      });
    }

    it('sets settings that the role lacks', async () => {
      const bare = (sql: string) => httpEngine.rows(developer, { text: operatorText(sql), timeoutMs: ROLE_TIMEOUT, maxBytes: 1e6, owner: 'ann' });
      await bare(`SELECT '1'::json`);
      expect(knownRole(developer)?.readOnly).toBe(false);
      const rows = await bare(
        `SELECT json_build_array(current_setting('transaction_read_only'), current_setting('statement_timeout'), current_setting('search_path'), current_setting('TimeZone'))`,
      );
      expect(new TextDecoder().decode(rows.whole)).toMatch(/^\[\["on", "1min", "\\"\\"", "(Etc\/)?UTC"\]\]$/);
      expect((await refusal(bare('CREATE TABLE shop.x (a int)'))).status).toBeGreaterThanOrEqual(400);
    });

    it('streams large results and refuses larger ones', async () => {
      const sql = `SELECT json_build_object('i', i, 't', repeat('é', 500)) FROM generate_series(1, 5000) i`;
      const rows = await run(sql);
      expect(rows.whole).toBeUndefined();
      const all = JSON.parse(await new Response(rows.body('{"data":', '}')).text()) as { data: { i: number }[] };
      expect([all.data.length, all.data[4999]?.i]).toEqual([5000, 5000]);
      expect((await rows.done).rows).toBe(5000);
      expect((await refusal(run(sql, { maxBytes: 2_000_000 }))).code).toBe('result_too_large');
    });

    it('describes a SELECT over the tables', async () => {
      const describe = (sql: string) => httpEngine.describe(ds, operatorText(sql), { timeoutMs: ROLE_TIMEOUT });
      const wanted = [
        { name: 'id', type: 'int8' },
        { name: 'price', type: 'numeric', modifier: (30 << 16) + 4 + 4 },
        { name: 'tags', type: '_text' },
        { name: 'doc', type: 'json' },
        { name: 'n', type: 'int4' },
      ];
      for (const _ of [1, 2]) expect(await describe('SELECT *, 1 AS n FROM shop.t_item -- all')).toEqual(wanted);
      const error = await refusal(describe('SELECT idd FROM shop.t_item'));
      expect([error.status, error.code, error.offset]).toEqual([400, 'undefined_column', 7]);
      expect(error.message).toContain('idd');
    });

    it('runs small reads together', async () => {
      const [a, b] = await httpEngine.batch(
        ds,
        [{ text: operatorText('SELECT 1.50 AS n') }, { text: operatorText('SELECT $1::text AS t, now() = now() AS same'), params: ['x'] }],
        {
          timeoutMs: ROLE_TIMEOUT,
        },
      );
      expect(a).toEqual({ columns: [{ name: 'n', type: 'numeric' }], rows: [['1.50']] });
      expect(b?.rows).toEqual([['x', 't']]);
    });

    it('reveals nothing about a refused login', async () => {
      const wrong = { ...ds, url: ds.url.replace(/:[^:@]+@/, ':not-the-password@') };
      const error = await refusal(httpEngine.rows(wrong, { text: operatorText(`SELECT '1'::json`), timeoutMs: ROLE_TIMEOUT, maxBytes: 1e6, owner: 'ann' }));
      expect([error.status, error.code]).toEqual([502, 'datasource_failed']);
      expect(error.message).not.toMatch(/password|kg_reader/);
    });

    it('reports an unreachable server', async () => {
      const error = await refusal(
        httpEngine.rows(
          { ...ds, endpoint: 'http://127.0.0.1:1/sql' },
          { text: operatorText(`SELECT '1'::json`), timeoutMs: ROLE_TIMEOUT, maxBytes: 1e6, owner: 'ann' },
        ),
      );
      expect([error.status, error.code]).toEqual([502, 'datasource_failed']);
    });

    it.skipIf(backend !== 'pg')('cancels the statement in the database when the caller disconnects', async () => {
      const caller = new AbortController();
      const mark = `/* ${crypto.randomUUID()} */`;
      const running = async () =>
        (
          await local.superuser(
            `SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query_start < now() - interval '200 ms' AND query LIKE '%${mark}%' AND pid <> pg_backend_pid()`,
          )
        )[0]?.n;
      const until = async (n: number) => {
        for (let tries = 0; tries < 1000 && (await running()) !== n; tries++) await new Promise((resolve) => setTimeout(resolve, 20));
        return await running();
      };
      const query = refusal(
        run(`SELECT to_json(count(*)) FROM generate_series(1, 100000) a, generate_series(1, 100000) b ${mark}`, { timeoutMs: 60_000, signal: caller.signal }),
      );
      expect(await until(1)).toBe(1);
      caller.abort();
      expect((await query).code).toBe('caller_gone');
      expect(await until(0)).toBe(0);
    });
  });
}
