/** Mappings that a query leaves out because WHERE excludes their rows, and mappings of one table that are read in one SELECT: the same rows as SQL on the tables. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Access } from '../../src/planner/secure/access.ts';
import { PlannedTables } from '../support/planned.ts';

/** Kinds that are NULL, in another case, with trailing blanks, and of no mapping. */
const TABLES = `
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE vehicle (id int, kind text, seats int, load int, code varchar(5), pad char(3), ci text COLLATE folded, wheels int, sold boolean);
INSERT INTO vehicle VALUES
  (1, 'car', 5, NULL, 'a', 'a', 'a', 4, true), (2, 'car', 2, 100, 'b', 'b', 'A', 3, false), (3, 'truck', 2, 9000, 'a', 'a ', 'b', 6, NULL),
  (4, 'Car', 4, 1, 'A', 'c', 'B', 4, true), (5, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL), (6, 'car ', 7, 7, 'c', 'b', 'c', 2, false), (7, 'bus', 50, NULL, 'a', 'a', 'a', 8, true);
CREATE TABLE boat (id int, sails int);
INSERT INTO boat VALUES (20, 2), (21, NULL);
CREATE TABLE trip (id int, vehicle int);
INSERT INTO trip VALUES (1, 1), (2, 3), (3, 3), (4, 20), (5, NULL), (6, 99), (7, 4);
`;

const MODEL = `
CREATE ONTOLOGY vehicles;
CREATE CONCEPT vehicle (id int, kind string, PRIMARY KEY (id));
CREATE CONCEPT road (seats int) INHERITS (vehicle);
CREATE CONCEPT car INHERITS (road);
CREATE CONCEPT truck (load int) INHERITS (road);
CREATE CONCEPT boat (sails int) INHERITS (vehicle);
CREATE CONCEPT trip (trip_id int, vehicle_id int, PRIMARY KEY (trip_id), CONSTRAINT with FOREIGN KEY (vehicle_id) REFERENCES vehicle (id) INVERSEOF used_for);
CREATE CONCEPT roomy INHERITS (road) FROM svc.road WHERE seats > 3;
CREATE CONCEPT lorry INHERITS (road) FROM svc.road WHERE entity_type = 'truck' OR seats > 40;
CREATE MAPPING m_car INTO car AS SELECT id, kind, seats FROM vehicle WHERE kind = 'car';
CREATE MAPPING m_truck INTO truck AS SELECT id, kind, seats, load FROM vehicle WHERE kind = 'truck';
CREATE MAPPING m_other INTO road AS SELECT id, kind, seats FROM vehicle WHERE kind NOT IN ('car', 'truck');
CREATE MAPPING m_unknown INTO road AS SELECT id, kind, seats FROM vehicle WHERE kind IS NULL;
CREATE MAPPING m_boat INTO boat AS SELECT id, sails FROM boat;
CREATE MAPPING m_trip INTO trip AS SELECT id AS trip_id, vehicle AS vehicle_id FROM trip;
CREATE PROPERTY code string;
CREATE PROPERTY ci string;
CREATE PROPERTY pad string;
CREATE PROPERTY wheels int;
CREATE CONCEPT other (id int, code string, ci string, pad string, wheels int, PRIMARY KEY (id));
CREATE CONCEPT folded INHERITS (other);
CREATE CONCEPT padded INHERITS (other);
CREATE CONCEPT rolling INHERITS (other);
CREATE CONCEPT sold INHERITS (other);
CREATE CONCEPT vague INHERITS (other);
CREATE MAPPING m_folded_a INTO folded AS SELECT id, ci FROM vehicle WHERE ci = 'a';
CREATE MAPPING m_folded_b INTO folded AS SELECT id, ci FROM vehicle WHERE ci = 'A';
CREATE MAPPING m_padded_a INTO padded AS SELECT id, pad FROM vehicle WHERE pad = 'a';
CREATE MAPPING m_padded_b INTO padded AS SELECT id, pad FROM vehicle WHERE pad = 'a ';
CREATE MAPPING m_rolling_few INTO rolling AS SELECT id, wheels FROM vehicle WHERE wheels < 4;
CREATE MAPPING m_rolling_many INTO rolling AS SELECT id, wheels FROM vehicle WHERE wheels >= 4;
CREATE MAPPING m_sold INTO sold AS SELECT id FROM vehicle WHERE sold;
CREATE MAPPING m_unsold INTO sold AS SELECT id FROM vehicle WHERE NOT sold;
CREATE MAPPING m_vague INTO vague AS SELECT id, code FROM vehicle WHERE code = 'a' AND code = 'a';
CREATE MAPPING m_empty INTO vague AS SELECT id, code FROM vehicle WHERE code = 'a' AND code = 'b';
CREATE MAPPING m_overlap INTO vague AS SELECT id, code FROM vehicle WHERE code <> 'b';
`;

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(TABLES, MODEL, 'vehicles');
});
afterAll(() => tables.close());

/** How often the finished SQL reads a table. */
const reads = (sql: string, table: string): number => tables.plan(sql).sql.match(new RegExp(`FROM (public\\.)?${table}\\b`, 'g'))?.length ?? 0;

const TYPE = "CASE kind WHEN 'car' THEN 'car' WHEN 'truck' THEN 'truck' ELSE 'road' END";
const ROAD = `SELECT id, kind, seats, ${TYPE} AS t FROM vehicle`;

describe('the rows are those of the tables', () => {
  it.each([
    ['SELECT id, seats FROM svc.road', 'SELECT id, seats FROM vehicle'],
    ['SELECT id, entity_type FROM svc.road', `SELECT id, t AS entity_type FROM (${ROAD}) v`],
    [
      'SELECT id, entity_type, load FROM esvc.road',
      `SELECT v.id, t AS entity_type, CASE t WHEN 'truck' THEN load END AS load FROM (${ROAD}) v JOIN vehicle x ON x.id = v.id`,
    ],
    ["SELECT id, entity_type FROM svc.road WHERE kind = 'car'", `SELECT id, t AS entity_type FROM (${ROAD}) v WHERE kind = 'car'`],
    ["SELECT id FROM svc.road WHERE kind = 'car '", "SELECT id FROM vehicle WHERE kind = 'car '"],
    ["SELECT id FROM svc.road WHERE kind IN ('bus', 'truck')", "SELECT id FROM vehicle WHERE kind IN ('bus', 'truck')"],
    ["SELECT id FROM svc.road WHERE kind > 'c'", "SELECT id FROM vehicle WHERE kind > 'c'"],
    ['SELECT id FROM svc.road WHERE kind IS NULL', 'SELECT id FROM vehicle WHERE kind IS NULL'],
    ["SELECT id FROM svc.road WHERE entity_type = 'truck'", "SELECT id FROM vehicle WHERE kind = 'truck'"],
    ["SELECT id FROM svc.road WHERE entity_type IN ('truck', 'road')", `SELECT id FROM (${ROAD}) v WHERE t <> 'car'`],
    ["SELECT id FROM svc.road WHERE entity_type IN ('truck', 'car') AND 'car' = entity_type", "SELECT id FROM vehicle WHERE kind = 'car'"],
    ["SELECT id FROM svc.road WHERE entity_type = 'truck' OR seats = 5", "SELECT id FROM vehicle WHERE kind = 'truck' OR seats = 5"],
    ["SELECT id FROM svc.road WHERE entity_type = 'boat'", 'SELECT 1 AS id WHERE false'],
    [
      'SELECT entity_type, COUNT(*) AS n FROM svc.vehicle GROUP BY entity_type',
      `SELECT t AS entity_type, count(*) AS n FROM (SELECT t FROM (${ROAD}) v UNION ALL SELECT 'boat' FROM boat) q GROUP BY t`,
    ],
    ['SELECT id FROM esvc.vehicle WHERE sails = 2', 'SELECT id FROM boat WHERE sails = 2'],
    ['SELECT id FROM esvc.vehicle WHERE load >= 0', "SELECT id FROM vehicle WHERE kind = 'truck' AND load >= 0"],
    [
      'SELECT id FROM esvc.vehicle WHERE load IS NULL',
      "SELECT id FROM vehicle WHERE kind = 'truck' AND load IS NULL OR kind IS DISTINCT FROM 'truck' UNION ALL SELECT id FROM boat",
    ],
    ['SELECT id FROM svc.roomy', 'SELECT id FROM vehicle WHERE seats > 3'],
    ['SELECT id, entity_type FROM svc.lorry', `SELECT id, t AS entity_type FROM (${ROAD}) v WHERE t = 'truck' OR seats > 40`],
    [
      `SELECT trip_id, "with[vehicle].entity_type" AS t FROM dsvc.trip`,
      `SELECT r.id AS trip_id, t FROM trip r LEFT JOIN (SELECT id, t FROM (${ROAD}) v UNION ALL SELECT id, 'boat' FROM boat) w ON w.id = r.vehicle`,
    ],
    [
      `SELECT trip_id FROM dsvc.trip WHERE "with[vehicle].entity_type" = 'truck'`,
      "SELECT r.id AS trip_id FROM trip r JOIN vehicle v ON v.id = r.vehicle WHERE kind = 'truck'",
    ],
    [`SELECT trip_id FROM dsvc.trip WHERE "with[vehicle].sails" = 2`, 'SELECT r.id AS trip_id FROM trip r JOIN boat b ON b.id = r.vehicle WHERE sails = 2'],
    [
      `SELECT entity_type, COUNT("used_for[trip].trip_id") AS n FROM dsvc.road GROUP BY entity_type`,
      `SELECT t AS entity_type, count(r.id) AS n FROM (${ROAD}) v LEFT JOIN trip r ON r.vehicle = v.id GROUP BY t`,
    ],
    ['SELECT id, ci FROM svc.folded', "SELECT id, ci FROM vehicle WHERE ci = 'a' UNION ALL SELECT id, ci FROM vehicle WHERE ci = 'A'"],
    [
      "SELECT id FROM svc.folded WHERE ci = 'A'",
      "SELECT id FROM vehicle WHERE ci = 'a' AND ci = 'A' COLLATE \"C\" UNION ALL SELECT id FROM vehicle WHERE ci = 'A' AND ci = 'A' COLLATE \"C\"",
    ],
    ['SELECT id FROM svc.padded', "SELECT id FROM vehicle WHERE pad = 'a' UNION ALL SELECT id FROM vehicle WHERE pad = 'a '"],
    ["SELECT id FROM svc.padded WHERE pad = 'a'", "SELECT id FROM vehicle WHERE pad = 'a' UNION ALL SELECT id FROM vehicle WHERE pad = 'a '"],
    ['SELECT id, wheels FROM svc.rolling', 'SELECT id, wheels FROM vehicle WHERE wheels IS NOT NULL'],
    ['SELECT id FROM svc.rolling WHERE wheels = 3', 'SELECT id FROM vehicle WHERE wheels = 3'],
    ['SELECT id FROM svc.rolling WHERE wheels >= 4', 'SELECT id FROM vehicle WHERE wheels >= 4'],
    ['SELECT id FROM svc.sold', 'SELECT id FROM vehicle WHERE sold IS NOT NULL'],
    ['SELECT id, code FROM svc.vague', "SELECT id, code FROM vehicle WHERE code = 'a' UNION ALL SELECT id, code FROM vehicle WHERE code <> 'b'"],
    ["SELECT id FROM svc.vague WHERE code = 'b'", 'SELECT 1 AS id WHERE false'],
  ])('%s', async (sql, sqlOnTables) => {
    expect(await tables.rows(sql)).toEqual(await tables.rowsByHand(sqlOnTables));
  });
});

describe('the mappings of one table', () => {
  it.each([
    ['are read once', 'SELECT id, seats FROM svc.road', 1],
    ['are read once with their types where these are only shown', 'SELECT id, entity_type FROM svc.road', 1],
    ['are read apart where a condition reads their types', "SELECT id FROM svc.road WHERE entity_type <> 'x'", 3],
    ['are read apart where their columns differ', 'SELECT id, load FROM esvc.road', 2],
    ['are read apart where different texts may be equal', 'SELECT id FROM svc.folded', 2],
    ['are read apart where trailing blanks count in the constants only', 'SELECT id FROM svc.padded', 2],
    ['are read once where conditions are opposites', 'SELECT id FROM svc.rolling', 1],
    ['are read apart where a row may be in both', 'SELECT id FROM svc.vague', 2],
  ])('%s', (_, sql, times) => expect(reads(sql, 'vehicle')).toBe(times));
});

describe('a mapping is left out', () => {
  it.each([
    ['that does not give a compared property', 'SELECT id FROM esvc.vehicle WHERE sails = 2', 0, 1],
    ['of another type', "SELECT id FROM svc.vehicle WHERE entity_type = 'car'", 1, 0],
    ['whose condition excludes the constant', "SELECT id FROM svc.vehicle WHERE kind = 'car'", 1, 0],
    ['of another type at the end of a path', `SELECT trip_id FROM dsvc.trip WHERE "with[vehicle].entity_type" = 'boat'`, 0, 1],
  ])('%s', (_, sql, vehicles, boats) => {
    expect([reads(sql, 'vehicle'), reads(sql, 'boat')]).toEqual([vehicles, boats]);
  });
});

it('mappings with row policies or masks are read apart, with each policy over its own rows', async () => {
  const access: Access = {
    rows: [{ concept: 'car', conditions: [{ policy: 'p', condition: 'seats > 2' }] }],
    masks: [{ policy: 'm', property: 'kind', concept: 'truck', mask: { kind: 'null' } }],
    caller: { username: 'u', roles: [], claims: {} },
    maskKey: 'k',
  };
  expect(await tables.rows('SELECT id, kind, entity_type FROM svc.road', { access })).toEqual(
    await tables.rowsByHand(`SELECT id, CASE WHEN t <> 'truck' THEN kind END AS kind, t AS entity_type FROM (${ROAD}) v WHERE t <> 'car' OR seats > 2`),
  );
  // the mask turns the value into NULL, so no truck meets the condition
  expect(await tables.rows("SELECT id FROM svc.road WHERE kind = 'truck'", { access })).toEqual([]);
  expect(await tables.rows("SELECT id FROM svc.road WHERE kind = 'car'", { access })).toEqual(
    await tables.rowsByHand("SELECT id FROM vehicle WHERE kind = 'car' AND seats > 2"),
  );
});
