/** Random queries over hidden-values.ts whose expressions may raise an error, in every place of an expression. */
import fc from 'fast-check';
import { condition, from, type Name, value } from './failing-expressions.ts';
import { form } from './failing-forms.ts';

const of =
  (alias: string): Name =>
  (column) =>
    `${alias}.${column}`;
const I = of('i');
const path =
  (p: string): Name =>
  (column) =>
    `i."${p}.${column}"`;

const RELATIONS = ['svc.item', 'dsvc.item', 'esvc.item', 'dsvc.entry', 'dsvc.big', 'svc.big', 'dsvc.odd', 'dsvc.large', 'svc.large', 'dsvc.huge'];
const VIEWS = ['vsvc.items', 'vsvc.casts'];

const simple: fc.Arbitrary<string> = fc.tuple(from(...RELATIONS), condition(), condition(), value(), value()).chain(([relation, c, c2, v, w]) => {
  const i = `${relation} i`;
  return from(
    `SELECT i.id FROM ${i} WHERE ${c(I)} ORDER BY 1`,
    `SELECT i.id FROM ${i} WHERE ${c(I)} AND ${c2(I)} ORDER BY 1`,
    `SELECT i.id, ${v(I)} AS v FROM ${i} ORDER BY 1`,
    `SELECT count(*) AS n FROM ${i} WHERE ${c(I)}`,
    `SELECT max(${v(I)}) AS v, min(${w(I)}) AS w FROM ${i}`,
    `SELECT count(*) FILTER (WHERE ${c(I)}) AS n FROM ${i}`,
    `SELECT ${v(I)} AS v, count(*) AS n FROM ${i} GROUP BY 1 ORDER BY 1`,
    `SELECT i.state FROM ${i} GROUP BY i.state HAVING bool_or(${c(I)}) ORDER BY 1`,
    `SELECT i.id FROM ${i} ORDER BY ${v(I)}, i.id LIMIT 2`,
    `SELECT DISTINCT ON (${v(I)}) i.id FROM ${i} ORDER BY ${v(I)}, i.id`,
    `SELECT b.box_id FROM svc.box b WHERE EXISTS (SELECT 1 FROM ${i} WHERE i.id > b.box_id AND ${c(I)}) ORDER BY 1`,
    `SELECT b.box_id FROM svc.box b WHERE 'x' NOT IN (SELECT coalesce(${v(I)}, 'y') FROM ${i}) ORDER BY 1`,
    `SELECT b.box_id, (SELECT max(${v(I)}) FROM ${i} WHERE i.id > b.box_id AND ${c(I)}) AS v FROM svc.box b ORDER BY 1`,
    `SELECT b.box_id, i.id FROM svc.box b JOIN ${i} ON i.id >= b.box_id AND ${c(I)} ORDER BY 1, 2`,
    `SELECT b.box_id, i.id FROM svc.box b LEFT JOIN ${i} ON i.id >= b.box_id AND ${c(I)} WHERE ${c2(I)} ORDER BY 1, 2`,
    `SELECT i.id, j.id AS k FROM ${i} JOIN svc.item j ON ${v(I)} = ${w(of('j'))} ORDER BY 1, 2`,
    `SELECT i.id, l.v FROM ${i}, LATERAL (SELECT ${v(I)} AS v WHERE ${c(I)}) l ORDER BY 1`,
    `WITH c AS (SELECT i.id, ${v(I)} AS v FROM ${i} WHERE ${c(I)}) SELECT c.id, c.v FROM c WHERE c.id < 100 ORDER BY 1`,
    `WITH c AS MATERIALIZED (SELECT i.* FROM ${i}) SELECT i.id FROM c i WHERE ${c(I)} ORDER BY 1`,
    `WITH c AS NOT MATERIALIZED (SELECT i.* FROM ${i}) SELECT i.id FROM c i WHERE ${c(I)} ORDER BY 1`,
    `SELECT i.id FROM (SELECT * FROM ${relation} OFFSET 0) i WHERE ${c(I)} ORDER BY 1`,
    `SELECT i.id FROM ${i} WHERE ${c(I)} UNION ALL SELECT i.id FROM ${i} WHERE ${c2(I)} ORDER BY 1`,
    `SELECT i.id FROM ${i} EXCEPT SELECT i.id FROM ${i} WHERE ${c2(I)} ORDER BY 1`,
    `SELECT i.id, count(${v(I)}) OVER (PARTITION BY ${w(I)}) AS n FROM ${i} ORDER BY 1`,
    `SELECT i.id, lag(i.id) OVER (ORDER BY ${v(I)}, i.id) AS n FROM ${i} WHERE ${c(I)} ORDER BY 1`,
    `SELECT string_agg(${v(I)}, ',' ORDER BY ${w(I)}, i.id) AS v FROM ${i} WHERE ${c(I)}`,
    `SELECT i.id FROM ${i} WHERE i.id IN (SELECT j.id FROM svc.item j WHERE ${c(of('j'))}) AND ${c2(I)} ORDER BY 1`,
    `SELECT i.state, i.box_id, max(${v(I)}) AS v FROM ${i} GROUP BY GROUPING SETS ((i.state), (i.box_id), ()) ORDER BY 1, 2, 3`,
    `SELECT CASE WHEN ${c(I)} THEN ${v(I)} ELSE ${w(I)} END AS v FROM ${i} ORDER BY i.id`,
    `SELECT i.id FROM ${i} WHERE i.id = (SELECT j.id FROM svc.item j WHERE ${c(of('j'))} LIMIT 1)`,
    `WITH RECURSIVE r AS (SELECT i.id, 1 AS k FROM ${i} WHERE ${c(I)} UNION SELECT i.id, r.k + 1 FROM r JOIN ${i} ON i.id = r.id + 1 AND r.k < 3 AND ${c2(I)}) SELECT r.id, r.k FROM r ORDER BY 1, 2`,
    `SELECT i.id FROM ${i} ORDER BY i.id LIMIT (SELECT count(*) FROM ${i} WHERE ${c(I)})`,
    `SELECT i.id FROM ${i} ORDER BY i.id OFFSET (SELECT length(max(${v(I)})) FROM ${i})`,
    `SELECT i.id FROM ${i} WHERE ${c(I)} INTERSECT ALL SELECT i.id FROM ${i} WHERE ${c2(I)} ORDER BY 1`,
    `SELECT i.state, i.box_id, count(${v(I)}) AS n FROM ${i} GROUP BY ROLLUP (i.state, i.box_id) HAVING count(*) > 0 ORDER BY 1, 2`,
    `SELECT i.state, max(${v(I)}) AS v FROM ${i} GROUP BY CUBE (i.state) ORDER BY 1`,
    `SELECT i.id, nth_value(${v(I)}, 2) OVER (ORDER BY i.id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS v FROM ${i} ORDER BY 1`,
    `SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ${v(I)}) AS v, mode() WITHIN GROUP (ORDER BY ${w(I)}) AS w FROM ${i}`,
    `SELECT i.id, i.secret, i.note FROM ${i} ORDER BY i.secret NULLS FIRST, i.note DESC, i.id`,
    `SELECT i.id, j.id AS k FROM ${i} FULL JOIN svc.item j ON i.id = j.id AND ${c(I)} ORDER BY 1, 2`,
    `SELECT id, i.state, j.state AS s FROM ${i} FULL JOIN (SELECT j.id, j.state FROM svc.item j WHERE ${c(of('j'))}) j USING (id) ORDER BY 1, 2`,
    `SELECT i.id, j.id AS k FROM ${i} JOIN svc.item j ON i.secret = j.secret OR i.note = j.note ORDER BY 1, 2`,
    `SELECT to_jsonb(i) AS v FROM ${i} WHERE ${c(I)} ORDER BY i.id`,
    `SELECT i.id FROM ${i} WHERE i::text LIKE '%9%' AND ${c(I)} ORDER BY 1`,
    `SELECT array_agg(i.id ORDER BY ${v(I)}, i.id) FILTER (WHERE ${c(I)}) AS v FROM ${i}`,
    `EXPLAIN SELECT i.id FROM ${i} WHERE ${c(I)}`,
    `EXPLAIN (LOGICAL) SELECT i.id, ${v(I)} AS v FROM ${i} WHERE ${c(I)}`,
    `SELECT ${v(I)} AS v, i.state, count(i.n) AS k FROM ${i} GROUP BY i.id ORDER BY i.id`,
    `SELECT i.state, max(${v(I)}) AS v FROM ${i} GROUP BY i.entity_id HAVING ${c(I)} ORDER BY i.id`,
    `SELECT sum("measure.share") AS m, max("measure.share") AS k FROM dsvc.item i WHERE ${c(I)}`,
    `SELECT i.state, sum("measure.share") AS m FROM dsvc.large i GROUP BY 1 ORDER BY 1`,
    `SELECT sum("measure.grade") AS m FROM dsvc.large i WHERE ${c(I)}`,
    `SELECT sum("measure.inverted") AS m FROM dsvc.item i WHERE ${c(I)}`,
    `SELECT i.id, i.entity_label FROM ${i} WHERE i.entity_id LIKE 'entry:%' AND ${c(I)} ORDER BY 1`,
  );
});

const PATHS = ['next[item]', 'next[item].next[item]', 'before[item]', 'next[item*]', 'before[item*]', 'lies_in[box].has_item[item]'];
const walking: fc.Arbitrary<string> = fc
  .tuple(from(...PATHS), condition(true), value(true), condition(true), from(...RELATIONS.slice(1, 2), 'dsvc.big', 'dsvc.large', 'dsvc.huge'))
  .chain(([p, c, v, c2, relation]) =>
    from(
      `SELECT i.id FROM ${relation} i WHERE ${c(path(p))} ORDER BY 1`,
      `SELECT i.id, count(${path(p)('id')}) AS n FROM ${relation} i WHERE ${c2(I)} GROUP BY i.id ORDER BY 1`,
      `SELECT i.id, max(${v(path(p))}) AS v FROM ${relation} i GROUP BY i.id ORDER BY 1`,
      `SELECT max(${v(path(p))}) AS v FROM ${relation} i WHERE ${c2(I)}`,
      `SELECT i.id, ${v(path(p))} AS v FROM ${relation} i ORDER BY 1, 2`,
      `SELECT i.n, ${v(path('next[item]'))} AS v, count(${path(p)('id')}) AS k FROM ${relation} i GROUP BY i.id ORDER BY i.id`,
      `SELECT i.box_name, count(${path('has_item[item]')('id')}) AS k, max(${v(path('has_item[item]'))}) AS v FROM dsvc.box i GROUP BY i.box_id ORDER BY i.box_id`,
      `SELECT i.id, i."${p}.tag" AS v FROM ${relation} i WHERE ${c2(I)} ORDER BY 1, 2`,
      `SELECT i.id, i.tag FROM ${relation} i WHERE ${c(path(p))} ORDER BY 1, 2`,
      `SELECT i.tag, count(*) AS n, max(${v(I)}) AS v FROM ${relation} i GROUP BY 1 ORDER BY 1`,
      `SELECT i.box_id, max(${v(path('has_item[item]'))}) AS v FROM dsvc.box i GROUP BY i.box_id ORDER BY 1`,
      `SELECT i.box_id FROM dsvc.box i WHERE ${c(path('has_item[item]'))} ORDER BY 1`,
      `SELECT i.box_id FROM dsvc.box i WHERE i.content > 1 OR i.last_text > '5' OR i.largest = 7 ORDER BY 1`,
      `SELECT i.box_id, i.content, i.largest, i.last_text, i.entity_label FROM svc.box i WHERE i.largest < 9 OR i.content IS NULL ORDER BY i.last_text, 1`,
      `SELECT i.id, i."lies_in[box].content" AS v, i."lies_in[box].entity_label" AS w FROM ${relation} i WHERE ${c2(I)} OR i."lies_in[box].largest" > 3 ORDER BY 1`,
      `SELECT i.box_id, sum("measure.~lies_in[item].inverted") AS m FROM dsvc.box i GROUP BY i.box_id ORDER BY 1`,
      `SELECT i.box_id, sum("measure.has_item[item].inverted") AS m FROM dsvc.box i GROUP BY i.box_id ORDER BY 1`,
    ),
  );

const viewed: fc.Arbitrary<string> = fc
  .tuple(from(...VIEWS), condition(true), value(true))
  .chain(([view, c, v]) =>
    from(
      `SELECT i.id FROM ${view} i WHERE ${c(I)} ORDER BY 1`,
      `SELECT i.id, ${v(I)} AS v FROM ${view} i ORDER BY 1`,
      `SELECT i.id FROM ${view} i JOIN svc.item j ON j.id = i.id WHERE ${c(of('j'))} ORDER BY 1`,
      `SELECT count(*) AS n FROM ${view} i WHERE ${c(I)}`,
      `SELECT i.state, i.n FROM vsvc.sums i WHERE i.n > 1 OR i.code = 7 ORDER BY 1`,
      `SELECT i.state FROM vsvc.sums i ORDER BY 1`,
    ),
  );

/** One query. */
export const query: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: simple },
  { weight: 2, arbitrary: walking },
  { weight: 1, arbitrary: viewed },
  { weight: 4, arbitrary: form },
);
