/** Attacks on users who become administrators: the statements of the attacker, and the expected answers. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { makeBearer } from '../../src/auth/bearer.ts';
import { resume } from '../../src/auth/resume.ts';
import { beginSession } from '../../src/auth/session.ts';
import { findLogin } from '../../src/catalog/logins.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { readConfig } from '../../src/config.ts';
import { createApp } from '../../src/http/app.ts';
import { admins, ask, by, catalog, db, demoteAll, isAdmin, jwt, logIn, outcome, PASSWORD, promoted, SALT, SECRET, s, startCallers, user } from './callers.ts';

beforeAll(startCallers);
afterAll(() => s?.close());
afterEach(demoteAll);

/** The row of a promotion that removes nothing. */
const NOTHING = { tokens_revoked: 0, auth_grants_revoked: 0, password_cleared: false, email_cleared: false };

describe('AUTH on a user who becomes an administrator', () => {
  it('does not let others act as an administrator, and does not come back after a demotion', async () => {
    const vic = await user('vic', 'QUERY ON ALL ontology.shop');
    const amy = await user('amy');
    const other = { ...by(amy.token), 'x-api-impersonate-user': vic.name };
    await admins(`GRANT AUTH ON user.${vic.name} TO USER ${amy.name}`);
    expect(await outcome('SELECT 1 AS one', other, 'shop')).toBe('200');
    expect(await promoted(vic.name)).toEqual({ role: 'admin', user: vic.name, ...NOTHING, auth_grants_revoked: 1 });
    expect(await ask('SELECT 1 AS one', other)).toMatchObject({ status: 403, json: { code: 'forbidden', data: 'This needs AUTH on that user' } });
    await admins(`REVOKE ROLE admin FROM USER ${vic.name}`);
    expect(await outcome('SELECT 1 AS one', other)).toBe('403 forbidden');
    await admins(`GRANT AUTH ON user.${vic.name} TO USER ${amy.name}`);
    expect(await outcome('SELECT 1 AS one', other)).toBe('200');
  });

  it('is refused for any grant in the catalog, with the same answer as for an unknown user', async () => {
    const vic = await user('vic');
    const amy = await user('amy');
    await promoted(vic.name);
    // as an earlier release has stored it
    await catalog(
      `INSERT INTO kg_catalog.grants (user_id, privilege, resource, resource_key) SELECT id, 'auth', '["user","${vic.name}"]', '["user","${vic.name}"]' FROM kg_catalog.users WHERE key = '${amy.name}'`,
    );
    await admins('REFRESH PERMISSIONS');
    const refusal = async (name: string) => {
      const { status, json } = await ask('SELECT 1 AS one', { ...by(amy.token), 'x-api-impersonate-user': name });
      const { request_id, ...body } = json;
      return { status, body };
    };
    expect(await refusal(vic.name)).toEqual(await refusal('nobody'));
    expect((await refusal(vic.name)).status).toBe(403);
  });

  it('cannot be granted, not even in the script that promotes the user', async () => {
    const vic = await user('vic');
    const amy = await user('amy');
    const grant = `GRANT AUTH ON user.${vic.name} TO USER ${amy.name}`;
    expect(await outcome(`GRANT ROLE admin TO USER ${vic.name}; ${grant}`, by(s.token))).toBe('400 administrator');
    await promoted(vic.name);
    expect(await outcome(grant, by(s.token))).toBe('400 administrator');
    expect(await outcome(`REVOKE ROLE admin FROM USER ${vic.name}; ${grant}`, by(s.token))).toBe('200');
    // nor is it kept by a script that grants first
    expect(await outcome(`${grant}; GRANT ROLE admin TO USER ${vic.name}; REVOKE ROLE admin FROM USER ${vic.name}`, by(s.token))).toBe('200');
    expect(await outcome('SELECT 1 AS one', { ...by(amy.token), 'x-api-impersonate-user': vic.name })).toBe('403 forbidden');
  });

  it('does not make a statement that started before the promotion an administrator\u2019s', async () => {
    const vic = await user('vic', 'QUERY ON ALL ontology.shop');
    const amy = await user('amy');
    await admins(`GRANT AUTH ON user.${vic.name} TO USER ${amy.name}`);
    const id = async (name: string) => String((await catalog(`SELECT id FROM kg_catalog.users WHERE key = '${name}'`))[0]?.id);
    const came = { credential: 'api_token', tenant: null, claims: {}, isAdmin: false } as const;
    const own = { ...came, userId: await id(vic.name), controllers: [], actor: undefined };
    const acted = { ...own, actor: { userId: await id(amy.name), name: amy.name } };
    const options = { db, now: Date.now, waitUntil: () => undefined };
    expect((await resume(acted, options)).principal).toMatchObject({ name: vic.name, isAdmin: false });
    await admins('GRANT QUERY ON ALL ontology TO ROLE admin');
    await promoted(vic.name);
    await expect(resume(acted, options)).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
    // its own statement continues with its rights
    const { principal } = await resume(own, options);
    expect([principal.isAdmin, principal.roles, principal.grants.map((g) => g.resource)]).toEqual([false, [], [['ontology', 'shop']]]);
    expect((await resume({ ...own, isAdmin: true }, options)).principal.isAdmin).toBe(true);
    await admins('REVOKE QUERY ON ALL ontology FROM ROLE admin');
    // a session that an administrator started by impersonation ends when the role is revoked
    const asAdmin = { ...acted, isAdmin: true, actor: { userId: await id(amy.name), name: amy.name } };
    await expect(resume(asAdmin, options)).rejects.toMatchObject({ status: 401 });
  });
});

describe('at a promotion', () => {
  it('tokens of others are revoked, tokens of the user and of administrators are kept', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    const [{ token: others }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, by(ben.token))).json.data;
    const own = await logIn(tom.name);
    expect(await outcome('SELECT 1 AS one', by(others))).toBe('200');
    expect(await promoted(tom.name)).toEqual({ role: 'admin', user: tom.name, ...NOTHING, tokens_revoked: 1 });
    expect(await outcome('SELECT 1 AS one', by(others))).toBe('401 invalid_token');
    for (const token of [own, tom.token]) expect(await isAdmin(by(token))).toBe(true);
    const [{ token: after }] = (await admins(`CREATE TOKEN FOR ${tom.name}`)) as [{ token: string }];
    expect(await isAdmin(by(after))).toBe(true);
    // repeating it is not a promotion
    expect(await promoted(tom.name)).toEqual({ role: 'admin', user: tom.name, ...NOTHING });
  });

  it.each([
    ['with the token that it made', (token: string) => by(token)],
    ['in the place of the user', (_: string, name: string, ben: string) => ({ ...by(ben), 'x-api-impersonate-user': name })],
  ])('credentials that the attacker makes %s count as the attacker\u2019s', async (_, come) => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    await admins(`GRANT EDIT ON user.${tom.name} TO USER ${tom.name}`, `GRANT AUTH ON user.${tom.name} TO USER ${ben.name}`);
    const [{ token: first }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, by(ben.token))).json.data;
    const headers = come(first, tom.name, ben.token);
    const [{ token: second }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, headers)).json.data;
    expect(await outcome(`ALTER USER ${tom.name} SET PASSWORD = 'bens own'`, headers)).toBe('200');
    const third = await logIn(tom.name, 'bens own');
    expect(await promoted(tom.name)).toMatchObject({ tokens_revoked: 3, password_cleared: true });
    for (const token of [first, second, third]) expect(await outcome('SELECT 1 AS one', by(token))).toBe('401 invalid_token');
    expect(await logIn(tom.name, 'bens own')).toBe('401');
  });

  it('a password that another user set is cleared, and tokens and sessions of it end', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    await ask(`ALTER USER ${tom.name} SET PASSWORD = 'bens own'`, by(ben.token));
    const token = await logIn(tom.name, 'bens own');
    const login = await findLogin(db, tom.name);
    const { value } = await beginSession(SECRET, login as NonNullable<typeof login>, login?.passwordBy ?? [], Date.now());
    const page = async () => (await s.fetch('/svc/get_svc_user_token/', { headers: { cookie: `svc_session=${value}` } })).status;
    expect([await outcome('SELECT 1 AS one', by(token)), await page()]).toEqual(['200', 200]);
    expect(await promoted(tom.name)).toEqual({ role: 'admin', user: tom.name, ...NOTHING, tokens_revoked: 2, password_cleared: true });
    expect([await outcome('SELECT 1 AS one', by(token)), await page(), await logIn(tom.name, 'bens own')]).toEqual(['401 invalid_token', 303, '401']);
    await admins(`ALTER USER ${tom.name} SET PASSWORD = '${PASSWORD}'`);
    expect(await isAdmin(by(await logIn(tom.name)))).toBe(true);
  });

  it('tokens of a login with a password of another user end after a later change of the password, too', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    await ask(`ALTER USER ${tom.name} SET PASSWORD = 'bens own'`, by(ben.token));
    const token = await logIn(tom.name, 'bens own');
    await admins(`ALTER USER ${tom.name} SET PASSWORD = '${PASSWORD}'`);
    expect(await promoted(tom.name)).toMatchObject({ tokens_revoked: 1, password_cleared: false });
    expect(await outcome('SELECT 1 AS one', by(token))).toBe('401 invalid_token');
    expect(await isAdmin(by(await logIn(tom.name)))).toBe(true);
  });

  it('an e-mail that another user set is cleared, and JWTs and tokens of it end', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    await admins(`GRANT EDIT ON user.${tom.name} TO USER ${tom.name}`);
    const mail = `${ben.name}@corp.example`;
    await ask(`ALTER USER ${tom.name} SET EMAIL = '${mail}'`, by(ben.token));
    const [{ token }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, jwt({ email: mail }))).json.data;
    expect(await outcome('SELECT 1 AS one', by(token))).toBe('200');
    expect(await promoted(tom.name)).toEqual({ role: 'admin', user: tom.name, ...NOTHING, tokens_revoked: 1, email_cleared: true });
    expect(await outcome('SELECT 1 AS one', jwt({ email: mail }))).toBe('401 user_not_found');
    expect(await outcome('SELECT 1 AS one', by(token))).toBe('401 invalid_token');
    expect(await admins(`SELECT email FROM svc.SYS_USERS WHERE user_name = '${tom.name}'`)).toEqual([{ email: null }]);
  });

  it('tokens that are made by impersonation with an e-mail of another user end', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    await admins(`GRANT EDIT ON user.${tom.name} TO USER ${tom.name}`);
    const mail = `${ben.name}@corp.example`;
    await ask(`ALTER USER ${tom.name} SET EMAIL = '${mail}'`, by(ben.token));
    const gateway = { ...by(s.token), 'x-api-impersonate-user': mail };
    const [{ token }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, gateway)).json.data;
    expect(await outcome('SELECT 1 AS one', by(token))).toBe('200');
    expect(await promoted(tom.name)).toEqual({ role: 'admin', user: tom.name, ...NOTHING, tokens_revoked: 1, email_cleared: true });
    expect([await outcome('SELECT 1 AS one', by(token)), await outcome('SELECT 1 AS one', gateway)]).toEqual(['401 invalid_token', '403 forbidden']);
  });

  it('a new e-mail ends sessions, so that none remains at a promotion', async () => {
    const tom = await user('tom');
    const login = await findLogin(db, tom.name);
    const { value } = await beginSession(SECRET, login as NonNullable<typeof login>, [], Date.now());
    const page = async () => (await s.fetch('/svc/get_svc_user_token/', { headers: { cookie: `svc_session=${value}` } })).status;
    expect(await page()).toBe(200);
    await admins(`ALTER USER ${tom.name} SET EMAIL = '${tom.name}@corp.example'`);
    expect(await page()).toBe(303);
  });

  it('a token of a former administrator is revoked', async () => {
    const tom = await user('tom');
    const ada = await user('ada');
    await promoted(ada.name);
    const [{ token }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, by(ada.token))).json.data;
    await admins(`REVOKE ROLE admin FROM USER ${ada.name}`);
    expect(await promoted(tom.name)).toMatchObject({ tokens_revoked: 1 });
    expect(await outcome('SELECT 1 AS one', by(token))).toBe('401 invalid_token');
  });

  it('tokens and passwords of a dropped user are removed', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    const [{ token }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, by(ben.token))).json.data;
    await ask(`ALTER USER ${tom.name} SET PASSWORD = 'bens own'`, by(ben.token));
    const second = await logIn(tom.name, 'bens own');
    await admins(`DROP USER ${ben.name}`);
    expect(await promoted(tom.name)).toMatchObject({ tokens_revoked: 2, password_cleared: true });
    for (const t of [token, second]) expect(await outcome('SELECT 1 AS one', by(t))).toBe('401 invalid_token');
  });

  it('tokens without a stored maker are revoked, except those of a login', async () => {
    const tom = await user('tom');
    const own = await logIn(tom.name);
    await catalog(`UPDATE kg_catalog.tokens SET created_by = NULL WHERE user_id = (SELECT id FROM kg_catalog.users WHERE key = '${tom.name}')`);
    await catalog(`UPDATE kg_catalog.users SET password_by = NULL, email_by = NULL WHERE key = '${tom.name}'`);
    expect(await promoted(tom.name)).toEqual({ role: 'admin', user: tom.name, ...NOTHING, tokens_revoked: 1 });
    expect(await outcome('SELECT 1 AS one', by(tom.token))).toBe('401 invalid_token');
    expect(await isAdmin(by(own))).toBe(true);
  });

  it('nothing is removed from a user that the same script creates', async () => {
    const name = 'fresh';
    const script = `CREATE USER ${name} PASSWORD '${PASSWORD}' OPTIONS (email = 'fresh@corp.example'); CREATE TOKEN FOR ${name}; GRANT ROLE admin TO USER ${name}`;
    expect((await ask(script, by(s.token))).json.data).toEqual([{ role: 'admin', user: name, ...NOTHING }]);
    expect(await isAdmin(by(await logIn(name)))).toBe(true);
    await admins(`REVOKE ROLE admin FROM USER ${name}; DROP USER ${name}`);
  });

  it('nothing is removed if the script fails', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    const [{ token }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, by(ben.token))).json.data;
    expect(await outcome(`GRANT ROLE admin TO USER ${tom.name}; DROP USER nobody`, by(s.token))).toBe('400 unknown_user');
    expect(await outcome('SELECT 1 AS one', by(token))).toBe('200');
    expect(await isAdmin(by(token))).toBe(false);
  });
});

describe('EDIT on an administrator', () => {
  it.each([
    ['CREATE TOKEN FOR @'],
    ["ALTER USER @ SET PASSWORD = 'x'"],
    ["ALTER USER @ SET EMAIL = 'x@corp.example'"],
    ["ALTER USER @ SET ACTIVE = 'false'"],
    ['DROP USER @'],
    ['SHOW TOKEN FOR @'],
    ['GRANT AUTH ON user.@ TO USER &'],
    ['REVOKE AUTH ON user.@ FROM USER &'],
    ["REVOKE TOKEN '#'"],
  ])('does not allow %s', async (sql) => {
    const tom = await user('tom');
    const ben = await user('ben');
    await admins(`GRANT EDIT ON user.${tom.name} TO USER ${ben.name} WITH GRANT OPTION`);
    await promoted(tom.name);
    const [{ token_id }] = (await admins(`SHOW TOKEN FOR ${tom.name}`)) as [{ token_id: string }];
    const text = sql.replace('@', tom.name).replace('&', ben.name).replace('#', token_id);
    expect(await outcome(text, by(ben.token))).toBe('403 forbidden');
  });

  /** A service over the same catalog with a hook before each batch of changes. */
  async function startLate(before: () => Promise<unknown>): Promise<(path: string, init: RequestInit) => Promise<string>> {
    const runtime = {
      config: readConfig({ CATALOG_URL: s.database.secret(CATALOG_OWNER), API_AUTH_SALT: SALT }),
      db: {
        query: db.query,
        batch: async (calls: Parameters<typeof db.batch>[0]) => {
          // audit entries about earlier requests are written later, in the background
          if (!calls.every(({ sql }) => /^INSERT INTO kg_catalog\.audit/.test(sql))) await before();
          return db.batch(calls);
        },
      },
      parser: await loadNodeParser(),
      now: Date.now,
      waitUntil: () => undefined,
      log: () => undefined,
    };
    const app = createApp('svc', '0');
    return async (path, init) => {
      const response = await app.fetch(new Request(`http://127.0.0.1${path}`, { method: 'POST', ...init }), { runtime });
      forgetSnapshots();
      return `${response.status} ${((await response.json()) as { code: string }).code}`;
    };
  }

  it('gives a conflict if the user is promoted before the statement is written', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    // the promotion happens between the check and the write of each statement
    const late = await startLate(() => promoted(tom.name));
    for (const sql of [`CREATE TOKEN FOR ${tom.name}`, `ALTER USER ${tom.name} SET PASSWORD = 'x'`, `ALTER USER ${tom.name} SET EMAIL = 'x@corp.example'`]) {
      const headers = { ...by(ben.token), 'content-type': 'application/json' };
      expect([sql, await late('/svc/api/query', { headers, body: JSON.stringify({ query: sql }) })]).toEqual([sql, '409 version_conflict']);
      await admins(`REVOKE ROLE admin FROM USER ${tom.name}`);
    }
  });

  it('gives no token if the promotion ends the login before the token is written', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    await ask(`ALTER USER ${tom.name} SET PASSWORD = 'bens own'`, by(ben.token));
    const authorization = `Bearer ${await makeBearer({ user: tom.name, password: 'bens own' }, SALT, Date.now())}`;
    const late = await startLate(() => promoted(tom.name));
    expect(await late('/svc/api/get_token', { headers: { authorization } })).toBe('401 invalid_bearer');
    expect((await admins(`SHOW TOKEN FOR ${tom.name}`)).map((t) => t.label)).toEqual([null]);
  });
});

describe('A role that policies test with svc_has_role', () => {
  const ROWS = 'SELECT name FROM svc.city';
  const names = async (token: string): Promise<unknown[]> => (await ask(ROWS, by(token), 'shop')).json.data.map((r: { name: string }) => r.name);

  it.each([
    ['in its condition', "CREATE POLICY asked ON CONCEPT city TO PUBLIC USING (svc_has_role('chiefs') OR name = 'Lyon')", ''],
    [
      'by a calculated property',
      "CREATE POLICY asked ON CONCEPT city TO PUBLIC USING (led OR name = 'Lyon')",
      "CREATE PROPERTY led boolean AS SELECT svc_has_role('Chiefs')",
    ],
    [
      'by a logic concept',
      'CREATE POLICY asked ON CONCEPT led_city TO PUBLIC USING (true)',
      "CREATE CONCEPT led_city FROM dsvc.city WHERE name = 'Berlin' AND NOT svc_has_role('chiefs')",
    ],
    [
      'by a value of the row',
      "CREATE POLICY asked ON CONCEPT city TO PUBLIC USING (svc_has_role(replace(CASE WHEN name = 'Berlin' THEN 'chief-s' END, '-', '')) OR name = 'Lyon')",
      '',
    ],
  ])('%s cannot be created or dropped by editors of roles', async (_where, policy, model) => {
    const mal = await user('mal', 'QUERY ON ALL ontology.shop', 'EDIT ON role');
    await admins(`GRANT ACCESS ON user.${mal.name} TO USER ${mal.name}`);
    const byValue = policy.includes('CASE');
    try {
      if (model !== '')
        await s.rows(
          `${model}${model.startsWith('CREATE PROPERTY') ? '; CREATE OR REPLACE CONCEPT city (id bigint, name string, led boolean, PRIMARY KEY (id))' : ''}`,
          'shop',
        );
      await s.rows(policy, 'shop');
      const before = await names(mal.token);
      expect(await outcome(`CREATE ROLE chiefs; GRANT ROLE chiefs TO USER ${mal.name}`, by(mal.token))).toBe('403 forbidden');
      await admins('CREATE ROLE Chiefs', `GRANT EDIT ON role.chiefs TO USER ${mal.name}`);
      if (!byValue) for (const token of [mal.token, s.token]) expect(await outcome('DROP ROLE chiefs', by(token))).toBe('400 in_use');
      expect(await outcome(`DROP ROLE chiefs; CREATE ROLE chiefs; GRANT ROLE chiefs TO USER ${mal.name}`, by(mal.token))).toBe(
        byValue ? '403 forbidden' : '400 in_use',
      );
      expect(await names(mal.token)).toEqual(before);
      // a role with another name affects no policy
      if (!byValue) expect(await outcome('CREATE ROLE painters; DROP ROLE painters', by(mal.token))).toBe('200');
    } finally {
      await s.query('DROP POLICY asked', 'shop');
      await s.query('DROP ROLE chiefs');
      await s.query('CREATE OR REPLACE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); DROP PROPERTY led', 'shop');
      await s.query('DROP CONCEPT led_city', 'shop');
    }
    expect(await outcome('CREATE ROLE chiefs; DROP ROLE chiefs', by(mal.token))).toBe('200');
  });
});

describe('A role that a text of an ontology tests with svc_has_role', () => {
  it.each([
    ['a view', "CREATE VIEW led AS SELECT name FROM svc.city WHERE svc_has_role('Chiefs')", 'SELECT name FROM vsvc.led', 'DROP VIEW led'],
    [
      'the condition of a logic concept',
      "CREATE CONCEPT led_city FROM svc.city WHERE name = 'Lyon' OR svc_has_role('chiefs')",
      'SELECT entity_id FROM svc.led_city',
      'DROP CONCEPT led_city',
    ],
    [
      'a calculated property',
      "CREATE PROPERTY led string AS SELECT CASE WHEN svc_has_role(CASE WHEN id > 0 THEN 'chiefs' END) THEN name END; CREATE OR REPLACE CONCEPT city (id bigint, name string, led string, PRIMARY KEY (id))",
      'SELECT led FROM svc.city',
      'CREATE OR REPLACE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); DROP PROPERTY led',
    ],
    [
      'a measure',
      "CREATE MEASURE led bigint AS SELECT COUNT(id) WHERE svc_has_role('chiefs'); CREATE OR REPLACE CONCEPT city (id bigint, name string, led MEASURE bigint, PRIMARY KEY (id))",
      'SELECT SUM("measure.led") AS n FROM dsvc.city',
      'CREATE OR REPLACE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); DROP MEASURE led',
    ],
  ])('(%s) cannot be created by editors of roles, nor dropped and created', async (_where, model, query, drop) => {
    const mal = await user('mal', 'QUERY ON ALL ontology.shop', 'EDIT ON role');
    const own = await user('own', 'EDIT ON role');
    await admins(`GRANT EDIT ON ALL ontology.shop TO USER ${own.name} WITH GRANT OPTION`, `GRANT ACCESS ON user.${mal.name} TO USER ${mal.name}`);
    const rows = async (): Promise<unknown> => (await ask(query, by(mal.token), 'shop')).json.data;
    const join = `CREATE ROLE chiefs; GRANT ROLE chiefs TO USER ${mal.name}`;
    try {
      await s.rows(model, 'shop');
      const before = await rows();
      expect(await outcome(join, by(mal.token))).toBe('403 forbidden');
      await admins('CREATE ROLE chiefs', `GRANT EDIT ON role.chiefs TO USER ${mal.name}`);
      expect(await outcome(`DROP ROLE chiefs; ${join}`, by(mal.token))).toBe('403 forbidden');
      expect(await rows()).toEqual(before);
      // those who may make policies there may create it, and others may create other roles
      await admins('DROP ROLE chiefs');
      expect(await outcome('CREATE ROLE chiefs; DROP ROLE chiefs', by(own.token))).toBe('200');
      expect(await outcome('CREATE ROLE painters; DROP ROLE painters', by(mal.token))).toBe('200');
      // a member sees more
      await admins('CREATE ROLE chiefs', `GRANT ROLE chiefs TO USER ${mal.name}`);
      expect(await rows()).not.toEqual(before);
    } finally {
      await s.query('DROP ROLE chiefs');
      await s.query(drop, 'shop');
    }
    expect(await outcome('CREATE ROLE chiefs; DROP ROLE chiefs', by(mal.token))).toBe('200');
  });

  it.each([
    ["'chi' || 'efs'", true],
    ["concat('chi', 'ef', 's')", true],
    ["CASE WHEN id > 1 THEN upper('chi') || 'efs' ELSE 'x' END", true],
    ["'chi' || name", true],
    ["name || 'efs'", true],
    ["coalesce(name, 'c') || 'hie' || name || 's'", true],
    ["'chief' || name || 'sss'", false],
    ["'lord' || name", false],
  ])('cannot be created if the text composes its name: %s', async (role, may) => {
    const mal = await user('mal', 'EDIT ON role');
    try {
      await s.rows(`CREATE VIEW led AS SELECT name FROM svc.city WHERE svc_has_role(${role})`, 'shop');
      expect(await outcome('CREATE ROLE Chiefs; DROP ROLE chiefs', by(mal.token))).toBe(may ? '403 forbidden' : '200');
      await s.rows(`CREATE POLICY asked ON CONCEPT city TO PUBLIC USING (svc_has_role(${role})); DROP VIEW led`, 'shop');
      expect(await outcome('CREATE ROLE Chiefs; DROP ROLE chiefs', by(mal.token))).toBe(may ? '403 forbidden' : '200');
      // it does not prevent other roles
      expect(await outcome('CREATE ROLE painters; DROP ROLE painters', by(mal.token))).toBe('200');
    } finally {
      await s.query('DROP VIEW led; DROP POLICY asked', 'shop');
      await s.query('DROP POLICY asked', 'shop');
    }
  });

  it.each([
    ["SELECT q.name FROM (SELECT name, 'chi' || name AS role FROM svc.city) q WHERE svc_has_role(q.role)", true],
    ["WITH q AS (SELECT concat('chi', 'efs') AS role) SELECT c.name FROM svc.city c CROSS JOIN q WHERE svc_has_role(q.role)", true],
    ["SELECT name FROM svc.city WHERE svc_has_role(format('chi%s', name))", true],
    ["SELECT name FROM svc.city WHERE svc_has_role(concat_ws('ief', 'ch', 's'))", true],
    [String.raw`SELECT name FROM svc.city WHERE U&"svc_ha\0073_role"('chiefs')`, true],
    [String.raw`SELECT name FROM svc.city WHERE u&"!0073vc_ha!0073_role" UESCAPE '!' (U&'\0063hiefs')`, true],
    ["SELECT q.name FROM (SELECT name, 'lord' || name AS role FROM svc.city) q WHERE svc_has_role(q.role)", false],
  ])('cannot be created if a view composes its name elsewhere: %s', async (view, may) => {
    const mal = await user('mal', 'EDIT ON role');
    try {
      await s.rows(`CREATE VIEW led AS ${view}`, 'shop');
      expect(await outcome('CREATE ROLE Chiefs; DROP ROLE chiefs', by(mal.token))).toBe(may ? '403 forbidden' : '200');
      expect(await outcome('CREATE ROLE painters; DROP ROLE painters', by(mal.token))).toBe('200');
    } finally {
      await s.query('DROP VIEW led', 'shop');
    }
  });

  it.each([
    "SELECT name FROM svc.city WHERE svc_has_role(reverse('sfeihc'))",
    "SELECT name FROM svc.city WHERE svc_has_role(replace('chiefX', 'X', ''))",
    "SELECT name FROM svc.city WHERE svc_has_role(lower(overlay('chXXfs' placing 'ie' from 3)))",
    "SELECT name FROM svc.city WHERE svc_has_role(chr(99) || translate('hixfs', 'x', 'e'))",
    "SELECT name FROM svc.city WHERE svc_has_role(CASE WHEN id > 1 THEN 'x' ELSE substr('the chiefs', 5) END)",
    "SELECT name FROM svc.city WHERE svc_has_role(coalesce(name, left('chiefs!', 6)))",
    "SELECT name FROM svc.city WHERE svc_has_role(trim(CASE name WHEN 'Lyon' THEN ' chiefs ' END))",
    "SELECT name FROM svc.city WHERE svc_has_role('chiefs!'::varchar(6))",
    "SELECT name FROM svc.city WHERE svc_has_role('chiefs '::bpchar)",
    "SELECT name FROM svc.city WHERE svc_has_role(coalesce(name, left('chiefs!', 6))::text)",
    'SELECT name FROM svc.city WHERE svc_has_role(coalesce(name, left(\'chiefs!\', 6)) COLLATE "C")',
    "SELECT name FROM svc.city WHERE svc_has_role(convert_from(decode('636869656673', 'hex'), 'UTF8'))",
  ])('is not computed from constants: %s', async (view) => {
    const condition = view.slice(view.indexOf('WHERE ') + 6);
    for (const statement of [
      `CREATE VIEW led AS ${view}`,
      `CREATE CONCEPT led_city FROM svc.city WHERE ${condition}`,
      `CREATE PROPERTY led boolean AS SELECT ${condition}`,
      `CREATE PROPERTY other boolean AS SELECT true; CREATE MEASURE led bigint AS SELECT COUNT(id) WHERE ${condition}`,
    ]) {
      const { status, json } = await s.query(statement, 'shop');
      expect([status, json.code], statement).toEqual([400, 'bad_call']);
    }
  });

  it.each([
    'name',
    "replace(name, 'x', 'y')",
    "svc_claim('role')",
    "split_part(svc_claim('roles'), ',', 1)",
    "'year_' || to_char(now(), 'YYYY')",
    "lower(CASE WHEN id > 1 THEN 'chiefs' ELSE name END)",
    "(SELECT max('chi' || c.name) FROM svc.city c)",
    "format('chi%s', 'efs')",
    "'year_' || 2024",
    "concat('year_', 2024::text)",
    "CASE WHEN id > 1 THEN 'chiefs' ELSE NULL::text END",
    'NULL',
  ])('may be computed from rows, claims and the time: %s', async (role) => {
    expect(await outcome(`CREATE VIEW led AS SELECT name FROM svc.city WHERE svc_has_role(${role}); DROP VIEW led`, by(s.token), 'shop')).toBe('200');
  });

  it('has the same name for the database as for the service, if a column gives it', async () => {
    const names = [
      'kitchen',
      'KITCHEN',
      'K\u0130TCHEN',
      '\u212aitchen',
      'k\u0131tchen',
      '\u00c4rzte',
      '\u00e4rzte',
      '\u00c4RZTE',
      '\u03a3\u0391\u03a3',
      '\u03c3\u03b1\u03c2',
      null,
    ];
    await s.database.exec('CREATE TABLE shop.t_dept (id bigint, dept text)');
    await s.database.exec(`INSERT INTO shop.t_dept VALUES ${names.map((name, i) => `(${i}, ${name === null ? 'NULL' : `'${name}'`})`).join(', ')}`);
    await s.rows(
      'CREATE ONTOLOGY dept; CREATE CONCEPT desk (id bigint, dept string, PRIMARY KEY (id)); CREATE MAPPING m INTO (desk) AS SELECT id, dept FROM shop.t_dept',
      'dept',
    );
    await s.rows('CREATE POLICY own ON CONCEPT desk TO PUBLIC USING (svc_has_role(dept))', 'dept');
    for (const role of ['Kitchen', '\u00c4rzte', '\u03c3\u03b1\u03c2']) {
      const cook = await user('cook', 'QUERY ON ALL ontology.dept');
      await admins(`CREATE ROLE "${role}"`, `GRANT ROLE "${role}" TO USER ${cook.name}`);
      const own = names.flatMap((name, id) => (name?.toLowerCase() === role.toLowerCase() && name !== '\u212aitchen' ? [{ id, dept: name }] : []));
      expect(own.length).toBeGreaterThan(1);
      // also if the statement has barriers
      for (const where of ['true', '1 / (id + 1) >= 0'])
        expect((await ask(`SELECT id, dept FROM svc.desk WHERE ${where} ORDER BY id`, by(cook.token), 'dept')).json.data).toEqual(own);
    }
    await admins('DROP ONTOLOGY dept');
  });

  it('cannot be created after the text was dropped, to restore the text', async () => {
    await s.rows("CREATE VIEW led AS SELECT name FROM svc.city WHERE svc_has_role('chiefs')", 'shop');
    const [old] = await s.rows('SHOW VERSIONS', 'shop');
    const back = `ROLLBACK ONTOLOGY shop TO VERSION '${old?.id}'`;
    const mal = await user('mal', 'EDIT ON role', 'EDIT ON ALL ontology.shop');
    const ed = await user('ed', 'EDIT ON ALL ontology.shop');
    try {
      expect(await outcome('DROP VIEW led', by(mal.token), 'shop')).toBe('200');
      expect(await outcome(`CREATE ROLE chiefs; ${back}`, by(mal.token), 'shop')).toBe('403 forbidden');
      expect(await outcome('CREATE ROLE chiefs', by(mal.token))).toBe('200');
      expect(await outcome(back, by(mal.token), 'shop')).toBe('403 forbidden');
      // nor by another editor, nor next to a text of the editor that tests for the role
      expect(await outcome(back, by(ed.token), 'shop')).toBe('403 forbidden');
      const own = "CREATE VIEW own AS SELECT 1 AS one WHERE svc_has_role('chiefs')";
      expect(await outcome(`${own}; ${back}`, by(mal.token), 'shop')).toBe('403 forbidden');
      expect(await outcome(own, by(mal.token), 'shop')).toBe('200');
      expect(await outcome(back, by(mal.token), 'shop')).toBe('403 forbidden');
      // a text of the editor itself is restored
      const [mine] = (await ask('SHOW VERSIONS', by(mal.token), 'shop')).json.data;
      expect(await outcome('DROP VIEW own', by(mal.token), 'shop')).toBe('200');
      expect(await outcome(`ROLLBACK ONTOLOGY shop TO VERSION '${mine.id}'`, by(mal.token), 'shop')).toBe('200');
      await s.rows(back);
      // the version now has the text
      expect(await outcome(back, by(mal.token), 'shop')).toBe('200');
    } finally {
      await s.query('DROP ROLE chiefs');
      await s.query('DROP VIEW led', 'shop');
    }
  });
});

describe('A datasource that was removed from an ontology', () => {
  it('is not attached again by the rollback of a caller who may only query it', async () => {
    await admins("CREATE DATASOURCE hr TYPE postgres SECRET 'DATASOURCE_MAIN'", 'CREATE ONTOLOGY staff', 'ALTER ONTOLOGY staff ADD DATASOURCE hr');
    await s.rows(
      'CREATE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); CREATE MAPPING m INTO (city) USING hr AS SELECT id, name FROM shop.t_city; CREATE VIEW raw USING hr AS SELECT id FROM shop.t_city',
      'staff',
    );
    const [{ id: both }] = await s.rows('SHOW VERSION', 'staff');
    await s.rows('DROP MAPPING m', 'staff');
    const [{ id: raw }] = await s.rows('SHOW VERSION', 'staff');
    await s.rows('DROP VIEW raw', 'staff');
    const reads = await user('reads', 'EDIT ON ALL ontology.staff', 'QUERY ON datasource.hr');
    const edits = await user('edits', 'EDIT ON ALL ontology.staff', 'EDIT ON datasource.hr');
    const back = (version: string): string => `ROLLBACK ONTOLOGY staff TO VERSION '${version}'`;
    const [{ id: none }] = await s.rows('SHOW VERSION', 'staff');
    expect(await outcome(back(both), by(reads.token))).toBe('200');
    await s.rows(back(none));
    await admins('ALTER ONTOLOGY staff REMOVE DATASOURCE hr');
    for (const version of [both, raw]) expect(await outcome(back(version), by(reads.token))).toBe('403 forbidden');
    for (const version of [both, raw]) expect(await outcome(back(version), by(edits.token))).toBe('200');
    await admins('DROP ONTOLOGY staff', 'DROP DATASOURCE hr');
  });
});

describe('The e-mail of a user', () => {
  it('is not looked up for callers who may impersonate nobody', async () => {
    const tom = await user('tom');
    const mal = await user('mal', 'EDIT ON user');
    await admins(`ALTER USER ${tom.name} SET EMAIL = '${tom.name}@corp.example'`);
    const as = (name: string) => outcome('SELECT 1 AS one', { ...by(mal.token), 'x-api-impersonate-user': name });
    expect(await as('first@corp.example')).toBe('403 forbidden');
    const sent = vi.spyOn(globalThis, 'fetch');
    for (const name of [`${tom.name}@corp.example`, 'nobody@corp.example']) expect(await as(name)).toBe('403 forbidden');
    expect(sent).not.toHaveBeenCalled();
    sent.mockRestore();
  });

  it('cannot be set by an editor of users so that the JSON Web Tokens of an administrator name no user or another one', async () => {
    const boss = await user('boss');
    const mal = await user('mal', 'EDIT ON user');
    const email = `${boss.name}@corp.example`;
    await admins(`ALTER USER ${boss.name} SET EMAIL = '${email}'`);
    await promoted(boss.name);
    expect(await isAdmin(jwt({ email }))).toBe(true);
    const sent = email.toUpperCase();
    for (const sql of [
      `CREATE USER twin OPTIONS (email = '${sent}')`,
      `CREATE USER \`${sent}\``,
      `CREATE USER twin; ALTER USER twin SET EMAIL = '${sent}'`,
      `CREATE USER \`${sent}\` OPTIONS (email = 'twin@corp.example')`,
    ])
      expect([sql, await outcome(sql, by(mal.token))]).toEqual([sql, '400 exists']);
    await admins('REFRESH PERMISSIONS');
    expect(await isAdmin(jwt({ email }))).toBe(true);
    // their own e-mails can be set again
    const own = "CREATE USER twin OPTIONS (email = 'twin@corp.example'); ALTER USER twin SET EMAIL = 'twin@corp.example'";
    expect(await outcome(own, by(mal.token))).toBe('200');
    expect(await outcome("ALTER USER twin SET EMAIL = 'Twin@corp.example'; ALTER USER twin SET EMAIL = ''; DROP USER twin", by(mal.token))).toBe('200');
  });
});

it.each([
  'adm\u200bin',
  'admin\u2060',
  '\u202enimda',
  '\u3164admin',
  'adm\u00adin',
  'admin\u2028',
  'admin\u2800',
  'admin ',
  ' admin',
  'admin\u00a0',
  'help  desk',
  'help\u2003desk',
])('No user or role has a name that looks like another: %j', async (name) => {
  const mal = await user('mal', 'EDIT ON user', 'EDIT ON role');
  for (const sql of [`CREATE USER \`${name}\``, `CREATE ROLE \`${name}\``, `CREATE OR REPLACE USER \`${name}\``, `CREATE ROLE IF NOT EXISTS \`${name}\``])
    expect([sql, await outcome(sql, by(mal.token))]).toEqual([sql, '400 bad_name']);
});
