/**
 * Calls over two to-many paths that a condition of WHERE makes one: the planner proves from keys that each row of one path belongs to at most one row of the other.
 * What it cannot prove is 400 `fanout`, and the queries that the hints suggest answer the question.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA shelf',
  'CREATE TABLE shelf.item (id int PRIMARY KEY, nm text, colour text)',
  "INSERT INTO shelf.item VALUES (1, 'nut', 'green'), (2, 'bolt', 'green'), (3, 'rod', 'blue'), (4, 'pin', 'blue')",
  'CREATE TABLE shelf.sold (id int PRIMARY KEY, item int, vendor int, qty int, price numeric(10,2), code float8, twin text, day date)',
  `INSERT INTO shelf.sold VALUES (1, 1, 1, 2, 10, 1, '1|1', '2020-01-01'), (2, 1, 2, 1, 12, 2, '1|2', '2020-01-02'), (3, 1, 1, 5, 9, 1, '1|1', NULL),
     (4, 2, 2, 4, 7.5, 2, '2|2', '2020-01-04'), (5, 2, 3, 1, 1, 3, '2|3', '2020-01-01'), (6, 2, NULL, 6, 3, NULL, NULL, '2020-01-02'), (7, NULL, 1, 9, 2, 1, NULL, NULL)`,
  'CREATE TABLE shelf.offer (item int, vendor int, cost numeric(10,2), since date, PRIMARY KEY (item, vendor))',
  "INSERT INTO shelf.offer VALUES (1, 1, 4, '2020-01-01'), (1, 2, 5, '2020-01-01'), (2, 2, 6, '2020-01-02'), (3, 1, 1, '2020-01-01')",
  'CREATE TABLE shelf.vendor (id int PRIMARY KEY, town text)',
  "INSERT INTO shelf.vendor VALUES (1, 'Ulm'), (2, 'Bonn'), (3, 'Ulm')",
  'CREATE TABLE shelf.note (item int, body text)',
  "INSERT INTO shelf.note VALUES (1, 'a'), (1, 'a'), (1, 'b'), (2, 'a')",
  'CREATE TABLE shelf.kin (a int, b int)',
  'INSERT INTO shelf.kin VALUES (1, 2), (1, 2), (1, 3), (2, 1)',
];
const MODEL = `CREATE ONTOLOGY shelf;
  CREATE MEASURE takings decimal AS SELECT SUM(price * qty);
  CREATE CONCEPT item (item_id bigint, name string, colour string, PRIMARY KEY (item_id), CONSTRAINT related MULTIREFERENCE item INVERSEOF related_to);
  CREATE CONCEPT sold (id bigint, item_id bigint, vendor bigint, qty integer, price decimal(10,2), code double, twin string, day date, takings MEASURE decimal, PRIMARY KEY (id),
    CONSTRAINT of_item FOREIGN KEY (item_id) REFERENCES item (item_id) INVERSEOF sales);
  CREATE CONCEPT offer (item_id bigint, vendor bigint, cost decimal(10,2), since date, PRIMARY KEY (item_id, vendor),
    CONSTRAINT of_thing FOREIGN KEY (item_id) REFERENCES item (item_id) INVERSEOF offers,
    CONSTRAINT by_vendor FOREIGN KEY (vendor) REFERENCES seller (seller_id) INVERSEOF makes);
  CREATE CONCEPT seller (seller_id bigint, town string, PRIMARY KEY (seller_id));
  CREATE CONCEPT note (item_id bigint, body string, CONSTRAINT about FOREIGN KEY (item_id) REFERENCES item (item_id) INVERSEOF notes);
  CREATE MAPPING m_item INTO (item) AS SELECT id AS item_id, nm AS name, colour FROM shelf.item;
  CREATE MAPPING m_sold INTO (sold) AS SELECT id, item AS item_id, vendor, qty, price, code, twin, day FROM shelf.sold;
  CREATE MAPPING m_offer INTO (offer) AS SELECT item AS item_id, vendor, cost, since FROM shelf.offer;
  CREATE MAPPING m_seller INTO (seller) AS SELECT id AS seller_id, town FROM shelf.vendor;
  CREATE MAPPING m_note INTO (note) AS SELECT item AS item_id, body FROM shelf.note;
  CREATE MAPPING m_kin (CONSTRAINT related FOREIGN KEY (a) REFERENCES item (item_id), CONSTRAINT related_to FOREIGN KEY (b) REFERENCES item (item_id)) AS SELECT a, b FROM shelf.kin;
  CREATE ONTOLOGY CUBE trade AS SELECT colour AS colour, "sales[sold].qty" AS qty, "offers[offer].cost" AS cost, "measure.sales[sold].takings" AS takings
    FROM dsvc.item WHERE "sales[sold].vendor" = "offers[offer].vendor"`;

const JOINED = 'shelf.item i JOIN shelf.sold s ON s.item = i.id JOIN shelf.offer f ON f.item = i.id AND f.vendor = s.vendor';
const ONE = '"sales[sold].vendor" = "offers[offer].vendor"';
const PROFIT = 'SUM("sales[sold].price" - "offers[offer].cost")';

let s: TestService;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(MODEL);
});
afterAll(() => s?.close());

const byHand = async (sql: string) =>
  (await s.database.exec(`SELECT row_to_json(found)::text AS row FROM (${sql}) found`)).map((r) => JSON.parse(String(r.row)));
/** Rows without an order. */
const sorted = (rows: readonly unknown[]) => rows.map((r) => JSON.stringify(r)).sort();
async function same(sql: string, expected: string, token?: string): Promise<void> {
  const found = await s.query(sql, 'shelf', token);
  expect(found.json).toMatchObject({ status: 'success' });
  expect(sorted(found.json.data)).toEqual(sorted(await byHand(expected)));
}

describe('paths that WHERE makes one', () => {
  it.each([
    [
      'one column of a key, the other by the joins',
      `SELECT name, ${PROFIT} AS p FROM dsvc.item WHERE ${ONE} GROUP BY name`,
      `SELECT nm AS name, sum(s.price - f.cost) AS p FROM ${JOINED} GROUP BY nm`,
    ],
    [
      'the whole key',
      `SELECT ${PROFIT} AS p FROM dsvc.item WHERE ${ONE} AND "offers[offer].item_id" = "sales[sold].item_id"`,
      `SELECT sum(s.price - f.cost) AS p FROM ${JOINED}`,
    ],
    [
      'a comparison of rows',
      `SELECT ${PROFIT} AS p FROM dsvc.item WHERE ("offers[offer].item_id", "offers[offer].vendor") = ("sales[sold].item_id", "sales[sold].vendor")`,
      `SELECT sum(s.price - f.cost) AS p FROM ${JOINED}`,
    ],
    [
      'a constant for the column of the key',
      'SELECT SUM("sales[sold].price" - "offers[offer].cost") AS p, COUNT(*) AS n FROM dsvc.item WHERE "offers[offer].vendor" = 2',
      'SELECT sum(s.price - f.cost) AS p, count(*) AS n FROM shelf.item i JOIN shelf.offer f ON f.item = i.id LEFT JOIN shelf.sold s ON s.item = i.id WHERE f.vendor = 2',
    ],
    [
      'a constant for both',
      'SELECT COUNT(*) AS n FROM dsvc.item WHERE "offers[offer].vendor" = 2 AND "sales[sold].vendor" = 2',
      'SELECT count(*) AS n FROM shelf.item i JOIN shelf.offer f ON f.item = i.id JOIN shelf.sold s ON s.item = i.id WHERE f.vendor = 2 AND s.vendor = 2',
    ],
    [
      'equality over a third column',
      `SELECT ${PROFIT} AS p FROM dsvc.item WHERE "offers[offer].by_vendor[seller].seller_id" = "sales[sold].vendor"`,
      `SELECT sum(s.price - f.cost) AS p FROM ${JOINED} JOIN shelf.vendor v ON v.id = f.vendor`,
    ],
    ['COUNT(*)', `SELECT name, COUNT(*) AS n FROM dsvc.item WHERE ${ONE} GROUP BY name`, `SELECT nm AS name, count(*) AS n FROM ${JOINED} GROUP BY nm`],
    [
      'calls of each path are not multiplied',
      `SELECT SUM("offers[offer].cost") AS c, SUM("sales[sold].price") AS p, ${PROFIT} AS d, COUNT(*) AS n, COUNT(item_id) AS i FROM dsvc.item WHERE ${ONE}`,
      `SELECT (SELECT sum(cost) FROM shelf.offer f WHERE EXISTS (SELECT FROM shelf.sold s WHERE s.item = f.item AND s.vendor = f.vendor)) AS c, sum(s.price) AS p, sum(s.price - f.cost) AS d, count(*) AS n, count(DISTINCT i.id) AS i FROM ${JOINED}`,
    ],
    [
      'a measure next to it',
      `SELECT SUM("measure.sales[sold].takings") AS t, ${PROFIT} AS d FROM dsvc.item WHERE ${ONE}`,
      `SELECT sum(s.price * s.qty) AS t, sum(s.price - f.cost) AS d FROM ${JOINED}`,
    ],
    [
      'groups by both paths, HAVING and ORDER BY',
      `SELECT "sales[sold].day" AS d, "offers[offer].since" AS e, ${PROFIT} AS p FROM dsvc.item WHERE ${ONE} GROUP BY 1, 2 HAVING COUNT(*) > 0 ORDER BY ${PROFIT}`,
      `SELECT s.day AS d, f.since AS e, sum(s.price - f.cost) AS p FROM ${JOINED} GROUP BY 1, 2`,
    ],
    [
      'a third path next to it',
      `SELECT ${PROFIT} AS p, COUNT("notes[note].body") AS n FROM dsvc.item WHERE ${ONE} AND "notes[note].body" = 'a'`,
      `SELECT (SELECT sum(s.price - f.cost) FROM ${JOINED} WHERE EXISTS (SELECT FROM shelf.note x WHERE x.item = i.id AND body = 'a')) AS p, (SELECT count(*) FROM shelf.note n WHERE body = 'a' AND item IN (SELECT i.id FROM ${JOINED})) AS n`,
    ],
    [
      'FILTER, DISTINCT and an ordered call',
      `SELECT ${PROFIT} FILTER (WHERE "offers[offer].cost" > 4) AS p, COUNT(DISTINCT "sales[sold].qty" + "offers[offer].vendor") AS n, string_agg("sales[sold].twin", ',' ORDER BY "offers[offer].cost", "sales[sold].id") AS t FROM dsvc.item WHERE ${ONE}`,
      `SELECT sum(s.price - f.cost) FILTER (WHERE f.cost > 4) AS p, count(DISTINCT s.qty + f.vendor) AS n, string_agg(s.twin, ',' ORDER BY f.cost, s.id) AS t FROM ${JOINED}`,
    ],
    [
      'ROLLUP',
      `SELECT colour, ${PROFIT} AS p, SUM("offers[offer].cost") AS c FROM dsvc.item WHERE ${ONE} GROUP BY ROLLUP (colour)`,
      `SELECT colour, sum(s.price - f.cost) AS p, (SELECT sum(cost) FROM shelf.offer o WHERE EXISTS (SELECT FROM shelf.sold x WHERE x.item = o.item AND x.vendor = o.vendor)) AS c FROM ${JOINED} GROUP BY ROLLUP (colour)`,
    ],
    [
      'after a to-one path',
      'SELECT SUM(price - "of_item[item].offers[offer].cost") AS p, COUNT(*) AS n FROM dsvc.sold WHERE "of_item[item].offers[offer].vendor" = vendor',
      `SELECT sum(s.price - f.cost) AS p, count(*) AS n FROM ${JOINED}`,
    ],
    [
      'over a join in FROM',
      'SELECT SUM(v.seller_id + i."offers[offer].cost" + i."sales[sold].qty") AS p FROM svc.seller v JOIN dsvc.item i ON i.item_id = v.seller_id WHERE i."offers[offer].vendor" = v.seller_id',
      'SELECT sum(v.id + f.cost + s.qty) AS p FROM shelf.vendor v JOIN shelf.item i ON i.id = v.id JOIN shelf.offer f ON f.item = i.id AND f.vendor = v.id LEFT JOIN shelf.sold s ON s.item = i.id',
    ],
    [
      'over an outer join in FROM',
      `SELECT v.town, SUM(i."sales[sold].price" - i."offers[offer].cost") AS p, COUNT(*) AS n FROM svc.seller v LEFT JOIN dsvc.item i ON i.item_id = v.seller_id + 1 WHERE i.${ONE.replace('= ', '= i.')} GROUP BY v.town`,
      `SELECT v.town, sum(s.price - f.cost) AS p, count(*) AS n FROM shelf.vendor v LEFT JOIN shelf.item i ON i.id = v.id + 1 JOIN shelf.sold s ON s.item = i.id JOIN shelf.offer f ON f.item = i.id AND f.vendor = s.vendor GROUP BY v.town`,
    ],
    [
      'a column of the outer query',
      'SELECT seller_id, (SELECT SUM(i."sales[sold].qty" + i."offers[offer].cost") FROM dsvc.item i WHERE i."offers[offer].vendor" = v.seller_id) AS p FROM svc.seller v',
      'SELECT v.id AS seller_id, (SELECT sum(s.qty + f.cost) FROM shelf.item i JOIN shelf.offer f ON f.item = i.id LEFT JOIN shelf.sold s ON s.item = i.id WHERE f.vendor = v.id) AS p FROM shelf.vendor v',
    ],
    [
      'in a cube',
      'SELECT colour, SUM(qty * cost) AS x, SUM(takings) AS t FROM vsvc.trade GROUP BY colour',
      `SELECT colour, sum(s.qty * f.cost) AS x, sum(s.price * s.qty) AS t FROM ${JOINED} GROUP BY colour`,
    ],
  ])('%s', (_, sql, expected) => same(sql, expected));

  it('entity_id is the key', async () => {
    await same(
      'SELECT COUNT(*) AS n FROM dsvc.item WHERE "sales[sold].of_item[item].offers[offer].entity_id" = "offers[offer].entity_id"',
      'SELECT count(*) AS n FROM shelf.item i JOIN shelf.sold s ON s.item = i.id JOIN shelf.offer f ON f.item = i.id',
    );
  });
});

describe('paths that stay apart', () => {
  it.each([
    ['no condition', `SELECT name, ${PROFIT} AS p FROM dsvc.item GROUP BY name`, 14],
    ['columns without a key', `SELECT ${PROFIT} AS p FROM dsvc.item WHERE "sales[sold].price" = "offers[offer].cost"`, 8],
    [
      'a part of the key that the joins do not complete',
      'SELECT SUM("makes[offer].cost" + "makes[offer].of_thing[item].sales[sold].qty") AS p, COUNT(*) AS n FROM dsvc.seller WHERE "makes[offer].of_thing[item].offers[offer].cost" = "makes[offer].of_thing[item].sales[sold].price"',
      87,
    ],
    ['OR', `SELECT ${PROFIT} AS p FROM dsvc.item WHERE ${ONE} OR colour = 'blue'`, 8],
    ['NOT', `SELECT ${PROFIT} AS p FROM dsvc.item WHERE NOT ("sales[sold].vendor" <> "offers[offer].vendor")`, 8],
    ['IS NOT DISTINCT FROM', `SELECT ${PROFIT} AS p FROM dsvc.item WHERE "sales[sold].vendor" IS NOT DISTINCT FROM "offers[offer].vendor"`, 8],
    ['a comparison', `SELECT ${PROFIT} AS p FROM dsvc.item WHERE "sales[sold].vendor" >= "offers[offer].vendor"`, 8],
    ['an expression', `SELECT ${PROFIT} AS p FROM dsvc.item WHERE "sales[sold].vendor" = "offers[offer].vendor" % 2`, 8],
    ['a type that compares different keys as equal', `SELECT ${PROFIT} AS p FROM dsvc.item WHERE "sales[sold].code" = "offers[offer].vendor"`, 8],
    ['a condition in FILTER', `SELECT ${PROFIT} FILTER (WHERE ${ONE}) AS p FROM dsvc.item`, 8],
    ['a condition in HAVING', `SELECT ${PROFIT} AS p FROM dsvc.item GROUP BY "sales[sold].vendor", "offers[offer].vendor" HAVING ${ONE}`, 8],
    [
      'a concept without a key',
      `SELECT SUM(length("notes[note].body") + "sales[sold].qty") AS n FROM dsvc.item WHERE "notes[note].item_id" = "sales[sold].item_id"`,
      8,
    ],
    [
      'links, each of which counts',
      'SELECT SUM("related[item].item_id" + "sales[sold].qty") AS n FROM dsvc.item WHERE "related[item].item_id" = "sales[sold].vendor"',
      8,
    ],
  ])('%s', async (_, sql, position) => {
    expect((await s.query(sql, 'shelf')).json).toMatchObject({ code: 'fanout', position });
  });
});

describe('the hint of a refusal', () => {
  const hintOf = async (sql: string): Promise<string> => {
    const { json } = await s.query(sql, 'shelf');
    expect(json).toMatchObject({ code: 'fanout', hint: expect.any(String), position: expect.any(Number) });
    return json.hint;
  };
  const BOTH = 'WHERE "sales[sold].qty" > 1 AND "offers[offer].cost" > 4';
  const ITEMS =
    'shelf.item i WHERE EXISTS (SELECT FROM shelf.sold s WHERE s.item = i.id AND qty > 1) AND EXISTS (SELECT FROM shelf.offer f WHERE f.item = i.id AND cost > 4)';

  it('counts rows, or those of one path', async () => {
    const hint = await hintOf(`SELECT COUNT(*) AS n FROM dsvc.item ${BOTH}`);
    expect(hint).toBe('Write COUNT(DISTINCT entity_id) for the rows themselves, or count a column of one path, such as COUNT("sales[sold].id").');
    await same(`SELECT COUNT(DISTINCT entity_id) AS n FROM dsvc.item ${BOTH}`, `SELECT count(*) AS n FROM ${ITEMS}`);
    await same(
      `SELECT COUNT("sales[sold].id") AS n FROM dsvc.item ${BOTH}`,
      `SELECT count(*) AS n FROM shelf.sold WHERE qty > 1 AND item IN (SELECT i.id FROM ${ITEMS})`,
    );
  });

  it('names the alias in a join', async () => {
    const from = 'FROM dsvc.item i JOIN svc.seller v ON v.seller_id = i.item_id WHERE i."sales[sold].qty" > 1 AND i."offers[offer].cost" > 4';
    const hint = await hintOf(`SELECT COUNT(*) AS n ${from}`);
    expect(hint).toBe('Write COUNT(DISTINCT i.entity_id) for the rows themselves, or count a column of one path, such as COUNT(i."sales[sold].id").');
    await same(`SELECT COUNT(DISTINCT i.entity_id) AS n ${from}`, `SELECT count(*) AS n FROM ${ITEMS} AND id IN (SELECT id FROM shelf.vendor)`);
  });

  it('counts no entity_id of rows without a key', async () => {
    const where = 'FROM dsvc.note WHERE "about[item].sales[sold].qty" > 1 AND "about[item].offers[offer].cost" > 4';
    const hint = await hintOf(`SELECT COUNT(*) AS n ${where}`);
    expect(hint).toBe('Count a column of one path, such as COUNT("about[item].sales[sold].id").');
    await same(
      `SELECT COUNT("about[item].sales[sold].id") AS n ${where}`,
      `SELECT count(*) AS n FROM shelf.note n JOIN shelf.sold s ON s.item = n.item WHERE qty > 1 AND n.item IN (SELECT item FROM shelf.offer WHERE cost > 4)`,
    );
  });

  it('equates the key of a path, or aggregates each path', async () => {
    const hint = await hintOf(`SELECT name, ${PROFIT} AS p FROM dsvc.item GROUP BY name`);
    expect(hint).toBe(
      'If each row of one path belongs to one row of the other, say so in WHERE: "offers[offer].vendor" = "sales[sold].vendor". Otherwise aggregate each path in a call of its own, as in SUM("sales[sold].price") and SUM("offers[offer].cost").',
    );
    await same(
      `SELECT name, ${PROFIT} AS p FROM dsvc.item WHERE "offers[offer].vendor" = "sales[sold].vendor" GROUP BY name`,
      `SELECT nm AS name, sum(s.price - f.cost) AS p FROM ${JOINED} GROUP BY nm`,
    );
    await same(
      'SELECT name, SUM("sales[sold].price") - SUM("offers[offer].cost") AS p FROM dsvc.item GROUP BY name',
      'SELECT nm AS name, (SELECT sum(price) FROM shelf.sold s WHERE s.item = i.id) - (SELECT sum(cost) FROM shelf.offer f WHERE f.item = i.id) AS p FROM shelf.item i',
    );
  });

  it('has no equation where none would be a proof', async () => {
    const hint = await hintOf('SELECT SUM("related[item].item_id" + length("notes[note].body")) AS p FROM dsvc.item');
    expect(hint).toBe('Aggregate each path in a call of its own.');
    await same(
      'SELECT COUNT("related[item].item_id") AS a, COUNT("notes[note].body") AS b FROM dsvc.item',
      'SELECT (SELECT count(*) FROM shelf.kin) AS a, (SELECT count(*) FROM shelf.note) AS b',
    );
  });

  it('aggregates the paths before a volatile function chooses rows', async () => {
    const hint = await hintOf('SELECT SUM(item_id) AS i, SUM("sales[sold].qty") AS q FROM dsvc.item WHERE random() >= 0');
    expect(hint).toBe('Aggregate the paths in a sub-query in FROM that is grouped by the key, and call the function outside of it.');
    await same(
      'SELECT SUM(item_id) AS i, SUM(q) AS q FROM (SELECT item_id, SUM("sales[sold].qty") AS q FROM dsvc.item GROUP BY item_id) x WHERE random() >= 0',
      'SELECT (SELECT sum(id) FROM shelf.item) AS i, (SELECT sum(qty) FROM shelf.sold WHERE item IS NOT NULL) AS q',
    );
  });
});

describe('with policies', () => {
  it('a proof shows what the same query over the rows and values that the caller sees would show', async () => {
    await s.rows('CREATE USER pam; GRANT QUERY ON ALL ontology.shelf TO USER pam; CREATE POLICY cheap ON CONCEPT offer TO USER pam USING (cost < 6)', 'shelf');
    const [{ token }] = await s.rows('CREATE TOKEN FOR pam');
    const twin = JOINED.replace('shelf.offer', '(SELECT * FROM shelf.offer WHERE cost < 6)');
    await same(
      `SELECT name, ${PROFIT} AS p, COUNT(*) AS n FROM dsvc.item WHERE ${ONE} GROUP BY name`,
      `SELECT nm AS name, sum(s.price - f.cost) AS p, count(*) AS n FROM ${twin} GROUP BY nm`,
      token,
    );
    await same(
      'SELECT COUNT(*) AS n FROM dsvc.item WHERE "offers[offer].vendor" = 2 AND "sales[sold].vendor" = 2',
      'SELECT count(*) AS n FROM shelf.offer f JOIN shelf.sold s ON s.item = f.item WHERE f.vendor = 2 AND s.vendor = 2 AND cost < 6',
      token,
    );
  });

  it('a masked value proves nothing, and the hint does not equate it', async () => {
    await s.rows(
      'CREATE USER mo; GRANT QUERY ON ALL ontology.shelf TO USER mo; CREATE POLICY blind ON PROPERTY vendor OF CONCEPT offer MASK WITH (1) EXCEPT USER admin, USER pam',
      'shelf',
    );
    const [{ token }] = await s.rows('CREATE TOKEN FOR mo');
    for (const where of [ONE, '"offers[offer].vendor" = 1', '"sales[sold].of_item[item].offers[offer].entity_id" = "offers[offer].entity_id"']) {
      const { json } = await s.query(`SELECT ${PROFIT} AS p FROM dsvc.item WHERE ${where}`, 'shelf', token);
      expect(json).toMatchObject({ code: 'fanout', hint: expect.stringMatching(/^Aggregate each path/) });
    }
    // the error does not disclose the paths in the text of a cube
    const { json } = await s.query('SELECT SUM(qty * cost) AS x FROM vsvc.trade', 'shelf', token);
    expect([json.code, json.data, json.hint]).toEqual([
      'fanout',
      'SUM(...) is ambiguous: its arguments have columns of two independent to-many paths',
      'Aggregate each path in a call or a sub-query of its own.',
    ]);
    await s.rows('DROP POLICY blind; DROP POLICY cheap', 'shelf');
  });
});
