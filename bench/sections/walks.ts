/** (walks) Transitive paths over 100,000 nodes and 500,000 links at random, against a breadth-first search in SQL by hand, and deeper walks that find nothing more. */
import pg from 'pg';
import { startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { graphOf } from '../../examples/world/graph.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { type PlanContext, planSelect } from '../../src/planner/index.ts';
import { interleaved, median, ms, ratio } from '../lib/measure.ts';
import { aim, note, table } from '../lib/table.ts';
import { explained, rowsOf } from '../tpch/database.ts';
import { enforcedIn, withColumnTypes } from '../tpch/typed.ts';

const NODES = 100_000;
const DEGREE = 5;
const ROUNDS = 5;

const TABLES = [
  'CREATE TABLE node (id int PRIMARY KEY, name text NOT NULL)',
  `INSERT INTO node SELECT i, 'n' || i FROM generate_series(1, ${NODES}) i`,
  'CREATE TABLE link (a int NOT NULL, b int NOT NULL, PRIMARY KEY (a, b))',
  'SELECT setseed(0.5)',
  `INSERT INTO link SELECT i, 1 + floor(random() * ${NODES})::int FROM generate_series(1, ${NODES}) i, generate_series(1, ${DEGREE}) ON CONFLICT DO NOTHING`,
  'CREATE INDEX ON link (b)',
  'ALTER TABLE link ADD FOREIGN KEY (a) REFERENCES node, ADD FOREIGN KEY (b) REFERENCES node',
  'VACUUM ANALYZE',
  'SET jit = off',
  'SET max_parallel_workers_per_gather = 0',
  "SET work_mem = '64MB'",
  'SET random_page_cost = 1.1',
];

const MODEL = `CREATE ONTOLOGY walks;
CREATE CONCEPT node (id int, name string, PRIMARY KEY (id), CONSTRAINT leads_to MULTIREFERENCE node INVERSEOF led_from TRANSITIVE(32));
CREATE MAPPING m_node INTO node AS SELECT id, name FROM node;
CREATE MAPPING m_link (CONSTRAINT leads_to FOREIGN KEY (b) REFERENCES node (id), CONSTRAINT led_from FOREIGN KEY (a) REFERENCES node (id)) AS SELECT a, b FROM link;`;

const path = (depth: number): string => `leads_to[node*${depth}]`;
const ours = (depth: number, where: string): string =>
  `SELECT COUNT("${path(depth)}.name") AS n, SUM("${path(depth)}_transitivity_level") AS levels FROM dsvc.node WHERE ${where}`;

/** A breadth-first search over arrays of new and of seen nodes, along the links or against them. It relies on links that end at nodes. */
const byHand = (depth: number, where: string, [from, to] = ['a', 'b']): string => `SELECT count(t.name) AS n, sum(w.level) AS levels
FROM node p, LATERAL (
  WITH RECURSIVE s(level, front, seen) AS (
    SELECT 0, ARRAY[p.id], ARRAY[]::int[]
    UNION ALL
    SELECT s.level + 1, x.front, s.seen || x.front
    FROM s, LATERAL (SELECT array_agg(DISTINCT l.${to}) AS front FROM unnest(s.front) AS u(n) JOIN link l ON l.${from} = u.n
                     WHERE NOT EXISTS (SELECT FROM unnest(s.seen) AS v(n) WHERE v.n = l.${to})) x
    WHERE s.level < ${depth} AND x.front IS NOT NULL)
  SELECT u.n, s.level FROM s, unnest(s.front) AS u(n) WHERE s.level > 0) w
JOIN node t ON t.id = w.n WHERE ${where}`;

const COMPARED: readonly (readonly [name: string, ontology: string, byHand: string])[] = [
  ['one start, `*32`', ours(32, 'id = 4711'), byHand(32, 'p.id = 4711')],
  ['twenty starts, `*3`', ours(3, 'id BETWEEN 101 AND 120'), byHand(3, 'p.id BETWEEN 101 AND 120')],
  [
    'one end, `*32`',
    `SELECT COUNT("${path(32)}.id") AS n, SUM("${path(32)}_transitivity_level") AS levels FROM dsvc.node WHERE "${path(32)}.id" = 4711`,
    byHand(32, 'p.id = 4711', ['b', 'a']),
  ],
];

export async function run(): Promise<void> {
  const server = await startScratchPostgres();
  const client = new pg.Client({ connectionString: server.url });
  try {
    await client.connect();
    for (const sql of TABLES) await client.query(sql);
    const parser = await loadNodeParser();
    const graph = await withColumnTypes(graphOf(MODEL, 'walks', parser), (sql) => client.query(sql));
    const enforces = await enforcedIn((sql) => client.query(sql));
    const context: PlanContext = { graph, enforces, parser, product: 'svc', activeDatasource: 'main', keepsNames: () => true };
    const planned = (sql: string) => planSelect(context, { text: sql, offset: 0 });
    const timed = (sql: string) => {
      const plan = planned(sql);
      return () => explained(client, plan.sql, plan.params);
    };
    const rows: string[][] = [];
    for (const [name, sql, hand] of COMPARED) {
      const plan = planned(sql);
      const wanted = `SELECT row_to_json(q) FROM (${hand}) q`;
      if ((await rowsOf(client, plan.sql, plan.params)).join() !== (await rowsOf(client, wanted)).join()) throw new Error(`the rows differ: ${name}`);
      const took = await interleaved({ ours: timed(sql), hand: () => explained(client, wanted) }, ROUNDS, 1);
      // a walk from its end joins the links once more than the search
      const isAim = !name.startsWith('one end');
      if (isAim) aim('walks', `${name.replaceAll('`', '')}, against a search by hand`, median(took.ours) / median(took.hand), { most: 1.3 });
      rows.push([name, ms(median(took.hand)), ms(median(took.ours)), ratio(median(took.ours), median(took.hand)), isAim ? 'x1.30' : '']);
    }
    table(`(walks) ${NODES} nodes, ${NODES * DEGREE} links`, ['walk', 'by hand', 'ontology', 'to hand', 'aim'], rows);
    const last = Number((await client.query(byHand(32, 'p.id = 4711').replace(/^SELECT.*/, 'SELECT max(w.level) AS level'))).rows[0].level);
    const took = await interleaved(
      { last: timed(ours(last, 'id = 4711')), deep: timed(ours(2 * last, 'id = 4711')), most: timed(ours(32, 'id = 4711')) },
      ROUNDS,
      1,
    );
    const base = median(took.last);
    aim('walks', `*32 against *${last}, where nothing is found after ${last}`, median(took.most) / base, { most: 1.1 });
    table(
      '(walks) deeper walks that find nothing more, one start',
      ['walk', 'time', 'to the first', 'aim'],
      [
        [`\`*${last}\`, finds the last node`, ms(base), '', ''],
        [`\`*${2 * last}\``, ms(median(took.deep)), ratio(median(took.deep), base), 'x1.10'],
        ['`*32`', ms(median(took.most)), ratio(median(took.most), base), 'x1.10'],
      ],
    );
    note(
      'By hand: a recursion over arrays of new and of seen nodes, which does not check that links end at nodes. The foreign keys of the links are enforced, so the ontology does not check it either.',
    );
  } finally {
    await client.end().catch(() => undefined);
    await server.stop();
  }
}
