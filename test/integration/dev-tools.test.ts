/** The parts of dev/ that need no Worker: the env file, scripts of SQL, migrations, secrets, the data folder, the gateway. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { neon, neonConfig } from '@neondatabase/serverless';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { unstable_getVarsForDev } from 'wrangler';
import { openEmbedded } from '../../dev/embedded.ts';
import { GatewayBackend, readGatewaySettings } from '../../dev/gateway.ts';
import { MigrationError, migrate, runOverHttp, runOverTcp } from '../../dev/migrate.ts';
import { scramVerifier } from '../../dev/roles.ts';
import { startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { splitSql } from '../../dev/sql-script.ts';
import { startSqlServer } from '../../dev/sql-server.ts';
import { envFile } from '../../dev/start/env-file.ts';
import { lock, makeStateDir, readPlaces, writePrivate } from '../../dev/start/places.ts';
import { readSecrets, rolePassword } from '../../dev/start/secrets.ts';
import { type LocalPostgres, localPostgresAvailable, startLocalPostgres } from '../../dev/testing.ts';
import { isToken } from '../../src/auth/tokens.ts';
import { generated } from '../support/generated.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dev-tools-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('the env file', () => {
  /** What the real wrangler reads from a file. */
  const readBack = (settings: Record<string, string>): Record<string, string> => {
    const file = join(dir, 'worker.env');
    writePrivate(file, envFile(settings));
    const vars = unstable_getVarsForDev(undefined, [file], {}, undefined, true) as Record<string, { value: string }>;
    return Object.fromEntries(Object.entries(vars).map(([name, { value }]) => [name, value]));
  };

  it('preserves dollar signs, quotes, hashes, a PEM and JSON', () => {
    const settings = {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: what wrangler would expand
      DOLLARS: 'a$b ${HOME} $HOME \\$x $$ $',
      SINGLE: "it's",
      DOUBLE: 'say "hi"',
      BACK: 'a `b` c',
      TWO: `'"`,
      THREE: `a ' " \` b`,
      HASH: 'before # after #',
      PEM: '-----BEGIN PUBLIC KEY-----\nMIIB+/=$\n-----END PUBLIC KEY-----\n',
      PEM_ESCAPED: '-----BEGIN PUBLIC KEY-----\\nMIIB\\n-----END PUBLIC KEY-----',
      JSON_TEXT: JSON.stringify({ a: [1, "it's", 'x"y', '#'], url: 'postgres://u:p$w@127.0.0.1/db' }),
      SPACES: '  kept  ',
      EMPTY: '',
      BACKSLASH: 'a\\b\\',
      UNICODE: 'ünï 🌍',
      EQUALS: 'a=b=c',
      EXPORT: 'export X=1',
    };
    expect(readBack(settings)).toEqual(settings);
  });

  it('preserves any text, or reports that it cannot', () => {
    const signs = fc.string({ unit: fc.constantFrom('a', 'B', '$', '{', '}', "'", '"', '`', '#', '\\', '\n', ' ', '=', 'n', 'é'), maxLength: 12 });
    let refused = 0;
    fc.assert(
      fc.property(signs, signs, (a, b) => {
        let text: string;
        try {
          text = envFile({ A: a, B: b, LAST: 'untouched' });
        } catch (error) {
          refused++;
          expect((error as Error).message).toMatch(/^the value of [AB] cannot/);
          return;
        }
        expect(readBack({ A: a, B: b, LAST: 'untouched' }), text).toEqual({ A: a, B: b, LAST: 'untouched' });
      }),
      generated(500),
    );
    expect(refused).toBeLessThan(150);
  });
});

describe('scripts of SQL', () => {
  it('are split at the semicolons between statements', () => {
    const script = `-- a comment; with one
CREATE TABLE a (b text DEFAULT 'x;''y;'); /* nested /* ; */ ; */
CREATE FUNCTION f() RETURNS text AS $body$ BEGIN RETURN 'a;b'; END $body$ LANGUAGE plpgsql;
INSERT INTO "odd;name" VALUES (E'it\\';s', $$;$$, $1);; SELECT a$b$c;
DO $$ BEGIN NULL; END $$`;
    expect(splitSql(script).map((s) => s.replace(/^(--.*\n|\/\*.*\*\/\s*)/, ''))).toEqual([
      "CREATE TABLE a (b text DEFAULT 'x;''y;')",
      "CREATE FUNCTION f() RETURNS text AS $body$ BEGIN RETURN 'a;b'; END $body$ LANGUAGE plpgsql",
      `INSERT INTO "odd;name" VALUES (E'it\\';s', $$;$$, $1)`,
      'SELECT a$b$c',
      'DO $$ BEGIN NULL; END $$',
    ]);
    expect(splitSql(' -- nothing\n ; /* ; */ ')).toEqual([]);
  });
});

describe('with a database', () => {
  let db: LocalPostgres;
  beforeAll(async () => {
    db = await startLocalPostgres();
  });
  afterAll(() => db?.close());

  it('migrations are applied once each, in order, atomically', async () => {
    const run = runOverHttp(db.connectionString('kg_catalog_owner'), db.endpoint);
    const files = join(dir, 'migrations');
    mkdirSync(files);
    const file = (name: string, text: string) => writeFileSync(join(files, name), text);
    file('002_second.sql', "INSERT INTO kg_catalog.thing VALUES ('two; three'); ALTER TABLE kg_catalog.thing ADD n int;");
    file('001_first.sql', 'CREATE TABLE kg_catalog.thing (name text);');
    file('notes.txt', 'nothing');
    expect(await migrate(run, files)).toEqual(['001_first.sql', '002_second.sql']);
    expect(await migrate(run, files)).toEqual([]);
    file('003_third.sql', 'CREATE TABLE kg_catalog.other (a int); SELECT 1/0;');
    await expect(migrate(run, files)).rejects.toThrow(/003_third\.sql: division by zero/);
    expect(
      await db.exec("SELECT to_regclass('kg_catalog.other')::text AS t, (SELECT count(*)::int FROM kg_catalog.migrations) AS n", [], 'kg_catalog_owner'),
    ).toEqual([{ t: null, n: 2 }]);
    file('003_third.sql', 'CREATE TABLE kg_catalog.other (a int);');
    expect((await Promise.all([migrate(run, files), migrate(run, files)])).flat()).toEqual(['003_third.sql']);
    file('001_first.sql', 'CREATE TABLE kg_catalog.thing (name varchar);');
    await expect(migrate(run, files)).rejects.toThrow(MigrationError);
    rmSync(join(files, '001_first.sql'));
    await expect(migrate(run, files)).rejects.toThrow(/does not know/);
  });

  it("the project's own migrations create the catalog, which the reader cannot read", async () => {
    const fresh = await startLocalPostgres();
    try {
      const names = await migrate(runOverHttp(fresh.connectionString('kg_catalog_owner'), fresh.endpoint));
      expect(names[0]).toMatch(/^001_/);
      const [rights] = await fresh.exec(`SELECT has_schema_privilege('kg_reader', 'kg_catalog', 'USAGE') AS usage,
        (SELECT count(*)::int FROM pg_class WHERE relnamespace = 'kg_catalog'::regnamespace AND has_table_privilege('kg_reader', oid, 'SELECT') AND relkind = 'r') AS readable`);
      expect(rights).toEqual({ usage: false, readable: 0 });
    } finally {
      await fresh.close();
    }
  });
});

describe.skipIf(!localPostgresAvailable())('the first migration of two runners at once', () => {
  it.each([
    ['schema', '', 'CREATE SCHEMA kg_catalog'],
    [
      'table',
      'CREATE SCHEMA kg_catalog',
      'CREATE TABLE kg_catalog.migrations (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz DEFAULT now())',
    ],
  ])('continues if the other one creates the %s in the meantime', async (kind, before, created) => {
    const files = join(dir, `first-${kind}`);
    mkdirSync(files);
    writeFileSync(join(files, '001_first.sql'), 'CREATE TABLE kg_catalog.thing (name text);');
    const server = await startScratchPostgres();
    const [one, other] = [new pg.Client({ connectionString: server.url }), new pg.Client({ connectionString: server.url })];
    try {
      await Promise.all([one.connect(), other.connect()]);
      if (before !== '') await server.exec(before);
      await other.query('BEGIN');
      await other.query(created);
      const migrated = migrate(runOverTcp(one), files).catch((error: unknown) => String(error));
      const waits = async () => (await other.query("SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).rows[0].n;
      await expect.poll(waits).toBe(1);
      await other.query('COMMIT');
      expect(await migrated).toEqual(['001_first.sql']);
    } finally {
      await Promise.all([one.end(), other.end()]);
      await server.stop();
    }
  });
});

describe('secrets and places', () => {
  it('are created once for a data folder, readable only by its owner', () => {
    const stateDir = join(dir, 'pgdata.state');
    makeStateDir(stateDir);
    const secrets = readSecrets(stateDir);
    expect(isToken(secrets.adminToken)).toBe(true);
    expect(new Set(Object.values(secrets.passwords)).size).toBe(3);
    expect(readSecrets(stateDir)).toEqual(secrets);
    expect([statSync(stateDir).mode & 0o777, statSync(join(stateDir, 'secrets.json')).mode & 0o777]).toEqual([0o700, 0o600]);
    writeFileSync(join(stateDir, 'secrets.json'), '{"pass');
    expect(() => readSecrets(stateDir)).toThrow(/npm run reset/);
  });

  it('a private file is private even if it was not before', () => {
    const file = join(dir, 'session.json');
    writeFileSync(file, 'old');
    chmodSync(file, 0o644);
    writePrivate(file, 'new');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['new', 0o600]);
    expect(readdirSync(dir).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('derive a role of a server the same way every time, and differently by role and server password', () => {
    const url = 'postgres://me:secret@db/x';
    const passwords = [
      rolePassword(url, 'kg_reader', 'f'),
      rolePassword(url, 'kg_catalog_owner', 'f'),
      rolePassword('postgres://me:other@db/x', 'kg_reader', 'f'),
    ];
    expect(new Set(passwords).size).toBe(3);
    expect(rolePassword(url, 'kg_reader', 'g')).toBe(passwords[0]);
    expect(rolePassword('postgres://me@db/x', 'kg_reader', 'f')).toBe('f');
  });

  it('refuse an invalid port or URL', () => {
    for (const PORT of ['0', '65536', 'x', '-1', '80.5']) expect(() => readPlaces({ PORT }), PORT).toThrow(/PORT/);
    expect(() => readPlaces({ DATABASE_URL: 'mysql://x/y' })).toThrow(/DATABASE_URL/);
    expect(readPlaces({})).toMatchObject({ port: 8787, sample: true, databaseUrl: undefined });
    expect(readPlaces({ SAMPLE: 'none' }).sample).toBe(false);
    expect(() => readPlaces({ RESTRICT_FUNCTIONS: 'yes please' })).toThrow(/RESTRICT_FUNCTIONS must be true or false/);
    expect([readPlaces({}), readPlaces({ RESTRICT_FUNCTIONS: 'TRUE' })].map((p) => p.restrictFunctions)).toEqual([false, true]);
  });

  it('a lock of an ended process is ignored', () => {
    const stateDir = join(dir, 'locked.state');
    makeStateDir(stateDir);
    writeFileSync(join(stateDir, 'lock'), '999999999');
    lock(stateDir)();
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it('a password is stored like in PostgreSQL (the example of RFC 7677)', () => {
    const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
    expect(scramVerifier('pencil', salt)).toBe(
      'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
    );
  });
});

describe('a data folder', () => {
  it('that is incomplete or something else is refused with a clear line', async () => {
    const folder = (name: string, files: Record<string, string>) => {
      const path = join(dir, name);
      mkdirSync(join(path, 'global'), { recursive: true });
      for (const part of ['base', 'pg_wal', 'pg_xact']) mkdirSync(join(path, part));
      for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
      return path;
    };
    await expect(openEmbedded(folder('old', { PG_VERSION: '17\n' }))).rejects.toThrow(/data folder .*old is of PostgreSQL 17/);
    await expect(openEmbedded(folder('cut', { PG_VERSION: '18\n', 'postgresql.conf': '', 'global/pg_control': 'half' }))).rejects.toThrow(
      /cut is incomplete: global\/pg_control/,
    );
    await expect(openEmbedded(folder('other', { 'letter.txt': 'Dear' }))).rejects.toThrow(/is not a database folder/);
    await expect(openEmbedded(folder('zeros', { PG_VERSION: '18\n', 'postgresql.conf': '', 'global/pg_control': '\0'.repeat(8192) }))).rejects.toThrow(
      /data folder .*zeros cannot be opened/,
    );
  });
});

/** The status of a request whose body never comes. */
const statusWithoutBody = (endpoint: string, login: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = request(endpoint, { method: 'POST', headers: { 'neon-connection-string': login, 'content-length': '1000' } }, (response) => {
      resolve(response.statusCode);
      sent.destroy();
    });
    sent.on('error', reject);
    sent.flushHeaders();
  });

describe('the gateway', () => {
  it('requires its settings', () => {
    expect(() => readGatewaySettings({})).toThrow(/GATEWAY_DATABASE_URL/);
    const env = { GATEWAY_DATABASE_URL: 'postgresql://db:5432/app' };
    expect(() => readGatewaySettings(env)).toThrow(/GATEWAY_USERS/);
    expect(() => readGatewaySettings({ ...env, GATEWAY_USERS: 'a', GATEWAY_HOST: '0.0.0.0' })).toThrow(/without GATEWAY_TLS_CERT/);
    expect(() => readGatewaySettings({ ...env, GATEWAY_USERS: 'a', GATEWAY_TLS_CERT: 'x' })).toThrow(/must be set together/);
    expect(readGatewaySettings({ ...env, GATEWAY_USERS: ' a, b ,' })).toMatchObject({
      host: '127.0.0.1',
      port: 8789,
      users: new Set(['a', 'b']),
      tls: undefined,
    });
  });

  it.skipIf(!localPostgresAvailable())(
    'accepts the listed roles with the password that PostgreSQL accepts, and streams (skipped if PostgreSQL is not installed)',
    async () => {
      const scratch = await startScratchPostgres({ passwords: true });
      const address = `postgresql://127.0.0.1:${scratch.port}/postgres`;
      const settings = readGatewaySettings({ GATEWAY_DATABASE_URL: address, GATEWAY_USERS: 'app,later,postgres', GATEWAY_HOLD_BYTES: '1000' });
      const server = await startSqlServer({ backend: new GatewayBackend(settings), limits: { holdBytes: settings.holdBytes } });
      try {
        await scratch.exec(`CREATE ROLE app LOGIN PASSWORD '${scramVerifier('pa55')}'`);
        await scratch.exec(`CREATE ROLE other LOGIN PASSWORD '${scramVerifier('pa55')}'`);
        neonConfig.fetchEndpoint = server.endpoint;
        const as = (login: string, database = 'postgres') => neon(`postgresql://${login}@db.internal/${database}`)`SELECT current_user::text AS me`;
        expect(await as('app:pa55')).toEqual([{ me: 'app' }]);
        for (const login of ['app:wrong', 'app', 'other:pa55', `postgres:${scratch.password}`, 'nobody:x'])
          await expect(as(login), login).rejects.toThrow(/HTTP status 401/);
        await expect(as('app:pa55', 'template1')).rejects.toThrow(/HTTP status 401/);

        // the login is refused before the body, of which nothing is sent here
        expect(await statusWithoutBody(server.endpoint, 'postgresql://app:wrong@x/postgres')).toBe(401);
        // a password that was accepted before is checked again without waiting for the guesses of others
        const begun = Date.now();
        const guesses = Array.from({ length: 20 }, (_, i) => as(`app:guess${i}`).catch(() => 'refused'));
        const time = vi.spyOn(Date, 'now').mockReturnValue(begun + 61_000);
        const first = await Promise.race([as('app:pa55'), Promise.all(guesses)]).finally(() => time.mockRestore());
        expect(first).toEqual([{ me: 'app' }]);
        await Promise.all(guesses);
        // and a login that the gateway does not know yet waits for the checks that run, not for all the guesses before it
        await scratch.exec(`CREATE ROLE later LOGIN PASSWORD '${scramVerifier('pa55')}'`);
        let refused = 0;
        const earlier = Array.from({ length: 60 }, (_, i) => as(`later:guess${i}`).catch(() => refused++));
        await expect.poll(() => refused).toBeGreaterThan(0);
        expect(await as('later:pa55')).toEqual([{ me: 'later' }]);
        expect(refused).toBeLessThan(30);
        await Promise.all(earlier);

        const headers = { 'neon-connection-string': 'postgresql://app:pa55@x/postgres', 'neon-array-mode': 'true' };
        const ask = (query: string) => fetch(server.endpoint, { method: 'POST', headers, body: JSON.stringify({ query }) });
        const long = await ask('SELECT g FROM generate_series(1, 300000) g');
        expect([long.headers.get('content-length'), ((await long.json()) as { rows: unknown[] }).rows.length]).toEqual([null, 300_000]);
        const broken = await ask('SELECT 1 / (20000 - g) FROM generate_series(1, 30000) g');
        expect(broken.status).toBe(200);
        await expect(broken.text()).rejects.toThrow();
        expect((await ask('SELECT 1 / 0')).status).toBe(400);
      } finally {
        await server.close();
        await scratch.stop();
      }
    },
  );
});
