/** Concepts below a logic concept: a mapped one has its own rows, an unmapped one has no rows of a sibling, whichever way they are read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

const TABLES = [
  'CREATE SCHEMA souls',
  'CREATE TABLE souls.t_person (no int PRIMARY KEY, nm text, job text, boss int)',
  "INSERT INTO souls.t_person VALUES (1, 'a', NULL, NULL), (2, 'b', 'cook', 1), (3, 'e', 'cook', 2)",
  'CREATE TABLE souls.t_teacher (no int PRIMARY KEY, nm text, job text, boss int)',
  "INSERT INTO souls.t_teacher VALUES (11, 'c', 'teach', 2), (12, 'd', NULL, 11)",
];
const model = (name: string, more = ''): string => `CREATE ONTOLOGY ${name};
  CREATE CONCEPT person (no bigint, nm string, job string, boss bigint, PRIMARY KEY (no), CONSTRAINT led_by FOREIGN KEY (boss) REFERENCES person (no) INVERSEOF leads TRANSITIVE);
  CREATE CONCEPT worker INHERITS (person) FROM dsvc.person WHERE job IS NOT NULL AND NOT _type_of_guest;
  CREATE CONCEPT guest INHERITS (person);
  CREATE CONCEPT full_teacher INHERITS (worker);
  CREATE CONCEPT visiting_teacher INHERITS (worker);
  CREATE CONCEPT late_visitor INHERITS (visiting_teacher);
  CREATE MAPPING map_full INTO (full_teacher) AS SELECT no, nm, job, boss FROM souls.t_teacher;
  CREATE MAPPING map_guest INTO (guest) AS SELECT 99 AS no, 'z' AS nm, 'visit' AS job, 11 AS boss;
  ${more}`;

let s: TestService;
let token = '';
beforeAll(async () => {
  s = await startService({ tables: TABLES });
  await s.rows(model('souls'));
  await s.rows(model('mapped', 'CREATE MAPPING map_person INTO (person) AS SELECT no, nm, job, boss FROM souls.t_person'));
  await s.rows('CREATE USER clerk');
  for (const o of ['souls', 'mapped']) await s.rows(`GRANT QUERY ON ontology.${o}.concept.visiting_teacher TO USER clerk`, o);
  token = (await s.rows('CREATE TOKEN FOR clerk'))[0].token;
});
afterAll(() => s?.close());

const nos = async (sql: string, ontology: string, by?: string): Promise<unknown[]> => {
  const { status, json } = await s.query(sql, ontology, by);
  return status === 200 ? json.data.map((row: Record<string, unknown>) => Object.values(row).join(' ')) : [json];
};

describe('an unmapped concept below a logic concept', () => {
  // with `person` mapped: SELECT no FROM souls.t_person WHERE job IS NOT NULL
  it.each([
    ['souls', []],
    ['mapped', ['2 person', '3 person']],
  ])('has no rows of a sibling (%s)', async (ontology, expected) => {
    for (const concept of ['visiting_teacher', 'late_visitor']) {
      for (const schema of ['svc', 'esvc', 'dsvc'])
        expect(await nos(`SELECT no, entity_type FROM ${schema}.${concept} ORDER BY no`, ontology)).toEqual(expected);
      expect(await nos(`SELECT COUNT(*) AS n FROM svc.${concept}`, ontology)).toEqual([String(expected.length)]);
      expect(await nos(`SELECT no, entity_type FROM dsvc.person WHERE _type_of_${concept} ORDER BY no`, ontology)).toEqual(expected);
    }
    expect(await nos('SELECT no, entity_type FROM svc.visiting_teacher ORDER BY no', ontology, token)).toEqual(expected);
  });

  it('is distinguished from its siblings by flags in one query', async () => {
    const flags = ['worker', 'visiting_teacher', 'full_teacher'];
    const expected = ['1 false false false', '2 true true false', '3 true true false', '11 true false true', '12 false false true', '99 false false false'];
    for (const order of [flags, [...flags].reverse(), ['visiting_teacher', 'worker', 'full_teacher']]) {
      const { json } = await s.query(`SELECT no, ${order.map((c) => `_type_of_${c}`).join(', ')} FROM dsvc.person ORDER BY no`, 'mapped');
      expect(json.data.map((row: Record<string, unknown>) => [row.no, ...flags.map((c) => row[`_type_of_${c}`])].join(' '))).toEqual(expected);
    }
  });

  it.each([
    ['souls', [], []],
    // 2 leads 3; 1 leads 2, 2 leads 3 and 11
    ['mapped', ['2 3'], ['1 2', '1 3', '2 3']],
  ])('has no rows at the end of a path or a walk (%s)', async (ontology, path, walk) => {
    const at = '"leads[visiting_teacher].no"';
    expect(await nos(`SELECT no, ${at} FROM dsvc.person WHERE ${at} IS NOT NULL AND no = 2 ORDER BY 1, 2`, ontology)).toEqual(path);
    const far = at.replace(']', '*3]');
    expect(await nos(`SELECT no, ${far} FROM dsvc.person WHERE ${far} IS NOT NULL AND no < 10 ORDER BY 1, 2`, ontology)).toEqual(walk);
    expect(await nos('SELECT no FROM dsvc.visiting_teacher WHERE "led_by[person].no" > 10', ontology)).toEqual([]);
  });
});

describe('a mapped concept below a logic concept', () => {
  it.each(['souls', 'mapped'])('has its own rows; the logic concept has those that meet its condition (%s)', async (ontology) => {
    expect(await nos('SELECT no, entity_type FROM svc.full_teacher ORDER BY no', ontology)).toEqual(['11 full_teacher', '12 full_teacher']);
    const workers = ontology === 'mapped' ? ['2 person', '3 person', '11 full_teacher'] : ['11 full_teacher'];
    expect(await nos('SELECT no, entity_type FROM svc.worker ORDER BY no', ontology)).toEqual(workers);
    expect(await nos('SELECT no FROM dsvc.worker WHERE _type_of_full_teacher ORDER BY no', ontology)).toEqual(['11']);
    expect(await nos('SELECT no FROM dsvc.person WHERE _type_of_full_teacher ORDER BY no', ontology)).toEqual(['11', '12']);
  });

  it('is warned of in the answer of the script', async () => {
    const [{ warnings }] = await s.rows(model('warned'));
    expect(warnings).toEqual([
      expect.objectContaining({
        code: 'rows_outside_parent',
        message: '`full_teacher` inherits from `worker`, but its rows that do not meet the condition of `worker` are not rows of `worker`',
      }),
    ]);
  });
});
