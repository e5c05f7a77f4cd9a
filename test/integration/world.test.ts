import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Row, worldDoc } from '../../examples/world/doc.ts';
import { graphOf, worldModel } from '../../examples/world/graph.ts';
import { loadWorldTables, worldLoaded } from '../../examples/world/load.ts';
import { QUESTIONS } from '../../examples/world/questions.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { planSelect } from '../../src/planner/index.ts';
import { memoryDatabase } from '../support/databases/memory.ts';
import { sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('integration/world');

const parser = await loadNodeParser();
const graph = graphOf(await worldModel(), 'world', parser);
const context = { graph, parser, product: 'svc', activeDatasource: 'main', keepsNames: () => true };

let db: PGlite;
const query = async (sql: string, params: unknown[] = []) => (await db.query<Row>(sql, params as never[])).rows;
const exec = async (sql: string, params: unknown[] = []) => void (await query(sql, params));

/** Rows of SQL over the ontology: the plan's one column is a row's JSON. */
async function ask(sql: string): Promise<Row[]> {
  const plan = planSelect(context, { text: sql, offset: 0 });
  return (await query(plan.sql, [...plan.params])).map((row) => Object.values(row)[0] as Row);
}
/** Rows of SQL over the tables, with the values that PostgreSQL writes as JSON. */
const byHand = async (sql: string): Promise<Row[]> => (await query(`SELECT to_json(q) AS r FROM (${sql}) q`)).map((row) => row.r as Row);

beforeAll(async () => {
  db = await memoryDatabase();
  await loadWorldTables(exec);
});
afterAll(() => db.close());

describe('the tables of the sample graph', () => {
  it('are marked as loaded', async () => {
    expect(await worldLoaded(query)).toBe(true);
  });

  it('have the data of the packages', async () => {
    expect(await query('SELECT count(*)::int AS n, count(DISTINCT cc2)::int AS codes FROM world.t_country')).toEqual([{ n: 250, codes: 250 }]);
    expect(await query('SELECT count(*)::int AS n FROM world.t_city')).toEqual([{ n: 135233 }]);
    expect(await query("SELECT city_nm, cc3, pop FROM world.t_city WHERE geo_id = 2950159 AND fcode = 'PPLC'")).toEqual([
      { city_nm: 'Berlin', cc3: 'DEU', pop: 3426354 },
    ]);
    expect(await query("SELECT curr_nm, sign FROM world.t_curr WHERE curr = 'GBP'")).toEqual([{ curr_nm: 'British pound', sign: '£' }]);
  });

  it('have comments', async () => {
    const silent = `SELECT c.relname, a.attname FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE c.relnamespace = 'world'::regnamespace AND c.relkind = 'r'
        AND (obj_description(c.oid, 'pg_class') IS NULL OR col_description(c.oid, a.attnum) IS NULL)`;
    expect(await query(silent)).toEqual([]);
  });

  it('may be read by every role', async () => {
    await exec('CREATE ROLE somebody');
    const closed = `SELECT relname FROM pg_class WHERE relnamespace = 'world'::regnamespace AND relkind = 'r' AND NOT has_table_privilege('somebody', oid, 'SELECT')`;
    expect(await query(closed)).toEqual([]);
  });

  it('are not created in a schema of another owner', async () => {
    const other = await memoryDatabase();
    const run = async (sql: string) => void (await other.query(sql));
    await run('CREATE SCHEMA world');
    await run('CREATE TABLE world.mine (a int)');
    await expect(loadWorldTables(run)).rejects.toThrow("schema world exists and is not the sample graph's");
    expect(await worldLoaded(async (sql) => (await other.query<Row>(sql)).rows)).toBe(false);
    await run('SELECT * FROM world.mine');
    await other.close();
  });

  it.runIf(SIZES.loads > 0)(
    'are created again after an interrupted load',
    async () => {
      const other = await memoryDatabase();
      let left = 30;
      const cut = async (sql: string, params: unknown[] = []) => {
        if (left-- === 0) throw new Error('cut off');
        await other.query(sql, params as never[]);
      };
      const loaded = () => worldLoaded(async (sql) => (await other.query<Row>(sql)).rows);
      await expect(loadWorldTables(cut)).rejects.toThrow('cut off');
      expect(await loaded()).toBe(false);
      left = Number.POSITIVE_INFINITY;
      await loadWorldTables(cut);
      expect(await loaded()).toBe(true);
      await other.close();
    },
    60_000,
  );
});

describe('the model of the sample graph', () => {
  it('describes everything in it', () => {
    const { model } = graph;
    const all = [...model.properties, ...model.measures, ...model.concepts, ...model.concepts.flatMap((c) => c.relationships), ...model.views];
    expect(all.filter((x) => !x.description).map((x) => x.name)).toEqual([]);
  });

  it('has a row for each row of the tables, once', async () => {
    const count = async (concept: string) => (await ask(`SELECT count(*) AS n, count(DISTINCT entity_id) AS ids FROM svc.${concept}`))[0];
    expect(await count('city')).toEqual({ n: 135233, ids: 135233 });
    expect(await count('capital')).toEqual({ n: 241, ids: 241 });
    expect(await count('megacity')).toEqual({ n: 15, ids: 15 });
    expect(await count('place')).toEqual({ n: 135483, ids: 135483 });
    expect(await count('language')).toEqual({ n: 153, ids: 153 });
  });
});

describe('COUNT of entity_id', () => {
  const counted = (arguments_: (path: string) => string): string =>
    ['', 'borders[country].', 'speaks[language].', 'located_in[region].']
      .map((path, i) => arguments_(path === '' ? 'entity_id' : `"${path}entity_id"`).replaceAll('#', String(i)))
      .join(', ');

  it('is the number of ids, although it reads only keys', async () => {
    for (const call of [(id: string) => `COUNT(${id}) AS n#`, (id: string) => `COUNT(DISTINCT ${id}) AS n#`]) {
      const sql = (of: (path: string) => string): string =>
        `SELECT region_name AS region, ${counted(of)} FROM dsvc.country GROUP BY region_name ORDER BY region_name`;
      const rows = await ask(sql(call));
      expect(rows.length).toBeGreaterThan(3);
      expect(rows).toEqual(await ask(sql((path) => call(`(${path} || '')`))));
    }
    // without a path, some countries have no border
    const [none] = await ask('SELECT COUNT("borders[country].entity_id") AS n, COUNT(*) AS all_rows FROM dsvc.country WHERE name = \'Iceland\'');
    expect(none).toEqual({ n: 0, all_rows: 1 });
  });
});

describe('the questions', () => {
  it.each(QUESTIONS)('$question', async ({ sql, byHand: hand }) => {
    const rows = await ask(sql);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows).toEqual(await byHand(hand));
  });

  // From the tables, which the tests above compare with the ontology, so that the page is never wrong.
  it('are answered in docs/world.md', async () => {
    const answers: Row[][] = [];
    for (const q of QUESTIONS) answers.push(await byHand(q.byHand));
    await expect(worldDoc(graph, QUESTIONS, answers)).toMatchFileSnapshot('../../docs/world.md');
  });
});
