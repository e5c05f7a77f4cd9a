/**
 * Ten questions to the sample graph, each in SQL over the ontology, and in SQL written by hand
 * over the tables: the tests compare their rows, the benchmark their times, docs/world.md shows them.
 */
export interface Question {
  readonly question: string;
  /** What it shows. */
  readonly note: string;
  /** Over the ontology. */
  readonly sql: string;
  /** Over the tables, with the same rows in the same order and the same column names. */
  readonly byHand: string;
}

export const QUESTIONS: readonly Question[] = [
  {
    question: 'Which cities of over a million people lie in countries that border France and speak German?',
    note: 'Three paths, two of them over many-to-many relationships, and no JOIN.',
    sql: `SELECT DISTINCT name, population, "in_country[country].name" AS country
FROM dsvc.city
WHERE population > 1000000
  AND "in_country[country].borders[country].name" = 'France'
  AND "in_country[country].speaks[language].name" = 'German'
ORDER BY population DESC`,
    byHand: `SELECT DISTINCT c.city_nm AS name, c.pop AS population, k.short_nm AS country
FROM world.t_city c
JOIN world.t_country k ON k.cc3 = c.cc3
JOIN world.t_border b ON b.cc3_from = k.cc3
JOIN world.t_country n ON n.cc3 = b.cc3_to
JOIN world.t_country_lang s ON s.cc3 = k.cc3
JOIN world.t_lang l ON l.iso3 = s.iso3
WHERE c.pop > 1000000 AND n.short_nm = 'France' AND l.lang_nm = 'German'
ORDER BY population DESC`,
  },
  {
    question: 'Which countries are within three borders of Portugal, and how far?',
    note: 'A transitive path: each country once, with the length of the shortest walk to it. Portugal itself is included, because the walk to Spain leads back.',
    sql: `SELECT "borders[country*3].name" AS country, "borders[country*3]_transitivity_level" AS distance
FROM dsvc.country
WHERE name = 'Portugal'
ORDER BY distance, country`,
    byHand: `WITH RECURSIVE walk(cc3, distance) AS (
  SELECT b.cc3_to, 1 FROM world.t_border b JOIN world.t_country k ON k.cc3 = b.cc3_from WHERE k.short_nm = 'Portugal'
  UNION
  SELECT b.cc3_to, w.distance + 1 FROM walk w JOIN world.t_border b ON b.cc3_from = w.cc3 WHERE w.distance < 3)
SELECT k.short_nm AS country, min(w.distance) AS distance
FROM walk w JOIN world.t_country k ON k.cc3 = w.cc3
GROUP BY k.cc3
ORDER BY distance, country`,
  },
  {
    question: 'What do the Swiss call their country?',
    note: 'A column of the link between a country and a language.',
    sql: `SELECT "speaks[language].name" AS language, "speaks[language]_native_name" AS own_name
FROM dsvc.country
WHERE name = 'Switzerland'
ORDER BY language`,
    byHand: `SELECT l.lang_nm AS language, s.own_nm AS own_name
FROM world.t_country k
JOIN world.t_country_lang s ON s.cc3 = k.cc3
JOIN world.t_lang l ON l.iso3 = s.iso3
WHERE k.short_nm = 'Switzerland'
ORDER BY language`,
  },
  {
    question: 'Which countries are doubly landlocked: without a coast, and so are all of their neighbours?',
    note: 'An aggregate over a to-many path, in HAVING.',
    sql: `SELECT name, count("borders[country].entity_id") AS neighbours
FROM dsvc.country
WHERE landlocked
GROUP BY entity_id, name
HAVING bool_and("borders[country].landlocked")
ORDER BY name`,
    byHand: `SELECT k.short_nm AS name, count(n.cc3) AS neighbours
FROM world.t_country k
LEFT JOIN world.t_border b ON b.cc3_from = k.cc3
LEFT JOIN world.t_country n ON n.cc3 = b.cc3_to
WHERE k.no_coast
GROUP BY k.cc3
HAVING bool_and(n.no_coast)
ORDER BY name`,
  },
  {
    question: 'Which megacities are there, and where?',
    note: 'megacity is a logic concept: a city whose population is 10 million or more. Some are capitals as well.',
    sql: `SELECT name, "in_country[country].flag" AS flag, "in_country[country].name" AS country, population, entity_type = 'capital' AS is_capital
FROM dsvc.megacity
ORDER BY population DESC`,
    byHand: `SELECT c.city_nm AS name, k.flag_emoji AS flag, k.short_nm AS country, c.pop AS population, c.fcode = 'PPLC' AS is_capital
FROM world.t_city c JOIN world.t_country k ON k.cc3 = c.cc3
WHERE c.pop >= 10000000
ORDER BY population DESC`,
  },
  {
    question: 'Which currencies are in use in the most countries?',
    note: 'An inverse path: the relationship is declared on country, as uses.',
    sql: `SELECT currency_code, name, count("used_in[country].entity_id") AS countries
FROM dsvc.currency
GROUP BY currency_code, name
ORDER BY countries DESC, currency_code
LIMIT 5`,
    byHand: `SELECT m.curr AS currency_code, m.curr_nm AS name, count(u.cc3) AS countries
FROM world.t_curr m LEFT JOIN world.t_country_curr u ON u.curr = m.curr
GROUP BY m.curr
ORDER BY countries DESC, currency_code
LIMIT 5`,
  },
  {
    question: 'How many countries, land borders and official languages has each region, and how large is it?',
    note: 'Aggregates on three levels in one block: the area of a country that speaks four languages counts once, and so does each of its borders.',
    sql: `SELECT region_name AS region, count(country_code) AS countries, round(sum(area_km2)) AS area,
       count("borders[country].entity_id") AS borders, count(DISTINCT "speaks[language].entity_id") AS languages
FROM dsvc.country
GROUP BY region_name
ORDER BY countries DESC`,
    byHand: `SELECT k.region, k.countries, k.area, coalesce(b.borders, 0) AS borders, coalesce(s.languages, 0) AS languages
FROM (SELECT rgn AS region, count(*) AS countries, round(sum(sq_km)) AS area FROM world.t_country GROUP BY rgn) k
LEFT JOIN (SELECT rgn AS region, count(*) AS borders FROM world.t_border JOIN world.t_country ON cc3 = cc3_from GROUP BY rgn) b USING (region)
LEFT JOIN (SELECT rgn AS region, count(DISTINCT iso3) AS languages FROM world.t_country_lang JOIN world.t_country USING (cc3) GROUP BY rgn) s USING (region)
ORDER BY countries DESC`,
  },
  {
    question: 'What is the largest capital of each region?',
    note: 'A window function over a path, in a sub-query.',
    sql: `SELECT x.region, x.name, x.population
FROM (SELECT name, population, "capital_of[country].located_in[region].region_name" AS region,
             row_number() OVER (PARTITION BY "capital_of[country].located_in[region].region_name" ORDER BY population DESC NULLS LAST) AS place
      FROM dsvc.capital) x
WHERE x.place = 1
ORDER BY x.population DESC NULLS LAST`,
    byHand: `SELECT x.region, x.name, x.population
FROM (SELECT c.city_nm AS name, c.pop AS population, k.rgn AS region, row_number() OVER (PARTITION BY k.rgn ORDER BY c.pop DESC NULLS LAST) AS place
      FROM world.t_city c JOIN world.t_country k ON k.cc3 = c.cc3
      WHERE c.fcode = 'PPLC') x
WHERE x.place = 1
ORDER BY x.population DESC NULLS LAST`,
  },
  {
    question: 'In which countries does the capital hold most of the people who live in cities?',
    note: 'A join of two concepts by country. (Only cities of the gazetteer count, in countries with at least five million people in them.)',
    sql: `WITH towns AS (
  SELECT country_code, sum(population) AS people FROM svc.city GROUP BY country_code HAVING sum(population) > 5000000)
SELECT c."capital_of[country].name" AS country, c.name AS capital, round(100.0 * c.population / t.people, 1) AS percent
FROM dsvc.capital c JOIN towns t ON t.country_code = c.country_code
ORDER BY percent DESC, country
LIMIT 5`,
    byHand: `WITH towns AS (
  SELECT cc3, sum(pop) AS people FROM world.t_city GROUP BY cc3 HAVING sum(pop) > 5000000)
SELECT k.short_nm AS country, c.city_nm AS capital, round(100.0 * c.pop / t.people, 1) AS percent
FROM world.t_city c JOIN towns t ON t.cc3 = c.cc3 JOIN world.t_country k ON k.cc3 = c.cc3
WHERE c.fcode = 'PPLC'
ORDER BY percent DESC, country
LIMIT 5`,
  },
  {
    question: 'What is called Luxembourg?',
    note: 'place has countries and cities; each row keeps its own id and type.',
    sql: `SELECT entity_id, entity_type, entity_label, coordinates
FROM svc.place
WHERE name = 'Luxembourg'
ORDER BY entity_id`,
    byHand: `SELECT 'country:' || cc3 AS entity_id, 'country' AS entity_type, short_nm AS entity_label, concat(lat, ', ', lng) AS coordinates
FROM world.t_country WHERE short_nm = 'Luxembourg'
UNION ALL
SELECT 'city:' || geo_id, CASE WHEN fcode = 'PPLC' THEN 'capital' ELSE 'city' END, city_nm, concat(lat, ', ', lng)
FROM world.t_city WHERE city_nm = 'Luxembourg'
ORDER BY entity_id`,
  },
];
