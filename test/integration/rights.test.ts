/** Statements about users, roles and grants: their effects, the rights that they need, and what cannot be dropped. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
const tokens: Record<string, string> = {};

async function user(name: string, ...grants: string[]): Promise<void> {
  tokens[name] = await service.user(name, ...grants);
}
const as = (name: string, sql: string, ontology = '') => service.fault(sql, ontology, tokens[name]);
const grantsOf = async (name: string) =>
  service.rows(`SELECT privilege, resource, is_all, grant_option FROM svc.SYS_GRANTS WHERE grantee = '${name}' ORDER BY 2, 1`);

beforeAll(async () => {
  service = await startService({
    tables: ['CREATE SCHEMA shop', 'CREATE TABLE shop.t_item (id bigint PRIMARY KEY, name text)', "INSERT INTO shop.t_item VALUES (1, 'a'), (2, 'b')"],
  });
  await service.rows(
    'CREATE ONTOLOGY shop; CREATE CONCEPT item (id bigint, name string, PRIMARY KEY (id)); CREATE MAPPING items INTO (item) AS SELECT id, name FROM shop.t_item',
    'shop',
  );
  await user('una');
  await user('help', 'EDIT ON role');
  await service.rows('GRANT EDIT ON ALL user TO USER help WITH GRANT OPTION');
});
afterAll(() => service?.close());

describe('users', () => {
  it('are changed by ALTER USER', async () => {
    await service.rows("ALTER USER una SET EMAIL = 'una@example.com'; ALTER USER Una SET ACTIVE 'false'; ALTER USER una SET PASSWORD = 'Another-one-2'");
    expect(await service.rows("SELECT email, active FROM svc.SYS_USERS WHERE user_name = 'una'")).toEqual([{ email: 'una@example.com', active: false }]);
    expect(await as('una', 'SELECT 1 AS one')).toBe('401 invalid_token');
    await service.rows("ALTER USER una SET ACTIVE = 'TRUE'; ALTER USER una SET EMAIL = ''");
    expect(await service.rows("SELECT email, active FROM svc.SYS_USERS WHERE user_name = 'una'")).toEqual([{ email: null, active: true }]);
    expect(await service.rows('SELECT 1 AS one', '', tokens.una)).toEqual([{ one: 1 }]);
  });

  it.each([
    ["ALTER USER nobody SET ACTIVE = 'true'", '400 unknown_user'],
    ["ALTER USER una SET ACTIVE = 'perhaps'", '400 bad_value'],
    ["ALTER USER una SET PASSWORD = ''", '400 bad_password'],
    ["ALTER USER una SET NAME = 'x'", '400 syntax_error'],
    ["ALTER USER admin SET ACTIVE = 'false'", '400 built_in'],
    ['DROP USER admin', '400 built_in'],
    ['DROP ROLE admin', '400 built_in'],
    ['REVOKE ROLE admin FROM USER admin', '400 built_in'],
    ['DROP USER nobody', '400 unknown_user'],
    ['DROP ROLE nobody', '400 unknown_role'],
    ['GRANT AUTH ON ALL user TO USER una', '400 syntax_error'],
    ['GRANT AUTH ON ontology.shop TO USER una', '400 syntax_error'],
    ['GRANT AUTH ON user.una TO ROLE admin', '400 syntax_error'],
    ['REVOKE QUERY ON ontology.shop FROM USER una', '400 unknown_grant'],
    ['REVOKE ROLE admin FROM USER una', '400 unknown_grant'],
    ['REVOKE WRITE ON ontology.shop FROM USER una', '400 unknown_statement'],
    ['GRANT ROLE nobody TO USER una', '400 unknown_role'],
  ])('%s is refused', async (sql, expected) => {
    expect(await service.fault(sql)).toBe(expected);
  });

  it('who are administrators cannot be changed with EDIT ON ALL user', async () => {
    await user('boss');
    await service.rows('GRANT ROLE admin TO USER boss');
    const [token] = await service.rows('SHOW TOKEN FOR boss');
    for (const sql of [
      `REVOKE TOKEN '${token.token_id}'`,
      "ALTER USER boss SET PASSWORD = 'mine'",
      "ALTER USER admin SET PASSWORD = 'mine'",
      'DROP USER boss',
      'CREATE TOKEN FOR boss',
      'GRANT AUTH ON user.boss TO USER help',
    ])
      expect([sql, await as('help', sql)]).toEqual([sql, '403 forbidden']);
    expect(await as('help', 'GRANT AUTH ON user.una TO USER help')).toBe('200 undefined');
    await service.rows('REVOKE AUTH ON user.una FROM USER help');
    expect(await as('help', 'GRANT ROLE admin TO USER help')).toBe('400 unknown_role');
    await service.rows('GRANT EDIT ON ALL role TO USER help WITH GRANT OPTION');
    expect(await as('help', 'GRANT ROLE admin TO USER help')).toBe('403 forbidden');
    await service.rows('REVOKE EDIT ON ALL role FROM USER help; REVOKE ROLE admin FROM USER boss; DROP USER boss');
    expect(await as('boss', 'SELECT 1 AS one')).toBe('401 invalid_token');
  });

  it('are dropped with their grants and the grants on them', async () => {
    await user('gone', 'QUERY ON ALL ontology.shop');
    await service.rows('GRANT ACCESS ON user.gone TO USER una');
    await service.rows('DROP USER gone');
    expect(await grantsOf('una')).toEqual([]);
    await service.rows('CREATE USER gone');
    expect(await grantsOf('gone')).toEqual([]);
    await service.rows('DROP USER gone');
  });

  it('cannot be dropped while a policy names them or a view reads by their rights', async () => {
    await user('maker', 'EDIT ON ALL ontology.shop');
    await service.rows('CREATE POLICY p ON CONCEPT item TO USER maker USING (true)', 'shop');
    await service.rows('CREATE ONTOLOGY VIEW v AS SELECT name FROM svc.item', 'shop', tokens.maker);
    expect((await service.query('DROP USER maker')).json.data).toBe('the user `maker` is named by the policy `p` of the ontology `shop`');
    await service.rows('DROP POLICY p', 'shop');
    expect((await service.query('DROP USER maker')).json.data).toBe(
      'the user `maker` is the definer of the view `v` of the ontology `shop`, which reads with its rights',
    );
    await service.rows('CREATE OR REPLACE ONTOLOGY VIEW v AS SELECT name FROM svc.item', 'shop');
    await service.rows('DROP USER maker');
    await service.rows('DROP VIEW v', 'shop');
  });
});

describe('roles', () => {
  it('give their members their grants, during the membership', async () => {
    await service.rows('CREATE ROLE readers; GRANT QUERY ON ALL ontology.shop TO ROLE readers; GRANT ROLE readers TO USER una');
    expect(await service.rows("SELECT role_name, user_name FROM svc.SYS_ROLES WHERE role_name = 'readers'")).toEqual([
      { role_name: 'readers', user_name: 'una' },
    ]);
    expect(await service.rows('SELECT count(*) AS n FROM svc.item', 'shop', tokens.una)).toEqual([{ n: 2 }]);
    await service.rows('REVOKE ROLE readers FROM USER una');
    expect(await as('una', 'SELECT count(*) AS n FROM svc.item', 'shop')).toBe('404 unknown_ontology');
    await service.rows('GRANT ROLE readers TO USER una; GRANT ROLE readers TO USER una');
    expect(await as('una', 'SELECT count(*) AS n FROM svc.item', 'shop')).toBe('200 undefined');
    await service.rows('DROP ROLE readers');
    expect(await as('una', 'SELECT count(*) AS n FROM svc.item', 'shop')).toBe('404 unknown_ontology');
  });

  it('belong to their creator', async () => {
    expect(await as('una', 'CREATE ROLE mine')).toBe('403 forbidden');
    await service.rows('CREATE ROLE mine; GRANT ROLE mine TO USER una', '', tokens.help);
    expect(await grantsOf('help')).toContainEqual({ privilege: 'EDIT', resource: 'role.mine', is_all: true, grant_option: true });
    expect(await as('una', 'GRANT ROLE mine TO USER una')).toBe('400 unknown_role');
    expect(await as('help', 'CREATE ROLE MINE')).toBe('400 exists');
    // the role may be granted, but not rights that its owner does not have
    expect(await as('help', 'GRANT QUERY ON ALL ontology TO ROLE mine')).toBe('403 forbidden');
    await service.rows('CREATE POLICY p ON CONCEPT item TO ROLE mine USING (true)', 'shop');
    expect((await service.query('DROP ROLE mine', '', tokens.help)).json.data).toBe('the role `mine` is named by a policy');
    await service.rows('DROP POLICY p', 'shop');
    await service.rows('DROP ROLE mine', '', tokens.help);
  });
});

describe('grants', () => {
  it('are revoked as they were granted', async () => {
    await service.rows('GRANT QUERY ON ALL ontology.shop TO USER una; GRANT QUERY ON ontology.shop TO USER una WITH GRANT OPTION');
    expect(await grantsOf('una')).toHaveLength(2);
    await service.rows('REVOKE QUERY ON ontology.SHOP FROM USER UNA');
    expect(await grantsOf('una')).toEqual([{ privilege: 'QUERY', resource: 'ontology.shop', is_all: true, grant_option: false }]);
    expect(await as('una', 'REVOKE QUERY ON ALL ontology.shop FROM USER una')).toBe('403 forbidden');
    await service.rows('REVOKE QUERY ON ALL ontology.shop FROM USER una');
    expect(await as('una', 'SELECT 1 AS one', 'shop')).toBe('404 unknown_ontology');
  });

  it('on dropped objects can be revoked by administrators', async () => {
    await service.rows('CREATE CONCEPT brief (id bigint, PRIMARY KEY (id))', 'shop');
    await service.rows('GRANT QUERY ON ontology.shop.concept.brief TO USER una');
    await service.rows('DROP CONCEPT brief', 'shop');
    await service.rows('REVOKE QUERY ON ontology.shop.concept.brief FROM USER una');
    expect(await grantsOf('una')).toEqual([]);
  });

  it('may name future concepts and views, by users who may grant on all of the ontology', async () => {
    await service.rows('GRANT QUERY ON ontology.shop.view.later TO USER una');
    expect(await grantsOf('una')).toEqual([{ privilege: 'QUERY', resource: 'ontology.shop.view.later', is_all: false, grant_option: false }]);
    await service.rows('CREATE ONTOLOGY VIEW later AS SELECT name FROM svc.item', 'shop');
    expect(await service.rows('SELECT name FROM vsvc.later', 'shop', tokens.una)).toHaveLength(2);
    expect(await service.fault('GRANT QUERY ON ontology.nowhere.view.later TO USER una')).toBe('400 unknown_ontology');
    expect(await as('una', 'GRANT QUERY ON ontology.shop.concept.nothing TO USER una')).toBe('400 unknown_concept');
    await service.rows('REVOKE QUERY ON ontology.shop.view.later FROM USER una; DROP VIEW later', 'shop');
  });

  it('are refreshed by administrators', async () => {
    expect(await as('help', 'REFRESH PERMISSIONS')).toBe('403 forbidden');
    expect(await service.rows('REFRESH PERMISSIONS')).toEqual([{ refreshed: true }]);
  });
});
