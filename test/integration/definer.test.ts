/** Views read with the rights of the user who last defined them, for every caller. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
const tokens: Record<string, string> = {};

async function user(name: string, ...grants: string[]): Promise<void> {
  tokens[name] = await service.user(name, ...grants);
}
const read = (view: string, name = 'reader') => service.query(`SELECT count(*) AS n FROM vsvc.${view}`, 'shop', tokens[name]);
const outcome = async (view: string, name?: string) => {
  const { status, json } = await read(view, name);
  return status === 200 ? json.data[0].n : `${status} ${json.code} ${json.data}`;
};
const lost = (view: string) => `403 view_unreadable the view \`${view}\` cannot be read: its definer may not read everything that it names`;

beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.t_item (id bigint PRIMARY KEY, name text)',
      "INSERT INTO shop.t_item VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    ],
  });
  await service.rows(
    'CREATE ONTOLOGY shop; CREATE CONCEPT item (id bigint, name string, PRIMARY KEY (id)); CREATE MAPPING items INTO (item) AS SELECT id, name FROM shop.t_item',
    'shop',
  );
  await user('maker', 'EDIT ON ALL ontology.shop', 'QUERY ON datasource.main');
  await service.rows(
    'CREATE ONTOLOGY VIEW v AS SELECT name FROM svc.item; CREATE ONTOLOGY VIEW above AS SELECT name FROM vsvc.v; CREATE ONTOLOGY VIEW raw USING main AS SELECT name FROM shop.t_item',
    'shop',
    tokens.maker,
  );
  await user('reader', 'QUERY ON ontology.shop.view.v', 'QUERY ON ontology.shop.view.raw', 'QUERY ON ontology.shop.view.above');
});
afterAll(() => service?.close());

describe('a view', () => {
  it('can be read with only the right on it, while its definer has the rights on what it names', async () => {
    expect([await outcome('v'), await outcome('above')]).toEqual([3, 3]);
    // cached plans do not bypass this: the same statements again
    await service.rows('REVOKE EDIT ON ALL ontology.shop FROM USER maker');
    expect([await outcome('v'), await outcome('above')]).toEqual([lost('v'), lost('above')]);
    expect((await service.query('EXPLAIN SELECT name FROM vsvc.v', 'shop', tokens.reader)).json.code).toBe('view_unreadable');
    await service.rows('GRANT QUERY ON ontology.shop.concept.item TO USER maker; GRANT QUERY ON ontology.shop.view.v TO USER maker');
    expect([await outcome('v'), await outcome('above')]).toEqual([3, 3]);
    // ACCESS does not suffice for reading
    await service.rows('REVOKE QUERY ON ontology.shop.concept.item FROM USER maker; GRANT ACCESS ON ontology.shop.concept.item TO USER maker');
    expect(await outcome('v')).toBe(lost('v'));
    await service.rows('GRANT EDIT ON ALL ontology.shop TO USER maker');
  });

  it('on raw tables needs its definer to have QUERY on the datasource', async () => {
    expect(await outcome('raw')).toBe(3);
    await service.rows('REVOKE QUERY ON datasource.main FROM USER maker');
    expect(await outcome('raw')).toBe(lost('raw'));
    await service.rows('GRANT QUERY ON datasource.main TO USER maker');
    expect(await outcome('raw')).toBe(3);
  });

  it('without USING belongs to the active datasource if it reads only tables', async () => {
    await service.rows('CREATE ONTOLOGY VIEW own AS SELECT t.name FROM shop.t_item t JOIN (SELECT id FROM shop.t_item) x USING (id)', 'shop', tokens.maker);
    expect(await outcome('own', 'maker')).toBe(3);
    expect((await service.rows('SHOW CREATE VIEW own', 'shop'))[0].script).toContain('USING `main`');
    await service.rows('REVOKE QUERY ON datasource.main FROM USER maker');
    expect(await service.fault('CREATE ONTOLOGY VIEW other AS SELECT name FROM shop.t_item', 'shop', tokens.maker)).toBe('403 forbidden');
    await service.rows('GRANT QUERY ON datasource.main TO USER maker; DROP VIEW own', 'shop');
    // a name similar to one of the schemas, or a mix of tables and concepts, is not such a view
    for (const from of ['svx.item', 'svc.item JOIN shop.t_item t ON true'])
      expect(await service.fault(`CREATE ONTOLOGY VIEW own AS SELECT 1 AS one FROM ${from}`, 'shop')).toBe('400 unknown_schema');
  });

  it('has its former definer after a rollback, and another one after a replacement', async () => {
    const [{ id }] = await service.rows('SHOW VERSION', 'shop');
    await service.rows('CREATE OR REPLACE ONTOLOGY VIEW v AS SELECT name FROM svc.item', 'shop');
    await service.rows('REVOKE EDIT ON ALL ontology.shop FROM USER maker; REVOKE ACCESS ON ontology.shop.concept.item FROM USER maker');
    expect(await outcome('v')).toBe(3);
    await service.rows("ALTER VIEW v UPDATE TAG a = 'b'", 'shop');
    expect(await outcome('v')).toBe(3);
    await service.rows(`ROLLBACK ONTOLOGY shop TO VERSION '${id}'`);
    expect(await outcome('v')).toBe(lost('v'));
    // administrators also read it with its definer's rights
    expect(await service.fault('SELECT name FROM vsvc.v', 'shop')).toBe('403 view_unreadable');
  });
});
