/** Errors about columns that are neither grouped nor aggregated: they name the column as the query does, and have its position. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA grouping',
  'CREATE TABLE grouping.car (plate text PRIMARY KEY, weight int)',
  'CREATE TABLE grouping.job (no int PRIMARY KEY, plate text, state text, hours int)',
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
}, 180_000);
afterAll(() => s?.close());

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
