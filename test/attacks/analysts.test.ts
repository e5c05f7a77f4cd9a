/** Statements that analysts write, over tables of usual sizes: svc accepts each of them, and PostgreSQL runs it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA an',
  'CREATE TABLE an.customer (id bigint PRIMARY KEY, name text, email text, city text, country text, born date, joined timestamptz, profile jsonb, note text, boss_id bigint, code uuid)',
  'CREATE TABLE an.product (id bigint PRIMARY KEY, name text, category text, price numeric(12,2), description text, attrs jsonb, sku text)',
  'CREATE TABLE an.sale (id bigint PRIMARY KEY, customer_id bigint, product_id bigint, sold_at timestamptz, day date, amount numeric(12,2), qty int, channel text, coupon text, tags text, meta jsonb)',
  'CREATE TABLE an.event (id bigint PRIMARY KEY, customer_id bigint, at timestamptz, kind text, payload jsonb, url text, score float8, active boolean)',
  `INSERT INTO an.customer SELECT i, 'Name ' || i, 'user' || i || '@mail' || i % 7 || '.example', 'City ' || i % 13, (ARRAY['CH','DE','FR','IT'])[1 + i % 4],
     date '1960-01-01' + (i * 97 % 14000)::int, timestamptz '2019-01-01 00:00+00' + i * interval '7 hours', jsonb_build_object('lang', 'de', 'scores', jsonb_build_array(i, i + 1), 'address', jsonb_build_object('zip', lpad(i::text, 5, '0'))),
     repeat('Some text about customer ' || i || '. ', 20), CASE WHEN i > 1 THEN i / 2 END, ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid FROM generate_series(1, 300) i`,
  `INSERT INTO an.product SELECT i, 'Product ' || i, (ARRAY['toys','books','garden'])[1 + i % 3], i * 1.5, 'A product, with a long description; number ' || i, jsonb_build_object('color', 'red', 'sizes', jsonb_build_array('s','m')), 'AB-' || lpad(i::text, 4, '0') || '-X' FROM generate_series(1, 40) i`,
  `INSERT INTO an.sale SELECT i, 1 + i % 300, 1 + i % 40, timestamptz '2023-01-01 00:00+00' + i * interval '4 hours', date '2023-01-01' + (i / 6)::int, (i % 97) * 1.25, 1 + i % 5, (ARRAY['web','shop','phone'])[1 + i % 3],
     CASE WHEN i % 9 = 0 THEN 'SPRING' END, 'new, sale,' || i % 3, jsonb_build_object('device', 'mobile', 'lines', jsonb_build_array(jsonb_build_object('sku', 'a', 'n', i % 4))) FROM generate_series(1, 2000) i`,
  `INSERT INTO an.event SELECT i, 1 + i % 300, timestamptz '2023-06-01 00:00+00' + i * interval '11 minutes', (ARRAY['view','cart','buy'])[1 + i % 3], jsonb_build_object('page', i % 10), 'https://shop.example/p/' || i % 50 || '?ref=x&utm_source=mail', i % 100 / 7.0, i % 2 = 0 FROM generate_series(1, 2000) i`,
];

const MODEL = `
  CREATE CONCEPT customer (id bigint, name string, email string, city string, country string, born date, joined timestamptz, profile json, note string, boss_id bigint, code uuid, PRIMARY KEY (id), LABEL (name),
    CONSTRAINT reports_to FOREIGN KEY (boss_id) REFERENCES customer (id) INVERSEOF leads TRANSITIVE(5));
  CREATE CONCEPT product (id bigint, name string, category string, price decimal(12,2), description string, attrs json, sku string, PRIMARY KEY (id));
  CREATE CONCEPT sale (id bigint, customer_id bigint, product_id bigint, sold_at timestamptz, day date, amount decimal(12,2), qty int, channel string, coupon string, tags string, meta json, PRIMARY KEY (id),
    CONSTRAINT bought_by FOREIGN KEY (customer_id) REFERENCES customer (id) INVERSEOF bought, CONSTRAINT of_product FOREIGN KEY (product_id) REFERENCES product (id) INVERSEOF sold);
  CREATE CONCEPT event (id bigint, customer_id bigint, at timestamptz, kind string, payload json, url string, score double, active boolean, PRIMARY KEY (id),
    CONSTRAINT done_by FOREIGN KEY (customer_id) REFERENCES customer (id) INVERSEOF did);
  CREATE MAPPING m_customer INTO (customer) AS SELECT id, name, email, city, country, born, joined, profile, note, boss_id, code FROM an.customer;
  CREATE MAPPING m_product INTO (product) AS SELECT id, name, category, price, description, attrs, sku FROM an.product;
  CREATE MAPPING m_sale INTO (sale) AS SELECT id, customer_id, product_id, sold_at, day, amount, qty, channel, coupon, tags, meta FROM an.sale;
  CREATE MAPPING m_event INTO (event) AS SELECT id, customer_id, at, kind, payload, url, score, active FROM an.event;
`;

const list = (n: number, text: (i: number) => string, between = ', '): string => Array.from({ length: n }, (_, i) => text(i)).join(between);

const KINDS: Readonly<Record<string, readonly string[]>> = {
  windows: [
    'SELECT day, sum(amount) AS s, sum(sum(amount)) OVER (ORDER BY day) AS running FROM dsvc.sale GROUP BY day ORDER BY day',
    'SELECT day, avg(sum(amount)) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week FROM dsvc.sale GROUP BY day',
    `SELECT day, sum(amount), lag(sum(amount), 7) OVER (ORDER BY day) AS before, round(100.0 * (sum(amount) / nullif(lag(sum(amount), 7) OVER (ORDER BY day), 0) - 1), 1) AS growth FROM dsvc.sale GROUP BY day`,
    'SELECT customer_id, amount, rank() OVER (PARTITION BY customer_id ORDER BY amount DESC) AS r FROM dsvc.sale',
    'SELECT * FROM (SELECT s.*, row_number() OVER (PARTITION BY customer_id ORDER BY sold_at DESC) AS rn FROM dsvc.sale s) x WHERE rn = 1',
    'SELECT product_id, ntile(4) OVER (ORDER BY sum(amount)) AS quartile, cume_dist() OVER (ORDER BY sum(amount)) FROM dsvc.sale GROUP BY product_id',
    "SELECT amount, sum(amount) OVER w, avg(amount) OVER w, count(*) OVER w FROM dsvc.sale WINDOW w AS (PARTITION BY channel ORDER BY sold_at RANGE BETWEEN INTERVAL '7 days' PRECEDING AND CURRENT ROW)",
    'SELECT id, first_value(amount) OVER w AS first, last_value(amount) OVER w AS last, nth_value(amount, 2) OVER w FROM dsvc.sale WINDOW w AS (PARTITION BY customer_id ORDER BY sold_at ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)',
    'SELECT channel, 100.0 * sum(amount) / sum(sum(amount)) OVER () AS share FROM dsvc.sale GROUP BY channel',
    'SELECT kind, at - lag(at) OVER (PARTITION BY customer_id ORDER BY at) AS gap FROM dsvc.event',
    "SELECT customer_id, sum(is_new) OVER (PARTITION BY customer_id ORDER BY at) AS session FROM (SELECT customer_id, at, CASE WHEN at - lag(at) OVER (PARTITION BY customer_id ORDER BY at) > interval '30 minutes' THEN 1 ELSE 0 END AS is_new FROM dsvc.event) e",
    'SELECT day, amount, dense_rank() OVER (ORDER BY amount DESC NULLS LAST), percent_rank() OVER (ORDER BY amount) FROM dsvc.sale LIMIT 50',
    'SELECT id, max(amount) FILTER (WHERE coupon IS NOT NULL) OVER (PARTITION BY customer_id) FROM dsvc.sale',
    'SELECT id, sum(amount) OVER (ORDER BY sold_at GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM dsvc.sale',
  ],
  'common table expressions': [
    "WITH m AS (SELECT date_trunc('month', sold_at) AS month, sum(amount) AS total FROM dsvc.sale GROUP BY 1), g AS (SELECT month, total, lag(total) OVER (ORDER BY month) AS before FROM m) SELECT month, total, total - before AS diff FROM g ORDER BY month",
    "WITH firsts AS (SELECT customer_id, min(date_trunc('month', sold_at)) AS cohort FROM dsvc.sale GROUP BY 1) SELECT f.cohort, extract(year FROM age(date_trunc('month', s.sold_at), f.cohort)) * 12 + extract(month FROM age(date_trunc('month', s.sold_at), f.cohort)) AS months, count(DISTINCT s.customer_id) FROM dsvc.sale s JOIN firsts f USING (customer_id) GROUP BY 1, 2 ORDER BY 1, 2",
    "WITH r AS (SELECT customer_id, max(day) AS recent, count(*) AS frequency, sum(amount) AS monetary FROM dsvc.sale GROUP BY customer_id), s AS (SELECT *, ntile(5) OVER (ORDER BY recent) AS r, ntile(5) OVER (ORDER BY frequency) AS f, ntile(5) OVER (ORDER BY monetary) AS m FROM r) SELECT r || '-' || f || '-' || m AS segment, count(*) FROM s GROUP BY 1 ORDER BY 2 DESC",
    "WITH RECURSIVE calendar AS (SELECT date '2023-01-01' AS d UNION ALL SELECT (d + interval '1 day')::date FROM calendar WHERE d < date '2024-12-31') SELECT c.d, count(s.id) FROM calendar c LEFT JOIN dsvc.sale s ON s.day = c.d GROUP BY c.d ORDER BY c.d",
    "WITH RECURSIVE c(d, label) AS (SELECT date '2023-01-01', to_char(date '2023-01-01', 'YYYY-MM') UNION ALL SELECT d + 1, to_char(d + 1, 'YYYY-MM') FROM c WHERE d < '2023-12-31') SELECT label, count(*) FROM c GROUP BY label",
    'WITH RECURSIVE t AS (SELECT id, boss_id, name, 1 AS depth, ARRAY[id] AS path FROM dsvc.customer WHERE boss_id IS NULL UNION ALL SELECT c.id, c.boss_id, c.name, t.depth + 1, t.path || c.id FROM dsvc.customer c JOIN t ON c.boss_id = t.id WHERE t.depth < 20) SELECT depth, count(*), max(array_length(path, 1)) FROM t GROUP BY depth',
    "WITH RECURSIVE t AS (SELECT id, name::text AS trail FROM dsvc.customer WHERE boss_id IS NULL UNION ALL SELECT c.id, t.trail || ' > ' || c.name FROM dsvc.customer c JOIN t ON c.boss_id = t.id) SELECT trail FROM t WHERE trail LIKE '%Name 1%' ORDER BY trail",
    'WITH RECURSIVE t(n, a, b) AS (VALUES (1, 0::numeric, 1::numeric) UNION ALL SELECT n + 1, b, a + b FROM t WHERE n < 60) SELECT n, a FROM t',
    "WITH RECURSIVE w AS (SELECT 1 AS i, tags AS rest, NULL::text AS word FROM dsvc.sale WHERE id = 1 UNION ALL SELECT i + 1, substr(rest, position(',' IN rest) + 1), split_part(rest, ',', 1) FROM w WHERE position(',' IN rest) > 0 AND i < 50) SELECT word FROM w",
    'WITH big AS MATERIALIZED (SELECT customer_id, sum(amount) AS s FROM dsvc.sale GROUP BY 1) SELECT a.customer_id, b.customer_id AS other FROM big a JOIN big b ON a.s = b.s AND a.customer_id < b.customer_id',
    "WITH x AS (SELECT name, regexp_split_to_table(note, '\\s+') AS word FROM dsvc.customer) SELECT lower(word) AS word, count(*) FROM x WHERE length(word) > 3 GROUP BY 1 ORDER BY 2 DESC LIMIT 20",
    'WITH a AS (SELECT 1 AS k, avg(amount) AS mean, stddev_samp(amount) AS sd FROM dsvc.sale) SELECT s.id, (s.amount - a.mean) / nullif(a.sd, 0) AS z FROM dsvc.sale s CROSS JOIN a WHERE abs((s.amount - a.mean) / nullif(a.sd, 0)) > 1.5',
  ],
  'regular expressions and texts': [
    `SELECT split_part(email, '@', 2) AS domain, count(*) FROM dsvc.customer GROUP BY 1 ORDER BY 2 DESC`,
    `SELECT regexp_replace(email, '^(.).*(@.*)$', '\\1***\\2') AS hidden FROM dsvc.customer`,
    `SELECT substring(url FROM 'utm_source=([^&]+)') AS source, count(*) FROM dsvc.event GROUP BY 1`,
    `SELECT (regexp_match(sku, '^([A-Z]+)-(\\d+)-'))[2]::int AS number FROM dsvc.product`,
    `SELECT name FROM dsvc.customer WHERE email !~* '^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,}$'`,
    `SELECT m[1] AS word FROM dsvc.customer c CROSS JOIN LATERAL regexp_matches(c.note, '\\m(\\w{5,})\\M', 'g') AS m WHERE c.id < 10`,
    `SELECT name FROM dsvc.customer WHERE note LIKE '%customer 1%' AND note NOT LIKE '%99%' OR note ILIKE '%TEXT ABOUT%'`,
    `SELECT id FROM dsvc.customer WHERE note LIKE ANY (ARRAY['%customer 7.%', '%customer 8.%', '%x%y%z%'])`,
    `SELECT name FROM dsvc.customer WHERE name SIMILAR TO '%(1|2|3)_%'`,
    `SELECT name, position('9' IN name), strpos(note, 'about'), left(note, 20) || '...' AS short FROM dsvc.customer`,
    `SELECT initcap(lower(trim(both ' ' FROM name))) AS n, lpad(id::text, 8, '0') AS number, upper(left(country, 1)) || lower(substr(country, 2)) FROM dsvc.customer`,
    `SELECT translate(lower(name), 'äöüéè', 'aouee') AS plain FROM dsvc.customer`,
    `SELECT replace(replace(replace(replace(note, '.', ''), ',', ''), ';', ''), '  ', ' ') AS clean FROM dsvc.customer`,
    `SELECT array_to_string(array_agg(DISTINCT upper(left(w, 1)) || substr(w, 2)), ' ') FROM dsvc.customer c, unnest(string_to_array(c.name, ' ')) AS w GROUP BY c.id`,
    `SELECT concat_ws(', ', name, city, country) AS address, format('%s <%s>', name, email) AS recipient FROM dsvc.customer`,
    `SELECT length(note) - length(replace(note, 'customer', '')) AS n FROM dsvc.customer`,
    `SELECT DISTINCT trim(t) AS tag FROM dsvc.sale, regexp_split_to_table(tags, ',') AS t`,
    `SELECT md5(lower(email)) AS gravatar, encode(sha256(convert_to(email, 'UTF8')), 'hex') AS hash FROM dsvc.customer`,
    `SELECT reverse(split_part(reverse(url), '/', 1)) AS last, rtrim(ltrim(url, 'htps:/'), '/') FROM dsvc.event`,
    `SELECT count(*) FROM dsvc.product WHERE description ~ 'long.*number \\d+$' AND lower(description) LIKE '%' || lower(category) || '%' OR strpos(description, name) > 0`,
    `SELECT p.name, count(c.id) FROM dsvc.product p LEFT JOIN dsvc.customer c ON c.note ILIKE '%' || p.name || '%' GROUP BY p.name`,
    `SELECT regexp_count(note, 'text') AS n, regexp_substr(note, '\\d+') AS d FROM dsvc.customer WHERE regexp_like(note, 'ABOUT', 'i')`,
  ],
  JSON: [
    `SELECT profile ->> 'lang' AS lang, avg((profile -> 'scores' ->> 0)::int) FROM dsvc.customer GROUP BY 1`,
    `SELECT name, profile #>> '{address,zip}' AS zip FROM dsvc.customer WHERE profile @> '{"lang":"de"}'`,
    `SELECT s.id, l ->> 'sku' AS sku, (l ->> 'n')::int AS n FROM dsvc.sale s, jsonb_array_elements(s.meta -> 'lines') AS l`,
    `SELECT jsonb_build_object('id', id, 'name', name, 'address', jsonb_build_object('city', city, 'country', country)) AS doc FROM dsvc.customer`,
    `SELECT country, jsonb_agg(jsonb_build_object('name', name, 'email', email) ORDER BY name) AS people FROM dsvc.customer GROUP BY country`,
    `SELECT customer_id, jsonb_object_agg(channel, total) FROM (SELECT customer_id, channel, sum(amount) AS total FROM dsvc.sale GROUP BY 1, 2) x GROUP BY customer_id`,
    `SELECT c.name, (SELECT json_agg(json_build_object('day', s.day, 'amount', s.amount)) FROM dsvc.sale s WHERE s.customer_id = c.id) AS sales FROM dsvc.customer c LIMIT 20`,
    `SELECT to_jsonb(c) - 'note' - 'profile' || jsonb_build_object('age', extract(year FROM age(born))) AS j FROM dsvc.customer c`,
    `SELECT k AS key, count(*) FROM dsvc.customer, jsonb_object_keys(profile) AS k GROUP BY k`,
    `SELECT jsonb_path_query_array(meta, '$.lines[*].sku') AS skus, jsonb_path_exists(meta, '$.lines[*] ? (@.n > 2)') AS many FROM dsvc.sale`,
    `SELECT id, jsonb_set(profile, '{address,zip}', '"00000"') || '{"checked":true}' AS p FROM dsvc.customer`,
    `SELECT x.page, count(*) FROM dsvc.event e, jsonb_to_record(e.payload) AS x(page int) GROUP BY x.page`,
    `SELECT json_build_object('rows', json_agg(t)) FROM (SELECT category, count(*) AS n, avg(price) AS mean FROM dsvc.product GROUP BY category) t`,
    `SELECT jsonb_pretty(jsonb_agg(attrs)) FROM dsvc.product WHERE attrs ? 'color'`,
    `SELECT jsonb_array_length(meta -> 'lines') AS n, meta -> 'lines' -> -1 ->> 'sku' FROM dsvc.sale WHERE jsonb_typeof(meta -> 'lines') = 'array'`,
    `SELECT row_to_json(r) FROM (SELECT id, name, ARRAY(SELECT amount FROM dsvc.sale s WHERE s.customer_id = c.id ORDER BY amount DESC LIMIT 3) AS top FROM dsvc.customer c) r`,
  ],
  'aggregates and grouping': [
    `SELECT category, percentile_cont(0.5) WITHIN GROUP (ORDER BY price) AS median, percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY price) AS quartiles, mode() WITHIN GROUP (ORDER BY price) FROM dsvc.product GROUP BY category`,
    `SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY amount) FROM dsvc.sale`,
    `SELECT country, string_agg(DISTINCT city, ', ' ORDER BY city) AS cities, array_agg(name ORDER BY name) AS names FROM dsvc.customer GROUP BY country`,
    `SELECT string_agg(name || ' (' || coalesce(email, '-') || ')', E'\\n' ORDER BY id) FROM dsvc.customer`,
    `SELECT channel, country, sum(amount), grouping(channel, country) FROM (SELECT channel, amount, "bought_by[customer].country" AS country FROM dsvc.sale) x GROUP BY GROUPING SETS ((channel), (country), (channel, country), ())`,
    `SELECT extract(year FROM day) AS y, extract(quarter FROM day) AS q, sum(amount) FROM dsvc.sale GROUP BY ROLLUP (1, 2)`,
    `SELECT channel, coupon, count(*) FROM dsvc.sale GROUP BY CUBE (channel, coupon) HAVING count(*) > 1`,
    `SELECT count(*) FILTER (WHERE channel = 'web') AS web, count(*) FILTER (WHERE channel = 'shop') AS shop, sum(amount) FILTER (WHERE coupon IS NULL) FROM dsvc.sale`,
    `SELECT day, sum(CASE channel WHEN 'web' THEN amount ELSE 0 END) AS web, sum(CASE channel WHEN 'shop' THEN amount ELSE 0 END) AS shop FROM dsvc.sale GROUP BY day`,
    `SELECT corr(qty, amount), regr_slope(amount, qty), regr_r2(amount, qty), covar_samp(qty, amount), var_pop(amount) FROM dsvc.sale`,
    `SELECT width_bucket(amount, 0, 125, 10) AS bucket, count(*), min(amount), max(amount), repeat('#', count(*)::int / 10) AS bar FROM dsvc.sale GROUP BY 1 ORDER BY 1`,
    `SELECT count(DISTINCT (customer_id, product_id)) AS pairs, count(DISTINCT customer_id) FROM dsvc.sale`,
    `SELECT bool_or(active), bool_and(active), every(score > 0), min(score), max(score), round(avg(score)::numeric, 2) FROM dsvc.event`,
    `SELECT DISTINCT ON (customer_id) customer_id, amount, sold_at FROM dsvc.sale ORDER BY customer_id, sold_at DESC`,
    `SELECT product_id, sum(amount) AS s FROM dsvc.sale GROUP BY product_id HAVING sum(amount) > (SELECT avg(s) FROM (SELECT sum(amount) AS s FROM dsvc.sale GROUP BY product_id) x) ORDER BY s DESC`,
    `SELECT exp(avg(ln(amount))) AS geometric, sqrt(avg(power(amount, 2))) AS quadratic FROM dsvc.sale WHERE amount > 0`,
    `SELECT array_agg(DISTINCT channel) @> ARRAY['web'] AS has_web, cardinality(array_agg(id)), (array_agg(amount ORDER BY sold_at DESC))[1:3] FROM dsvc.sale GROUP BY customer_id`,
    `SELECT "country", SUM("bought[sale].amount") AS total, COUNT(DISTINCT "bought[sale].of_product[product].category") FROM dsvc.customer GROUP BY country`,
  ],
  'days and series': [
    `SELECT d::date AS day, coalesce(sum(s.amount), 0) FROM generate_series(date '2023-01-01', date '2023-12-31', interval '1 day') AS d LEFT JOIN dsvc.sale s ON s.day = d::date GROUP BY d ORDER BY d`,
    `SELECT h.hour, count(e.id) FROM generate_series(0, 23) AS h(hour) LEFT JOIN dsvc.event e ON extract(hour FROM e.at) = h.hour GROUP BY h.hour ORDER BY 1`,
    `SELECT date_trunc('week', sold_at)::date AS week, to_char(sold_at, 'IYYY-IW') AS label, count(*) FROM dsvc.sale GROUP BY 1, 2`,
    `SELECT date_bin('15 minutes', at, timestamptz '2023-01-01') AS slot, count(*) FROM dsvc.event GROUP BY 1 ORDER BY 1`,
    `SELECT name, age(born), extract(year FROM age(current_date, born))::int AS years, (date_trunc('year', born) + interval '1 year - 1 day')::date FROM dsvc.customer`,
    `SELECT to_char(day, 'Day DD Mon YYYY') AS text, extract(isodow FROM day) AS dow, day - date_trunc('month', day)::date AS nth FROM dsvc.sale`,
    `SELECT count(*) FROM dsvc.sale WHERE sold_at >= now() - interval '90 days' OR sold_at BETWEEN '2023-02-01' AND timestamptz '2023-02-28 23:59:59+00'`,
    `SELECT (sold_at AT TIME ZONE 'Europe/Zurich')::date AS local, sum(amount) FROM dsvc.sale GROUP BY 1`,
    `SELECT a.id FROM dsvc.event a JOIN dsvc.event b ON (a.at, a.at + interval '5 minutes') OVERLAPS (b.at, b.at + interval '5 minutes') AND a.id < b.id LIMIT 10`,
    `SELECT m.month, (SELECT count(DISTINCT s.customer_id) FROM dsvc.sale s WHERE s.sold_at >= m.month AND s.sold_at < m.month + interval '1 month') AS active FROM generate_series(timestamptz '2023-01-01', timestamptz '2023-12-01', interval '1 month') AS m(month)`,
    `SELECT count(*) FROM generate_series(1, 1000000) AS g(i) WHERE i % 7 = 0`,
    `SELECT d.day, p.category, coalesce(sum(s.amount), 0) FROM generate_series(0, 30) AS n(i) CROSS JOIN LATERAL (SELECT date '2023-01-01' + n.i AS day) d CROSS JOIN (SELECT DISTINCT category FROM dsvc.product) p LEFT JOIN (SELECT day, amount, "of_product[product].category" AS category FROM dsvc.sale) s ON s.day = d.day AND s.category = p.category GROUP BY 1, 2`,
    `SELECT justify_interval(sum(at - date_trunc('day', at))) AS total, make_date(2023, 5, 1) + make_interval(days => 3) FROM dsvc.event`,
    `SELECT tstzrange(min(sold_at), max(sold_at)) && tstzrange('2023-03-01', '2023-04-01') AS overlaps, upper(daterange(min(day), max(day), '[]')) FROM dsvc.sale GROUP BY customer_id`,
  ],
  'joins and sub-queries': [
    'SELECT a.customer_id, a.product_id, b.product_id AS with_product, count(*) FROM dsvc.sale a JOIN dsvc.sale b ON a.customer_id = b.customer_id AND a.product_id < b.product_id GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 20',
    'SELECT c.name, x.day, x.amount FROM dsvc.customer c CROSS JOIN LATERAL (SELECT day, amount FROM dsvc.sale s WHERE s.customer_id = c.id ORDER BY amount DESC LIMIT 3) x',
    'SELECT c.name FROM dsvc.customer c WHERE NOT EXISTS (SELECT 1 FROM dsvc.sale s WHERE s.customer_id = c.id AND s.amount > 100)',
    "SELECT name FROM dsvc.customer WHERE id IN (SELECT customer_id FROM dsvc.sale GROUP BY customer_id HAVING count(*) > 5) AND country NOT IN ('CH', 'FR')",
    'SELECT s.id, s."bought_by[customer].name", s."of_product[product].name", s."bought_by[customer].reports_to[customer].name" FROM dsvc.sale s ORDER BY s.id LIMIT 100',
    'SELECT c.name, s.n, s.total FROM dsvc.customer c LEFT JOIN (SELECT customer_id, count(*) AS n, sum(amount) AS total FROM dsvc.sale GROUP BY customer_id) s ON s.customer_id = c.id WHERE coalesce(s.n, 0) < 5 ORDER BY s.total DESC NULLS LAST',
    "SELECT e1.customer_id, min(e3.at - e1.at) FROM dsvc.event e1 JOIN dsvc.event e2 ON e2.customer_id = e1.customer_id AND e2.kind = 'cart' AND e2.at > e1.at JOIN dsvc.event e3 ON e3.customer_id = e2.customer_id AND e3.kind = 'buy' AND e3.at > e2.at WHERE e1.kind = 'view' GROUP BY e1.customer_id",
    "SELECT kind, id FROM dsvc.event WHERE active UNION ALL SELECT channel, id FROM dsvc.sale WHERE qty > 3 EXCEPT SELECT 'x', 1 ORDER BY 2 LIMIT 100",
    'SELECT customer_id FROM dsvc.sale INTERSECT SELECT customer_id FROM dsvc.event',
    'SELECT a.name, b.name AS similar FROM dsvc.customer a JOIN dsvc.customer b ON lower(a.name) = lower(b.name) AND a.id <> b.id',
    'SELECT a.id, b.id AS other FROM dsvc.customer a JOIN dsvc.customer b ON a.city = b.city AND a.born BETWEEN b.born - 30 AND b.born + 30 AND a.id < b.id',
    "SELECT v.label, count(s.id) FROM (VALUES (0, 10, 'small'), (10, 50, 'middle'), (50, 1000, 'large')) AS v(low, high, label) LEFT JOIN dsvc.sale s ON s.amount >= v.low AND s.amount < v.high GROUP BY v.label",
    'SELECT (SELECT max(amount) FROM dsvc.sale) AS most, (SELECT name FROM dsvc.customer ORDER BY joined LIMIT 1) AS first, (SELECT count(*) FROM dsvc.event WHERE active) AS n',
    "SELECT name, CASE WHEN total > 500 THEN 'A' WHEN total > 100 THEN 'B' ELSE 'C' END AS class FROM (SELECT name, sum(\"bought[sale].amount\") AS total FROM dsvc.customer GROUP BY name) t ORDER BY 2, 1",
    'SELECT s.id, s.amount FROM dsvc.sale s WHERE s.amount > ALL (SELECT amount FROM dsvc.sale o WHERE o.customer_id = s.customer_id AND o.id <> s.id)',
    'SELECT count(*) FROM dsvc.sale a, dsvc.product b WHERE a.product_id = b.id AND b.price * a.qty <> a.amount AND a.amount % 2 = 0',
  ],
  arrays: [
    `SELECT u.tag, count(*) FROM dsvc.sale s, unnest(string_to_array(s.tags, ',')) WITH ORDINALITY AS u(tag, n) WHERE u.n = 1 GROUP BY u.tag`,
    `SELECT customer_id, array_agg(product_id ORDER BY product_id) && ARRAY[1, 2, 3]::bigint[] AS any, array_agg(product_id) @> ARRAY[1]::bigint[] AS has FROM dsvc.sale GROUP BY customer_id`,
    `SELECT array_remove(array_agg(DISTINCT coupon), NULL) AS coupons, array_length(array_agg(id), 1) FROM dsvc.sale GROUP BY channel`,
    `SELECT id FROM dsvc.sale WHERE 'sale' = ANY (string_to_array(replace(tags, ' ', ''), ',')) AND product_id = ANY (ARRAY[1, 5, 9])`,
    `SELECT array_to_string(ARRAY[name, city, NULL, country], '|', '-') AS line, ARRAY[1, 2] || id::int AS more FROM dsvc.customer`,
    `SELECT array_position(ARRAY['view','cart','buy'], kind) AS step, count(*) FROM dsvc.event GROUP BY 1 ORDER BY 1`,
    `SELECT a.customer_id, b.customer_id AS other, cardinality(ARRAY(SELECT unnest(a.p) INTERSECT SELECT unnest(b.p))) AS common FROM (SELECT customer_id, array_agg(DISTINCT product_id) AS p FROM dsvc.sale GROUP BY 1) a JOIN (SELECT customer_id, array_agg(DISTINCT product_id) AS p FROM dsvc.sale GROUP BY 1) b ON a.customer_id < b.customer_id AND a.p && b.p LIMIT 50`,
    `SELECT s.i, (ARRAY['a','b','c'])[s.i] FROM generate_subscripts(ARRAY['a','b','c'], 1) AS s(i)`,
  ],
  'conversions and numbers': [
    `SELECT to_char(sum(amount), 'FM999G999G990D00') AS total, round(avg(amount), 2)::text || ' CHF' FROM dsvc.sale`,
    `SELECT sum(amount)::float8 / nullif(count(*), 0), trunc((random() * 0 + 10.567)::numeric, 1), mod(id, 7), div(id::numeric, 3), ceil(avg(amount)), sign(min(amount)) FROM dsvc.sale GROUP BY id LIMIT 5`,
    `SELECT id, amount * 1.077 AS gross, round(amount * 7.7 / 107.7, 2) AS vat, amount::int, floor(amount / 10) * 10 AS tens FROM dsvc.sale`,
    `SELECT sum(amount * power(0.9, (date '2024-01-01' - day) / 30.0)) FROM dsvc.sale`,
    `SELECT CAST(code AS text), code = '00000000-0000-4000-8000-000000000001'::uuid, left(code::text, 8) FROM dsvc.customer`,
    `SELECT to_date(to_char(day, 'YYYYMM') || '01', 'YYYYMMDD') AS first, to_number('1,234.5', '9G999D9'), to_timestamp(1700000000) FROM dsvc.sale LIMIT 1`,
    `SELECT 6371 * acos(least(1, cos(radians(score)) * cos(radians(47)) * cos(radians(8) - radians(score)) + sin(radians(score)) * sin(radians(47)))) AS km FROM dsvc.event`,
    `SELECT coalesce(nullif(trim(coupon), ''), 'none') AS coupon, greatest(amount, 10, qty), least(qty, 3) FROM dsvc.sale`,
  ],
  'cohorts, funnels and pivots': [
    'SELECT product_id, sum(amount) FILTER (WHERE extract(month FROM day)=1) AS m1, sum(amount) FILTER (WHERE extract(month FROM day)=2) AS m2, sum(amount) FILTER (WHERE extract(month FROM day)=3) AS m3, sum(amount) FILTER (WHERE extract(month FROM day)=4) AS m4, sum(amount) FILTER (WHERE extract(month FROM day)=5) AS m5, sum(amount) FILTER (WHERE extract(month FROM day)=6) AS m6, sum(amount) FILTER (WHERE extract(month FROM day)=7) AS m7, sum(amount) FILTER (WHERE extract(month FROM day)=8) AS m8, sum(amount) FILTER (WHERE extract(month FROM day)=9) AS m9, sum(amount) FILTER (WHERE extract(month FROM day)=10) AS m10, sum(amount) FILTER (WHERE extract(month FROM day)=11) AS m11, sum(amount) FILTER (WHERE extract(month FROM day)=12) AS m12, sum(amount) AS total FROM dsvc.sale GROUP BY product_id',
    `SELECT c.id${list(8, (i) => `, s${i}.t AS t${i}`, '')} FROM dsvc.customer c ${list(8, (i) => `LEFT JOIN (SELECT customer_id, sum(amount) AS t FROM dsvc.sale WHERE channel = 'c${i}' GROUP BY 1) s${i} ON s${i}.customer_id = c.id`, ' ')}`,
    "WITH firsts AS (SELECT customer_id, min(date_trunc('month',sold_at)) AS cohort FROM dsvc.sale GROUP BY 1), act AS (SELECT DISTINCT s.customer_id, f.cohort, (extract(year FROM s.sold_at)-extract(year FROM f.cohort))*12+extract(month FROM s.sold_at)-extract(month FROM f.cohort) AS m FROM dsvc.sale s JOIN firsts f USING(customer_id)), sizes AS (SELECT cohort, count(*) AS n FROM firsts GROUP BY 1) SELECT a.cohort::date, z.n, round(100.0*count(*) FILTER (WHERE m=0)/z.n,1) AS m0, round(100.0*count(*) FILTER (WHERE m=1)/z.n,1) AS m1, round(100.0*count(*) FILTER (WHERE m=2)/z.n,1) AS m2, round(100.0*count(*) FILTER (WHERE m=3)/z.n,1) AS m3, round(100.0*count(*) FILTER (WHERE m=4)/z.n,1) AS m4, round(100.0*count(*) FILTER (WHERE m=5)/z.n,1) AS m5, round(100.0*count(*) FILTER (WHERE m=6)/z.n,1) AS m6, round(100.0*count(*) FILTER (WHERE m=7)/z.n,1) AS m7, round(100.0*count(*) FILTER (WHERE m=8)/z.n,1) AS m8, round(100.0*count(*) FILTER (WHERE m=9)/z.n,1) AS m9, round(100.0*count(*) FILTER (WHERE m=10)/z.n,1) AS m10, round(100.0*count(*) FILTER (WHERE m=11)/z.n,1) AS m11 FROM act a JOIN sizes z USING(cohort) GROUP BY a.cohort, z.n ORDER BY 1",
    "WITH steps AS (SELECT customer_id, min(at) FILTER (WHERE kind='view') AS v, min(at) FILTER (WHERE kind='cart') AS c, min(at) FILTER (WHERE kind='buy') AS b FROM dsvc.event GROUP BY 1) SELECT count(v) AS views, count(*) FILTER (WHERE c>v) AS carts, count(*) FILTER (WHERE b>c AND c>v) AS buys, round(100.0*count(*) FILTER (WHERE b>c AND c>v)/nullif(count(v),0),2) AS conv FROM steps",
    "WITH m AS (SELECT DISTINCT customer_id, date_trunc('month',sold_at) AS mo FROM dsvc.sale) SELECT a.mo, count(*) AS active, count(b.customer_id) AS retained, 1-count(b.customer_id)::float/count(*) AS churn FROM m a LEFT JOIN m b ON b.customer_id=a.customer_id AND b.mo=a.mo+interval '1 month' GROUP BY 1 ORDER BY 1",
    "WITH rfm AS (SELECT customer_id, current_date-max(day) AS r, count(*) AS f, sum(amount) AS m FROM dsvc.sale GROUP BY 1), scored AS (SELECT *, 6-ntile(5) OVER (ORDER BY r) AS rs, ntile(5) OVER (ORDER BY f) AS fs, ntile(5) OVER (ORDER BY m) AS ms FROM rfm) SELECT CASE WHEN rs>=4 AND fs>=4 THEN 'champions' WHEN rs>=3 AND fs>=3 THEN 'loyal' WHEN rs>=4 AND fs<=1 THEN 'new' WHEN rs<=2 AND fs>=3 THEN 'at risk' ELSE 'other' END AS seg, count(*), avg(m)::numeric(10,2) FROM scored GROUP BY 1",
    "SELECT v.metric, v.value FROM (SELECT sum(amount) AS total, avg(amount) AS mean, max(amount) AS top FROM dsvc.sale) s CROSS JOIN LATERAL (VALUES ('total', s.total),('mean', s.mean),('top', s.top)) v(metric, value)",
    `SELECT customer_id, ${list(53, (i) => `sum(CASE WHEN extract(week FROM day) = ${i + 1} THEN amount ELSE 0 END) AS w${i + 1}`)} FROM dsvc.sale GROUP BY customer_id`,
    "SELECT country, sum(s.amount) FILTER (WHERE s.channel='web') AS web, count(*) FILTER (WHERE s.channel='web') AS n_web, round(100.0*count(*) FILTER (WHERE s.channel='web')/count(*),1) AS p_web, sum(s.amount) FILTER (WHERE s.channel='shop') AS shop, count(*) FILTER (WHERE s.channel='shop') AS n_shop, round(100.0*count(*) FILTER (WHERE s.channel='shop')/count(*),1) AS p_shop, sum(s.amount) FILTER (WHERE s.channel='phone') AS phone, count(*) FILTER (WHERE s.channel='phone') AS n_phone, round(100.0*count(*) FILTER (WHERE s.channel='phone')/count(*),1) AS p_phone FROM dsvc.sale s JOIN dsvc.customer c ON c.id=s.customer_id GROUP BY country",
    'WITH q0 AS (SELECT id, amount AS v FROM dsvc.sale), q1 AS (SELECT id, v*1.1 AS v FROM q0 WHERE v > 1), q2 AS (SELECT id, v*1.1 AS v FROM q1 WHERE v > 2), q3 AS (SELECT id, v*1.1 AS v FROM q2 WHERE v > 3), q4 AS (SELECT id, v*1.1 AS v FROM q3 WHERE v > 4), q5 AS (SELECT id, v*1.1 AS v FROM q4 WHERE v > 5), q6 AS (SELECT id, v*1.1 AS v FROM q5 WHERE v > 6), q7 AS (SELECT id, v*1.1 AS v FROM q6 WHERE v > 7), q8 AS (SELECT id, v*1.1 AS v FROM q7 WHERE v > 8), q9 AS (SELECT id, v*1.1 AS v FROM q8 WHERE v > 9), q10 AS (SELECT id, v*1.1 AS v FROM q9 WHERE v > 10), q11 AS (SELECT id, v*1.1 AS v FROM q10 WHERE v > 11), q12 AS (SELECT id, v*1.1 AS v FROM q11 WHERE v > 12), q13 AS (SELECT id, v*1.1 AS v FROM q12 WHERE v > 13), q14 AS (SELECT id, v*1.1 AS v FROM q13 WHERE v > 14) SELECT * FROM q14',
  ],
  'gaps, hierarchies and tops': [
    'SELECT customer_id, min(day) AS from_day, max(day) AS to_day, count(*) AS len FROM (SELECT customer_id, day, day-(row_number() OVER (PARTITION BY customer_id ORDER BY day))::int AS g FROM (SELECT DISTINCT customer_id, day FROM dsvc.sale) d) x GROUP BY customer_id, g HAVING count(*)>1',
    'SELECT id+1 AS gap_from, next-1 AS gap_to FROM (SELECT id, lead(id) OVER (ORDER BY id) AS next FROM dsvc.sale) x WHERE next-id>1',
    "WITH e AS (SELECT *, sum(CASE WHEN gap>interval '30 minutes' OR gap IS NULL THEN 1 ELSE 0 END) OVER (PARTITION BY customer_id ORDER BY at) AS sid FROM (SELECT *, at-lag(at) OVER (PARTITION BY customer_id ORDER BY at) AS gap FROM dsvc.event) y) SELECT customer_id, sid, min(at), max(at)-min(at) AS dur, count(*), array_agg(kind ORDER BY at) FROM e GROUP BY 1,2",
    'SELECT range_agg(daterange(day, day+1)) AS covered FROM dsvc.sale GROUP BY customer_id',
    "WITH RECURSIVE org AS (SELECT id, name, boss_id, 0 AS lvl, name::text AS path FROM dsvc.customer WHERE boss_id IS NULL UNION ALL SELECT c.id, c.name, c.boss_id, o.lvl+1, o.path||' / '||c.name FROM dsvc.customer c JOIN org o ON c.boss_id=o.id) SELECT repeat('  ',lvl)||name AS tree, path FROM org ORDER BY path",
    'WITH RECURSIVE sub AS (SELECT id AS root, id FROM dsvc.customer UNION ALL SELECT s.root, c.id FROM sub s JOIN dsvc.customer c ON c.boss_id=s.id) SELECT root, count(*)-1 AS reports, sum(x.amount) AS sales FROM sub LEFT JOIN dsvc.sale x ON x.customer_id=sub.id GROUP BY root',
    'WITH RECURSIVE bom AS (SELECT id, boss_id, 1::numeric AS qty, jsonb_build_array(name) AS path FROM dsvc.customer WHERE boss_id IS NULL UNION ALL SELECT c.id, c.boss_id, b.qty*2, b.path||to_jsonb(c.name) FROM dsvc.customer c JOIN bom b ON c.boss_id=b.id) SELECT id, qty, path FROM bom',
    "WITH RECURSIVE h AS (SELECT id, lpad(id::text,6,'0') AS sort, 1 AS d FROM dsvc.customer WHERE boss_id IS NULL UNION ALL SELECT c.id, h.sort||'.'||lpad(c.id::text,6,'0'), d+1 FROM dsvc.customer c JOIN h ON c.boss_id=h.id WHERE d<15) SELECT id, sort, d FROM h ORDER BY sort",
    'WITH RECURSIVE bal AS (SELECT 1 AS m, 100000::numeric AS b, 0::numeric AS interest UNION ALL SELECT m+1, round(b*(1+0.035/12)-600,2), round(b*0.035/12,2) FROM bal WHERE m<360 AND b>0) SELECT * FROM bal',
    "WITH RECURSIVE s(customer_id, at, session_start) AS (SELECT customer_id, min(at), min(at) FROM dsvc.event GROUP BY 1 UNION ALL SELECT e.customer_id, e.at, CASE WHEN e.at-s.at>interval '30 min' THEN e.at ELSE s.session_start END FROM s JOIN LATERAL (SELECT customer_id, at FROM dsvc.event e WHERE e.customer_id=s.customer_id AND e.at>s.at ORDER BY at LIMIT 1) e ON true) SELECT customer_id, session_start, count(*) FROM s GROUP BY 1,2",
    'SELECT c.name, t.* FROM dsvc.customer c CROSS JOIN LATERAL (SELECT p.name AS product, sum(s.amount) AS total FROM dsvc.sale s JOIN dsvc.product p ON p.id=s.product_id WHERE s.customer_id=c.id GROUP BY p.name ORDER BY total DESC LIMIT 3) t',
    'SELECT country, (array_agg(name ORDER BY joined DESC))[1:5] AS newest FROM dsvc.customer GROUP BY country',
    'SELECT s.* FROM dsvc.sale s WHERE (SELECT count(*) FROM dsvc.sale x WHERE x.customer_id=s.customer_id AND x.amount>s.amount)<2',
  ],
  statistics: [
    'SELECT x, exp(-x*x/2)/sqrt(2*pi()) AS density FROM (SELECT i/10.0 AS x FROM generate_series(-40,40) i) v',
    'SELECT count(*) AS primes FROM generate_series(2,1000) n WHERE NOT EXISTS (SELECT 1 FROM generate_series(2, floor(sqrt(n))::int) d WHERE n % d = 0)',
    'WITH q AS (SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY amount) AS q1, percentile_cont(0.75) WITHIN GROUP (ORDER BY amount) AS q3 FROM dsvc.sale) SELECT s.* FROM dsvc.sale s, q WHERE s.amount NOT BETWEEN q.q1-1.5*(q.q3-q.q1) AND q.q3+1.5*(q.q3-q.q1)',
    "SELECT width_bucket(amount::float8, ARRAY[0,10,20,50,100]::float8[]) AS b, count(*), repeat('■', (count(*)*50/sum(count(*)) OVER ())::int) AS bar FROM dsvc.sale GROUP BY 1 ORDER BY 1",
    'SELECT exp(sum(ln(1+amount/1000)) OVER (ORDER BY day, id)) AS compounded FROM dsvc.sale WHERE amount>0',
    'SELECT -sum(p*ln(p)) AS entropy FROM (SELECT count(*)::numeric/sum(count(*)) OVER () AS p FROM dsvc.sale GROUP BY channel) x',
    'SELECT a.customer_id, b.customer_id AS other, sum(a.q*b.q)/(sqrt(sum(a.q^2))*sqrt(sum(b.q^2))) AS cos FROM (SELECT customer_id, product_id, sum(qty) AS q FROM dsvc.sale GROUP BY 1,2) a JOIN (SELECT customer_id, product_id, sum(qty) AS q FROM dsvc.sale GROUP BY 1,2) b USING(product_id) WHERE a.customer_id<b.customer_id GROUP BY 1,2 ORDER BY 3 DESC LIMIT 20',
    'SELECT a.product_id, b.product_id AS other, count(*) AS n, count(*)::float/(SELECT count(DISTINCT customer_id) FROM dsvc.sale) AS support FROM (SELECT DISTINCT customer_id, product_id FROM dsvc.sale) a JOIN (SELECT DISTINCT customer_id, product_id FROM dsvc.sale) b ON a.customer_id=b.customer_id AND a.product_id<b.product_id GROUP BY 1,2 ORDER BY n DESC',
    "SELECT sum(amount/power(1.1, extract(year FROM age(date '2024-01-01', day)))) AS npv FROM dsvc.sale",
    "SELECT ('x'||left(md5(email),8))::bit(32)::int % 10 AS bucket, count(*) FROM dsvc.customer GROUP BY 1",
    "SELECT c.id, (SELECT sum(a*b) FROM unnest(ARRAY(SELECT jsonb_array_elements_text(c.profile->'scores'))::float8[], ARRAY[1,2]::float8[]) AS t(a,b)) AS dot FROM dsvc.customer c",
    'SELECT regr_slope(amount, extract(epoch FROM sold_at)::float8) OVER (PARTITION BY channel) AS trend, id FROM dsvc.sale',
  ],
  'generated rows and long lists': [
    'SELECT array_remove(array_agg(x), 5), array_replace(array_agg(x), 1, 2), array_append(array_agg(x), 0) FROM generate_series(1,10000) x',
    "SELECT array_to_string(array_agg(i::text), ',') FROM generate_series(1,200000) i",
    "SELECT string_agg(i || ';' || i*2 || ';' || md5(i::text), E'\\n') AS csv FROM generate_series(1,100000) i",
    "SELECT jsonb_object_agg(d::date, to_char(d,'Day')) FROM generate_series(date '2020-01-01', date '2024-12-31', '1 day') d",
    'SELECT array_agg(r ORDER BY i) FROM (SELECT i, array_agg(j ORDER BY j) AS r FROM generate_series(1,100) i, generate_series(1,100) j GROUP BY i) v',
    `SELECT id FROM dsvc.sale WHERE id IN (${list(1000, (i) => `${i * 7}`)})`,
    `SELECT id FROM dsvc.sale WHERE coupon IN (${list(500, (i) => `'C${i}'`)}) OR id = ANY ('{${list(1000, (i) => `${i}`)}}'::bigint[])`,
    `SELECT s.* FROM dsvc.sale s JOIN (VALUES ${list(300, (i) => `(${i}, 'seg${i % 5}', ${i / 7})`)}) AS v(id, seg, w) ON v.id = s.customer_id`,
    `SELECT CASE customer_id ${list(100, (i) => `WHEN ${i} THEN 'Customer number ${i}'`, ' ')} ELSE 'other' END AS label, count(*) FROM dsvc.sale GROUP BY 1`,
    "SELECT json_agg(json_build_object('day',d::date,'n',n)) FROM (SELECT d, count(s.id) AS n FROM generate_series(date '2015-01-01',date '2024-12-31',interval '1 day') d LEFT JOIN dsvc.sale s ON s.day=d::date GROUP BY d) x",
    "SELECT decode(string_agg(lpad(to_hex(i%256),2,'0'),''),'hex') FROM generate_series(1,10000) i",
    "SELECT string_agg(upper(substr(w,1,1))||lower(substr(w,2)),' ' ORDER BY o) AS title FROM dsvc.product p, regexp_split_to_table(p.description,'\\s+') WITH ORDINALITY AS t(w,o) GROUP BY p.id",
  ],
};

describe('statements of analysts', () => {
  let s: TestService;
  let reader: string;
  beforeAll(async () => {
    s = await startService({ tables: TABLES });
    await s.rows(`CREATE ONTOLOGY an; ${MODEL}`);
    reader = await s.user('ann', 'QUERY ON ALL ontology.an');
  });
  afterAll(() => s?.close());

  for (const [kind, statements] of Object.entries(KINDS)) {
    it.each(statements)(`${kind}: %s`, async (sql) => {
      const { status, json } = await s.query(sql, 'an', reader);
      expect([status, json.code, json.data]).toEqual([200, undefined, expect.any(Array)]);
    });
  }

  it('are accepted under row policies and masks as well', { timeout: 300_000 }, async () => {
    await s.rows(
      `CREATE POLICY here ON CONCEPT customer TO PUBLIC USING (country <> 'IT');
      CREATE POLICY few ON CONCEPT sale TO PUBLIC USING ("bought_by[customer].country" <> 'IT');
      CREATE POLICY hidden ON PROPERTY email OF CONCEPT customer MASK FULL`,
      'an',
    );
    const refused: unknown[] = [];
    for (const sql of Object.values(KINDS).flat()) {
      const { status, json } = await s.query(sql, 'an', reader);
      if (status !== 200) refused.push([json.code, json.data, sql]);
    }
    expect(refused).toEqual([]);
  });
});
