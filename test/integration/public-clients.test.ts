/**
 * The statements of public clients of this field, as they send them with PRODUCT_NAME=timbr, and what they read of the answers (docs/python.md). Versions:
 * langchain_timbr at 97d160a, pytimbr_api 2.1.1, bagofwords at ce81acc (backend/app/data_sources/clients/timbr_client.py). Each line names the file of the client that has the statement.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const MODEL = `CREATE ONTOLOGY shop DESCRIPTION 'goods';
  CREATE PROPERTY title string DESCRIPTION 'Its name';
  CREATE MEASURE turnover decimal AS SELECT SUM(price);
  CREATE CONCEPT category (code string, title string, upper string, PRIMARY KEY (code), LABEL (title),
    CONSTRAINT below FOREIGN KEY (upper) REFERENCES category (code) INVERSEOF above TRANSITIVE(3));
  CREATE CONCEPT product (sku bigint, title string, price decimal, code string, turnover MEASURE decimal, PRIMARY KEY (sku), LABEL (title),
    CONSTRAINT in_category FOREIGN KEY (code) REFERENCES category (code) INVERSEOF has_product DESCRIPTION 'Where it is found') WITH TAGS (area = 'sales');
  CREATE CONCEPT dear_product INHERITS (product) FROM dtimbr.product WHERE price > 10;
  CREATE MAPPING map_category INTO category AS SELECT code, title, upper FROM shop.t_category;
  CREATE MAPPING map_product INTO product AS SELECT sku, title, price, code FROM shop.t_product;
  CREATE ONTOLOGY VIEW price_list DESCRIPTION 'all prices' AS SELECT title, price FROM timbr.product;
  CREATE ONTOLOGY CUBE by_category USING main AS SELECT "in_category[category].title" AS category, "measure.turnover" AS turnover FROM dtimbr.product;
  CREATE AGENT seller ONTOLOGY (shop) OPTIONS (note = 'Prices are in euro', graph_depth = '2', enable_trace = 'false'); CREATE AGENT plain ONTOLOGY (shop)`;

let s: TestService;

beforeAll(async () => {
  s = await startService({
    settings: { PRODUCT_NAME: 'timbr' },
    tables: [
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.t_category (code text PRIMARY KEY, title text, upper text)',
      'CREATE TABLE shop.t_product (sku bigint PRIMARY KEY, title text, price numeric, code text)',
      "INSERT INTO shop.t_category VALUES ('a', 'All', NULL), ('b', 'Books', 'a')",
      "INSERT INTO shop.t_product VALUES (1, 'Atlas', 30, 'b'), (2, 'Pencil', 1, 'a')",
    ],
  });
  await s.rows(MODEL);
  await s.rows(
    "CREATE USER gina PASSWORD 'a long password'; CREATE USER imre; ALTER USER gina SET EMAIL = 'gina@example.com'; CREATE USER otto OPTIONS (email = 'otto@example.com'); CREATE USER b1 OPTIONS (email = 'both@example.com'); CREATE USER b2 OPTIONS (email = 'both@example.com'); GRANT AUTH ON user.b1 TO USER imre; GRANT AUTH ON user.b2 TO USER imre; GRANT ACCESS ON ALL ONTOLOGY TO USER imre; GRANT AUTH ON user.gina TO USER `imre`",
  );
});
afterAll(() => s?.close());

/** Sends a statement as pytimbr_api/timbr_http_connector.py does, and returns its rows. */
async function run(
  sql: string,
  { token = s.token, ontology = 'shop', headers = {} }: { token?: string; ontology?: string; headers?: Record<string, string> } = {},
) {
  const response = await s.fetch(`/timbr/openapi/ontology/${ontology}/query`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/text', nested: 'false', Connection: 'close', 'x-api-key': token, ...headers },
    body: sql,
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  // biome-ignore lint/suspicious/noExplicitAny: rows of many statements
  return JSON.parse(text) as any[];
}

/** Client file, statement, expected rows. */
const STATEMENTS: readonly (readonly [file: string, sql: string, rows: readonly object[]])[] = [
  ['utils/timbr_utils.py', 'SELECT ontology FROM timbr.sys_ontologies', [{ ontology: 'shop' }]],
  ['utils/timbr_utils.py', "SELECT description FROM timbr.sys_ontologies WHERE ontology = 'shop'", [{ description: 'goods' }]],
  ['utils/timbr_utils.py', "SELECT name, description, ontologies FROM timbr.sys_domains WHERE ontologies like '%shop%'", []],
  ['utils/timbr_utils.py', 'SHOW DATASOURCES', [{ name: 'main', target_type: 'postgres', is_active: true }]],
  ['utils/timbr_utils.py', 'SHOW TAGS', [{ target_type: 'concept', target_name: 'product', tag_name: 'area', tag_value: 'sales' }]],
  [
    'utils/timbr_utils.py',
    "SELECT option_name, option_value FROM timbr.sys_agents_options WHERE LOWER(agent_name) = LOWER('Seller')",
    [
      { option_name: 'ontology', option_value: 'shop' },
      { option_name: 'note', option_value: 'Prices are in euro' },
      { option_name: 'graph_depth', option_value: '2' },
      { option_name: 'enable_trace', option_value: 'false' },
    ],
  ],
  [
    'utils/timbr_utils.py',
    "SELECT option_name, option_value FROM timbr.sys_agents_options WHERE LOWER(agent_name) = LOWER('plain')",
    [{ option_name: 'ontology', option_value: 'shop' }],
  ],
  [
    'utils/timbr_utils.py',
    `SELECT * FROM (
                SELECT concept, description, 'false' AS is_view
                FROM timbr.sys_concepts WHERE concept IN (SELECT DISTINCT concept FROM timbr.sys_concept_properties)
                UNION ALL
                SELECT view_name AS concept, description, 'true' AS is_view
                FROM timbr.sys_views WHERE view_name IN ('price_list')
            ) AS combined
            ORDER BY is_view ASC`,
    [
      { concept: 'category', description: null, is_view: 'false' },
      { concept: 'product', description: null, is_view: 'false' },
      { concept: 'dear_product', description: null, is_view: 'false' },
      { concept: 'price_list', description: 'all prices', is_view: 'true' },
    ],
  ],
  [
    'utils/timbr_utils.py',
    `SELECT
            relationship_name,
            description
        FROM \`timbr\`.\`SYS_CONCEPT_RELATIONSHIPS\`
        WHERE description is not null`,
    ['in_category', 'in_category'].map((relationship_name) => ({ relationship_name, description: 'Where it is found' })),
  ],
  [
    'utils/timbr_utils.py',
    `SELECT property_name, description
        FROM \`timbr\`.\`SYS_PROPERTIES\`
        WHERE description is not null`,
    [{ property_name: 'title', description: 'Its name' }],
  ],
  [
    'ontology_metadata.py',
    `SELECT concept, inheritance, inheritance_level, primary_keys, label_keys, description, query AS concept_logic FROM timbr.SYS_ONTOLOGY ORDER BY inheritance_level, concept`,
    [
      { concept: 'category', inheritance: 'thing', inheritance_level: 1, primary_keys: 'code', label_keys: 'title', description: null, concept_logic: null },
      { concept: 'product', inheritance: 'thing', inheritance_level: 1, primary_keys: 'sku', label_keys: 'title', description: null, concept_logic: null },
      {
        concept: 'dear_product',
        inheritance: 'product',
        inheritance_level: 2,
        primary_keys: 'sku',
        label_keys: 'title',
        description: null,
        concept_logic: 'SELECT * FROM dtimbr.`product` WHERE price > 10',
      },
    ],
  ],
  [
    'ontology_metadata.py',
    "SELECT concept, target_concept, relationship_name, inverse_name, source_properties, target_properties, is_mtm, transitivity, description FROM timbr.SYS_CONCEPT_RELATIONSHIPS WHERE is_inverse = 0 AND concept <> 'dear_product'",
    [
      {
        concept: 'category',
        target_concept: 'category',
        relationship_name: 'below',
        inverse_name: 'above',
        source_properties: 'upper',
        target_properties: 'code',
        is_mtm: false,
        transitivity: 3,
        description: null,
      },
      {
        concept: 'product',
        target_concept: 'category',
        relationship_name: 'in_category',
        inverse_name: 'has_product',
        source_properties: 'code',
        target_properties: 'code',
        is_mtm: false,
        transitivity: null,
        description: 'Where it is found',
      },
    ],
  ],
  [
    'ontology_metadata.py',
    "SELECT concept, tables, datasource_id FROM timbr.SYS_CONCEPT_MAPPINGS WHERE concept = 'product'",
    [{ concept: 'product', tables: 'shop.t_product', datasource_id: 'main' }],
  ],
  [
    'ontology_metadata.py',
    'SELECT DISTINCT concept, target_concept, relationship_name, tables, datasource_id FROM timbr.SYS_CONCEPT_RELATIONSHIPS WHERE tables IS NOT NULL AND is_inverse = 0',
    [],
  ],
  [
    'ontology_metadata.py',
    'SELECT view_name, property_name, property_type FROM timbr.SYS_VIEW_PROPERTIES',
    [
      { view_name: 'price_list', property_name: 'title', property_type: 'string' },
      { view_name: 'price_list', property_name: 'price', property_type: 'decimal' },
      { view_name: 'by_category', property_name: 'category', property_type: 'string' },
      { view_name: 'by_category', property_name: 'turnover', property_type: 'decimal' },
    ],
  ],
  [
    'ontology_context/ontology/client.py',
    "SELECT concept, inheritance FROM `timbr`.`sys_ontology` WHERE concept = 'dear_product'",
    [{ concept: 'dear_product', inheritance: 'product' }],
  ],
  [
    'technical_context/statistics_loader/ontology_cache.py',
    'SELECT view_name, number_of_rows FROM timbr.sys_views',
    ['price_list', 'by_category'].map((view_name) => ({ view_name, number_of_rows: null })),
  ],
  [
    'technical_context/statistics_loader/ontology_cache.py',
    "SELECT target_name, property_name FROM timbr.sys_properties_statistics WHERE target_type = 'mapping'",
    [],
  ],
  [
    'timbr_client.py (bagofwords)',
    'SELECT view_name, description, view_json, view_properties FROM timbr.sys_views',
    [
      {
        view_name: 'price_list',
        description: 'all prices',
        view_json: '{"columns":[{"alias":"`title`","type":"string"},{"alias":"`price`","type":"decimal"}],"measures":[]}',
        view_properties: 'title string,price decimal',
      },
      {
        view_name: 'by_category',
        description: null,
        view_json: '{"columns":[{"alias":"`category`","type":"string"}],"measures":[{"alias":"`turnover`","type":"decimal"}]}',
        view_properties: 'category string,turnover decimal',
      },
    ],
  ],
  [
    'ontology_metadata.py',
    'SELECT view_name, description, is_cube, tables FROM timbr.SYS_VIEWS',
    [
      { view_name: 'price_list', description: 'all prices', is_cube: false, tables: 'shop.t_product' },
      { view_name: 'by_category', description: null, is_cube: true, tables: 'shop.t_product, shop.t_category' },
    ],
  ],
  ['kbclient.py', "SELECT knowledge_bases FROM timbr.sys_agents WHERE LOWER(agent_name) = LOWER('seller')", [{ knowledge_bases: 'shop' }]],
];

describe('statements of public clients', () => {
  it.each(STATEMENTS)('%s: %s', async (_file, sql, rows) => {
    const got = await run(sql);
    const order = (list: readonly object[]): string[] => list.map((row) => JSON.stringify(row)).sort();
    expect(order(got)).toEqual(order(rows));
  });

  it('utils/timbr_utils.py: the version, and the check of a statement', async () => {
    expect((await run('SHOW VERSION'))[0].id).toMatch(/^[0-9a-f-]{36}$/);
    const sql = 'SELECT `in_category[category].title`, SUM(`measure.turnover`) AS t FROM `dtimbr`.`product` GROUP BY 1';
    expect((await run(`EXPLAIN ${sql}`))[0].PLAN).toMatch(/\S/);
    expect(await run(`SELECT * FROM (${sql}) explainable_query WHERE 1=0`)).toEqual([]);
    expect(await run(`-- LLM: turnover by category\n${sql} ORDER BY 1`)).toEqual([
      { 'in_category[category].title': 'All', t: 1 },
      { 'in_category[category].title': 'Books', t: 30 },
    ]);
    expect((await run('SHOW TABLES IN dtimbr')).length).toBeGreaterThan(0);
  });

  it('ontology_context/ontology/client.py: the columns of a concept, with keys and walks', async () => {
    const rows = await run("describe concept `dtimbr`.`category` options (graph_depth='1')");
    const columns = Object.fromEntries(rows.map((r) => [r.col_name, [r.data_type, r.key]]));
    expect(columns).toMatchObject({
      code: ['string', 'PK'],
      upper: ['string', 'FK'],
      'below[category*3].title': ['string', null],
      'below[category*3]_transitivity_level': ['integer', null],
      'above[category*3].code': ['string', 'PK'],
      'has_product[product].sku': ['bigint', 'PK'],
      'measure.has_product[product].turnover': ['decimal', null],
    });
    expect(Object.keys(columns).filter((name) => name.includes('product*'))).toEqual([]);
    // ontology_context/ontology/parser.py refuses a relationship with two depths
    const depths = new Map<string, Set<string>>();
    for (const name of Object.keys(columns)) {
      const [, relationship, target] = /^(?:measure\.)?~?([^[]+)\[([^\]]+)\]/.exec(name) ?? [];
      if (relationship) depths.set(relationship, (depths.get(relationship) ?? new Set()).add(target as string));
    }
    expect([...depths.values()].filter((targets) => targets.size > 1)).toEqual([]);
    // each of them can be read
    for (const { col_name: name } of rows) if (!name.startsWith('measure.')) await run(`SELECT \`${name}\` FROM dtimbr.category LIMIT 1`);
    // DESC lists single hops only
    expect((await run('desc `dtimbr`.`category`')).filter((r) => r.col_name.includes('*'))).toEqual([]);
  });

  it('technical_context/statistics_loader/logic_query.py: where a logic concept reads from', async () => {
    const [{ query }] = await run("SELECT concept, inheritance, `query` FROM timbr.sys_ontology WHERE concept = 'dear_product'");
    expect(/d?timbr`?\.`?([^\s"`.]+)`?\s+WHERE\b/i.exec(query)?.[1]).toBe('product');
    expect(await run(query.replace('*', 'title'))).toEqual([{ title: 'Atlas' }]);
  });

  it('pytimbr_api/test/test_user_impersonation.py: a user in place of another', async () => {
    const [{ token }] = await run('CREATE TOKEN FOR imre', { ontology: 'system_db' });
    // the client reads the name of the column, and the value under it
    const [row] = await run('select timbr_username()', { token, headers: { 'x-api-impersonate-user': 'gina' }, ontology: 'system_db' });
    expect(row).toEqual({ gina: 'gina' });
    expect(await run("select timbr_has_role('admin'), svc_username() AS me, lower(svc_username())", { token })).toEqual([
      { timbr_has_role: false, me: 'imre', lower: 'imre' },
    ]);
    const as = async (other: string): Promise<string> => {
      const response = await s.fetch('/timbr/openapi/ontology/system_db/query', {
        method: 'POST',
        headers: { 'Content-Type': 'application/text', 'x-api-key': token, 'x-api-impersonate-user': other },
        body: 'SELECT timbr_username() AS me',
      });
      return `${response.status} ${(await response.text()).replace(/"request_id":"[^"]*"/, '')}`;
    };
    // by e-mail, which may also be a name; only with AUTH on the user that it means
    expect(await as('Gina@example.com')).toBe('200 [{"me":"gina"}]');
    const refusal = await as('nobody@example.com');
    expect(refusal).toMatch(/^403 /);
    for (const other of ['otto@example.com', 'otto', 'both@example.com', 'gina@example']) expect(await as(other), other).toBe(refusal);
    await s.rows('CREATE USER `gina@example.com`');
    expect(await as('gina@example.com')).toBe(refusal);
  });

  it('pytimbr_api/test/test_user_impersonation.py: users with names, and their grants', async () => {
    for (const [name, first] of [
      ['timbr_granting', 'Granting'],
      ['timbr_impersonating', 'Impersonating'],
    ]) {
      await run(
        `CREATE USER ${name} PASSWORD 'a long password' OPTIONS(email='${name}@timbr-test.ai', first_name='${first}', last_name='User');GRANT QUERY ON ALL DATASOURCE TO USER ${name};GRANT ACCESS ON ALL ONTOLOGY TO USER ${name};GRANT EDIT ON ALL USER TO USER ${name};`,
      );
    }
    const names = "SELECT user_name, first_name, last_name FROM timbr.sys_users WHERE user_name LIKE 'timbr%' ORDER BY 1";
    expect(await run(names)).toEqual([
      { user_name: 'timbr_granting', first_name: 'Granting', last_name: 'User' },
      { user_name: 'timbr_impersonating', first_name: 'Impersonating', last_name: 'User' },
    ]);
    await run("CREATE OR REPLACE USER timbr_granting OPTIONS (last_name = 'Giver')");
    expect((await run(names))[0]).toEqual({ user_name: 'timbr_granting', first_name: 'Granting', last_name: 'Giver' });
    await run('GRANT AUTH ON user.timbr_granting TO USER `timbr_impersonating`');
    await run('refresh permissions');
    // the client reads a token; a user without one gets one, which is no longer shown afterwards
    const show = 'show token for `timbr_impersonating`';
    const headers = { 'x-api-impersonate-user': 'timbr_granting' };
    const given = [await run(show), await run(show)].map(([row]) => row.token);
    expect(new Set(given).size).toBe(2);
    for (const token of given) expect(await run('select timbr_username()', { token, headers })).toEqual([{ timbr_granting: 'timbr_granting' }]);
    const tokens = ['label', 'created', 'expires', 'last_used', 'token_id'].sort();
    const listed = await run(show, { headers: { 'x-read-only': 'true' } });
    expect(listed.map((row: object) => Object.keys(row).sort())).toEqual([tokens, tokens]);
    // only for callers who may make one, and as many as for a login
    const others = { token: await s.user('sees_users', 'ACCESS ON ALL ontology.shop', 'QUERY ON ALL user') };
    await expect(run('show token for `timbr_granting`', others)).rejects.toThrow(/forbidden/);
    // one for each script, and none for a user who is not active
    const [{ token: shown }] = await run(`${show}; ${show}; ${show}`);
    expect(await run('select timbr_username()', { token: shown })).toEqual([{ timbr_impersonating: 'timbr_impersonating' }]);
    expect(await run(show, { headers: { 'x-read-only': 'true' } })).toHaveLength(3);
    await run("ALTER USER timbr_impersonating SET ACTIVE = 'false'");
    expect((await run(show)).map((row: object) => Object.keys(row).sort())).toEqual([tokens, tokens, tokens]);
    await run("ALTER USER timbr_impersonating SET ACTIVE = 'true'");
    // what the script has changed counts
    for (const sql of [
      `ALTER USER timbr_impersonating SET ACTIVE = 'false'; ${show}`,
      `CREATE USER timbr_idle; ALTER USER timbr_idle SET ACTIVE = 'false'; show token for timbr_idle`,
    ])
      expect((await run(sql)).filter((row: object) => 'token' in row)).toEqual([]);
    expect(await run('show token for timbr_idle', { headers: { 'x-read-only': 'true' } })).toEqual([]);
    expect((await run("ALTER USER timbr_idle SET ACTIVE = 'true'; show token for timbr_idle")).map((row: object) => 'token' in row)).toEqual([true]);
    const [shownNow] = await run('CREATE TOKEN FOR timbr_idle; show token for timbr_idle').then((rows) => rows.slice(-1));
    expect([Object.keys(shownNow).sort(), shownNow.label]).toEqual([tokens, null]);
    expect((await run(`REVOKE TOKEN '${shownNow.token_id}'; show token for timbr_idle`)).map((row: object) => 'token' in row)).toEqual([true]);
    await run("DROP USER timbr_idle; ALTER USER timbr_impersonating SET ACTIVE = 'true'");
    for (let i = 0; i < 21; i++) await run(show);
    expect(await run(show, { headers: { 'x-read-only': 'true' } })).toHaveLength(20);
    // tokens that were made by CREATE TOKEN are listed, and no other is made
    const [{ token_id }] = await run('CREATE TOKEN FOR timbr_impersonating');
    const all = await run(show);
    expect([all.length, all.some((row: object) => 'token' in row), all.some((row: { token_id: string }) => row.token_id === token_id)]).toEqual([
      21,
      false,
      true,
    ]);
    await expect(run("CREATE TOKEN FOR timbr_granting LABEL 'show_token'")).rejects.toThrow(/bad_label/);
    await run('REVOKE AUTH ON user.timbr_granting FROM USER `timbr_impersonating`');
    for (const name of ['timbr_impersonating', 'timbr_granting'])
      await run(
        `REVOKE EDIT ON ALL USER FROM USER ${name};REVOKE ACCESS ON ALL ONTOLOGY FROM USER ${name};REVOKE QUERY ON ALL DATASOURCE FROM USER ${name};DROP USER ${name};`,
      );
    expect(await run(names)).toEqual([]);
  });

  it('timbr_client.py (bagofwords): the schemas that a user may query', async () => {
    const schemas = async (token: string): Promise<string[]> =>
      (await run('SELECT permission, resource FROM timbr.sys_permissions', { token }))
        .filter((r) => r.permission === 'QUERY' && r.resource.includes('.`schema`.'))
        .map((r) => r.resource.slice(r.resource.lastIndexOf('`.`') + 3, -1));
    expect(await schemas(s.token)).toEqual(['timbr', 'etimbr', 'dtimbr', 'vtimbr']);
    expect(await schemas(await s.user('only_views', 'QUERY ON ontology.shop.view.price_list'))).toEqual(['vtimbr']);
    const token = await s.user('only_names', 'ACCESS ON ALL ontology.shop');
    expect(await schemas(token)).toEqual([]);
    expect(await run('SELECT * FROM timbr.sys_permissions', { token })).toEqual([
      { permission: 'ACCESS', resource: '`ontology`.`shop`', is_all: true, grant_option: false },
    ]);
  });

  it('utils/prompt_service.py: prompts, with the placeholders that the client fills in', async () => {
    const filled: Readonly<Record<string, readonly string[]>> = {
      identify_concept: ['question', 'concepts', 'note'],
      generate_sql: [
        'question',
        'current_date',
        'datasource_type',
        'max_limit',
        'schema',
        'concept',
        'description',
        'tags',
        'columns',
        'measures_context',
        'transitive_context',
        'sensitivity_context',
        'note',
      ],
      generate_sql_reasoning: ['question', 'sql_query'],
      generate_answer: ['question', 'additional_context', 'note', 'formatted_rows'],
    };
    for (const [name, placeholders] of Object.entries(filled)) {
      const response = await s.fetch(`/timbr/api/llm_prompts/${name}`, { method: 'POST', headers: { 'x-api-key': s.token } });
      const { data } = (await response.json()) as { data: { template: string }[] };
      const used = data.flatMap(({ template }) => [...template.replace(/\{\{|\}\}/g, '').matchAll(/\{(\w+)\}/g)].map((m) => m[1]));
      expect([...new Set(used)].sort(), name).toEqual([...placeholders].sort());
    }
  });
});
