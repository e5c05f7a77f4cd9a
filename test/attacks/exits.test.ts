/** Output of the service other than rows: claims as texts, row counts in system tables. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepCounts } from '../../src/catalog/counts.ts';
import { admins, ask, by, db, jwt, s, startCallers, user } from './callers.ts';

beforeAll(startCallers);
afterAll(() => s?.close());

describe('A claim', () => {
  let email: string;
  beforeAll(async () => {
    const { name } = await user('cleo', 'QUERY ON ALL ontology.shop');
    email = `${name}@corp.example`;
    await admins(`ALTER USER ${name} SET EMAIL = '${email}'`);
  });

  it.each([
    ['an integer beyond 2^53', '9007199254740993', null],
    ['the integer that it would be rounded to', '9007199254740992', null],
    ['a negative one', '-9007199254740993', null],
    ['a number near infinity', '1e999', null],
    ['a text with U+0000', '"Lyon\\u0000"', null],
    ['a text with a lone surrogate', '"Lyon\\ud800"', null],
    ['the greatest integer that is exact', '9007199254740991', '9007199254740991'],
    ['a fraction', '1.5', '1.5'],
    ['a text of digits', '"9007199254740993"', '9007199254740993'],
    ['a text', '"Ly\\u00f3n \\ud83d\\ude00"', 'Ly\u00f3n \u{1f600}'],
  ])('of %s is its exact text, or NULL', async (_, json, text) => {
    const headers = jwt({ email, ...JSON.parse(`{"account":${json},"k\\u0000":"x"}`) });
    for (const sql of ["SELECT svc_claim('account') AS claim", "SELECT svc_claim(CASE name WHEN 'Lyon' THEN 'account' END) AS claim"]) {
      const { status, json: answer } = await ask(`${sql} FROM svc.city WHERE name = 'Lyon'`, headers, 'shop');
      expect([status, answer.data]).toEqual([200, [{ claim: text }]]);
    }
  });
});

describe('Row counts in system tables', () => {
  const VIEWS = 'SELECT number_of_rows AS n FROM svc.SYS_VIEWS';
  const MAPPINGS = "SELECT number_of_rows AS n FROM svc.SYS_CONCEPT_MAPPINGS WHERE concept = 'city'";

  it('are shown to callers who may query the object, and those of views only without masks', async () => {
    await s.rows("CREATE ONTOLOGY VIEW berlins AS SELECT id FROM svc.city WHERE name = 'Berlin'", 'shop');
    const [version] = await s.rows('SHOW VERSION', 'shop');
    await db.batch(
      keepCounts(String(version?.id), [
        { kind: 'view', name: 'berlins', rows: 1 },
        { kind: 'mapping', name: 'm', rows: 2 },
      ]),
    );
    const query = by((await user('quentin', 'QUERY ON ALL ontology.shop')).token);
    const access = by((await user('abel', 'ACCESS ON ALL ontology.shop')).token);
    const counts = async (headers: Readonly<Record<string, string>>) => [
      (await ask(VIEWS, headers, 'shop')).json.data[0].n,
      (await ask(MAPPINGS, headers, 'shop')).json.data[0].n,
      (await ask('SHOW VIEWS', headers, 'shop')).json.data[0].number_of_rows,
    ];
    expect(await counts(query)).toEqual([1, 2, 1]);
    expect(await counts(access)).toEqual([null, null, null]);
    await s.rows('CREATE POLICY veil ON PROPERTY name MASK NULL', 'shop');
    expect(await counts(query)).toEqual([null, 2, null]);
    await s.rows('DROP POLICY veil', 'shop');
    expect(await counts(query)).toEqual([1, 2, 1]);
  });
});

describe('EXPLAIN', () => {
  it('has no estimates for callers who may not see the rows that a mapping filters out', async () => {
    for (const sql of [
      'CREATE TABLE shop.t_worker (id bigint PRIMARY KEY, name text, active boolean)',
      "INSERT INTO shop.t_worker SELECT n, 'Ann' || n % 5, true FROM generate_series(1, 1000) n",
      "INSERT INTO shop.t_worker SELECT n, 'Zoe', false FROM generate_series(1001, 2500) n",
      'ANALYZE shop.t_worker',
    ])
      await s.database.exec(sql);
    await s.rows(
      `CREATE CONCEPT worker (no bigint, called string, PRIMARY KEY (no));
      CREATE MAPPING workers INTO (worker) AS SELECT id AS no, name AS called FROM shop.t_worker WHERE active;
      CREATE ONTOLOGY VIEW raw_workers AS SELECT id, name FROM shop.t_worker WHERE active`,
      'shop',
    );
    const editor = by((await user('edna', 'EDIT ON ALL ontology.shop')).token);
    const reader = by((await user('rita', 'QUERY ON ALL ontology.shop', 'QUERY ON datasource.main')).token);
    for (const select of ['SELECT called FROM svc.worker WHERE called =', 'SELECT name FROM vsvc.raw_workers WHERE name =']) {
      const plan = async (headers: Readonly<Record<string, string>>, name: string) => {
        const [row] = (await ask(`EXPLAIN ${select} '${name}'`, headers, 'shop')).json.data;
        return [row.PLAN, row.SQL === null];
      };
      const [there, missing] = [await plan(editor, 'Zoe'), await plan(editor, 'Nobody')];
      expect(there).toEqual(missing);
      expect(there).toEqual([expect.stringMatching(/^Filter\n {2}-> Read (concept svc\.worker|view vsvc\.raw_workers)$/), false]);
      expect(await plan(reader, 'Zoe')).toEqual([expect.stringContaining('rows='), false]);
    }
    // rows that a view filters out, for a caller who sees its concept but may not query it
    await s.rows("CREATE ONTOLOGY VIEW anns AS SELECT called FROM svc.worker WHERE called LIKE 'Ann%'", 'shop');
    const { token } = await user('paul', 'ACCESS ON ALL ontology.shop', 'QUERY ON datasource.main', 'QUERY ON ontology.shop.view.anns');
    const [row] = (await ask("EXPLAIN SELECT called FROM vsvc.anns WHERE called = 'Zoe'", by(token), 'shop')).json.data;
    expect(row.PLAN).toBe('Filter\n  -> Read view vsvc.anns');
    expect((await ask('EXPLAIN SELECT name FROM svc.city', editor, 'shop')).json.data[0].PLAN).toContain('rows=');
  });
});

describe('A cube or view over a hidden measure', () => {
  let headers: Readonly<Record<string, string>>;
  beforeAll(async () => {
    await s.rows(
      `CREATE MEASURE hidden_sum bigint AS SELECT SUM(id); CREATE MEASURE hidden_names bigint AS SELECT COUNT(name);
      CREATE CONCEPT hidden_city (hidden_sum MEASURE bigint, hidden_names MEASURE bigint) INHERITS (city) FROM svc.city WHERE id > 0;
      CREATE ONTOLOGY CUBE towns AS SELECT name, "measure.hidden_sum" AS n FROM dsvc.hidden_city;
      CREATE ONTOLOGY CUBE totals AS SELECT id, SUM("measure.hidden_sum") AS n FROM dsvc.hidden_city;
      CREATE ONTOLOGY CUBE named AS SELECT id, "measure.hidden_names" AS n FROM dsvc.hidden_city;
      CREATE ONTOLOGY VIEW counted AS SELECT SUM("measure.hidden_names") AS n FROM dsvc.hidden_city`,
      'shop',
    );
    await s.rows('CREATE POLICY veil ON PROPERTY name MASK NULL', 'shop');
    headers = by((await user('cora', ...['towns', 'totals', 'named', 'counted'].map((v) => `QUERY ON ontology.shop.view.${v}`))).token);
  });
  afterAll(() => s.rows('DROP POLICY veil', 'shop'));

  it.each([
    ['SELECT name FROM vsvc.towns WHERE n > 1', '400 the measure `n` is used outside an aggregate'],
    ['SELECT SUM(DISTINCT n) FROM vsvc.towns', '400 the measure `n` can only be the argument of SUM, COUNT, AVG, MIN or MAX'],
    ['SELECT (SELECT n) FROM vsvc.towns', '400 a sub-query uses a measure of the outer query'],
    ['SELECT to_jsonb(totals) FROM vsvc.totals', '400 a sub-query uses a measure of the outer query'],
    ['SELECT n FROM vsvc.named', '403 the measure `n` reads a property whose values are masked for you'],
    ['SELECT n FROM vsvc.counted', '403 a measure reads a property whose values are masked for you'],
    ['SELECT SUM(n) AS n FROM vsvc.totals', '200 3'],
  ])('does not name it: %s', async (sql, answer) => {
    const { status, json, text } = await ask(sql, headers, 'shop');
    expect(text).not.toContain('hidden');
    expect(`${status} ${status === 200 ? json.data[0].n : json.data}`).toBe(answer);
  });
});

describe('A division by zero in a view', () => {
  it('does not name what the view reads, if its text may be hidden', async () => {
    await s.rows(
      `CREATE PROPERTY share bigint AS SELECT 1 / (id - id);
      CREATE CONCEPT open_city (share bigint) INHERITS (city); CREATE CONCEPT closed_city (share bigint) INHERITS (city);
      CREATE ONTOLOGY VIEW shares AS SELECT share AS n FROM dsvc.closed_city`,
      'shop',
    );
    const headers = by((await user('dora', 'QUERY ON ontology.shop.view.shares', 'QUERY ON ontology.shop.concept.open_city')).token);
    expect((await ask('SELECT n FROM vsvc.shares', headers, 'shop')).json).toMatchObject({ code: 'division_by_zero', data: 'division by zero' });
    expect((await ask('SELECT share FROM svc.open_city', headers, 'shop')).json.data).toBe('division by zero; the calculated property `share` divides');
  });
});

describe('A measure in a view', () => {
  it('is not named in errors, if the text of the view may be hidden', async () => {
    await s.rows(
      `CREATE MEASURE per_none bigint AS SELECT COUNT(id) / (COUNT(id) - COUNT(id)); CREATE MEASURE last_name string AS SELECT MAX(name);
      CREATE CONCEPT north (per_none MEASURE bigint, last_name MEASURE string) INHERITS (city); CREATE CONCEPT south (per_none MEASURE bigint, last_name MEASURE string) INHERITS (city);
      CREATE MAPPING m_south INTO (south) AS SELECT id, name FROM shop.t_city;
      CREATE ONTOLOGY VIEW per_city AS SELECT SUM("measure.per_none") AS n FROM dsvc.south; CREATE ONTOLOGY VIEW last_city AS SELECT MAX("measure.last_name") AS n FROM dsvc.south`,
      'shop',
    );
    const headers = by(
      (await user('dina', 'QUERY ON ontology.shop.view.per_city', 'QUERY ON ontology.shop.view.last_city', 'QUERY ON ontology.shop.concept.north')).token,
    );
    expect((await ask('SELECT n FROM vsvc.per_city', headers, 'shop')).json).toMatchObject({ code: 'division_by_zero', data: 'division by zero' });
    await s.rows('CREATE POLICY veil_name ON PROPERTY name MASK NULL', 'shop');
    try {
      expect((await ask('SELECT n FROM vsvc.last_city', headers, 'shop')).json.data).toBe('a measure reads a property whose values are masked for you');
      // a query that names the measure itself
      expect((await ask('SELECT MAX("measure.last_name") AS n FROM dsvc.north', headers, 'shop')).json.data).toBe(
        'the measure `last_name` reads the property `name`, whose values are masked for you',
      );
    } finally {
      await s.rows('DROP POLICY veil_name', 'shop');
    }
  });
});
