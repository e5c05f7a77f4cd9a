/** Calculated properties that follow paths: their rows are those of correlated sub-selects over the tables. */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphOf } from '../../examples/world/graph.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { planSelect } from '../../src/planner/index.ts';
import { memoryDatabase } from '../support/databases/memory.ts';

const TABLES = `
CREATE TABLE pol (no int PRIMARY KEY, holder int, premium numeric);
INSERT INTO pol VALUES (1, 1, 100), (2, 1, 50), (3, 2, 0), (4, NULL, 80);
CREATE TABLE holder (id int PRIMARY KEY, nm text, town text);
INSERT INTO holder VALUES (1, 'Ada', 'Ulm'), (2, 'Bo', NULL);
CREATE TABLE claim (id int PRIMARY KEY, pol int, kind text, days int);
INSERT INTO claim VALUES (10, 1, 'fire', 3), (11, 1, 'water', 0), (12, 2, 'fire', 5), (13, 3, NULL, NULL), (14, NULL, 'fire', 7), (15, 9, 'water', 1);
CREATE TABLE old_claim (id int PRIMARY KEY, pol int, kind text, days int);
INSERT INTO old_claim VALUES (20, 2, 'storm', 9), (21, 4, 'storm', 2);
CREATE TABLE payment (claim int, pos int, amount numeric(10,2), way text);
INSERT INTO payment VALUES (10, 1, 10, 'bank'), (10, 2, 20.5, 'cash'), (11, 1, 5, 'bank'), (12, 1, NULL, 'bank'), (20, 1, 7, NULL), (NULL, 1, 99, 'bank');
CREATE TABLE reserve (claim int, amount numeric(10,2));
INSERT INTO reserve VALUES (10, 100), (12, 30), (12, 4), (13, 1), (20, 2);
CREATE TABLE adjuster (id int PRIMARY KEY, rate int);
INSERT INTO adjuster VALUES (1, 10), (2, 20);
CREATE TABLE works (claim int, adjuster int, hours int);
INSERT INTO works VALUES (10, 1, 2), (10, 2, 3), (11, 1, 4), (20, 2, 1), (10, 9, 100);
CREATE TABLE tag (claim int, tag text);
INSERT INTO tag VALUES (10, 'a'), (10, 'b'), (20, 'c');
CREATE TABLE dept (id int PRIMARY KEY, up int, cost int);
INSERT INTO dept VALUES (1, NULL, 1), (2, 1, 2), (3, 2, 4), (4, 2, 8);
`;

const MODEL = `
CREATE ONTOLOGY claims;
CREATE PROPERTY paid decimal AS SELECT coalesce(SUM("has_payment[payment].amount"), 0);
CREATE PROPERTY loss decimal AS SELECT paid + coalesce(SUM("has_reserve[reserve].amount"), 0);
CREATE PROPERTY payments bigint AS SELECT COUNT("has_payment[payment].pos");
CREATE PROPERTY by_bank decimal AS SELECT SUM("has_payment[payment].amount") FILTER (WHERE "has_payment[payment].way" = 'bank');
CREATE PROPERTY holder_name string AS SELECT "of_policy[policy].held_by[holder].name";
CREATE PROPERTY per_day decimal AS SELECT loss / nullif(days, 0);
CREATE PROPERTY hours bigint AS SELECT SUM("handled_by[adjuster]_hours" * "handled_by[adjuster].rate");
CREATE PROPERTY rate_quarter decimal AS SELECT SUM("handled_by[adjuster].rate") / 4;
CREATE PROPERTY tag_list string AS SELECT string_agg(tags, ',' ORDER BY tags);
CREATE PROPERTY losses decimal AS SELECT coalesce(SUM("has_claim[claim].loss"), 0);
CREATE PROPERTY loss_ratio decimal AS SELECT losses / nullif(premium, 0);
CREATE PROPERTY worst decimal AS SELECT MAX("holds[policy].has_claim[claim].loss");
CREATE PROPERTY share decimal AS SELECT round(amount / nullif("of_claim[claim].loss", 0), 6);
CREATE PROPERTY guess decimal AS SELECT SUM(coalesce("has_payment[payment].amount", 1000) + days);
CREATE PROPERTY siblings bigint AS SELECT COUNT("of_policy[policy].has_claim[claim].claim_id");
CREATE PROPERTY below bigint AS SELECT SUM("~part_of[dept*5].cost");
CREATE PROPERTY parts bigint AS SELECT COUNT("~part_of[dept].dept_id");
CREATE PROPERTY most_parts bigint AS SELECT MAX("~part_of[dept].parts");
CREATE PROPERTY deep bigint AS SELECT SUM("~part_of[dept].most_parts") + most_parts;
CREATE PROPERTY big_parts bigint AS SELECT COUNT("~part_of[big].dept_id");
CREATE MEASURE mean_loss decimal AS SELECT AVG(loss);
CREATE MEASURE total_loss decimal AS SELECT SUM(loss);
CREATE CONCEPT holder (holder_id int, name string, town string, worst decimal, PRIMARY KEY (holder_id));
CREATE CONCEPT policy (policy_no int, holder_id int, premium decimal, losses decimal, loss_ratio decimal, PRIMARY KEY (policy_no),
  CONSTRAINT held_by FOREIGN KEY (holder_id) REFERENCES holder (holder_id) INVERSEOF holds);
CREATE CONCEPT adjuster (adjuster_id int, rate int, PRIMARY KEY (adjuster_id));
CREATE CONCEPT claim (claim_id int, policy_no int, kind string, days int, CONSTRAINT tags MULTIVALUE string, paid decimal, loss decimal, payments bigint, by_bank decimal, holder_name string, per_day decimal,
  hours bigint, tag_list string, rate_quarter decimal, guess decimal, siblings bigint, mean_loss MEASURE decimal, total_loss MEASURE decimal, PRIMARY KEY (claim_id),
  CONSTRAINT of_policy FOREIGN KEY (policy_no) REFERENCES policy (policy_no) INVERSEOF has_claim,
  CONSTRAINT handled_by MULTIREFERENCE adjuster INVERSEOF handles);
CREATE CONCEPT old_claim INHERITS (claim);
CREATE CONCEPT payment (claim_id int, pos int, amount decimal, way string, share decimal, PRIMARY KEY (claim_id, pos), CONSTRAINT of_claim FOREIGN KEY (claim_id) REFERENCES claim (claim_id) INVERSEOF has_payment);
CREATE CONCEPT reserve (claim_id int, amount decimal, CONSTRAINT for_claim FOREIGN KEY (claim_id) REFERENCES claim (claim_id) INVERSEOF has_reserve);
CREATE CONCEPT dept (dept_id int, up int, cost int, below bigint, parts bigint, most_parts bigint, deep bigint, big_parts bigint, PRIMARY KEY (dept_id), CONSTRAINT part_of FOREIGN KEY (up) REFERENCES dept (dept_id) TRANSITIVE);
CREATE CONCEPT big INHERITS (dept) FROM dsvc.dept WHERE cost > 1;
CREATE MAPPING m1 INTO holder AS SELECT id AS holder_id, nm AS name, town FROM holder;
CREATE MAPPING m2 INTO policy AS SELECT no AS policy_no, holder AS holder_id, premium FROM pol;
CREATE MAPPING m3 INTO claim AS SELECT id AS claim_id, pol AS policy_no, kind, days FROM claim;
CREATE MAPPING m4 INTO old_claim AS SELECT id AS claim_id, pol AS policy_no, kind, days FROM old_claim;
CREATE MAPPING m5 INTO payment AS SELECT claim AS claim_id, pos, amount, way FROM payment;
CREATE MAPPING m6 INTO reserve AS SELECT claim AS claim_id, amount FROM reserve;
CREATE MAPPING m7 INTO adjuster AS SELECT id AS adjuster_id, rate FROM adjuster;
CREATE MAPPING m9 INTO (claim) MULTIVALUE tags AS SELECT claim AS claim_id, tag AS tags FROM tag;
CREATE MAPPING m10 (CONSTRAINT handled_by FOREIGN KEY (adjuster) REFERENCES adjuster (adjuster_id), CONSTRAINT handles FOREIGN KEY (claim) REFERENCES claim (claim_id)) AS SELECT claim, adjuster, hours FROM works;
CREATE MAPPING m8 INTO dept AS SELECT id AS dept_id, up, cost FROM dept;
`;
const parser = await loadNodeParser();

const context = { graph: graphOf(MODEL, 'claims', parser), parser, product: 'svc', activeDatasource: 'main' };
let db: PGlite;
const ask = async (sql: string): Promise<unknown[]> => {
  const plan = planSelect(context, { text: sql, offset: 0 });
  return (await db.query<{ row: unknown }>(plan.sql, [...plan.params] as never[])).rows.map((r) => r.row);
};
const tables = async (sql: string): Promise<unknown[]> => (await db.query<{ row: unknown }>(`SELECT to_json(q) AS row FROM (${sql}) q`)).rows.map((r) => r.row);

beforeAll(async () => {
  db = await memoryDatabase();
  await db.exec(TABLES);
});
afterAll(() => db.close());

const sorted = (rows: readonly unknown[]): string[] => rows.map((r) => JSON.stringify(r)).sort();

/** The claims of both tables with the values that the model computes, each by a sub-select of its own. */
const CLAIM = `(SELECT c.*, p.paid + coalesce((SELECT sum(amount) FROM reserve r WHERE r.claim = c.id), 0) AS loss,
    (SELECT h.nm FROM pol JOIN holder h ON h.id = pol.holder WHERE pol.no = c.pol) AS holder_name, p.*,
    (SELECT sum(w.hours * a.rate) FROM works w JOIN adjuster a ON a.id = w.adjuster WHERE w.claim = c.id) AS hours,
    (SELECT string_agg(tag, ',' ORDER BY tag) FROM tag t WHERE t.claim = c.id) AS tag_list,
    (SELECT count(*) FROM (SELECT * FROM claim UNION ALL SELECT * FROM old_claim) d WHERE d.pol = c.pol AND c.pol IN (SELECT no FROM pol)) AS siblings
  FROM (SELECT * FROM claim UNION ALL SELECT * FROM old_claim) c
  CROSS JOIN LATERAL (SELECT coalesce(sum(amount), 0) AS paid, count(claim) AS payments, sum(amount) FILTER (WHERE way = 'bank') AS by_bank FROM payment WHERE claim = c.id) p) c`;

describe('a calculated property over paths', () => {
  it.each([
    ['SELECT claim_id, paid, loss, payments, by_bank FROM svc.claim', `SELECT id AS claim_id, paid, loss, payments, by_bank FROM ${CLAIM}`],
    ['SELECT claim_id, holder_name, hours, tag_list, siblings FROM svc.claim', `SELECT id AS claim_id, holder_name, hours, tag_list, siblings FROM ${CLAIM}`],
    [
      'SELECT claim_id, holder_name, hours, tag_list, siblings, per_day, loss FROM svc.claim WHERE claim_id > 0',
      `SELECT id AS claim_id, holder_name, hours, tag_list, siblings, loss / nullif(days, 0) AS per_day, loss FROM ${CLAIM}`,
    ],
    [
      'SELECT claim_id, guess FROM svc.claim WHERE claim_id > 0',
      'SELECT c.id AS claim_id, (SELECT sum(coalesce(amount, 1000) + days) FROM (SELECT 1) o LEFT JOIN payment p ON p.claim = c.id) AS guess FROM (SELECT * FROM claim UNION ALL SELECT * FROM old_claim) c',
    ],
    [
      'SELECT policy_no, losses, loss_ratio FROM svc.policy',
      `SELECT no AS policy_no, l AS losses, l / nullif(premium, 0) AS loss_ratio FROM pol, LATERAL (SELECT coalesce(sum(loss), 0) AS l FROM ${CLAIM} WHERE c.pol = pol.no) x`,
    ],
    [
      'SELECT policy_no, losses, loss_ratio FROM svc.policy WHERE policy_no = 2',
      `SELECT no AS policy_no, l AS losses, l / nullif(premium, 0) AS loss_ratio FROM pol, LATERAL (SELECT coalesce(sum(loss), 0) AS l FROM ${CLAIM} WHERE c.pol = pol.no) x WHERE no = 2`,
    ],
    [
      'SELECT name, worst FROM svc.holder',
      `SELECT nm AS name, (SELECT max(loss) FROM ${CLAIM} JOIN pol ON pol.no = c.pol WHERE pol.holder = h.id) AS worst FROM holder h`,
    ],
    [
      'SELECT pos, amount, share FROM svc.payment',
      `SELECT pos, amount, round(amount / nullif((SELECT loss FROM ${CLAIM} WHERE c.id = p.claim), 0), 6) AS share FROM payment p`,
    ],
    // whether a row belongs to the logic concept does not depend on the property, so this is not a circle
    [
      'SELECT dept_id, big_parts FROM svc.big',
      'SELECT id AS dept_id, (SELECT count(*) FROM dept b WHERE b.up = d.id AND b.cost > 1) AS big_parts FROM dept d WHERE cost > 1',
    ],
    ['SELECT dept_id, big_parts FROM svc.big WHERE big_parts > 0', 'SELECT id AS dept_id, 2 AS big_parts FROM dept WHERE id = 2'],
    ['SELECT dept_id, below FROM svc.dept', 'SELECT id AS dept_id, CASE id WHEN 1 THEN 14 WHEN 2 THEN 12 END AS below FROM dept'],
    [
      'SELECT kind, SUM("measure.total_loss") AS t, AVG(loss) AS a, COUNT("has_payment[payment].pos") AS n FROM dsvc.claim GROUP BY kind',
      `SELECT kind, sum(loss) AS t, avg(loss) AS a, sum(payments) AS n FROM ${CLAIM} GROUP BY kind`,
    ],
    [
      'SELECT deep, dept_id, most_parts, parts FROM svc.dept',
      'SELECT CASE id WHEN 1 THEN 2 END AS deep, id AS dept_id, CASE id WHEN 1 THEN 2 WHEN 2 THEN 0 END AS most_parts, CASE id WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 0 END AS parts FROM dept',
    ],
    [
      'SELECT deep, dept_id, most_parts, parts FROM svc.dept WHERE cost > 0',
      'SELECT CASE id WHEN 1 THEN 2 END AS deep, id AS dept_id, CASE id WHEN 1 THEN 2 WHEN 2 THEN 0 END AS most_parts, CASE id WHEN 1 THEN 1 WHEN 2 THEN 2 ELSE 0 END AS parts FROM dept',
    ],
    // the sum of integers is divided as decimal, as the property is declared
    ['SELECT claim_id, rate_quarter FROM svc.claim WHERE claim_id IN (10, 20)', 'SELECT 10 AS claim_id, 7.5 AS rate_quarter UNION ALL SELECT 20, 5'],
  ])('%s', async (sql, expected) => {
    expect(sorted(await ask(sql))).toEqual(sorted(await tables(expected)));
  });
});
