/** Errors about columns that are neither grouped nor aggregated: they name the column as the query does, and have its position. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA grouping',
  'CREATE TABLE grouping.car (plate text PRIMARY KEY, weight int)',
  'CREATE TABLE grouping.job (no int PRIMARY KEY, plate text, state text, hours int)',
  "INSERT INTO grouping.car VALUES ('a', 5), ('b', 7), ('c', 9)",
  "INSERT INTO grouping.job VALUES (1, 'a', 'x', 3), (2, 'a', 'y', 4), (3, 'b', 'x', 5), (4, NULL, 'z', 6)",
];
const MODEL = `CREATE ONTOLOGY grouped;
  CREATE MEASURE all_hours bigint AS SELECT SUM(hours);
  CREATE CONCEPT car (plate string, weight integer, PRIMARY KEY (plate));
  CREATE CONCEPT job (no bigint, plate string, state string, hours integer, all_hours MEASURE bigint, PRIMARY KEY (no), CONSTRAINT of_car FOREIGN KEY (plate) REFERENCES car (plate));
  CREATE MAPPING m_car INTO (car) AS SELECT plate, weight FROM grouping.car;
  CREATE MAPPING m_job INTO (job) AS SELECT no, plate, state, hours FROM grouping.job;
  CREATE ONTOLOGY CUBE loads AS SELECT state AS state, "measure.all_hours" AS all_hours FROM dsvc.job`;
const UNGROUPED = 'must appear in GROUP BY or in an aggregate function';

let s: TestService;
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(MODEL);
});
afterAll(() => s?.close());

describe('a key in GROUP BY', () => {
  it.each([
    ['SELECT no, state, COUNT(*) AS n FROM svc.job GROUP BY no ORDER BY no', 'SELECT no, state, count(*) AS n FROM grouping.job GROUP BY no ORDER BY no'],
    [
      'SELECT entity_label, weight, SUM("~of_car[job].hours") AS h FROM dsvc.car GROUP BY entity_id, entity_label HAVING weight > 5 ORDER BY weight DESC',
      'SELECT plate AS entity_label, weight, (SELECT sum(hours) FROM grouping.job j WHERE j.plate = c.plate) AS h FROM grouping.car c WHERE weight > 5 ORDER BY weight DESC',
    ],
    [
      'SELECT no, "of_car[car].weight" AS w, COUNT(*) AS n FROM dsvc.job GROUP BY 1 ORDER BY 2, 1',
      'SELECT no, weight AS w, 1 AS n FROM grouping.job LEFT JOIN grouping.car USING (plate) ORDER BY 2, 1',
    ],
    [
      'SELECT c.plate, c.weight, count(j.no) AS n FROM svc.car c LEFT JOIN svc.job j ON j.plate = c.plate GROUP BY c.plate ORDER BY 1',
      'SELECT c.plate, c.weight, count(j.no) AS n FROM grouping.car c LEFT JOIN grouping.job j ON j.plate = c.plate GROUP BY c.plate, c.weight ORDER BY 1',
    ],
    [
      'SELECT no, state, SUM(hours) OVER () AS s FROM svc.job GROUP BY no ORDER BY no',
      'SELECT no, state, sum(hours) OVER () AS s FROM grouping.job ORDER BY no',
    ],
  ])('covers the columns of its row: %s', async (sql, expected) => {
    const found = await s.database.exec(`SELECT row_to_json(q) AS row FROM (${expected}) q`);
    expect(await s.rows(sql, 'grouped')).toEqual(found.map((r) => r.row));
  });

  it.each([
    'SELECT plate, state, COUNT(*) AS n FROM svc.job GROUP BY plate',
    'SELECT c.plate, j.state, COUNT(*) AS n FROM svc.car c, svc.job j GROUP BY c.plate',
    'SELECT plate, "~of_car[job].state" AS s, COUNT(*) AS n FROM dsvc.car GROUP BY plate',
    'SELECT no, state, COUNT(*) AS n FROM svc.job GROUP BY ROLLUP (no)',
    'SELECT no, state, COUNT(*) AS n FROM (SELECT no, state FROM svc.job) q GROUP BY no',
  ])('covers nothing else: %s', async (sql) => {
    expect((await s.query(sql, 'grouped')).json.code).toBe('grouping_error');
  });

  it('covers nothing if it is masked', async () => {
    await s.rows(
      'CREATE ROLE clerk; CREATE USER cleo; GRANT QUERY ON ALL ontology.grouped TO USER cleo; CREATE POLICY hide ON PROPERTY no MASK FULL',
      'grouped',
    );
    const [{ token }] = await s.rows('CREATE TOKEN FOR cleo');
    for (const key of ['no', 'entity_id'])
      expect((await s.query(`SELECT ${key}, state, COUNT(*) AS n FROM svc.job GROUP BY ${key}`, 'grouped', token)).json.code).toBe('grouping_error');
    await s.rows('DROP POLICY hide', 'grouped');
  });
});

describe('a query that PostgreSQL cannot group', () => {
  it.each([
    ['SELECT state, hours, COUNT(*) AS n FROM svc.job GROUP BY state', 'grouping_error', 15, `the column hours ${UNGROUPED}`],
    ['SELECT state, j.hours + 1 AS h FROM svc.job j GROUP BY state', 'grouping_error', 15, `the column j.hours ${UNGROUPED}`],
    ['SELECT state, "of_car[car].weight", COUNT(*) AS n FROM dsvc.job GROUP BY state', 'grouping_error', 15, `the column "of_car[car].weight" ${UNGROUPED}`],
    ['SELECT state FROM svc.job GROUP BY state HAVING no > 1', 'grouping_error', 49, `the column no ${UNGROUPED}`],
    ['SELECT state FROM svc.job WHERE SUM(hours) > 1', 'grouping_error', 33, 'aggregate functions are not allowed in WHERE'],
    ['SELECT state, all_hours FROM vsvc.loads WHERE all_hours > 5', 'bare_measure', 47, 'the measure `all_hours` is used outside an aggregate'],
    ['SELECT state FROM dsvc.job WHERE "measure.all_hours" > 5', 'bare_measure', 34, 'the measure `all_hours` is used outside an aggregate'],
  ])('%s', async (sql, code, position, message) => {
    const { status, json } = await s.query(sql, 'grouped');
    expect([status, json.code, json.position, json.data]).toEqual([400, code, position, message]);
  });

  it('has a hint for measures in WHERE', async () => {
    const { json } = await s.query('SELECT state, all_hours FROM vsvc.loads WHERE all_hours > 5', 'grouped');
    expect(json.hint).toBe('A measure has a value for each group. Write GROUP BY, and filter the groups with HAVING SUM(all_hours).');
    expect((await s.query('SELECT state, SUM(all_hours) AS n FROM vsvc.loads GROUP BY state HAVING SUM(all_hours) > 5', 'grouped')).status).toBe(200);
  });
});
