/** Attacks on row policies by relationships over values that are calculated from hidden rows: joins read true values, so the rows at their other end would show them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, by, s, startCallers, user } from './callers.ts';

const ORDER = (more = '', link = '') => `CREATE OR REPLACE CONCEPT ord (no bigint, ${more}PRIMARY KEY (no), CONSTRAINT tags MULTIVALUE string${link})`;
const TOTAL = 'CREATE OR REPLACE PROPERTY total bigint AS SELECT SUM("has_line[line].amount")';
const JOIN = ', CONSTRAINT equals FOREIGN KEY (total) REFERENCES num (n) INVERSEOF equal_to';

let editor: { name: string; token: string };
beforeAll(async () => {
  await startCallers();
  for (const sql of [
    'CREATE TABLE shop.t_order (no bigint PRIMARY KEY)',
    'INSERT INTO shop.t_order VALUES (1), (2)',
    'CREATE TABLE shop.t_line (id bigint PRIMARY KEY, ord bigint, amount bigint)',
    'INSERT INTO shop.t_line VALUES (1, 1, 10), (2, 1, 7), (3, 2, 5)',
    'CREATE TABLE shop.t_number (n bigint PRIMARY KEY)',
    'INSERT INTO shop.t_number SELECT generate_series(0, 50)',
  ])
    await s.database.exec(sql);
  await s.rows(
    `CREATE ONTOLOGY o; ${ORDER()}; CREATE CONCEPT num (n bigint, PRIMARY KEY (n));
     CREATE CONCEPT line (id bigint, order_no bigint, amount bigint, PRIMARY KEY (id), CONSTRAINT of_order FOREIGN KEY (order_no) REFERENCES ord (no) INVERSEOF has_line);
     CREATE MAPPING orders INTO ord AS SELECT no FROM shop.t_order; CREATE MAPPING numbers INTO num AS SELECT n FROM shop.t_number;
     CREATE MAPPING lines INTO line AS SELECT id, ord AS order_no, amount FROM shop.t_line;
     CREATE POLICY no_seven ON CONCEPT line TO PUBLIC USING (amount <> 7)`,
  );
  editor = await user('ed', 'EDIT ON ALL ontology.o', 'QUERY ON datasource.main');
});
afterAll(() => s?.close());

describe('a relationship over a property that is calculated from rows under a policy is refused', () => {
  it.each([
    ['at once', `${TOTAL}; ${ORDER('total bigint, ', JOIN)}`],
    [
      'through another property',
      `${TOTAL}; CREATE PROPERTY twice bigint AS SELECT total * 2; ${ORDER('total bigint, twice bigint, ', JOIN.replace('total', 'twice'))}`,
    ],
    ['over the number of its values', `CREATE OR REPLACE PROPERTY total bigint AS SELECT COUNT(tags); ${ORDER('total bigint, ', JOIN)}`],
    ['if the property reads other rows only later', `CREATE OR REPLACE PROPERTY total bigint AS SELECT no; ${ORDER('total bigint, ', JOIN)}; ${TOTAL}`],
    [
      'from its other end',
      `${TOTAL}; ${ORDER('total bigint, ')}; CREATE OR REPLACE CONCEPT num (n bigint, PRIMARY KEY (n), CONSTRAINT equals FOREIGN KEY (n) REFERENCES ord (total))`,
    ],
    [
      'on a descendant',
      `${TOTAL}; ${ORDER('total bigint, ')}; CREATE CONCEPT low INHERITS (ord); CREATE OR REPLACE CONCEPT low (CONSTRAINT equals FOREIGN KEY (total) REFERENCES num (n)) INHERITS (ord)`,
    ],
  ])('%s', async (_, script) => {
    for (const token of [editor.token, s.token]) {
      const { status, json } = await ask(script, by(token), 'o');
      expect([status, json.code]).toEqual([400, 'bad_relationship']);
      expect(json.data).toMatch(/^the relationship `equals` of `\w+` compares `\w+`, which is calculated from other rows$/);
      expect(json.position).toBeGreaterThan(0);
    }
  });

  it('in two scripts', async () => {
    await s.rows(`CREATE PROPERTY total bigint AS SELECT no; ${ORDER('total bigint, ', JOIN)}`, 'o');
    expect((await ask(TOTAL, by(editor.token), 'o')).json.code).toBe('bad_relationship');
    // a value of the row itself discloses nothing about other rows
    expect(await s.rows('SELECT no, "equals[num].n" AS n FROM dsvc.ord ORDER BY no', 'o', editor.token)).toEqual([
      { no: 1, n: 1 },
      { no: 2, n: 2 },
    ]);
  });
});
