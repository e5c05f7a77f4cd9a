/**
 * The foundational semantics of Apache Ossie: a query neither drops a fact nor counts one twice, and does not aggregate aggregates. The models are imported from
 * core documents; the rows are those that Ossie's published catalog of data tests (foundation 0.1) expects for its cases. Its queries name a measure and
 * dimensions; here a query starts at the dataset of the measure, and paths lead to the dimensions. docs/exchange.md lists the other cases.
 */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OSSIE } from '../../src/cli/exchange/ossie.ts';
import { modelOfScripts, scriptOf } from '../../src/cli/exchange/script-model.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { createSqlReader } from '../../src/language/expressions.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { planSelect } from '../../src/planner/index.ts';
import { memoryDatabase } from '../support/databases/memory.ts';

const parser = await loadNodeParser();

const field = (name: string, datatype: string, expression = name) => ({ name, datatype, expression: { dialects: [{ dialect: 'ANSI_SQL', expression }] } });
const metric = (name: string, expression: string, more: object = {}) => ({ name, expression: { dialects: [{ dialect: 'ANSI_SQL', expression }] }, ...more });
const link = (name: string, from: string, to: string, ...columns: readonly (readonly [string, string])[]) => ({
  name,
  from,
  to,
  from_columns: columns.map(([c]) => c),
  to_columns: columns.map(([, c]) => c),
});
const dataset = (name: string, primary_key: readonly string[], fields: readonly object[]) => ({ name, source: `f.${name}`, primary_key, fields });

const SHOP = {
  name: 'shop',
  datasets: [
    dataset(
      'customers',
      ['id'],
      [
        field('id', 'Integer'),
        field('region', 'String'),
        field('segment', 'String'),
        field('lifetime_value', 'Decimal', 'SUM(orders.amount)'),
        field('has_completed_orders', 'Boolean', "COUNT(orders.id) FILTER (WHERE orders.status = 'completed') > 0"),
      ],
    ),
    dataset('orders', ['id'], [field('id', 'Integer'), field('customer_id', 'Integer'), field('amount', 'Decimal'), field('status', 'String')]),
    dataset('returns', ['id'], [field('id', 'Integer'), field('customer_id', 'Integer'), field('amount', 'Decimal')]),
  ],
  relationships: [link('of_customer', 'orders', 'customers', ['customer_id', 'id']), link('by_customer', 'returns', 'customers', ['customer_id', 'id'])],
  metrics: [
    metric('total_order_amount', 'SUM(orders.amount)'),
    metric('avg_order_amount', 'AVG(orders.amount)'),
    metric('distinct_order_statuses', 'COUNT(DISTINCT orders.status)', { datatype: 'Integer' }),
    metric('completed_revenue', "SUM(orders.amount) FILTER (WHERE orders.status = 'completed')"),
  ],
};
const FILM = {
  name: 'film',
  datasets: [
    dataset('actors', ['actor_id'], [field('actor_id', 'Integer'), field('name', 'String'), field('height', 'Integer')]),
    dataset('movies', ['movie_id'], [field('movie_id', 'Integer'), field('title', 'String'), field('gross', 'Decimal')]),
    dataset('appearances', ['actor_id', 'movie_id'], [field('actor_id', 'Integer'), field('movie_id', 'Integer')]),
  ],
  relationships: [
    link('app_to_actor', 'appearances', 'actors', ['actor_id', 'actor_id']),
    link('app_to_movie', 'appearances', 'movies', ['movie_id', 'movie_id']),
  ],
  metrics: [
    metric('total_gross', 'SUM(movies.gross)'),
    metric('avg_gross', 'AVG(movies.gross)'),
    metric('median_gross', 'MEDIAN(movies.gross)'),
    metric('movie_count', 'COUNT(DISTINCT movies.movie_id)', { datatype: 'Integer' }),
  ],
};
const CHAIN = {
  name: 'chain',
  datasets: [
    dataset('segments', ['id'], [field('id', 'Integer'), field('label', 'String')]),
    dataset('buyers', ['id'], [field('id', 'Integer'), field('segment_id', 'Integer')]),
    dataset('purchases', ['id'], [field('id', 'Integer'), field('buyer_id', 'Integer')]),
    dataset('purchase_lines', ['id'], [field('id', 'Integer'), field('purchase_id', 'Integer'), field('qty', 'Integer'), field('price', 'Decimal')]),
    dataset('inventory', ['store_id', 'sku'], [field('store_id', 'Integer'), field('sku', 'String'), field('reorder_point', 'Integer')]),
    dataset('sales', ['id'], [field('id', 'Integer'), field('store_id', 'Integer'), field('sku', 'String'), field('units', 'Integer')]),
    dataset('employees', ['id'], [field('id', 'Integer'), field('manager_id', 'Integer'), field('area', 'String')]),
  ],
  relationships: [
    link('in_segment', 'buyers', 'segments', ['segment_id', 'id']),
    link('bought_by', 'purchases', 'buyers', ['buyer_id', 'id']),
    link('line_of', 'purchase_lines', 'purchases', ['purchase_id', 'id']),
    link('of_stock', 'sales', 'inventory', ['store_id', 'store_id'], ['sku', 'sku']),
    link('reports_to', 'employees', 'employees', ['manager_id', 'id']),
  ],
};

const TABLES = `
  CREATE SCHEMA f;
  CREATE TABLE f.customers (id int PRIMARY KEY, region text, segment text);
  CREATE TABLE f.orders (id int PRIMARY KEY, customer_id int, amount numeric(10,2), status text);
  CREATE TABLE f.returns (id int PRIMARY KEY, customer_id int, amount numeric(10,2));
  INSERT INTO f.customers SELECT n, r, s FROM (VALUES (1, 'EAST', 'retail'), (2, 'EAST', 'retail'), (3, 'WEST', 'wholesale'), (4, 'NORTH', 'retail')) v(n, r, s);
  -- order 105 has no customer, customer 4 has a return and no order
  INSERT INTO f.orders VALUES (101, 1, 100, 'completed'), (102, 1, 50, 'completed'), (103, 2, 200, 'pending'), (104, 3, 75, 'completed'), (105, 99, 30, 'completed');
  INSERT INTO f.returns VALUES (201, 1, 10), (202, 3, 5), (203, 4, 15);
  CREATE TABLE f.actors (actor_id int PRIMARY KEY, name text, height int);
  CREATE TABLE f.movies (movie_id int PRIMARY KEY, title text, gross numeric(10,2));
  CREATE TABLE f.appearances (actor_id int, movie_id int, PRIMARY KEY (actor_id, movie_id));
  INSERT INTO f.actors VALUES (1, 'Alice', 170), (2, 'Bob', 170), (3, 'Carol', 180);
  INSERT INTO f.movies VALUES (10, 'Action', 100), (11, 'Drama', 200), (12, 'Comedy', 50);
  -- two actors of one height appear in one movie
  INSERT INTO f.appearances VALUES (1, 10), (1, 11), (2, 10), (3, 12);
  CREATE TABLE f.segments (id int PRIMARY KEY, label text);
  CREATE TABLE f.buyers (id int PRIMARY KEY, segment_id int);
  CREATE TABLE f.purchases (id int PRIMARY KEY, buyer_id int);
  CREATE TABLE f.purchase_lines (id int PRIMARY KEY, purchase_id int, qty int, price numeric);
  INSERT INTO f.segments VALUES (1, 'small'), (2, 'large');
  INSERT INTO f.buyers VALUES (1, 1), (2, 2), (3, NULL);
  INSERT INTO f.purchases VALUES (1, 1), (2, 2), (3, 3), (4, 2);
  INSERT INTO f.purchase_lines VALUES (1, 1, 2, 5), (2, 1, 1, 7), (3, 2, 3, 10), (4, 3, 4, 1), (5, 4, 1, 100), (6, 9, 1, 9);
  CREATE TABLE f.inventory (store_id int, sku text, reorder_point int, PRIMARY KEY (store_id, sku));
  CREATE TABLE f.sales (id int PRIMARY KEY, store_id int, sku text, units int);
  INSERT INTO f.inventory VALUES (1, 'a', 10), (1, 'b', 20), (2, 'a', 20);
  INSERT INTO f.sales VALUES (1, 1, 'a', 1), (2, 1, 'b', 2), (3, 2, 'a', 4), (4, 2, 'b', 8);
  CREATE TABLE f.employees (id int PRIMARY KEY, manager_id int, area text);
  INSERT INTO f.employees VALUES (1, NULL, 'N'), (2, 1, 'S'), (3, 1, 'S'), (4, 2, 'N');`;

async function imported(model: object): Promise<{ graph: Graph; losses: readonly string[] }> {
  const text = JSON.stringify({ version: '0.2.0.dev0', semantic_model: [model] });
  const made = await OSSIE.read([{ path: 'model.json', text }], createSqlReader(parser, 'svc'));
  return {
    graph: modelOfScripts([{ path: 'imported', text: scriptOf(made.model, made.name, 'svc', []) }], made.name, parser, 'svc').graph,
    losses: made.losses,
  };
}

let db: PGlite;
const graphs: Record<string, Graph> = {};
beforeAll(async () => {
  db = await memoryDatabase();
  await db.exec(TABLES);
  for (const model of [SHOP, FILM, CHAIN]) {
    const { graph, losses } = await imported(model);
    expect(losses).toEqual([]);
    graphs[model.name] = graph;
  }
});
afterAll(() => db?.close());

/** The values of each row, in order of the rows; numbers rounded to cents as the catalog writes them. */
async function rows(model: string, sql: string): Promise<unknown[][]> {
  const plan = planSelect({ graph: graphs[model] as Graph, parser, product: 'svc', activeDatasource: 'main' }, { text: sql, offset: 0 });
  const found = await db.query<{ row: Record<string, unknown> }>(`SELECT row::text::json AS row FROM (${plan.sql}) q(row)`, [...plan.params] as never[]);
  const plain = (v: unknown): unknown => (typeof v === 'number' ? Math.round(v * 100) / 100 : v);
  return found.rows.map(({ row }) => Object.values(row).map(plain)).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

const REGION = '"of_customer[customers].region"';
const FACTS = `(SELECT ${REGION} AS region, amount AS order_amount, NULL::numeric AS return_amount, NULL::bigint AS customer FROM dsvc.orders
  UNION ALL SELECT "by_customer[customers].region", NULL, amount, NULL FROM dsvc.returns)`;

/** Case of the catalog, model, query, expected rows in order of their JSON. */
const CASES: readonly (readonly [string, string, string, readonly (readonly unknown[])[]])[] = [
  [
    'T-001: one row for each dimension value that a fact reaches',
    'shop',
    `SELECT ${REGION}, SUM(amount) FROM dsvc.orders GROUP BY 1`,
    [
      ['EAST', 350],
      ['WEST', 75],
      [null, 30],
    ],
  ],
  [
    'T-004: an aggregate in a field is taken at the grain of the field',
    'shop',
    'SELECT region, id, lifetime_value FROM svc.customers',
    [
      ['EAST', 1, 150],
      ['EAST', 2, 200],
      ['NORTH', 4, null],
      ['WEST', 3, 75],
    ],
  ],
  [
    'T-005a: SUM over the many side',
    'shop',
    `SELECT ${REGION}, SUM("measure.total_order_amount") FROM dsvc.orders GROUP BY 1`,
    [
      ['EAST', 350],
      ['WEST', 75],
      [null, 30],
    ],
  ],
  [
    'T-005b: AVG over all rows at once',
    'shop',
    `SELECT ${REGION}, SUM("measure.avg_order_amount") FROM dsvc.orders GROUP BY 1`,
    [
      ['EAST', 116.67],
      ['WEST', 75],
      [null, 30],
    ],
  ],
  [
    'T-005e: COUNT(DISTINCT) over the many side',
    'shop',
    `SELECT ${REGION}, SUM("measure.distinct_order_statuses") FROM dsvc.orders GROUP BY 1`,
    [
      ['EAST', 2],
      ['WEST', 1],
      [null, 1],
    ],
  ],
  [
    'T-006: COUNT(*) counts the rows of the dataset',
    'shop',
    `SELECT ${REGION}, COUNT(*) FROM dsvc.orders WHERE status = 'completed' GROUP BY 1`,
    [
      ['EAST', 2],
      ['WEST', 1],
      [null, 1],
    ],
  ],
  ['T-010: facts without a dimension row stay', 'shop', `SELECT SUM(amount) FROM dsvc.orders WHERE ${REGION} IS NULL`, [[30]]],
  [
    'T-011: two facts on one dimension',
    'shop',
    `SELECT region, SUM(order_amount) AS a, SUM(return_amount) AS b FROM ${FACTS} q GROUP BY 1`,
    [
      ['EAST', 350, 10],
      ['NORTH', null, 15],
      ['WEST', 75, 5],
      [null, 30, null],
    ],
  ],
  ['T-012: totals of two facts', 'shop', 'SELECT (SELECT SUM(amount) FROM dsvc.orders) AS a, (SELECT SUM(amount) FROM dsvc.returns) AS b', [[455, 30]]],
  [
    'T-015: SUM over a bridge takes each fact once in a group',
    'film',
    'SELECT "~appearances[actors].height", SUM("measure.total_gross") FROM dsvc.movies GROUP BY 1',
    [
      [170, 300],
      [180, 50],
    ],
  ],
  [
    'T-016: AVG over a bridge',
    'film',
    'SELECT "~appearances[actors].height", SUM("measure.avg_gross") FROM dsvc.movies GROUP BY 1',
    [
      [170, 150],
      [180, 50],
    ],
  ],
  [
    'T-051: MEDIAN over a bridge',
    'film',
    'SELECT "~appearances[actors].height", SUM("measure.median_gross") FROM dsvc.movies GROUP BY 1',
    [
      [170, 150],
      [180, 50],
    ],
  ],
  [
    'T-021: COUNT(DISTINCT) over a bridge',
    'film',
    'SELECT "~appearances[actors].height", SUM("measure.movie_count") FROM dsvc.movies GROUP BY 1',
    [
      [170, 2],
      [180, 1],
    ],
  ],
  [
    'T-017: averages of averages, if the query says so',
    'film',
    'SELECT height, AVG(a) FROM (SELECT actor_id, height, AVG("appearances[movies].gross") AS a FROM dsvc.actors GROUP BY actor_id) q GROUP BY 1',
    [
      [170, 125],
      [180, 50],
    ],
  ],
  [
    'T-005c: averages of averages over the many side',
    'shop',
    `SELECT region, AVG(a) FROM (SELECT ${REGION} AS region, customer_id, AVG(amount) AS a FROM dsvc.orders GROUP BY 1, 2) q GROUP BY 1`,
    [
      ['EAST', 137.5],
      ['WEST', 75],
      [null, 30],
    ],
  ],
  [
    'T-005d: SUM of sums over the many side, as T-005a',
    'shop',
    `SELECT region, SUM(a) FROM (SELECT ${REGION} AS region, customer_id, SUM(amount) AS a FROM dsvc.orders GROUP BY 1, 2) q GROUP BY 1`,
    [
      ['EAST', 350],
      ['WEST', 75],
      [null, 30],
    ],
  ],
  [
    'T-024: a condition at the grain of a field',
    'shop',
    'SELECT region, COUNT(id) FROM svc.customers WHERE has_completed_orders GROUP BY 1',
    [
      ['EAST', 1],
      ['WEST', 1],
    ],
  ],
  [
    'T-036: a window at the grain of its rows',
    'shop',
    'SELECT id, RANK() OVER (PARTITION BY customer_id ORDER BY amount DESC) FROM dsvc.orders',
    [
      [101, 1],
      [102, 2],
      [103, 1],
      [104, 1],
      [105, 1],
    ],
  ],
  [
    'T-047: SUM and COUNT over one fact',
    'shop',
    `SELECT ${REGION}, SUM(amount), COUNT(id) AS ids, COUNT(*) AS n FROM dsvc.orders GROUP BY 1`,
    [
      ['EAST', 350, 3, 3],
      ['WEST', 75, 1, 1],
      [null, 30, 1, 1],
    ],
  ],
  [
    'T-053: AVG, MIN and MAX',
    'shop',
    `SELECT ${REGION}, AVG(amount), MIN(amount), MAX(amount) FROM dsvc.orders GROUP BY 1`,
    [
      ['EAST', 116.67, 50, 200],
      ['WEST', 75, 75, 75],
      [null, 30, 30, 30],
    ],
  ],
  [
    'T-043: a chain of to-one relationships',
    'chain',
    'SELECT "line_of[purchases].bought_by[buyers].in_segment[segments].label", SUM(qty * price) FROM dsvc.purchase_lines GROUP BY 1',
    [
      ['large', 130],
      ['small', 17],
      [null, 13],
    ],
  ],
  [
    'T-044: a key of two columns',
    'chain',
    'SELECT "of_stock[inventory].reorder_point", SUM(units) FROM dsvc.sales GROUP BY 1',
    [
      [10, 1],
      [20, 6],
      [null, 8],
    ],
  ],
  [
    'T-046: a relationship of a dataset with itself',
    'chain',
    'SELECT "reports_to[employees].area", COUNT(id) FROM dsvc.employees GROUP BY 1',
    [
      ['N', 2],
      ['S', 1],
      [null, 1],
    ],
  ],
  ['D-033: an empty group of a condition has no SUM', 'shop', 'SELECT SUM("measure.completed_revenue") FROM dsvc.orders WHERE id = 103', [[null]]],
];

describe('cases with rows', () => {
  it.each(CASES)('%s', async (_, model, sql, expected) => {
    expect(await rows(model, sql)).toEqual(expected);
  });

  it('T-026: NULL is last by default', async () => {
    const plan = planSelect(
      { graph: graphs.shop as Graph, parser, product: 'svc', activeDatasource: 'main' },
      { text: `SELECT ${REGION} AS region, SUM(amount) FROM dsvc.orders GROUP BY 1 ORDER BY 1`, offset: 0 },
    );
    const found = await db.query<{ region: string | null }>(`SELECT row::text::json ->> 'region' AS region FROM (${plan.sql}) q(row)`, [
      ...plan.params,
    ] as never[]);
    expect(found.rows.map((r) => r.region)).toEqual(['EAST', 'WEST', null]);
  });

  it('T-052: LIMIT without ORDER BY', async () => {
    expect(await rows('shop', `SELECT ${REGION}, SUM(amount) FROM dsvc.orders GROUP BY 1 LIMIT 2`)).toHaveLength(2);
  });
});

describe('cases that are refused', () => {
  it.each([
    ['T-013 and T-040: no relationship', 'chain', 'SELECT "sold[sales].units" FROM dsvc.buyers'],
    ['T-014: many to many without a bridge', 'film', 'SELECT height, SUM("movies[movies].gross") FROM dsvc.actors GROUP BY 1'],
    [
      'T-022 and D-022: an aggregate over two facts at once',
      'shop',
      'SELECT SUM("~of_customer[orders].amount" * "~by_customer[returns].amount") FROM dsvc.customers',
    ],
  ])('%s', (_, model, sql) => {
    expect(() => planSelect({ graph: graphs[model] as Graph, parser, product: 'svc', activeDatasource: 'main' }, { text: sql, offset: 0 })).toThrow();
  });

  it.each([
    ['T-007: an aggregate in WHERE', `SELECT ${REGION}, SUM(amount) FROM dsvc.orders WHERE SUM(amount) > 100 GROUP BY 1`],
    ['T-029: a window in WHERE', `SELECT customer_id FROM dsvc.orders WHERE ROW_NUMBER() OVER (ORDER BY amount) = 1`],
    ['T-030: a window in a window', 'SELECT SUM(SUM(amount) OVER (PARTITION BY customer_id)) OVER () FROM dsvc.orders'],
  ])('%s', async (_, sql) => {
    await expect(rows('shop', sql)).rejects.toThrow();
  });

  it('T-019: a metric with two ways to its dataset', async () => {
    const model = {
      name: 'ambiguous',
      datasets: [
        dataset('calls', ['id'], [field('id', 'Integer'), field('a', 'Integer'), field('b', 'Integer')]),
        dataset('users', ['id'], [field('id', 'Integer')]),
      ],
      relationships: [link('placed_by', 'calls', 'users', ['a', 'id']), link('fulfilled_by', 'calls', 'users', ['b', 'id'])],
      metrics: [metric('per_user', 'COUNT(calls.id) / COUNT(DISTINCT users.id)')],
    };
    expect((await imported(model)).losses).toEqual(['metric per_user: several relationships lead from calls to users: placed_by, fulfilled_by']);
  });

  it('T-023: a field with rows of a finer grain and no aggregate', async () => {
    const [customers, ...others] = SHOP.datasets;
    const model = {
      ...SHOP,
      datasets: [{ ...customers, fields: [...(customers?.fields ?? []), field('first_amount', 'Decimal', 'orders.amount + 0')] }, ...others],
    };
    expect((await imported(model)).losses).toEqual(['expression of field customers.first_amount: it reads orders.amount of several rows without an aggregate']);
  });

  it('T-036b: a window over rows of a finer grain as a field', async () => {
    const [customers, ...others] = SHOP.datasets;
    const window = 'RANK() OVER (PARTITION BY orders.customer_id ORDER BY orders.amount DESC)';
    const model = { ...SHOP, datasets: [{ ...customers, fields: [...(customers?.fields ?? []), field('first_rank', 'Integer', window)] }, ...others] };
    const { losses, graph } = await imported(model);
    expect([losses.length, losses[0]]).toEqual([1, expect.stringMatching(/^expression of field customers\.first_rank: /)]);
    expect(graph.property('first_rank')?.expression).toBe(null);
  });

  it('T-042: a member that is not read', async () => {
    const model = { ...SHOP, metrics: [metric('fixed', 'SUM(orders.amount)', { grain: 'FIXED' })] };
    expect((await imported(model)).losses).toEqual(['grain of metric fixed: "FIXED"']);
  });
});
