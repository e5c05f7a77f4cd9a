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
CREATE MEASURE cost decimal AS SELECT SUM(paid);
CREATE MEASURE dearest decimal AS SELECT MAX(paid) WHERE paid < 6;
CREATE MEASURE prices bigint AS SELECT COUNT(DISTINCT paid);
CREATE MEASURE spread decimal AS SELECT SUM(dearest) - MIN(paid);
CREATE MEASURE share decimal AS SELECT SUM(cost) / MAX(dearest);
CREATE CONCEPT bill (bill_no int, shop_no int, paid decimal, PRIMARY KEY (bill_no), cost MEASURE decimal,
  dearest MEASURE decimal, prices MEASURE bigint, spread MEASURE decimal, share MEASURE decimal,
  CONSTRAINT billed_to FOREIGN KEY (shop_no) REFERENCES shop (shop_no) INVERSEOF pays);
CREATE CONCEPT late_bill INHERITS (bill) FROM svc.bill WHERE paid > 0;
CREATE CONCEPT numbered_bill INHERITS (bill) FROM svc.bill WHERE paid > 0 AND bill_no IS NOT NULL;
CREATE CONCEPT late_numbered_bill INHERITS (numbered_bill) FROM svc.numbered_bill WHERE paid > 5;
CREATE CONCEPT either_bill INHERITS (bill) FROM svc.bill WHERE paid > 4 OR bill_no IS NOT NULL;
CREATE CONCEPT part_bill (line_no int, PRIMARY KEY (bill_no, line_no), cost MEASURE decimal, bill_no int, shop_no int, paid decimal,
  CONSTRAINT part_billed_to FOREIGN KEY (shop_no) REFERENCES shop (shop_no) INVERSEOF pays_part);
CREATE CUBE costs AS SELECT shop_no, "measure.sold_in[shop].pays[bill].cost" AS cost FROM dsvc.sale;
CREATE MAPPING m_bill INTO bill AS SELECT no AS bill_no, shop AS shop_no, paid FROM bill WHERE no IS NOT NULL;
CREATE MAPPING m_unnumbered INTO bill AS SELECT shop AS shop_no, paid FROM bill WHERE no IS NULL;
CREATE MAPPING m_part INTO part_bill AS SELECT no AS bill_no, shop AS shop_no, paid FROM bill;
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
    INSERT INTO sale VALUES (1, 1, 1, true), (2, 1, 2, false), (3, 1, 4, true), (4, 2, 8, NULL), (5, 2, 160, true);
    CREATE TABLE bill (no int, shop int, paid numeric); INSERT INTO bill VALUES (1, 1, 5), (NULL, 1, 3), (NULL, 1, 3), (2, 2, 7)`);
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

describe('a measure of a concept with a mapping that does not provide the key', () => {
  const code = async (sql: string): Promise<unknown> => ask(sql).catch((e: { code?: string }) => e.code);

  it('is refused where several rows lead to one of its rows', async () => {
    for (const sql of [
      'SELECT SUM("measure.sold_in[shop].pays[bill].cost") FROM dsvc.sale',
      'SELECT SUM("measure.sold_in[shop].pays[late_bill].cost") FROM dsvc.sale',
      'SELECT SUM("measure.sold_in[shop].pays_part[part_bill].cost") FROM dsvc.sale',
      'SELECT SUM("measure.sold_in[shop].pays[either_bill].cost") FROM dsvc.sale',
      'SELECT SUM("measure.sold_in[shop].pays[bill].share") FROM dsvc.sale',
      'SELECT shop_no, cost FROM vsvc.costs',
      'SELECT SUM(b."measure.cost") FROM dsvc.bill b JOIN dsvc.sale s ON s.shop_no = b.shop_no',
    ])
      expect([sql, await code(sql)]).toEqual([sql, 'no_key']);
  });

  it('says which mapping lacks which column, if it names the concept', async () => {
    const message = async (sql: string): Promise<unknown> => ask(sql).catch((e: { message?: string }) => e.message);
    expect(await message('SELECT SUM("measure.sold_in[shop].pays[bill].cost") FROM dsvc.sale')).toBe(
      'the measure `cost` needs a key in all rows of `bill` in this query; the mapping `m_unnumbered` does not provide `bill_no`',
    );
    expect(await message('SELECT shop_no, cost FROM vsvc.costs')).toBe(
      'the measure `cost` needs a key in all rows of its concept in this query; one of its mappings does not provide all columns of the primary key',
    );
  });

  it('is answered if it does not count equal rows', async () => {
    const reached = 'FROM sale s JOIN bill b ON b.shop = s.shop';
    const byHand = await db.query(`SELECT s.shop AS shop_no, MAX(b.paid) FILTER (WHERE b.paid < 6)::float AS dearest, COUNT(DISTINCT b.paid)::int AS prices,
      (MAX(b.paid) FILTER (WHERE b.paid < 6) - MIN(b.paid))::float AS spread, COUNT(DISTINCT b.paid) FILTER (WHERE b.paid > 3)::int AS dear ${reached} GROUP BY 1 ORDER BY 1`);
    const path = '"measure.sold_in[shop].pays[bill]';
    expect(
      await ask(`SELECT sale.shop_no, SUM(${path}.dearest") AS dearest, SUM(${path}.prices") AS prices, SUM(${path}.spread") AS spread,
        SUM(${path}.prices") FILTER (WHERE "sold_in[shop].pays[bill].paid" > 3) AS dear FROM dsvc.sale GROUP BY 1 ORDER BY 1`),
    ).toEqual(byHand.rows);
  });

  it('is answered for a logic concept that excludes rows without a key', async () => {
    for (const [concept, least] of [
      ['numbered_bill', 0],
      ['late_numbered_bill', 5],
    ] as const) {
      const byHand = await db.query(`SELECT SUM(paid)::int AS cost FROM bill WHERE no IS NOT NULL AND paid > ${least}`);
      expect(await ask(`SELECT SUM("measure.sold_in[shop].pays[${concept}].cost") AS cost FROM dsvc.sale`)).toEqual(byHand.rows);
    }
  });

  it('counts each row once where at most one row leads to it', async () => {
    const byHand = await db.query('SELECT s.no AS shop_no, SUM(b.paid)::int AS cost FROM shop s LEFT JOIN bill b ON b.shop = s.no GROUP BY 1 ORDER BY 1');
    expect(await ask('SELECT shop_no, SUM("measure.pays[bill].cost") AS cost FROM dsvc.shop GROUP BY 1 ORDER BY 1')).toEqual(byHand.rows);
    expect(await ask('SELECT shop_no, SUM("measure.cost") AS cost FROM dsvc.bill GROUP BY 1 ORDER BY 1')).toEqual(byHand.rows);
    expect(await ask('SELECT SUM("measure.cost") AS cost FROM dsvc.bill WHERE "billed_to[shop].sells[sale].price" > 1')).toEqual([{ cost: 18 }]);
  });
});
