/**
 * Analytic statements that must run, over the ontology of model.ts, as users of PostgreSQL write them. An allow-list
 * that refuses them would be switched off.
 */
export const ACCEPTED: Readonly<Record<string, string>> = {
  // aggregates
  'continuous percentiles': 'SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY price) AS a FROM svc.line',
  'discrete percentiles in descending order': 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY price DESC) AS a FROM svc.line',
  'several percentiles at once': 'SELECT order_no, percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY price) AS q FROM svc.line GROUP BY order_no',
  'the most frequent value': 'SELECT mode() WITHIN GROUP (ORDER BY sku) AS a FROM svc.line',
  'the rank of a supposed row': 'SELECT rank(10.00) WITHIN GROUP (ORDER BY price) AS a, cume_dist(10.00) WITHIN GROUP (ORDER BY price) AS b FROM svc.line',
  'standard deviation and variance': 'SELECT stddev(price) AS a, stddev_pop(price) AS b, variance(price) AS c, var_samp(price) AS d FROM svc.line',
  'correlation and regression':
    'SELECT corr(price, quantity) AS a, covar_pop(price, quantity) AS b, regr_slope(price, quantity) AS c, regr_r2(price, quantity) AS d FROM svc.line',
  'truth values together': 'SELECT bool_and(vip) AS a, bool_or(vip) AS b, every(credit_limit > 0) AS c FROM svc.customer',
  'bits together': 'SELECT bit_and(customer_id) AS a, bit_or(customer_id) AS b, bit_xor(customer_id) AS c FROM svc.customer',
  'arrays and texts in an order':
    "SELECT array_agg(sku ORDER BY price DESC) AS a, string_agg(DISTINCT sku, '/' ORDER BY sku) AS b FROM svc.line GROUP BY order_no",
  'objects and lists of JSON': 'SELECT json_object_agg(order_no, freight) AS a, jsonb_agg(status ORDER BY order_no) AS b FROM svc."order"',
  'all ways to count': 'SELECT count(*) AS a, count(vip) AS b, count(DISTINCT segment) AS c, count(DISTINCT (segment, vip)) AS d FROM svc.customer',
  'FILTER as a pivot': 'SELECT segment, count(*) FILTER (WHERE vip) AS yes, count(*) FILTER (WHERE NOT vip) AS no FROM svc.customer GROUP BY segment',
  'any value of a group': 'SELECT status, any_value(order_no) AS a FROM svc."order" GROUP BY status',
  'ranges together': 'SELECT range_agg(int4range(line_no, line_no + 1)) AS a FROM svc.line',
  'the sum of a CASE': 'SELECT sum(CASE WHEN status = \'shipped\' THEN freight ELSE 0 END) AS a FROM svc."order"',
  'grouping sets': 'SELECT sku, order_no, grouping(sku, order_no) AS g, sum(quantity) AS q FROM svc.line GROUP BY GROUPING SETS ((sku, order_no), (sku), ())',
  'ROLLUP and CUBE': 'SELECT sku, order_no, count(*) AS n FROM svc.line GROUP BY ROLLUP (sku), CUBE (order_no)',
  'GROUP BY DISTINCT': 'SELECT sku, count(*) AS n FROM svc.line GROUP BY DISTINCT ROLLUP (sku), ROLLUP (sku)',
  'HAVING without GROUP BY': 'SELECT sum(quantity) AS q FROM svc.line HAVING count(*) > 3',
  'GROUP BY a position and an expression': 'SELECT upper(status) AS s, count(*) AS n FROM svc."order" GROUP BY 1 ORDER BY 2 DESC',
  'a histogram': 'SELECT width_bucket(price, 0, 100, 4) AS bucket, count(*) AS n FROM svc.line GROUP BY 1',

  // windows
  'all window functions':
    "SELECT row_number() OVER w AS a, rank() OVER w AS b, dense_rank() OVER w AS c, percent_rank() OVER w AS d, cume_dist() OVER w AS e, ntile(2) OVER w AS f, lag(sku, 1, '-') OVER w AS g, lead(sku) OVER w AS h, first_value(price) OVER w AS i, last_value(price) OVER w AS j, nth_value(price, 2) OVER w AS k FROM svc.line WINDOW w AS (PARTITION BY order_no ORDER BY line_no)",
  'a running sum': 'SELECT order_no, sum(freight) OVER (ORDER BY placed_at ROWS UNBOUNDED PRECEDING) AS a FROM svc."order"',
  'a moving average': 'SELECT order_no, avg(freight) OVER (ORDER BY order_no ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS a FROM svc."order"',
  'a frame by days': 'SELECT order_no, count(*) OVER (ORDER BY placed_at RANGE BETWEEN INTERVAL \'30 days\' PRECEDING AND CURRENT ROW) AS n FROM svc."order"',
  'a frame by groups': 'SELECT sum(quantity) OVER (ORDER BY price GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) AS n FROM svc.line',
  'a share of the whole': 'SELECT sku, sum(quantity) * 100.0 / sum(sum(quantity)) OVER () AS share FROM svc.line GROUP BY sku',
  'a gap between rows': 'SELECT order_no, placed_at - lag(placed_at) OVER (ORDER BY placed_at) AS gap FROM svc."order"',
  'a window on a window': 'SELECT sum(freight) OVER (w ORDER BY order_no) AS a FROM svc."order" WINDOW w AS (PARTITION BY status)',
  'FILTER in a window': 'SELECT count(*) FILTER (WHERE status = \'open\') OVER (ORDER BY order_no) AS n FROM svc."order"',
  'the top one of each group':
    'SELECT x.* FROM (SELECT order_no, sku, rank() OVER (PARTITION BY order_no ORDER BY price DESC) AS r FROM svc.line) x WHERE x.r = 1',

  // common table expressions and sub-queries
  'nested common table expressions':
    'WITH a AS (WITH b AS (SELECT sku, sum(quantity) AS q FROM svc.line GROUP BY sku) SELECT * FROM b WHERE q > 1) SELECT * FROM a',
  'materialized and not':
    'WITH a AS MATERIALIZED (SELECT sku FROM svc.line), b AS NOT MATERIALIZED (SELECT sku FROM a) SELECT count(*) AS n FROM a JOIN b USING (sku)',
  'a recursive sequence': 'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 10) SELECT sum(n) AS s FROM t',
  'a recursive walk with CYCLE': 'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n % 3 + 1 FROM t) CYCLE n SET round USING way SELECT n, round FROM t',
  'a recursive walk in breadth':
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 4) SEARCH BREADTH FIRST BY n SET place SELECT n FROM t ORDER BY place',
  'LATERAL with an aggregate':
    'SELECT c.first_name, x.n FROM svc.customer c, LATERAL (SELECT count(*) AS n FROM svc."order" o WHERE o.customer_id = c.customer_id) x',
  'LEFT JOIN LATERAL with LIMIT':
    'SELECT c.first_name, x.order_no FROM svc.customer c LEFT JOIN LATERAL (SELECT o.order_no FROM svc."order" o WHERE o.customer_id = c.customer_id ORDER BY o.placed_at DESC LIMIT 1) x ON true',
  'a correlated sub-query': 'SELECT c.first_name, (SELECT max(o.freight) FROM svc."order" o WHERE o.customer_id = c.customer_id) AS top FROM svc.customer c',
  'EXISTS and NOT EXISTS':
    'SELECT first_name FROM svc.customer c WHERE EXISTS (SELECT 1 FROM svc."order" o WHERE o.customer_id = c.customer_id) AND NOT EXISTS (SELECT 1 FROM svc.city t WHERE t.city_id = c.city_id AND t.population IS NULL)',
  'IN and ALL over sub-queries': 'SELECT sku FROM svc.product WHERE sku IN (SELECT sku FROM svc.line) AND price >= ALL (SELECT price FROM svc.product)',
  'ARRAY of a sub-query': 'SELECT ARRAY(SELECT name FROM svc.city ORDER BY name) AS a',
  'sub-queries in every clause':
    'SELECT o.status FROM svc."order" o WHERE o.freight > (SELECT min(q.freight) FROM svc."order" q) GROUP BY o.status HAVING count(*) >= (SELECT 1) ORDER BY (SELECT o.status) LIMIT (SELECT 5)',
  'set operations':
    'SELECT sku FROM svc.product EXCEPT SELECT sku FROM svc.line UNION ALL (SELECT name FROM svc.city INTERSECT ALL SELECT title FROM svc.product) ORDER BY 1 LIMIT 5',
  'VALUES joined': "SELECT v.n, p.title FROM (VALUES ('B-1', 1), ('B-2', 2)) AS v(k, n) JOIN svc.product p ON p.sku = v.k",
  'VALUES alone': "VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC",
  'TABLE of a concept': 'TABLE svc.city',
  'a calendar joined':
    "SELECT d::date AS day, count(o.order_no) AS n FROM generate_series(DATE '2024-02-27', DATE '2024-03-01', INTERVAL '1 day') AS d LEFT JOIN svc.\"order\" o ON o.placed_at::date = d::date GROUP BY 1",

  // joins and clauses
  'joins of all kinds': 'SELECT a.name, b.name AS other FROM svc.city a FULL JOIN svc.city b ON a.city_id = b.city_id + 1 CROSS JOIN svc.product p',
  'USING with an alias': 'SELECT j.order_no, o.status FROM svc."order" o JOIN svc.line l USING (order_no) AS j',
  'a natural join':
    'SELECT order_no, n FROM (SELECT order_no, count(*) AS n FROM svc.line GROUP BY order_no) a NATURAL JOIN (SELECT order_no, status FROM svc."order") b',
  'DISTINCT ON': 'SELECT DISTINCT ON (sku) sku, order_no, price FROM svc.line ORDER BY sku, price DESC',
  'FETCH WITH TIES': 'SELECT sku, price FROM svc.line ORDER BY price DESC FETCH FIRST 1 ROW WITH TIES',
  'NULLS LAST and OFFSET': 'SELECT name FROM svc.city ORDER BY population DESC NULLS LAST OFFSET 1 LIMIT 2',
  'rows compared': "SELECT order_no FROM svc.line WHERE (order_no, line_no) > (100, 1) AND (sku, quantity) IN (('B-1', 3), ('B-2', 5))",
  'IS DISTINCT FROM and truth tests': 'SELECT first_name FROM svc.customer WHERE vip IS NOT DISTINCT FROM NULL OR vip IS TRUE OR (vip AND true) IS UNKNOWN',
  'BETWEEN SYMMETRIC': 'SELECT sku FROM svc.line WHERE quantity BETWEEN SYMMETRIC 5 AND 1',
  'an alias in HAVING': 'SELECT status, count(*) AS n FROM svc."order" GROUP BY status HAVING count(*) > 0 ORDER BY n',
  COLLATE: 'SELECT last_name FROM svc.customer ORDER BY last_name COLLATE "C", email COLLATE pg_catalog."POSIX"',
  'ORDER BY USING': 'SELECT name FROM svc.city ORDER BY name USING OPERATOR(pg_catalog.>)',
  'an operator with its schema': 'SELECT 1 OPERATOR(pg_catalog.+) 2 AS a',

  // paths
  'a path': 'SELECT first_name, "lives_in[city].name" FROM dsvc.customer WHERE "lives_in[city].population" > 1000',
  'a long path': 'SELECT "of_order[order].placed_by[customer].lives_in[city].name" AS city, sum(quantity) AS q FROM dsvc.line GROUP BY 1',
  'an inverse path': 'SELECT name, count("has_resident[customer].entity_id") AS n FROM dsvc.city GROUP BY name',
  'a transitive path with its level': 'SELECT "knows[customer*2].first_name", "knows[customer*2]_transitivity_level" FROM dsvc.customer',
  'a link column': 'SELECT first_name, "knows[customer]_since" FROM dsvc.customer',
  'a wildcard path': 'SELECT first_name, "lives_in[city].*" FROM dsvc.customer',

  // text
  'text functions':
    "SELECT concat_ws('-', first_name, NULL, last_name) AS a, initcap(last_name) AS b, translate(last_name, 'aeiou', '12345') AS c, strpos(last_name, 'e') AS d, lpad(first_name, 5, '.') AS e, split_part(email, '@', 2) AS f FROM svc.customer",
  'text by SQL syntax':
    "SELECT substring(last_name FROM 2 FOR 3) AS a, position('e' IN last_name) AS b, trim(BOTH ' ' FROM first_name) AS c, overlay(first_name PLACING '*' FROM 1) AS d, substring(last_name SIMILAR '%#\"e#\"%' ESCAPE '#') AS e FROM svc.customer",
  'lengths and codes':
    "SELECT char_length(last_name) AS a, octet_length(last_name) AS b, bit_length(last_name) AS c, ascii(first_name) AS d, chr(937) AS e, to_hex(255) AS f, reverse(last_name) AS g, repeat('ab', 2) AS h FROM svc.customer",
  'quoting and format':
    "SELECT format('%s is %L', first_name, last_name) AS a, quote_literal(last_name) AS b, quote_ident('a b') AS c, quote_nullable(NULL) AS d FROM svc.customer",
  'regular expressions':
    "SELECT regexp_match(last_name, '(.)e') AS a, regexp_replace(last_name, 'e', 'E', 'g') AS b, last_name ~* 'LEE' AS c, regexp_split_to_array('a1b', '\\d') AS d, regexp_count(last_name, 'e') AS e, regexp_like(last_name, 'e') AS f FROM svc.customer",
  'regular expressions as rows': "SELECT c.customer_id, m FROM svc.customer c, regexp_matches(c.last_name, '[a-z]', 'g') AS m",
  'LIKE in its forms':
    "SELECT last_name LIKE 'L%' AS a, last_name NOT ILIKE 'l%' AS b, last_name LIKE ANY (ARRAY['L%', 'Q%']) AS c, last_name SIMILAR TO '%(ee|i)%' AS d, last_name LIKE 'a!%' ESCAPE '!' AS e, starts_with(last_name, 'L') AS f FROM svc.customer",
  Unicode: "SELECT normalize('a', NFC) AS a, 'a' IS NFC NORMALIZED AS b, unistr('\\0041') AS c",
  'hashes and bytes':
    "SELECT md5('x') AS a, encode(sha256('x'), 'hex') AS b, decode('YQ==', 'base64') AS c, get_byte('\\x41'::bytea, 0) AS d, convert_from('\\xc3bc'::bytea, 'UTF8') AS e",
  'texts as rows': "SELECT w FROM svc.customer c, string_to_table(c.email, '@') AS w",

  // numbers
  arithmetic:
    'SELECT quantity % 2 AS a, quantity ^ 2 AS b, -quantity AS c, |/ 16.0 AS d, ||/ 27.0 AS e, @ (-5) AS f, quantity & 1 AS g, quantity | 1 AS h, quantity # 3 AS i, ~quantity AS j, quantity << 2 AS k, quantity >> 1 AS l FROM svc.line',
  'numeric functions':
    'SELECT abs(-1) AS a, ceil(price) AS b, floor(price) AS c, round(price, 1) AS d, trunc(price, 1) AS e, mod(quantity, 2) AS f, div(quantity, 2) AS g, sqrt(quantity) AS h, cbrt(27) AS i, exp(0) AS j, ln(price) AS k, log(10, 100) AS l, power(2, 3) AS m, sign(price) AS n FROM svc.line',
  angles: 'SELECT sin(0) AS a, cosd(60) AS b, atan2(1, 1) AS c, degrees(pi()) AS d, radians(180) AS e, sinh(0) AS f',
  'whole numbers': 'SELECT gcd(12, 18) AS a, lcm(4, 6) AS b, factorial(5) AS c, scale(1.50) AS d, trim_scale(1.50) AS e, min_scale(1.50) AS f',
  'random numbers': 'SELECT random() AS a, gen_random_uuid() AS b, sku FROM svc.product ORDER BY random() LIMIT 1',
  choices:
    'SELECT greatest(1, NULL, 3) AS a, least(quantity, 2) AS b, coalesce(sku, title) AS c, nullif(quantity, 0) AS d, num_nulls(sku, NULL) AS e FROM (SELECT l.quantity, p.sku, p.title FROM svc.line l LEFT JOIN svc.product p ON p.sku = l.sku) x',

  // dates
  'parts of dates':
    "SELECT extract(year FROM placed_at) AS a, date_part('dow', placed_at) AS b, date_trunc('quarter', placed_at) AS c, date_bin('7 days', placed_at, TIMESTAMP '2024-01-01') AS d FROM svc.\"order\"",
  'arithmetic with dates':
    "SELECT placed_at + INTERVAL '1 day' * 3 AS a, age(placed_at, placed_at - INTERVAL '40 days') AS b, placed_at::date - DATE '2024-01-01' AS c, justify_interval(INTERVAL '40 days') AS d, make_interval(days => 2) AS e FROM svc.\"order\"",
  'time zones': "SELECT placed_at AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo' AS a, timezone('UTC', launched) AS b FROM svc.\"order\", svc.product",
  'dates read and written':
    "SELECT to_char(placed_at, 'YYYY-MM-DD') AS a, to_date('05.01.2024', 'DD.MM.YYYY') AS b, to_timestamp(0) AS c, to_number('1,234.5', '9G999D9') AS d, make_date(2024, 2, 29) AS e FROM svc.\"order\"",
  'the clock':
    "SELECT now() AS a, current_date AS b, current_timestamp(0) AS c, localtime AS d, clock_timestamp() AS e, statement_timestamp() AS f, age(TIMESTAMP '2024-01-01') AS g, 'today'::date AS h",
  'periods that overlap':
    "SELECT (DATE '2024-01-01', DATE '2024-02-01') OVERLAPS (DATE '2024-01-15', INTERVAL '10 days') AS a, isfinite('infinity'::date) AS b",
  'customers by age':
    "SELECT extract(year FROM age(birth_date)) AS years, count(*) AS n FROM svc.customer WHERE birth_date > current_date - INTERVAL '100 years' GROUP BY 1",

  // JSON
  'JSON operators':
    "SELECT attributes -> 'tags' -> 0 AS a, attributes ->> 'score' AS b, attributes #>> '{tags,0}' AS c, attributes::jsonb @> '{\"score\": 7}' AS d, attributes::jsonb ? 'tags' AS e, attributes::jsonb ?| ARRAY['a', 'tags'] AS f, attributes::jsonb - 'tags' AS g, attributes::jsonb || '{}' AS h, attributes::jsonb #- '{tags,0}' AS i FROM svc.customer",
  'JSON paths':
    "SELECT attributes::jsonb @? '$.tags[*]' AS a, attributes::jsonb @@ '$.score > 5' AS b, jsonb_path_query_first(attributes::jsonb, '$.tags[0]') AS c, jsonb_path_exists(attributes::jsonb, '$.x') AS d FROM svc.customer",
  'a JSON subscript': "SELECT (attributes::jsonb)['score'] AS a FROM svc.customer",
  'JSON built':
    "SELECT jsonb_build_object('id', order_no, 'l', jsonb_build_array(status, freight)) AS a, to_jsonb(freight) AS b, row_to_json(ROW(1, 'x')) AS c, json_object('{a,1}') AS d FROM svc.\"order\"",
  'JSON changed':
    "SELECT jsonb_set('{\"a\": 1}', '{a}', '2') AS a, jsonb_insert('[1]', '{0}', '0') AS b, jsonb_strip_nulls('{\"a\": null}') AS c, jsonb_pretty('{}') AS d, jsonb_typeof('1') AS e",
  'JSON as rows': "SELECT c.customer_id, t FROM svc.customer c, LATERAL jsonb_array_elements_text(coalesce(c.attributes::jsonb -> 'tags', '[]')) AS t",
  'JSON members as rows': 'SELECT j.key, j.value FROM svc.customer c, jsonb_each(c.attributes::jsonb) AS j',
  'JSON records': 'SELECT t.a, t.b FROM jsonb_to_recordset(\'[{"a": 1, "b": "x"}]\') AS t(a int, b text COLLATE "C")',
  'whole rows as JSON': 'SELECT to_jsonb(x) AS j FROM (SELECT name, population FROM svc.city) x',

  // arrays, ranges, other types
  'array operators':
    "SELECT ARRAY[1, 2] @> ARRAY[2] AS a, ARRAY[1] <@ ARRAY[1, 2] AS b, ARRAY[1] && ARRAY[1] AS c, ARRAY[1] || 2 AS d, 3 = ANY (ARRAY[1, 3]) AS e, 3 <> ALL ('{1,2}'::int[]) AS f",
  'array functions':
    "SELECT array_length(ARRAY[1, 2], 1) AS a, cardinality(ARRAY[1]) AS b, array_position(ARRAY['x', 'y'], 'y') AS c, array_remove(ARRAY[1, 2], 1) AS d, array_to_string(ARRAY[1, 2], ',') AS e, string_to_array('a,b', ',') AS f, array_append(ARRAY[1], 2) AS g, array_fill(0, ARRAY[2]) AS h",
  'slices of arrays': 'SELECT (ARRAY[1, 2, 3])[2:] AS a, (ARRAY[ARRAY[1, 2], ARRAY[3, 4]])[2][1] AS b',
  'arrays as rows': "SELECT a, b, n FROM unnest(ARRAY[1, 2], ARRAY['x', 'y']) WITH ORDINALITY AS t(a, b, n)",
  'ROWS FROM': "SELECT * FROM ROWS FROM (generate_series(1, 3), unnest(ARRAY['a', 'b'])) WITH ORDINALITY AS t(a, b, n)",
  ranges:
    "SELECT int4range(1, 5) @> 3 AS a, daterange('2024-01-01', '2024-02-01') && daterange('2024-01-15', NULL) AS b, upper(numrange(1, 3)) AS c, lower_inf(int8range(NULL, 1)) AS d, range_merge(int4range(1, 2), int4range(4, 5)) AS e, '{[1,2]}'::int4multirange AS f",
  casts:
    "SELECT '12'::int + 1 AS a, 3.7::smallint AS b, 'true'::boolean AS c, '2024-02-29'::date AS d, '1 day'::interval AS e, CAST('1.5' AS double precision) AS f, 'x'::char(3) AS g, 1.234::numeric(10, 2) AS h, INTERVAL '1' DAY AS i, TIMESTAMP WITH TIME ZONE '2024-01-01T00:00Z' AS j, B'101'::bit(3) AS k, '{1,2}'::int[][] AS l",
  'uuids and addresses':
    "SELECT '00000000-0000-0000-0000-000000000000'::uuid AS a, host('192.168.0.1/24'::inet) AS b, network('192.168.0.1/24'::inet) AS c, '192.168.0.1'::inet << '192.168.0.0/16'::inet AS d",
  points: "SELECT point(1, 2) <-> point(4, 6) AS a, '(0,0),(1,1)'::box @> point(0.5, 0.5) AS b, area('(0,0),(2,2)'::box) AS c",
  'types asked for': 'SELECT pg_typeof(price)::text AS a FROM svc.product',
  'words as text': "SELECT strip('a:1 b:2'::tsvector) AS a, 'a'::tsvector @@ 'a'::tsquery AS b",

  // words that are no more than words
  'forbidden words in strings': "SELECT 'DROP TABLE x; SELECT pg_sleep(5)' AS a, $$DELETE FROM x$$ AS b, 'pg_class'::text AS c",
  'forbidden words in comments': 'SELECT 1 AS a -- ; DROP TABLE x\n/* SELECT pg_sleep(5) FOR UPDATE */',
  'forbidden words as aliases': 'SELECT 1 AS pg_sleep, 2 AS "DELETE", 3 AS pg_class, 4 AS xmin',
  'a common table expression named like a catalog': 'WITH pg_class AS (SELECT 1 AS a) SELECT a FROM pg_class',
  'a common table expression named like a table': 'WITH t_town AS (SELECT name FROM svc.city) SELECT name FROM t_town',
  'an alias named like a schema': 'SELECT shop.name FROM svc.city AS shop',
  'a column of its own named ctid': 'SELECT x.ctid FROM (SELECT city_id AS ctid FROM svc.city) x ORDER BY ctid',
  'a common table expression with a column named xmin': 'WITH t(xmin) AS (SELECT 1) SELECT xmin FROM t',
  'a leading comment and brackets': '/* top */ (((SELECT 1 AS a)))',
};
