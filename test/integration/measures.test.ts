/** Definitions of measures over other measures, as the database answers them. */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphOf } from '../../examples/world/graph.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { planSelect } from '../../src/planner/index.ts';
import { memoryDatabase } from '../support/databases/memory.ts';

const MODEL = `
CREATE ONTOLOGY sold;
CREATE MEASURE amount decimal AS SELECT SUM(price);
CREATE MEASURE gifts decimal AS SELECT SUM(amount) FILTER (WHERE gift);
CREATE MEASURE dear_gifts decimal AS SELECT MAX(gifts) FILTER (WHERE price > 2) WHERE price < 100;
CREATE MEASURE rest decimal AS SELECT amount - COALESCE(SUM(amount) FILTER (WHERE gift), 0);
CREATE CONCEPT shop (shop_no int, PRIMARY KEY (shop_no));
CREATE CONCEPT sale (sale_no int, shop_no int, price decimal, gift boolean, PRIMARY KEY (sale_no),
  amount MEASURE decimal, gifts MEASURE decimal, dear_gifts MEASURE decimal, rest MEASURE decimal,
  CONSTRAINT sold_in FOREIGN KEY (shop_no) REFERENCES shop (shop_no) INVERSEOF sells);
CREATE MAPPING m_shop INTO shop AS SELECT no AS shop_no FROM shop;
CREATE MAPPING m_sale INTO sale AS SELECT no AS sale_no, shop AS shop_no, price, gift FROM sale;
`;

const parser = await loadNodeParser();
const context = { graph: graphOf(MODEL, 'sold', parser), parser, product: 'svc', activeDatasource: 'main' };
let db: PGlite;
const ask = async (sql: string): Promise<unknown[]> => {
  const plan = planSelect(context, { text: sql, offset: 0 });
  return (await db.query<{ row: unknown }>(plan.sql, [...plan.params] as never[])).rows.map((r) => r.row);
};

beforeAll(async () => {
  db = await memoryDatabase();
  await db.exec(`CREATE TABLE shop (no int); INSERT INTO shop VALUES (1), (2);
    CREATE TABLE sale (no int, shop int, price numeric, gift boolean);
    INSERT INTO sale VALUES (1, 1, 1, true), (2, 1, 2, false), (3, 1, 4, true), (4, 2, 8, NULL), (5, 2, 160, true)`);
});
afterAll(() => db.close());

describe('an aggregate around a measure in the definition of another', () => {
  it('restricts it by its FILTER, and is restricted by those around it', async () => {
    expect(
      await ask(
        `SELECT sale.shop_no, SUM("measure.amount") AS amount, SUM("measure.gifts") AS gifts, SUM("measure.dear_gifts") AS dear, SUM("measure.rest") AS rest
         FROM dsvc.sale GROUP BY 1 ORDER BY 1`,
      ),
    ).toEqual([
      { shop_no: 1, amount: 7, gifts: 5, dear: 4, rest: 2 },
      { shop_no: 2, amount: 168, gifts: 160, dear: null, rest: 8 },
    ]);
  });

  it('along a path too', async () => {
    expect(
      await ask('SELECT shop_no, SUM("measure.sells[sale].gifts") FILTER (WHERE "sells[sale].price" < 4) AS gifts FROM dsvc.shop GROUP BY 1 ORDER BY 1'),
    ).toEqual([
      { shop_no: 1, gifts: 1 },
      { shop_no: 2, gifts: null },
    ]);
  });
});
