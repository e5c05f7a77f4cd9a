/** Attacks of other forms: the caller's statement, and equivalent hand-written SQL over what the caller may know. */

export type Shape = readonly [what: string, mine: string, byHand: string];

const NONE = 'SELECT 1 AS n WHERE false';

export const SHAPES: readonly Shape[] = [
  ['a scalar sub-query that hidden rows would make too many', "SELECT (SELECT id FROM svc.person WHERE dept <> 'shop') AS x", 'SELECT NULL AS x'],
  [
    'NOT IN with the NULL of a hidden row',
    'SELECT no FROM svc.town WHERE no NOT IN (SELECT town FROM svc.person)',
    'SELECT no FROM tn WHERE no NOT IN (SELECT town FROM pe)',
  ],
  [
    'ALL with the NULL of a hidden row',
    'SELECT id FROM svc.person WHERE born <= ALL (SELECT born FROM svc.person)',
    'SELECT id FROM pe WHERE born <= ALL (SELECT born FROM pe)',
  ],
  [
    'NOT EXISTS',
    'SELECT no FROM svc.town t WHERE NOT EXISTS (SELECT 1 FROM svc.person p WHERE p.town = t.no)',
    'SELECT no FROM tn t WHERE NOT EXISTS (SELECT 1 FROM pe p WHERE p.town = t.no)',
  ],
  [
    'a join with guesses',
    "SELECT g.v FROM (VALUES ('Ann'), ('Zorro'), ('Xerxes')) g (v) JOIN svc.person p ON p.name = g.v",
    "SELECT g.v FROM (VALUES ('Ann'), ('Zorro'), ('Xerxes')) g (v) JOIN pe p ON p.name = g.v",
  ],
  [
    'a full join with guesses',
    "SELECT g.v, p.id FROM (VALUES ('Ann'), ('Zorro')) g (v) FULL JOIN svc.person p ON p.name = g.v",
    "SELECT g.v, p.id FROM (VALUES ('Ann'), ('Zorro')) g (v) FULL JOIN pe p ON p.name = g.v",
  ],
  [
    'a join with guesses of masked values',
    "SELECT g.v, p.id FROM (VALUES ('111-11-1111'), ('111xxxxxxxx')) g (v) LEFT JOIN svc.person p ON p.ssn = g.v",
    "SELECT g.v, p.id FROM (VALUES ('111-11-1111'), ('111xxxxxxxx')) g (v) LEFT JOIN pe p ON p.ssn = g.v",
  ],
  ['a natural join', 'SELECT a.id FROM svc.person a NATURAL JOIN (SELECT id, ssn FROM svc.person) b', 'SELECT id FROM pe'],
  [
    'a cross join with a failing condition',
    'SELECT p.id, q.id AS other FROM svc.person p, svc.person q WHERE 1 / (p.id - q.id - 1 + CASE WHEN p.id IN (1, 2, 5, 8) THEN 0.5 ELSE 0 END) > 0',
    'SELECT p.id, q.id AS other FROM pe p, pe q WHERE 1 / (p.id - q.id - 1 + 0.5) > 0',
  ],
  [
    'LATERAL',
    'SELECT t.no, y.v FROM svc.town t, LATERAL (SELECT 10 / (p.id - 3) AS v FROM svc.person p WHERE p.town = t.no) y',
    'SELECT t.no, 10 / (p.id - 3) AS v FROM tn t JOIN pe p ON p.town = t.no',
  ],
  [
    'LATERAL over a function',
    'SELECT p.id, s FROM svc.person p, LATERAL generate_series(1, 10 / (p.id - 3)) s',
    'SELECT p.id, s FROM pe p, LATERAL generate_series(1, 10 / (p.id - 3)) s',
  ],
  [
    'gaps in rank',
    'SELECT id, rank() OVER (ORDER BY name) AS r, dense_rank() OVER (ORDER BY dept) AS d FROM svc.person',
    'SELECT id, rank() OVER (ORDER BY name) AS r, dense_rank() OVER (ORDER BY dept) AS d FROM pe',
  ],
  [
    'neighbours in a window',
    'SELECT id, lag(name) OVER w AS a, lead(name) OVER w AS b FROM svc.person WINDOW w AS (ORDER BY id)',
    'SELECT id, lag(name) OVER w AS a, lead(name) OVER w AS b FROM pe WINDOW w AS (ORDER BY id)',
  ],
  [
    'the ends of a window',
    'SELECT id, first_value(name) OVER w AS a, last_value(name) OVER w AS b, nth_value(name, 3) OVER w AS c FROM svc.person WINDOW w AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)',
    'SELECT id, first_value(name) OVER w AS a, last_value(name) OVER w AS b, nth_value(name, 3) OVER w AS c FROM pe WINDOW w AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)',
  ],
  [
    'shares of a whole',
    'SELECT id, percent_rank() OVER (ORDER BY id) AS a, cume_dist() OVER (ORDER BY id) AS b, ntile(2) OVER (ORDER BY id) AS c, count(*) OVER () AS n FROM svc.person',
    'SELECT id, percent_rank() OVER (ORDER BY id) AS a, cume_dist() OVER (ORDER BY id) AS b, ntile(2) OVER (ORDER BY id) AS c, count(*) OVER () AS n FROM pe',
  ],
  [
    'a window over masked values',
    'SELECT id, rank() OVER (ORDER BY salary) AS r, rank() OVER (ORDER BY ssn) AS s, sum(salary) OVER (ORDER BY id) AS t FROM svc.person',
    'SELECT id, rank() OVER (ORDER BY salary) AS r, rank() OVER (ORDER BY ssn) AS s, sum(salary) OVER (ORDER BY id) AS t FROM pe',
  ],
  [
    'extremes',
    'SELECT min(name) AS a, max(name) AS b, min(id) AS c, max(id) AS d, max(factor) AS e, max(code) AS f FROM esvc.person',
    'SELECT min(name) AS a, max(name) AS b, min(id) AS c, max(id) AS d, max(factor) AS e, max(code) AS f FROM pe',
  ],
  [
    'lists of values',
    "SELECT string_agg(name, '|' ORDER BY id) AS a, array_agg(dept ORDER BY id) AS b, json_agg(id ORDER BY id) AS c, json_object_agg(name, ssn ORDER BY id) AS d FROM svc.person",
    "SELECT string_agg(name, '|' ORDER BY id) AS a, array_agg(dept ORDER BY id) AS b, json_agg(id ORDER BY id) AS c, json_object_agg(name, ssn ORDER BY id) AS d FROM pe",
  ],
  [
    'quantiles',
    'SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY id) AS a, mode() WITHIN GROUP (ORDER BY dept) AS b, percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) AS c FROM svc.person',
    'SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY id) AS a, mode() WITHIN GROUP (ORDER BY dept) AS b, percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) AS c FROM pe',
  ],
  [
    'moments of masked values',
    'SELECT avg(salary) AS a, stddev_pop(salary) AS b, sum(salary) AS c, count(DISTINCT ssn) AS d, corr(salary, id) AS e FROM svc.person',
    'SELECT avg(salary) AS a, stddev_pop(salary) AS b, sum(salary) AS c, count(DISTINCT ssn) AS d, corr(salary, id) AS e FROM pe',
  ],
  [
    'any and every',
    "SELECT bool_or(dept = 'vault') AS a, bool_and(dept = 'shop') AS b, every(born IS NOT NULL) AS c FROM svc.person",
    "SELECT bool_or(dept = 'vault') AS a, bool_and(dept = 'shop') AS b, every(born IS NOT NULL) AS c FROM pe",
  ],
  [
    'a sum that overflows on hidden values',
    'SELECT sum(factor) AS a, sum(factor * 10) AS b FROM svc.person',
    'SELECT sum(factor) AS a, sum(factor * 10) AS b FROM pe',
  ],
  [
    'a failing HAVING',
    'SELECT dept FROM svc.person GROUP BY dept HAVING 10 / (min(id) - 3) > -100 AND 10 / (count(*) - 3) > -100',
    'SELECT dept FROM pe GROUP BY dept HAVING 10 / (min(id) - 3) > -100 AND 10 / (count(*) - 3) > -100',
  ],
  [
    'groups and their totals',
    'SELECT dept, town, count(*) AS n FROM svc.person GROUP BY CUBE (dept, town)',
    'SELECT dept, town, count(*) AS n FROM pe GROUP BY CUBE (dept, town)',
  ],
  ['DISTINCT', 'SELECT DISTINCT dept, salary FROM svc.person', 'SELECT DISTINCT dept, salary FROM pe'],
  [
    'DISTINCT ON',
    'SELECT DISTINCT ON (town) town, id FROM svc.person ORDER BY town, id DESC',
    'SELECT DISTINCT ON (town) town, id FROM pe ORDER BY town, id DESC',
  ],
  ['the first row of an order', 'SELECT id FROM svc.person ORDER BY name DESC LIMIT 1', 'SELECT id FROM pe ORDER BY name DESC LIMIT 1'],
  [
    'the first key through mappings of several integer types',
    'SELECT id FROM svc.person ORDER BY id DESC LIMIT 1',
    'SELECT id FROM pe ORDER BY id DESC LIMIT 1',
  ],
  ['an order by a masked value', 'SELECT id FROM svc.person ORDER BY salary, ssn DESC LIMIT 2', 'SELECT id FROM pe ORDER BY salary, ssn DESC LIMIT 2'],
  ['rows past the end', 'SELECT id FROM svc.person ORDER BY id OFFSET 4', 'SELECT id FROM pe ORDER BY id OFFSET 4'],
  [
    'FETCH WITH TIES',
    'SELECT id FROM svc.person ORDER BY dept DESC FETCH FIRST 1 ROW WITH TIES',
    'SELECT id FROM pe ORDER BY dept DESC FETCH FIRST 1 ROW WITH TIES',
  ],
  [
    'UNION with a failing arm',
    'SELECT id FROM svc.agent UNION ALL SELECT 10 / (id - 4) FROM svc.person',
    'SELECT id FROM ag UNION ALL SELECT 10 / (id - 4) FROM pe',
  ],
  [
    'EXCEPT',
    "SELECT name FROM (VALUES ('Ann'), ('Zorro')) g (name) EXCEPT SELECT name FROM svc.person",
    "SELECT name FROM (VALUES ('Ann'), ('Zorro')) g (name) EXCEPT SELECT name FROM pe",
  ],
  [
    'INTERSECT',
    "SELECT name FROM (VALUES ('Ann'), ('Zorro')) g (name) INTERSECT SELECT name FROM svc.person",
    "SELECT name FROM (VALUES ('Ann'), ('Zorro')) g (name) INTERSECT SELECT name FROM pe",
  ],
  ['a materialised CTE', 'WITH x AS MATERIALIZED (SELECT id, 10 / (id - 3) AS v FROM svc.person) SELECT * FROM x', 'SELECT id, 10 / (id - 3) AS v FROM pe'],
  ['a CTE that is not', 'WITH x AS NOT MATERIALIZED (SELECT id, dept FROM svc.person) SELECT id FROM x WHERE 10 / (id - 3) > -100', 'SELECT id FROM pe'],
  [
    'a recursive CTE over keys',
    'WITH RECURSIVE up AS (SELECT id, boss FROM svc.person WHERE id = 1 UNION SELECT p.id, p.boss FROM svc.person p JOIN up ON p.id = up.boss) SELECT id FROM up',
    'SELECT id FROM pe WHERE id IN (1, 2, 5)',
  ],
  [
    'a recursive CTE that guesses letters',
    "WITH RECURSIVE g AS (SELECT '' AS s UNION ALL SELECT g.s || c.v FROM g, (VALUES ('A'), ('n'), ('Z'), ('o'), ('r')) c (v) WHERE EXISTS (SELECT 1 FROM svc.person p WHERE p.name LIKE g.s || c.v || '%')) SELECT s FROM g",
    "SELECT v AS s FROM (VALUES (''), ('A'), ('An'), ('Ann')) g (v)",
  ],
  [
    'a recursive CTE with CYCLE',
    'WITH RECURSIVE up AS (SELECT id, boss FROM svc.person UNION ALL SELECT p.id, p.boss FROM svc.person p JOIN up ON p.boss = up.id) CYCLE id SET c USING path SELECT count(*) AS n FROM up',
    'SELECT count(*) AS n FROM (SELECT 1 FROM pe UNION ALL SELECT 1 FROM pe p JOIN pe q ON p.boss = q.id UNION ALL SELECT 1 FROM pe p JOIN pe q ON p.boss = q.id JOIN pe r ON q.boss = r.id) x',
  ],
  ['a path to one', 'SELECT deal_no, "made_by[person].name" AS a FROM dsvc.deal', 'SELECT deal_no, name AS a FROM de LEFT JOIN pe ON pe.id = buyer'],
  ['a path to many', 'SELECT name, "has_resident[person].name" AS a FROM dsvc.town', 'SELECT tn.name, pe.name AS a FROM tn LEFT JOIN pe ON pe.town = tn.no'],
  [
    'a path to a masked value',
    'SELECT deal_no, "made_by[person].ssn" AS a, "made_by[person].salary" AS b FROM dsvc.deal',
    'SELECT deal_no, ssn AS a, salary AS b FROM de LEFT JOIN pe ON pe.id = buyer',
  ],
  [
    'a filter on a hidden target',
    'SELECT deal_no FROM dsvc.deal WHERE "made_by[person].name" = \'Zorro\' OR "made_by[person].salary" > 500',
    NONE.replace('1 AS n', '1 AS deal_no'),
  ],
  [
    'a failing expression at the end of a path',
    'SELECT deal_no FROM dsvc.deal WHERE 10 / ("made_by[person].id" - 3) > -100',
    'SELECT deal_no FROM de JOIN pe ON pe.id = buyer',
  ],
  [
    'a failing expression at the end of a path to many',
    'SELECT name, 10 / ("has_resident[person].id" - 3) AS v FROM dsvc.town',
    'SELECT tn.name, 10 / (pe.id - 3) AS v FROM tn LEFT JOIN pe ON pe.town = tn.no',
  ],
  [
    'a path through a hidden row',
    'SELECT no, "governed_by[person].lives_in[town].name" AS a FROM dsvc.town',
    'SELECT t.no, u.name AS a FROM tn t LEFT JOIN pe ON pe.id = t.mayor LEFT JOIN tn u ON u.no = pe.town',
  ],
  [
    'a path through a hidden row and back',
    'SELECT deal_no, "made_by[person].made[deal].deal_no" AS a FROM dsvc.deal',
    'SELECT d.deal_no, e.deal_no AS a FROM de d LEFT JOIN pe ON pe.id = d.buyer LEFT JOIN de e ON e.buyer = pe.id',
  ],
  ['a path to a descendant', 'SELECT no, "has_resident[agent].code" AS a FROM dsvc.town', 'SELECT no, code AS a FROM tn LEFT JOIN ag ON ag.town = tn.no'],
  [
    'counting after a path',
    'SELECT no, COUNT("has_resident[person].id") AS n FROM dsvc.town GROUP BY no',
    'SELECT no, COUNT(pe.id) AS n FROM tn LEFT JOIN pe ON pe.town = tn.no GROUP BY no',
  ],
  [
    'aggregates of two levels',
    'SELECT SUM("made[deal].price") AS a, COUNT(id) AS b FROM dsvc.person',
    'SELECT (SELECT SUM(price) FROM de JOIN pe ON pe.id = buyer) AS a, (SELECT COUNT(*) FROM pe) AS b',
  ],
  [
    'a walk over a hidden node',
    'SELECT id, "reports_to[person*5].id" AS up FROM dsvc.person',
    'SELECT * FROM (VALUES (1, 2), (1, 5), (2, 5), (5, NULL), (8, 5)) x (id, up)',
  ],
  [
    'a walk down over a hidden node',
    'SELECT id, "leads[person*5].name" AS a FROM dsvc.person WHERE id = 5',
    "SELECT * FROM (VALUES (5, 'Bob'), (5, 'Ann'), (5, 'Hal')) x (id, a)",
  ],
  [
    'a failing expression on a walk',
    'SELECT id FROM dsvc.person WHERE 10 / ("reports_to[person*5].id" - 7) > -100',
    'SELECT * FROM (VALUES (1), (1), (2), (8)) x (id)',
  ],
  [
    'a walk over links',
    'SELECT id, "knows[person*4].id" AS k FROM dsvc.person',
    'SELECT * FROM (VALUES (1, 2), (2, NULL), (5, 1), (5, 2), (8, NULL)) x (id, k)',
  ],
  ['links', 'SELECT id, "knows[person].id" AS k FROM dsvc.person', 'SELECT p.id, kn.b AS k FROM pe p LEFT JOIN kn ON a = p.id'],
  [
    'links backwards',
    'SELECT id, "known_by[person].name" AS k FROM dsvc.person',
    'SELECT p.id, q.name AS k FROM pe p LEFT JOIN kn ON b = p.id LEFT JOIN pe q ON q.id = a',
  ],
  [
    'columns of the links of hidden rows',
    'SELECT id, "knows[person]_since" AS s FROM dsvc.person',
    'SELECT p.id, since AS s FROM pe p LEFT JOIN kn ON a = p.id',
  ],
  [
    'a link column that bears the name of a masked property',
    'SELECT id, "knows[person]_ssn" AS s FROM dsvc.person',
    'SELECT p.id, kn.ssn AS s FROM pe p LEFT JOIN kn ON a = p.id',
  ],
  ['division by the column of a hidden link', 'SELECT id FROM dsvc.person WHERE 1 / "knows[person]_since" = 0', 'SELECT p.id FROM pe p JOIN kn ON a = p.id'],
  ['multi-value properties', 'SELECT id, nick AS v FROM dsvc.person', 'SELECT p.id, nick AS v FROM pe p LEFT JOIN ni ON ni.id = p.id'],
  [
    'a cast of the multi-value property of a hidden row',
    "SELECT id FROM dsvc.person WHERE CASE WHEN nick LIKE '%9' THEN CAST(nick AS integer) ELSE 1 END = 1",
    'SELECT p.id FROM pe p LEFT JOIN ni ON ni.id = p.id',
  ],
  [
    'multi-valued properties after a path',
    'SELECT deal_no, "made_by[person].nick" AS v FROM dsvc.deal',
    'SELECT deal_no, nick AS v FROM de LEFT JOIN pe ON pe.id = buyer LEFT JOIN ni ON ni.id = pe.id',
  ],
  [
    'a calculated property that fails on a hidden row',
    'SELECT id, inverse FROM svc.person WHERE inverse IS NOT NULL',
    'SELECT id, (100 / (id - 3))::numeric AS inverse FROM pe',
  ],
  [
    'a calculated property over a masked one',
    'SELECT id, double_pay, loud FROM svc.person WHERE double_pay <> 18000',
    'SELECT id, salary * 2 AS double_pay, upper(ssn) AS loud FROM pe',
  ],
  ['a logic concept that fails on a hidden row', 'SELECT id FROM svc.steady', 'SELECT id FROM pe'],
  ['a logic concept over hidden deals', 'SELECT id FROM svc.trader', 'SELECT DISTINCT id FROM pe JOIN de ON buyer = id'],
  ['_type_of_ over hidden deals', 'SELECT id, _type_of_trader AS t FROM dsvc.person', 'SELECT id, EXISTS (SELECT 1 FROM de WHERE buyer = id) AS t FROM pe'],
  ['a descendant', 'SELECT id, code FROM svc.agent', 'SELECT id, code FROM ag'],
  [
    'a property only of descendants',
    "SELECT id, code FROM esvc.person WHERE code LIKE 'Code%' OR length(code) < 9",
    'SELECT id, code FROM pe WHERE code IS NOT NULL',
  ],
  [
    'everything there is',
    "SELECT entity_type, count(*) AS n FROM svc.thing WHERE entity_type <> 'badge' GROUP BY entity_type",
    "SELECT type AS entity_type, count(*) AS n FROM pe GROUP BY 1 UNION ALL SELECT 'town', count(*) FROM tn UNION ALL SELECT 'deal', count(*) FROM de",
  ],
  [
    'labels of everything',
    "SELECT entity_label FROM svc.thing WHERE entity_label IN ('Zorro', 'Hideaway', 'Xerxes') OR entity_label LIKE 'Vul%'",
    'SELECT 1 AS entity_label WHERE false',
  ],
  ['entity_id of a hidden row', "SELECT name FROM svc.person WHERE entity_id IN ('person:3', 'person:9', 'person:1')", "SELECT 'Ann' AS name"],
  [
    'a guess of a masked key',
    "SELECT holder FROM svc.badge WHERE entity_id IN ('badge:K-4711', 'badge:K-4712') OR entity_label LIKE 'K-%' OR badge LIKE 'K-%'",
    'SELECT 1 AS holder WHERE false',
  ],
  [
    'the form of a masked key',
    'SELECT length(entity_id) AS a, length(badge) AS b, length(entity_label) AS c, left(entity_id, 7) AS d FROM svc.badge',
    "SELECT 71 AS a, 64 AS b, 65 AS c, 'badge:~' AS d FROM (VALUES (1), (2)) x",
  ],
  ['the key of a row that is joined by a masked key', 'SELECT "held_by[person].name" AS a FROM dsvc.badge', "SELECT * FROM (VALUES ('Ann'), (NULL)) x (a)"],
  ['a view', 'SELECT id, name, ssn FROM vsvc.everyone', 'SELECT id, name, ssn FROM pe'],
  [
    'a failing expression over a view',
    "SELECT id FROM vsvc.everyone WHERE 10 / (id - 3) > -100 AND CASE WHEN dept = 'vault' THEN CAST(name AS integer) ELSE 1 END = 1",
    'SELECT id FROM pe',
  ],
  ['a view that fails on hidden rows', 'SELECT id, q, w FROM vsvc.risky', 'SELECT id, 10 / (id - 3) AS q, 1 AS w FROM pe'],
  [
    'a cube',
    'SELECT buyer_name, SUM(traded) AS t FROM vsvc.trade GROUP BY buyer_name',
    'SELECT name AS buyer_name, SUM(price) AS t FROM de LEFT JOIN pe ON pe.id = buyer GROUP BY name',
  ],
  [
    'a failing filter on a cube',
    'SELECT SUM(traded) AS t FROM vsvc.trade WHERE 10 / (price - 900) > -100 AND 10 / (deal_no - 102) > -100',
    'SELECT SUM(price) AS t FROM de',
  ],
  ['a measure', 'SELECT SUM("measure.traded") AS t FROM dsvc.deal', 'SELECT SUM(price) AS t FROM de'],
  ['a measure that fails on a hidden row', 'SELECT SUM("measure.risk") AS t FROM dsvc.deal', 'SELECT SUM(1000 / (price - 900)) AS t FROM de'],
  [
    'a measure after a path',
    'SELECT id, SUM("measure.made[deal].traded") AS t FROM dsvc.person GROUP BY id',
    'SELECT id, SUM(price) AS t FROM pe LEFT JOIN de ON buyer = id GROUP BY id',
  ],
  ['whole rows as JSON', "SELECT to_jsonb(p) ->> 'ssn' AS a, row_to_json(p) ->> 'name' AS b FROM svc.person p", 'SELECT ssn AS a, name AS b FROM pe'],
  [
    'whole rows in a condition',
    "SELECT p.id FROM svc.person p WHERE row_to_json(p)::text LIKE '%9000%' OR to_json(p)::text LIKE '%999-9%' OR p::text LIKE '%Zorro%'",
    'SELECT 1 AS id WHERE false',
  ],
  ['whole rows counted', 'SELECT count(p) AS n, count(DISTINCT p.dept) AS d FROM svc.person p', 'SELECT count(*) AS n, count(DISTINCT dept) AS d FROM pe'],
  [
    'whole rows of an outer join',
    'SELECT d.deal_no, p IS NULL AS x FROM svc.deal d LEFT JOIN svc.person p ON p.id = d.buyer',
    'SELECT deal_no, pe.id IS NULL AS x FROM de LEFT JOIN pe ON pe.id = buyer',
  ],
  ['columns by another name', "SELECT x.b FROM svc.person AS x (a, t, l, b, c, d) WHERE x.d <> 'shop' OR x.c = 'Zorro'", 'SELECT 1 AS b WHERE false'],
  ['an alias of a hidden column’s name', 'SELECT name AS dept FROM svc.person ORDER BY dept LIMIT 1', 'SELECT name AS dept FROM pe ORDER BY 1 LIMIT 1'],
];

/** Statements that are refused, with their `status code`. */
export const REFUSED: readonly (readonly [what: string, sql: string, outcome: string])[] = [
  ['a measure over masked values', 'SELECT SUM("measure.payroll") AS p FROM dsvc.person', '403 masked'],
  ['a logic concept over masked values', 'SELECT id FROM svc.rich', '403 masked'],
  ['_type_of_ over masked values', 'SELECT id, _type_of_rich FROM dsvc.person', '403 masked'],
  ['a path to a logic concept over masked values', 'SELECT no, "has_resident[rich].id" FROM dsvc.town', '403 masked'],
  ['a mapped table', 'SELECT * FROM lab.t_person', '400 unknown_schema'],
  ['a mapped table in its schema of PostgreSQL', 'SELECT * FROM public.t_person', '400 unknown_schema'],
  ["PostgreSQL's statistics", 'SELECT most_common_vals FROM pg_catalog.pg_stats', '400 forbidden_relation'],
  ['the catalog', 'SELECT * FROM kg_catalog.policies', '400 forbidden_relation'],
  ['a function that reads tables', "SELECT query_to_xml('SELECT * FROM lab.t_person', true, true, '')", '400 forbidden_function'],
  ['a function that reads statistics', "SELECT pg_relation_size('lab.t_person')", '400 forbidden_function'],
  ['a function that waits', 'SELECT id FROM svc.person WHERE pg_sleep(id) IS NULL', '400 forbidden_function'],
  ['a system column', 'SELECT p.ctid FROM svc.person p', '400 forbidden_column'],
  ['the table of a row', 'SELECT p.tableoid FROM svc.person p', '400 forbidden_column'],
  ['a sample', 'SELECT id FROM svc.person TABLESAMPLE SYSTEM (50)', '400 unsupported_syntax'],
  ['a lock', 'SELECT id FROM svc.person FOR UPDATE', '400 forbidden_statement'],
  ['ANALYZE', 'EXPLAIN ANALYZE SELECT id FROM svc.person', '400 unknown_statement'],
  ['a policy of its own', 'CREATE POLICY mine ON CONCEPT person TO PUBLIC USING (true)', '403 forbidden'],
  ['dropping a policy', 'DROP POLICY p_shop', '403 forbidden'],
  ['the text of a policy', 'SHOW CREATE POLICY p_shop', '403 forbidden'],
  ['a role without masks', 'GRANT ROLE payers TO USER rex', '400 unknown_role'],
  ['a concept of its own over the table', 'CREATE CONCEPT mine (id bigint); CREATE MAPPING m INTO (mine) AS SELECT id FROM lab.t_person', '403 forbidden'],
];

/** Expressions for which PostgreSQL's error quotes the value: they may fail on what the caller may see, and reveal no other value. */
export const TELLING: readonly string[] = [
  'SELECT CAST(name AS integer) AS v FROM svc.person',
  'SELECT CAST(name AS date) AS v FROM svc.person ORDER BY name DESC',
  'SELECT CAST(ssn AS integer) AS v FROM svc.person',
  "SELECT CAST(string_agg(ssn, ',') AS integer) AS v FROM svc.person",
  "SELECT CAST(string_agg(name, ',') AS integer) AS v FROM svc.person",
  'SELECT CAST(loud AS integer) AS v FROM svc.person',
  "SELECT CAST(CAST(salary AS text) || 'x' AS integer) AS v FROM svc.person",
  'SELECT CAST(entity_label AS integer) AS v FROM svc.thing',
  'SELECT CAST(entity_id AS integer) AS v FROM svc.badge',
  'SELECT CAST("made_by[person].name" AS integer) AS v FROM dsvc.deal',
  'SELECT CAST("knows[person]_ssn" AS integer) AS v FROM dsvc.person',
  'SELECT CAST(nick AS integer) AS v FROM dsvc.person',
  'SELECT CAST(to_json(p)::text AS integer) AS v FROM svc.person p',
  'SELECT CAST(max(ssn) AS integer) AS v FROM vsvc.everyone',
];
