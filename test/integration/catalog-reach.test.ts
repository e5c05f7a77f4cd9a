/**
 * No statement of a caller reaches kg_catalog: neither through the service, as the administrator, who has all rights, nor
 * with the role that runs queries.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate, runOverHttp } from '../../dev/migrate.ts';
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import { type LocalPostgres, localPostgresAvailable, startLocalPostgres } from '../../dev/testing.ts';
import { startService, type TestService } from '../support/service.ts';
import { MODEL, TABLES } from '../unit/planner/corpus/model.ts';

let service: TestService;
/** A value that only the catalog has. */
let secret: string;

beforeAll(async () => {
  service = await startService();
  for (const sql of TABLES) await service.database.exec(sql);
  await service.rows(`CREATE ONTOLOGY shop; ${MODEL}`);
  await service.rows("CREATE USER ann PASSWORD 'Correct-horse-9!'; CREATE TOKEN FOR ann");
  const [row] = await service.database.exec('SELECT hash FROM kg_catalog.tokens LIMIT 1', [], CATALOG_OWNER);
  secret = String(row?.hash);
  service.reached();
});
afterAll(() => service.close());

it('the catalog has a secret', () => expect(secret).toMatch(/^[0-9a-f]{64}$/));

/** Spellings of the name of a table of the catalog. */
const NAMES: readonly string[] = [
  'kg_catalog.tokens',
  '"kg_catalog"."tokens"',
  '`kg_catalog`.`tokens`',
  'KG_CATALOG.TOKENS',
  'Kg_Catalog.tokens',
  '"KG_CATALOG".tokens',
  'kg_catalog . tokens',
  'kg_catalog/* a comment */./**/tokens',
  'kg_catalog -- a comment\n.tokens',
  'U&"kg\\005Fcatalog".tokens',
  'u&"kg!005Fcatalog" UESCAPE \'!\'.tokens',
  'U&"\\+00006Bg_catalog".U&"toke\\006Es"',
  'postgres.kg_catalog.tokens',
  'ONLY kg_catalog.tokens',
  'kg_catalog.tokens *',
];

/** Places of a relation's name in a query. */
const RELATION_PLACES: Readonly<Record<string, (t: string) => string>> = {
  FROM: (t) => `SELECT * FROM ${t}`,
  'a join': (t) => `SELECT c.name FROM svc.city c JOIN ${t} AS x ON true`,
  LATERAL: (t) => `SELECT c.name FROM svc.city c, LATERAL (SELECT * FROM ${t}) x`,
  'a common table expression': (t) => `WITH x AS (SELECT * FROM ${t}) SELECT * FROM x`,
  'a common table expression named like the schema': (t) => `WITH kg_catalog AS (SELECT 1 AS a), tokens AS (SELECT 1 AS a) SELECT * FROM ${t}`,
  'a recursive common table expression': (t) => `WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 2 FROM ${t}) SELECT * FROM r`,
  'a sub-query of the select list': (t) => `SELECT (SELECT count(*) FROM ${t}) AS n`,
  EXISTS: (t) => `SELECT name FROM svc.city WHERE EXISTS (SELECT FROM ${t})`,
  'a UNION': (t) => `SELECT name FROM svc.city UNION ALL SELECT hash FROM ${t}`,
  'ORDER BY': (t) => `SELECT name FROM svc.city ORDER BY (SELECT count(*) FROM ${t})`,
  'an aggregate': (t) => `SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM ${t})) AS n FROM svc.city`,
  'a second statement': (t) => `SELECT 1 AS a; SELECT * FROM ${t}`,
};

/** Statements that name no table. */
const QUERIES: readonly string[] = [
  'TABLE kg_catalog.tokens',
  // types that are rows of the catalog's tables
  'SELECT NULL::kg_catalog.tokens AS a',
  'SELECT (NULL::kg_catalog.tokens).hash AS a',
  "SELECT '{}'::kg_catalog.tokens[] AS a",
  'SELECT CAST(ROW(1) AS "kg_catalog"."tokens") AS a',
  "SELECT * FROM json_populate_record(null::kg_catalog.users, '{}')",
  "SELECT jsonb_populate_recordset(NULL::kg_catalog.users, '[{}]') AS a",
  "SELECT * FROM json_to_record('{}') AS t(a kg_catalog.users)",
  "SELECT JSON_VALUE('[1]', '$[0]' RETURNING kg_catalog.users) AS a",
  // names that become tables
  "SELECT 'kg_catalog.tokens'::regclass AS a",
  "SELECT 'kg_catalog'::regnamespace AS a",
  "SELECT to_regclass('kg_catalog.tokens') AS a",
  "SELECT has_table_privilege('kg_catalog.tokens', 'select') AS a",
  "SELECT pg_total_relation_size('kg_catalog.tokens') AS a",
  "SELECT pg_get_viewdef('kg_catalog.tokens') AS a",
  // SQL in a text
  "SELECT query_to_xml('SELECT * FROM kg_catalog.tokens', true, false, '') AS a",
  "SELECT table_to_xml('kg_catalog.tokens', true, false, '') AS a",
  "SELECT schema_to_xml('kg_catalog', true, false, '') AS a",
  "SELECT database_to_xml(true, false, '') AS a",
  "SELECT xpath('//hash', query_to_xml('TABLE kg_catalog.tokens', true, false, '')) AS a",
  "SELECT * FROM XMLTABLE('/a' PASSING query_to_xml('TABLE kg_catalog.tokens', true, false, '') COLUMNS a text PATH '.')",
  "SELECT * FROM dblink('dbname=postgres', 'TABLE kg_catalog.tokens') AS t(a text)",
  "SELECT dblink_exec('dbname=postgres', 'TABLE kg_catalog.tokens') AS a",
  "SELECT * FROM ts_stat('SELECT hash::tsvector FROM kg_catalog.tokens')",
  "SELECT ts_rewrite('a'::tsquery, 'SELECT hash::tsquery, hash::tsquery FROM kg_catalog.tokens') AS a",
  "SELECT * FROM crosstab('TABLE kg_catalog.tokens') AS t(a text)",
  // another search_path, another role
  "SELECT set_config('search_path', 'kg_catalog', false) AS a",
  "SELECT set_config('role', 'kg_catalog_owner', true) AS a",
  'SET search_path = kg_catalog',
  'SET search_path = kg_catalog; SELECT * FROM tokens',
  'SET ROLE kg_catalog_owner',
  'SET LOCAL ROLE kg_catalog_owner; SELECT 1 AS a',
  'SET SESSION AUTHORIZATION kg_catalog_owner',
  'RESET ROLE',
  "DO $$ BEGIN EXECUTE 'TABLE kg_catalog.tokens'; END $$",
  'SELECT * FROM tokens',
  'SELECT * FROM "tokens"',
  'SELECT * FROM public.tokens',
  'SELECT * FROM svc.tokens',
  'SELECT * FROM dsvc."kg_catalog.tokens"',
  'SELECT * FROM "kg_catalog.tokens"',
  'SELECT * FROM `svc"."x" JOIN kg_catalog.tokens ON true --`',
  'SELECT * FROM svc.kg_catalog.tokens',
  // the schema in another place than a relation
  'SELECT kg_catalog.hash() AS a',
  'SELECT * FROM kg_catalog.tokens()',
  'SELECT 1 OPERATOR(kg_catalog.=) 1 AS a',
  'SELECT \'a\' COLLATE kg_catalog."C" AS a',
  'SELECT kg_catalog.tokens.hash FROM svc.city',
  'SELECT kg_catalog.tokens.* FROM svc.city',
  'SELECT tokens FROM svc.city',
  'SELECT "lives_in[city].kg_catalog.tokens" FROM dsvc.customer',
  // statements that write or copy
  'COPY kg_catalog.tokens TO STDOUT',
  'INSERT INTO kg_catalog.grants DEFAULT VALUES',
  'WITH x AS (DELETE FROM kg_catalog.tokens RETURNING hash) SELECT hash FROM x',
  'UPDATE kg_catalog.users SET active = true',
  'DROP SCHEMA kg_catalog CASCADE',
  'CREATE TABLE t AS TABLE kg_catalog.tokens',
  'SELECT * INTO t FROM kg_catalog.tokens',
  'GRANT SELECT ON kg_catalog.tokens TO kg_reader',
  'GRANT USAGE ON SCHEMA kg_catalog TO kg_reader',
  'EXPLAIN SELECT * FROM kg_catalog.tokens',
  'LOCK TABLE kg_catalog.tokens',
  'SELECT name FROM svc.city FOR UPDATE OF tokens',
];

/** Modelling statements that would add the catalog to an ontology. `$` is the table's name. */
const MODELLING: readonly string[] = [
  'CREATE MAPPING m INTO city AS SELECT 1 AS city_id, hash AS name FROM $',
  'CREATE MAPPING m INTO city WITHOUT PARSING AS SELECT 1 AS city_id, hash AS name FROM $',
  'CREATE MAPPING m INTO city USING main AS SELECT 1 AS city_id, hash AS name FROM $',
  'CREATE OR REPLACE MAPPING map_city INTO (city) AS SELECT 1 AS city_id, hash AS name FROM $ AS x',
  'CREATE MAPPING m INTO city AS SELECT town_no AS city_id, (SELECT max(hash) FROM $) AS name FROM shop.t_town',
  'CREATE MAPPING m INTO city AS WITH tokens AS (SELECT hash FROM $) SELECT 1 AS city_id, hash AS name FROM tokens',
  'CREATE MAPPING m INTO city AS SELECT town_no AS city_id, town AS name FROM shop.t_town WHERE EXISTS (SELECT FROM $)',
  'CREATE MAPPING m INTO city AS SELECT town_no AS city_id, town AS name FROM shop.t_town UNION ALL SELECT 1, hash FROM $',
  'CREATE MAPPING m INTO city AS SELECT t.town_no AS city_id, x.hash AS name FROM shop.t_town t, LATERAL (SELECT * FROM $) x',
  'CREATE VIEW v USING main AS SELECT * FROM $',
  'CREATE VIEW v USING main AS SELECT hash FROM (SELECT * FROM $) x',
  'CREATE VIEW v USING main AS SELECT town, (SELECT max(hash) FROM $) AS h FROM shop.t_town',
  'CREATE VIEW v AS SELECT * FROM $',
  'CREATE VIEW v AS SELECT name FROM svc.city WHERE EXISTS (SELECT FROM $)',
  'CREATE ONTOLOGY CUBE v AS SELECT count(*) AS n FROM $',
  'CREATE CONCEPT c INHERITS (city) FROM $ WHERE 1 = 1',
  'CREATE CONCEPT c INHERITS (city) FROM svc.city WHERE EXISTS (SELECT 1 FROM $)',
  'CREATE CONCEPT c INHERITS (city) FROM svc.city WHERE name IN (SELECT hash FROM $)',
  'CREATE PROPERTY p string AS SELECT (SELECT max(hash) FROM $)',
  'CREATE MEASURE n bigint AS SELECT COUNT((SELECT max(hash) FROM $)); CREATE CONCEPT c (a bigint, n MEASURE bigint, PRIMARY KEY (a))',
];
const MODELLING_WITHOUT_TABLE: readonly string[] = [
  "CREATE MAPPING m INTO city AS SELECT town_no AS city_id, query_to_xml('TABLE kg_catalog.tokens', true, false, '')::text AS name FROM shop.t_town",
  "CREATE MAPPING m INTO city AS SELECT 1 AS city_id, a AS name FROM dblink('', 'TABLE kg_catalog.tokens') AS t(a text)",
  'CREATE MAPPING m INTO city AS SELECT 1 AS city_id, (NULL::kg_catalog.tokens).hash AS name FROM shop.t_town',
  "CREATE MAPPING m INTO city AS SELECT 1 AS city_id, 'kg_catalog.tokens'::regclass::text AS name FROM shop.t_town",
  'CREATE MAPPING m INTO city AS WITH x AS (DELETE FROM kg_catalog.tokens RETURNING hash) SELECT 1 AS city_id, hash AS name FROM x',
  'CREATE MAPPING m INTO city AS TABLE kg_catalog.tokens',
  "CREATE MAPPING m INTO city AS SELECT 1 AS city_id, set_config('search_path', 'kg_catalog', false) AS name",
  'CREATE MAPPING m INTO city AS SELECT 1 AS city_id, relname AS name FROM pg_class',
  'CREATE MAPPING m INTO city AS SELECT 1 AS city_id, table_name AS name FROM information_schema.tables',
  "CREATE PROPERTY p string AS SELECT query_to_xml('TABLE kg_catalog.tokens', true, false, '')",
  "CREATE MEASURE n bigint AS SELECT COUNT(query_to_xml('TABLE kg_catalog.tokens', true, false, ''))",
  "CREATE CONCEPT c INHERITS (city) FROM svc.city WHERE query_to_xml('TABLE kg_catalog.tokens', true, false, '') IS NULL",
  'CREATE VIEW v USING main AS TABLE kg_catalog.tokens',
  "CREATE DATASOURCE d TYPE postgres SECRET 'CATALOG_URL'",
  "CREATE DATASOURCE d TYPE postgres SECRET 'datasource_../CATALOG_URL'",
  "ALTER ONTOLOGY shop SET allowed_functions = 'query_to_xml'",
  "ALTER ONTOLOGY shop SET allowed_functions = 'pg_catalog.query_to_xml'",
  "ALTER ONTOLOGY shop SET allowed_functions = 'kg_catalog.f'",
];

async function refused(sql: string): Promise<void> {
  const { status, text, json } = await service.query(sql, 'shop');
  expect([status, json.status], `${sql}\n${text}`).toEqual([400, 'error']);
  expect(text).not.toContain(secret);
  expect(service.reached()).toEqual([]);
}

describe('a query', () => {
  it.each(NAMES)('does not read %j', async (name) => {
    for (const place of Object.values(RELATION_PLACES)) await refused(place(name));
  });
  it.each(QUERIES)('%s', refused);

  it('without an ontology does not either', async () => {
    for (const sql of [...NAMES.map((n) => `SELECT * FROM ${n}`), ...QUERIES]) {
      const { status, text } = await service.query(sql, '');
      expect([400, 404], `${sql}\n${text}`).toContain(status);
      expect(service.reached()).toEqual([]);
    }
  });

  it('may contain the word', async () => {
    expect(await service.rows("SELECT 'kg_catalog.tokens' AS a, name AS kg_catalog FROM svc.city LIMIT 1", 'shop')).toEqual([
      { a: 'kg_catalog.tokens', kg_catalog: 'Berlin' },
    ]);
    service.reached();
  });
});

describe('a model', () => {
  it.each(MODELLING)('%s', async (sql) => {
    for (const name of NAMES) await refused(sql.replace('$', () => name));
  });
  it.each(MODELLING_WITHOUT_TABLE)('%s', refused);

  it('is unchanged', async () => {
    const rows = await service.database.exec('SELECT content::text AS content FROM kg_catalog.ontology_versions ORDER BY seq', [], CATALOG_OWNER);
    // the one that was created at first
    expect(rows).toHaveLength(1);
    expect(rows[0]?.content).toContain('map_city');
    expect(rows[0]?.content).not.toMatch(/kg_catalog|token/);
  });

  it('has names that are not SQL', async () => {
    const inject = 'x" FROM kg_catalog.tokens AS "x';
    const script = `CREATE ONTOLOGY names; CREATE CONCEPT \`${inject}\` (k bigint, \`${inject}\` string, PRIMARY KEY (k), LABEL (\`${inject}\`));
      CREATE MAPPING \`${inject}\` INTO \`${inject}\` AS SELECT town_no AS k, town AS \`${inject}\` FROM shop.t_town;
      CREATE VIEW \`v" FROM kg_catalog.tokens --\` AS SELECT * FROM svc.\`${inject}\``;
    await service.rows(script);
    const expected = ['Berlin', 'Gent', 'Nowhere'];
    expect((await service.rows(`SELECT * FROM dsvc.\`${inject}\` ORDER BY k`, 'names')).map((r) => r[inject])).toEqual(expected);
    expect((await service.rows('SELECT * FROM vsvc.`v" FROM kg_catalog.tokens --` ORDER BY k', 'names')).map((r) => r[inject])).toEqual(expected);
    service.reached();
  });

  it('may name a table with a similar name, which does not exist', async () => {
    // one name that contains a dot, a schema whose first letter is the sign of the unit kelvin, a name without a schema
    for (const table of ['"kg_catalog.tokens"', '"\u212Ag_catalog".tokens', 'tokens', 'public.tokens']) {
      const { status, text, json } = await service.query(`CREATE MAPPING m INTO city AS SELECT 1 AS city_id, hash AS name FROM ${table}`, 'shop');
      expect([table, status, json.code]).toEqual([table, 400, 'mapping_failed']);
      expect(text).not.toContain(secret);
    }
    service.reached();
  });
});

describe.each(['pglite', 'pg'] as const)('the role that runs queries, on %s', (backend) => {
  const missing = backend === 'pg' && !localPostgresAvailable();
  let database: LocalPostgres;
  beforeAll(async () => {
    if (missing) return;
    database = await startLocalPostgres({ backend });
    await migrate(runOverHttp(database.connectionString(CATALOG_OWNER), database.endpoint));
  });
  afterAll(() => database?.close());

  /** The SQLSTATE of a statement of kg_reader, or its rows. */
  const outcome = (sql: string): Promise<unknown> =>
    database.exec(sql, [], READER).then(
      (rows) => rows,
      (error: { readonly code?: string }) => error.code,
    );
  const DENIED = '42501';

  it.skipIf(missing)('reads no table of the catalog', async () => {
    const tables = await database.exec("SELECT tablename FROM pg_tables WHERE schemaname = 'kg_catalog'", [], CATALOG_OWNER);
    expect(tables.length).toBeGreaterThan(10);
    for (const { tablename } of tables) expect([tablename, await outcome(`SELECT * FROM kg_catalog."${tablename}"`)]).toEqual([tablename, DENIED]);
  });

  it
    .skipIf(missing)
    .each([
      'TABLE kg_catalog.tokens',
      'WITH x AS (SELECT * FROM kg_catalog.tokens) SELECT * FROM x',
      "SELECT query_to_xml('SELECT * FROM kg_catalog.tokens', true, false, '')",
      "SELECT schema_to_xml('kg_catalog', true, false, '')",
      'SELECT NULL::kg_catalog.tokens',
      "SELECT json_populate_record(NULL::kg_catalog.tokens, '{}')",
      'SET ROLE kg_catalog_owner',
      'SET LOCAL ROLE postgres',
      'SET SESSION AUTHORIZATION kg_catalog_owner',
      "SELECT set_config('role', 'kg_catalog_owner', false)",
      "DO $$ BEGIN EXECUTE 'SET ROLE kg_catalog_owner'; EXECUTE 'TABLE kg_catalog.tokens'; END $$",
      "SELECT set_config('search_path', 'kg_catalog', true), query_to_xml('TABLE kg_catalog.tokens', true, false, '')",
      "SELECT set_config('role', 'none', true), query_to_xml('TABLE kg_catalog.tokens', true, false, '')",
      "SELECT set_config('session_authorization', 'kg_catalog_owner', true), query_to_xml('TABLE kg_catalog.tokens', true, false, '')",
      "DO $$ BEGIN EXECUTE 'RESET ROLE'; PERFORM * FROM kg_catalog.tokens; END $$",
    ])('is denied %s', async (sql) => expect(await outcome(sql)).toBe(DENIED));

  it
    .skipIf(missing)
    .each([
      'DELETE FROM kg_catalog.tokens',
      'GRANT USAGE ON SCHEMA kg_catalog TO kg_reader',
      'CREATE TABLE public.mine (a int)',
      'CREATE VIEW public.mine AS SELECT 1 AS a',
      'CREATE TEMP TABLE mine (a int)',
      "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
      'CREATE SCHEMA mine',
      'ALTER ROLE kg_reader SET search_path = kg_catalog',
      'ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO kg_reader',
    ])('cannot prepare it by %s', async (sql) => expect([DENIED, '25006']).toContain(await outcome(sql)));

  it.skipIf(missing)('leaves no state for the next statement', async () => {
    for (const sql of ["SELECT set_config('search_path', 'kg_catalog', false)", "SELECT set_config('role', 'none', false)", 'RESET ROLE']) {
      await outcome(sql);
      expect(await outcome('SELECT * FROM tokens')).toBe('42P01');
      expect(await outcome('SELECT * FROM kg_catalog.tokens')).toBe(DENIED);
    }
  });
});
