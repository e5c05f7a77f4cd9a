/**
 * Several conditions that hide rows, one above the other: of a mapping, a policy, logic concepts, a cube. A value that fails in a hidden row must not be computed for it,
 * or the caller finds the row by comparing its other values: the answer would be an error for the right guess, and no rows for all others.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

/** Rows 6 and 7 lie in a box that is shut. Their code is no number, their doc has no text, and 1 / (n - 7) fails for one of them. */
const TABLES = [
  'CREATE SCHEMA fence',
  'CREATE TABLE fence.t_box (id bigint, state text)',
  "INSERT INTO fence.t_box VALUES (1, 'open'), (2, 'shut')",
  'CREATE TABLE fence.t_item (id bigint, half text, box bigint, n bigint, code text, state text)',
  `INSERT INTO fence.t_item VALUES (1, 'a', 1, 21, '1', 'open'), (2, 'b', 1, 22, '2', 'open'), (6, 'b', 2, 7, 'x', 'shut'), (7, 'a', 2, 8, 'x', 'shut')`,
  'ALTER TABLE fence.t_item ADD doc json, ADD big numeric',
  "UPDATE fence.t_item SET big = CASE state WHEN 'open' THEN 1 ELSE 1e400 END",
  `UPDATE fence.t_item SET doc = CASE state WHEN 'open' THEN '{"a": "1"}' ELSE '{"a": "\\u0000"}' END::json`,
  "CREATE FUNCTION fence.left(t text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 9 / (length(t) - strpos(t, 't')) $$",
];

const HALVES = `CREATE MAPPING m_a INTO (item) AS SELECT id, box AS box_id, n, code, state FROM fence.t_item WHERE half = 'a';
CREATE MAPPING m_b INTO (half) AS SELECT id, box AS box_id, n, code, state FROM fence.t_item WHERE half = 'b'`;
const WHOLE = 'CREATE MAPPING m_all INTO (item) AS SELECT id, box AS box_id, n, code, state FROM fence.t_item';
const model = (mappings: string): string => `CREATE PROPERTY inverse decimal AS SELECT 1 / (n - 7);
CREATE CONCEPT box (box_id bigint, box_state string, PRIMARY KEY (box_id));
CREATE CONCEPT item (id bigint, box_id bigint, n bigint, code bigint, state string, inverse decimal, PRIMARY KEY (id), CONSTRAINT lies_in FOREIGN KEY (box_id) REFERENCES box (box_id));
CREATE CONCEPT half INHERITS (item);
CREATE CONCEPT plain INHERITS (item) FROM svc.item WHERE state = 'open';
CREATE CONCEPT along INHERITS (item) FROM dsvc.item WHERE "lies_in[box].box_state" = 'open';
CREATE CONCEPT every INHERITS (item) FROM svc.item WHERE id > 0;
CREATE CONCEPT nested INHERITS (every) FROM svc.every WHERE state = 'open';
CREATE CONCEPT nested_along INHERITS (every) FROM dsvc.every WHERE "lies_in[box].box_state" = 'open';
CREATE ONTOLOGY CUBE sums AS SELECT n, code, inverse, COUNT(id) AS id FROM dsvc.item WHERE "lies_in[box].box_state" = 'open';
CREATE MAPPING m_box INTO (box) AS SELECT id AS box_id, state AS box_state FROM fence.t_box;
${mappings}`;
const policy = (condition: string): string => `CREATE POLICY few ON CONCEPT item TO PUBLIC USING (${condition})`;

const ALL = ['svc.item', 'dsvc.half'];
const PARTS = ['svc.plain', 'svc.along', 'dsvc.along', 'svc.nested', 'svc.nested_along', 'vsvc.sums'];
const CASES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['mappings with conditions, and a policy', [model(HALVES), policy("state = 'open'")], ALL],
  ['mappings with conditions, and a policy over a path', [model(HALVES), policy(`"lies_in[box].box_state" = 'open'`)], ALL],
  ['one mapping', [model(WHOLE)], PARTS],
  ['mappings with conditions', [model(HALVES)], PARTS],
  ['two mappings', [model(`${WHOLE}; ${WHOLE.replace('m_all INTO (item)', 'm_more INTO (half)')}`)], PARTS],
  ['one mapping, and a policy', [model(WHOLE), policy('id < 100')], PARTS],
  ['mappings with conditions, and a policy of all rows', [model(HALVES), policy('"lies_in[box].box_id" < 100')], PARTS],
];

let s: TestService;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
});
afterAll(() => s?.close());

describe.each(CASES.map(([what, scripts, relations], i) => [what, scripts, relations, `fence${i}`] as const))('%s', (_, scripts, relations, ontology) => {
  let reader: string;
  beforeAll(async () => {
    await s.rows(`CREATE ONTOLOGY ${ontology}; ${scripts.join('; ')}`);
    // the rest of the ontology is hidden from a reader of logic concepts and cubes
    const grants = relations === ALL ? [`ALL ontology.${ontology}`] : ['concept.plain', 'concept.along', 'concept.nested', 'concept.nested_along', 'view.sums'];
    reader = await s.user(ontology, ...grants.map((g) => `QUERY ON ${g.startsWith('ALL') ? g : `ontology.${ontology}.${g}`}`));
  });

  it.each(relations)('reveal no value of a hidden row in %s', async (relation) => {
    for (const column of ['code', 'inverse']) {
      const open = await s.query(`SELECT ${column} FROM ${relation} WHERE n = 22`, ontology, reader);
      expect([open.status, open.json.data?.length > 0], open.text).toEqual([200, true]);
      // two hidden rows have 7 and 8, no row has 9
      for (const n of [7, 8, 9]) {
        const { status, json } = await s.query(`SELECT id, ${column} FROM ${relation} WHERE n = ${n}`, ontology, reader);
        expect([status, json.data], `${column} where n = ${n}`).toEqual([200, []]);
      }
    }
  });
});

/** Values that PostgreSQL computes below a barrier for all rows there: the caller's comparisons must not decide which rows these are. */
describe('a value that fails below a barrier fails for every guess', () => {
  const ITEM = 'id, box AS box_id, n, code, state, 1 / (n - 7) AS rate FROM fence.t_item';
  const mappings: readonly (readonly [string, string])[] = [
    ['of a mapping with a sub-query', `SELECT ${ITEM} WHERE box IN (SELECT id FROM fence.t_box)`],
    ['of a mapping with DISTINCT', `SELECT DISTINCT ${ITEM}`],
    [
      'of a mapping with a sub-select',
      'SELECT i.id, i.box AS box_id, i.n, i.code, i.state, x.rate FROM fence.t_item i, LATERAL (SELECT 1 / (i.n - 7) AS rate) x WHERE i.id > 0',
    ],
    ['at the end of a path', `SELECT ${ITEM} WHERE id > 0`],
    ['next to a function that returns several rows', `SELECT generate_series(1, 2) AS part, ${ITEM}`],
    ['next to a function of the datasource', `SELECT fence.parts(n) AS part, ${ITEM}`],
    ['of a property, next to one that calls a function of the datasource', 'SELECT id, box AS box_id, n, code, state FROM fence.t_item'],
  ];
  const POLICIES = ["state = 'open'", `"lies_in[box].box_state" = 'open'`];

  /** A function that returns several rows cannot be allowed, but its owner may replace one that was. */
  const partsReturn = async (type: string): Promise<void> => {
    await s.database.exec('DROP FUNCTION IF EXISTS fence.parts');
    await s.database.exec(`CREATE FUNCTION fence.parts(n bigint) RETURNS ${type} LANGUAGE sql IMMUTABLE AS $$ SELECT n $$`);
  };

  it.each(mappings.flatMap(([what, sql], i) => POLICIES.map((condition, k) => [what, condition, sql, `deep${i}${k}`] as const)))(
    '%s, under a policy with %s',
    async (what, condition, sql, ontology) => {
      const columns = what.startsWith('at') ? 'far' : what.startsWith('of a property') ? 'inverse, parts' : what.startsWith('next to') ? 'rate, part' : 'rate';
      await partsReturn('bigint');
      await s.rows(`CREATE ONTOLOGY ${ontology}; ALTER ONTOLOGY ${ontology} SET allowed_functions = 'fence.parts';
        CREATE PROPERTY inverse decimal AS SELECT 1 / (n - 7); CREATE PROPERTY parts bigint AS SELECT fence.parts(n); CREATE PROPERTY far decimal AS SELECT "lies_in[box].ratio";
        CREATE PROPERTY ratio decimal AS SELECT CASE WHEN box_id IS NULL THEN 5 ELSE 1 / (box_id - 2) END;
        CREATE CONCEPT box (box_id bigint, box_state string, ratio decimal, PRIMARY KEY (box_id));
        CREATE CONCEPT item (id bigint, box_id bigint, n bigint, code string, state string, rate bigint, part bigint, far decimal, inverse decimal, parts bigint, PRIMARY KEY (id), CONSTRAINT lies_in FOREIGN KEY (box_id) REFERENCES box (box_id));
        CREATE ONTOLOGY CUBE rates AS SELECT n, ${columns}, COUNT(id) AS id FROM dsvc.item WHERE "lies_in[box].box_state" = 'open';
        CREATE MAPPING m_box INTO box AS SELECT id AS box_id, state AS box_state FROM fence.t_box; CREATE MAPPING m_item INTO item AS ${sql}`);
      await partsReturn('SETOF bigint');
      const viewer = await s.user(`${ontology}_viewer`, `QUERY ON ontology.${ontology}.view.rates`);
      await s.rows(policy(condition), ontology);
      const reader = await s.user(ontology, `QUERY ON ALL ontology.${ontology}`);
      for (const [relation, token] of [
        ['svc.item', reader],
        ['vsvc.rates', viewer],
      ] as const) {
        expect((await s.query(`SELECT id FROM ${relation} WHERE n = 22`, ontology)).status).toBe(200);
        const answers = await Promise.all(
          [7, 8, 9].map((n) =>
            s.query(`SELECT id, ${columns} FROM ${relation} WHERE n = ${n}`, ontology, token).then(({ status, json }) => [status, json.data]),
          ),
        );
        expect(answers[0], `${relation} ${answers}`).toEqual(answers[2]);
        expect(answers[1], `${relation} ${answers}`).toEqual(answers[2]);
      }
    },
  );
});

/** A comparison of entity_id compares the key's column below the barriers. It must not fail in a hidden row that another comparison selects there. */
describe('a key that is no number in a hidden row', () => {
  const ITEM = 'code AS id, box AS box_id, n, code, state FROM fence.t_item';
  const OPEN = "b.box_id FROM svc.box b WHERE b.box_state = 'open'";
  it.each([
    ['left out by a mapping', `SELECT ${ITEM} WHERE box IN (SELECT b.id FROM fence.t_box b WHERE b.state = 'open')`, 'ALL ontology.keys0', 'svc.item', '1 = 1'],
    [
      'left out by a logic concept',
      `SELECT ${ITEM.replace('n,', 'n::integer AS n,')}`,
      'ontology.keys1.concept.part',
      'svc.part',
      `box_id IN (SELECT ${OPEN})`,
    ],
  ])('%s', async (_, mapping, grant, relation, condition) => {
    const ontology = /keys\d/.exec(grant)?.[0] ?? '';
    await s.rows(`CREATE ONTOLOGY ${ontology}; CREATE CONCEPT box (box_id bigint, box_state string, PRIMARY KEY (box_id));
      CREATE CONCEPT item (id bigint, box_id bigint, n bigint, code string, state string, PRIMARY KEY (id)); CREATE CONCEPT part INHERITS (item) FROM svc.item WHERE ${condition};
      CREATE MAPPING m_box INTO box AS SELECT id AS box_id, state AS box_state FROM fence.t_box; CREATE MAPPING m_item INTO item AS ${mapping}`);
    const reader = await s.user(ontology, `QUERY ON ${grant}`);
    for (const [id, n, rows] of [
      [2, 22, [{ id: 2 }]],
      [6, 7, []],
      [6, 8, []],
      [6, 9, []],
    ] as const) {
      const { status, json } = await s.query(`SELECT id FROM ${relation} WHERE entity_id = 'item:${id}' AND n = ${n}`, ontology, reader);
      expect([status, json.data], `n = ${n}`).toEqual([200, rows]);
    }
  });

  it('and a filter in a URL, whose value is a parameter that only a statement without barriers has', async () => {
    await s.rows(`CREATE ONTOLOGY keyed; ${model(WHOLE.replace('id, box AS box_id, n,', 'DISTINCT id, box AS box_id, n + 1 - 1 AS n,'))}`);
    await s.rows(policy(`"lies_in[box].box_state" = 'open'`), 'keyed');
    const token = await s.user('keyed', 'QUERY ON ALL ontology.keyed');
    for (const [relation, id, rows] of [
      ['item', 1, [{ id: 1 }]],
      ['item', 7, []],
      ['along', 1, [{ id: 1 }]],
      ['along', 7, []],
    ] as const) {
      const { status, json } = await s.get(`q/keyed/concept/${relation}?_subj_=entity_id&_op_=eq&_comp_=item:${id}&_select_=id`, { 'x-api-key': token });
      expect([status, json.data], `${relation} ${id}`).toEqual([200, rows]);
    }
  });
});

/** A condition that itself fails in a hidden row fails for every guess of another value of the row. */
describe('a condition that fails in a hidden row', () => {
  const OPEN = "state = 'open'";
  it.each([
    ['of a policy', WHOLE, [policy(`code < 100 AND ${OPEN}`)], 'ALL', 'svc.item'],
    ['of a policy, in a unit', WHOLE, [policy(`date_part(CASE state WHEN 'open' THEN 'day' ELSE 'x' END, TIMESTAMP '2020-01-01') > 0`)], 'ALL', 'svc.item'],
    ['of a policy, in a function of the datasource', WHOLE, [policy('fence.left(state) > 0')], 'ALL', 'svc.item'],
    ['of a mapping, in a json text', `${WHOLE} WHERE doc ->> 'a' = '1'`, [], 'ALL', 'svc.item'],
    ['of a mapping, next to a float', `${WHOLE} WHERE big < sqrt(2)`, [], 'ALL', 'svc.item'],
    ['of a policy, beside a path', HALVES, [policy(`"lies_in[box].box_state" = 'open' AND code < 100`)], 'ALL', 'svc.item'],
    ['of a policy, over a calculated property', WHOLE, [policy('inverse < 100')], 'ALL', 'dsvc.item'],
    ['of a mapping', `${WHOLE} WHERE code::bigint < 100`, [], 'ALL', 'svc.item'],
    ['of a mapping with DISTINCT', `${WHOLE.replace('SELECT', 'SELECT DISTINCT')} WHERE code::bigint < 100`, [], 'ALL', 'svc.item'],
    ['of a logic concept', WHOLE.replace(' n,', ' n::integer AS n,'), [], 'concept.plain', 'svc.plain'],
    ['of a cube', WHOLE.replace(' n,', ' n::integer AS n,'), [], 'view.sums', 'vsvc.sums'],
  ])('%s', async (what, mapping, policies, grant, relation) => {
    const ontology = what.replaceAll(/\W+/g, '_');
    const made = model(mapping)
      .replace(`svc.item WHERE ${OPEN};`, 'svc.item WHERE code < 100;')
      .replace(/CUBE sums .*/, 'CUBE sums AS SELECT n, id FROM svc.item WHERE code < 100;');
    const functions = `ALTER ONTOLOGY ${ontology} SET allowed_functions = 'fence.left'`;
    await s.rows([`CREATE ONTOLOGY ${ontology}`, made, functions, ...policies].join('; '));
    const reader = await s.user(ontology, `QUERY ON ${grant === 'ALL' ? `ALL ontology.${ontology}` : `ontology.${ontology}.${grant}`}`);
    const answers = [];
    for (const n of [7, 8, 9]) {
      const { status, json } = await s.query(`SELECT id FROM ${relation} WHERE n = ${n}`, ontology, reader);
      answers.push([status, json.code]);
    }
    expect(answers).toEqual([answers[2], answers[2], answers[2]]);
  });
});

/** The first rows of each mapping are read by its index. The point at which the reading fails would show between which visible rows a hidden one is. */
it('a condition that fails in a hidden row fails for any LIMIT', async () => {
  for (const sql of [
    'CREATE TABLE fence.long (id bigint, n bigint)',
    'CREATE TABLE fence.short (id bigint, n integer, code text)',
    'INSERT INTO fence.long SELECT g, g FROM generate_series(1, 1000) AS g',
    "INSERT INTO fence.short SELECT g, g, CASE g WHEN 1500 THEN 'x' ELSE '1' END FROM generate_series(1001, 2000) AS g",
    'CREATE INDEX ON fence.long (n)',
    'CREATE INDEX ON fence.short (n)',
    'ANALYZE fence.short',
  ])
    await s.database.exec(sql);
  await s.rows(`CREATE ONTOLOGY lengths; CREATE CONCEPT item (id bigint, n bigint, PRIMARY KEY (id)); CREATE CONCEPT part INHERITS (item);
    CREATE MAPPING m_long INTO item AS SELECT id, n FROM fence.long; CREATE MAPPING m_short INTO part AS SELECT id, n FROM fence.short WHERE code::integer < 100`);
  const reader = await s.user('lengths', 'QUERY ON ALL ontology.lengths');
  for (const limit of [2, 400, 600])
    expect(await s.fault(`SELECT id FROM svc.item ORDER BY n DESC LIMIT ${limit}`, 'lengths', reader)).toBe('400 invalid_text_representation');
});

describe('a window over all rows of a mapping', () => {
  let editor: string;
  beforeAll(async () => {
    await s.rows(`CREATE ONTOLOGY windows; ${model(WHOLE)}`);
    await s.rows(policy("state = 'open'"), 'windows');
    await s.rows('CREATE USER wanda; GRANT EDIT ON ALL ontology.windows TO USER wanda WITH GRANT OPTION');
    editor = (await s.rows('CREATE TOKEN FOR wanda'))[0].token;
  });

  const WINDOW = "string_agg(state, ',') OVER ()";
  it.each([
    `CREATE PROPERTY all_states string AS SELECT ${WINDOW}; CREATE CONCEPT seen (all_states string) INHERITS (item)`,
    'CREATE PROPERTY before bigint AS SELECT coalesce(lag(n) OVER (ORDER BY id), 0)',
    'CREATE PROPERTY many bigint AS SELECT COUNTIF(n > 1) OVER (PARTITION BY box_id)',
    `CREATE MEASURE states string AS SELECT MAX(state) OVER (); CREATE CONCEPT seen (states MEASURE string) INHERITS (item)`,
    'CREATE MEASURE some bigint AS SELECT COUNT(id) WHERE rank() OVER (ORDER BY n) > 1',
    `CREATE CONCEPT seen INHERITS (item) FROM svc.item WHERE ${WINDOW} LIKE '%shut%'`,
    `CREATE POLICY more ON CONCEPT box TO PUBLIC USING (count(*) OVER () > 1)`,
    `CREATE POLICY veil ON PROPERTY state MASK WITH (${WINDOW})`,
  ])('is refused in a stored expression: %s', async (script) => {
    const { status, json } = await s.query(script, 'windows', editor);
    expect([status, json.code], json.data).toEqual([400, 'bad_expression']);
    expect(json.position).toBeGreaterThan(1);
  });

  it.each([
    'random()',
    'clock_timestamp()',
    'gen_random_uuid()::text',
    'generate_series(1, n)',
    'unnest(ARRAY[n])',
    "(jsonb_each('{}')).key",
    "regexp_split_to_table(state, '')",
  ])('and what PostgreSQL computes before the conditions of policies: %s', async (expression) => {
    const script = `CREATE PROPERTY other string AS SELECT ${expression}; CREATE CONCEPT seen (other string) INHERITS (item)`;
    const { status, json } = await s.query(script, 'windows', editor);
    expect([status, json.code], json.data).toEqual([400, 'bad_expression']);
    expect(json.position).toBe(script.indexOf(expression.replace(/^\(/, '')) + 1);
    expect(await s.fault(`CREATE POLICY veil ON PROPERTY state MASK WITH (${expression})`, 'windows', editor)).toBe('400 bad_expression');
  });

  it('has only the rows of the caller in a query, and in a sub-query of a condition those of its definer', async () => {
    expect(await s.rows(`SELECT DISTINCT ${WINDOW} AS v FROM svc.item`, 'windows', editor)).toEqual([{ v: 'open,open' }]);
    await s.rows(
      'CREATE CONCEPT first INHERITS (item) FROM svc.item WHERE id IN (SELECT r.id FROM (SELECT b.id, rank() OVER (ORDER BY b.id) AS k FROM svc.item b) r WHERE r.k = 1)',
      'windows',
    );
    expect(await s.rows('SELECT id FROM svc.first', 'windows', editor)).toEqual([{ id: 1 }]);
  });
});
