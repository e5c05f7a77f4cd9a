/** Sessions of the gateway that serve one request after the other: prepared statements that outlive their plan, and what the session of a caller leaves to the next one. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresPrograms, type ScratchPostgres, startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { type SqlServer, startSqlServer } from '../../dev/sql-server.ts';

interface Got {
  readonly rows?: readonly (readonly unknown[])[];
  readonly code?: string;
  readonly message?: string;
}

describe.skipIf(postgresPrograms() === undefined)('a session of the gateway', () => {
  let scratch: ScratchPostgres;
  let server: SqlServer;
  let admin: pg.Client;

  /** Logs in as these roles, with one session each, so that each request follows the one before in the same session. */
  beforeAll(async () => {
    scratch = await startScratchPostgres();
    admin = new pg.Client({ connectionString: scratch.url });
    await admin.connect();
    await admin.query(`CREATE ROLE plain LOGIN; CREATE ROLE locked LOGIN; CREATE ROLE half LOGIN; CREATE ROLE other; GRANT other TO plain;
      GRANT CREATE ON SCHEMA public TO plain, locked, half; GRANT CREATE ON DATABASE postgres TO plain;
      ALTER ROLE plain SET statement_timeout = '20s'; ALTER ROLE plain SET application_name = 'of the role'`);
    const functions = `SELECT string_agg(oid::regprocedure::text, ', ') AS all, string_agg(oid::regprocedure::text, ', ') FILTER (WHERE proname ~ 'unlock') AS unlock
      FROM pg_proc WHERE proname ~ '^pg_(try_)?advisory_'`;
    const { rows } = await admin.query<{ all: string; unlock: string }>(functions);
    const [{ all, unlock }] = rows as [{ all: string; unlock: string }];
    await admin.query(
      `REVOKE EXECUTE ON FUNCTION ${all} FROM PUBLIC; GRANT EXECUTE ON FUNCTION ${all} TO plain, half; REVOKE EXECUTE ON FUNCTION ${unlock} FROM half`,
    );
    const backend = new PgBackend(({ user, database }) => ({ host: '127.0.0.1', port: scratch.port, user, database }), { max: 1 });
    server = await startSqlServer({ backend });
  });
  afterAll(async () => {
    await admin?.end();
    await server?.close();
    await scratch?.stop();
  });
  beforeEach(() =>
    admin.query(
      'DROP TABLE IF EXISTS public.thing; CREATE TABLE public.thing (a int, b text); GRANT ALL ON public.thing TO PUBLIC; INSERT INTO thing VALUES (1, $$x$$)',
    ),
  );

  const post = async (body: object, role: string, headers: Record<string, string> = {}): Promise<Got> => {
    const connection = { 'content-type': 'application/json', 'neon-connection-string': `postgres://${role}:p@h/postgres`, 'neon-array-mode': 'true' };
    const response = await fetch(server.endpoint, { method: 'POST', headers: { ...connection, ...headers }, body: JSON.stringify(body) });
    return (await response.json()) as Got;
  };
  const run = (query: string, params: readonly unknown[] = [], role = 'plain'): Promise<Got> => post({ query, params }, role);
  const rows = async (query: string, params: readonly unknown[] = [], role = 'plain') => {
    const got = await run(query, params, role);
    expect(got.message).toBeUndefined();
    return got.rows;
  };
  /** The statements that the protocol has prepared in the role's session, without those of this test. */
  const prepared = async (role = 'plain'): Promise<unknown> =>
    (await rows('SELECT count(*)::int FROM pg_prepared_statements WHERE NOT from_sql AND statement ~ $1', ['public.thing'], role))?.[0]?.[0];
  const pid = async (role = 'plain'): Promise<unknown> => (await rows('SELECT pg_backend_pid()', [], role))?.[0]?.[0];
  const warm = async (query: string, params: readonly unknown[] = [], role = 'plain'): Promise<void> => {
    for (let i = 0; i < 7; i++) await rows(query, params, role);
  };

  it('ends after a time, so that changed settings of the role apply also if it is always in use', async () => {
    await admin.query('CREATE ROLE changing LOGIN');
    const backend = new PgBackend(({ user, database }) => ({ host: '127.0.0.1', port: scratch.port, user, database }), { max: 1, lifetimeSeconds: 1 });
    const own = await startSqlServer({ backend });
    const timeout = async (): Promise<unknown> => {
      const headers = { 'neon-connection-string': 'postgres://changing:p@h/postgres', 'neon-array-mode': 'true' };
      const response = await fetch(own.endpoint, { method: 'POST', headers, body: JSON.stringify({ query: 'SHOW statement_timeout', params: [] }) });
      return ((await response.json()) as Got).rows?.[0]?.[0];
    };
    try {
      expect(await timeout()).toBe('0');
      await admin.query("ALTER ROLE changing SET statement_timeout = '7s'");
      await expect.poll(timeout).toBe('7s');
    } finally {
      await own.close();
    }
  });

  it('refuses a statement for which Citus has lost rows, which it only warns of', async () => {
    const warning = (code: string): string => `CREATE OR REPLACE FUNCTION public.warned() RETURNS int LANGUAGE plpgsql AS
      $$ BEGIN RAISE WARNING 'Query could not find the intermediate result file' USING ERRCODE = '${code}'; RETURN 1; END $$`;
    await admin.query(warning('CIINF'));
    const got = await run('SELECT public.warned() FROM generate_series(1, 3)');
    expect([got.code, got.rows]).toEqual(['0A000', undefined]);
    await admin.query(warning('01000'));
    expect(await rows('SELECT public.warned()')).toEqual([[1]]);
    await admin.query('DROP FUNCTION public.warned');
  });

  describe('prepares', () => {
    it('a text when it is used again, and keeps it over requests', async () => {
      const before = Number(await prepared());
      const sql = 'SELECT a FROM public.thing WHERE a = $1 -- kept';
      expect(await rows(sql, ['1'])).toEqual([[1]]);
      expect(await prepared()).toBe(before);
      expect(await rows(sql, ['2'])).toEqual([]);
      expect(await prepared()).toBe(before + 1);
      await warm(sql, ['1']);
      expect(await prepared()).toBe(before + 1);
    });

    it('a limited number of texts', async () => {
      for (let i = 0; i < 130; i++) for (const _ of 'ab') expect(await rows(`SELECT ${i} FROM public.thing`)).toEqual([[i]]);
      expect(Number(await prepared())).toBeLessThanOrEqual(100);
      expect(Number(await prepared())).toBeGreaterThan(50);
    });

    it('no text that PostgreSQL refuses, whose removal costs no other one', async () => {
      for (const _ of 'abc') expect((await run('SELECT nothing FROM public.thing')).code).toBe('42703');
      for (let i = 0; i < 105; i++) for (const _ of 'ab') await rows(`SELECT ${i} FROM public.thing -- after a refusal`);
      expect(Number(await prepared())).toBeGreaterThan(90);
    });

    it('no text that is very long', async () => {
      await warm(`SELECT a FROM public.thing WHERE b <> '${'y'.repeat(40_000)}'`);
      expect(await rows('SELECT count(*)::int FROM pg_prepared_statements WHERE length(statement) > 32768')).toEqual([[0]]);
    });

    it.each([
      "SELECT 'now'::timestamptz",
      "SELECT timestamp 'NOW', now()",
      "SELECT tstzrange '[now,tomorrow)'",
      "SELECT '{now}'::timestamptz[]",
      "SELECT E'n\\x6fw'::timestamptz",
      "SELECT U&'\\006eow'::timestamptz",
      "SELECT 'no'\n  'w'::timestamptz",
      "SELECT 'no' -- in two parts\n  'w'::time",
      "SELECT 'now ()'::time",
      'SELECT $x$now$x$::time',
      "SELECT 1 /* ' */, 'now'::time",
      "SELECT E'n\\ow'::time",
      "SELECT e'''\\x6eow'::time",
      "SELECT '{n\\ow}'::time[]",
      `SELECT '[n"o"w,)'::tstzrange`,
      'SELECT $é$now$é$::time',
      "SELECT a$x$, ' $x$ ', 'now'::time FROM (VALUES (1)) AS t (a$x$)",
      "SELECT 'no' --\u2028\n 'w'::time",
    ])('no literal of the present time: %s', async (sql) => {
      for (const _ of 'ab') await rows(sql);
      const [[third], [fourth]] = [await rows(sql), await rows(sql)] as [unknown[], unknown[]];
      expect(fourth).not.toEqual(third);
      expect(await rows('SELECT count(*)::int FROM pg_prepared_statements WHERE statement = $1', [sql])).toEqual([[0]]);
    });

    it('without a name that a caller could guess', async () => {
      await warm('SELECT b FROM public.thing');
      const names = (await rows('SELECT name FROM pg_prepared_statements')) ?? [];
      expect(names.length).toBeGreaterThan(0);
      for (const [name] of names) expect(name).toMatch(/^gateway_[0-9a-f]{24}$/);
    });
  });

  describe('follows changes of the schema', () => {
    const all = 'SELECT * FROM public.thing ORDER BY a';
    it.each([
      ['a new column', 'ALTER TABLE thing ADD c int DEFAULT 7', [[1, 'x', 7]]],
      ['another type', 'ALTER TABLE thing ALTER a TYPE text USING a || $$!$$', [['1!', 'x']]],
      ['a dropped column', 'ALTER TABLE thing DROP b', [[1]]],
      [
        'another table of that name',
        'DROP TABLE thing; CREATE TABLE thing (z bool, a int); GRANT ALL ON thing TO PUBLIC; INSERT INTO thing VALUES (true, 3)',
        [[true, 3]],
      ],
    ])('%s', async (_, ddl, expected) => {
      await warm(all);
      const session = await pid();
      await admin.query(ddl);
      expect(await rows(all)).toEqual(expected);
      await warm(all);
      expect(await rows(all)).toEqual(expected);
      expect(await pid()).toBe(session);
    });

    it.each([
      ['a text', 'ALTER TABLE thing ALTER a TYPE text', 'y', []],
      ['a larger number', 'ALTER TABLE thing ALTER a TYPE bigint', '5000000000', []],
      ['an array', 'ALTER TABLE thing ALTER a TYPE int[] USING ARRAY[a]', '{1}', [['x']]],
    ])('parameters of another type: %s', async (_, ddl, value, expected) => {
      const sql = 'SELECT b FROM public.thing WHERE a = $1';
      await warm(sql, ['1']);
      await admin.query(ddl);
      expect(await rows(sql, [value])).toEqual(expected);
      await warm(sql, [value]);
      expect(await rows(sql, [value])).toEqual(expected);
      // a wrong value is refused as always
      expect((await run('SELECT $1::int', ['z'])).code).toBe('22P02');
    });

    it('a new index, statistics and a dropped table', async () => {
      await warm('SELECT b FROM public.thing WHERE a = $1', ['1']);
      await admin.query('CREATE INDEX ON thing (a); ANALYZE thing');
      expect(await rows('SELECT b FROM public.thing WHERE a = $1', ['1'])).toEqual([['x']]);
      await admin.query('DROP TABLE thing');
      expect((await run('SELECT b FROM public.thing WHERE a = $1', ['1'])).code).toBe('42P01');
    });

    it('a type that is created anew', async () => {
      await admin.query("CREATE TYPE mood AS ENUM ('good')");
      const sql = 'SELECT $1::public.mood::text';
      await warm(sql, ['good']);
      await admin.query("DROP TYPE mood; CREATE TYPE mood AS ENUM ('bad')");
      expect(await rows(sql, ['bad'])).toEqual([['bad']]);
      await admin.query('DROP TYPE mood');
    });

    it.each([
      ['RAISE undefined_table', '42P01'],
      ['PERFORM 1 FROM nowhere', '42P01'],
      ["RAISE USING ERRCODE = '26000'", '26000'],
    ])('but runs no procedure twice that has committed: %s', async (fails, code) => {
      await admin.query(`CREATE OR REPLACE PROCEDURE public.commits(n int, fails bool) LANGUAGE plpgsql AS
        $p$ BEGIN INSERT INTO public.thing VALUES (n); COMMIT; IF fails THEN ${fails}; END IF; END $p$`);
      const sql = 'CALL public.commits($1, $2)';
      // a name outlives the reset if the session is not reset by DISCARD ALL: the second use has one in any case
      for (let i = 0; i < 4; i++) expect((await run(sql, [100 + i, true])).code).toBe(code);
      expect(await rows('SELECT a FROM public.thing WHERE a >= 100 ORDER BY a')).toEqual([[100], [101], [102], [103]]);
    });

    it('writes once, although a prepared statement is sent twice', async () => {
      const insert = 'INSERT INTO public.thing (a) VALUES ($1) RETURNING *';
      await warm(insert, ['5']);
      await admin.query('DELETE FROM thing; ALTER TABLE thing ADD d int');
      expect(await rows(insert, ['6'])).toEqual([[6, null, null]]);
      expect(await rows('SELECT a, d FROM public.thing')).toEqual([[6, null]]);
    });
  });

  describe('follows changes of rights', () => {
    const sql = 'SELECT b FROM public.thing';
    it('a revoked right', async () => {
      await warm(sql);
      await admin.query('REVOKE ALL ON thing FROM PUBLIC');
      expect((await run(sql)).code).toBe('42501');
      await admin.query('GRANT SELECT ON thing TO PUBLIC');
      expect(await rows(sql)).toEqual([['x']]);
    });

    it('a policy on rows that is switched on, and its changes', async () => {
      await warm(sql);
      await admin.query('ALTER TABLE thing ENABLE ROW LEVEL SECURITY');
      expect(await rows(sql)).toEqual([]);
      await admin.query('CREATE POLICY p ON thing USING (current_user = $$plain$$)');
      expect(await rows(sql)).toEqual([['x']]);
      expect(await rows(sql, [], 'locked')).toEqual([]);
      await admin.query('DROP POLICY p ON thing');
      expect(await rows(sql)).toEqual([]);
    });

    it('a role that a caller takes is not that of the next caller', async () => {
      await warm('SELECT current_user, session_user');
      await rows('SET ROLE other');
      expect(await rows('SELECT current_user, session_user')).toEqual([['plain', 'plain']]);
      await rows("SELECT set_config('role', 'other', false)");
      expect(await rows('SELECT current_user, session_user')).toEqual([['plain', 'plain']]);
    });
  });

  /** [what a caller leaves, its statements, what the next caller asks, the answer] */
  const LEFT: readonly (readonly [string, readonly string[], string, unknown])[] = [
    ['a setting', ['SET statement_timeout = 1'], 'SHOW statement_timeout', '20s'],
    ['a setting by a function', ["SELECT set_config('application_name', 'x', false)"], 'SHOW application_name', 'of the role'],
    ['a setting of its own', ["SELECT set_config('my.secret', 'x', false)"], "SELECT current_setting('my.secret', true)", ''],
    ['the path of names', ['SET search_path = pg_temp'], 'SHOW search_path', '"$user", public'],
    ['a characteristic of the session', ['SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY'], 'SHOW transaction_read_only', 'off'],
    ['a plan cache mode', ["SET plan_cache_mode = 'force_generic_plan'"], 'SHOW plan_cache_mode', 'auto'],
    ['a temporary table', ['CREATE TEMP TABLE left_over (a int)'], "SELECT count(*)::int FROM pg_class WHERE relname = 'left_over'", 0],
    ['a temporary table with rows', ['CREATE TEMP TABLE left_over AS SELECT 1 AS a'], "SELECT count(*)::int FROM pg_class WHERE relname = 'left_over'", 0],
    ['a temporary view over a table', ['CREATE TEMP VIEW thing AS SELECT 9 AS a'], 'SELECT a FROM thing', 1],
    ['a listener', ['LISTEN news'], 'SELECT count(*)::int FROM pg_listening_channels()', 0],
    ['a cursor', ['DECLARE c CURSOR WITH HOLD FOR SELECT 1'], 'SELECT count(*)::int FROM pg_cursors WHERE is_holdable', 0],
    [
      'a lock',
      ['SELECT pg_advisory_lock(42)'],
      "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      0,
    ],
    ['a prepared statement', ['PREPARE mine AS SELECT 1'], 'SELECT count(*)::int FROM pg_prepared_statements WHERE from_sql', 0],
    ['an open transaction', ['BEGIN', 'INSERT INTO thing VALUES (99)'], 'SELECT count(*)::int FROM pg_prepared_statements WHERE from_sql', 0],
    [
      'a block',
      ["DO $$ BEGIN PERFORM set_config('work_mem', '64kB', false); EXECUTE 'PREPARE mine AS SELECT 1'; END $$"],
      'SELECT count(*)::int FROM pg_prepared_statements WHERE from_sql',
      0,
    ],
    [
      'a block that fails',
      ["DO $$ BEGIN EXECUTE 'PREPARE mine AS SELECT 1'; RAISE 'no'; END $$"],
      'SELECT count(*)::int FROM pg_prepared_statements WHERE from_sql',
      0,
    ],
    ['a failing statement after a setting', ["SELECT set_config('work_mem', '64kB', false), 1 / 0"], 'SHOW work_mem', '4MB'],
  ];

  describe.each(LEFT)('leaves nothing of a caller: %s', (_, statements, ask, expected) => {
    it('to the next one', async () => {
      const session = await pid();
      for (const statement of statements) await run(statement);
      expect((await rows(ask))?.[0]?.[0]).toEqual(expected);
      expect(await pid()).toBe(session);
    });

    it('of a batch, to the next one', async () => {
      await post({ queries: statements.map((query) => ({ query, params: [] })) }, 'plain');
      expect((await rows(ask))?.[0]?.[0]).toEqual(expected);
    });
  });

  it('reports no value of a sequence that another caller used', async () => {
    await rows('CREATE SEQUENCE IF NOT EXISTS counter');
    await rows("SELECT nextval('counter')");
    expect((await run("SELECT currval('counter')")).code).toBe('55000');
    expect((await run('SELECT lastval()')).code).toBe('55000');
  });

  describe('of a role that', () => {
    it('may not use advisory locks keeps prepared statements, and leaks no setting', async () => {
      await warm('SELECT a FROM public.thing', [], 'locked');
      await rows('SET work_mem = 64', [], 'locked');
      expect(await rows('SHOW work_mem', [], 'locked')).toEqual([['4MB']]);
      expect(Number(await prepared('locked'))).toBeGreaterThan(0);
    });

    it('may take but not release them is reset completely', async () => {
      await warm('SELECT a FROM public.thing', [], 'half');
      await rows('SELECT pg_advisory_lock(7)', [], 'half');
      // the server ends the session after the gateway has closed its connection
      await expect
        .poll(() =>
          rows(
            "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
          ),
        )
        .toEqual([[0]]);
      expect(await prepared('half')).toBe(0);
    });
  });

  describe('that a caller has poisoned', () => {
    const sql = 'SELECT a FROM public.thing -- poisoned';
    it('DEALLOCATE ALL: the next request prepares again', async () => {
      await warm(sql);
      await rows('DEALLOCATE ALL');
      expect(await rows(sql)).toEqual([[1]]);
      await warm(sql);
      await rows('DISCARD ALL');
      expect(await rows(sql)).toEqual([[1]]);
    });

    it('a function that deallocates: the statement is prepared again, once', async () => {
      await rows(`CREATE OR REPLACE FUNCTION public.forget() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$`);
      await warm(sql);
      expect((await run('SELECT public.forget()')).code).toBeUndefined();
      expect(await rows(sql)).toEqual([[1]]);
      await warm(sql);
      expect(await rows(sql)).toEqual([[1]]);
    });

    it('a function that deallocates one: only that is prepared again', async () => {
      await rows(`CREATE OR REPLACE FUNCTION public.forget_one(name text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DEALLOCATE ' || name; END $$`);
      await warm('SELECT b FROM public.thing -- kept');
      await warm(sql);
      const [[name]] = (await rows('SELECT name FROM pg_prepared_statements WHERE statement ~ $1', ['-- poisoned$'])) as [[string]];
      await rows('SELECT public.forget_one($1)', [name]);
      const before = Number(await prepared());
      expect(await rows(sql)).toEqual([[1]]);
      expect(await prepared()).toBe(before);
      await warm(sql);
      expect(await prepared()).toBe(before + 1);
    });

    it('PREPARE under the name of another text does not answer it', async () => {
      await warm(sql);
      const [[name]] = (await rows('SELECT name FROM pg_prepared_statements WHERE statement ~ $1', ['-- poisoned$'])) as [[string]];
      await run(`DEALLOCATE ${name}`);
      await run(`PREPARE ${name} AS SELECT 666`);
      expect(await rows(sql)).toEqual([[1]]);
    });

    it('COPY FROM STDIN, for which PostgreSQL would wait forever', async () => {
      for (const body of [
        { query: 'COPY public.thing FROM STDIN' },
        { queries: [{ query: 'CREATE TEMP TABLE here (a int) ON COMMIT DROP' }, { query: 'COPY here FROM STDIN' }] },
      ]) {
        expect(await post(body, 'plain')).toMatchObject({ message: 'COPY FROM STDIN is not supported' });
        expect(await rows(sql)).toEqual([[1]]);
      }
    });

    it('params that are nested too deeply', async () => {
      const body = `{"query":"SELECT 1","params":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
      const headers = { 'content-type': 'application/json', 'neon-connection-string': 'postgres://plain:p@h/postgres' };
      const response = await fetch(server.endpoint, { method: 'POST', headers, body });
      expect([response.status, await response.json()]).toMatchObject([400, { message: 'the params are nested too deeply' }]);
    });

    it('a session that PostgreSQL ends is replaced', async () => {
      await warm(sql);
      await admin.query('SELECT pg_terminate_backend($1)', [await pid()]);
      await expect.poll(async () => (await run(sql)).rows).toEqual([[1]]);
      await warm(sql);
    });
  });
});
