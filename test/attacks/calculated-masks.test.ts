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
CREATE CONCEPT elder INHERITS (member) FROM svc.member WHERE nr > 1;
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
  await s.rows(policies.map((policy, i) => `CREATE POLICY p${i} ON ${policy}`).join('; '), 'crew');
  try {
    await test();
  } finally {
    await s.rows(policies.map((_, i) => `DROP POLICY p${i}`).join('; '), 'crew');
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

  it.each([
    ['alias', ['Axxa', '****', '****']],
    ['name', ['Axxa', '****', null]],
  ])('yields to a stricter one of some rows: %s', async (column, expected) => {
    for (const policies of [
      [`PROPERTY ${column} OF CONCEPT elder MASK FULL`, `PROPERTY ${column} ${ENDS}`],
      [`PROPERTY ${column} ${ENDS}`, `PROPERTY ${column} OF CONCEPT elder MASK FULL`],
    ])
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

describe('Masks of calculated properties over masked ones', () => {
  const LEVELS = 5;
  const MAPPINGS = 5;
  const names = Array.from({ length: LEVELS }, (_, i) => `line${i + 1}`);
  // each reads two masked properties
  const expression = (i: number): string => (i === 0 ? "first || ' ' || last" : `line${i} || '/' || coalesce(last, '-')`);
  const partial = (value: string): string =>
    `CASE WHEN char_length(${value}) > 2 THEN left(${value}, 1) || repeat('x', char_length(${value}) - 2) || right(${value}, 1) ELSE repeat('x', char_length(${value})) END`;
  const written = names.reduce(
    (from, name, i) => `SELECT b.*, ${partial(`(${expression(i)})`)} AS ${name} FROM (${from}) b OFFSET 0`,
    `SELECT nr, ${partial('first')} AS first, ${partial('last')} AS last FROM crew.t_long`,
  );
  let lengths: readonly number[] = [];

  beforeAll(async () => {
    await s.database.exec('CREATE TABLE crew.t_long (nr bigint PRIMARY KEY, first text, last text)');
    await s.database.exec("INSERT INTO crew.t_long VALUES (1, 'Anna', 'Smith'), (2, 'Bo', 'Li'), (3, NULL, 'Ray'), (4, 'Anna', 'Smyth'), (5, '', '')");
    const mapping = (i: number): string => `CREATE MAPPING long${i} INTO (long) AS SELECT nr, first, last FROM crew.t_long WHERE nr = ${i + 1}`;
    await s.rows(
      `CREATE ONTOLOGY long; 
${names.map((n, i) => `CREATE PROPERTY ${n} string AS SELECT ${expression(i)};`).join('\n')}
CREATE CONCEPT long (nr bigint, first string, last string, ${names.map((n) => `${n} string`).join(', ')}, PRIMARY KEY (nr));
${Array.from({ length: MAPPINGS }, (_, i) => `${mapping(i)};`).join('\n')}
${['first', 'last', ...names].map((n) => `CREATE POLICY long_${n} ON PROPERTY ${n} MASK PARTIAL(1, 'x', 1);`).join('\n')}
GRANT QUERY ON ALL ontology.long TO USER rex`,
    );
    const found: number[] = [];
    for (const name of names) {
      s.reached();
      await s.rows(`SELECT ${name} FROM svc.long`, 'long', rex);
      found.push(s.reached().join('').length);
    }
    lengths = found;
  });

  it('make statements whose length grows by the same for each of them', () => {
    const growth = lengths.slice(1).map((length, i) => length - (lengths[i] as number));
    expect(Math.max(...growth.slice(1))).toBeLessThan(2.5 * (growth[0] as number));
  });

  it('give the values of hand-written SQL, also where the values are grouped', async () => {
    for (const name of names) {
      const asked = (table: string): string[] => [
        `SELECT CAST(nr AS integer) AS nr, ${name} AS v FROM ${table} ORDER BY nr`,
        `SELECT ${name} AS v, CAST(count(*) AS integer) AS n FROM ${table} WHERE nr < 5 GROUP BY ${name} HAVING ${name} > '' ORDER BY ${name}`,
        `SELECT CAST(nr AS integer) AS nr FROM ${table} WHERE 1 / nr < 9 AND ${name} LIKE 'A%' ORDER BY nr`,
      ];
      const expected = asked(`(${written}) t`);
      for (const [i, sql] of asked('svc.long').entries()) {
        expect([sql, await s.rows(sql, 'long', rex)]).toEqual([sql, await s.database.exec(expected[i] as string)]);
      }
    }
  });
});

it('A masked value that may fail is not computed for rows that a logic concept hides', async () => {
  await s.rows(
    `CREATE PROPERTY risky string AS SELECT coalesce(name, '?') || CAST(6 / (3 - nr) AS text) || coalesce(name, '-');
CREATE CONCEPT early (risky string) INHERITS (member) FROM svc.member WHERE nr < 3`,
    'crew',
  );
  const eve = await s.user('eve', 'QUERY ON ontology.crew.concept.early', 'QUERY ON datasource.main');
  await under([FULL, `PROPERTY risky ${ENDS}`, 'CONCEPT member TO PUBLIC USING (nr < 9)', 'CONCEPT early TO PUBLIC USING (nr < 8)'], async () => {
    expect(await s.rows('SELECT risky AS v FROM svc.early WHERE 1 / nr < 9 ORDER BY nr', 'crew', eve)).toEqual([{ v: '*xxxxxxx*' }, { v: '*xxxxxxx*' }]);
    expect(await s.rows('SELECT risky AS v FROM svc.early ORDER BY nr', 'crew', eve)).toEqual([{ v: '*xxxxxxx*' }, { v: '*xxxxxxx*' }]);
  });
});
