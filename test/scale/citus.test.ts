/**
 * Queries on a Citus cluster: they return the rows of an undistributed database, in the same order, or Citus refuses them. It runs where `CITUS_URL` names the
 * coordinator of a cluster, or by `npm run scale:citus`. It creates and drops the schemas shop, tpch and world there.
 */
import { readFile } from 'node:fs/promises';
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { distribute, isRefusal, LAYOUTS } from '../../bench/tpch/layouts.ts';
import { intoPglite, intoPostgres, loadTpch } from '../../bench/tpch/load.ts';
import { QUERIES, texts } from '../../bench/tpch/queries/index.ts';
import { graphOf } from '../../examples/world/graph.ts';
import { loadWorldTables } from '../../examples/world/load.ts';
import { RIGHTS } from '../../src/cli/doctor-role.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { PLACEMENTS, placementsIn } from '../../src/engine/placements.ts';
import { SvcError } from '../../src/errors.ts';
import { type FinishedRewrite, type Plan, planSelect, type Target } from '../../src/planner/index.ts';
import { decorrelate } from '../../src/planner/lower/decorrelate.ts';
import { targetFor } from '../../src/planner/lower/placed.ts';
import { UNKNOWN } from '../../src/service/read/placements.ts';
import { memoryDatabase } from '../support/databases/memory.ts';
import { type DocsQuery, languageQueries, languageTables, worldQueries } from '../support/docs-queries.ts';

const SCALE = 0.002;

const parser = await loadNodeParser();
const client = new pg.Client({ connectionString: inject('citusUrl') });
let db: PGlite;

type Parameters = readonly unknown[];
const plainExec = async (sql: string, params: Parameters = []): Promise<void> => void (await db.query(sql, [...params]));
const exec = async (sql: string, params: Parameters = []): Promise<void> => void (await client.query(sql, [...params]));

/** The values of the only column of the rows, as texts. */
const plainRows = async (sql: string, params: Parameters): Promise<string[]> =>
  (await db.query<{ row: string }>(`SELECT row::text FROM (${sql}) q(row)`, [...params])).rows.map(({ row }) => row);
const rows = async (text: string, values: Parameters): Promise<string[]> =>
  (await client.query({ text, values: [...values], rowMode: 'array', types: { getTypeParser: () => (value: string) => value } as never })).rows.map(
    ([row]) => row,
  );

/** What came of the queries on the cluster, by their names. */
interface Outcome {
  readonly equal: string[];
  readonly refused: string[];
  /** The names of queries with other rows, or with rows in another order. */
  readonly different: string[];
}

/** @param known what plans know of the tables; default: where they are */
async function compare(queries: readonly (DocsQuery & { readonly name: string })[], known?: Target): Promise<Outcome> {
  const outcome: Outcome = { equal: [], refused: [], different: [] };
  const target = known ?? targetFor(placementsIn((await client.query({ text: PLACEMENTS.sql, rowMode: 'array' })).rows));
  for (const { name, graph, text } of queries) {
    let plan: Plan;
    let again: (rewrite: FinishedRewrite) => Plan;
    let expected: string[];
    try {
      const context = { graph, parser, product: 'svc', activeDatasource: 'main' };
      plan = planSelect({ ...context, target: () => target }, { text, offset: 0 });
      again = (rewrite) => planSelect({ ...context, target: () => target, rewrite }, { text, offset: 0 });
      const plain = planSelect(context, { text, offset: 0 });
      expected = await plainRows(plain.sql, plain.params);
    } catch (error) {
      // a page shows some queries for their errors
      if (error instanceof SvcError || (error as { code?: string }).code !== undefined) continue;
      throw error;
    }
    try {
      // as the service does: what Citus refuses is planned again
      const read = (made: Plan): Promise<string[]> =>
        rows(made.sql, made.params).catch((error) => {
          const rewrite = made.isRewritten ? made.nextRewrite : decorrelate;
          if (!rewrite || !isRefusal(error)) throw error;
          return read(again(rewrite));
        });
      const found = await read(plan);
      const isEqual = hasOrder(text) ? JSON.stringify(found) === JSON.stringify(expected) : JSON.stringify(found.sort()) === JSON.stringify(expected.sort());
      (isEqual ? outcome.equal : outcome.different).push(name);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      outcome.refused.push(name);
    }
  }
  return outcome;
}

const hasOrder = (text: string): boolean => /ORDER BY[^()]*$/is.test(text);

beforeAll(async () => {
  db = await memoryDatabase();
  await client.connect();
  await exec("SET statement_timeout = '2min'");
  for (const schema of ['shop', 'tpch', 'world']) await exec(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  for (const sql of languageTables()) {
    await db.exec(sql);
    await exec(sql);
  }
  await loadTpch(intoPglite(db), SCALE);
  await loadWorldTables(plainExec);
}, 300_000);
afterAll(async () => {
  await client.end();
  await db.close();
});

describe('on Citus, EXISTS over tables that Citus does not know', () => {
  const MODEL = `CREATE ONTOLOGY near; CREATE CONCEPT far (id integer, v integer, PRIMARY KEY (id)); CREATE CONCEPT kept (id integer, v integer, PRIMARY KEY (id));
    CREATE MAPPING m_far INTO far AS SELECT id, v FROM near.far; CREATE MAPPING m_kept INTO kept AS SELECT id, v FROM near.kept`;
  const TEXT =
    'SELECT COUNT(*) AS n FROM (SELECT a.id, EXISTS (SELECT 1 FROM svc.kept b WHERE b.v = a.id) AS e FROM svc.kept a WHERE a.v IN (SELECT v FROM svc.far)) q WHERE q.e';

  it('ends no process', async () => {
    for (const run of [exec, plainExec]) for (const sql of ['DROP SCHEMA IF EXISTS near CASCADE', 'CREATE SCHEMA near']) await run(sql);
    for (const t of ['far', 'kept']) {
      for (const run of [exec, plainExec]) await run(`CREATE TABLE near.${t} (id integer PRIMARY KEY, v integer)`);
      if (t === 'far') await exec("SELECT create_distributed_table('near.far', 'id')");
      for (const run of [exec, plainExec]) await run(`INSERT INTO near.${t} SELECT n, n FROM generate_series(1, 300) n`);
    }
    await exec('ANALYZE near.kept');
    const graph = graphOf(MODEL, 'near', parser);
    expect(await compare([{ name: 'exists', graph, text: TEXT }])).toEqual({ equal: ['exists'], refused: [], different: [] });
    await exec('DROP SCHEMA near CASCADE');
  });
});

it('kg doctor recognises Citus, and workers get the settings of ALTER ROLE', async () => {
  await exec('CREATE TABLE IF NOT EXISTS moments (id integer PRIMARY KEY, at timestamptz)');
  await exec("SELECT create_distributed_table('moments', 'id') WHERE NOT EXISTS (SELECT FROM citus_tables WHERE table_name = 'moments'::regclass)");
  await exec("INSERT INTO moments VALUES (1, '2026-01-01 00:00Z') ON CONFLICT DO NOTHING");
  await exec('DROP ROLE IF EXISTS moments_reader');
  await exec('CREATE ROLE moments_reader LOGIN');
  await exec("ALTER ROLE moments_reader SET TimeZone = 'Asia/Tokyo'");
  await exec('GRANT SELECT ON moments TO moments_reader');
  const url = new URL(inject('citusUrl'));
  url.username = 'moments_reader';
  const reader = new pg.Client({ connectionString: url.href });
  await reader.connect();
  try {
    const [[rights] = []] = (await reader.query<string[]>({ text: RIGHTS, rowMode: 'array' })).rows;
    expect(JSON.parse(rights as string)).toMatchObject({ isDistributed: true, own: ['TimeZone=Asia/Tokyo'] });
    await reader.query("SET TimeZone = 'UTC'");
    // what the service sets for its session does not reach the workers
    expect((await reader.query('SELECT to_json(at)::text AS at FROM moments')).rows).toEqual([{ at: '"2026-01-01T09:00:00+09:00"' }]);
  } finally {
    await reader.end();
    await exec('DROP TABLE moments');
    await exec('DROP ROLE moments_reader');
  }
});

describe('on Citus, the queries of docs/language.md', () => {
  it('return the same rows', async () => {
    const tables = (
      await client.query(
        "SELECT relname, attname FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid AND attnum = 1 WHERE relnamespace = 'shop'::regnamespace AND relkind = 'r'",
      )
    ).rows;
    await distribute(client, 'shop', Object.fromEntries(tables.map((t) => [t.relname, t.attname])));
    const { equal, refused, different } = await compare(languageQueries().map((q) => ({ ...q, name: q.text.replace(/\s+/g, ' ') })));
    expect(different).toEqual([]);
    expect(refused).toEqual([]);
    expect(equal.length).toBeGreaterThan(35);
  });
});

describe('on Citus, the 22 queries of TPC-H', () => {
  const graph = readFile(new URL('../../bench/tpch/model.kg', import.meta.url), 'utf8').then((script) => graphOf(script, 'tpch', parser));

  it.each(LAYOUTS)('in the layout $name, return the same rows, or are refused', async ({ columns, refused: allowed }) => {
    await exec('DROP SCHEMA IF EXISTS tpch CASCADE');
    await loadTpch({ ...intoPostgres(client), exec }, SCALE);
    await distribute(client, 'tpch', columns);
    const model = await graph;
    const queries = QUERIES.flatMap((q) => {
      const { sql, alternatives } = texts(q, SCALE, true);
      return [sql, ...alternatives].map((text) => ({ name: String(q.number), graph: model, text }));
    });
    const { equal, refused, different } = await compare(queries);
    expect(different).toEqual([]);
    expect(refused.filter((name) => !allowed.includes(Number(name)))).toEqual([]);
    expect(new Set(equal).size).toBeGreaterThanOrEqual(22 - allowed.length);
  });
});

describe('on Citus, the queries of docs/world.md', () => {
  it.each([
    ['with distributed cities', { t_city: 'geo_id' }],
    ['with all tables distributed', { t_city: 'cc3', t_country: 'cc3', t_border: 'cc3_from', t_country_lang: 'cc3' }],
  ])('%s, return the same rows', async (_, columns) => {
    await loadWorldTables(exec);
    await distribute(client, 'world', columns as Record<string, string>);
    const { equal, refused, different } = await compare((await worldQueries(parser)).map((q) => ({ ...q, name: q.text.replace(/\s+/g, ' ') })));
    expect(different).toEqual([]);
    expect(refused).toEqual([]);
    expect(equal.length).toBeGreaterThan(5);
  });
});

describe('on Citus, a concept of several mappings over tables of one group', () => {
  const QUERIES = [
    'SELECT label, COUNT(*) AS n FROM svc.party GROUP BY label',
    'SELECT label, v FROM svc.party WHERE v < 3',
    'SELECT "lives_in[town].name" AS t, SUM(v) AS v FROM dsvc.party GROUP BY "lives_in[town].name"',
  ];
  const MODEL = `CREATE ONTOLOGY kinds; CREATE CONCEPT town (tid bigint, name string, PRIMARY KEY (tid));
    CREATE CONCEPT party (id bigint, label string, v bigint, town bigint, PRIMARY KEY (id), CONSTRAINT lives_in FOREIGN KEY (town) REFERENCES town (tid) INVERSEOF houses);
    CREATE MAPPING m_town INTO town AS SELECT tid, name FROM kinds.town;
    ${['a', 'b'].map((t) => `CREATE MAPPING m_${t} INTO party AS SELECT id, label, v, town FROM kinds.${t}`).join('; ')}`;

  /** One task reads a shard of each table. */
  const BOTH_SHARDS = /-> {2}Append[^\n]*\n(\s*->[^\n]* on )a_\d+ a\b[^\n]*\n(\s*Filter:[^\n]*\n)?(\s*->[^\n]* on )b_\d+ b\b/;

  it('runs on the workers if the plan knows where the tables are, with the same rows', async () => {
    await exec('DROP SCHEMA IF EXISTS kinds CASCADE');
    await exec('CREATE SCHEMA kinds');
    await exec('CREATE TABLE kinds.town (tid integer PRIMARY KEY, name text)');
    await exec("SELECT create_reference_table('kinds.town')");
    await exec("INSERT INTO kinds.town VALUES (0, 'x'), (1, 'y')");
    for (const [i, t] of ['a', 'b'].entries()) {
      await exec(`CREATE TABLE kinds.${t} (id integer PRIMARY KEY, label text, v integer, town integer)`);
      await exec(`SELECT create_distributed_table('kinds.${t}', 'id')`);
      await exec(`INSERT INTO kinds.${t} SELECT ${1000 * i} + n, 'l' || n % 3, n % 7, n % 3 FROM generate_series(1, 500) n`);
    }
    const placements = placementsIn((await client.query({ text: PLACEMENTS.sql, rowMode: 'array' })).rows);
    expect(placements.get('["kinds","a"]')).toEqual(placements.get('["kinds","b"]'));
    expect(placements.get('["kinds","town"]')).toBeNull();
    const target = targetFor(placements);
    const context = { graph: graphOf(MODEL, 'kinds', parser), parser, product: 'svc', activeDatasource: 'main' };
    for (const text of QUERIES) {
      const [plain, placed] = [planSelect(context, { text, offset: 0 }), planSelect({ ...context, target: () => target }, { text, offset: 0 })];
      const explained = async (plan: Plan): Promise<string> => (await rows(`EXPLAIN ${plan.sql}`, plan.params)).join('\n');
      expect(await explained(plain)).not.toMatch(BOTH_SHARDS);
      expect(await explained(placed)).toMatch(BOTH_SHARDS);
      expect((await rows(placed.sql, placed.params)).sort()).toEqual((await rows(plain.sql, plain.params)).sort());
    }
    await exec('DROP SCHEMA kinds CASCADE');
  });
});

describe('on Citus, a concept of several mappings that is joined with distributed tables', () => {
  const MODEL = `CREATE ONTOLOGY staff;
    CREATE CONCEPT person (id integer, boss integer, kind string, PRIMARY KEY (id), CONSTRAINT under FOREIGN KEY (boss) REFERENCES person (id) INVERSEOF over);
    CREATE CONCEPT badge (no integer, kind string, PRIMARY KEY (no));
    ${['a', 'b'].map((t) => `CREATE MAPPING m_${t} INTO person AS SELECT id, boss, kind FROM staff.${t}`).join('; ')};
    CREATE MAPPING m_c INTO badge AS SELECT id AS no, kind FROM staff.c;
    ${['one', 'two', 'all'].map((v) => `CREATE CONCEPT ${v} (id integer, boss integer, kind string, PRIMARY KEY (id), CONSTRAINT ${v}_boss FOREIGN KEY (boss) REFERENCES badge (no) INVERSEOF ${v}_of)`).join('; ')};
    CREATE MAPPING m_one INTO one AS SELECT id, boss, kind FROM staff.v;
    CREATE MAPPING m_two INTO two AS SELECT * FROM staff.w WHERE id > 3;
    CREATE MAPPING m_all INTO all AS SELECT v.id, c.boss, v.kind FROM staff.v JOIN staff.c ON c.id = v.boss;
    CREATE MAPPING m_both INTO all AS SELECT id, boss, kind FROM staff.w`;
  const QUERIES = [
    'SELECT COUNT("under[person].id") AS n FROM dsvc.person',
    'SELECT id, "under[person].kind" AS kind FROM dsvc.person WHERE kind = \'k1\'',
    'SELECT id, COUNT("over[person].id") AS n FROM dsvc.person GROUP BY id',
    'SELECT COUNT(*) AS n FROM svc.person p JOIN svc.person q ON p.kind = q.kind',
    'SELECT COUNT(*) AS n FROM svc.person p LEFT JOIN svc.badge q ON p.boss = q.no',
    'SELECT COUNT(*) AS n FROM svc.person p JOIN svc.badge q ON p.kind = q.kind WHERE p.boss IN (SELECT no FROM svc.badge)',
    'WITH u AS (SELECT id, kind FROM svc.person) SELECT COUNT(*) AS n FROM u JOIN u v ON u.kind = v.kind',
    'SELECT p.id, EXISTS (SELECT 1 FROM svc.badge c WHERE c.no < p.boss) AS e FROM svc.person p',
    'SELECT COUNT(*) AS n FROM svc.person p, svc.badge c WHERE p.id < c.no',
    // over views with unions
    ...['one', 'two', 'all'].flatMap((v) => [
      `SELECT COUNT(*) AS n FROM svc.${v}`,
      `SELECT id, "${v}_boss[badge].kind" AS k FROM dsvc.${v}`,
      `SELECT id, "${v}_boss[badge].kind" AS k FROM dsvc.${v} WHERE id = 7`,
      `SELECT no, COUNT("${v}_of[${v}].id") AS n FROM dsvc.badge GROUP BY no`,
      `SELECT p.id, q.no FROM svc.${v} p JOIN svc.badge q ON q.kind = p.kind`,
      `SELECT p.id, q.kind FROM svc.${v} p JOIN svc.badge q ON q.no = p.boss`,
      `SELECT COUNT(*) AS n FROM svc.${v} p JOIN svc.person q ON q.boss = p.boss`,
      `SELECT no FROM svc.badge WHERE no IN (SELECT boss FROM svc.${v})`,
    ]),
  ];

  it('has the rows of an undistributed database', async () => {
    for (const [i, t] of ['a', 'b', 'c'].entries()) {
      if (i === 0) for (const run of [exec, plainExec]) for (const sql of ['DROP SCHEMA IF EXISTS staff CASCADE', 'CREATE SCHEMA staff']) await run(sql);
      for (const run of [exec, plainExec]) await run(`CREATE TABLE staff.${t} (id integer PRIMARY KEY, boss integer, kind text)`);
      await exec(`SELECT create_distributed_table('staff.${t}', 'id')`);
      for (const run of [exec, plainExec])
        await run(`INSERT INTO staff.${t} SELECT ${i * 50} + n, ${i * 50} + n / 2, 'k' || n % 7 FROM generate_series(1, 40) n`);
    }
    for (const run of [exec, plainExec]) {
      await run('CREATE VIEW staff.v AS SELECT id, boss + 95 AS boss, kind FROM staff.a UNION ALL SELECT id, boss + 50, kind FROM staff.b');
      await run('CREATE VIEW staff.w AS SELECT id, boss, kind FROM staff.v WHERE id IS NOT NULL');
    }
    const graph = graphOf(MODEL, 'staff', parser);
    // the layout was read, or nothing is known of it
    for (const target of [undefined, UNKNOWN.target]) {
      const { equal, refused, different } = await compare(
        QUERIES.map((text) => ({ name: text, graph, text })),
        target,
      );
      expect(different).toEqual([]);
      expect(refused).toEqual([]);
      expect(equal).toEqual(QUERIES);
    }
    await exec('DROP SCHEMA staff CASCADE');
  });
});
