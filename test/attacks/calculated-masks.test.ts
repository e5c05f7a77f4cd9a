/** Masks of calculated properties: they replace what the caller would see without them, so they show no more of masked values and hidden rows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let s: TestService;
let rex: string;
beforeAll(async () => {
  s = await startService({
    tables: [
      'CREATE SCHEMA crew',
      'CREATE TABLE crew.t_member (nr bigint PRIMARY KEY, name text, boss bigint)',
      "INSERT INTO crew.t_member VALUES (1, 'Anna', NULL), (2, 'Bo', 1), (3, NULL, 2)",
      'CREATE TABLE crew.t_plays (who text, team text)',
      "INSERT INTO crew.t_plays VALUES ('Anna!', 'red'), ('Bo!', 'red')",
    ],
  });
  rex = await s.user('rex');
  await s.rows(`CREATE ONTOLOGY crew;
CREATE PROPERTY alias string AS SELECT coalesce(name, 'none');
CREATE PROPERTY title string AS SELECT alias || '!';
CREATE PROPERTY boss_name string AS SELECT "led_by[member].name";
CREATE PROPERTY led string AS SELECT string_agg("leads[member].name", ',' ORDER BY "leads[member].nr");
CREATE CONCEPT member (nr bigint, name string, boss bigint, alias string, title string, boss_name string, led string, PRIMARY KEY (nr), LABEL (title),
  CONSTRAINT led_by FOREIGN KEY (boss) REFERENCES member (nr) INVERSEOF leads);
CREATE CONCEPT fan (name string, alias string, title string, PRIMARY KEY (name), CONSTRAINT plays MULTIREFERENCE team INVERSEOF has_player);
CREATE CONCEPT team (tag string, PRIMARY KEY (tag));
CREATE MAPPING m INTO (member) AS SELECT nr, name, boss FROM crew.t_member;
CREATE MAPPING f INTO (fan) AS SELECT name FROM crew.t_member WHERE name IS NOT NULL;
CREATE MAPPING t INTO (team) AS SELECT DISTINCT team AS tag FROM crew.t_plays;
CREATE MAPPING p (CONSTRAINT plays FOREIGN KEY (team) REFERENCES team (tag), CONSTRAINT has_player FOREIGN KEY (who) REFERENCES fan (title)) AS SELECT who, team FROM crew.t_plays;
CREATE VIEW titles AS SELECT nr, title FROM svc.member;
GRANT QUERY ON ALL ontology.crew TO USER rex`);
});
afterAll(() => s?.close());

/** Runs a test under policies. */
async function under(policies: readonly string[], test: () => Promise<void>): Promise<void> {
  for (const [i, policy] of policies.entries()) await s.rows(`CREATE POLICY p${i} ON ${policy}`, 'crew');
  try {
    await test();
  } finally {
    for (const i of policies.keys()) await s.rows(`DROP POLICY p${i}`, 'crew');
  }
}

const values = async (sql: string): Promise<unknown[]> => (await s.rows(sql, 'crew', rex)).map((r) => r.v);
const FULL = 'PROPERTY name MASK FULL';
const NULLS = 'PROPERTY name MASK NULL';
const ENDS = "MASK PARTIAL(1, 'x', 1)";

describe('A mask of a calculated property over a masked one', () => {
  it.each([
    ['of the property', [FULL, `PROPERTY alias ${ENDS}`], 'alias', ['*xx*', '*xx*', 'nxxe']],
    ['through another calculated one', [FULL, `PROPERTY title ${ENDS}`], 'title', ['*xxx!', '*xxx!', 'nxxx!']],
    ['with a mask of its own between', [FULL, 'PROPERTY alias MASK FULL', `PROPERTY title ${ENDS}`], 'title', ['*xxx!', '*xxx!', '*xxx!']],
    ['of which it shows whether it is NULL', [NULLS, 'PROPERTY boss_name MASK FULL'], 'boss_name', [null, null, null]],
    ['over a path', [FULL, `PROPERTY boss_name ${ENDS}`], 'boss_name', [null, '*xx*', '*xx*']],
    ['over a path to several', [FULL, `PROPERTY led ${ENDS}`], 'led', ['*xx*', null, null]],
    ['of some rows', [`PROPERTY name OF CONCEPT member MASK FULL`, `PROPERTY alias OF CONCEPT member ${ENDS}`], 'alias', ['*xx*', '*xx*', 'nxxe']],
    ['that reads the true values', [FULL, 'PROPERTY alias MASK WITH (left(name, 1))'], 'alias', ['A', 'B', null]],
  ])('shows no more of it: %s', async (_, policies, column, expected) => {
    await under(policies, async () => {
      expect(await values(`SELECT ${column} AS v FROM svc.member ORDER BY nr`)).toEqual(expected);
      expect(await values(`SELECT ${column} AS v FROM svc.member WHERE 1 / nr < 9 ORDER BY nr`)).toEqual(expected);
    });
  });

  it('has one hash for values that are the same to the caller', async () => {
    await under([FULL, 'PROPERTY alias MASK HASH'], async () => {
      const [anna, bo, none] = await values('SELECT alias AS v FROM svc.member ORDER BY nr');
      expect(anna).toBe(bo);
      expect(none).not.toBe(bo);
    });
  });

  it('shows no more of it anywhere', async () => {
    await under([FULL, `PROPERTY title ${ENDS}`], async () => {
      const seen = ['*xxx!', '*xxx!', 'nxxx!'];
      expect.soft(await values('SELECT entity_label AS v FROM svc.member ORDER BY nr')).toEqual(seen);
      expect.soft(await values('SELECT title AS v FROM vsvc.titles ORDER BY nr')).toEqual(seen);
      expect.soft(await values('SELECT "led_by[member].title" AS v FROM dsvc.member ORDER BY nr')).toEqual([null, ...seen.slice(0, 2)]);
      expect.soft(await values('SELECT count(*) AS v FROM svc.member GROUP BY title ORDER BY 1')).toEqual([1, 2]);
      expect.soft(await values("SELECT nr AS v FROM svc.member WHERE title = '*xxx!' ORDER BY nr")).toEqual([1, 2]);
      expect.soft(await values("SELECT nr AS v FROM svc.member WHERE title LIKE 'A%'")).toEqual([]);
      // a column of a link that refers to the property
      expect.soft(await values('SELECT "plays[team]_who" AS v FROM dsvc.fan')).toEqual([null, null]);
      expect.soft(await values('SELECT "has_player[fan]_who" AS v FROM dsvc.team')).toEqual([null, null]);
    });
  });
});

it('A mask of a calculated property shows nothing of rows that a policy hides', async () => {
  const rows = 'CONCEPT member TO PUBLIC USING (nr > 1)';
  for (const column of ['boss_name', 'led']) {
    await under([rows, `PROPERTY ${column} ${ENDS}`], async () => {
      const expected = column === 'boss_name' ? [null, 'xx'] : [null, null];
      expect.soft(await values(`SELECT ${column} AS v FROM svc.member ORDER BY nr`), column).toEqual(expected);
      expect.soft(await values(`SELECT ${column} AS v FROM svc.member WHERE 1 / nr < 9 ORDER BY nr`), column).toEqual(expected);
    });
  }
  await under([rows, 'PROPERTY boss_name MASK FULL'], async () => {
    expect(await values('SELECT boss_name AS v FROM svc.member ORDER BY nr')).toEqual([null, '****']);
  });
});
