/** Short texts that expand: statements over the model of test/unit/planner/company.ts, and scripts of modelling statements. */

const many = (n: number, text: string, separator = ','): string => Array(n).fill(text).join(separator);
const range = (n: number, text: (i: number) => string, separator = ','): string => Array.from({ length: n }, (_, i) => text(i)).join(separator);
/** A select list of at most 60 KB. */
const fitting = (items: readonly string[]): string => {
  const kept: string[] = [];
  let length = 0;
  for (const item of items) {
    length += item.length + 1;
    if (length < 60_000) kept.push(item);
  }
  return kept.join(',');
};
const items = (n: number, text: (i: number) => string): string => fitting(Array.from({ length: n }, (_, i) => text(i)));
/** The bits of a number as hops, so that many numbers make a tree of paths. */
const bits = (n: number, one: string, zero: string): string => [...n.toString(2)].map((b) => (b === '1' ? one : zero)).join('.');
/** A name that each item uses twice, through the item before. */
const doubling = (n: number, first: string, more: (before: string) => string, named: (i: number, text: string) => string): string =>
  range(n, (i) => named(i, i === 0 ? first : more(`q${i - 1}`)), '');

/** Description -> text of the statement, of at most 64 KiB. */
export const HEAVY_STATEMENTS: Readonly<Record<string, string>> = {
  'an alias of 1,000 parts, named 1,000 times': `SELECT concat(${many(1000, '1')}) AS a FROM (VALUES (1)) v (x) WHERE x::text IN (${many(1000, 'a')})`,
  'an alias of 4,000 parts, named 4,000 times': `SELECT concat(${many(4000, '1')}) AS a FROM (VALUES (1)) v (x) WHERE x::text IN (${many(4000, 'a')})`,
  'an alias in HAVING': `SELECT concat(${many(5000, 'x')}) AS a FROM (VALUES (1)) v (x) GROUP BY x HAVING concat(${many(5000, 'a')}) <> ''`,
  'an alias in ORDER BY': `SELECT concat(${many(3000, 'name')}) AS a FROM svc.town ORDER BY ${many(3000, 'a || name')}`,
  'sort expressions that differ from columns at their end': `SELECT ${range(95, (i) => `${many(60, 'x', '+')}+${i} AS a${i}`)} FROM (VALUES (1)) v (x) ORDER BY ${range(95, (i) => `${many(60, 'x', '+')}+${i + 1000}`)}`,
  'aliases of aliases': `SELECT * FROM ${'(SELECT a || a AS a FROM '.repeat(40)}(SELECT name AS a FROM svc.town) x${range(40, (i) => `) y${i}`, '')}`,
  'many aliases, all looked for': `SELECT ${items(4000, (i) => `1 AS a${i}`)} FROM svc.town ORDER BY ${many(6000, 'A1')}`,
  'a composite alias': `SELECT ROW(${many(3000, 'name')}) AS r FROM svc.town ORDER BY ${range(3000, (i) => `(r).f${i + 1}`)}`,
  'a whole row 20,000 times': `SELECT num_nulls(${many(20_000, 't')}) AS x FROM svc.employee t`,
  'a whole row 200 times': `SELECT num_nulls(${many(200, 't')}) AS x FROM svc.employee t`,
  '4,000 wildcards': `SELECT ${many(4000, 'e.*')} FROM svc.employee e`,
  '16,000 wildcards': `SELECT ${many(16_000, 'e.*')} FROM svc.employee e`,
  '2,000 wildcards of a path': `SELECT ${many(2000, '"works_for[firm].*"')} FROM dsvc.employee e`,
  'stars over CTEs over stars': `WITH ${range(1500, (i) => `c${i} AS (SELECT * FROM ${i ? `c${i - 1}` : 'svc.employee'})`)} SELECT * FROM c1499`,
  'columns that double in each CTE': `WITH c0 AS (SELECT name AS a FROM svc.town), ${range(16, (i) => `c${i + 1} AS (SELECT x.*, y.* FROM c${i} x, c${i} y)`)} SELECT count(*) AS n FROM c16`,
  'a thousand CTEs': `WITH ${range(1000, (i) => `c${i} AS (SELECT ${i ? `a FROM c${i - 1}` : '1 AS a'})`)} SELECT a FROM c999`,
  'a cube of twelve columns': `SELECT count(*) AS n FROM (SELECT ${range(12, (i) => `party_id + ${i} AS c${i}`)} FROM svc.employee) x GROUP BY CUBE (${range(12, (i) => `c${i}`)})`,
  '8,000 grouping sets': `SELECT count(*) AS n FROM svc.employee GROUP BY GROUPING SETS (${many(8000, '(name)')})`,
  '2,000 grouping sets over two levels': `SELECT count(*) AS n, sum("leads[employee].salary") AS s FROM dsvc.employee GROUP BY GROUPING SETS (${many(2000, '(name)')})`,
  'a join of 500 concepts': `SELECT ${range(500, (i) => `c${i}.name AS n${i}`)} FROM ${range(500, (i) => `svc.town c${i}`)} WHERE false`,
  'a bare name among 1,000 concepts': `SELECT ${items(2000, (i) => `zz AS a${i}`)} FROM ${range(1000, (i) => `svc.town c${i}`)}, (SELECT 1 AS zz) q`,
  'an unknown name among 3,000 concepts': `SELECT zzz FROM ${range(3000, (i) => `svc.town c${i}`)}`,
  '800 natural joins': `SELECT count(*) AS n FROM svc.employee c0 ${range(800, (i) => `NATURAL JOIN svc.employee c${i + 1}`, ' ')}`,
  '500 joins with USING': `SELECT count(*) AS n FROM svc.town c0 ${range(500, (i) => `JOIN svc.town c${i + 1} USING (town_id)`, ' ')}`,
  'paths of 30 hops': `SELECT ${items(200, (i) => `"${many(30, 'reports_to[employee]', '.')}.name" AS n${i}`)} FROM dsvc.employee`,
  'a tree of paths': `SELECT ${items(1100, (i) => `"${bits(i + 1, 'reports_to[employee]', 'leads[employee]')}.name" AS n${i}`)} FROM dsvc.employee`,
  'walks of all depths': `SELECT ${items(800, (i) => `"reports_to[employee*${1 + (i % 32)}].leads[employee*${1 + (i >> 5)}].name" AS n${i}`)} FROM dsvc.employee`,
  'aggregates over a tree of paths': `SELECT ${items(200, (i) => `sum("${bits(i + 1, 'mentors[employee]', 'leads[employee]')}.salary") AS n${i}`)} FROM dsvc.employee`,
  'conditions over two paths': `SELECT count(party_id) AS n, sum("leads[employee].salary") AS s FROM dsvc.employee WHERE ${range(500, (i) => `("leads[employee].salary" = ${i} OR "mentors[employee].salary" = ${i})`, ' AND ')}`,
  'a denied OR of ANDs over two paths': `SELECT count(party_id) AS n FROM dsvc.employee WHERE NOT (${range(750, (i) => `("leads[employee].salary" = ${i} AND "mentors[employee].salary" = ${i})`, ' OR ')})`,
  'a union of 1,500 branches': many(1500, 'SELECT entity_id FROM svc.thing', ' UNION ALL '),
  'a union of 400 wide branches': many(400, 'SELECT * FROM esvc.thing', ' UNION ALL '),
  'a list of 60 KB': `SELECT name FROM svc.town WHERE town_id IN (${many(30_000, '1')})`,
  'a list of 4,500 keys': `SELECT name FROM svc.town WHERE entity_id IN (${many(4500, "'town:123'")})`,
  'keys in an OR of 1,500': `SELECT name FROM svc.party WHERE ${range(1500, (i) => `entity_id = 'party:${i}'`, ' OR ')}`,
  'an OR of 4,000': `SELECT name FROM svc.town WHERE ${many(4000, 'town_id = 1', ' OR ')}`,
  'an AND of 3,500 over several mappings': `SELECT name FROM svc.party WHERE ${many(3500, 'party_id = 1', ' AND ')}`,
  '400 levels of JSON': `SELECT ${'jsonb_build_object(1,'.repeat(400)}1${')'.repeat(400)} AS j`,
  '5,000 brackets': `SELECT ${'('.repeat(5000)}1${')'.repeat(5000)} AS x`,
  '5,000 additions': `SELECT ${many(5000, '1', '+')} AS x`,
  '200 sub-selects in each other': `${'SELECT * FROM ('.repeat(200)}SELECT * FROM svc.employee${range(200, (i) => `) x${i}`, '')}`,
  '250 EXISTS in each other': `${range(250, (i) => (i === 0 ? 'SELECT name FROM svc.town t0' : ` WHERE EXISTS (SELECT 1 FROM svc.town t${i}`), '')}${')'.repeat(249)}`,
  'a CASE of 2,500 branches': `SELECT CASE ${range(2500, () => `WHEN name = 'a' THEN 1`, ' ')} END AS x FROM svc.town`,
  '1,500 named windows': `SELECT ${items(1500, (i) => `count(*) OVER w${i % 500} AS n${i}`)} FROM svc.town WINDOW ${range(500, (i) => `w${i} AS (PARTITION BY name)`)}`,
  '1,000 windows': `SELECT ${items(1000, (i) => `count(*) OVER (PARTITION BY name) AS n${i}`)} FROM svc.town`,
  '2,500 aggregates': `SELECT ${items(2500, (i) => `sum(salary) AS n${i}`)} FROM svc.employee`,
  '2,500 questions for a logic concept': `SELECT ${items(2500, (i) => `_type_of_rich AS n${i}`)} FROM dsvc.employee`,
  '12,000 rows of VALUES': `SELECT * FROM (VALUES ${many(12_000, '(1)')}) v (x)`,
  'a row of 8,000 VALUES': `SELECT * FROM (VALUES (${many(8000, '1')})) v`,
  '2,000 functions in FROM': `SELECT count(*) AS n FROM ${range(2000, (i) => `generate_series(1,1) g${i}`)}`,
  '800 lateral sub-selects': `SELECT count(*) AS n FROM svc.town t, ${range(800, (i) => `LATERAL (SELECT t.name AS a${i}) x${i}`)}`,
  '300 rows in each other': `SELECT ${'ROW('.repeat(300)}1${')'.repeat(300)} AS r`,
  '3,000 stars of a function': `SELECT ${many(3000, "(jsonb_each('{}')).*")}`,
  'views over views': `SELECT ${items(1500, (i) => `s${i % 300}.name AS n${i}`)} FROM ${range(300, (i) => `vsvc.staff s${i}`)}`,
};

const BASE = `CREATE CONCEPT city (city_id bigint, name string, PRIMARY KEY (city_id));
CREATE MAPPING m INTO city AS SELECT id AS city_id, n AS name FROM raw.t;`;

/** Description -> text of the script, of at most 1 MiB. */
export const HEAVY_SCRIPTS: Readonly<Record<string, string>> = {
  '18 calculated properties that double': `${BASE}${doubling(
    18,
    'city_id + 1',
    (q) => `${q} + ${q}`,
    (i, e) => `CREATE PROPERTY q${i} bigint AS SELECT ${e};`,
  )}CREATE CONCEPT bomb (${range(18, (i) => `q${i} bigint`)}) INHERITS (city)`,
  '20 measures that double': `${BASE}${doubling(
    20,
    'SUM(city_id)',
    (q) => `SUM(${q}) + SUM(${q})`,
    (i, e) => `CREATE MEASURE q${i} bigint AS SELECT ${e};`,
  )}CREATE CONCEPT bomb (${range(20, (i) => `q${i} MEASURE bigint`)}) INHERITS (city)`,
  'a measure over 20 properties that double': `${BASE}${doubling(
    20,
    'city_id + 1',
    (q) => `${q} + ${q}`,
    (i, e) => `CREATE PROPERTY q${i} bigint AS SELECT ${e};`,
  )}CREATE MEASURE s bigint AS SELECT SUM(q19);CREATE CONCEPT bomb (${range(20, (i) => `q${i} bigint`)}, s MEASURE bigint) INHERITS (city)`,
  '17 views that double': `${BASE}${doubling(
    17,
    'SELECT city_id FROM svc.city',
    (q) => `SELECT a.city_id FROM vsvc.${q} a JOIN vsvc.${q} b ON a.city_id = b.city_id`,
    (i, e) => `CREATE VIEW q${i} AS ${e};`,
  )}`,
  '12 cubes that double': `${BASE}CREATE MEASURE n bigint AS SELECT COUNT(city_id);CREATE OR REPLACE CONCEPT city (city_id bigint, name string, n MEASURE bigint, PRIMARY KEY (city_id));CREATE ONTOLOGY CUBE q0 AS SELECT name AS k, "measure.n" AS n FROM dsvc.city;${range(12, (i) => `CREATE VIEW q${i + 1} AS SELECT a.k FROM vsvc.q${i} a, vsvc.q${i} b WHERE a.k = b.k;`, '')}`,
  '20 logic concepts that double': `${BASE}${doubling(
    20,
    'true',
    (q) => `EXISTS (SELECT 1 FROM svc.${q} a) AND EXISTS (SELECT 1 FROM svc.${q} b)`,
    (i, e) => `CREATE CONCEPT q${i} INHERITS (city) FROM dsvc.city WHERE ${e};`,
  )}`,
  'a chain of 15,000 concepts': `${BASE}${range(15_000, (i) => `CREATE CONCEPT c${i} INHERITS (${i ? `c${i - 1}` : 'city'});`, '')}`,
  'a concept of 3,000 parents with 1,000 heirs': `${BASE}${range(3000, (i) => `CREATE CONCEPT c${i} INHERITS (city);`, '')}CREATE CONCEPT w INHERITS (${range(3000, (i) => `c${i}`)});${range(1000, (i) => `CREATE CONCEPT v${i} INHERITS (w);`, '')}`,
  'a lattice of 15 layers of 100 concepts': `${BASE}${range(1500, (i) => `CREATE CONCEPT c${i} INHERITS (${i < 100 ? 'city' : range(100, (j) => `c${Math.floor(i / 100) * 100 - 100 + j}`)});`, '')}`,
  'a concept of 4,000 properties with 5,000 heirs': `${BASE}CREATE CONCEPT w (${range(4000, (i) => `p${i} int`)}) INHERITS (city);${range(5000, (i) => `CREATE CONCEPT v${i} INHERITS (w);`, '')}`,
  '2,000 relationships down a chain': `${BASE}${range(2000, (i) => `CREATE CONCEPT v${i} (CONSTRAINT r${i} FOREIGN KEY (city_id) REFERENCES city (city_id)) INHERITS (${i ? `v${i - 1}` : 'city'});`, '')}`,
  '9,000 mappings of one concept, and a view': `${BASE}${range(9000, (i) => `CREATE MAPPING m${i} INTO city AS SELECT id AS city_id, n AS name FROM raw.t${i};`, '')}CREATE VIEW v AS SELECT * FROM svc.city;`,
  '8,000 views over 1,000 mappings': `${BASE}${range(1000, (i) => `CREATE MAPPING m${i} INTO city AS SELECT id AS city_id, n AS name FROM raw.t${i};`, '')}${range(8000, (i) => `CREATE VIEW v${i} AS SELECT name FROM svc.city WHERE name = 'x${i}';`, '')}`,
  '2,000 views over 1,500 mappings of one table': `${BASE}${range(1500, (i) => `CREATE MAPPING m${i} INTO city AS SELECT id AS city_id, n AS name FROM raw.t WHERE k = ${i};`, '')}${range(2000, (i) => `CREATE VIEW v${i} AS SELECT name FROM svc.city WHERE name = 'x${i}';`, '')}`,
  '2,500 mappings with conditions of 40 parts': `${BASE}${range(2500, (i) => `CREATE MAPPING m${i} INTO city AS SELECT id AS city_id, n AS name FROM raw.t${i} WHERE ${range(40, (j) => `k=${j}`, ' OR ')};`, '')}`,
  '4,000 equal cubes': `${BASE}CREATE MEASURE n bigint AS SELECT COUNT(city_id);CREATE CONCEPT k (n MEASURE bigint) INHERITS (city);${range(4000, (i) => `CREATE ONTOLOGY CUBE q${i} AS SELECT name AS k, "measure.n" AS n FROM dsvc.k;`, '')}`,
  '12,000 small views': `${BASE}${range(12_000, (i) => `CREATE VIEW v${i} AS SELECT name FROM svc.city WHERE name = 'x${i}';`, '')}`,
  '20,000 tags of one concept': `${BASE}${range(20_000, (i) => `ALTER CONCEPT city UPDATE TAG t${i} = 'x';`, '')}`,
  '8,000 concepts, all dropped again': `${BASE}${range(8000, (i) => `CREATE CONCEPT d${i};`, '')}${range(8000, (i) => `DROP CONCEPT d${i};`, '')}`,
  '1,000 calculated properties listed by 500 concepts': `${BASE}${range(1000, (i) => `CREATE PROPERTY p${i} int AS SELECT city_id + 1;`, '')}${range(500, (i) => `CREATE CONCEPT v${i} (${range(100, (j) => `p${(i + j) % 1000} int`)}) INHERITS (city);`, '')}`,
};
