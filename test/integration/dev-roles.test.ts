/** The roles that `npm start` creates, and those of docs/deploy.md, on a PostgreSQL server: as a superuser, and as a role that only has CREATEROLE. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openFunctions } from '../../dev/reader.ts';
import { restrictFunctionsScript } from '../../dev/restrict-functions.ts';
import { CATALOG_OWNER, newPassword, READER, setUpRoles } from '../../dev/roles.ts';
import { postgresPrograms, type ScratchPostgres, startScratchPostgres } from '../../dev/scratch-postgres.ts';

const missing = postgresPrograms() === undefined;
if (missing) console.warn('dev-roles.test: no PostgreSQL on this machine; it is skipped');

describe.skipIf(missing)('the roles on a server', () => {
  let scratch: ScratchPostgres;
  let database = '';
  let made = 0;

  beforeAll(async () => {
    scratch = await startScratchPostgres();
    await scratch.exec('CREATE ROLE app LOGIN CREATEROLE');
    await scratch.exec('CREATE ROLE bystander LOGIN NOINHERIT');
  });
  afterAll(() => scratch?.stop());
  // Roles belong to the server, so they are created again; rights on functions belong to the database.
  beforeEach(async () => {
    if (database !== '') await scratch.exec(`DROP DATABASE ${database}`);
    for (const role of [READER, CATALOG_OWNER, 'kg_functions', 'staff', 'guests']) await scratch.exec(`DROP ROLE IF EXISTS ${role}`);
    database = `shop_${++made}`;
    await scratch.exec(`CREATE DATABASE ${database} OWNER app`);
  });

  /** Runs a function as a role; each query returns its rows. */
  async function as<T>(role: string, work: (exec: (sql: string) => Promise<pg.QueryResult>) => Promise<T>): Promise<T> {
    const client = new pg.Client({ host: '127.0.0.1', port: scratch.port, user: role, database });
    await client.connect();
    return await work((sql) => client.query(sql)).finally(() => client.end());
  }
  const fault = (role: string, sql: string): Promise<string> =>
    as(role, (exec) =>
      exec(sql).then(
        () => 'none',
        (error: { code?: string }) => String(error.code),
      ),
    );
  const setUp = (role: string, restrictFunctions = true): Promise<string[]> =>
    as(role, (exec) =>
      setUpRoles({ exec, passwords: { [CATALOG_OWNER]: newPassword(), [READER]: newPassword() }, developer: 'app', database, restrictFunctions }),
    );
  const roleOf = async (): Promise<Record<string, unknown>> => {
    const [row] = await as('postgres', async (exec) => {
      const { rows } = await exec(`SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS more, rolconnlimit AS connections,
        ARRAY(SELECT g.rolname::text FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid ORDER BY 1) AS groups,
        rolconfig AS settings FROM pg_roles r WHERE rolname = '${READER}'`);
      return rows as Record<string, unknown>[];
    });
    return row as Record<string, unknown>;
  };
  const SETTINGS = [
    'default_transaction_read_only=on',
    'statement_timeout=30000ms',
    'search_path=""',
    'TimeZone=UTC',
    'DateStyle=ISO, MDY',
    'jit=off',
    'lock_timeout=10s',
    'idle_in_transaction_session_timeout=2min',
  ];

  it('are set up by a superuser, repeatedly', async () => {
    for (let i = 0; i < 2; i++) {
      expect(await setUp('postgres')).toEqual([]);
      expect(await roleOf()).toEqual({ more: false, connections: 40, groups: [], settings: [...SETTINGS, 'temp_file_limit=1GB'] });
      expect(await as('postgres', (exec) => openFunctions(exec, READER))).toBe(0);
      expect(await fault(READER, 'SELECT pg_sleep(0)')).toBe('42501');
    }
    // the other roles of the server keep their rights; those without INHERIT by SET ROLE
    expect(await fault('app', "SELECT pg_sleep(0), set_config('a.b', '1', false)")).toBe('none');
    expect(await fault('bystander', 'SET ROLE kg_functions; SELECT pg_sleep(0)')).toBe('none');
  });

  it('lose excessive rights of an existing reader, and keep its own limits', async () => {
    await scratch.exec(`CREATE ROLE ${READER} LOGIN CREATEROLE CREATEDB REPLICATION BYPASSRLS CONNECTION LIMIT 7`);
    await scratch.exec(`ALTER ROLE ${READER} SET temp_file_limit = '5GB'`);
    await scratch.exec('CREATE ROLE staff; CREATE ROLE guests; GRANT pg_signal_backend TO staff');
    await scratch.exec(`GRANT pg_read_all_data, pg_monitor, app, staff, guests TO ${READER}`);
    await as('postgres', (exec) => exec(`GRANT EXECUTE ON FUNCTION pg_sleep(double precision) TO ${READER}`));
    expect(await setUp('postgres')).toEqual([]);
    // a membership in the operator's own group without excessive rights is kept, and the group is not added to kg_functions
    expect(await roleOf()).toMatchObject({ more: false, connections: 7, groups: ['guests'], settings: expect.arrayContaining(['temp_file_limit=5GB']) });
    expect(await as('postgres', (exec) => openFunctions(exec, READER))).toBe(0);
  });

  it('include functions of extensions that are created later', async () => {
    await as('postgres', (exec) =>
      exec('CREATE SCHEMA ext; CREATE EXTENSION dblink SCHEMA ext; CREATE EXTENSION tablefunc SCHEMA ext; GRANT USAGE ON SCHEMA ext TO PUBLIC'),
    );
    await setUp('postgres');
    for (const sql of [
      "SELECT ext.dblink_connect('dbname=x')",
      "SELECT * FROM ext.crosstab('SELECT 1') AS t (a int)",
      "SELECT * FROM ext.dblink('x', 'SELECT 1') AS t (a int)",
    ])
      expect(await fault(READER, sql), sql).toBe('42501');
    expect(await fault(READER, 'SELECT ext.normal_rand(1, 2, 3)'), 'a harmless one').toBe('none');
  });

  it('are set up by a role with CREATEROLE as far as the server allows', async () => {
    expect(await setUp('app')).toEqual([
      `not done, a superuser can: ALTER ROLE "${READER}" SET temp_file_limit = '1GB' (permission denied to set parameter "temp_file_limit")`,
    ]);
    expect(await roleOf()).toEqual({ more: false, connections: 40, groups: [], settings: SETTINGS });
    expect(await as('app', (exec) => openFunctions(exec, READER))).toBeGreaterThan(200);
    expect(await fault(READER, 'SELECT pg_sleep(0)'), 'the functions are not its own').toBe('none');

    await scratch.exec(`ALTER ROLE ${READER} BYPASSRLS CREATEDB`);
    await scratch.exec(`GRANT pg_read_all_data TO ${READER}`);
    await scratch.exec(`ALTER ROLE ${READER} SET temp_file_limit = '2GB'`);
    expect(await setUp('app')).toEqual([expect.stringMatching(/^not done, a superuser can: ALTER ROLE "kg_reader" NOBYPASSRLS \(must be superuser/)]);
    expect(await roleOf()).toMatchObject({ more: true, groups: [] });
  });

  it('do not change the functions of the database by default', async () => {
    expect(await setUp('postgres', false)).toEqual([]);
    expect(await fault(READER, 'SELECT pg_sleep(0)')).toBe('none');
    expect(await fault(READER, "SELECT pg_read_file('PG_VERSION')")).toBe('42501');
  });

  /** The statements of the sections of docs/deploy.md about roles, by their headings; the first one has no heading of its own. */
  const docs = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8').split(/^## /m)[1] as string;
  const statements = new Map(
    docs
      .split(/^### /m)
      .map((section) => [
        section.slice(0, section.indexOf('\n')),
        [...section.matchAll(/```sql\n(.*?)```/gs)].flatMap((block) => (block[1] as string).split(/;\n/)).filter((sql) => sql.trim() !== ''),
      ]),
  );
  const documented = (heading: RegExp): string[] => {
    const [found] = [...statements].filter(([name]) => heading.test(name));
    const list = (found?.[1] ?? []).map((sql) => sql.replaceAll('yourdb', database).replace("PASSWORD '...'", "PASSWORD 'x'"));
    expect(list.length, String(heading)).toBeGreaterThan(0);
    return list;
  };
  const runDocumented = (role: string, heading: RegExp): Promise<string[]> =>
    as(role, async (exec) => {
      const refused: string[] = [];
      for (const sql of documented(heading)) await exec(sql).catch((error: Error) => refused.push(`${sql}: ${error.message}`));
      return refused;
    });

  it.each(['postgres', 'app'])('are those of docs/deploy.md, run by %s', async (role) => {
    await as('app', (exec) => exec('CREATE SCHEMA sales; CREATE TABLE sales.bill AS SELECT 1 AS id'));
    expect(await runDocumented(role, /Databases and roles/)).toEqual([]);
    expect(await roleOf()).toMatchObject({ more: false, connections: 40, groups: [] });
    expect(await fault(READER, 'SELECT id FROM sales.bill')).toBe('none');
    for (const sql of [
      'CREATE TEMP TABLE t (a int)',
      'CREATE TABLE public.t (a int)',
      'SELECT * FROM kg_catalog.users',
      'BEGIN READ WRITE; DELETE FROM sales.bill',
    ])
      expect(await fault(READER, sql), sql).toMatch(/^(42501|25006)$/);
    expect(await fault(CATALOG_OWNER, 'CREATE TABLE kg_catalog.t (a int)')).toBe('none');

    const superusers = await runDocumented(role, /On a server of your own/);
    await as(role, (exec) => exec(restrictFunctionsScript()));
    expect(superusers).toEqual(role === 'postgres' ? [] : [expect.stringMatching(/permission denied to set parameter "temp_file_limit"/)]);
    expect(await fault(READER, 'SELECT pg_sleep(0)')).toBe(role === 'postgres' ? '42501' : 'none');
    expect(await fault('app', 'SELECT pg_sleep(0)')).toBe('none');

    const there = await runDocumented(role, /An existing role/);
    expect(there).toEqual(role === 'postgres' ? [] : [expect.stringMatching(/^ALTER ROLE kg_reader NOSUPERUSER .*must be superuser/)]);
  });
});
