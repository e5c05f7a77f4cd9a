/** A small shop for the tests of the console: three hops from an order to a region, a transitive relationship, hostile names, and a concept that only some may see. */
import type { LocalPostgres } from '../../../dev/testing.ts';
import { ask } from './worker.ts';

export const HOSTILE = '<img src=x onerror="document.title=\'owned\'">';
const LONG = 'x'.repeat(10_000);

export const TABLES = [
  'CREATE SCHEMA shop',
  'CREATE TABLE shop.regions (code text PRIMARY KEY, name text)',
  "INSERT INTO shop.regions VALUES ('S', 'South'), ('N', 'North')",
  'CREATE TABLE shop.towns (id int PRIMARY KEY, name text, region text, near int)',
  "INSERT INTO shop.towns VALUES (1, 'Lisbon', 'S', NULL), (2, 'Porto', 'N', 1), (3, 'Braga', 'N', 2), (4, 'Viana', 'N', 3)",
  'CREATE TABLE shop.customers (id int PRIMARY KEY, name text, town int, note text)',
  `INSERT INTO shop.customers VALUES (1, 'Ann', 1, NULL), (2, '${HOSTILE.replaceAll("'", "''")}', 2, '${LONG}'), (3, '\u202Eevil', 3, 'x')`,
  'CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer int, placed date, total numeric(20,2))',
  "INSERT INTO shop.orders VALUES (9007199254740993, 1, '2026-01-02', 12345678901234567.25), (2, 1, '2026-01-03', 7.00), (3, 2, '2026-02-01', 30.50)",
  'CREATE TABLE shop.wages (id int PRIMARY KEY, customer int, amount int)',
  'INSERT INTO shop.wages VALUES (1, 1, 4000)',
];

export const MODEL = `CREATE ONTOLOGY shop DESCRIPTION 'A small shop';
CREATE MEASURE revenue decimal AS SELECT SUM(total);
CREATE CONCEPT region (code string, name string, PRIMARY KEY (code), LABEL (name));
CREATE CONCEPT town (town_no integer, name string, code string, near_no integer, PRIMARY KEY (town_no), LABEL (name),
  CONSTRAINT in_region FOREIGN KEY (code) REFERENCES region (code) INVERSEOF has_town,
  CONSTRAINT near FOREIGN KEY (near_no) REFERENCES town (town_no) INVERSEOF near_to TRANSITIVE);
CREATE CONCEPT customer (customer_no integer, name string, town_no integer, note string, PRIMARY KEY (customer_no), LABEL (name),
  CONSTRAINT lives_in FOREIGN KEY (town_no) REFERENCES town (town_no) INVERSEOF has_customer) DESCRIPTION 'Somebody who buys';
CREATE CONCEPT order (order_no bigint, customer_no integer, placed date, total decimal(20,2), revenue MEASURE decimal, PRIMARY KEY (order_no),
  CONSTRAINT made_by FOREIGN KEY (customer_no) REFERENCES customer (customer_no) INVERSEOF made_order);
CREATE CONCEPT secret_wage (wage_no integer, customer_no integer, amount integer, PRIMARY KEY (wage_no),
  CONSTRAINT paid_to FOREIGN KEY (customer_no) REFERENCES customer (customer_no) INVERSEOF has_secret_wage);
CREATE MAPPING m_region INTO region AS SELECT code, name FROM shop.regions;
CREATE MAPPING m_town INTO town AS SELECT id AS town_no, name, region AS code, near AS near_no FROM shop.towns;
CREATE MAPPING m_customer INTO customer AS SELECT id AS customer_no, name, town AS town_no, note FROM shop.customers;
CREATE MAPPING m_order INTO order AS SELECT id AS order_no, customer AS customer_no, placed, total FROM shop.orders;
CREATE MAPPING m_wage INTO secret_wage AS SELECT id AS wage_no, customer AS customer_no, amount FROM shop.wages`;

export const PASSWORD = 'Correct-horse-9!';

/** Creates tables, model and the user `ann`, who may query everything but wages. */
export async function loadShop(database: LocalPostgres, base: string, token: string): Promise<void> {
  for (const sql of TABLES) await database.exec(sql);
  const run = async (sql: string, ontology = 'shop'): Promise<void> => {
    const headers = { 'x-api-key': token, 'content-type': 'application/json' };
    const answer = await ask(base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ ontology_name: ontology, query: sql }) });
    if (answer.status !== 200) throw new Error(`${sql}: ${answer.text}`);
  };
  await run(MODEL);
  await run(`CREATE USER ann PASSWORD '${PASSWORD}'`, '');
  for (const concept of ['region', 'town', 'customer', 'order']) await run(`GRANT QUERY ON ontology.shop.concept.${concept} TO USER ann`, '');
}
