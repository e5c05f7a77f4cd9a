/**
 * (cubes) Queries on cached cubes against live ones, and other queries of an ontology that has caches against the same of one that has none. SCALE=1 has 6 million
 * lines as TPC-H's scale 1; the default has 600,000.
 */
import { buildService } from '../lib/build.ts';
import { interleaved, median, ms, ratio, timed } from '../lib/measure.ts';
import { post, SERVICE_BINDINGS, serviceSettings, startScripts, type WorldDatabase, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

const SCALE = Number(process.env.SCALE ?? 0.1);
const LINES = Math.round(6_000_000 * SCALE);
/** Rows of one INSERT, which must end before the time-out of a statement. */
const STEP = 250_000;
/** Milliseconds that the live runs of one query may take together, approximately. */
const BUDGET = 8000;

/** Columns of TPC-H's lineitem and orders, with values of the same ranges and about the same frequencies. */
const TABLES = [
  'CREATE SCHEMA sales',
  'CREATE SCHEMA IF NOT EXISTS svc_cache',
  'CREATE TABLE sales.orders (o_orderkey bigint PRIMARY KEY, o_orderpriority varchar(15) NOT NULL, o_orderdate date NOT NULL)',
  `CREATE TABLE sales.lineitem (l_orderkey bigint NOT NULL, l_linenumber integer NOT NULL, l_quantity numeric(15,2) NOT NULL, l_extendedprice numeric(15,2) NOT NULL,
    l_discount numeric(15,2) NOT NULL, l_tax numeric(15,2) NOT NULL, l_returnflag varchar(1) NOT NULL, l_linestatus varchar(1) NOT NULL, l_shipdate date NOT NULL,
    l_comment varchar(44) NOT NULL)`,
];
const ordersFrom = (from: number, to: number): string =>
  `INSERT INTO sales.orders SELECT i, (ARRAY['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'])[1 + i % 5], date '1992-01-01' + (i * 7919 % 2406)::int
    FROM generate_series(${from}::bigint, ${to}) i`;
// four lines an order; up to the middle of 1995 lines have been returned or not, later ones are open
const linesFrom = (from: number, to: number): string =>
  `INSERT INTO sales.lineitem SELECT i / 4, i % 4, 1 + i * 31 % 50, (90000 + i * 7907 % 10405000) / 100.0, i * 13 % 11 / 100.0, i * 17 % 9 / 100.0,
      CASE WHEN day > date '1995-06-17' THEN 'N' WHEN i % 2 = 0 THEN 'A' ELSE 'R' END, CASE WHEN day > date '1995-06-17' THEN 'O' ELSE 'F' END, day, 'no comment ' || i
    FROM (SELECT i, date '1992-01-02' + (i * 104729 % 2526)::int AS day FROM generate_series(${from}::bigint, ${to}) i) g`;

const MODEL = `CREATE CONCEPT orders (order_key bigint, priority string, order_date date, PRIMARY KEY (order_key));
CREATE MEASURE charge decimal AS SELECT SUM(extended_price * (1 - discount) * (1 + tax));
CREATE CONCEPT lineitem (order_key bigint, line_number integer, quantity decimal, extended_price decimal, discount decimal, tax decimal, return_flag string,
  line_status string, ship_date date, charge MEASURE decimal, PRIMARY KEY (order_key, line_number),
  CONSTRAINT of_order FOREIGN KEY (order_key) REFERENCES orders (order_key));
CREATE MAPPING m_orders INTO orders AS SELECT o_orderkey AS order_key, o_orderpriority AS priority, o_orderdate AS order_date FROM sales.orders;
CREATE MAPPING m_lineitem INTO lineitem AS SELECT l_orderkey AS order_key, l_linenumber AS line_number, l_quantity AS quantity, l_extendedprice AS extended_price,
  l_discount AS discount, l_tax AS tax, l_returnflag AS return_flag, l_linestatus AS line_status, l_shipdate AS ship_date FROM sales.lineitem;
CREATE ONTOLOGY CUBE pricing AS SELECT return_flag, line_status, ship_date, SUM(quantity) AS sum_qty, SUM(extended_price) AS sum_base_price,
  SUM(extended_price * (1 - discount)) AS sum_disc_price, "measure.charge" AS sum_charge, AVG(quantity) AS avg_qty, AVG(extended_price) AS avg_price,
  AVG(discount) AS avg_disc, COUNT(line_number) AS count_order FROM dsvc.lineitem;
CREATE ONTOLOGY CUBE priorities AS SELECT "of_order[orders].priority" AS priority, ship_date, SUM(quantity) AS sum_qty, "measure.charge" AS sum_charge FROM dsvc.lineitem`;
const CUBES = ['pricing', 'priorities'];

/** TPC-H's query 1, and others that the tables answer. */
const CACHED = {
  'TPC-H 1': `SELECT return_flag, line_status, sum_qty, sum_base_price, sum_disc_price, sum_charge, avg_qty, avg_price, avg_disc, count_order FROM vsvc.pricing
    WHERE ship_date <= DATE '1998-12-01' - 90 ORDER BY return_flag, line_status`,
  'one month by a path': "SELECT priority, sum_qty, sum_charge FROM vsvc.priorities WHERE ship_date BETWEEN '1995-03-01' AND '1995-03-31' ORDER BY priority",
  'all lines by a path': 'SELECT priority, sum_charge FROM vsvc.priorities ORDER BY priority',
};
/** Queries that no table answers. `new`: the text differs each time, so each is planned. */
const OTHERS: Readonly<Record<string, (n: number) => string>> = {
  'a line by its key': () => "SELECT quantity, ship_date FROM svc.lineitem WHERE entity_id = 'lineitem:1000|2'",
  'a line by its key, new text': (n) => `SELECT quantity, ship_date FROM svc.lineitem WHERE entity_id = 'lineitem:${n + 1}|2'`,
  'lines of an order with its priority': () => 'SELECT line_number, quantity, "of_order[orders].priority" FROM dsvc.lineitem WHERE order_key = 777 ORDER BY 1',
  'a sum of an order': () => 'SELECT SUM("measure.charge") AS c FROM dsvc.lineitem WHERE order_key = 777',
  'the cube with a sub-query': () => 'SELECT sum_qty FROM vsvc.pricing WHERE ship_date = (SELECT MIN(order_date) FROM svc.orders WHERE order_key = 5)',
  'the cube with a sub-query, new text': (n) =>
    `SELECT sum_qty FROM vsvc.pricing WHERE ship_date = (SELECT MIN(order_date) FROM svc.orders WHERE order_key = ${n + 1})`,
};

async function fill({ local }: WorldDatabase): Promise<void> {
  for (const sql of TABLES) await local.exec(sql);
  const orders = LINES / 4;
  for (let at = 0; at < orders; at += STEP) await local.exec(ordersFrom(at, Math.min(at + STEP, orders) - 1));
  for (let at = 0; at < LINES; at += STEP) await local.exec(linesFrom(at, Math.min(at + STEP, LINES) - 1));
  // without the time-out of the endpoint
  for (const sql of [
    'ALTER TABLE sales.lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber)',
    'CREATE INDEX ON sales.lineitem (l_shipdate)',
    'VACUUM ANALYZE sales.lineitem',
    'VACUUM ANALYZE sales.orders',
  ])
    await local.superuser(sql);
}

/** Asks for the rows of a statement. @throws Error if the answer is not 200 */
type Ask = (ontology: string, query: string) => Promise<string>;

/** The queries that the tables answer, in an ontology without caches and in one with them. */
async function compared(ask: Ask): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [name, sql] of Object.entries(CACHED)) {
    const [live, cached] = [await ask('plain', sql), await ask('cached', sql)];
    if (live !== cached) throw new Error(`the rows differ: ${name}`);
    const rounds = Math.min(31, Math.max(3, Math.round(BUDGET / (await timed(() => ask('plain', sql))))));
    const took = await interleaved({ live: () => timed(() => ask('plain', sql)), cached: () => timed(() => ask('cached', sql)) }, rounds, 1);
    const part = median(took.cached) / median(took.live);
    // a request has a least time, so a small table shows little
    if (SCALE >= 1 && name === 'TPC-H 1') aim('cubes', `${name} at scale ${SCALE}, cached against live`, part, { most: 0.05 });
    rows.push([name, ms(median(took.live)), ms(median(took.cached)), `x${part.toFixed(4)}`, `1/${(1 / part).toFixed(0)}`]);
  }
  return rows;
}

/** The others, in both. */
async function unchanged(ask: Ask): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [name, sqlOf] of Object.entries(OTHERS)) {
    let n = 0;
    // a parsed text is shared by ontologies
    const next = (): string => sqlOf(n++);
    const rounds = Math.min(401, Math.max(11, Math.round(BUDGET / (await timed(() => ask('plain', next()))))));
    const took = await interleaved({ none: () => timed(() => ask('plain', next())), caches: () => timed(() => ask('cached', next())) }, rounds, 20);
    // ratios of runs that are close in time: other load of the machine affects both
    const part = median(took.caches.map((t, i) => t / (took.none[i] as number)));
    aim('cubes', `${name}, with caches against without`, part, { most: 1.05 });
    rows.push([name, ms(median(took.none)), ms(median(took.caches)), ratio(part, 1)]);
  }
  return rows;
}

export async function run(): Promise<void> {
  const database = await worldDatabase();
  const { adminToken, bindings } = await serviceSettings(database);
  await fill(database);
  const script = await buildService();
  const writer = { DATASOURCE_MAIN_WRITER: database.local.secret('kg_dev'), STATEMENT_TIMEOUT_MS: '600000' };
  const running = await startScripts({ service: { script, bindings: { ...bindings, ...writer }, more: SERVICE_BINDINGS } });
  try {
    const url = `${running.urls.service}/svc/api/query/`;
    const ask: Ask = async (ontology_name, query) => (await post(url, { ontology_name, query }, { 'x-api-key': adminToken })).toString();
    for (const name of ['plain', 'cached']) {
      await ask('', `CREATE ONTOLOGY ${name}`);
      await ask(name, MODEL);
    }
    const made: string[][] = [];
    for (const cube of CUBES) {
      let answer = '';
      const took = await timed(async () => {
        answer = await ask('cached', `CACHE CUBE ${cube} OPTIONS (schema = 'svc_cache', max_age = '1 day')`);
      });
      made.push([`CACHE CUBE ${cube}`, String(JSON.parse(answer).data[0].rows), ms(took)]);
    }
    const lines = LINES.toLocaleString('en');
    table(`(cubes) tables of cubes over ${lines} lines, ${database.name}`, ['statement', 'rows of the table', 'time'], made);
    table(`(cubes) queries that a cached cube answers, ${lines} lines, ${database.name}`, ['query', 'live', 'cached', 'ratio', ''], await compared(ask));
    table(`(cubes) other queries, ${lines} lines, ${database.name}`, ['query', 'no caches', 'two cached cubes', 'ratio'], await unchanged(ask));
    note('Whole requests at the built Worker, one after another; the rows are equal. The ontologies have the same model and tables; one has caches.');
  } finally {
    await running.stop();
    await database.local.superuser('DROP SCHEMA sales CASCADE');
  }
}
