/** Aggregates over chains of to-many hops that are computed by foreign key first (planner/lower/aggregate/fold.ts): the same values, types and digits as plain joins of one level. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PlannedTables } from '../support/planned.ts';

/** Shops without orders, orders without lines, keys that are NULL or dangling, equal link rows, and numbers of several scales. */
const TABLES = `
CREATE TABLE town (id int, name text);
INSERT INTO town VALUES (1, 'a'), (2, 'b'), (3, NULL);
CREATE TABLE shop (id int, town int, area numeric);
INSERT INTO shop VALUES (1, 1, 10), (2, 1, 20.50), (3, 2, NULL), (4, NULL, 7), (5, 3, 1), (6, 9, 2);
CREATE TABLE orders (id bigint, shop int, freight numeric(8,2));
INSERT INTO orders VALUES (1, 1, 1.5), (2, 1, NULL), (3, 2, 4), (4, NULL, 8), (5, 77, 16), (6, 4, 32), (7, 5, 64);
CREATE TABLE line (orders bigint, n int, quantity int, big bigint, price numeric, ratio double precision, gift boolean, flag text);
INSERT INTO line VALUES
  (1, 1, 2, 20000000000, 1.5, 0.1, true, 'x'), (1, 2, 3, 30000000000, 2.25, 0.2, false, 'y'), (2, 1, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, 1, 5, 7, 0.125, 0.3, false, 'x'), (4, 1, 7, 9, 3, 0.4, true, 'z'), (5, 1, 11, 1, 9, 0.5, true, 'x'), (6, 1, 0, 2, 1000, 0.6, NULL, 'y'),
  (6, 2, 1, 3, 0.0001, 0.7, true, 'y');
CREATE TABLE tagged (shop int, tag int);
INSERT INTO tagged VALUES (1, 1), (1, 1), (1, 2), (3, 1), (4, 9), (NULL, 2);
CREATE TABLE tag (id int, name text);
INSERT INTO tag VALUES (1, 'red'), (2, 'blue');
CREATE TABLE hue (tag int, weight int);
INSERT INTO hue VALUES (1, 5), (1, 6), (2, 70);
`;

const MODEL = `
CREATE ONTOLOGY shops;
CREATE PROPERTY total decimal AS SELECT quantity * price;
CREATE MEASURE turnover decimal AS SELECT SUM(total);
CREATE MEASURE mean_price decimal AS SELECT SUM(price) / COUNT(*);
CREATE MEASURE shops bigint AS SELECT COUNT(shop_id);
CREATE CONCEPT town (town_id int, name string, PRIMARY KEY (town_id));
CREATE CONCEPT tag (tag_id int, name string, PRIMARY KEY (tag_id));
CREATE CONCEPT hue (tag_id int, weight int, CONSTRAINT hue_of FOREIGN KEY (tag_id) REFERENCES tag (tag_id) INVERSEOF has_hue);
CREATE CONCEPT shop (shop_id int, town_id int, area decimal, shops MEASURE bigint, PRIMARY KEY (shop_id),
  CONSTRAINT lies_in FOREIGN KEY (town_id) REFERENCES town (town_id) INVERSEOF has_shop, CONSTRAINT has_tag MULTIREFERENCE tag INVERSEOF tags);
CREATE CONCEPT order (order_id bigint, shop_id int, freight decimal(8,2), PRIMARY KEY (order_id),
  CONSTRAINT placed_at FOREIGN KEY (shop_id) REFERENCES shop (shop_id) INVERSEOF took);
CREATE CONCEPT line (order_id bigint, n int, quantity int, big bigint, price decimal, ratio double, gift boolean, flag string, total decimal,
  turnover MEASURE decimal, mean_price MEASURE decimal, PRIMARY KEY (order_id, n),
  CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES order (order_id) INVERSEOF has_line);
CREATE CONCEPT large INHERITS (shop) FROM svc.shop WHERE area > 5;
CREATE MAPPING m_town INTO town AS SELECT id AS town_id, name FROM town;
CREATE MAPPING m_tag INTO tag AS SELECT id AS tag_id, name FROM tag;
CREATE MAPPING m_hue INTO hue AS SELECT tag AS tag_id, weight FROM hue;
CREATE MAPPING m_shop INTO shop AS SELECT id AS shop_id, town AS town_id, area FROM shop;
CREATE MAPPING m_order INTO order AS SELECT id AS order_id, shop AS shop_id, freight FROM orders;
CREATE MAPPING m_line INTO line AS SELECT orders AS order_id, n, quantity, big, price, ratio, gift, flag FROM line;
CREATE MAPPING m_tagged (CONSTRAINT has_tag FOREIGN KEY (tag) REFERENCES tag (tag_id), CONSTRAINT tags FOREIGN KEY (shop) REFERENCES shop (shop_id)) AS SELECT shop, tag FROM tagged;
`;

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'shops');
});
afterAll(() => tables.close());

const isFolded = (sql: string, changes = {}): boolean => / AS k0[ ,]/.test(tables.plan(sql, changes).sql);

const LINE = 'took[order].has_line[line]';
const JOINS = 'shop s LEFT JOIN town t ON t.id = s.town LEFT JOIN orders o ON o.shop = s.id LEFT JOIN line l ON l.orders = o.id';

/** Calls in both languages; those over `l` and `o` are one level, that of lines. */
const CALLS: readonly (readonly [ontology: string, byHand: string])[] = [
  ['count(*)', 'count(*)'],
  [`count("${LINE}.n")`, 'count(l.n)'],
  [`sum("${LINE}.quantity")`, 'sum(l.quantity)'],
  [`sum("${LINE}.big")`, 'sum(l.big)'],
  [`sum("${LINE}.price")`, 'sum(l.price)'],
  [`sum("${LINE}.total")`, 'sum(l.quantity * l.price)'],
  [`sum("${LINE}.total" + "took[order].freight")`, 'sum(l.quantity * l.price + o.freight)'],
  [`sum("${LINE}.quantity" * 2 - 1)`, 'sum(l.quantity * 2 - 1)'],
  [`avg("${LINE}.quantity")`, 'avg(l.quantity)'],
  [`avg("${LINE}.big")`, 'avg(l.big)'],
  [`avg("${LINE}.price")`, 'avg(l.price)'],
  [`avg(coalesce("${LINE}.price", 3))`, 'avg(coalesce(l.price, 3))'],
  [`min("${LINE}.flag")`, 'min(l.flag)'],
  [`max("${LINE}.price")`, 'max(l.price)'],
  [`max(coalesce("${LINE}.flag", '~'))`, "max(coalesce(l.flag, '~'))"],
  [`bool_or("${LINE}.gift")`, 'bool_or(l.gift)'],
  [`bool_and("${LINE}.gift" IS NULL)`, 'bool_and(l.gift IS NULL)'],
  [`every("${LINE}.quantity" > 1)`, 'every(l.quantity > 1)'],
  [`sum(CASE WHEN "${LINE}.flag" = 'x' THEN "${LINE}.quantity" ELSE 0 END)`, "sum(CASE WHEN l.flag = 'x' THEN l.quantity ELSE 0 END)"],
  [`sum(CASE WHEN "${LINE}.flag" = 'x' THEN 1 END)`, "sum(CASE WHEN l.flag = 'x' THEN 1 END)"],
  [`count(CASE WHEN "${LINE}.flag" = 'x' THEN NULL ELSE 1 END)`, "count(CASE WHEN l.flag = 'x' THEN NULL ELSE 1 END)"],
  [`count(*) FILTER (WHERE "${LINE}.gift" IS NULL)`, 'count(*) FILTER (WHERE l.gift IS NULL)'],
  [`count(*) FILTER (WHERE "${LINE}.quantity" > 1 OR "${LINE}.flag" IS NULL)`, 'count(*) FILTER (WHERE l.quantity > 1 OR l.flag IS NULL)'],
  [`count(1) FILTER (WHERE "${LINE}.flag" IN ('x', 'y'))`, "count(1) FILTER (WHERE l.flag IN ('x', 'y'))"],
  [`sum("${LINE}.price") FILTER (WHERE "took[order].freight" > 1)`, 'sum(l.price) FILTER (WHERE o.freight > 1)'],
  [`sum(coalesce("${LINE}.quantity", 100)) FILTER (WHERE "took[order].freight" IS NULL)`, 'sum(coalesce(l.quantity, 100)) FILTER (WHERE o.freight IS NULL)'],
  [`sum("${LINE}.price") / nullif(count("${LINE}.n"), 0)`, 'sum(l.price) / nullif(count(l.n), 0)'],
];

/** The root's own level in addition, in both languages: it is the second level. */
const counted = (group: string): string => `(SELECT count(*) FROM shop s LEFT JOIN town t ON t.id = s.town ${group})`;

describe('folded into the root, equal to plain joins of one level', () => {
  for (const [ontology, hand] of CALLS) {
    it(`${ontology}: of all`, async () => {
      const sql = `SELECT count(shop_id) AS shops, ${ontology} AS v, count("${LINE}.n") AS lines FROM dsvc.shop`;
      expect(isFolded(sql)).toBe(true);
      expect(await tables.rows(sql)).toEqual(await tables.rowsByHand(`SELECT ${counted('')} AS shops, ${hand} AS v, count(l.n) AS lines FROM ${JOINS}`));
    });
    it(`${ontology}: by a group that may be NULL`, async () => {
      const sql = `SELECT "lies_in[town].name" AS town, count(shop_id) AS shops, ${ontology} AS v, count("${LINE}.n") AS lines FROM dsvc.shop GROUP BY town`;
      expect(isFolded(sql)).toBe(true);
      const shops = counted('WHERE t.name IS NOT DISTINCT FROM g.name');
      expect(await tables.rows(sql)).toEqual(
        await tables.rowsByHand(
          `SELECT g.name AS town, ${shops} AS shops, v, lines FROM (SELECT t.name, ${hand} AS v, count(l.n) AS lines FROM ${JOINS} GROUP BY t.name) g`,
        ),
      );
    });
  }

  it('by the key of the root, with HAVING and ORDER BY', async () => {
    const sql = `SELECT shop_id, sum(area) AS area, sum("${LINE}.price") AS price FROM dsvc.shop GROUP BY shop_id HAVING count("${LINE}.n") < 2 ORDER BY max("${LINE}.big") DESC NULLS LAST, shop_id`;
    expect(isFolded(sql)).toBe(true);
    const plan = tables.plan(sql);
    const rows = (await tables.db.query<{ row: unknown }>(plan.sql, [...plan.params])).rows.map((r) => r.row);
    expect(rows).toEqual([
      { shop_id: 2, area: 20.5, price: 0.125 },
      { shop_id: 3, area: null, price: null },
      { shop_id: 5, area: 1, price: null },
      { shop_id: 6, area: 2, price: null },
    ]);
  });

  it('two chains, one over equal links, and a level between', async () => {
    const sql = `SELECT sum(area) AS area, sum("took[order].freight") AS freight, sum("${LINE}.quantity") AS quantity, sum("has_tag[tag].has_hue[hue].weight") AS weight,
      count("has_tag[tag].has_hue[hue].weight") AS hues FROM dsvc.shop`;
    expect(isFolded(sql)).toBe(true);
    // the link rows of shop 1: red twice (5 + 6 each), blue once (70); of shop 3: red; dangling links lead to no tag
    expect(await tables.rows(sql)).toEqual(['{"area":40.50,"freight":101.50,"quantity":11,"weight":103,"hues":7}']);
  });

  it('a to-one hop before the chain: the chain of each row that the hop leads to', async () => {
    const sql = `SELECT count(order_id) AS orders, sum("placed_at[shop].${LINE}.quantity") AS quantity FROM dsvc.order`;
    expect(isFolded(sql)).toBe(true);
    // each of the two orders of shop 1 leads to both: (2 + 3) twice; 5 of shop 2; 0 + 1 of shop 4
    expect(await tables.rows(sql)).toEqual(['{"orders":7,"quantity":16}']);
  });

  it('measures', async () => {
    const sql = `SELECT "lies_in[town].name" AS town, sum("measure.shops") AS shops, sum("measure.${LINE}.turnover") AS turnover, avg("measure.${LINE}.mean_price") AS mean
      FROM dsvc.shop GROUP BY town`;
    expect(isFolded(sql)).toBe(true);
    expect(await tables.rows(sql)).toEqual(
      await tables.rowsByHand(`SELECT g.name AS town, ${counted('WHERE t.name IS NOT DISTINCT FROM g.name')} AS shops, turnover, mean FROM (SELECT t.name, sum(l.quantity * l.price) AS turnover,
        sum(l.price) FILTER (WHERE l.n IS NOT NULL) / nullif(count(l.n), 0) AS mean FROM ${JOINS} GROUP BY t.name) g`),
    );
  });
});

describe('a single hop is folded if the rows of the root were counted and are few', () => {
  const sql =
    'SELECT "lies_in[town].name" AS town, count(shop_id) AS shops, count("took[order].order_id") AS orders, sum("took[order].freight") AS freight FROM dsvc.shop GROUP BY town';
  const hand = `SELECT t.name AS town, count(DISTINCT s.id) AS shops, count(o.id) AS orders, sum(o.freight) AS freight
    FROM shop s LEFT JOIN town t ON t.id = s.town LEFT JOIN orders o ON o.shop = s.id GROUP BY t.name`;

  it.each([
    ['few', 6, true],
    ['many', 1_000_000, false],
    ['not counted', undefined, false],
  ])('%s', async (_, count, folded) => {
    const counted = { rowsOf: () => count };
    expect(isFolded(sql, counted)).toBe(folded);
    expect(await tables.rows(sql, counted)).toEqual(await tables.rowsByHand(hand));
  });
});

describe('not folded', () => {
  const cases: Readonly<Record<string, string>> = {
    'where some roots are asked for': `SELECT count(shop_id), sum("${LINE}.price") FROM dsvc.shop WHERE shop_id > 0`,
    'from a concept that leaves rows out': `SELECT count(shop_id), sum("${LINE}.price") FROM dsvc.large`,
    'where one level is asked for': `SELECT sum("${LINE}.price") FROM dsvc.shop`,
    'over one to-many hop': 'SELECT count(shop_id), sum("took[order].freight") FROM dsvc.shop',
    'grouped by what is related': `SELECT "took[order].freight" AS f, count(shop_id), sum("${LINE}.price") FROM dsvc.shop GROUP BY f`,
    'a sum whose last digits depend on the order': `SELECT count(shop_id), sum("${LINE}.ratio") FROM dsvc.shop`,
    'distinct values of numbers that are also summed': `SELECT count(shop_id), sum(DISTINCT "${LINE}.price") AS d, sum("${LINE}.price") FROM dsvc.shop`,
    'ordered values': `SELECT count(shop_id), string_agg("${LINE}.flag", ',' ORDER BY "${LINE}.n") FROM dsvc.shop`,
    'columns of the root in the call': `SELECT count(shop_id), sum("${LINE}.price" * area) FROM dsvc.shop`,
    'columns of the root in FILTER': `SELECT count(shop_id), sum("${LINE}.price") FILTER (WHERE area > 3) FROM dsvc.shop`,
    'an expression that may fail on NULLs': `SELECT count(shop_id), sum(1 / coalesce("${LINE}.quantity", 0)) FROM dsvc.shop`,
  };
  for (const [what, sql] of Object.entries(cases)) it(what, () => expect(isFolded(sql)).toBe(false));
});
