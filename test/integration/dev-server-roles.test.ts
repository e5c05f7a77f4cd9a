/** The roles that `npm start` makes on the server of DATABASE_URL where another service has roles too, and how they are removed. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { restrictFunctionsScript } from '../../dev/restrict-functions.ts';
import { CATALOG_OWNER, grantExisting, newPassword, READER, setUpRoles } from '../../dev/roles.ts';
import { postgresPrograms, type ScratchPostgres, startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { claimRoles, removeRoles, serverRoles } from '../../dev/start/server-roles.ts';

const missing = postgresPrograms() === undefined;
if (missing) console.warn('dev-server-roles.test: no PostgreSQL on this machine; it is skipped');

describe.skipIf(missing)('the roles of npm start on a server', () => {
  let scratch: ScratchPostgres;
  let made = 0;
  let database = '';

  beforeAll(async () => {
    scratch = await startScratchPostgres();
    await scratch.exec('CREATE ROLE app LOGIN CREATEROLE');
    await scratch.exec('CREATE DATABASE production');
    // another service, set up as in docs/deploy.md
    const setup = {
      passwords: { [CATALOG_OWNER]: newPassword(), [READER]: newPassword() },
      developer: 'app',
      database: 'production',
      restrictFunctions: false,
    };
    await as('postgres', (exec) => setUpRoles({ ...setup, exec }), 'production');
    await as('postgres', (exec) => exec(restrictFunctionsScript()), 'production');
  });
  afterAll(() => scratch?.stop());
  beforeEach(async () => {
    database = `Shop's ${++made}`;
    await scratch.exec(`CREATE DATABASE "${database}" OWNER app`);
  });

  async function as<T>(user: string, work: (exec: (sql: string) => Promise<pg.QueryResult>) => Promise<T>, where = database): Promise<T> {
    const client = new pg.Client({ host: '127.0.0.1', port: scratch.port, user, database: where });
    await client.connect();
    return await work((sql) => client.query(sql)).finally(() => client.end());
  }
  const start = (role: string, restrictFunctions: boolean): Promise<string[]> =>
    as(role, async (exec) => {
      const lines = await claimRoles(exec, database, role, restrictFunctions);
      const names = serverRoles(database);
      const passwords = { [CATALOG_OWNER]: newPassword(), [READER]: newPassword() };
      await setUpRoles({ exec, names, passwords, developer: role, database, restrictFunctions });
      await grantExisting(exec, names.reader);
      return lines;
    });
  /** All roles of the server with their settings and memberships, and the rights of a database. */
  const snapshot = (where: string): Promise<unknown> =>
    as(
      'postgres',
      async (exec) => [
        (
          await exec(
            'SELECT a.*, ARRAY(SELECT g.roleid::regrole::text FROM pg_auth_members g WHERE g.member = a.oid ORDER BY 1) AS groups FROM pg_authid a ORDER BY a.oid',
          )
        ).rows,
        (await exec('SELECT setrole::regrole::text AS rolname, setdatabase, setconfig FROM pg_db_role_setting ORDER BY 1, 2')).rows,
        (await exec('SELECT nspname, nspowner, ARRAY(SELECT x::text FROM unnest(nspacl) x ORDER BY 1) AS acl FROM pg_namespace ORDER BY 1')).rows,
        (await exec('SELECT defaclrole, defaclacl FROM pg_default_acl ORDER BY 1')).rows,
        (await exec("SELECT oid::regprocedure::text AS f FROM pg_proc WHERE has_function_privilege('public', oid, 'EXECUTE') ORDER BY 1")).rows,
        (
          await exec(
            "SELECT relname, relowner::regrole::text FROM pg_class WHERE relnamespace NOT IN ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace) ORDER BY 1",
          )
        ).rows,
      ],
      where,
    );
  const mine = /^kg_start_/;
  const withoutOwn = (state: unknown): unknown =>
    (state as Record<string, unknown>[][]).map((rows) =>
      rows
        .filter((row) => !mine.test(String(row.rolname ?? '')))
        .map((row) => (Array.isArray(row.groups) ? { ...row, groups: row.groups.filter((g) => !mine.test(String(g))) } : row)),
    );

  it.each([
    ['postgres', false],
    ['postgres', true],
    ['app', false],
  ] as const)('are made by %s (functions restricted: %s), change no other role, and are removed without a trace', async (role, restrict) => {
    await as('postgres', (exec) => exec('CREATE TABLE kept (x int)'));
    const [before, production] = [await snapshot(database), await snapshot('production')];
    const names = serverRoles(database);

    const lines = await start(role, restrict);
    expect(lines.join('\n')).toMatch(new RegExp(`^made the role ${names.owner}: .*\nmade the role ${names.reader}: .*\n`));
    expect(lines.at(-1)).toMatch(/reset -- --database/);
    expect(await start(role, restrict), 'the second start makes nothing').toEqual([]);
    const [settings] = await as('postgres', async (exec) => (await exec(`SELECT rolconfig FROM pg_roles WHERE rolname = '${names.reader}'`)).rows);
    expect(settings.rolconfig).toContain('default_transaction_read_only=on');
    // the other service: its roles, and their rights to functions in its database
    expect(withoutOwn(await snapshot('production'))).toEqual(production);
    const [reader] = await as(
      'postgres',
      async (exec) => (await exec(`SELECT has_function_privilege('${READER}', 'pg_sleep(float8)', 'EXECUTE') AS may`)).rows,
      'production',
    );
    expect(reader).toEqual({ may: false });

    const removed = await as(role, (exec) => removeRoles(exec, database));
    expect(removed).toContain(`removed the role ${names.reader}`);
    expect(await snapshot('production')).toEqual(production);
    const after = (await snapshot(database)) as unknown[][];
    expect(after).toEqual(before);
    expect(await as(role, (exec) => removeRoles(exec, database)), 'nothing is left to remove').toEqual([]);
    expect(await start(role, restrict)).toEqual(lines);
    await as(role, (exec) => removeRoles(exec, database));
  });

  it('do not change a catalog and roles of another owner', async () => {
    const production = await snapshot('production');
    await expect(as('postgres', (exec) => claimRoles(exec, 'production', 'postgres', false), 'production')).rejects.toThrow(
      /database production has a catalog of the role kg_catalog_owner, which npm start did not make/,
    );
    await expect(as('postgres', (exec) => removeRoles(exec, 'production'), 'production')).rejects.toThrow(/did not make/);
    expect(await snapshot('production')).toEqual(production);

    await scratch.exec(`CREATE ROLE ${serverRoles(database).reader}`);
    const before = await snapshot(database);
    await expect(start('postgres', false)).rejects.toThrow(/did not make the role kg_start_reader_\w{8} of the server/);
    await expect(as('postgres', (exec) => removeRoles(exec, database))).rejects.toThrow(/did not make the role/);
    expect(await snapshot(database)).toEqual(before);
  });
});
