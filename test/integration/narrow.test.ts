/** Conditions and orders that the planner adds on the tables' own columns (planner/narrow.ts, sort.ts) must never change the rows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BoundValue } from '../../src/planner/plan/context.ts';
import { PlannedTables } from '../support/planned.ts';

const TABLES = `
CREATE TABLE event (id int, at timestamp);
INSERT INTO event VALUES (1, '2024-03-04 23:59:59.999999'), (2, '2024-03-05 00:00'), (3, '2024-03-05 12:30'), (4, '2024-03-05 23:59:59.999999'),
  (5, '2024-03-06 00:00'), (6, NULL), (7, 'infinity'), (8, '-infinity');
CREATE TABLE wide (id bigint, rank bigint, other int);
INSERT INTO wide VALUES (1, 10, 900), (2, NULL, 800), (3, 30, 700);
CREATE TABLE narrow (id int, rank smallint, other int);
INSERT INTO narrow VALUES (11, 900, 20), (12, 800, 5), (13, 700, NULL);
CREATE TABLE bare (id int);
INSERT INTO bare VALUES (21), (22);
CREATE TABLE pointer (id int, to_id bigint);
INSERT INTO pointer VALUES (1, 12), (2, 3), (3, NULL), (4, 99), (5, 22);
`;

/** In the second mapping a column of the table has the name of another property: \`rank\` is the column \`other\`, and the reverse. */
const MODEL = `
CREATE ONTOLOGY narrow;
CREATE CONCEPT event (event_id int, day date, PRIMARY KEY (event_id));
CREATE CONCEPT thing_ (id bigint, rank bigint, other bigint, PRIMARY KEY (id));
CREATE CONCEPT wide INHERITS (thing_);
CREATE CONCEPT narrow INHERITS (thing_);
CREATE CONCEPT bare INHERITS (thing_);
CREATE CONCEPT pointer (pointer_id int, id bigint, PRIMARY KEY (pointer_id), CONSTRAINT to_thing FOREIGN KEY (id) REFERENCES thing_ (id) INVERSEOF pointed_at);
CREATE MAPPING m_event INTO event AS SELECT id AS event_id, at AS day FROM event;
CREATE MAPPING m_wide INTO wide AS SELECT id, rank, other FROM wide;
CREATE MAPPING m_narrow INTO narrow AS SELECT id, other AS rank, rank AS other FROM narrow;
CREATE MAPPING m_bare INTO bare AS SELECT id FROM bare;
CREATE MAPPING m_pointer INTO pointer AS SELECT id AS pointer_id, to_id AS id FROM pointer;
`;

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'narrow');
});
afterAll(() => tables.close());

async function ask(sql: string, bound?: readonly BoundValue[]): Promise<{ sql: string; rows: unknown[][] }> {
  const plan = tables.plan(sql, {}, bound ? { bound } : {});
  const { rows } = await tables.db.query<{ row: Record<string, unknown> }>(plan.sql, [...plan.params]);
  return { sql: plan.sql, rows: rows.map((r) => Object.values(r.row)) };
}

describe('a date over a timestamp column', () => {
  const cases: readonly (readonly [condition: string, ids: readonly number[], bound?: readonly string[]])[] = [
    ["day = '2024-03-05'", [2, 3, 4]],
    ["day = DATE '2024-03-05'", [2, 3, 4]],
    ["DATE '2024-03-05' = day", [2, 3, 4]],
    ["day < '2024-03-05'", [1, 8]],
    ["day <= '2024-03-05'", [1, 2, 3, 4, 8]],
    ["day > '2024-03-05'", [5, 7]],
    ["day >= '2024-03-05'", [2, 3, 4, 5, 7]],
    ["'2024-03-05' > day", [1, 8]],
    ["'2024-03-05' <= day", [2, 3, 4, 5, 7]],
    ["day BETWEEN '2024-03-04' AND '2024-03-05'", [1, 2, 3, 4]],
    ["day BETWEEN '2024-03-05' AND 'infinity'", [2, 3, 4, 5, 7]],
    ["day IN ('2024-03-04', '2024-03-06', 'infinity')", [1, 5, 7]],
    ["day = 'infinity'", [7]],
    ["day <= 'infinity'", [1, 2, 3, 4, 5, 7, 8]],
    ["day = '-infinity'", [8]],
    ["day = '5874897-12-31'", []],
    ["day <= '5874897-12-31'", [1, 2, 3, 4, 5, 8]],
    ["day < TIMESTAMP '2024-03-05 12:00'", [1, 2, 3, 4, 8]],
    ["day >= TIMESTAMP '2024-03-05 12:00'", [5, 7]],
    ['day = $1::date', [2, 3, 4], ['2024-03-05']],
    ['day <= $1::date', [1, 2, 3, 4, 5, 7, 8], ['infinity']],
  ];
  for (const [condition, ids, bound] of cases) {
    it(`${condition}${bound ? ` (${bound})` : ''}`, async () => {
      expect((await ask(`SELECT event_id FROM svc.event WHERE ${condition} ORDER BY event_id`, bound)).rows.flat()).toEqual(ids);
    });
  }
  it('uses the column itself', async () => {
    expect((await ask("SELECT event_id FROM svc.event WHERE day = '2024-03-05'")).sql).toContain('"at" >= ');
    expect((await ask("SELECT event_id FROM svc.event WHERE day < TIMESTAMP '2024-03-05 12:00'")).sql).not.toContain('"at" < ');
  });
});

describe('the first rows of a union of integer types', () => {
  const cases: readonly (readonly [tail: string, rows: readonly (number | null)[], bound?: readonly string[]])[] = [
    // ranks: wide 10, NULL, 30; narrow 20, 5, NULL; bare: none
    ['ORDER BY rank LIMIT 3', [5, 10, 20]],
    ['ORDER BY rank DESC NULLS LAST LIMIT 2', [30, 20]],
    ['ORDER BY rank DESC LIMIT 5', [null, null, null, null, 30]],
    ['ORDER BY rank NULLS FIRST LIMIT 6', [null, null, null, null, 5, 10]],
    ['ORDER BY rank LIMIT 2 OFFSET 2', [20, 30]],
    ['ORDER BY rank LIMIT 9223372036854775807 OFFSET 3', [30, null, null, null, null]],
    ['ORDER BY rank OFFSET 3', [30, null, null, null, null]],
    ['ORDER BY rank LIMIT NULL OFFSET 3', [30, null, null, null, null]],
    ['ORDER BY rank LIMIT 0', []],
    ['ORDER BY rank LIMIT $1::bigint OFFSET $2::bigint', [10, 20], ['2', '1']],
    ['ORDER BY rank FETCH FIRST 1 ROWS WITH TIES', [5]],
    ['ORDER BY rank, id DESC LIMIT 2', [5, 10]],
  ];
  for (const [tail, ranks, bound] of cases) {
    it(`${tail}${bound ? ` (${bound})` : ''}`, async () => expect((await ask(`SELECT rank FROM svc.thing_ ${tail}`, bound)).rows.flat()).toEqual(ranks));
  }
  it('reads only these of each mapping', async () => {
    const { sql, rows } = await ask('SELECT id, other, rank FROM svc.thing_ ORDER BY rank LIMIT 2');
    expect(sql.match(/ LIMIT 2/g)).toHaveLength(4);
    expect(rows).toEqual([
      [12, 800, 5],
      [1, 900, 10],
    ]);
  });
  it('reads all rows if rows may be filtered out or multiplied', async () => {
    expect((await ask('SELECT rank FROM svc.thing_ WHERE id > 10 ORDER BY rank LIMIT 1')).rows).toEqual([[5]]);
    expect((await ask('SELECT count(*) AS n FROM svc.thing_ ORDER BY n LIMIT 1')).rows).toEqual([[8]]);
    expect((await ask('SELECT rank, unnest(ARRAY[]::int[]) AS u FROM svc.thing_ ORDER BY rank LIMIT 1')).rows).toEqual([]);
    expect((await ask('SELECT p.pointer_id, t.rank FROM svc.thing_ t JOIN svc.pointer p ON p.id = t.id ORDER BY t.rank LIMIT 3')).rows).toEqual([
      [1, 5],
      [2, 30],
      [5, null],
    ]);
  });
  it('of a path are complete for each root', async () => {
    expect((await ask('SELECT rank, "pointed_at[pointer].pointer_id" AS p FROM dsvc.thing_ ORDER BY rank LIMIT 3')).rows).toEqual([
      [5, 1],
      [10, null],
      [20, null],
    ]);
  });
});

describe('a path into a union of integer types', () => {
  const rankOf = async (pointer: string): Promise<unknown[]> =>
    (
      await ask(
        `SELECT pointer_id, "to_thing[thing_].entity_type" AS type, "to_thing[thing_].rank" AS rank FROM dsvc.pointer WHERE ${pointer} ORDER BY pointer_id`,
      )
    ).rows;
  it('from one row, several rows, or no row', async () => {
    expect(await rankOf('pointer_id = 1')).toEqual([[1, 'narrow', 5]]);
    expect(await rankOf('pointer_id IN (2, 3, 4, 5)')).toEqual([
      [2, 'wide', 30],
      [3, null, null],
      [4, null, null],
      [5, 'bare', null],
    ]);
    expect(await rankOf("entity_id = 'pointer:2'")).toEqual([[2, 'wide', 30]]);
    expect(await rankOf('pointer_id = 77')).toEqual([]);
  });
  it('in an aggregate and in a condition', async () => {
    const sum = 'SELECT sum("to_thing[thing_].rank") AS rank, count(*) AS n FROM dsvc.pointer WHERE pointer_id IN (1, 2, 3) AND "to_thing[thing_].rank" > 3';
    expect((await ask(sum)).rows).toEqual([[35, 2]]);
    expect((await ask('SELECT count(id) AS n FROM dsvc.thing_ WHERE "pointed_at[pointer].pointer_id" = 1')).rows).toEqual([[1]]);
    expect((await ask('SELECT sum("pointed_at[pointer].to_thing[thing_].rank") AS n, count(id) AS m FROM dsvc.thing_ WHERE id = 12')).rows).toEqual([[5, 1]]);
  });
  it('looks up the rows of each mapping by its own column', async () => {
    expect((await ask('SELECT "to_thing[thing_].rank" AS rank FROM dsvc.pointer WHERE pointer_id = 1')).sql).toContain('LATERAL');
    expect((await ask('SELECT "to_thing[thing_].rank" AS rank FROM dsvc.pointer WHERE pointer_id > 1')).sql).not.toContain('LATERAL');
  });
});
