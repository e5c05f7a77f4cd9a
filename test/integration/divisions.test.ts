/** Divisions of integers in calculated properties and measures: they are computed in the declared type. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const MODEL = `CREATE PROPERTY ratio double AS SELECT (hours - days) / hours;
  CREATE PROPERTY exact decimal AS SELECT coalesce(hours, 1) / nullif(days, 0);
  CREATE PROPERTY whole integer AS SELECT hours / days;
  CREATE PROPERTY mixed double AS SELECT 1 + hours / (days + 2) * 100.0 - CASE WHEN hours > 2 THEN hours ELSE 0 END / 3;
  CREATE PROPERTY nested double AS SELECT hours / days / 2;
  CREATE PROPERTY weeks decimal AS SELECT (ended - begun) / 7;
  CREATE PROPERTY already double AS SELECT price / hours;
  CREATE MEASURE per_job double AS SELECT SUM(hours) / COUNT(no);
  CREATE MEASURE jobs bigint AS SELECT COUNT(no);
  CREATE MEASURE all_hours bigint AS SELECT SUM(hours);
  CREATE MEASURE over_measures decimal AS SELECT all_hours / jobs;
  CREATE MEASURE truncated bigint AS SELECT SUM(hours) / COUNT(no)`;
const CONCEPT = `CREATE CONCEPT job (no bigint, hours integer, days integer, begun date, ended date, price decimal, ratio double, exact decimal, whole integer, mixed double, nested double,
    weeks decimal, already double, per_job MEASURE double, jobs MEASURE bigint, all_hours MEASURE bigint, over_measures MEASURE decimal, truncated MEASURE bigint, PRIMARY KEY (no));
  CREATE MAPPING m_job INTO (job) AS SELECT no, hours, days, begun, ended, price FROM work.job`;

let s: TestService;
let warnings: { readonly code: string; readonly message: string }[];
beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA work',
      'CREATE TABLE work.job (no bigint PRIMARY KEY, hours int, days int, begun date, ended date, price numeric)',
      "INSERT INTO work.job VALUES (1, 5, 2, '2026-01-01', '2026-01-11', 7), (2, 3, 4, '2026-01-01', '2026-01-02', 1.5), (3, 2, 1, '2026-02-01', '2026-01-02', 3)",
    ],
  });
  const [row] = await s.rows(`CREATE ONTOLOGY work; ${MODEL}; ${CONCEPT}`);
  warnings = row.warnings;
});
afterAll(() => s?.close());

describe('a division of integers', () => {
  it.each([
    ['SELECT no, ratio AS x FROM svc.job ORDER BY no', 'SELECT no, (hours - days)::float8 / hours AS x FROM work.job ORDER BY no'],
    ['SELECT no, exact AS x FROM svc.job ORDER BY no', 'SELECT no, hours::numeric / days AS x FROM work.job ORDER BY no'],
    ['SELECT no, whole AS x FROM svc.job ORDER BY no', 'SELECT no, hours / days AS x FROM work.job ORDER BY no'],
    [
      'SELECT no, mixed AS x FROM svc.job ORDER BY no',
      'SELECT no, 1 + hours::float8 / (days + 2) * 100 - (CASE WHEN hours > 2 THEN hours ELSE 0 END)::float8 / 3 AS x FROM work.job ORDER BY no',
    ],
    ['SELECT no, nested AS x FROM svc.job ORDER BY no', 'SELECT no, hours::float8 / days / 2 AS x FROM work.job ORDER BY no'],
    ['SELECT no, weeks AS x FROM svc.job ORDER BY no', 'SELECT no, (ended - begun)::numeric / 7 AS x FROM work.job ORDER BY no'],
    ['SELECT no, already AS x FROM svc.job ORDER BY no', 'SELECT no, (price / hours)::float8 AS x FROM work.job ORDER BY no'],
    ['SELECT no FROM svc.job WHERE ratio > 0.5 ORDER BY no', 'SELECT no FROM work.job WHERE (hours - days)::float8 / hours > 0.5 ORDER BY no'],
    ['SELECT SUM("measure.per_job") AS x FROM dsvc.job', 'SELECT sum(hours)::float8 / count(*) AS x FROM work.job'],
    ['SELECT SUM("measure.over_measures") AS x FROM dsvc.job', 'SELECT sum(hours)::numeric / count(*) AS x FROM work.job'],
    ['SELECT SUM("measure.truncated") AS x FROM dsvc.job', 'SELECT sum(hours) / count(*) AS x FROM work.job'],
    // a query divides as PostgreSQL does
    ['SELECT no, hours / days AS x FROM svc.job ORDER BY no', 'SELECT no, hours / days AS x FROM work.job ORDER BY no'],
  ])('%s', async (sql, expected) => {
    const found = await s.database.exec(`SELECT row_to_json(q)::text AS row FROM (${expected}) q`);
    const { text } = await s.query(sql, 'work');
    expect(JSON.parse(text).data).toEqual(found.map((r) => JSON.parse(String(r.row))));
  });

  it('is named by a warning when it is created', () => {
    const found = warnings.filter((w) => w.code === 'integer_division').map((w) => /`(\w+)`/.exec(w.message)?.[1]);
    expect(found).toEqual(['ratio', 'exact', 'mixed', 'nested', 'weeks', 'per_job', 'over_measures']);
  });
});
