/**
 * Cached mappings, cubes and views on a Citus cluster, through the routes: callers with and without policies get the rows that the same ontology
 * has over an undistributed database, with caches and without. It creates and drops the schemas kept and kept_cache.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { DEVELOPER } from '../../dev/roles.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { startSqlServer } from '../../dev/sql-server.ts';
import { startService, type TestService } from '../support/service.ts';

const url = (role: string): string => Object.assign(new URL(inject('citusUrl')), { username: role }).href;
const client = new pg.Client({ connectionString: inject('citusUrl') });
const exec = async (sql: string): Promise<void> => void (await client.query(sql));

const TABLES = `CREATE TABLE kept.town (tid integer PRIMARY KEY, name text, region text);
  ${['guest', 'staff'].map((t) => `CREATE TABLE kept.${t} (id integer PRIMARY KEY, name text, kind text, town integer, boss integer, income numeric(10,2));`).join('\n')}
  CREATE TABLE kept.sale (no integer PRIMARY KEY, buyer integer, day date, qty integer, price numeric(8,2));
  CREATE TABLE kept.visit (no integer, who integer, at date)`;
const ROWS = `INSERT INTO kept.town SELECT n, 'Town ' || n, chr(65 + n % 4) FROM generate_series(1, 20) n;
  INSERT INTO kept.guest SELECT n, 'g' || n, 'k' || n % 3, n % 23, CASE WHEN n % 4 = 0 THEN 100 + n ELSE n / 2 END, n * 10.5 FROM generate_series(1, 60) n;
  INSERT INTO kept.staff SELECT 100 + n, 's' || n, 'k' || n % 5, n % 20, CASE WHEN n % 3 = 0 THEN n ELSE 100 + n / 2 END, n * 20.25 FROM generate_series(1, 60) n;
  INSERT INTO kept.sale SELECT n, CASE WHEN n % 13 = 0 THEN NULL WHEN n % 2 = 0 THEN n % 63 ELSE 100 + n % 61 END, date '2026-01-01' + n % 7, n % 9, n * 1.25 FROM generate_series(1, 300) n;
  INSERT INTO kept.visit SELECT n, 1 + n % 60, date '2026-02-01' + n % 5 FROM generate_series(1, 90) n`;
const PLACES: Readonly<Record<string, string>> = { guest: 'id', staff: 'id', sale: 'no', visit: 'who' };
const EITHER = (columns: string): string => `(SELECT ${columns} FROM kept.guest UNION ALL SELECT ${columns} FROM kept.staff)`;

const MAPPINGS: Readonly<Record<string, string>> = {
  m_town: 'town AS SELECT tid, name, region FROM kept.town',
  m_guest: 'person AS SELECT id, name, kind, town, boss, income FROM kept.guest',
  m_staff: 'person AS SELECT id, name, kind, town, boss, income FROM kept.staff',
  m_sale: 'sale AS SELECT no, buyer, day, qty, price FROM kept.sale',
  m_visit: 'visit AS SELECT no, who, at FROM kept.visit',
  // the unions of its own SELECT are joined by other columns than those that distribute their tables
  m_pair: `pair AS SELECT x.id, x.kind, y.income AS boss_income FROM ${EITHER('id, boss, kind')} x JOIN ${EITHER('id, income')} y ON y.id = x.boss`,
};
const modelOf = (ontology: string): string => `CREATE ONTOLOGY ${ontology};
  ${ontology === 'far' ? 'ALTER ONTOLOGY far ADD DATASOURCE far;' : ''}
  CREATE MEASURE revenue decimal AS SELECT SUM(price * qty);
  CREATE CONCEPT town (tid integer, name string, region string, PRIMARY KEY (tid));
  CREATE CONCEPT person (id integer, name string, kind string, town integer, boss integer, income decimal(10,2), PRIMARY KEY (id),
    CONSTRAINT lives_in FOREIGN KEY (town) REFERENCES town (tid) INVERSEOF houses, CONSTRAINT under FOREIGN KEY (boss) REFERENCES person (id) INVERSEOF over);
  CREATE CONCEPT sale (no integer, buyer integer, day date, qty integer, price decimal(8,2), revenue MEASURE decimal, PRIMARY KEY (no),
    CONSTRAINT bought_by FOREIGN KEY (buyer) REFERENCES person (id) INVERSEOF bought);
  CREATE CONCEPT visit (no integer, who integer, at date, PRIMARY KEY (no), CONSTRAINT made_by FOREIGN KEY (who) REFERENCES person (id) INVERSEOF visits);
  CREATE CONCEPT pair (id integer, kind string, boss_income decimal, PRIMARY KEY (id));
  ${Object.entries(MAPPINGS)
    .map(([name, text]) => `CREATE MAPPING ${name} INTO ${text.replace(' AS ', ontology === 'far' ? ' USING far AS ' : ' AS ')};`)
    .join('\n')}
  CREATE ONTOLOGY CUBE sales AS SELECT "bought_by[person].kind" AS kind, day, SUM(qty) AS pieces, COUNT(no) AS n, MAX(price) AS top, "measure.revenue" AS revenue FROM dsvc.sale;
  CREATE ONTOLOGY VIEW lines AS SELECT no, day, qty, price, "bought_by[person].kind" AS kind, "bought_by[person].lives_in[town].region" AS region FROM dsvc.sale WHERE qty > 1;
  CREATE ONTOLOGY VIEW bosses AS SELECT p.id, p.kind, b.income AS boss_income FROM svc.person p JOIN svc.person b ON b.id = p.boss;
  CREATE POLICY all_persons ON CONCEPT person TO USER admin USING (true); CREATE POLICY some_persons ON CONCEPT person TO USER masked USING (kind <> 'k1');
  CREATE POLICY near_persons ON CONCEPT person TO USER few USING ("lives_in[town].region" = 'A');
  CREATE POLICY all_sales ON CONCEPT sale TO USER admin USING (true);
  CREATE POLICY few_sales ON CONCEPT sale TO USER few USING ("bought_by[person].kind" <> 'k2' OR qty = 4); CREATE POLICY big_sales ON CONCEPT sale TO USER masked USING (qty > 2);
  CREATE POLICY no_income ON PROPERTY income MASK NULL EXCEPT USER admin, USER few; CREATE POLICY no_name ON PROPERTY name MASK PARTIAL(1, 'x', 1) EXCEPT USER admin, USER few`;

/** What WHERE says of rows with a kind. */
const KINDS = ['', "WHERE kind = 'k2'", "WHERE kind IN ('k0', 'k4')", "WHERE kind <> 'k1' OR kind IS NULL"];
const QUERIES = [
  ...KINDS.flatMap((w) => [
    `SELECT id, name, kind, income FROM svc.person ${w} ORDER BY id`,
    `SELECT kind, COUNT(*) AS n, SUM(income) AS s FROM svc.person ${w} GROUP BY kind`,
    `SELECT id, "under[person].name" AS boss, "lives_in[town].region" AS region FROM dsvc.person ${w}`,
    `SELECT id, COUNT("over[person].id") AS n, MAX("over[person].income") AS top FROM dsvc.person ${w} GROUP BY id`,
    `SELECT id, SUM("bought[sale].qty") AS q, COUNT("visits[visit].no") AS v FROM dsvc.person ${w} GROUP BY id`,
    `SELECT name FROM svc.person ${w} ${w ? 'AND' : 'WHERE'} id IN (SELECT buyer FROM svc.sale WHERE qty > 5) ORDER BY name LIMIT 7`,
    `SELECT id, kind, boss_income FROM svc.pair ${w}`,
    `SELECT kind, COUNT(*) AS n, SUM(boss_income) AS s FROM svc.pair ${w} GROUP BY kind`,
    `SELECT kind, SUM(pieces) AS p, SUM(n) AS n, MAX(top) AS t, SUM(revenue) AS r FROM vsvc.sales ${w} GROUP BY kind`,
    `SELECT day, SUM(revenue) AS r FROM vsvc.sales ${w} GROUP BY day ORDER BY day`,
    `SELECT * FROM vsvc.lines ${w} ORDER BY no`,
    `SELECT region, SUM(qty * price) AS worth FROM vsvc.lines ${w} GROUP BY region`,
    `SELECT * FROM vsvc.bosses ${w} ORDER BY id`,
    `SELECT l.no, x.boss_income FROM vsvc.lines l JOIN svc.pair x ON x.id = l.qty + 100 ${w.replaceAll('kind', 'l.kind')}`,
  ]),
  'SELECT no, "bought_by[person].name" AS b, "bought_by[person].under[person].kind" AS k FROM dsvc.sale WHERE qty = 3',
  'SELECT "bought_by[person].lives_in[town].region" AS r, SUM("measure.revenue") AS v FROM dsvc.sale GROUP BY "bought_by[person].lives_in[town].region"',
  'SELECT COUNT(*) AS n FROM svc.person p JOIN svc.person q ON p.kind = q.kind WHERE p.id < q.id',
  'SELECT region, COUNT("houses[person].id") AS n, SUM("houses[person].bought[sale].qty") AS q FROM dsvc.town GROUP BY region',
  'SELECT p.id FROM svc.person p WHERE EXISTS (SELECT 1 FROM svc.sale s WHERE s.buyer = p.id AND s.price > 200) AND NOT EXISTS (SELECT 1 FROM svc.visit v WHERE v.who = p.id)',
  'SELECT p.id, (SELECT SUM(s.qty) FROM svc.sale s WHERE s.buyer = p.id) AS q FROM svc.person p',
  ...KINDS.map((w) => `SELECT COUNT(*) AS n, SUM(income) AS s, MIN(name) AS first FROM svc.person ${w}`),
  // policies in recursions, which Citus runs over collected rows
  'WITH RECURSIVE up AS (SELECT p.id, p.boss, p.kind, 0 AS depth FROM svc.person p WHERE p.id > 150 UNION ALL SELECT q.id, q.boss, q.kind, u.depth + 1 FROM up u JOIN svc.person q ON q.id = u.boss WHERE u.depth < 5) SELECT id, kind, depth FROM up ORDER BY depth, id, kind',
  'WITH RECURSIVE up(id) AS (SELECT 160 UNION SELECT p.boss FROM up u JOIN svc.person p ON p.id = u.id) SELECT p.id, p.name, p.income, "lives_in[town].region" AS region FROM up JOIN dsvc.person p ON p.id = up.id ORDER BY p.id',
  'WITH RECURSIVE up AS (SELECT s.buyer AS id, s.qty FROM svc.sale s WHERE s.qty > 6 UNION SELECT p.boss, u.qty FROM up u JOIN svc.person p ON p.id = u.id WHERE EXISTS (SELECT 1 FROM svc.sale s WHERE s.buyer = p.id AND s.qty > 1)) SELECT qty, COUNT(id) AS n FROM up GROUP BY qty ORDER BY qty',
  'WITH RECURSIVE up AS (SELECT p.id, p.boss, substr(p.kind, 2)::integer AS k FROM svc.person p WHERE p.income > 500 UNION SELECT p.id, p.boss, 10 / (p.id - 7) FROM up u JOIN svc.person p ON p.id = u.boss AND p.id <> 7) SELECT id, k FROM up ORDER BY id, k',
];
const CALLERS = ['admin', 'few', 'masked'];
/** The states of the caches of the ontology, one after the other. */
const STATES: readonly (readonly [name: string, ...statements: string[]])[] = [
  ['no cache'],
  ['mappings', ...Object.keys(MAPPINGS).map((m) => `CACHE MAPPING ${m} OPTIONS (schema = 'kept_cache', max_age = '1 hour')`)],
  ['mappings, cubes and views', ...['CUBE sales', 'VIEW lines', 'VIEW bosses'].map((v) => `CACHE ${v} OPTIONS (schema = 'kept_cache', max_age = '1 hour')`)],
  ['cubes and views', ...Object.keys(MAPPINGS).map((m) => `UNCACHE MAPPING ${m}`)],
];

let service: TestService;
const tokens = new Map<string, string>();
const ends: (() => Promise<void>)[] = [];

/** An endpoint for a role of the cluster, as the value of a variable. */
async function endpointFor(role: string): Promise<string> {
  const http = await startSqlServer({ backend: new PgBackend(() => ({ connectionString: url(role) })) });
  ends.push(() => http.close());
  return JSON.stringify({ url: url(role), endpoint: http.endpoint });
}

beforeAll(async () => {
  await client.connect();
  await exec('DROP SCHEMA IF EXISTS kept, kept_cache CASCADE');
  for (const role of ['kept_reader', 'kept_writer']) await exec(`DO $$ BEGIN CREATE ROLE ${role} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
  for (const sql of ['CREATE SCHEMA kept', 'CREATE SCHEMA kept_cache', ...TABLES.split(';'), ...ROWS.split(';')]) await exec(sql);
  await exec("SELECT create_reference_table('kept.town')");
  for (const [table, column] of Object.entries(PLACES)) await exec(`SELECT create_distributed_table('kept.${table}', '${column}')`);
  await exec('GRANT USAGE ON SCHEMA kept TO kept_reader, kept_writer');
  await exec('GRANT SELECT ON ALL TABLES IN SCHEMA kept TO kept_reader, kept_writer');
  await exec('GRANT USAGE, CREATE ON SCHEMA kept_cache TO kept_writer');
  await exec('GRANT USAGE ON SCHEMA kept_cache TO kept_reader');
  const far = { DATASOURCE_FAR: await endpointFor('kept_reader'), DATASOURCE_FAR_WRITER: await endpointFor('kept_writer') };
  service = await startService({
    database: { backend: 'pg' },
    tables: ['CREATE SCHEMA kept', ...TABLES.split(';'), ...ROWS.split(';')],
    settings: (database) => ({ ...far, DATASOURCE_MAIN_WRITER: database.secret(DEVELOPER), STATEMENT_TIMEOUT_MS: '60000' }),
  });
  await service.rows("CREATE DATASOURCE far TYPE postgres SECRET 'DATASOURCE_FAR'");
  tokens.set('admin', service.token);
  for (const name of CALLERS.slice(1)) await service.rows(`CREATE USER ${name}`);
  for (const ontology of ['near', 'far']) {
    await service.rows(modelOf(ontology), ontology);
    for (const name of CALLERS.slice(1)) await service.rows(`GRANT QUERY ON ALL ontology.${ontology} TO USER ${name}`);
  }
  for (const name of CALLERS.slice(1)) tokens.set(name, (await service.rows(`CREATE TOKEN FOR ${name}`))[0].token);
});
afterAll(async () => {
  await service?.close();
  for (const end of ends) await end();
  await exec('DROP SCHEMA IF EXISTS kept, kept_cache CASCADE');
  await client.end();
});

/** The rows of a query, in their order if it decides that, or the error, and whether cached rows were read. */
async function asked(text: string, ontology: string, caller: string): Promise<{ readonly rows: string; readonly isCached: boolean }> {
  const answer = await service.fetch('/svc/api/query/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': tokens.get(caller) as string },
    body: JSON.stringify({ ontology_name: ontology, query: text }),
  });
  const json = (await answer.json()) as { readonly data: unknown; readonly code?: string };
  const rows = Array.isArray(json.data) ? json.data.map((row) => JSON.stringify(row)) : [`${answer.status} ${json.code}: ${json.data}`];
  return { rows: (/ORDER BY/.test(text) ? rows : rows.sort()).join('\n'), isCached: answer.headers.get('x-data-as-of') !== null };
}

describe('on Citus, with and without caches', () => {
  it.each(STATES)('callers get the rows of an undistributed database: %s', async (state, ...statements) => {
    for (const statement of statements) await service.rows(statement, 'far');
    const [different, refused]: [string[], string[]] = [[], []];
    let [compared, cached] = [0, 0];
    for (const caller of CALLERS)
      for (const text of QUERIES) {
        const [expected, found] = [await asked(text, 'near', caller), await asked(text, 'far', caller)];
        if (found.isCached) cached++;
        if (found.rows.startsWith('400 feature_not_supported')) refused.push(`${caller}: ${text}: ${found.rows}`);
        else if (found.rows !== expected.rows) different.push(`${caller}: ${text}\n${found.rows.slice(0, 300)}\n${expected.rows.slice(0, 300)}`);
        compared++;
      }
    console.log(`${state}: ${compared} compared, ${cached} with cached rows, ${refused.length} refused, ${different.length} different`);
    expect(different).toEqual([]);
    expect(refused).toEqual([]);
    // callers under policies read no cubes and views
    expect(cached > 20).toBe(statements.length > 0);
  });
});
