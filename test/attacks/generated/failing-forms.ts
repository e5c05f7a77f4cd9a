/** Further forms of queries over hidden-values.ts: places of a statement in which PostgreSQL evaluates an expression that may raise an error, or calls a function that returns rows. */
import fc from 'fast-check';
import { condition, type Name, type Value, value } from './failing-expressions.ts';

const of =
  (alias: string): Name =>
  (column) =>
    `${alias}.${column}`;
const I = of('i');
const J = of('j');
const end =
  (path: string): Name =>
  (column) =>
    `i."${path}.${column}"`;

/** FROM items that return rows for a text or number of an item, with one column. Some fail for some values. */
const SETS: readonly ((v: string) => string)[] = [
  (v) => `generate_series(1, length(${v}))`,
  (v) => `regexp_split_to_table(${v}, '')`,
  (v) => `regexp_matches('a1', ${v})`,
  (v) => `string_to_table(${v}, '1')`,
  (v) => `unnest(ARRAY[${v}, 'x'])`,
  (v) => `unnest(string_to_array(${v}, NULL))`,
  (v) => `json_array_elements(('[' || ${v} || ']')::json)`,
  (v) => `jsonb_path_query('[1, 2]', ${v}::jsonpath)`,
  (v) => `jsonb_array_elements_text(to_jsonb(ARRAY[${v}]))`,
  (v) => `jsonb_object_keys(${v}::jsonb)`,
  (v) => `json_each_text(json_build_object(${v}, 1))`,
  (v) => `generate_series(1, 3, coalesce(length(${v}), 1))`,
];
const FRAMES = [
  'ROWS BETWEEN 1 PRECEDING AND CURRENT ROW',
  'GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING',
  'RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING',
  'ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW',
  'GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE TIES',
];
const TO_ONE = ['next[item]', 'lies_in[box].has_item[item]', 'next[item*2]', 'before[item]'];

/** A relation whose columns may be paths of items. */
const graph = (relation: string): string => relation.replace(/^e?svc/, 'dsvc').replace('entry', 'item');

/** What a form is made of. */
interface Parts {
  readonly relation: string;
  readonly c: Value;
  readonly c2: Value;
  readonly v: Value;
  readonly w: Value;
  /** The FROM item of a function over a text. */
  readonly set: (v: string) => string;
  readonly frame: string;
  readonly path: string;
  /** A condition and a value with only columns that the views have. */
  readonly cc: Value;
  readonly cv: Value;
}

const FORMS: readonly ((parts: Parts) => string)[] = [
  // the order and the number of rows
  ({ relation, v }) => `SELECT i.id FROM ${relation} i ORDER BY ${v(I)} FETCH FIRST 2 ROWS WITH TIES`,
  ({ relation, c }) => `SELECT i.id FROM ${relation} i WHERE ${c(I)} ORDER BY i.state DESC OFFSET 1 FETCH FIRST ROW WITH TIES`,
  ({ relation, v, w }) => `SELECT DISTINCT ON (${v(I)}, ${w(I)}) i.id FROM ${relation} i ORDER BY ${v(I)}, ${w(I)}, i.id FETCH FIRST 3 ROWS ONLY`,
  ({ relation, c, c2 }) => `SELECT i.id FROM ${relation} i ORDER BY (${c(I)}) IS TRUE, CASE WHEN ${c2(I)} THEN i.id END NULLS FIRST, i.id`,
  ({ relation, v }) => `SELECT b.box_id FROM svc.box b ORDER BY (SELECT max(${v(I)}) FROM ${relation} i WHERE i.box_id = b.box_id), 1`,
  ({ relation, c }) => `SELECT b.box_id FROM svc.box b ORDER BY 1 LIMIT CASE WHEN EXISTS (SELECT 1 FROM ${relation} i WHERE ${c(I)}) THEN 1 ELSE 2 END`,
  ({ relation, v }) =>
    `SELECT i.id FROM ${relation} i ORDER BY i.id LIMIT (SELECT max(length(${v(J)})) FROM svc.item j) OFFSET (SELECT min(length(${v(J)})) FROM svc.item j)`,
  // windows
  ({ relation, v, w, frame }) => `SELECT i.id, count(${v(I)}) OVER (PARTITION BY ${w(I)} ORDER BY i.id ${frame}) AS n FROM ${relation} i ORDER BY 1`,
  ({ relation, v, frame }) => `SELECT i.id, sum(length(${v(I)})) OVER (ORDER BY i.n ${frame}) AS n FROM ${relation} i ORDER BY 1`,
  ({ relation, v, c, frame }) =>
    `SELECT i.id, max(${v(I)}) FILTER (WHERE ${c(I)}) OVER w AS n FROM ${relation} i WINDOW w AS (ORDER BY i.id ${frame}) ORDER BY 1`,
  ({ relation, v }) =>
    `SELECT i.id, ntile(coalesce(length(${v(I)}), 1)) OVER (ORDER BY i.id) AS n, lead(i.id, length(${v(I)})) OVER (ORDER BY i.id) AS k FROM ${relation} i ORDER BY 1`,
  ({ relation, c, frame }) =>
    `SELECT q.id FROM (SELECT i.id, i.n, rank() OVER (PARTITION BY i.state ORDER BY i.n ${frame.replace('RANGE BETWEEN 2', 'RANGE BETWEEN 1')}) AS k FROM ${relation} i WHERE ${c(I)}) q WHERE q.k < 3 ORDER BY 1`,
  ({ relation, v, frame }) =>
    `SELECT i.id, sum(i.n) OVER (PARTITION BY max(${v(I)}) ORDER BY i.id ${frame}) AS k FROM ${relation} i GROUP BY i.id, i.n ORDER BY 1`,
  // groups and aggregates
  ({ relation, c, v }) =>
    `SELECT i.state, count(*) FILTER (WHERE ${c(I)}) AS n, string_agg(${v(I)}, ',' ORDER BY i.id) FILTER (WHERE ${c(I)}) AS v FROM ${relation} i GROUP BY 1 ORDER BY 1`,
  ({ relation, v, w }) =>
    `SELECT ${v(I)} AS v, ${w(I)} AS w, count(*) AS n, GROUPING(${v(I)}, ${w(I)}) AS g FROM ${relation} i GROUP BY GROUPING SETS ((${v(I)}), (${w(I)}), ()) ORDER BY 1, 2, 3, 4`,
  ({ relation, v, c }) => `SELECT ${v(I)} AS v, count(*) AS n FROM ${relation} i GROUP BY ROLLUP (1) HAVING bool_and(${c(I)}) ORDER BY 1, 2`,
  ({ relation, c, v }) =>
    `SELECT i.state FROM ${relation} i GROUP BY i.state HAVING max(${v(I)}) > (SELECT min(${v(J)}) FROM svc.item j WHERE ${c(J)}) ORDER BY 1`,
  ({ relation, v, w }) =>
    `SELECT percentile_disc(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY ${v(I)}) AS v, rank('x') WITHIN GROUP (ORDER BY ${w(I)}) AS w FROM ${relation} i`,
  ({ relation, v, c }) => `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY length(${v(I)})) FILTER (WHERE ${c(I)}) AS v FROM ${relation} i`,
  ({ relation, v, w }) => `SELECT jsonb_object_agg(${v(I)}, ${w(I)}) AS v FROM ${relation} i`,
  ({ relation, v }) => `SELECT array_agg(DISTINCT ${v(I)} ORDER BY ${v(I)}) AS v, count(DISTINCT (${v(I)}, i.state)) AS n FROM ${relation} i`,
  ({ relation, v }) => `SELECT array_agg(string_to_array(${v(I)}, '1') ORDER BY i.id) AS v FROM ${relation} i`,
  // rows from functions
  ({ relation, v, set }) => `SELECT i.id, count(*) AS n FROM ${relation} i, ${set(v(I))} s GROUP BY 1 ORDER BY 1`,
  ({ relation, v, c, set }) => `SELECT i.id FROM ${relation} i LEFT JOIN LATERAL ${set(v(I))} s ON ${c(I)} ORDER BY 1`,
  ({ relation, v, set }) =>
    `SELECT i.id, s.k FROM ${relation} i, LATERAL ${set(v(I))} WITH ORDINALITY s (x, k) ORDER BY 1, 2`.replace(
      /json_each_text\((.*?)\) WITH ORDINALITY s \(x, k\)/,
      'json_each_text($1) WITH ORDINALITY s (x, y, k)',
    ),
  ({ relation, v, w, set }) =>
    `SELECT i.id, count(*) AS n FROM ${relation} i, ROWS FROM (${set(v(I))}, generate_series(1, length(${w(I)}))) s GROUP BY 1 ORDER BY 1`,
  ({ relation, v, set }) => `SELECT i.id, ${set(v(I))} AS s FROM ${relation} i ORDER BY 1`.replace('json_each_text', 'json_object_keys'),
  ({ relation, v, set }) =>
    `SELECT count(*) AS n FROM (SELECT i.id, ${set(v(I))} AS s FROM ${relation} i) q WHERE q.id < 100`.replace('json_each_text', 'json_object_keys'),
  ({ relation, v, c, set }) => `SELECT i.id FROM ${relation} i WHERE EXISTS (SELECT 1 FROM ${set(v(I))} s WHERE ${c(I)}) ORDER BY 1`,
  ({ relation, v, set }) => `SELECT i.id, (SELECT count(*) FROM ${set(v(I))} s) AS n FROM ${relation} i ORDER BY 1`,
  ({ relation, v }) => `SELECT i.id, r.a FROM ${relation} i, json_to_record(json_build_object('a', ${v(I)})) r (a int) ORDER BY 1`,
  ({ relation, v }) => `SELECT i.id, r.a FROM ${relation} i, jsonb_to_recordset(jsonb_build_array(jsonb_build_object('a', ${v(I)}))) r (a date) ORDER BY 1`,
  ({ relation, v }) => `SELECT i.id, (ARRAY[1, 2, 3])[length(${v(I)})] AS a, (ARRAY['a', 'b'])[1:length(${v(I)})] AS b FROM ${relation} i ORDER BY 1`,
  // sub-queries that are compared
  ({ relation, c, v }) => `SELECT i.id FROM ${relation} i WHERE ${v(I)} = ANY (SELECT ${v(J)} FROM svc.item j WHERE ${c(J)}) ORDER BY 1`,
  ({ relation, c, v }) => `SELECT i.id FROM ${relation} i WHERE ${v(I)} <= ALL (SELECT ${v(J)} FROM svc.item j WHERE ${c(J)}) ORDER BY 1`,
  ({ relation, c, v, w }) =>
    `SELECT i.id FROM ${relation} i WHERE (${v(I)}, ${w(I)}) NOT IN (SELECT ${v(J)}, ${w(J)} FROM svc.item j WHERE ${c(J)}) ORDER BY 1`,
  ({ relation, v, w }) => `SELECT i.id FROM ${relation} i WHERE (${v(I)}, ${w(I)}) > ('1', '2') ORDER BY 1`,
  ({ relation, v, w }) => `SELECT i.id, j.id AS k FROM ${relation} i JOIN svc.item j ON (${v(I)}, i.id) < (${w(J)}, j.id) ORDER BY 1, 2`,
  ({ relation, v }) => `SELECT i.id FROM ${relation} i WHERE ROW(i.n, ${v(I)}) IS DISTINCT FROM ROW(i.d, '1') ORDER BY 1`,
  ({ relation, c, c2 }) => `SELECT i.id FROM ${relation} i WHERE (SELECT ${c(I)}) OR (SELECT ${c2(J)} FROM svc.item j WHERE j.id = i.next_id) ORDER BY 1`,
  ({ relation, c, c2 }) =>
    `SELECT i.id FROM ${relation} i WHERE NOT EXISTS (SELECT 1 FROM svc.item j WHERE j.id = i.next_id AND ${c(J)} AND ${c2(I)}) ORDER BY 1`,
  ({ relation, v, w }) =>
    `SELECT i.id, ARRAY(SELECT ${v(J)} FROM svc.item j WHERE j.box_id = i.box_id AND ${w(I)} > '0' ORDER BY j.id) AS a FROM ${relation} i ORDER BY 1`,
  ({ relation, c, v }) =>
    `SELECT i.id FROM ${relation} i WHERE CASE WHEN EXISTS (SELECT 1 FROM svc.item j WHERE ${c(J)}) THEN ${v(I)} > '1' ELSE i.id > 2 END ORDER BY 1`,
  ({ relation, c, v }) => `SELECT coalesce(i.t, (SELECT max(${v(J)}) FROM svc.item j WHERE ${c(J)} AND j.id > i.id)) AS v FROM ${relation} i ORDER BY i.id`,
  ({ relation, v, w }) => `SELECT i.id, greatest(${v(I)}, ${w(I)}) AS v, nullif(${v(I)}, ${w(I)}) AS w FROM ${relation} i ORDER BY 1`,
  // joins
  ({ relation, v, w }) =>
    `SELECT i.id, g.x FROM (VALUES ('1', 1), ('x', 2), ('5', 3)) g (x, k) JOIN ${relation} i ON g.x = ${v(I)} OR ${w(I)} = g.x ORDER BY 1, 2`,
  ({ relation, c, v }) =>
    `SELECT i.id, g.k FROM ${relation} i LEFT JOIN (VALUES (1), (6)) g (k) ON g.k = i.id AND ${c(I)} WHERE ${v(I)} IS NOT NULL ORDER BY 1, 2`,
  ({ relation, c }) => `SELECT i.id, b.box_id FROM svc.box b RIGHT JOIN ${relation} i ON b.box_id = i.box_id AND ${c(I)} ORDER BY 1, 2`,
  ({ relation, c, v, w }) =>
    `SELECT b.box_id, l.v FROM svc.box b, LATERAL (SELECT ${v(I)} AS v FROM ${relation} i WHERE i.box_id = b.box_id AND ${c(I)} ORDER BY ${w(I)}, i.id LIMIT 1) l ORDER BY 1`,
  ({ relation, c, v }) =>
    `SELECT i.id, l.v FROM ${relation} i CROSS JOIN LATERAL (SELECT count(*) AS v FROM svc.item j WHERE ${c(J)} AND ${v(I)} > j.t GROUP BY i.state) l ORDER BY 1, 2`,
  ({ relation, c, v }) => `SELECT i.id, l.x FROM ${relation} i, LATERAL (VALUES (${v(I)}), ('x')) l (x) WHERE ${c(I)} ORDER BY 1, 2`,
  ({ relation, v }) =>
    `SELECT i.id, g.x FROM ${relation} i, LATERAL (SELECT ${v(I)} AS x UNION SELECT b.state FROM svc.box b WHERE b.box_id = i.box_id) g ORDER BY 1, 2`,
  ({ relation, c, v }) =>
    `SELECT i.id, k.x FROM (${`SELECT i.*, ${v(I)} AS x FROM ${relation} i`}) k JOIN svc.item i USING (id, state) WHERE ${c(I)} ORDER BY 1, 2`,
  // set operations
  ({ relation, v, w, c }) => `SELECT ${v(I)} AS v FROM ${relation} i INTERSECT SELECT ${w(I)} FROM ${relation} i WHERE ${c(I)} ORDER BY 1`,
  ({ relation, v, w, c }) =>
    `SELECT q.v FROM (SELECT ${v(I)} AS v, i.id FROM ${relation} i UNION ALL SELECT ${w(I)}, i.id FROM ${relation} i) q WHERE q.id > 0 AND q.v > '1' AND EXISTS (SELECT 1 FROM ${relation} i WHERE i.id = q.id AND ${c(I)}) ORDER BY 1`,
  ({ relation, v, w }) =>
    `SELECT i.id, ${v(I)} AS v FROM ${relation} i EXCEPT ALL (SELECT i.id, ${w(I)} FROM ${relation} i ORDER BY ${v(I)}, 1 LIMIT 2) ORDER BY 1, 2`,
  // common table expressions
  ({ relation, c, c2 }) =>
    `WITH RECURSIVE r AS (SELECT i.id, i.next_id FROM ${relation} i WHERE ${c(I)} UNION ALL SELECT j.id, j.next_id FROM svc.item j JOIN r ON j.id = r.next_id WHERE ${c2(J)}) CYCLE id SET looped USING way SELECT count(*) AS n, bool_or(looped) AS l FROM r`,
  ({ relation, c, v }) =>
    `WITH RECURSIVE r AS (SELECT i.id, 1 AS k FROM ${relation} i WHERE ${c(I)} UNION ALL SELECT j.id, r.k + 1 FROM svc.item j JOIN r ON j.id = r.id + 1 WHERE r.k < 3 AND ${v(J)} > '0') SEARCH DEPTH FIRST BY id SET o SELECT r.id, r.k FROM r ORDER BY r.o, 1, 2`,
  ({ relation, v, c }) =>
    `WITH RECURSIVE r AS (SELECT i.id, ${v(I)} AS v, 1 AS k FROM ${relation} i UNION ALL SELECT j.id, r.v, r.k + 1 FROM svc.item j JOIN r ON j.id = r.id + 1 AND r.k < 3) SEARCH BREADTH FIRST BY v SET o SELECT i.id FROM r i WHERE EXISTS (SELECT 1 FROM svc.item j WHERE j.id = i.id AND ${c(J)}) ORDER BY i.o, 1`,
  ({ relation, v, c }) =>
    `WITH a AS MATERIALIZED (SELECT i.id, ${v(I)} AS v FROM ${relation} i), b AS (SELECT a.id FROM a WHERE a.v > '0') SELECT i.id FROM ${relation} i WHERE i.id IN (SELECT b.id FROM b) AND ${c(I)} ORDER BY 1`,
  ({ relation, v }) => `WITH a AS (SELECT i.id, ${v(I)} AS v FROM ${relation} i) SELECT x.id, y.v FROM a x JOIN a y ON x.id = y.id + 1 ORDER BY 1`,
  ({ relation, c }) =>
    `SELECT b.box_id, (WITH a AS NOT MATERIALIZED (SELECT i.id FROM ${relation} i WHERE ${c(I)}) SELECT count(*) FROM a WHERE a.id > b.box_id) AS n FROM svc.box b ORDER BY 1`,
  // constants that are computed when the statement is planned
  ({ relation }) => `SELECT i.id FROM ${relation} i WHERE coalesce(i.n, 1 / (i.id - i.id)) > 0 ORDER BY 1`,
  ({ relation, c }) =>
    `SELECT CASE WHEN EXISTS (SELECT 1 FROM ${relation} i WHERE ${c(I)}) THEN 1 ELSE 1 / (SELECT count(*) FROM ${relation} i WHERE i.id > 4) END AS v`,
  // paths, walks, measures, views
  ({ relation, c, c2, path }) => `SELECT i.id FROM ${graph(relation)} i WHERE ${c(end(path))} OR ${c2(I)} ORDER BY 1`.replaceAll('behind', 'n'),
  ({ relation, cv, c, path }) =>
    `SELECT i.id, count(*) FILTER (WHERE ${cv(end(path))} > '1') AS n FROM ${graph(relation)} i WHERE ${c(I)} GROUP BY i.id ORDER BY 1`,
  ({ relation, cv, path, set }) =>
    `SELECT i.id, count(s) AS n FROM ${graph(relation)} i LEFT JOIN LATERAL ${set(cv(end(path)))} s ON true GROUP BY i.id ORDER BY 1`,
  ({ relation, cv, path }) => `SELECT i.id, ${cv(end(path))} AS v FROM ${graph(relation)} i ORDER BY 2, 1 FETCH FIRST 1 ROW WITH TIES`,
  ({ relation, cc, path }) => `SELECT i.id FROM ${graph(relation)} i WHERE i.id = ANY (SELECT i.id FROM dsvc.item i WHERE ${cc(end(path))}) ORDER BY 1`,
  ({ c, v }) =>
    `SELECT ${v(I)} AS v, sum("measure.inverted") AS m, count(*) AS k FROM dsvc.item i WHERE ${c(I)} GROUP BY 1 HAVING sum("measure.inverted") > 0 ORDER BY 1`,
  ({ cv, c }) =>
    `SELECT i.box_id, sum("measure.has_item[item].inverted") AS m, max(${cv(end('has_item[item]'))}) FILTER (WHERE i.state > 'a') AS v FROM dsvc.box i WHERE EXISTS (SELECT 1 FROM svc.item j WHERE j.box_id = i.box_id AND ${c(J)}) GROUP BY i.box_id ORDER BY 1`,
  ({ cc, cv }) => `SELECT i.id, ${cv(I)} AS v, rank() OVER (ORDER BY ${cv(I)}) AS k FROM vsvc.casts i WHERE ${cc(I)} ORDER BY 1`,
  ({ cc, cv, set }) => `SELECT i.id, count(*) AS n FROM vsvc.items i, ${set(cv(I))} s WHERE ${cc(I)} GROUP BY 1 ORDER BY 1`,
  ({ cc, c }) =>
    `SELECT i.id FROM vsvc.items i WHERE ${cc(I)} AND EXISTS (SELECT 1 FROM vsvc.sums s WHERE s.n > i.id) AND i.id IN (SELECT j.id FROM svc.item j WHERE ${c(J)}) ORDER BY 1`,
  ({ relation, c }) => `SELECT i.id, i._type_of_big AS a, i._type_of_odd AS b, i._type_of_shut AS s FROM ${graph(relation)} i WHERE ${c(I)} ORDER BY 1`,
];

const RELATIONS = ['svc.item', 'svc.item', 'dsvc.item', 'esvc.item', 'dsvc.entry', 'dsvc.big', 'svc.odd', 'dsvc.large', 'svc.huge'];

/** The parts of a form. */
const parts: fc.Arbitrary<Parts> = fc.record({
  relation: fc.constantFrom(...RELATIONS),
  c: condition(),
  c2: condition(),
  v: value(),
  w: value(),
  set: fc.constantFrom(...SETS),
  frame: fc.constantFrom(...FRAMES),
  path: fc.constantFrom(...TO_ONE),
  cc: condition(true),
  cv: value(true),
});

/** One query of one of the forms. */
export const form: fc.Arbitrary<string> = fc.tuple(parts, fc.constantFrom(...FORMS)).map(([p, made]) => made(p));
