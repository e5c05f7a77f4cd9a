import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalPostgres } from '../../dev/testing.ts';
import { graphOf } from '../../examples/world/graph.ts';
import { TABLES } from '../../examples/world/tables.ts';
import { main } from '../../src/cli/kg.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { validateScript } from '../../src/cli/validate.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { planSelect } from '../../src/planner/index.ts';
import { borrowPostgres } from '../support/databases/index.ts';

const parser = await loadNodeParser();
type Row = Record<string, unknown>;

let db: LocalPostgres;
beforeAll(async () => {
  db = await borrowPostgres();
});
afterAll(() => db.close());

const run = async (script: string) => {
  for (const statement of script.split(/;\s*$/m)) if (statement.trim() !== '') await db.exec(statement);
};
const kg = async (...args: string[]) => {
  const [out, err]: [string[], string[]] = [[], []];
  const env = { DATASOURCE_MAIN: db.secret('kg_dev'), DATASOURCE_SIDE_DOOR: db.secret('kg_dev'), SESSION_FILE: '/none/session.json' };
  const code = await main(['introspect', ...args], env, { out: (l) => out.push(l), err: (l) => err.push(l) });
  return { code, out: out.join('\n'), err: err.join('\n') };
};
/** The script over a schema, which must be valid unchanged, and its ontology. */
async function start(schema: string, ...more: string[]): Promise<{ script: string; graph: Graph }> {
  const { code, out, err } = await kg('main', '--schema', schema, ...more);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const summary = validateScript({ path: 'start.kg', text: out }, { parser, product: 'svc', ontology: 'start' });
  expect(summary).toEqual([expect.stringMatching(/ 0 warnings$/)]);
  return { script: out, graph: graphOf(out, 'start', parser) };
}
const asker = (graph: Graph) => async (sql: string) => {
  const plan = planSelect({ graph, parser, product: 'svc', activeDatasource: 'main' }, { text: sql, offset: 0 });
  return (await db.exec(plan.sql, [...plan.params])).map((row) => Object.values(row)[0] as Row);
};
const byHand = async (sql: string) => (await db.exec(`SELECT to_json(q) AS r FROM (${sql}) q`)).map((row) => row.r as Row);
const described = (graph: Graph, concept: string) => {
  const c = graph.concept(concept);
  return {
    properties: c?.properties.map((p) => `${p.def.name} ${p.def.type}`),
    key: c?.key?.properties.map((p) => p.name),
    label: c?.def?.label,
    relationships: c?.relationships.map((r) => `${r.name}[${r.target.name}]`).sort(),
  };
};

describe('on the tables of the sample graph', () => {
  let graph: Graph;
  let ask: ReturnType<typeof asker>;

  beforeAll(async () => {
    await db.exec('CREATE SCHEMA world');
    for (const t of TABLES) {
      await db.exec(`CREATE TABLE world.${t.name} (${t.columns.map((c) => `${c.name} ${c.type} ${c.constraint ?? ''}`).join(', ')})`);
      await db.exec(`COMMENT ON TABLE world.${t.name} IS '${t.comment}'`);
      for (const c of t.columns) await db.exec(`COMMENT ON COLUMN world.${t.name}.${c.name} IS '${c.comment}'`);
    }
    for (const t of TABLES) for (const constraint of t.constraints) await db.exec(`ALTER TABLE world.${t.name} ADD ${constraint}`);
    await run(`
      INSERT INTO world.t_region VALUES ('Europe'), ('Asia');
      INSERT INTO world.t_subregion VALUES ('Western Europe', 'Europe'), ('Southern Europe', 'Europe');
      INSERT INTO world.t_country VALUES
        ('PRT', 'PT', 'Portugal', 'Portuguese Republic', 'Europe', 'Southern Europe', 92090, 39.5, -8, true, true, false, 'P'),
        ('ESP', 'ES', 'Spain', 'Kingdom of Spain', 'Europe', 'Southern Europe', 505992, 40, -4, true, true, false, 'E'),
        ('FRA', 'FR', 'France', 'French Republic', 'Europe', 'Western Europe', 551695, 46, 2, true, true, false, 'F'),
        ('JPN', 'JP', 'Japan', 'Japan', 'Asia', NULL, 377930, 36, 138, true, true, false, 'J');
      INSERT INTO world.t_country_seat VALUES ('PRT', 'Lisbon'), ('ESP', 'Madrid');
      INSERT INTO world.t_lang VALUES ('por', 'Portuguese'), ('spa', 'Spanish'), ('cat', 'Catalan'), ('fra', 'French');
      INSERT INTO world.t_country_lang VALUES ('PRT', 'por', 'Portugal'), ('ESP', 'spa', 'España'), ('ESP', 'cat', NULL), ('FRA', 'fra', 'France');
      INSERT INTO world.t_curr VALUES ('EUR', 'Euro', '€'), ('JPY', 'Yen', '¥');
      INSERT INTO world.t_country_curr VALUES ('PRT', 'EUR'), ('ESP', 'EUR'), ('FRA', 'EUR'), ('JPN', 'JPY');
      INSERT INTO world.t_border VALUES ('PRT', 'ESP'), ('ESP', 'PRT'), ('ESP', 'FRA'), ('FRA', 'ESP');
      INSERT INTO world.t_city VALUES (1, 'Lisbon', 'PRT', 'PPLC', NULL, 517802, 38.7, -9.1), (2, 'Porto', 'PRT', 'PPLA', NULL, 249633, 41.1, -8.6),
        (3, 'Madrid', 'ESP', 'PPLC', NULL, 3255944, 40.4, -3.7), (4, 'Nowhere', 'FRA', 'PPL', NULL, NULL, 0, 0);`);
    ({ graph } = await start('world'));
    ask = asker(graph);
  });

  it('creates concepts, keys, labels, relationships and descriptions', () => {
    expect(graph.concepts.map((c) => c.name)).toEqual(['city', 'country', 'country_seat', 'curr', 'lang', 'region', 'subregion']);
    expect(described(graph, 'city')).toEqual({
      properties: ['geo_id bigint', 'city_nm string', 'cc3 string', 'fcode string', 'adm1 string', 'pop bigint', 'lat double', 'lng double'],
      key: ['geo_id'],
      label: ['city_nm'],
      relationships: ['country[country]'],
    });
    expect(described(graph, 'country')).toMatchObject({
      key: ['cc3'],
      label: ['short_nm'],
      relationships: [
        'border[country]',
        'border_of[country]',
        'has_city[city]',
        'has_country_seat[country_seat]',
        'has_curr[curr]',
        'has_lang[lang]',
        'region[region]',
        'subregion[subregion]',
      ],
    });
    expect(described(graph, 'country_seat').key).toEqual(['cc3', 'seat']);
    expect(graph.concept('lang')?.def?.description).toBe('Languages');
    expect(graph.concept('country')?.def?.relationships.find((r) => r.name === 'has_lang')?.description).toBe('Official languages of countries');
    // Of several comments, that of the table whose key it is.
    expect(graph.property('cc3')?.description).toBe('ISO 3166-1 alpha-3 code');
    expect(graph.property('rgn')?.description).toBe('English name');
  });

  it('supports foreign keys in both directions', async () => {
    expect(await ask(`SELECT entity_id, entity_label, "country[country].region[region].rgn" AS region FROM dsvc.city ORDER BY pop DESC NULLS LAST`)).toEqual(
      await byHand(`SELECT 'city:' || geo_id AS entity_id, city_nm AS entity_label, rgn AS region
                    FROM world.t_city JOIN world.t_country USING (cc3) ORDER BY pop DESC NULLS LAST`),
    );
    expect(await ask(`SELECT short_nm, SUM("has_city[city].pop") AS people FROM dsvc.country GROUP BY short_nm ORDER BY short_nm`)).toEqual(
      await byHand(`SELECT short_nm, SUM(pop) AS people FROM world.t_country LEFT JOIN world.t_city USING (cc3) GROUP BY short_nm ORDER BY short_nm`),
    );
  });

  it('supports link tables, with their columns, and walks over those of one concept', async () => {
    expect(await ask(`SELECT short_nm, "has_lang[lang].lang_nm" AS lang, "has_lang[lang]_own_nm" AS own FROM dsvc.country ORDER BY 1, 2`)).toEqual(
      await byHand(`SELECT short_nm, lang_nm AS lang, own_nm AS own FROM world.t_country
                    LEFT JOIN (world.t_country_lang JOIN world.t_lang USING (iso3)) USING (cc3) ORDER BY 1, 2`),
    );
    expect(
      await ask(`SELECT "border[country*3].short_nm" AS n, "border[country*3]_transitivity_level" AS d FROM dsvc.country WHERE cc3 = 'PRT' ORDER BY d, n`),
    ).toEqual([
      { n: 'Spain', d: 1 },
      { n: 'France', d: 2 },
      { n: 'Portugal', d: 2 },
    ]);
    expect(await ask(`SELECT curr_nm, COUNT("has_country[country].cc3") AS n FROM dsvc.curr GROUP BY curr_nm ORDER BY n DESC`)).toEqual([
      { curr_nm: 'Euro', n: 3 },
      { curr_nm: 'Yen', n: 1 },
    ]);
  });
});

describe('on tables like those of TPC-H', () => {
  let graph: Graph;

  beforeAll(async () => {
    await run(`
      CREATE SCHEMA tpch;
      CREATE TABLE tpch.region (r_regionkey integer PRIMARY KEY, r_name char(25) NOT NULL, r_comment varchar(152));
      CREATE TABLE tpch.nation (n_nationkey integer PRIMARY KEY, n_name char(25) NOT NULL, n_regionkey integer NOT NULL REFERENCES tpch.region, n_comment varchar(152));
      CREATE TABLE tpch.part (p_partkey bigint PRIMARY KEY, p_name varchar(55) NOT NULL, p_mfgr char(25), p_brand char(10), p_type varchar(25), p_size integer,
        p_container char(10), p_retailprice decimal(15,2), p_comment varchar(23));
      CREATE TABLE tpch.supplier (s_suppkey bigint PRIMARY KEY, s_name char(25) NOT NULL, s_address varchar(40), s_nationkey integer NOT NULL REFERENCES tpch.nation,
        s_phone char(15), s_acctbal decimal(15,2), s_comment varchar(101));
      CREATE TABLE tpch.partsupp (ps_partkey bigint NOT NULL REFERENCES tpch.part, ps_suppkey bigint NOT NULL REFERENCES tpch.supplier, ps_availqty integer,
        ps_supplycost decimal(15,2), ps_comment varchar(199), PRIMARY KEY (ps_partkey, ps_suppkey));
      CREATE TABLE tpch.customer (c_custkey bigint PRIMARY KEY, c_name varchar(25) NOT NULL, c_address varchar(40), c_nationkey integer NOT NULL REFERENCES tpch.nation,
        c_phone char(15), c_acctbal decimal(15,2), c_mktsegment char(10), c_comment varchar(117));
      CREATE TABLE tpch.orders (o_orderkey bigint PRIMARY KEY, o_custkey bigint NOT NULL REFERENCES tpch.customer, o_orderstatus char(1), o_totalprice decimal(15,2),
        o_orderdate date, o_orderpriority char(15), o_clerk char(15), o_shippriority integer, o_comment varchar(79));
      CREATE TABLE tpch.lineitem (l_orderkey bigint NOT NULL REFERENCES tpch.orders, l_partkey bigint NOT NULL REFERENCES tpch.part, l_suppkey bigint NOT NULL REFERENCES tpch.supplier,
        l_linenumber integer NOT NULL, l_quantity decimal(15,2), l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag char(1),
        l_linestatus char(1), l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25), l_shipmode char(10), l_comment varchar(44),
        PRIMARY KEY (l_orderkey, l_linenumber), FOREIGN KEY (l_partkey, l_suppkey) REFERENCES tpch.partsupp);
      INSERT INTO tpch.region VALUES (0, 'AFRICA'), (1, 'EUROPE');
      INSERT INTO tpch.nation VALUES (0, 'KENYA', 0), (1, 'FRANCE', 1), (2, 'GERMANY', 1);
      INSERT INTO tpch.part (p_partkey, p_name, p_brand) VALUES (1, 'bolt', 'Brand#1'), (2, 'nut', 'Brand#2');
      INSERT INTO tpch.supplier (s_suppkey, s_name, s_nationkey) VALUES (1, 'one', 1), (2, 'two', 2);
      INSERT INTO tpch.partsupp (ps_partkey, ps_suppkey, ps_supplycost) VALUES (1, 1, 1.5), (1, 2, 2), (2, 2, 3);
      INSERT INTO tpch.customer (c_custkey, c_name, c_nationkey, c_mktsegment) VALUES (1, 'Ann', 1, 'BUILDING'), (2, 'Bob', 2, 'MACHINERY'), (3, 'Cyd', 0, 'BUILDING');
      INSERT INTO tpch.orders (o_orderkey, o_custkey, o_totalprice, o_orderdate) VALUES (10, 1, 100, '1995-01-01'), (11, 1, 50, '1995-03-01'), (12, 2, 70, '1996-01-01');
      INSERT INTO tpch.lineitem (l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount) VALUES
        (10, 1, 1, 1, 5, 60, 0.1), (10, 2, 2, 2, 1, 40, 0), (11, 1, 2, 1, 2, 50, 0.05), (12, 1, 1, 1, 7, 70, 0);`);
    ({ graph } = await start('tpch'));
  });

  it('finds the eight concepts and their relationships', () => {
    expect(graph.concepts.map((c) => c.name)).toEqual(['customer', 'lineitem', 'nation', 'order', 'part', 'partsupp', 'region', 'supplier']);
    expect(described(graph, 'lineitem')).toMatchObject({
      key: ['l_orderkey', 'l_linenumber'],
      label: [],
      relationships: ['order[order]', 'part[part]', 'partsupp[partsupp]', 'supplier[supplier]'],
    });
    expect(described(graph, 'customer')).toMatchObject({ key: ['c_custkey'], label: ['c_name'], relationships: ['has_order[order]', 'nation[nation]'] });
    expect(graph.property('l_extendedprice')?.type).toBe('decimal(15,2)');
  });

  it('replaces joins of four and five tables by paths', async () => {
    const ask = asker(graph);
    expect(
      await ask(`SELECT "order[order].customer[customer].nation[nation].n_name" AS nation, SUM(l_extendedprice * (1 - l_discount)) AS revenue
                 FROM dsvc.lineitem WHERE "supplier[supplier].nation[nation].region[region].r_name" = 'EUROPE' GROUP BY 1 ORDER BY revenue DESC`),
    ).toEqual(
      await byHand(`SELECT trim(cn.n_name) AS nation, SUM(l_extendedprice * (1 - l_discount)) AS revenue
        FROM tpch.lineitem JOIN tpch.orders ON o_orderkey = l_orderkey JOIN tpch.customer ON c_custkey = o_custkey JOIN tpch.nation cn ON cn.n_nationkey = c_nationkey
        JOIN tpch.supplier ON s_suppkey = l_suppkey JOIN tpch.nation sn ON sn.n_nationkey = s_nationkey JOIN tpch.region ON r_regionkey = sn.n_regionkey
        WHERE r_name = 'EUROPE' GROUP BY 1 ORDER BY revenue DESC`),
    );
    expect(await ask(`SELECT entity_id, "partsupp[partsupp].ps_supplycost" AS cost FROM dsvc.lineitem ORDER BY entity_id`)).toEqual([
      { entity_id: 'lineitem:10|1', cost: 1.5 },
      { entity_id: 'lineitem:10|2', cost: 3 },
      { entity_id: 'lineitem:11|1', cost: 2 },
      { entity_id: 'lineitem:12|1', cost: 1.5 },
    ]);
    expect(
      await ask(`SELECT c_name, COUNT("has_order[order].o_orderkey") AS orders, SUM("has_order[order].has_lineitem[lineitem].l_quantity") AS items
                      FROM dsvc.customer GROUP BY c_name ORDER BY c_name`),
    ).toEqual([
      { c_name: 'Ann', orders: 2, items: 8 },
      { c_name: 'Bob', orders: 1, items: 7 },
      { c_name: 'Cyd', orders: 0, items: null },
    ]);
  });
});

describe('on difficult tables', () => {
  beforeAll(async () => {
    await run(`
      CREATE SCHEMA odd;
      CREATE TYPE odd.mood AS ENUM ('glad', 'sad');
      CREATE DOMAIN odd.email AS varchar(80);
      CREATE TABLE odd."Employees" (id integer PRIMARY KEY, first_name text, last_name text, manager_id integer REFERENCES odd."Employees", mail odd.email, mood odd.mood,
        tags text[], photo bytea, "order" text, "Weird [col]" text, entity_id text, "Name" text, price numeric, "select""or" int);
      CREATE TABLE odd.teams (id bigint PRIMARY KEY, lead_id integer REFERENCES odd."Employees", deputy_id integer REFERENCES odd."Employees", price numeric(10,2), name text, "~x" int);
      CREATE TABLE odd.team_member (team bigint REFERENCES odd.teams, member integer REFERENCES odd."Employees", since date, primary key (team, member));
      CREATE TABLE odd.addresses (street text NOT NULL, no int NOT NULL, town text, UNIQUE (street, no));
      CREATE TABLE odd.visits (street text, no int, guest integer REFERENCES odd."Employees", FOREIGN KEY (street, no) REFERENCES odd.addresses (street, no));
      CREATE TABLE odd.thing (id uuid PRIMARY KEY, title text);
      CREATE TABLE odd.blobs (data bytea);
      CREATE TABLE odd.events (id integer, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
      CREATE TABLE odd.events_2026 PARTITION OF odd.events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
      CREATE VIEW odd.glad AS SELECT id, last_name FROM odd."Employees" WHERE mood = 'glad';
      CREATE SCHEMA odd2;
      CREATE TABLE odd2.teams (id bigint PRIMARY KEY, name text);
      COMMENT ON TABLE odd.teams IS 'It''s a \\ team -- with; signs';
      COMMENT ON CONSTRAINT teams_lead_id_fkey ON odd.teams IS 'Who leads it';
      INSERT INTO odd."Employees" (id, first_name, last_name, manager_id, mood, tags, "order", "Weird [col]", entity_id, "select""or") VALUES
        (1, 'Ann', 'Ames', NULL, 'glad', '{a,b}', 'first', 'w', 'e1', 7), (2, 'Bob', NULL, 1, 'sad', NULL, NULL, NULL, NULL, NULL), (3, 'Cyd', 'Cole', 2, NULL, '{}', NULL, NULL, NULL, NULL);
      INSERT INTO odd.teams VALUES (9, 1, 2, 10.50, 'Blue', 3);
      INSERT INTO odd.team_member VALUES (9, 2, '2026-01-01'), (9, 3, NULL);
      INSERT INTO odd.addresses VALUES ('High', 1, 'Town');
      INSERT INTO odd.visits VALUES ('High', 1, 3);`);
  });

  it('gives every name one type, and uses no name twice', async () => {
    const { script, graph } = await start('odd');
    expect(described(graph, 'Employee')).toEqual({
      properties: [
        'id integer',
        'first_name string',
        'last_name string',
        'manager_id integer',
        'mail string',
        'mood string',
        'tags json',
        'order string',
        'Weird (col) string',
        'Employee_entity_id string',
        'Name string',
        'price decimal',
        'select"or integer',
      ],
      key: ['id'],
      label: ['Name'],
      relationships: ['deputy_of[team]', 'has_team[team]', 'has_visit[visit]', 'lead_of[team]', 'manager[Employee]', 'manager_of[Employee]'],
    });
    expect(described(graph, 'team')).toEqual({
      properties: ['team_id bigint', 'lead_id integer', 'deputy_id integer', 'team_price decimal(10,2)', 'Name string', 'x~x integer'],
      key: ['team_id'],
      label: ['Name'],
      relationships: ['deputy[Employee]', 'has_Employee[Employee]', 'lead[Employee]'],
    });
    expect(described(graph, 'address').key).toEqual(['street', 'no']);
    expect(described(graph, 'visit').key).toBeUndefined();
    expect(graph.concept('team')?.def?.description).toBe("It's a \\ team -- with; signs");
    expect(graph.concept('team')?.relationships.find((r) => r.name === 'lead')?.description).toBe('Who leads it');
    expect(graph.concepts.map((c) => c.name)).toEqual(['Employee', 'address', 'event', 'team', 'odd_thing', 'visit']);
    for (const note of ['the column photo is omitted', 'odd.blobs: no concept', 'odd.visits: no key found']) expect(script).toContain(note);
  });

  it('supports queries', async () => {
    const { graph } = await start('odd');
    const ask = asker(graph);
    expect(
      await ask(`SELECT entity_id, first_name, mood, tags, "order", "Weird (col)", "Employee_entity_id", "select""or" FROM svc."Employee" ORDER BY id LIMIT 2`),
    ).toEqual([
      {
        entity_id: 'Employee:1',
        first_name: 'Ann',
        mood: 'glad',
        tags: ['a', 'b'],
        order: 'first',
        'Weird (col)': 'w',
        Employee_entity_id: 'e1',
        'select"or': 7,
      },
      { entity_id: 'Employee:2', first_name: 'Bob', mood: 'sad', tags: null, order: null, 'Weird (col)': null, Employee_entity_id: null, 'select"or': null },
    ]);
    expect(
      await ask(
        `SELECT first_name, "manager[Employee*].first_name" AS boss, "manager[Employee*]_transitivity_level" AS l FROM dsvc.Employee WHERE id = 3 ORDER BY l`,
      ),
    ).toEqual([
      { first_name: 'Cyd', boss: 'Bob', l: 1 },
      { first_name: 'Cyd', boss: 'Ann', l: 2 },
    ]);
    expect(
      await ask(`SELECT name, "lead[Employee].first_name" AS lead, "deputy[Employee].first_name" AS deputy, "has_Employee[Employee].first_name" AS member,
                 "has_Employee[Employee]_since" AS since FROM dsvc.team ORDER BY member`),
    ).toEqual([
      { Name: 'Blue', lead: 'Ann', deputy: 'Bob', member: 'Bob', since: '2026-01-01' },
      { Name: 'Blue', lead: 'Ann', deputy: 'Bob', member: 'Cyd', since: null },
    ]);
    expect(await ask(`SELECT "Employee[Employee].first_name" AS guest, "address[address].town" AS town FROM dsvc.visit`)).toEqual([
      { guest: 'Cyd', town: 'Town' },
    ]);
  });

  it('has names without a word twice, unique texts as labels, allowed values in descriptions, and no relationship of a key with itself', async () => {
    await run(`
      CREATE SCHEMA school;
      CREATE TYPE school.term AS ENUM ('spring', 'autumn');
      CREATE TABLE school.section (section integer PRIMARY KEY, code text UNIQUE, term school.term, state text NOT NULL CHECK (state IN ('open', 'it''s full')),
        CONSTRAINT same FOREIGN KEY (section) REFERENCES school.section);
      CREATE TABLE school.student (id integer PRIMARY KEY, section integer REFERENCES school.section, first_name text, last_name text);
      CREATE TABLE school.student_section (student integer REFERENCES school.student, section integer REFERENCES school.section, PRIMARY KEY (student, section));
      COMMENT ON COLUMN school.section.term IS 'When it is taught';`);
    const { graph } = await start('school');
    expect(described(graph, 'section')).toMatchObject({
      key: ['section'],
      label: ['code'],
      relationships: ['has_student[student]', 'student_section_of[student]'],
    });
    expect(described(graph, 'student')).toMatchObject({ relationships: ['has_section[section]', 'student_section[section]'] });
    expect(graph.property('term')?.description).toBe('When it is taught. Values: spring, autumn');
    expect(graph.property('state')?.description).toBe("Values: open, it's full");
  });

  it('recognises lookup tables, and links with a number of their own', async () => {
    await run(`
      CREATE SCHEMA codes;
      CREATE TABLE codes.states (code integer PRIMARY KEY, wording text NOT NULL, rank integer);
      CREATE TABLE codes.orders (id integer PRIMARY KEY, state integer REFERENCES codes.states, placed date);
      CREATE TABLE codes.products (id integer PRIMARY KEY, name text, price numeric);
      CREATE TABLE codes.order_products (no integer PRIMARY KEY, order_id integer NOT NULL REFERENCES codes.orders, product_id integer NOT NULL REFERENCES codes.products);
      CREATE TABLE codes.deliveries (no integer PRIMARY KEY, order_id integer NOT NULL REFERENCES codes.orders, product_id integer NOT NULL REFERENCES codes.products, weight integer);`);
    const { graph, script } = await start('codes');
    expect(described(graph, 'state')).toMatchObject({ label: ['wording'], relationships: ['has_order[order]'] });
    expect(graph.concept('state')?.def?.tags).toEqual({ lookup: 'yes' });
    expect(graph.concept('product')?.def?.tags).toEqual({});
    expect(script).toContain('-- codes.states: state is a lookup table');
    expect(graph.concepts.map((c) => c.name)).toEqual(['delivery', 'order', 'product', 'state']);
    expect(described(graph, 'order').relationships).toContain('has_product[product]');
  });

  it('uses only the named tables and views', async () => {
    const { graph, script } = await start('odd', '--tables', 'teams, odd.glad');
    expect(graph.concepts.map((c) => c.name)).toEqual(['glad', 'team']);
    expect(script).toContain('-- odd.teams: the foreign key teams_lead_id_fkey to odd.Employees is omitted');
  });

  it('distinguishes tables of the same name in several schemas', async () => {
    const { out } = await kg('side-door', '--tables', 'odd.teams,odd2.teams');
    expect(graphOf(out.replaceAll('USING `side-door`', ''), 'start', parser).concepts.map((c) => c.name)).toEqual(['team', 'teams']);
    expect(out).toContain('FROM odd2.teams');
    expect(out).toContain('USING `side-door`');
  });

  it('never reads the catalog of the service', async () => {
    const { out } = await kg('main');
    expect(out).not.toMatch(/kg_catalog|pg_catalog|information_schema/);
  });

  it('reports what is missing', async () => {
    expect(await kg('main', '--tables', 'odd.team')).toMatchObject({ code: 1, err: expect.stringContaining('did you mean odd.teams?') });
    expect(await kg('main', '--schema', 'od')).toMatchObject({ code: 1, err: expect.stringContaining('did you mean odd?') });
    expect(await kg('sales')).toMatchObject({ code: 1, err: 'no connection to the datasource sales: set DATASOURCE_SALES' });
    expect(await kg()).toMatchObject({ code: 2 });
  });
});
