/** Readers with grants on a part of a hierarchy: exact answers. The generated attacks are in partial-readers.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Crew } from './editors-crew.ts';

let crew: Crew;
let ontology: string;
const tokens: Record<string, string> = {};
const rows = (user: string, sql: string) => crew.service.rows(sql, ontology, tokens[user]);

beforeAll(async () => {
  crew = await Crew.open();
  ontology = await crew.ontology(
    // two concepts that list `salary`: one without rows, and one of another tree
    'CREATE CONCEPT temp (salary decimal(12,2), grade bigint) INHERITS (being)',
    'CREATE CONCEPT over (salary decimal(12,2), grade bigint, k bigint, PRIMARY KEY (k))',
    'CREATE CONCEPT rich INHERITS (being) FROM dsvc.being WHERE salary > 5000',
    'CREATE MEASURE pay_sum decimal AS SELECT SUM(salary)',
    `CREATE OR REPLACE CONCEPT being (being_id bigint, given string, PRIMARY KEY (being_id), LABEL (given), pay_sum MEASURE decimal,
      CONSTRAINT nick MULTIVALUE bigint, CONSTRAINT on_it MULTIREFERENCE project INVERSEOF has_on)`,
    'CREATE PROPERTY own_pay decimal AS SELECT "to_being[being].salary"; CREATE CONCEPT own2 (o_id bigint, own_pay decimal, PRIMARY KEY (o_id), CONSTRAINT to_being FOREIGN KEY (o_id) REFERENCES being (being_id) INVERSEOF from_own)',
    'CREATE MAPPING m_own2 INTO (own2) AS SELECT CAST(101 AS bigint) AS o_id',
    'CREATE VIEW pays AS SELECT being_id, salary FROM dsvc.being',
    // the lowest of three levels has an inherited walk
    `CREATE CONCEPT staffer (CONSTRAINT chief FOREIGN KEY (boss_id) REFERENCES being (being_id) TRANSITIVE(4),
      CONSTRAINT peer MULTIREFERENCE being INVERSEOF peer_of TRANSITIVE(4)) INHERITS (worker)`,
    'CREATE CONCEPT intern INHERITS (staffer)',
    "CREATE MAPPING m_staffer INTO (staffer) AS SELECT id + 2000 AS being_id, 's' AS given, boss + 2000 AS boss_id FROM crew.t_worker",
    "CREATE MAPPING m_intern INTO (intern) AS SELECT id + 3000 AS being_id, 'i' AS given, id + 2000 AS boss_id FROM crew.t_worker WHERE id = 103",
    'CREATE MAPPING m_peer (CONSTRAINT peer FOREIGN KEY (b) REFERENCES being (being_id), CONSTRAINT peer_of FOREIGN KEY (a) REFERENCES staffer (being_id)) AS SELECT id + CASE WHEN id = 103 THEN 3000 ELSE 2000 END AS a, boss + 2000 AS b FROM crew.t_worker',
    'CREATE MAPPING m_nick INTO (being) MULTIVALUE nick AS SELECT id AS being_id, firm AS nick FROM crew.t_phone',
    'CREATE MAPPING m_on (CONSTRAINT on_it FOREIGN KEY (b) REFERENCES project (project_id), CONSTRAINT has_on FOREIGN KEY (a) REFERENCES being (being_id)) AS SELECT a, b, a - 100 AS w FROM crew.t_assign',
  );
  const user = async (name: string, ...concepts: string[]): Promise<void> => {
    const grant = (c: string): string =>
      c.startsWith('?') ? `ACCESS ON ontology.${ontology}.concept.${c.slice(1)}` : `QUERY ON ontology.${ontology}.${c.includes('.') ? c : `concept.${c}`}`;
    tokens[name] = await crew.service.user(name, ...concepts.map(grant));
  };
  await user('temp', 'being', 'rich', 'own2', 'temp');
  await user('over', 'being', 'rich', 'own2', 'over');
  await user('worker', 'being', 'rich', 'own2', 'temp', 'worker');
  await user('seer', 'being', 'own2', '?worker');
  await user('view', 'view.pays');
  await user('intern', 'being', 'intern');
  await user('access', 'being', 'intern', '?staffer');
  await user('low', 'intern', 'project');
  await user('logic', 'junior', 'project');
  tokens.admin = crew.service.token;
});
afterAll(() => crew?.service.close());

const BELOW = 'being_id < 200 AND entity_type = $$worker$$'.replaceAll('$$', "'");
const SALARIES = [9000, 7000, 5000, 4000, 3000, 2000];
const IDS = [101, 102, 103, 104, 105, 106];

/** [description, query, result without QUERY on the concept, result with QUERY on the concept] */
const CASES: readonly (readonly [string, string, readonly unknown[], readonly unknown[]])[] = [
  ['a column', `SELECT salary AS v FROM dsvc.being WHERE ${BELOW} ORDER BY being_id`, IDS.map(() => null), SALARIES],
  ['a column in esvc', `SELECT salary AS v FROM esvc.being WHERE ${BELOW} ORDER BY being_id`, IDS.map(() => null), SALARIES],
  ['a field of a whole row', `SELECT to_jsonb(b) ->> 'salary' AS v FROM esvc.being b WHERE being_id = 101 AND entity_type = 'worker'`, [null], ['9000.00']],
  ['a filter', 'SELECT being_id AS v FROM dsvc.being WHERE salary = 9000', [], [101]],
  ['a filter by a range', 'SELECT being_id AS v FROM dsvc.being WHERE salary BETWEEN 6000 AND 9999 ORDER BY 1', [], [101, 102]],
  ['a filter that may fail', `SELECT being_id AS v FROM dsvc.being WHERE 1 / (salary - 9001) < 1 AND ${BELOW} ORDER BY 1`, [], IDS],
  ['a group', `SELECT count(*) AS v FROM dsvc.being WHERE ${BELOW} GROUP BY salary`, [6], [1, 1, 1, 1, 1, 1]],
  ['an order', `SELECT being_id AS v FROM dsvc.being WHERE ${BELOW} ORDER BY salary, being_id LIMIT 2`, [101, 102], [106, 105]],
  ['an order by whole numbers', "SELECT being_id AS v FROM dsvc.being WHERE entity_type = 'worker' ORDER BY grade, being_id LIMIT 2", [101, 102], [106, 105]],
  ['a sum', 'SELECT sum(salary) AS v FROM dsvc.being', [null], [30000]],
  ['a measure', 'SELECT sum("measure.pay_sum") AS v FROM dsvc.being', [null], [30000]],
  ['a path', `SELECT "to_being[being].salary" AS v FROM dsvc.own2 WHERE "to_being[being].entity_type" = 'worker'`, [null], [9000]],
  ['a path in a filter', 'SELECT o_id AS v FROM dsvc.own2 WHERE "to_being[being].salary" = 9000', [], [101]],
  ['a measure of a path', 'SELECT sum("measure.to_being[being].pay_sum") AS v FROM dsvc.own2', [null], [9000]],
  ['thing', `SELECT salary AS v FROM dsvc.thing WHERE salary IS NOT NULL ORDER BY 1`, [], [...SALARIES].reverse()],
];

describe('a property that a concept without QUERY has', () => {
  describe.each(['temp', 'over', 'worker', 'admin'])('for %s', (user) => {
    it.each(CASES)('%s', async (_, sql, hidden, shown) => {
      // a property that only a concept of another tree lists is not a column of `being`
      if (user === 'over') {
        const { status, json } = await crew.service.query(sql, ontology, tokens.over);
        if (status === 200) expect(json.data.map((r: { v: unknown }) => r.v)).toEqual(hidden);
        else expect([status, json.code]).toEqual([400, expect.stringMatching(/^unknown_/)]);
        return;
      }
      expect((await rows(user, sql)).map((r) => r.v)).toEqual(user === 'temp' ? hidden : shown);
    });
  });
});

describe('a calculated property along a path to a property of a descendant', () => {
  // 101 is the key of a worker and of a guest
  it.each([
    ['seer', [undefined]],
    ['temp', [null, null]],
    ['worker', [9000, null]],
    ['admin', [9000, null]],
  ])('for %s', async (user, expected) => {
    const shown = await rows(user, 'SELECT * FROM svc.own2 ORDER BY o_id');
    expect(shown.map((r) => r.own_pay).sort()).toEqual(expected);
    expect(shown.every((r) => r.o_id === 101)).toBe(true);
  });
});

/** [description, query, result of a reader of `being` and `intern` who sees `staffer`, result of an administrator] */
const WALKS: readonly (readonly [string, string, readonly unknown[], readonly unknown[]])[] = [
  ['a walk over a foreign key', 'SELECT "chief[being*].being_id" AS v FROM dsvc.intern ORDER BY 1', [2103], [2101, 2102, 2103]],
  [
    'its inverse over a foreign key',
    'SELECT "~chief[intern*].being_id" AS v FROM dsvc.being WHERE being_id IN (2101, 2103) ORDER BY being_id',
    [null, 3103],
    [3103, 3103],
  ],
  ['a walk over a link', 'SELECT "peer[being*].being_id" AS v FROM dsvc.intern ORDER BY 1', [2102], [2101, 2102]],
  [
    'its inverse over a link',
    'SELECT "~peer[intern*].being_id" AS v FROM dsvc.being WHERE being_id IN (2101, 2102) ORDER BY being_id',
    [null, 3103],
    [3103, 3103],
  ],
];

describe('a walk whose steps belong to a concept without QUERY', () => {
  it('is the same if the concept is hidden', async () => {
    for (const [, sql, part] of WALKS.filter(([what]) => what.startsWith('a walk'))) expect((await rows('intern', sql)).map((r) => r.v)).toEqual(part);
  });

  it.each(WALKS)('%s', async (_, sql, part, all) => {
    expect((await rows('access', sql)).map((r) => r.v)).toEqual(part);
    expect((await rows('admin', sql)).map((r) => r.v)).toEqual(all);
  });
});

/** Values and links of rows that a reader of `intern` or `junior` may not read: 1 and 2 are values, 4 is a column of a link, 7 is neither. */
const BESIDE = ['nick - 1', 'nick - 2', 'nick - 7', '"on_it[project]_w" - 1', '"on_it[project]_w" - 4', '"on_it[project]_w" - 7'];
const FORMS = [
  (x: string, c: string) => `SELECT being_id AS v FROM dsvc.${c} WHERE being_id <> 104 AND 10 / (${x}) > -99`,
  (x: string, c: string) => `SELECT being_id AS v FROM dsvc.${c} WHERE 10 / (${x}) > -99 AND being_id NOT IN (104, 106)`,
  (x: string, c: string) =>
    `SELECT c.being_id AS v FROM dsvc.${c} c WHERE EXISTS (SELECT 1 FROM dsvc.project WHERE 10 / (c.${x}) > -99) AND being_id NOT IN (104, 106)`,
];

describe('values and links of rows that the grants hide', () => {
  it.each(BESIDE)('do not make 10 / (%s) fail', async (x) => {
    for (const form of FORMS) expect(await rows('low', form(x, 'intern')), form(x, 'intern')).toEqual([]);
  });

  it('still show those of visible rows', async () => {
    const own = 'SELECT being_id AS v, nick AS n, 10 / ("on_it[project]_w" + nick) AS w FROM dsvc.junior WHERE nick > 0 ORDER BY 1';
    const shown = [
      { v: 104, n: 2, w: 1 },
      { v: 106, n: 1, w: 1 },
    ];
    expect(await rows('logic', own)).toEqual(shown);
    expect(await rows('admin', own)).toEqual(shown);
  });

  it('do not make a reader of a logic concept fail', async () => {
    // 101 is not a junior: its link has 1
    expect(await rows('logic', 'SELECT being_id AS v FROM dsvc.junior WHERE 10 / ("on_it[project]_w" - 1) > -99 ORDER BY 1')).toEqual([{ v: 104 }, { v: 106 }]);
  });
});

describe('values of rows that a mapping filters out', () => {
  it('cause no error for a reader of all concepts without QUERY on the datasource', async () => {
    const { service } = crew;
    const name = await crew.ontology(
      'CREATE OR REPLACE CONCEPT being (being_id bigint, given string, PRIMARY KEY (being_id), CONSTRAINT nick MULTIVALUE bigint)',
      'CREATE OR REPLACE MAPPING m_worker INTO (worker) AS SELECT id AS being_id, fname AS given FROM crew.t_worker WHERE id = 104',
      'DROP MAPPING m_guest',
      'CREATE MAPPING m_nick INTO (being) MULTIVALUE nick AS SELECT id AS being_id, firm AS nick FROM crew.t_phone',
    );
    for (const hidden of [1, 7])
      expect(await service.rows(`SELECT being_id AS v FROM dsvc.being WHERE 10 / (nick - ${hidden}) > -99`, name, crew.tokens.rob)).toEqual([{ v: 104 }]);
  });
});

describe('a view', () => {
  it('shows what its definer may read', async () => {
    const sql = 'SELECT salary AS v FROM vsvc.pays WHERE salary IS NOT NULL ORDER BY 1';
    expect((await rows('view', sql)).map((r) => r.v)).toEqual([...SALARIES].reverse());
  });
});
