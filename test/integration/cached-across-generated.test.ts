/** Generated queries over two databases, one of which keeps rows of the other: they return what the same model returns whose tables are all in one database, also under policies. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEVELOPER, READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { patience, SEED } from '../support/generated.ts';
import { startService, type TestService } from '../support/service.ts';
import { sizesOf } from '../support/sizes.ts';

const SIZES = sizesOf('integration/cached-across-generated');

const KIND = ['CREATE TABLE shop.t_kind (code text, label text)', "INSERT INTO shop.t_kind VALUES ('a', 'Apple'), ('b', 'Beer'), ('c', NULL), ('b', 'Bread')"];
const ITEM = [
  'CREATE TABLE shop.t_item (k integer, name text, code text, price numeric(8,2), weight float8)',
  "INSERT INTO shop.t_item SELECT g, 'item ' || g, CASE g % 4 WHEN 0 THEN NULL WHEN 1 THEN 'a' WHEN 2 THEN 'b' ELSE 'z' END, g * 1.25, g / 3.0::float8 FROM generate_series(1, 12) g",
  "INSERT INTO shop.t_item VALUES (3, 'twin', 'c', NULL, NULL), (NULL, 'none', 'a', 1, 1)",
];
const SALE = [
  'CREATE TABLE shop.t_sale (no integer, k integer, city text, qty integer)',
  "INSERT INTO shop.t_sale SELECT g, CASE WHEN g % 6 = 0 THEN NULL ELSE g % 15 END, CASE WHEN g % 3 = 0 THEN 'Rome' WHEN g % 3 = 1 THEN 'Oslo' END, g % 7 FROM generate_series(1, 40) g",
];
const model = (name: string, far: string): string => `CREATE ONTOLOGY ${name};
ALTER ONTOLOGY ${name} ADD DATASOURCE other;
CREATE CONCEPT kind (code string, label string, PRIMARY KEY (code));
CREATE CONCEPT item (k integer, name string, code string, price decimal, weight double, PRIMARY KEY (k), CONSTRAINT of_kind FOREIGN KEY (code) REFERENCES kind (code));
CREATE CONCEPT sale (no integer, k integer, city string, qty integer, PRIMARY KEY (no), CONSTRAINT of_item FOREIGN KEY (k) REFERENCES item (k) INVERSEOF sold);
CREATE CONCEPT dear FROM dsvc.item WHERE price > 5;
CREATE MAPPING m_kind INTO kind USING ${far} AS SELECT code, label FROM shop.t_kind;
CREATE MAPPING m_item INTO item USING ${far} AS SELECT k, name, code, price, weight FROM shop.t_item WHERE weight IS NULL OR weight < 3.9;
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
  switch (below(5)) {
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
beforeAll(async () => {
  other = await borrowPostgres();
  for (const sql of ['CREATE SCHEMA shop', 'CREATE SCHEMA cached', ...KIND, ...ITEM, ...SALE]) await other.exec(sql);
  service = await startService({
    tables: ['CREATE SCHEMA shop', ...KIND, ...ITEM],
    settings: { DATASOURCE_OTHER: other.secret(READER), DATASOURCE_OTHER_WRITER: other.secret(DEVELOPER) },
  });
  await service.rows("CREATE DATASOURCE other TYPE postgres SECRET 'DATASOURCE_OTHER'");
  await service.rows(model('together', 'other'), 'together');
  await service.rows(model('apart', 'main'), 'apart');
  for (const m of ['m_kind', 'm_item']) await service.rows(`CACHE MAPPING ${m} USING other OPTIONS (schema = 'cached')`, 'apart');
});
afterAll(async () => {
  await service?.close();
  await other?.close();
});

/** The rows of a query in any order, or the code of the error. */
async function answer(sql: string, ontology: string, token: string): Promise<string> {
  const { status, text } = await service.query(sql, ontology, token);
  const { data, code } = JSON.parse(text) as { data: unknown[]; code?: string };
  return status === 200 ? JSON.stringify(data.map((r) => JSON.stringify(r)).sort()) : `${status} ${code}`;
}

it('the rows are the same for each caller', { timeout: patience(120_000) }, async () => {
  const rights = (o: string): string[] => [`QUERY ON ALL ontology.${o}`];
  const all = await service.user('all', ...rights('together'), ...rights('apart'), 'QUERY ON datasource.main', 'QUERY ON datasource.other');
  const part = await service.user(
    'part',
    ...['together', 'apart'].flatMap((o) => [`QUERY ON ontology.${o}.concept.sale`, `QUERY ON ontology.${o}.concept.item`]),
  );
  const blind = await service.user('blind', ...rights('together'), ...rights('apart'));
  const found = { rows: 0, refused: 0 };
  for (let round = 0; round < SIZES.rounds; round++) {
    const policies = some(POLICIES).map((p, i) => [`p${i}`, p] as const);
    for (const ontology of ['together', 'apart']) for (const [name, p] of policies) await service.rows(`CREATE POLICY ${name} ${p}`, ontology);
    for (let n = 0; n < SIZES.queries; n++) {
      const sql = query();
      for (const token of [service.token, all, part, blind]) {
        const wanted = await answer(sql, 'together', token);
        expect(await answer(sql, 'apart', token), `SEED=${SEED} ${sql}\n${policies.map(([, p]) => p).join('\n')}`).toBe(wanted);
        if (wanted.startsWith('[')) found.rows++;
        else found.refused++;
      }
    }
    for (const ontology of ['together', 'apart']) for (const [name] of policies) await service.rows(`DROP POLICY ${name}`, ontology);
  }
  expect(found.rows).toBeGreaterThan(found.refused);
});
