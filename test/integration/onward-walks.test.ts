/** Walks whose first step leads to another concept, and that go on by the relationship of the same name there. Expected rows come from recursive queries by hand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA w',
      'CREATE TABLE w.owner (id int PRIMARY KEY, name text, parent int)',
      // 1 <- 2 <- 3, a circle 4 <-> 5, and 6 without links
      "INSERT INTO w.owner VALUES (1, 'one', NULL), (2, 'two', 1), (3, 'three', 2), (4, 'four', 5), (5, 'five', 4), (6, 'six', NULL)",
      'CREATE TABLE w.holding (owner int, security int, shares int, PRIMARY KEY (owner, security))',
      'INSERT INTO w.holding VALUES (3, 1, 10), (3, 2, 20), (1, 1, 30), (4, 1, 40), (9, 1, 50)',
      'CREATE TABLE w.seat (holding_owner int, holding_security int, owner int)',
      'INSERT INTO w.seat VALUES (3, 1, 6), (3, 1, 4), (1, 1, 3), (1, 1, 3)',
    ],
  });
  await service.rows(`CREATE ONTOLOGY walks;
    CREATE CONCEPT owner (owner_id integer, name string, parent_id integer, PRIMARY KEY (owner_id), LABEL (name),
      CONSTRAINT owned_by FOREIGN KEY (parent_id) REFERENCES owner (owner_id) INVERSEOF owns TRANSITIVE,
      CONSTRAINT held_through MULTIREFERENCE owner);
    CREATE CONCEPT holding (owner_id integer, security_id integer, shares integer, PRIMARY KEY (owner_id, security_id),
      CONSTRAINT owned_by FOREIGN KEY (owner_id) REFERENCES owner (owner_id) INVERSEOF has_holding TRANSITIVE(5),
      CONSTRAINT owns MULTIREFERENCE owner INVERSEOF seats TRANSITIVE);
    CREATE MAPPING mo INTO owner AS SELECT id AS owner_id, name, parent AS parent_id FROM w.owner;
    CREATE MAPPING mh INTO holding AS SELECT owner AS owner_id, security AS security_id, shares FROM w.holding;
    CREATE MAPPING ms (CONSTRAINT owns FOREIGN KEY (owner) REFERENCES owner (owner_id), CONSTRAINT seats FOREIGN KEY (holding_owner, holding_security) REFERENCES holding (owner_id, security_id))
      AS SELECT holding_owner, holding_security, owner FROM w.seat`);
});
afterAll(() => service?.close());

const values = (rows: readonly object[]): unknown[][] => rows.map((r) => Object.values(r));
const ask = async (sql: string, token?: string) => values(await service.rows(sql, 'walks', token));
const byHand = async (sql: string) => values(await service.database.exec(sql));

/** Owners that a walk from a holding reaches: first by `start` (owner, security, next), then by `step` (a, b). */
const reached = (start: string, step: string, depth: number): string => `WITH RECURSIVE
    start (owner, security, node) AS (${start}), step (a, b) AS (${step}),
    walk (owner, security, node, level) AS (
      SELECT owner, security, node, 1 FROM start UNION SELECT w.owner, w.security, s.b, w.level + 1 FROM walk w JOIN step s ON s.a = w.node WHERE w.level < ${depth})
  SELECT w.owner, w.security, o.name, min(w.level)::int FROM walk w JOIN w.owner o ON o.id = w.node GROUP BY 1, 2, 3 ORDER BY 1, 2, 4, 3`;
const UP = 'SELECT owner, security, owner FROM w.holding';
const PARENT = 'SELECT id, parent FROM w.owner WHERE parent IS NOT NULL';

describe('a walk that goes on by a relationship of its target', () => {
  it.each([1, 2, 3, 7])('reaches each row once, with the shortest length, in %d steps', async (depth) => {
    const path = `"owned_by[owner*${depth}]`;
    const found = await ask(
      `SELECT owner_id, security_id, ${path}.name" AS n, ${path}_transitivity_level" AS l FROM dsvc.holding WHERE ${path}.name" IS NOT NULL ORDER BY 1, 2, 4, 3`,
    );
    expect(found).toEqual(await byHand(reached(UP, PARENT, depth)));
    expect(found.length).toBeGreaterThan(3);
  });

  it('works over links, and by the inverse of a foreign key', async () => {
    const found = await ask(
      'SELECT owner_id, security_id, "owns[owner*].name" AS n, "owns[owner*]_transitivity_level" AS l FROM dsvc.holding WHERE "owns[owner*].name" IS NOT NULL ORDER BY 1, 2, 4, 3',
    );
    expect(found).toEqual(
      await byHand(reached('SELECT holding_owner, holding_security, owner FROM w.seat', 'SELECT parent, id FROM w.owner WHERE parent IS NOT NULL', 3)),
    );
    expect(found.length).toBeGreaterThan(3);
  });

  it('is one row for a holding without an owner, and counts like other walks', async () => {
    expect(await ask('SELECT "owned_by[owner*].name" AS n FROM dsvc.holding WHERE owner_id = 9')).toEqual([[null]]);
    expect(await ask('SELECT owner_id, security_id, COUNT("owned_by[owner*].owner_id") AS n FROM dsvc.holding GROUP BY 1, 2 ORDER BY 1, 2')).toEqual([
      [1, 1, 1],
      [3, 1, 3],
      [3, 2, 3],
      [4, 1, 2],
      [9, 1, 0],
    ]);
    expect(await ask(`SELECT DISTINCT shares FROM dsvc.holding WHERE "owned_by[owner*].name" = 'one' ORDER BY 1`)).toEqual([[10], [20], [30]]);
  });

  it('has one step without a star, and no walk in the other direction', async () => {
    expect(await ask('SELECT "owned_by[owner].name" AS n FROM dsvc.holding WHERE shares = 10')).toEqual([['three']]);
    expect(await ask('SELECT "has_holding[holding].shares" AS n FROM dsvc.owner WHERE owner_id = 1')).toEqual([[30]]);
    expect(await service.fault('SELECT "has_holding[holding*2].shares" AS n FROM dsvc.owner', 'walks')).toBe('400 bad_path');
    expect(
      await service.rows("SELECT transitivity FROM svc.SYS_CONCEPT_RELATIONSHIPS WHERE concept = 'holding' AND relationship_name = 'owned_by'", 'walks'),
    ).toEqual([{ transitivity: 5 }]);
  });

  it('passes only through rows that the caller may read', async () => {
    const reader = await service.user('reader', 'QUERY ON ALL ontology.walks');
    await service.rows("CREATE POLICY few ON CONCEPT owner TO USER reader USING (name <> 'two')", 'walks');
    expect(await ask('SELECT "owned_by[owner*].name" AS n FROM dsvc.holding WHERE shares = 10 ORDER BY 1', reader)).toEqual([['three']]);
    const some = await service.user('some', 'QUERY ON ontology.walks.concept.holding');
    expect(await service.fault('SELECT "owned_by[owner*].name" AS n FROM dsvc.holding', 'walks', some)).toBe('400 unknown_relationship');
  });

  it('needs keys, and a relationship of the target with itself', async () => {
    const create = (concept: string) => service.query(`CREATE CONCEPT ${concept}`, 'walks');
    const keyless = await create('a (x integer, CONSTRAINT owned_by FOREIGN KEY (x) REFERENCES owner (owner_id) TRANSITIVE)');
    expect([keyless.status, keyless.json.code]).toEqual([400, 'no_key']);
    const stranger = await create('b (x integer, PRIMARY KEY (x), CONSTRAINT elsewhere FOREIGN KEY (x) REFERENCES owner (owner_id) TRANSITIVE)');
    expect([stranger.status, stranger.json.code, stranger.json.hint]).toEqual([
      400,
      'bad_transitivity',
      expect.stringContaining('or has a relationship `elsewhere` with itself'),
    ]);
  });
});
