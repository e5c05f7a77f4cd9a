/** Queries with all parts of a SELECT, for round trips through the printer. */
export const CORPUS: readonly string[] = `
SELECT
SELECT 1
SELECT * FROM a
SELECT a.*, b.c AS "D e", b."group" FROM a, b
SELECT a AS "Ärger", b AS "x""y", "A", "select", "1a", "ünder" FROM "T"
SELECT ALL a FROM a
SELECT DISTINCT a, b FROM a
SELECT DISTINCT ON (a, b + 1) a, b, c FROM a ORDER BY a, b + 1, c
SELECT a FROM s.t
SELECT a FROM c.s.t AS x
SELECT x.a FROM t AS x(a, b)
TABLE a
VALUES (1, 'a'), (2, 'b')
VALUES (1), (2) ORDER BY 1 DESC LIMIT 1
SELECT (VALUES (1))
SELECT * FROM (VALUES (1, 2), (3, 4)) AS v(a, b)
SELECT * FROM (SELECT 1) AS x
SELECT * FROM (SELECT 1)
SELECT a FROM t WHERE a > 1 GROUP BY a HAVING count(*) > 2 ORDER BY a
SELECT a FROM t ORDER BY a ASC NULLS FIRST, b DESC NULLS LAST, c NULLS FIRST, d USING <, e USING OPERATOR(pg_catalog.>) NULLS LAST
SELECT a FROM t LIMIT 10
SELECT a FROM t LIMIT ALL
SELECT a FROM t LIMIT NULL OFFSET 3
SELECT a FROM t OFFSET 3
SELECT a FROM t OFFSET 3 ROWS
SELECT a FROM t LIMIT 1 + 2 OFFSET $1
SELECT a FROM t LIMIT (SELECT 1) OFFSET (SELECT 2)
SELECT a FROM t FETCH FIRST ROW ONLY
SELECT a FROM t FETCH NEXT 5 ROWS ONLY
SELECT a FROM t ORDER BY a OFFSET 2 ROWS FETCH FIRST 5 ROWS WITH TIES
SELECT a FROM t ORDER BY a FETCH FIRST (1 + 2) ROWS WITH TIES
SELECT a FROM t ORDER BY a FETCH FIRST ROW WITH TIES
SELECT 1 UNION SELECT 2
SELECT 1 UNION ALL SELECT 2 UNION SELECT 3
SELECT 1 UNION (SELECT 2 UNION ALL SELECT 3)
SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT ALL SELECT 4
(SELECT 1 UNION SELECT 2) INTERSECT SELECT 3
SELECT 1 INTERSECT ALL SELECT 2 INTERSECT SELECT 3
SELECT 1 EXCEPT (SELECT 2 EXCEPT SELECT 3)
SELECT 1 EXCEPT SELECT 2 EXCEPT SELECT 3
SELECT 1 EXCEPT SELECT 2 UNION SELECT 3
(SELECT a FROM t ORDER BY a LIMIT 1) UNION ALL (SELECT b FROM u ORDER BY b LIMIT 2) ORDER BY 1 LIMIT 3
(SELECT a FROM t UNION SELECT b FROM u ORDER BY 1) UNION ALL SELECT 3
(WITH x AS (SELECT 1) SELECT * FROM x) UNION (WITH x AS (SELECT 2) SELECT * FROM x)
(SELECT a FROM t OFFSET 1) EXCEPT VALUES (1)
((SELECT 1))
((SELECT 1) ORDER BY 1) LIMIT 2
SELECT 1 UNION SELECT 2 ORDER BY 1 FETCH FIRST 2 ROWS WITH TIES
WITH x AS (SELECT 1) SELECT * FROM x
WITH x(a, b) AS MATERIALIZED (SELECT 1, 2), y AS NOT MATERIALIZED (TABLE x) SELECT * FROM x, y
WITH x AS (WITH y AS (SELECT 1) SELECT * FROM y) SELECT * FROM x
WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 100) SELECT sum(n) FROM t
WITH RECURSIVE t(a, b) AS (SELECT 1, 2 UNION ALL SELECT a, b FROM t) SEARCH DEPTH FIRST BY a, b SET o SELECT * FROM t
WITH RECURSIVE t(a, b) AS (SELECT 1, 2 UNION ALL SELECT a, b FROM t) SEARCH BREADTH FIRST BY a SET "Order" SELECT * FROM t
WITH RECURSIVE t(a, b) AS (SELECT 1, 2 UNION ALL SELECT a, b FROM t) CYCLE a, b SET c USING p SELECT * FROM t
WITH RECURSIVE t(a) AS (SELECT 1 UNION ALL SELECT a FROM t) CYCLE a SET c TO 'y' DEFAULT 'n' USING p SELECT * FROM t
WITH RECURSIVE t(a) AS (SELECT 1 UNION ALL SELECT a FROM t) CYCLE a SET c TO 1 DEFAULT 0 USING p SELECT * FROM t
WITH RECURSIVE t(a) AS (SELECT 1 UNION ALL SELECT a FROM t) CYCLE a SET c TO date '2020-01-01' DEFAULT int '2' USING p SELECT * FROM t
WITH RECURSIVE t(a) AS (SELECT 1 UNION ALL SELECT a FROM t) SEARCH DEPTH FIRST BY a SET o CYCLE a SET c TO true DEFAULT false USING p SELECT * FROM t
SELECT * FROM a CROSS JOIN b
SELECT * FROM a JOIN b ON a.x = b.x
SELECT * FROM a INNER JOIN b USING (x, "Y")
SELECT * FROM a LEFT OUTER JOIN b USING (x) AS j
SELECT * FROM a RIGHT JOIN b ON true FULL JOIN c ON false
SELECT * FROM a NATURAL JOIN b NATURAL LEFT JOIN c NATURAL RIGHT JOIN d NATURAL FULL JOIN e
SELECT * FROM a JOIN b JOIN c ON b.x = c.x ON a.x = b.x
SELECT * FROM a LEFT JOIN (b JOIN c ON b.x = c.x) ON a.x = b.x
SELECT * FROM a LEFT JOIN (b CROSS JOIN c) ON a.x = b.x
SELECT * FROM (a JOIN b ON a.x = b.x) AS j
SELECT * FROM (a JOIN b USING (x)) AS j(p, q) JOIN c ON j.p = c.p
SELECT * FROM a JOIN (b JOIN c USING (x)) AS j ON true
SELECT * FROM ((a JOIN b USING (x)) AS i JOIN c USING (y)) AS j
SELECT * FROM (a CROSS JOIN b) CROSS JOIN c
SELECT * FROM a, b JOIN c ON true, d
SELECT * FROM a, LATERAL (SELECT a.x) AS l
SELECT * FROM a LEFT JOIN LATERAL (SELECT a.x AS y) AS l(z) ON true
SELECT * FROM f(1, 2)
SELECT * FROM f(1) AS x
SELECT * FROM f(1) AS x(a, b)
SELECT * FROM s.f(1) WITH ORDINALITY
SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a']) WITH ORDINALITY AS u(a, b, n)
SELECT * FROM json_to_recordset('[]') AS x(a int, b text COLLATE "C", c numeric(10, 2)[], "D" time with time zone)
SELECT * FROM f() AS (a int, b pg_catalog.text)
SELECT * FROM a, LATERAL f(a.x) AS l
SELECT * FROM a, LATERAL ROWS FROM (f(a.x), g() AS (b int, c text)) WITH ORDINALITY AS l(x, y)
SELECT * FROM ROWS FROM (f(1))
SELECT * FROM current_date, current_timestamp(2) AS t, CAST(1 AS int), coalesce(1, 2) AS c, nullif(1, 2), greatest(1, 2), session_user
SELECT * FROM extract(year FROM now()) AS y, substring('abc' FROM 2) AS s, COLLATION FOR ('a'), trim('a') AS t
SELECT * FROM a TABLESAMPLE system (10)
SELECT * FROM a AS x TABLESAMPLE bernoulli (10) REPEATABLE (1 + 1)
SELECT a, b, count(*) FROM t GROUP BY a, b
SELECT 1 GROUP BY ()
SELECT a FROM t GROUP BY DISTINCT a, ROLLUP (b, c)
SELECT a FROM t GROUP BY ALL a, b
SELECT a FROM t GROUP BY CUBE (a, (b, c)), ROLLUP ((a, b), c), "rollup"(a), "cube"(b)
SELECT a, GROUPING(a, b) FROM t GROUP BY GROUPING SETS ((a, b), a, (), ROLLUP (c), GROUPING SETS (CUBE (d)), (f(x)))
SELECT a FROM t GROUP BY (a, b), ((c)), a + 1
SELECT sum(a) OVER () FROM t
SELECT sum(a) OVER w, rank() OVER (w ORDER BY b) FROM t WINDOW w AS (PARTITION BY c), v AS (w ORDER BY d), "Range" AS ()
SELECT sum(a) OVER (PARTITION BY b, c ORDER BY d DESC NULLS LAST, e) FROM t
SELECT sum(a) OVER (ROWS UNBOUNDED PRECEDING), sum(a) OVER (RANGE CURRENT ROW), sum(a) OVER (ORDER BY b GROUPS 2 PRECEDING) FROM t
SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t
SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN '1 day'::interval PRECEDING AND interval '2' day FOLLOWING EXCLUDE CURRENT ROW) FROM t
SELECT sum(a) OVER (ORDER BY b GROUPS BETWEEN 1 PRECEDING AND 2 + 3 FOLLOWING EXCLUDE GROUP) FROM t
SELECT sum(a) OVER (ORDER BY b GROUPS BETWEEN CURRENT ROW AND $1 FOLLOWING EXCLUDE TIES) FROM t
SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING EXCLUDE NO OTHERS) FROM t
SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 3 FOLLOWING AND UNBOUNDED FOLLOWING) FROM t
SELECT sum(a) OVER ("rows"), sum(a) OVER ("partition" ORDER BY b) FROM t WINDOW "rows" AS (), "partition" AS ()
SELECT a, "a".b, a."B".c, x.y.z.* FROM t
SELECT t FROM t
SELECT (t).*, (t).a, (t.a).b, (t.a).b.c, t.a[1].b, (t.a[1]).b[2], ((t).a).b FROM t
SELECT a[1], a[1][2], a[1:2], a[:2], a[1:], a[:], a[$1][b + 1:c - 1], (a)[1], a.b[1], a[-1], a[:-1], a[b::int:c]
SELECT (ARRAY[1, 2, 3])[2:3], (ARRAY[1, 2])[1], (f(x))[1], (f(x)).a, (f(x)).*, (a || b)[1], (x::int[])[1], (CASE WHEN a THEN b END)[1]
SELECT (SELECT ARRAY[1])[1], (SELECT a FROM b).c, ((SELECT t FROM t)).*, (ROW(1, 2)).f1, ((1, 2)).f2
SELECT $1, $2::int, ($1)[1], $1[2], $3.a, ($3).b
SELECT 0, 1, -1, 2147483647, 2147483648, -2147483648, -2147483649, 99999999999999999999, 1.5, -1.5, .5, 5., 1e10, 1.5E-10, -0, -0.0, 0.0
SELECT '', 'a', 'it''s', 'back\\slash', E'new\\nline', E'tab\\tquote\\'', '"', 'ü€😀', U&'\\0041', E'\\\\', '\\\\\\'
SELECT B'', B'0101', X'1F', x'ab', b'1'
SELECT true, false, NULL, TRUE::text, NULL::int
SELECT N'national', char 'x', int '5', date '2020-01-01', timestamp '2020-01-01 00:00', timestamptz 'now', s.t 'x', bool 't', float8 '1.5', numeric(4, 2) '1.5'
SELECT -a, +a, - - a, -(-1), -(-a), - (+ 1), @ a, |/ 4, ||/ 8, ~ 1, -1::int, (-1)::int, -(1::int), - 1.5::text, (- 1.5)::text, -a::int, (-a)::int, -(a[1]), +1
SELECT a + b, a - b, a * b, a / b, a % b, a ^ b, a || b, a & b, a | b, a # b, a << b, a >> b, a -> b, a ->> 'c', a #> b, a #>> b, a @> b, a <@ b, a ? b, a ?| b, a ?& b, a ~ b, a ~* b, a !~ b, a !~* b, a ~~ b, a @@ b, a && b, a -|- b, a <-> b
SELECT a + b + c, a + (b + c), a - b - c, a - (b - c), a * b + c, a * (b + c), (a + b) * c, a + b * c, a ^ b ^ c, a ^ (b ^ c), a || b || c, a || (b || c), a -> b -> c ->> d, a + b || c, (a || b) + c, a || b + c, a / b * c % d, a / (b * c)
SELECT a = b, a <> b, a != b, a < b, a > b, a <= b, a >= b, (a = b) = c, a = (b = c), a + 1 = b * 2, (a < b) <> (c > d), a || b = c || d, (a = b) || c
SELECT a - -1, a - (-1), a + -b, a - (-b), a * -1, a ^ -1, a = -1, -1 = a, a + (b), -a + b, -(a + b), (-a) ^ 2, -a ^ 2, -1 ^ 2, 2 ^ -1, a || -1
SELECT 1 OPERATOR(pg_catalog.+) 2, OPERATOR(pg_catalog.-) a, a OPERATOR("S".@@) b + c, (a OPERATOR(s.+) b) OPERATOR(s.*) c, a + (b OPERATOR(s.+) c), a OPERATOR(+) b
SELECT a AND b, a OR b, NOT a, a AND b AND c, a OR b OR c, a AND (b OR c), (a AND b) OR c, a OR b AND c, NOT (a AND b), NOT a AND b, NOT NOT a, a AND NOT b, (a OR b) AND (c OR d), a AND (b AND c), a OR (b OR c)
SELECT a = 1 AND b > 2 OR c IS NULL AND NOT d = 4, NOT a = b, (NOT a) = b, NOT (a IS NULL)
SELECT a IS NULL, a IS NOT NULL, a ISNULL, a NOTNULL, (a IS NULL) IS NOT NULL, a + 1 IS NULL, (a = 1) IS NULL, a = 1 IS NULL, (a, b) IS NULL, -1 IS NULL
SELECT a IS TRUE, a IS NOT TRUE, a IS FALSE, a IS NOT FALSE, a IS UNKNOWN, a IS NOT UNKNOWN, (a > b) IS TRUE, (NOT a) IS TRUE, NOT a IS TRUE, (a IS TRUE) IS FALSE
SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b, (a IS DISTINCT FROM b) IS DISTINCT FROM c, a IS DISTINCT FROM b + 1, a IS DISTINCT FROM (b = c), a IS DISTINCT FROM (b AND c)
SELECT NULLIF(a, b), NULLIF(a + 1, b OR c), NULLIF(a, b) + 1
SELECT a IN (1, 2), a NOT IN (1, 2), a IN (1), (a, b) IN ((1, 2), (3, 4)), a + 1 IN (b + 1), (a IN (1)) IN (true), a IN ((SELECT 1), 2), a IN ('x', NULL, $1), NOT a IN (1)
SELECT a IN (SELECT 1), a NOT IN (SELECT 1), (a, b) IN (SELECT 1, 2), ROW(a) IN (SELECT 1), (a IN (SELECT 1)) IS TRUE, a + 1 IN (SELECT 1), a IN (VALUES (1), (2)), a IN ((SELECT 1)), a IN ((SELECT 1) UNION (SELECT 2))
SELECT a = ANY (b), a <> ALL (b), a = ANY (ARRAY[1, 2]), a = SOME ('{1}'), a OPERATOR(pg_catalog.=) ANY ($1), a = ANY ((SELECT b)::int[]), a LIKE ANY (b), a NOT ILIKE ALL (b), a + 1 > ANY (b || c), (a = ANY (b)) = c
SELECT a = ANY (SELECT 1), a > ALL (SELECT 1), (a, b) = ANY (SELECT 1, 2), a LIKE ANY (SELECT 1), a OPERATOR(s.=) ALL (SELECT 1), a = SOME (VALUES (1))
SELECT EXISTS (SELECT 1), NOT EXISTS (SELECT 1), ARRAY(SELECT 1), (SELECT 1), (SELECT a FROM t ORDER BY a LIMIT 1), ARRAY(SELECT a FROM t ORDER BY a), EXISTS (WITH x AS (SELECT 1) TABLE x), (ARRAY(SELECT 1))[1], (SELECT 1) + 1, (SELECT 1)::text
SELECT a LIKE b, a NOT LIKE b, a ILIKE b, a NOT ILIKE b, a LIKE b ESCAPE c, a NOT LIKE b ESCAPE '!', a ILIKE 'x' ESCAPE '', a NOT ILIKE b || c ESCAPE d || e, (a LIKE b) LIKE c, a LIKE (b LIKE c), a || b LIKE c, a LIKE like_escape(b, c), a LIKE pg_catalog.like_escape(b)
SELECT a SIMILAR TO b, a NOT SIMILAR TO b, a SIMILAR TO b ESCAPE c, a NOT SIMILAR TO b ESCAPE '!', a SIMILAR TO (b OR c)
SELECT a BETWEEN 1 AND 2, a NOT BETWEEN 1 AND 2, a BETWEEN SYMMETRIC 2 AND 1, a NOT BETWEEN SYMMETRIC b AND c, a BETWEEN b + 1 AND c * 2, a BETWEEN 1 AND 2 AND b, (a BETWEEN 1 AND 2) BETWEEN b AND c, a BETWEEN (b AND c) AND (d OR e), a + 1 BETWEEN -1 AND -2, NOT a BETWEEN 1 AND 2
SELECT f(), f(a), f(a, b), s.f(a), "F"(a), c.s.f(a), "left"(a, 1), "right"(a, 1), "substring"(a, b), count(*), count(DISTINCT a), count(DISTINCT (a, b)), count(ALL a), f(a => 1, b => 2), f(1, "C d" := 2), f(VARIADIC a), f(a, VARIADIC ARRAY[1]), f(a, VARIADIC b => c)
SELECT array_agg(a ORDER BY b), array_agg(DISTINCT a ORDER BY a DESC NULLS LAST), string_agg(a, ',' ORDER BY a, b), f(VARIADIC a ORDER BY b), percentile_cont(0.5) WITHIN GROUP (ORDER BY a), mode() WITHIN GROUP (ORDER BY a DESC), rank(1, 2) WITHIN GROUP (ORDER BY a, b), percentile_disc(ARRAY[0.1, 0.2]) WITHIN GROUP (ORDER BY a) FILTER (WHERE b)
SELECT count(*) FILTER (WHERE a > 1), sum(a) FILTER (WHERE b) OVER (ORDER BY c), sum(a) FILTER (WHERE b) OVER w, (count(*))::int, -count(*), f(g(h(1))) FROM t WINDOW w AS ()
SELECT extract(year FROM a), extract('epoch' FROM a - b), extract(timezone_hour FROM a), extract("Odd" FROM a), extract(second FROM interval '1' second), extract(year FROM a) + 1, extract(isodow FROM (SELECT a)), extract(julian FROM a)
SELECT substring(a FROM 1), substring(a FROM 1 FOR 2), substring(a FOR 2), substring(a FROM '#"%' FOR '#'), substring(a SIMILAR b ESCAPE c), substring(a, 1, 2), substring(a || b FROM c + 1), substring(a FROM 2 FOR length(a) - 1)
SELECT position('a' IN b), position(a || b IN c || d), position((a IN (1)) IN b), "position"(a, b), pg_catalog.position(a, b)
SELECT overlay(a PLACING b FROM 1), overlay(a PLACING b FROM 1 FOR 2), overlay(a || 'x' PLACING b FROM c + 1 FOR d), overlay(a, b, 1)
SELECT trim(a), trim(BOTH FROM a), trim(a, b), trim(LEADING a FROM b), trim(TRAILING FROM b), trim(TRAILING 'x' FROM b || c), trim(BOTH 'x' FROM b), trim(a FROM b), trim(LEADING FROM a, b), trim(a, b, c), ltrim(a), btrim(a, b), trim('x' || y FROM z)
SELECT normalize(a), normalize(a, NFC), normalize(a, NFKD), a IS NORMALIZED, a IS NOT NORMALIZED, a IS NFD NORMALIZED, a IS NOT NFKC NORMALIZED, a || b IS NORMALIZED, (a IS NORMALIZED) IS TRUE, "normalize"(a)
SELECT a AT TIME ZONE 'UTC', a AT TIME ZONE b || c, (a AT TIME ZONE 'x') AT TIME ZONE 'y', a + b AT TIME ZONE 'x', (a + b) AT TIME ZONE 'x', a::timestamp AT TIME ZONE 'x', (a AT TIME ZONE 'x')::date, timezone('x', a), a AT TIME ZONE (b AT TIME ZONE 'x'), -a AT TIME ZONE 'x'
SELECT a AT LOCAL, (a AT LOCAL)::text, SYSTEM_USER, pg_catalog.timezone('x', a)
SELECT (a, b) OVERLAPS (c, d), ROW(a, b) OVERLAPS ROW(c, d), (a + 1, b) OVERLAPS (c, d), ((a, b) OVERLAPS (c, d)) IS TRUE, NOT (a, b) OVERLAPS (c, d), "overlaps"(a, b, c, d)
SELECT COLLATION FOR (a), COLLATION FOR (a || b), COLLATION FOR ('x' COLLATE "C"), TREAT(a AS int)
SELECT a::int, a::int4, a::integer, a::pg_catalog.int4, CAST(a AS bigint), a::smallint, a::real, a::float, a::float(10), a::double precision, a::decimal, a::numeric, a::numeric(10), a::numeric(10, 2), a::dec(5), a::boolean, a::bool, a::text, a::name, a::"char", a::json, a::jsonb, a::xml, a::uuid
SELECT a::varchar, a::varchar(10), a::character varying, a::character varying(10), a::char, a::char(5), a::character, a::character(5), a::bpchar, a::bpchar(3), a::nchar(3), a::national character varying(3), a::pg_catalog.bpchar, a::bit, a::bit(3), a::bit varying, a::bit varying(5), a::varbit(4)
SELECT a::time, a::time(3), a::time with time zone, a::time(3) with time zone, a::time without time zone, a::timestamp, a::timestamp(3), a::timestamptz, a::timestamptz(3), a::timestamp with time zone, a::timestamp(3) with time zone, a::timetz, a::date, a::pg_catalog.timestamptz(2)
SELECT a::interval, a::interval(3), a::interval year, a::interval month, a::interval day, a::interval hour, a::interval minute, a::interval second, a::interval second(2), a::interval year to month, a::interval day to hour, a::interval day to minute, a::interval day to second, a::interval day to second(3), a::interval hour to minute, a::interval hour to second, a::interval hour to second(1), a::interval minute to second, a::interval minute to second(0)
SELECT interval '1 day', interval '1' year, interval '1-2' year to month, interval(2) '1 second', interval '1' second(3), interval '1' day to second(0), a::pg_catalog.interval(7), a::pg_catalog.interval, a::"interval", a::pg_catalog.interval(a, b)
SELECT a::int[], a::int[][], a::int[3], a::int[3][4], a::int ARRAY, a::int ARRAY[4], a::int[0], a::varchar(3)[], a::s.t[], a::interval day[], a::time(2) with time zone[], a::"T"[], a::"s s"."T t"(1, 'x')
SELECT a::int::text::json, (a + b)::int, a + b::int, (a AND b)::text, (a IS NULL)::int, (NOT a)::int, (a COLLATE "C")::text, (a::text) COLLATE "C", 'x'::text || 'y', ('x' || 'y')::text, (a LIKE b)::int, (a, b)::t, ROW(a, b)::s.t, ARRAY[]::int[], '{}'::int[], (a[1])::int, a[1]::int
SELECT a COLLATE "C", a COLLATE pg_catalog."C", a COLLATE "de-x-icu" < b, (a || b) COLLATE "C", a || b COLLATE "C", (a COLLATE "C") || b, a COLLATE "C" COLLATE "D", -a COLLATE "C" FROM t ORDER BY a COLLATE "C" DESC
SELECT CASE WHEN a THEN b END, CASE WHEN a THEN b WHEN c THEN d ELSE e END, CASE a WHEN 1 THEN 2 ELSE 3 END, CASE a + 1 WHEN b + 1 THEN c + 1 END, CASE WHEN a AND b THEN c OR d ELSE NOT e END, CASE CASE a WHEN 1 THEN 2 END WHEN 3 THEN 4 END, CASE WHEN a THEN 1 END + 1
SELECT COALESCE(a), COALESCE(a, b + 1, c OR d), GREATEST(a, b), LEAST(a, b, c), COALESCE(a, b)::int, GREATEST(1, 2) + 1
SELECT ARRAY[], ARRAY[1, 2], ARRAY[[1, 2], [3, 4]], ARRAY[ARRAY[1], ARRAY[2]], ARRAY[a + 1, b OR c], ARRAY[1] || ARRAY[2], ARRAY[[[]]], ARRAY[1]::text[]
SELECT ROW(), ROW(1), ROW(1, 2), (1, 2), ROW(a.*), (a.*, 1), ROW(ROW(1)), ((1, 2), 3), (1, 2) = (3, 4), (a, b) < (c, d), ROW(1) = ROW(2), (a, b) IS NOT NULL
SELECT current_date, current_time, current_time(2), current_timestamp, current_timestamp(0), current_timestamp(3), localtime, localtime(1), localtimestamp, localtimestamp(6), current_role, current_user, user, session_user, current_catalog, current_schema, current_schema(), current_date + 1
SELECT json_object('a': 1, b: c), json_object('a' VALUE 1), json_object(), json_object('{a,b}'), json_object('a': 1 NULL ON NULL), json_object('a': 1 ABSENT ON NULL WITH UNIQUE KEYS RETURNING jsonb), json_object(a || 'x': b::int), json_object('a': 1 WITHOUT UNIQUE), json_object('a': b FORMAT JSON RETURNING text FORMAT JSON), json_object('a': b FORMAT JSON ENCODING UTF8), json_object(RETURNING text)
SELECT json_array(1, 2), json_array(), json_array(1 NULL ON NULL), json_array(a FORMAT JSON ABSENT ON NULL RETURNING bytea FORMAT JSON ENCODING UTF8), json_array(SELECT a FROM t ORDER BY a), json_array(SELECT 1 RETURNING text), json_array(SELECT 1 FORMAT JSON), json_array(RETURNING jsonb), json_array(VALUES (1))
SELECT json_objectagg(a: b), json_objectagg(a VALUE b ABSENT ON NULL WITH UNIQUE KEYS RETURNING jsonb), json_objectagg(a: b) FILTER (WHERE c), json_objectagg(a: b) OVER (PARTITION BY c), json_arrayagg(a), json_arrayagg(a ORDER BY b DESC NULL ON NULL RETURNING text), json_arrayagg(a) FILTER (WHERE b) OVER w FROM t WINDOW w AS ()
SELECT a IS JSON, a IS NOT JSON, a IS JSON VALUE, a IS JSON OBJECT, a IS JSON ARRAY, a IS JSON SCALAR, a IS JSON WITH UNIQUE KEYS, a IS JSON OBJECT WITH UNIQUE, a || b IS JSON, (a IS JSON) IS TRUE
SELECT json('{}'), json('{}' WITH UNIQUE KEYS), json(a FORMAT JSON), json_scalar(1), json_serialize(a), json_serialize(a RETURNING bytea), json_serialize(a FORMAT JSON RETURNING text)
SELECT json_exists(a, '$.b'), json_exists(a, '$.b' PASSING 1 AS x, b + 1 AS "Y" TRUE ON ERROR), json_exists(a, '$' UNKNOWN ON ERROR), json_exists(a, '$' ERROR ON ERROR), json_exists(a, '$' FALSE ON ERROR)
SELECT json_value(a, '$.b'), json_value(a, '$.b' RETURNING int), json_value(a, '$.b' RETURNING int DEFAULT 1 + 1 ON EMPTY NULL ON ERROR), json_value(a, '$.b' ERROR ON EMPTY ERROR ON ERROR), json_value(a FORMAT JSON, b || c PASSING d FORMAT JSON AS e)
SELECT json_query(a, '$.b'), json_query(a, '$.b' WITH WRAPPER), json_query(a, '$.b' WITHOUT WRAPPER), json_query(a, '$.b' WITH CONDITIONAL WRAPPER), json_query(a, '$.b' KEEP QUOTES), json_query(a, '$.b' RETURNING text OMIT QUOTES ON SCALAR STRING EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR), json_query(a, '$' EMPTY ON EMPTY)
SELECT a FROM t WHERE a = 1 AND (b = 2 OR c IS NULL) AND d IN (1, 2) AND EXISTS (SELECT 1 FROM u WHERE u.x = t.a)
SELECT count(*)::float / nullif(sum(b), 0) AS "Ratio %" FROM t GROUP BY date_trunc('month', c) ORDER BY 1
SELECT x.* FROM (SELECT a, row_number() OVER (PARTITION BY b ORDER BY c DESC) AS n FROM t) AS x WHERE x.n <= 3
SELECT (SELECT max(a) FROM u WHERE u.id = t.id) AS m FROM t
SELECT "all", "end", "user", "current_date", "table"."column", "Case"."When", "name", "text", value, type, "interval", "row" FROM "order" AS "group"
SELECT 1 AS "all", 2 AS name, 3 AS "Name", 4 AS "over", 5 AS "filter", 6 AS "within", 7 AS "year", 8 AS "none"
SELECT "count"(*), "coalesce"(a), "grouping"(a), "row"(a), "json_object"(a), "nullif"(a, b), "cast"(a), "exists"(a), "extract"(a), "trim"(a), "values"(a), "overlay"(a), "current_user"()
SELECT a::interval AS year, b::time AS "with", c::double precision AS precision
SELECT * FROM t WHERE a = 'x' AND b = 'O''Brien' AND c = '%\\_%' AND d LIKE 'a\\%b'
SELECT 'a' FROM t WHERE /* comment */ a -- line
SELECT $tag$dollar '\\$tag$
SELECT a FROM t WHERE (a, b) > (SELECT 1, 2)
SELECT a FROM t WHERE (SELECT 1) = ANY (SELECT 2)
SELECT (a = b) IS NOT DISTINCT FROM (c = d), (a IS NULL) = (b IS NULL), a IS NULL = b IS NULL
SELECT a FROM t UNION ALL SELECT b FROM u UNION ALL SELECT c FROM v UNION ALL SELECT d FROM w ORDER BY a
SELECT a FROM ((SELECT 1 AS a UNION SELECT 2) INTERSECT (SELECT 2 EXCEPT SELECT 3)) AS s LIMIT 1
SELECT (SELECT 1 UNION SELECT 2 LIMIT 1), ARRAY(SELECT 1 UNION ALL SELECT 2), EXISTS (VALUES (1) UNION VALUES (2))
VALUES (1) UNION ALL VALUES (2), (3) EXCEPT SELECT 4
WITH a AS (VALUES (1)), b AS (SELECT * FROM a UNION SELECT 2) (SELECT * FROM b ORDER BY 1) UNION TABLE a ORDER BY 1 OFFSET 1
WITH RECURSIVE r AS ((SELECT 1 AS n LIMIT 1) UNION (SELECT n + 1 FROM r ORDER BY n LIMIT 3)) SELECT * FROM r
SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x ORDER BY 1 LIMIT 1) AS y
SELECT * FROM (a LEFT JOIN b ON a.x = b.x) CROSS JOIN LATERAL (SELECT a.x + b.x) AS l(s) JOIN LATERAL f(l.s) WITH ORDINALITY AS g(v, n) ON g.n = 1
SELECT * FROM a LEFT JOIN (b JOIN (c JOIN d USING (z)) USING (y)) USING (x) WHERE d.z IS NULL
SELECT * FROM generate_series(1, 10, 2) AS g(n), generate_series(g.n, 12) AS h
SELECT DISTINCT ON (x) x, y FROM t WHERE y ~ '^a' ORDER BY x, y DESC NULLS LAST LIMIT 3 OFFSET 1
SELECT count(*) FROM t GROUP BY CASE WHEN a > 1 THEN 'x' ELSE 'y' END, date_trunc('day', b), 3 HAVING bool_or(c) IS NOT TRUE
SELECT sum(a) FILTER (WHERE b > 1 AND c IN (SELECT 1)) OVER (PARTITION BY d ORDER BY e ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t
SELECT a -> 'b' ->> 'c', (a -> 'b') ->> 'c', a -> ('b' ->> 'c'), a #>> '{b,c}' = 'd', a @> '{"b": 1}'::jsonb AND a ? 'c'
SELECT now() - interval '1 month' < b AND c + 2 * interval '1' day > date '2020-01-01'
SELECT (a, b, c) IN (SELECT x, y, z FROM u), (a).b.c[1:2].d, (f(a)).b[1], (a.b).c
SELECT a::numeric(10, 2)::text || ' EUR', round(a::numeric, 2), -a::numeric, (a || b)::varchar(10), - (a ^ 2)::int
SELECT COALESCE(NULLIF(TRIM(BOTH FROM a), ''), b::text, 'n/a') AS "label", lower(c COLLATE "C") FROM t AS "T"
SELECT "ÀÉ", "a b", "a.b", "a""b", "$a", a$b, "1", _a, "_A", "é" FROM "my schema"."my table" AS "my alias"
SELECT 1 AS "ROW", 'x' AS "''", 2 AS "😀", 3 AS "?column?", 4 AS select_, 5 AS "Limit"
SELECT - (- 1), - (- a), + (- a), ~ ~ a, @ (- a), - (a - b), a - - b, !! a, a <-> - b
SELECT NOT (NOT a OR b) AND NOT (c AND NOT d), (NOT a) IS NULL, NOT (a IS NULL), (NOT a)::text, NOT (a::bool)
SELECT NOT (a IN (1, 2)), NOT (a BETWEEN 1 AND 2), NOT (a LIKE b), - (a IN (1))::int
`
  .split('\n')
  .filter((line) => line.trim() !== '');
