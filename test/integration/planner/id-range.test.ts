/** Ids outside the range of a key's column omit its mapping: a distributed planner would convert them to the column's type, which is an error. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PlannedTables } from '../../support/planned.ts';

const SIZES = ['smallint', 'integer', 'bigint'];

let tables: PlannedTables;
beforeAll(async () => {
  tables = await PlannedTables.open(
    `CREATE SCHEMA s; ${SIZES.map((t) => `CREATE TABLE s.t_${t} (id ${t} PRIMARY KEY); INSERT INTO s.t_${t} VALUES (1), (32767), (-32768)`).join('; ')};
      INSERT INTO s.t_bigint VALUES (32768), (2147483648)`,
    `CREATE ONTOLOGY ids; CREATE CONCEPT num (n bigint, PRIMARY KEY (n)); ${SIZES.map((t) => `CREATE MAPPING m_${t} INTO num AS SELECT id AS n FROM s.t_${t}`).join('; ')}`,
    'ids',
  );
});
afterAll(() => tables?.close());

it.each([
  ['32767', SIZES, 3],
  ['-32768', SIZES, 3],
  ['32768', ['integer', 'bigint'], 1],
  ['-32769', ['integer', 'bigint'], 0],
  ['2147483648', ['bigint'], 1],
] as const)('an id %s is looked for in the columns that can have it', async (id, columns, rows) => {
  const query = `SELECT n FROM svc.num WHERE entity_id = 'num:${id}'`;
  expect(SIZES.filter((t) => tables.plan(query).sql.includes(`t_${t} `))).toEqual(columns);
  expect(await tables.rows(query)).toEqual(Array(rows).fill(`{"n":${id}}`));
});
