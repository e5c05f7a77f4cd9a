/**
 * Generated queries over two databases, one of which keeps rows of the other, and over cached mappings of one database: they return what the same model returns without
 * caches whose tables are all in one database, also under policies. Before each round rows are changed, and the caches get all rows or an increment.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEVELOPER, READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { goesOn } from '../support/checked.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { patience, SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('integration/cached-across-generated');

const KIND = ['CREATE TABLE shop.t_kind (code text, label text)', "INSERT INTO shop.t_kind VALUES ('a', 'Apple'), ('b', 'Beer'), ('c', NULL), ('b', 'Bread')"];
const ITEM = [
  'CREATE TABLE shop.t_item (k integer, name text, code text, price numeric(8,2), weight float8, changed_at timestamptz, edition bigint)',
  `INSERT INTO shop.t_item SELECT g, 'item ' || g, CASE g % 4 WHEN 0 THEN NULL WHEN 1 THEN 'a' WHEN 2 THEN 'b' ELSE 'z' END, g * 1.25, g / 3.0::float8,
     '2020-01-01'::timestamptz + g * interval '1 minute', g FROM generate_series(1, 12) g`,
];
const SALE = [
  'CREATE TABLE shop.t_sale (no integer, k integer, city text, qty integer)',
  "INSERT INTO shop.t_sale SELECT g, CASE WHEN g % 6 = 0 THEN NULL ELSE g % 15 END, CASE WHEN g % 3 = 0 THEN 'Rome' WHEN g % 3 = 1 THEN 'Oslo' END, g % 7 FROM generate_series(1, 40) g",
];
const model = (name: string, far: string): string => `CREATE ONTOLOGY ${name};
ALTER ONTOLOGY ${name} ADD DATASOURCE other;
CREATE CONCEPT kind (code string, label string, PRIMARY KEY (code));
CREATE CONCEPT item (k integer, name string, code string, price decimal, weight double, changed_at timestamp, edition bigint, PRIMARY KEY (k), CONSTRAINT of_kind FOREIGN KEY (code) REFERENCES kind (code));
CREATE CONCEPT sale (no integer, k integer, city string, qty integer, PRIMARY KEY (no), CONSTRAINT of_item FOREIGN KEY (k) REFERENCES item (k) INVERSEOF sold);
CREATE CONCEPT dear FROM dsvc.item WHERE price > 5;
CREATE MAPPING m_kind INTO kind USING ${far} AS SELECT code, label FROM shop.t_kind;
CREATE MAPPING m_item INTO item USING ${far} AS SELECT k, name, code, price, weight, changed_at, edition FROM shop.t_item WHERE weight IS NULL OR weight < 3.9;
CREATE MAPPING m_sale INTO sale USING other AS SELECT no, k, city, qty FROM shop.t_sale`;

/** Policies of a round. */
const POLICIES = [
  'ON CONCEPT item TO USER all USING (k < 7)',
  'ON CONCEPT kind TO USER all USING (label IS NOT NULL)',
  "ON CONCEPT sale TO USER all USING (qty > 3 OR city = 'Rome')",
  `ON CONCEPT item TO PUBLIC USING ("of_kind[kind].label" <> 'Beer' OR code IS NULL)`,
  'ON PROPERTY name MASK NULL EXCEPT USER admin',
  'ON PROPERTY label MASK NULL EXCEPT USER admin',
  "ON CONCEPT sale TO USER all USING (svc_username() = 'all' AND qty > 1)",
];

let state = SEED;
const below = (n: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
const some = <T>(list: readonly T[]): T[] => list.filter(() => below(3) === 0);

const OWN = ['no', 'city', 'qty'];
const FAR = ['"of_item[item].name"', '"of_item[item].price"', '"of_item[item].k"', '"of_item[item].of_kind[kind].label"', '"of_item[item].weight"'];
const CONDITIONS = [
  'qty > 2',
  "city = 'Rome'",
  '"of_item[item].price" > 6.2',
  '"of_item[item].of_kind[kind].label" IS NULL',
  'k IN (SELECT k FROM svc.item WHERE price < 9)',
  'EXISTS (SELECT 1 FROM svc.kind q WHERE q.code = "of_item[item].code")',
  'no % 3 = (SELECT COUNT(*) FROM svc.kind) % 3',
];
const where = (): string => {
  const found = some(CONDITIONS);
  return found.length === 0 ? '' : ` WHERE ${found.map((c) => (below(4) === 0 ? `NOT (${c})` : c)).join(pick([' AND ', ' OR ']))}`;
};
function query(): string {
  const columns = [...new Set([pick(OWN), ...some(OWN), pick(FAR), ...some(FAR)])];
  switch (below(9)) {
    case 5:
      return `SELECT i.k, i.name, COUNT("sold[sale].no") AS n, SUM("sold[sale].qty") AS q FROM dsvc.item i GROUP BY i.k, i.name${pick(['', ' HAVING COUNT("sold[sale].no") > 1'])}`;
    case 6:
      return `SELECT DISTINCT ON (k) k, no, "of_item[item].edition" AS e FROM dsvc.sale${where()} ORDER BY k, no DESC`;
    case 7:
      return `WITH d AS (SELECT k, price, rank() OVER (ORDER BY price DESC NULLS LAST) AS r FROM svc.item) SELECT s.no, d.r FROM svc.sale s ${pick(['', 'LEFT '])}JOIN d ON d.k = s.k AND d.r < 9`;
    case 8:
      return `SELECT k AS a FROM svc.sale ${pick(['EXCEPT', 'INTERSECT'])} SELECT k FROM svc.${pick(['item', 'dear'])} WHERE ${pick(['edition > 5', 'changed_at < now()', 'code IS NULL', "weight < 3 OR name LIKE 'v%'"])}`;
    case 0:
      return `SELECT ${pick(['city', '"of_item[item].of_kind[kind].label" AS label', '"of_item[item].name" AS name'])}, COUNT(*) AS n, SUM(qty) AS q, MAX("of_item[item].price") AS p FROM dsvc.sale${where()} GROUP BY 1`;
    case 1:
      return `SELECT i.name, i.price, "sold[sale].city" AS city, "sold[sale].no" AS no FROM dsvc.${pick(['item', 'dear'])} i`;
    case 2:
      return `SELECT s.no, i.${pick(['name', 'price', 'weight'])} AS v FROM svc.sale s ${pick(['JOIN', 'LEFT JOIN', 'FULL JOIN'])} svc.${pick(['item', 'dear'])} i ON i.k = s.k`;
    case 3:
      return `SELECT name AS a FROM svc.item UNION ${pick(['', 'ALL '])}SELECT city FROM svc.sale`;
    default:
      return `SELECT ${columns.map((c, i) => `${c} AS c${i}`).join(', ')} FROM dsvc.sale${where()}`;
  }
}

let service: TestService;
let other: LocalPostgres;
/** The ontologies whose answers must be those of `together`: the rows of items are in the other database, or in a table of the same one. */
const CACHED = { apart: 'USING other ', near: '' } as const;
const ALL = ['together', 'apart', 'near'];
beforeAll(async () => {
  other = await borrowPostgres();
  for (const sql of ['CREATE SCHEMA shop', 'CREATE SCHEMA cached', ...KIND, ...ITEM, ...SALE]) await other.exec(sql);
  service = await startService({
    tables: ['CREATE SCHEMA shop', ...KIND, ...ITEM],
    settings: { DATASOURCE_OTHER: other.secret(READER), DATASOURCE_OTHER_WRITER: other.secret(DEVELOPER) },
  });
  await service.rows("CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'");
  for (const ontology of ALL) await service.rows(model(ontology, ontology === 'apart' ? 'main' : 'other'), ontology);
});
afterAll(async () => {
  await service?.close();
  await other?.close();
});

/** Runs a statement in both databases. */
async function both(sql: string): Promise<void> {
  await service.database.exec(sql);
  await other.exec(sql);
}

const WAYS = ['changed_at', 'edition', 'all'] as const;
let edition = 100;
/** What an item gets when it changes: a time or a number at most the overlap lower than the highest one, or none. */
const changedNow = (): string => {
  edition++;
  const at = below(9) === 0 ? 'NULL' : below(9) === 0 ? "'infinity'" : `'${new Date(Date.now() - below(9) * 60_000).toISOString()}'`;
  return `changed_at = ${at}, edition = ${below(9) === 0 ? 'NULL' : edition - below(4)}`;
};
const free = (k: number): string => `NOT EXISTS (SELECT FROM shop.t_item i WHERE i.k = ${k})`;
/** A change of the rows of items. With increments each key has at most one row. */
function change(way: (typeof WAYS)[number]): string {
  const [k, to] = [below(16), below(16)];
  const added = (key: string, condition: string): string => {
    const [at = '', number = ''] = changedNow()
      .split(', ')
      .map((c) => c.replace(/^.*= /, ''));
    return `INSERT INTO shop.t_item SELECT ${key}, 'v${edition}', ${pick(["'a'", "'b'", 'NULL'])}, ${below(20)}, ${pick(['0.1', '9', 'NULL'])}, ${at}, ${number} WHERE ${condition}`;
  };
  switch (below(8)) {
    case 0:
      return `DELETE FROM shop.t_item WHERE k = ${k}`;
    case 1:
      return `DELETE FROM shop.t_item WHERE k IS NULL`;
    case 2:
      return added('NULL', 'true');
    case 3:
      return added(String(k), way === 'all' && below(3) === 0 ? 'true' : free(k));
    case 4:
      return `UPDATE shop.t_item SET k = ${to}, ${changedNow()} WHERE k = ${k} AND ${free(to)}`;
    case 5:
      // two rows change their keys; with twins only the first one of each may
      return `UPDATE shop.t_item SET k = CASE k WHEN ${k} THEN ${to} ELSE ${k} END, ${changedNow()} WHERE k IN (${k}, ${to})`;
    case 6:
      return `UPDATE shop.t_item SET k = NULL, ${changedNow()} WHERE k = ${k}`;
    default:
      return `UPDATE shop.t_item SET name = 'v${edition}', price = ${below(30)}, weight = ${pick(['weight', '4.5', '1', 'NULL'])}, ${changedNow()} WHERE k = ${k}`;
  }
}
/** Changes rows, and refreshes the caches. @param isNew true: they get other options */
async function refreshed(way: (typeof WAYS)[number], isNew: boolean): Promise<void> {
  const unique = 'DELETE FROM shop.t_item a USING shop.t_item b WHERE a.k = b.k AND a.ctid > b.ctid';
  if (isNew && way !== 'all') await both(unique);
  for (let n = below(6); n > 0; n--) await both(change(way));
  if (below(3) === 0) {
    await both(`DELETE FROM shop.t_kind WHERE label = '${pick(['Apple', 'Beer', 'Bread'])}'`);
    await both(`INSERT INTO shop.t_kind VALUES ('${pick(['a', 'b', 'z'])}', '${pick(['Apple', 'Beer', 'Bread'])}')`);
  }
  const growing = way === 'all' ? '' : `, incremental = '${way}', overlap = '${way === 'edition' ? '10' : '20 minutes'}', full_every = '1000'`;
  for (const [ontology, using] of Object.entries(CACHED)) {
    await service.rows(`CACHE MAPPING m_item ${using}${isNew ? `OPTIONS (schema = 'cached'${growing})` : ''}`, ontology);
    await service.rows(`CACHE MAPPING m_kind ${using}OPTIONS (schema = 'cached')`, ontology);
  }
}

/** How many answers of each ontology had rows of caches. */
const fromCaches: Record<string, number> = {};

/** The rows of a query in any order, or the code of the error. */
async function answer(query: string, ontology: string, token: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-api-key': token };
  const response = await service.fetch('/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ ontology_name: ontology, query }) });
  if (response.headers.has('x-data-as-of')) fromCaches[ontology] = (fromCaches[ontology] ?? 0) + 1;
  const { data, code } = (await response.json()) as { data: unknown[]; code?: string };
  return response.status === 200 ? JSON.stringify(data.map((r) => JSON.stringify(r)).sort()) : `${response.status} ${code}`;
}

it('the rows are the same for each caller', { timeout: patience(180_000) }, async () => {
  const grants = (list: (o: string) => readonly string[]): string[] => ALL.flatMap(list);
  const rights = grants((o) => [`QUERY ON ALL ontology.${o}`]);
  const all = await service.user('all', ...rights, 'QUERY ON datasource.main', 'QUERY ON datasource.other');
  const part = await service.user('part', ...grants((o) => [`QUERY ON ontology.${o}.concept.sale`, `QUERY ON ontology.${o}.concept.item`]));
  const blind = await service.user('blind', ...rights);
  const found = { rows: 0, refused: 0 };
  let way: (typeof WAYS)[number] = pick(WAYS);
  for (let round = 0; goesOn(round, SIZES.rounds, () => found.rows > found.refused); round++) {
    const isNew = round % 5 === 0;
    if (isNew) way = WAYS[(SEED + round / 5) % WAYS.length] ?? 'all';
    await refreshed(way, isNew);
    const policies = some(POLICIES).map((p, i) => [`p${i}`, p] as const);
    const created = policies.map(([name, p]) => `CREATE POLICY ${name} ${p}`);
    if (created.length > 0) for (const ontology of ALL) await service.rows(created.join('; '), ontology);
    for (let n = 0; n < SIZES.queries; n++) {
      const sql = query();
      for (const token of [service.token, all, part, blind]) {
        const wanted = await answer(sql, 'together', token);
        for (const ontology of Object.keys(CACHED))
          expect(await answer(sql, ontology, token), `SEED=${SEED} round ${round} ${way} ${ontology} ${sql}\n${policies.map(([, p]) => p).join('\n')}`).toBe(
            wanted,
          );
        if (wanted.startsWith('[')) found.rows++;
        else found.refused++;
      }
    }
    const dropped = policies.map(([name]) => `DROP POLICY ${name}`);
    if (dropped.length > 0) for (const ontology of ALL) await service.rows(dropped.join('; '), ontology);
  }
  expect(found.rows).toBeGreaterThan(found.refused);
  expect(Object.keys(fromCaches).sort()).toEqual(Object.keys(CACHED).sort());
});
