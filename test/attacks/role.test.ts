/** The role of a datasource without the planner: statements that it may not execute. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restrictFunctionsScript } from '../../dev/restrict-functions.ts';
import { READER } from '../../dev/roles.ts';
import { type LocalPostgres, localPostgresAvailable, startLocalPostgres } from '../../dev/testing.ts';
import { LISTED_FUNCTIONS } from '../../src/cli/reader-functions.ts';
import { ALLOWED_FUNCTIONS } from '../../src/planner/guard/functions.ts';

const TEXT = 'SELECT pg_catalog.array_to_tsvector(pg_catalog.array_agg(word)) FROM shop.secret';

/** Each is refused with 42501, on every server. */
const REFUSED = [
  `SELECT ts_stat('${TEXT}')`,
  `SELECT ts_stat('${TEXT}', 'a')`,
  `SELECT ('${TEXT}').ts_stat`,
  `SELECT (('${TEXT}').ts_stat).*`,
  `SELECT * FROM ts_stat('${TEXT}')`,
  `SELECT * FROM ROWS FROM (pg_catalog.ts_stat('${TEXT}')) x`,
  "SELECT ts_rewrite('a & b', 'SELECT ''a''::tsquery, ''b''::tsquery')",
  "SELECT query_to_xml('SELECT * FROM shop.secret', true, false, '')",
  "SELECT query_to_xml_and_xmlschema('SELECT * FROM shop.secret', true, false, '')",
  "SELECT query_to_xmlschema('SELECT 1', true, false, '')",
  "SELECT table_to_xml('shop.secret', true, false, '')",
  "SELECT cursor_to_xml('c', 1, true, false, '')",
  "SELECT schema_to_xml('shop', true, false, '')",
  "SELECT database_to_xml(true, false, '')",
  'SELECT pg_sleep(0.01)',
  'SELECT (0.01::float8).pg_sleep',
  "SELECT pg_sleep_for('1 ms')",
  'SELECT count(*) FROM generate_series(1, 2) g WHERE pg_sleep(0.01) IS NOT NULL',
  'SELECT pg_stat_get_activity(NULL)',
  'SELECT (NULL::int4).pg_stat_get_activity',
  'SELECT query FROM pg_stat_activity',
  'SELECT * FROM pg_locks',
  'SELECT * FROM pg_prepared_statements',
  'SELECT current_query()',
  "SELECT set_config('statement_timeout', '0', false)",
  "SELECT set_config('role', 'kg_catalog_owner', true)",
  "SELECT current_setting('search_path')",
  "SELECT ('search_path').current_setting",
  'SELECT * FROM pg_settings',
  'SELECT setseed(0.5)',
  'SELECT lo_creat(-1)',
  'SELECT (-1).lo_creat',
  'SELECT lo_create(0)',
  "SELECT lo_from_bytea(0, 'x')",
  'SELECT lo_get(1)',
  'SELECT lo_unlink(1)',
  "SELECT lo_import('PG_VERSION')",
  'SELECT pg_advisory_lock(42)',
  'SELECT (42::bigint).pg_advisory_lock',
  'SELECT pg_advisory_xact_lock_shared(1, 2)',
  'SELECT pg_try_advisory_lock(42)',
  'SELECT pg_advisory_unlock_all()',
  "SELECT pg_read_file('PG_VERSION')",
  "SELECT ('PG_VERSION').pg_read_file",
  "SELECT pg_read_binary_file('PG_VERSION')",
  "SELECT pg_ls_dir('.')",
  "SELECT pg_stat_file('PG_VERSION')",
  'SELECT * FROM pg_available_extensions',
  'SELECT pg_terminate_backend(2147483647)',
  'SELECT (2147483647).pg_terminate_backend',
  'SELECT pg_cancel_backend(2147483647)',
  'SELECT pg_reload_conf()',
  "SELECT pg_notify('news', 'x')",
  "SELECT pg_logical_emit_message(false, 'x', 'y')",
  'SELECT pg_export_snapshot()',
  'SELECT pg_current_xact_id()',
  'SELECT txid_current()',
  "SELECT nextval('shop.numbers')",
  "SELECT setval('shop.numbers', 1)",
  "SELECT currval('shop.numbers')",
  "SELECT pg_relation_size('shop.secret')",
  'SELECT pg_database_size(current_database())',
  "SELECT pg_import_system_collations('shop')",
  'SELECT pg_stat_reset()',
  "SELECT pg_replication_origin_create('x')",
  "SELECT pg_create_physical_replication_slot('x')",
];

/** The statement around the function: the right to execute must be what is missing, not something inside. */
const BY_FUNCTION = /permission denied for function/;

/** Volatile functions of pg_catalog that the role may execute. */
const HARMLESS = new Set(
  `amvalidate array_sample array_shuffle bernoulli brinhandler bthandler clock_timestamp currtid2 dsnowball_init dsnowball_lexize gen_random_uuid
  ginhandler gisthandler hashhandler heap_tableam_handler pg_collation_actual_version pg_database_collation_actual_version pg_get_wait_events
  pg_is_in_recovery pg_jit_available pg_partition_ancestors pg_partition_tree pg_xact_commit_timestamp pg_xact_commit_timestamp_origin pg_xact_status
  plpgsql_call_handler plpgsql_inline_handler plpgsql_validator random random_normal spghandler system timeofday txid_status uuidv4 uuidv7`.split(/\s+/),
);

for (const backend of ['pglite', 'pg'] as const) {
  const missing = backend === 'pg' && !localPostgresAvailable();
  if (missing) console.warn('role.test: no PostgreSQL on this machine; its half is skipped');

  describe.skipIf(missing)(`${READER} on ${backend}`, () => {
    let local: LocalPostgres;
    const fault = (sql: string): Promise<{ code?: string; message: string }> =>
      local.exec(sql, [], READER).then(
        (rows) => ({ code: 'none', message: JSON.stringify(rows) }),
        (error: { code?: string; message: string }) => error,
      );

    /** The SQLSTATE in a session with the current settings of the role: sessions of a pool keep their initial settings. */
    const inNewSession = async (sql: string): Promise<string | undefined> => {
      if (local.direct === undefined) return (await fault(sql)).code;
      const client = new pg.Client({ connectionString: local.direct(READER) });
      await client.connect();
      return await client
        .query(sql)
        .then(
          () => 'none',
          (error: { code?: string }) => error.code,
        )
        .finally(() => client.end());
    };

    beforeAll(async () => {
      local = await startLocalPostgres({ backend });
      await local.exec('CREATE SCHEMA shop');
      await local.exec("CREATE TABLE shop.secret AS SELECT 'hidden'::text AS word");
      await local.exec('CREATE SEQUENCE shop.numbers');
      await local.exec('GRANT ALL ON SEQUENCE shop.numbers TO kg_reader');
    });
    afterAll(() => local?.close());

    it.each(REFUSED)('is refused %s', async (sql) => {
      const { code, message } = await fault(sql);
      expect([code, message]).toEqual(['42501', expect.stringMatching(BY_FUNCTION)]);
    });

    it('may execute none of the listed functions', async () => {
      const listed = await local.exec(`SELECT count(*)::int AS n FROM (${LISTED_FUNCTIONS}) f`, [], READER);
      expect(listed[0]?.n).toBeGreaterThan(300);
      const open = `SELECT f.oid::regprocedure::text AS f FROM (${LISTED_FUNCTIONS}) f WHERE has_function_privilege(f.oid, 'EXECUTE')`;
      expect(await local.exec(open, [], READER)).toEqual([]);
      const twice = `SELECT f.oid::regprocedure::text AS f FROM (${LISTED_FUNCTIONS}) f GROUP BY 1 HAVING count(*) > 1`;
      expect(await local.exec(twice, [], READER), 'each is in one family').toEqual([]);
    });

    it('may execute only volatile functions that are known to be harmless', async () => {
      const rows = await local.exec(
        `SELECT DISTINCT proname::text AS f FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile = 'v'
           AND prorettype::regtype::text NOT IN ('trigger', 'event_trigger') AND has_function_privilege(oid, 'EXECUTE')`,
        [],
        READER,
      );
      expect(rows.map(({ f }) => String(f)).filter((f) => !HARMLESS.has(f))).toEqual([]);
    });

    it('may execute every function that a statement may call', async () => {
      const rows = await local.exec(
        `SELECT oid::regprocedure::text AS f FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY ($1)
           AND NOT has_function_privilege(oid, 'EXECUTE')`,
        [[...ALLOWED_FUNCTIONS]],
        READER,
      );
      expect(rows).toEqual([]);
    });

    it('reads the views of information_schema, which call functions too', async () => {
      const views = await local.exec("SELECT table_name::text AS v FROM information_schema.views WHERE table_schema = 'information_schema'", [], READER);
      expect(views.length).toBeGreaterThan(40);
      const faults = [];
      for (const { v } of views) faults.push([v, (await fault(`SELECT * FROM information_schema.${v} LIMIT 1`)).code]);
      expect(faults.filter(([, code]) => code !== 'none')).toEqual([]);
    });

    it('has no attribute, is in no role, and carries its limits', async () => {
      const [role] = await local.exec(
        `SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS more, rolconnlimit AS connections,
           (SELECT count(*)::int FROM pg_auth_members m WHERE m.member = r.oid) AS roles FROM pg_roles r WHERE rolname = current_user`,
        [],
        READER,
      );
      expect(role).toEqual({ more: false, connections: 40, roles: 0 });
      for (const [name, value] of [
        ['temp_file_limit', '1GB'],
        ['lock_timeout', '10s'],
        ['idle_in_transaction_session_timeout', '2min'],
        ['default_transaction_read_only', 'on'],
        ['jit', 'off'],
      ])
        expect(await local.exec(`SHOW ${name}`, [], READER)).toEqual([{ [name as string]: value }]);
      expect(await fault("SET temp_file_limit = '-1'")).toMatchObject({ code: '42501' });
    });

    it('cannot spill more than temp_file_limit', async () => {
      await local.superuser("ALTER ROLE kg_reader SET temp_file_limit = '1MB'");
      const spills = 'SELECT count(*) FROM (SELECT repeat(g::text, 20) AS t FROM generate_series(1, 300000) g ORDER BY 1 DESC OFFSET 1) x';
      try {
        expect(await inNewSession(spills)).toBe('53400');
      } finally {
        await local.superuser("ALTER ROLE kg_reader SET temp_file_limit = '1GB'");
      }
    });

    it('does not affect other roles', async () => {
      for (const role of ['kg_dev', 'kg_catalog_owner'] as const) {
        expect(await local.exec("SELECT current_setting('DateStyle') AS d, pg_advisory_xact_lock(1)::text AS l, pg_sleep(0)::text AS s", [], role)).toEqual([
          { d: 'ISO, MDY', l: '', s: '' },
        ]);
        expect(await local.exec('SELECT count(*)::int > 0 AS some FROM pg_stat_activity', [], role)).toEqual([{ some: true }]);
      }
      await expect(local.exec("SELECT pg_read_file('PG_VERSION')"), 'what PUBLIC did not have stays with superusers').rejects.toMatchObject({ code: '42501' });
    });
  });
}

it('docs/restrict-functions.sql has the list (node dev/restrict-functions.ts prints it)', () => {
  expect(readFileSync(new URL('../../docs/restrict-functions.sql', import.meta.url), 'utf8')).toBe(restrictFunctionsScript());
});
