/** Columns of PostgreSQL's type `real`: a property that is declared `float` or `double` has their values and digits, not those of a cast. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let s: TestService;
beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA lab',
      'CREATE TABLE lab.probe (id int PRIMARY KEY, weight real, other double precision)',
      'CREATE TABLE lab.sample (id int PRIMARY KEY, mass real, wide double precision)',
      'INSERT INTO lab.probe VALUES (1, 4.7, 4.7), (2, 0.1, 0.1), (3, 4.7, 3), (4, NULL, NULL), (5, 3.4e38, 1e300)',
      'INSERT INTO lab.sample VALUES (1, 4.7, 4.7)',
    ],
  });
  await s.rows(`CREATE ONTOLOGY lab;
    CREATE CONCEPT thing_with_mass (id integer, mass double, PRIMARY KEY (id));
    CREATE CONCEPT probe (weight float, other float, CONSTRAINT next FOREIGN KEY (id) REFERENCES probe (id)) INHERITS (thing_with_mass);
    CREATE CONCEPT light INHERITS (probe) FROM svc.probe WHERE weight < 1;
    CREATE CONCEPT sample INHERITS (thing_with_mass);
    CREATE CONCEPT mixed (id integer, wide float, PRIMARY KEY (id));
    CREATE MAPPING m_probe INTO (probe) AS SELECT id, weight, other FROM lab.probe;
    CREATE MAPPING m_sample INTO (sample) AS SELECT id, mass FROM lab.sample;
    CREATE MAPPING m_mixed INTO (mixed) AS SELECT id, wide FROM lab.sample;
    CREATE MAPPING m_mixed2 INTO (mixed) AS SELECT id, weight AS wide FROM lab.probe WHERE id = 2`);
});
afterAll(() => s?.close());

describe('a real column', () => {
  it.each([
    ['SELECT id, weight, weight::text AS t FROM svc.probe ORDER BY id', 'SELECT id, weight, weight::text AS t FROM lab.probe ORDER BY id'],
    ["SELECT id FROM svc.probe WHERE weight = '4.7' ORDER BY id", "SELECT id FROM lab.probe WHERE weight = '4.7' ORDER BY id"],
    [
      'SELECT weight, count(*)::int AS n FROM svc.probe GROUP BY weight ORDER BY weight',
      'SELECT weight, count(*)::int AS n FROM lab.probe GROUP BY weight ORDER BY weight',
    ],
    ['SELECT min(weight) AS a, max(weight) AS b, max(other) AS c FROM svc.probe', 'SELECT min(weight) AS a, max(weight) AS b, max(other) AS c FROM lab.probe'],
    ['SELECT "next[probe].weight" AS w FROM dsvc.probe ORDER BY 1', 'SELECT weight AS w FROM lab.probe ORDER BY 1'],
    ['SELECT id, weight FROM svc.light', 'SELECT id, weight FROM lab.probe WHERE weight < 1'],
    // the ancestor has the rows of a mapping that does not give the column
    [
      'SELECT id, mass FROM svc.thing_with_mass ORDER BY mass, id',
      'SELECT id, mass FROM lab.sample UNION ALL SELECT id, NULL FROM lab.probe ORDER BY mass, id',
    ],
    // with a column of another type, the declared type decides
    ['SELECT id, wide FROM svc.mixed ORDER BY id', 'SELECT id, wide FROM lab.sample UNION ALL SELECT id, weight FROM lab.probe WHERE id = 2 ORDER BY id'],
  ])('%s', async (sql, expected) => {
    const found = await s.database.exec(`SELECT row_to_json(q)::text AS row FROM (${expected}) q`);
    const { text } = await s.query(sql, 'lab');
    expect(JSON.parse(text).data).toEqual(found.map((r) => JSON.parse(String(r.row))));
  });

  it('is compared as in the table by URL filters', async () => {
    const response = await s.fetch('/svc/api/q/lab/concept/probe?_subj_=weight&_op_=eq&_comp_=4.7&_select_=id&_order_=id', {
      headers: { 'x-api-key': s.token },
    });
    expect(((await response.json()) as { data: unknown }).data).toEqual([{ id: 1 }, { id: 3 }]);
  });
});
