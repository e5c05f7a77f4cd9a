/** Mappings that change the type of a property of other concepts: a property whose columns are all `real` keeps that type, so one more mapping changes what texts read. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, by, s, startCallers, user } from './callers.ts';

let editor: { name: string; token: string };
let partial: { name: string; token: string };
let reader: { name: string; token: string };
beforeAll(async () => {
  await startCallers();
  await s.database.exec('CREATE TABLE shop.t_gauge (id bigint PRIMARY KEY, depth real, other double precision)');
  await s.database.exec('INSERT INTO shop.t_gauge VALUES (1, 4.7, 1), (2, 5.5, 2)');
  await s.rows(
    'CREATE ONTOLOGY g; CREATE CONCEPT gauge (id bigint, depth double, PRIMARY KEY (id)); CREATE MAPPING gauges INTO gauge AS SELECT id, depth FROM shop.t_gauge',
  );
  editor = await user('ed', 'EDIT ON ALL ontology.g', 'QUERY ON datasource.main');
  partial = await user('pe', 'EDIT ON ontology.g', 'QUERY ON datasource.main');
  reader = await user('re', 'QUERY ON ALL ontology.g');
});
afterAll(() => s?.close());
afterEach(() => s.query('DROP POLICY rule', 'g'));

/** Mappings of other concepts with a column `depth` of another type. */
const OTHERS = [
  'CREATE CONCEPT x (xid bigint, depth double); CREATE MAPPING xs INTO x AS SELECT id AS xid, other AS depth FROM shop.t_gauge',
  'CREATE CONCEPT x (xid bigint); CREATE MAPPING xs INTO x AS SELECT id AS xid, other AS depth FROM shop.t_gauge',
  'CREATE CONCEPT x (depth double) INHERITS (gauge); CREATE MAPPING xs INTO x AS SELECT id + 10 AS id, other AS depth FROM shop.t_gauge',
];

describe.each([
  ['a row policy', "CREATE POLICY rule ON CONCEPT gauge TO PUBLIC USING (NOT (depth = '4.7'))", [{ id: 2 }]],
  ['a row policy over the text', "CREATE POLICY rule ON CONCEPT gauge TO PUBLIC USING (depth::text <> '4.7')", [{ id: 2 }]],
  ['a mask', "CREATE POLICY rule ON PROPERTY id MASK WITH (CASE WHEN depth = '4.7' THEN -1 ELSE id END)", [{ id: -1 }, { id: 2 }]],
])('%s', (_, policy, rows) => {
  it.each(OTHERS)('still applies after %s', async (script) => {
    await s.rows(policy, 'g');
    const shown = () => s.rows('SELECT id FROM svc.gauge ORDER BY id', 'g', reader.token);
    expect(await shown()).toEqual(rows);
    for (const { token } of [editor, partial]) {
      const { status, json } = await ask(script, by(token), 'g');
      // the partial editor does not see `gauge`
      const isUnknown = token === partial.token && script.includes('INHERITS');
      expect([status, json.code]).toEqual(isUnknown ? [400, 'unknown_concept'] : [403, 'forbidden']);
      expect(await shown()).toEqual(rows);
    }
  });
});

it('does not prevent mappings whose columns have the same type, or another name', async () => {
  await s.rows("CREATE POLICY rule ON CONCEPT gauge TO PUBLIC USING (NOT (depth = '4.7'))", 'g');
  for (const columns of ['id AS xid, depth', 'id AS xid, other']) {
    const script = `CREATE CONCEPT x (xid bigint, depth double); CREATE MAPPING xs INTO x AS SELECT ${columns} FROM shop.t_gauge`;
    expect((await ask(script, by(editor.token), 'g')).status).toBe(200);
    expect(await s.rows('SELECT id FROM svc.gauge ORDER BY id', 'g', reader.token)).toEqual([{ id: 2 }]);
    await s.rows('DROP MAPPING xs; DROP CONCEPT x', 'g');
  }
});
