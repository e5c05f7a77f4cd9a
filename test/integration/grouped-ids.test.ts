/** GROUP BY entity_id: rows are grouped by the key instead of the text of the id where both make the same groups. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PlannedTables } from '../support/planned.ts';

const TABLES = `
CREATE TABLE shop (id int, name text);
INSERT INTO shop VALUES (1, 'a'), (2, 'a'), (NULL, 'b'), (NULL, 'c'), (3, NULL);
CREATE TABLE price (amount numeric, name text);
INSERT INTO price VALUES (1.0, 'a'), (1.00, 'a'), (2, 'b');
CREATE TABLE sale (id int, shop int, amount numeric);
INSERT INTO sale VALUES (1, 1, 1.0), (2, 1, 1.00), (3, 2, 2), (4, NULL, NULL), (5, 9, 2.0);
`;
const MODEL = `
CREATE ONTOLOGY shops;
CREATE CONCEPT shop (shop_id int, name string, PRIMARY KEY (shop_id));
CREATE CONCEPT price (amount decimal, name string, PRIMARY KEY (amount));
CREATE CONCEPT sale (sale_id int, shop_id int, PRIMARY KEY (sale_id), CONSTRAINT sold_in FOREIGN KEY (shop_id) REFERENCES shop (shop_id) INVERSEOF has_sale);
CREATE MAPPING m_shop INTO shop AS SELECT id AS shop_id, name FROM shop;
CREATE MAPPING m_price INTO price AS SELECT amount, name FROM price;
CREATE MAPPING m_sale INTO sale AS SELECT id AS sale_id, shop AS shop_id FROM sale;
`;

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'shops');
});
afterAll(() => tables.close());

describe('GROUP BY entity_id', () => {
  it.each([
    [
      'SELECT name, COUNT("has_sale[sale].sale_id") AS n FROM dsvc.shop GROUP BY entity_id, name',
      'SELECT s.name, count(x.id) AS n FROM shop s LEFT JOIN sale x ON x.shop = s.id GROUP BY s.id, s.name',
      false,
    ],
    ['SELECT COUNT(*) AS n, COUNT(entity_id) AS ids FROM svc.shop GROUP BY entity_id', 'SELECT count(*) AS n, count(id) AS ids FROM shop GROUP BY id', false],
    [
      'SELECT MAX(name) AS m FROM svc.shop GROUP BY entity_id HAVING COUNT(DISTINCT entity_id) = 1',
      'SELECT max(name) AS m FROM shop GROUP BY id HAVING count(DISTINCT id) = 1',
      false,
    ],
    [
      'SELECT COUNT(*) AS n FROM dsvc.sale GROUP BY "sold_in[shop].entity_id"',
      'SELECT count(*) AS n FROM sale x LEFT JOIN shop s ON s.id = x.shop GROUP BY s.id',
      false,
    ],
    // the id itself is shown, or its text decides
    ['SELECT entity_id, COUNT(*) AS n FROM svc.shop GROUP BY entity_id', `SELECT 'shop:' || id AS entity_id, count(*) AS n FROM shop GROUP BY id`, true],
    ['SELECT COUNT(*) AS n FROM svc.price GROUP BY entity_id', 'SELECT count(*) AS n FROM price GROUP BY amount::text', true],
    ['SELECT COUNT(*) AS n FROM svc.shop GROUP BY ROLLUP (entity_id)', 'SELECT count(*) AS n FROM shop GROUP BY ROLLUP (id)', true],
  ])('%s', async (query, byHand, hasText) => {
    expect(await tables.rows(query)).toEqual(await tables.rowsByHand(byHand));
    expect(tables.plan(query).sql.includes(`:' || `)).toBe(hasText);
  });
});
