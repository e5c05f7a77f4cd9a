/** `kg introspect --update`: what is new in a database is added to a model file, and the file's own text stays. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalPostgres } from '../../dev/testing.ts';
import { graphOf } from '../../examples/world/graph.ts';
import { main } from '../../src/cli/kg.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { borrowPostgres } from '../support/databases/index.ts';

const parser = await loadNodeParser();
let db: LocalPostgres;
let folder: string;
beforeAll(async () => {
  db = await borrowPostgres();
  folder = await mkdtemp(join(tmpdir(), 'introspect-'));
  await run(`CREATE SCHEMA grow;
    CREATE TABLE grow.customers (id integer PRIMARY KEY, full_name text, city text, secret text, photo bytea);
    CREATE TABLE grow.orders (no bigint PRIMARY KEY, customer integer REFERENCES grow.customers, placed date, deleted boolean);
    CREATE TABLE grow.raw (a integer, b integer)`);
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

const run = async (script: string) => {
  for (const statement of script.split(/;\s*$/m)) if (statement.trim() !== '') await db.exec(statement);
};
const path = () => join(folder, 'model.kg');
async function update(): Promise<{ code: number; out: string[]; err: string; text: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const env = { DATASOURCE_MAIN: db.secret('kg_dev'), SESSION_FILE: '/none/session.json' };
  const code = await main(['introspect', 'main', '--schema', 'grow', '--update', path()], env, { out: (l) => out.push(l), err: (l) => err.push(l) });
  return { code, out, err: err.join('\n'), text: await readFile(path(), 'utf8') };
}
/** True if `text` is `old` with insertions. */
function contains(text: string, old: string): boolean {
  let at = 0;
  for (const c of text) if (c === old[at]) at++;
  return at === old.length;
}

const MODEL = `-- Written by hand.
CREATE ONTOLOGY shop; -- its name
create concept client (id integer, -- the number
  name string, -- what people call it
  -- where it lives
  town string, primary key (id), label (name)
);
CREATE MAPPING clients INTO client AS SELECT id, full_name AS name, upper(city) AS town -- in capital letters
  FROM grow.customers;

-- introspect: ignore grow.customers.secret, grow.raw
CREATE CONCEPT purchase (no bigint, customer integer, placed date, PRIMARY KEY (no));
CREATE MAPPING purchases INTO purchase AS SELECT no, customer, placed, placed IS DISTINCT FROM NULL AS has_date FROM grow.orders WHERE NOT deleted`;

describe('an update', () => {
  it('adds a foreign key that the model lacks, and leaves out what the file ignores or reads otherwise', async () => {
    await writeFile(path(), MODEL);
    const { code, out, err, text } = await update();
    expect({ code, err, out }).toEqual({ code: 0, err: '', out: ['~ concept purchase: client'] });
    expect(text).toBe(
      MODEL.replace('PRIMARY KEY (no))', 'PRIMARY KEY (no), CONSTRAINT `client` FOREIGN KEY (`customer`) REFERENCES `client` (`id`) INVERSEOF `has_purchase`)'),
    );
    expect((await update()).out).toEqual([`${path()}: nothing is new`]);
  });

  it('adds columns, tables, links and their statements, and nothing is new after it', async () => {
    const before = await readFile(path(), 'utf8');
    await run(`ALTER TABLE grow.customers ADD COLUMN born date, ADD COLUMN "Weird [x]" integer;
      COMMENT ON COLUMN grow.customers.born IS 'Day of birth';
      ALTER TABLE grow.orders ADD COLUMN note text;
      CREATE TABLE grow.products (id bigint PRIMARY KEY, name text, price numeric(8,2));
      CREATE TABLE grow.order_products (order_no bigint REFERENCES grow.orders, product bigint REFERENCES grow.products, amount integer, PRIMARY KEY (order_no, product));
      ALTER TABLE grow.customers ADD COLUMN favourite bigint REFERENCES grow.products`);
    const { code, out, err, text } = await update();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toEqual([
      '~ concept client: born, Weird (x), favourite',
      '~ concept client: product',
      '~ concept purchase: note',
      '~ concept purchase: has_product',
      '+ concept product',
      '+ mapping map_order_product',
    ]);
    expect(contains(text, before)).toBe(true);
    expect(text).toContain(`  town string,
  \`born\` date,
  \`Weird (x)\` integer,
  \`favourite\` bigint, primary key (id), label (name),
`);
    expect(text).toContain(', upper(city) AS town, born, "Weird [x]" AS "Weird (x)", favourite -- in capital letters');
    expect(text).toContain("CREATE OR REPLACE PROPERTY `born` date DESCRIPTION = 'Day of birth';");
    const graph = graphOf(text, 'shop', parser);
    expect(graph.concept('client')?.properties.map((p) => p.def.name)).toEqual(['id', 'name', 'town', 'born', 'Weird (x)', 'favourite']);
    expect(graph.property('born')?.description).toBe('Day of birth');
    expect(graph.concept('purchase')?.relationships.map((r) => `${r.name}[${r.target.name}]`)).toEqual(['client[client]', 'has_product[product]']);
    // the file's own names stay: the key of products has another type than the one of clients
    expect(graph.concept('product')?.properties.map((p) => `${p.def.name} ${p.def.type}`)).toEqual(['product_id bigint', 'name string', 'price decimal(8,2)']);
    const again = await update();
    expect([again.code, again.out, again.text]).toEqual([0, [`${path()}: nothing is new`], text]);
  });

  it('says which columns it cannot add', async () => {
    const text = `CREATE CONCEPT client (id integer, PRIMARY KEY (id)); CREATE CONCEPT other INHERITS (client);
CREATE MAPPING a INTO client AS SELECT id FROM grow.customers WHERE city = 'x'; CREATE MAPPING b INTO client AS SELECT id FROM grow.customers WHERE city <> 'x';
CREATE MAPPING c INTO other AS SELECT c.id FROM grow.customers c, grow.orders o;
-- introspect: ignore grow.raw grow.products grow.order_products
`;
    await writeFile(path(), text);
    const { code, out, text: now } = await update();
    expect(code).toBe(0);
    expect(out[0]).toMatch(/^grow\.customers: several mappings of client read the table, so these columns are not added: full_name, /);
    expect(now).toBe(text);
  });

  it('changes nothing if the file is not valid', async () => {
    await writeFile(path(), 'CREATE CONCEPT c (a intger)');
    const { code, err, text } = await update();
    expect([code, text]).toEqual([1, 'CREATE CONCEPT c (a intger)']);
    expect(err).toMatch(/model\.kg:1:21: error: .*intger/);
  });
});
