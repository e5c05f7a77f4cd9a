/** SHOW, DESC, EXPLAIN, SHOW CREATE, system tables and versions (docs/design/statements-and-versions.md#system-tables), under another product's name. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let s: TestService;
let reader: string;

const SCRIPT = `CREATE ONTOLOGY zoo DESCRIPTION 'all; animals';
  CREATE PROPERTY shout string AS SELECT upper(called);
  CREATE MEASURE mass decimal AS SELECT SUM(weight);
  CREATE CONCEPT animal (no bigint, called string, weight decimal, keeper_no bigint, shout string, mass MEASURE decimal, PRIMARY KEY (no), LABEL (called),
    CONSTRAINT kept_by FOREIGN KEY (keeper_no) REFERENCES keeper (keeper_no) INVERSEOF keeps) WITH TAGS (kind = 'living');
  CREATE CONCEPT keeper (keeper_no bigint, title string, PRIMARY KEY (keeper_no));
  CREATE CONCEPT heavy INHERITS (animal) FROM dacme.animal WHERE weight > 100;
  CREATE MAPPING ma INTO animal AS SELECT no, called, weight, k AS keeper_no FROM acme.t_animal;
  CREATE MAPPING mk INTO keeper AS SELECT id AS keeper_no, name AS title FROM acme.t_keeper;
  CREATE VIEW named AS SELECT no, called FROM acme.animal WHERE called IS NOT NULL;
  CREATE ONTOLOGY CUBE weights USING main AS SELECT \`kept_by[keeper].title\` AS keeper, \`measure.mass\` AS mass FROM dacme.animal;
  CREATE VIEW raw USING main AS SELECT id FROM acme.t_keeper`;

beforeAll(async () => {
  // the tables' schema has the product's name: names in mappings are never virtual schemas
  s = await startService({
    tables: [
      'CREATE SCHEMA acme',
      'CREATE TABLE acme.t_keeper (id bigint PRIMARY KEY, name text)',
      'CREATE TABLE acme.t_animal (no bigint PRIMARY KEY, called text, weight numeric, k bigint)',
      "INSERT INTO acme.t_keeper VALUES (1, 'Kim')",
      "INSERT INTO acme.t_animal VALUES (1, 'Ada', 12.5, 1), (2, 'Bob', 400, NULL)",
      'CREATE FUNCTION acme.twice(n numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT n * 2 $$',
      'CREATE FUNCTION acme.dice() RETURNS integer LANGUAGE sql VOLATILE AS $$ SELECT 4 $$',
    ],
    settings: { PRODUCT_NAME: 'acme', DATASOURCE_OTHER: '{"url":"postgres://u:p@127.0.0.1/x","endpoint":"http://127.0.0.1:9/sql"}' },
  });
  await s.rows(SCRIPT);
  await s.rows('CREATE USER reader; GRANT QUERY ON ALL ontology.zoo TO USER reader');
  reader = (await s.rows('CREATE TOKEN FOR reader'))[0].token;
});
afterAll(() => s.close());

describe('SHOW', () => {
  it('of a list returns the rows of its system table', async () => {
    for (const list of ['ONTOLOGIES', 'ONTOLOGY', 'CONCEPTS', 'PROPERTIES', 'VIEWS', 'AGENTS', 'POLICIES', 'GRANTS', 'EXAMPLES', 'DATASOURCES', 'TAGS']) {
      expect(await s.rows(`SHOW ${list}`, 'zoo'), list).toEqual(await s.rows(`SELECT * FROM svc.SYS_${list}`, 'zoo'));
    }
    expect(await s.rows('show tags', 'zoo')).toEqual([{ target_type: 'concept', target_name: 'animal', tag_name: 'kind', tag_value: 'living' }]);
  });

  it('lists schemas and tables with the product\u2019s names, for either name in the request', async () => {
    expect((await s.rows('SHOW SCHEMAS')).map((r) => r.schema)).toEqual(['acme', 'eacme', 'dacme', 'vacme']);
    expect(await s.rows('SHOW TABLES IN vsvc', 'zoo')).toEqual(['named', 'weights', 'raw'].map((table) => ({ schema: 'vacme', table })));
    expect(await s.rows('SHOW TABLES IN dacme', 'zoo')).toEqual(['animal', 'keeper', 'heavy'].map((table) => ({ schema: 'dacme', table })));
    expect(await s.fault('SHOW TABLES IN public', 'zoo')).toBe('400 unknown_schema');
    expect(await s.fault('SHOW TABLES OF dacme', 'zoo')).toBe('400 syntax_error');
  });

  it('needs an ontology if it is about one, and suggests its words', async () => {
    for (const sql of ['SHOW CONCEPTS', 'SHOW VERSION', 'SHOW CONFIG', 'SHOW CREATE CONCEPT animal', 'DESC svc.animal'])
      expect(await s.fault(sql), sql).toBe('400 no_ontology');
    expect(await s.fault('SHOW CONCPTS', 'zoo')).toBe('400 unknown_statement');
    expect(await s.fault('SHOW CONCEPTS please', 'zoo')).toBe('400 syntax_error');
    expect(await s.fault('SHOW CREATE', 'zoo')).toBe('400 syntax_error');
  });

  it('sees what its script created, also users', async () => {
    expect((await s.rows('CREATE PROPERTY late string; SHOW PROPERTIES', 'zoo')).map((r) => r.property_name)).toContain('late');
    expect((await s.rows("CREATE USER fresh; SELECT user_name FROM acme.SYS_USERS WHERE user_name = 'fresh'")).length).toBe(1);
    expect(await s.rows('CREATE PROPERTY later string; SHOW VERSION', 'zoo')).toEqual([
      { id: (await s.get('get_ontology/zoo')).json.data.version, created: expect.stringMatching(/^\d{4}-.*\+00:00$/), created_by: 'admin' },
    ]);
  });

  it('of a datasource lists its tables with their keys, with QUERY on it', async () => {
    const tables = (await s.rows('SHOW DATASOURCE `MAIN`')).filter((t) => t.schema === 'acme');
    expect(tables.map(({ definition, ...rest }) => ({ ...rest, key: JSON.parse(definition).primaryKey }))).toEqual([
      { schema: 'acme', table: 't_animal', is_view: false, comment: null, key: ['no'] },
      { schema: 'acme', table: 't_keeper', is_view: false, comment: null, key: ['id'] },
    ]);
    expect(await s.fault('SHOW DATASOURCE main', '', reader)).toBe('400 unknown_datasource');
    await s.rows('GRANT ACCESS ON datasource.main TO USER reader');
    expect(await s.fault('SHOW DATASOURCE main', '', reader)).toBe('403 forbidden');
    await s.rows('REVOKE ACCESS ON datasource.main FROM USER reader; GRANT QUERY ON datasource.main TO USER reader');
    expect((await s.rows('SHOW DATASOURCE main', '', reader)).length).toBeGreaterThan(1);
    await s.rows('REVOKE QUERY ON datasource.main FROM USER reader');
    // an isolate would have several copies of very large definitions
    const long = (n: number) => `DO $$ BEGIN EXECUTE format('COMMENT ON TABLE acme.long_comment_%s IS %L', ${n}, repeat('x', 1000000)); END $$`;
    for (let n = 0; n < 9; n++) {
      await s.database.exec(`CREATE TABLE acme.long_comment_${n} (id bigint)`);
      await s.database.exec(`GRANT SELECT ON acme.long_comment_${n} TO kg_reader`);
      await s.database.exec(long(n));
    }
    expect(await s.fault('SHOW DATASOURCE main')).toBe('400 too_large');
    for (let n = 0; n < 9; n++) await s.database.exec(`DROP TABLE acme.long_comment_${n}`);
    expect(await s.fault('SHOW DATASOURCE')).toBe('400 syntax_error');
    expect(await s.fault('SHOW DATASOURCE main main')).toBe('400 syntax_error');
    expect(await s.fault('SHOW DATASOURCE nowhere')).toBe('400 unknown_datasource');
  });

  it('of tokens shows the label that a token was given', async () => {
    const [made] = await s.rows("CREATE TOKEN FOR reader LABEL 'a script' EXPIRES '2900-01-01'");
    expect((await s.rows('SHOW TOKEN FOR reader')).filter((t) => t.label !== null)).toEqual([
      { token_id: made.token_id, label: 'a script', created: expect.any(String), expires: '2900-01-01T00:00:00+00:00', last_used: null },
    ]);
    await s.rows(`REVOKE TOKEN '${made.token_id}'`);
    // these would be revoked with the user's logins
    // nor may a label look like one of these
    const similar = [' console', 'console\u00a0', 'Console', '\uff43onsole', 'con\u200bsole', '\u202econsole', 'console\u2028', '\u3164', '\u2800console'];
    for (const label of ['console', 'get_token', '', ' ', 'a\tb', 'x'.repeat(101), ...similar])
      expect(await s.fault(`CREATE TOKEN FOR reader LABEL '${label}'`)).toBe('400 bad_label');
  });

  it('of tokens shows a caller its own, and never the token', async () => {
    const rows = await s.rows('SHOW TOKEN FOR reader', '', reader);
    expect(rows.map((r) => Object.keys(r))).toEqual([['token_id', 'label', 'created', 'expires', 'last_used']]);
    expect(JSON.stringify(rows)).not.toContain(reader);
    expect(await s.fault('SHOW TOKEN FOR admin', '', reader)).toBe('400 unknown_user');
    expect(await s.fault('SHOW TOKEN FOR nobody')).toBe('400 unknown_user');
  });

  it('of versions shows statements to users who may change the ontology', async () => {
    const all = await s.rows('SHOW VERSIONS', 'zoo');
    expect(all.at(-1)).toMatchObject({ created_by: 'admin', statement: expect.stringContaining('CREATE ONTOLOGY zoo') });
    expect(await s.rows('SHOW VERSIONS', 'zoo', reader)).toEqual(all.map((v) => ({ ...v, statement: null })));
  });
});

describe('system tables', () => {
  it('can be joined, and show physical terms to callers with the right', async () => {
    const sql = "SELECT m.mapping_name, m.query, c.tables FROM SYS_MAPPINGS m JOIN svc.SYS_CONCEPT_MAPPINGS c USING (mapping_name) WHERE c.concept = 'keeper'";
    expect(await s.rows(sql, 'zoo')).toEqual([
      { mapping_name: 'mk', query: 'SELECT id AS keeper_no, name AS title FROM acme.t_keeper', tables: 'acme.t_keeper' },
    ]);
    expect(await s.rows(sql, 'zoo', reader)).toEqual([{ mapping_name: 'mk', query: null, tables: null }]);
  });

  it('keep the order of their columns: new ones are at the end', async () => {
    const columns = async (table: string): Promise<string> => Object.keys((await s.rows(`SELECT * FROM acme.${table} LIMIT 1`, 'zoo'))[0]).join(', ');
    const relationship = 'relationship_name, target_concept, inverse_name, is_inverse, is_mtm, transitivity, source_properties, target_properties, description';
    expect(await columns('SYS_RELATIONSHIPS')).toBe(`${relationship}, is_symmetric, includes`);
    expect(await columns('SYS_CONCEPT_RELATIONSHIPS')).toBe(`concept, ${relationship}, tables, datasource_id, is_symmetric, includes`);
  });

  it('have types, and views print the product\u2019s names', async () => {
    expect(await s.rows("SELECT property_name, property_type FROM SYS_VIEW_PROPERTIES WHERE view_name IN ('named', 'weights') ORDER BY 1", 'zoo')).toEqual([
      { property_name: 'called', property_type: 'string' },
      { property_name: 'keeper', property_type: 'string' },
      { property_name: 'mass', property_type: 'decimal' },
      { property_name: 'no', property_type: 'bigint' },
    ]);
    expect(await s.rows("SELECT query FROM SYS_VIEWS WHERE view_name = 'named'", 'zoo')).toEqual([
      { query: 'SELECT no, called FROM acme.animal WHERE called IS NOT NULL' },
    ]);
    expect(await s.rows('SELECT count(*) AS n FROM SYS_EXAMPLES e, SYS_AGENTS_HISTORY h, SYS_JOBS j, SYS_POLICIES p WHERE e.valid AND h.tries > 1')).toEqual([
      { n: 0 },
    ]);
    expect(
      await s.rows(
        "SELECT is_all, extract(year FROM created) > 2000 AS y FROM SYS_GRANTS g JOIN SYS_USERS u ON u.user_name = g.grantee WHERE grantee = 'reader'",
      ),
    ).toEqual([{ is_all: true, y: true }]);
  });

  it.each([
    ['SELECT DISTINCT relationship_name FROM acme.SYS_CONCEPT_RELATIONSHIPS WHERE is_inverse = 0', [{ relationship_name: 'kept_by' }]],
    ['SELECT DISTINCT relationship_name FROM acme.SYS_CONCEPT_RELATIONSHIPS r WHERE 1 = r.is_inverse', [{ relationship_name: 'keeps' }]],
    ['SELECT view_name, is_cube FROM SYS_VIEWS WHERE is_cube IN (1) OR is_cube <> 0', [{ view_name: 'weights', is_cube: true }]],
    ['SELECT view_name FROM SYS_VIEWS WHERE is_cube != 1 AND is_cube NOT IN (1, NULL) ORDER BY 1', []],
    ['WITH v AS (SELECT view_name, is_cube AS c FROM SYS_VIEWS) SELECT view_name FROM v JOIN (SELECT 1 AS one) o ON v.c = 1', [{ view_name: 'weights' }]],
    [
      'SELECT x.c, count(*) AS n FROM (SELECT * FROM SYS_VIEWS) AS x(v, d, c) GROUP BY x.c HAVING x.c = 0 UNION ALL SELECT is_cube, 9 FROM SYS_VIEWS WHERE is_cube = 1 ORDER BY n',
      [
        { c: false, n: 2 },
        { c: true, n: 9 },
      ],
    ],
    ['SELECT no FROM dacme.animal a WHERE `_type_of_heavy` = 1', [{ no: 2 }]],
    [
      'SELECT no, `_type_of_heavy` = 0 AS light FROM dacme.animal a WHERE a.`_type_of_animal` IN (1) ORDER BY no',
      [
        { no: 1, light: true },
        { no: 2, light: false },
      ],
    ],
    [
      'SELECT no FROM (SELECT no, `_type_of_heavy` FROM dacme.animal UNION ALL SELECT no, `_type_of_heavy` FROM dacme.animal) x WHERE `_type_of_heavy` = 1',
      [{ no: 2 }, { no: 2 }],
    ],
    ['SELECT no FROM dacme.animal WHERE CASE WHEN `_type_of_heavy` = 0 THEN false ELSE no = 2 END', [{ no: 2 }]],
  ] as const)('compare booleans with 0 and 1: %s', async (sql, rows) => {
    expect(await s.rows(sql, 'zoo')).toEqual(rows);
  });

  it('compare no other boolean and no other number', async () => {
    for (const sql of [
      'SELECT no FROM dacme.animal WHERE `_type_of_heavy` = 2',
      'SELECT no FROM dacme.animal WHERE `_type_of_heavy` = -1',
      'SELECT no FROM dacme.animal WHERE `_type_of_heavy` IN (-1)',
      'SELECT no FROM dacme.animal WHERE `_type_of_heavy` > 0',
      'SELECT no FROM dacme.animal WHERE (no = 1) = 1',
      'SELECT x FROM (SELECT no = 1 AS x FROM dacme.animal) y WHERE x = 1',
      'SELECT x FROM (SELECT is_cube AS x FROM SYS_VIEWS UNION ALL SELECT true) y WHERE x = 1',
    ])
      expect(await s.fault(sql, 'zoo'), sql).toMatch(/^400 /);
  });

  it('support the queries of existing clients', async () => {
    for (const [sql, expected] of [
      ["SELECT description FROM acme.sys_ontologies WHERE ontology = 'zoo'", [{ description: 'all; animals' }]],
      ["SELECT name, description, ontologies FROM acme.sys_domains WHERE ontologies LIKE '%zoo%'", []],
      [
        "SELECT concept, 'false' AS is_view FROM acme.sys_concepts WHERE concept IN (SELECT DISTINCT concept FROM acme.sys_concept_properties) ORDER BY is_view, concept LIMIT 1",
        [{ concept: 'animal', is_view: 'false' }],
      ],
      [
        "SELECT view_name, description, is_cube, tables, number_of_rows FROM acme.sys_views WHERE view_name = 'weights'",
        [expect.objectContaining({ is_cube: true })],
      ],
      ['SELECT * FROM (SELECT called, `kept_by[keeper].title` FROM dacme.animal LIMIT 5) explainable_query WHERE 1=0', []],
    ] as const)
      expect(await s.rows(sql, 'zoo'), sql).toEqual(expected);
    expect(await s.rows("SELECT option_name, option_value FROM acme.sys_agents_options WHERE LOWER(agent_name) = LOWER('Nobody')", 'system_db')).toEqual([]);
    expect(await s.rows('-- LLM: how many\nEXPLAIN SELECT COUNT(1) AS n FROM dacme.animal', 'zoo')).toEqual([
      { PLAN: expect.any(String), SQL: expect.any(String) },
    ]);
    await s.rows("ALTER VIEW weights UPDATE TAG owner = 'staff'", 'zoo');
    expect(await s.rows('SHOW TAGS', 'zoo')).toContainEqual({ target_type: 'ontology view', target_name: 'weights', tag_name: 'owner', tag_value: 'staff' });
    await s.rows('ALTER VIEW weights REMOVE TAG owner', 'zoo');
  });

  it('show a caller no other users', async () => {
    for (const table of ['SYS_USERS', 'SYS_ROLES', 'SYS_GRANTS'])
      expect(JSON.stringify(await s.rows(`SELECT * FROM ${table}`, '', reader)), table).not.toMatch(/admin|fresh/);
  });
});

describe('DESC', () => {
  it('lists columns, and DESCRIBE CONCEPT their keys', async () => {
    expect(await s.rows('DESC acme.keeper', 'zoo')).toEqual([
      ...['entity_id', 'entity_type', 'entity_label'].map((col_name) => ({ col_name, data_type: 'string', comment: null })),
      { col_name: 'keeper_no', data_type: 'bigint', comment: null },
      { col_name: 'title', data_type: 'string', comment: null },
    ]);
    const rows = await s.rows("DESCRIBE CONCEPT `dsvc`.`animal` OPTIONS (graph_depth = '2')", 'zoo');
    const keys = Object.fromEntries(rows.map((r) => [r.col_name, r.key]));
    expect([keys.no, keys.keeper_no, keys.called, keys['kept_by[keeper].keeps[animal].no']]).toEqual(['PK', 'FK', null, 'PK']);
    expect((await s.rows('DESC vacme.weights', 'zoo')).map((r) => [r.col_name, r.data_type])).toEqual([
      ['keeper', 'string'],
      ['mass', 'decimal'],
    ]);
    expect((await s.rows('DESC svc.sys_inheritance')).map((r) => r.col_name)).toEqual(['base_concept', 'derived_concept']);
  });

  it('refuses unknown names', async () => {
    expect(await s.fault('DESC acme.anmal', 'zoo')).toBe('400 unknown_concept');
    expect(await s.fault('DESC acme.named', 'zoo')).toBe('400 wrong_schema');
    expect(await s.fault('DESC other.animal', 'zoo')).toBe('400 unknown_schema');
    expect(await s.fault("DESC acme.animal OPTIONS (graph_depth = 'deep')", 'zoo')).toBe('400 bad_value');
    expect(await s.fault("DESC acme.animal OPTIONS (depth = '1')", 'zoo')).toBe('400 unknown_option');
  });
});

describe('EXPLAIN', () => {
  it('shows plan and SQL in physical terms to an admin, in logical ones to a reader', async () => {
    const sql = 'EXPLAIN SELECT called, "kept_by[keeper].title" AS t FROM dacme.animal WHERE no = 1';
    const [own] = await s.rows(sql, 'zoo');
    expect(own.PLAN).toMatch(/t_animal.*\(cost=/s);
    expect(own.SQL).toContain('t_animal');
    expect(await s.rows(sql, 'zoo', reader)).toEqual([{ PLAN: 'Filter\n  -> Read concept dacme.animal\n    -> Path kept_by[keeper] (to one)', SQL: null }]);
    expect(await s.fault('EXPLAIN SELECT nmae FROM acme.keeper', 'zoo', reader)).toMatch(/^400 unknown_/);
    const { json } = await s.query("EXPLAIN SELECT CAST('x' AS integer) AS n", 'zoo');
    expect([json.code, json.position]).toEqual(['invalid_text_representation', 21]);
  });
});

describe('SHOW CREATE', () => {
  it('of an ontology creates an equal one, its SQL in the product\u2019s names', async () => {
    await s.rows("CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'; ALTER ONTOLOGY zoo ADD DATASOURCE other", 'zoo');
    const [{ script }] = await s.rows('SHOW CREATE ONTOLOGY zoo', 'zoo');
    expect(script).toMatch(/^CREATE ONTOLOGY `zoo`/);
    expect(script).toContain('FROM acme.animal WHERE called');
    expect(script).not.toMatch(/\b[edv]?svc\b/);
    await s.rows(script.replace(/\bONTOLOGY `zoo`/g, 'ONTOLOGY `copy`'));
    const detail = async (name: string) => ({ ...(await s.get(`get_ontology/${name}`)).json.data, version: null });
    expect(await detail('copy')).toEqual(await detail('zoo'));
    expect(await s.rows('SELECT keeper, mass FROM vacme.weights ORDER BY mass', 'copy')).toEqual([
      { keeper: 'Kim', mass: 12.5 },
      { keeper: null, mass: 400 },
    ]);
  });

  it('of an ontology can be run again where it exists', async () => {
    const detail = async () => ({ ...(await s.get('get_ontology/zoo')).json.data, version: null });
    const before = await detail();
    const [{ script }] = await s.rows('SHOW CREATE ONTOLOGY zoo', 'zoo');
    for (const ontology of ['zoo', undefined]) {
      await s.rows(script, ontology);
      expect(await detail()).toEqual(before);
      expect((await s.rows('SHOW CREATE ONTOLOGY zoo', 'zoo'))[0].script).toBe(script);
    }
  });

  it('shows what the caller may see', async () => {
    expect(await s.fault('SHOW CREATE MAPPING mk', 'zoo', reader)).toBe('403 forbidden');
    expect(await s.fault('SHOW CREATE VIEW raw', 'zoo', reader)).toBe('403 forbidden');
    expect((await s.rows('SHOW CREATE ONTOLOGY zoo', 'zoo', reader))[0].script).not.toMatch(/t_animal|t_keeper/);
    expect(await s.fault('SHOW CREATE DATASOURCE other', '', reader)).toBe('400 unknown_datasource');
    expect((await s.rows('SHOW CREATE DATASOURCE other'))[0].script).toBe("CREATE OR REPLACE DATASOURCE `other` TYPE postgres SECRET 'DATASOURCE_OTHER';");
    await s.rows('CREATE USER narrow; GRANT QUERY ON ontology.zoo.concept.keeper TO USER narrow');
    const narrow = (await s.rows('CREATE TOKEN FOR narrow'))[0].token;
    expect(await s.fault('SHOW CREATE CONCEPT animal', 'zoo', narrow)).toBe('400 unknown_concept');
    for (const what of ['CONCEPT keeper', 'ONTOLOGY zoo']) {
      const [{ script }] = await s.rows(`SHOW CREATE ${what}`, 'zoo', narrow);
      expect(script).toMatch(/CREATE OR REPLACE CONCEPT `keeper`/);
      expect(script).not.toMatch(/\banimal\b|keeps|weight|heavy|called/);
    }
    expect(JSON.stringify(await s.rows("DESCRIBE CONCEPT dsvc.keeper OPTIONS (graph_depth = '2')", 'zoo', narrow))).not.toMatch(/animal|keeps/);
    expect((await s.rows('SHOW TABLES IN svc', 'zoo', narrow)).map((r) => r.table)).not.toContain('animal');
  });
});

describe('allowed_functions', () => {
  const set = (value: string) => `ALTER ONTOLOGY zoo SET allowed_functions = '${value}'`;
  it('allows immutable and stable functions of the datasource, and is not part of a version', async () => {
    // the attached datasource that does not answer would have to be checked too
    await s.rows('ALTER ONTOLOGY zoo REMOVE DATASOURCE other', 'zoo');
    const call = 'SELECT acme.twice(weight) AS w FROM svc.animal WHERE no = 1';
    expect(await s.fault(call, 'zoo')).toMatch(/^400 /);
    for (const bad of ['acme.dice', 'acme.nothing', 'twice', 'pg_catalog.current_setting', 'information_schema.x', 'acme.twice, acme.dice'])
      expect(await s.fault(set(bad), 'zoo'), bad).toBe('400 bad_value');
    const before = (await s.rows('SHOW VERSIONS', 'zoo')).length;
    expect(await s.rows(`${set('acme.Twice')}; ${call}`, 'zoo')).toEqual([{ w: 25 }]);
    expect(await s.rows(call, 'zoo')).toEqual([{ w: 25 }]);
    expect((await s.rows('SHOW VERSIONS', 'zoo')).length).toBe(before);
    expect(Object.fromEntries((await s.rows('SHOW CONFIG', 'zoo')).map((r) => [r.key, r.value]))).toEqual({
      default_transitivity: '3',
      quote: '`',
      allowed_functions: 'acme.twice',
    });
    expect((await s.rows('SHOW CONFIG', 'zoo', reader)).at(-1)).toEqual({ key: 'allowed_functions', value: null });
    await s.rows(set(''), 'zoo');
    expect(await s.fault(call, 'zoo')).toMatch(/^400 /);
  });

  it('is set by admins', async () => {
    await s.rows('CREATE USER editor; GRANT EDIT ON ALL ontology.zoo TO USER editor');
    const editor = (await s.rows('CREATE TOKEN FOR editor'))[0].token;
    expect(await s.fault(set('acme.twice'), 'zoo', editor)).toBe('403 forbidden');
  });
});

describe('ROLLBACK', () => {
  it('creates a new version with the content of an old one', async () => {
    const detail = async () => (await s.get('get_ontology/zoo')).json.data;
    const { version, ...old } = await detail();
    await s.rows("ALTER ONTOLOGY zoo SET DESCRIPTION = 'changed'; DROP VIEW named; ALTER ONTOLOGY zoo SET default_transitivity = '7'", 'zoo');
    const [{ version: back }] = await s.rows(`ROLLBACK ONTOLOGY zoo TO VERSION '${version}'`, 'zoo');
    const { version: now, ...restored } = await detail();
    expect(restored).toEqual(old);
    expect([now === back, back === version]).toEqual([true, false]);
    expect(await s.rows("SELECT description FROM SYS_ONTOLOGIES WHERE ontology = 'zoo'")).toEqual([{ description: 'all; animals' }]);
    expect((await s.rows('SHOW VERSIONS', 'zoo'))[0]).toMatchObject({ id: back, statement: `ROLLBACK ONTOLOGY zoo TO VERSION '${version}'` });
    expect(await s.fault("ROLLBACK ONTOLOGY zoo TO VERSION 'x'", 'zoo')).toBe('400 unknown_version');
  });
});

describe('rights', () => {
  it('are checked before the validity of a statement', async () => {
    expect(await s.fault('GRANT EDIT ON ALL ontology.zoo TO USER nobody', '', reader)).toBe('403 forbidden');
    expect(await s.fault("CREATE AGENT a ONTOLOGY (zoo) OPTIONS (colour = 'red')", '', reader)).toBe('403 forbidden');
    expect(await s.fault("CREATE AGENT a ONTOLOGY (zoo) OPTIONS (max_limit = 'all')")).toBe('400 bad_value');
  });

  it('on agents are those on the replaced agent', async () => {
    await s.rows("CREATE AGENT guide ONTOLOGY (zoo) OPTIONS (note = 'kind')");
    expect(await s.fault('CREATE OR REPLACE AGENT guide ONTOLOGY (zoo)', '', reader)).toBe('403 forbidden');
    expect(await s.fault('DROP AGENT guide', '', reader)).toBe('403 forbidden');
    expect((await s.rows('SHOW CREATE AGENT guide', '', reader))[0].script).toBe("CREATE OR REPLACE AGENT `guide` ONTOLOGY (`zoo`) OPTIONS (`note` = 'kind');");
    expect(await s.rows('SELECT * FROM SYS_AGENTS_OPTIONS')).toEqual([
      { agent_name: 'guide', option_name: 'ontology', option_value: 'zoo' },
      { agent_name: 'guide', option_name: 'note', option_value: 'kind' },
    ]);
    expect(await s.rows('DROP AGENT guide')).toEqual([{ agent: 'guide', dropped: true }]);
  });
});
