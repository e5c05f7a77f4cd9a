/** Rights that outlive their reason: each attack as the statements of the attacker and what must come of them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { makeBearer } from '../../src/auth/bearer.ts';
import { resume } from '../../src/auth/resume.ts';
import { beginSession } from '../../src/auth/session.ts';
import { neonDb } from '../../src/catalog/db.ts';
import { findLogin } from '../../src/catalog/logins.ts';
import { forgetSnapshots } from '../../src/catalog/snapshot.ts';
import { parseConnection } from '../../src/config.ts';
import { type Answered, type NodeService, startNodeService } from '../integration/support/service.ts';
import { inVariable, jws, rsa, spki } from '../unit/auth/by-hand.ts';

const PASSWORD = 'Correct-horse-9!';
const SALT = 'a salt of this test';
const SECRET = 'a secret that signs the sessions of this test';
const realm = rsa();

let s: NodeService;
let db: ReturnType<typeof neonDb>;

beforeAll(async () => {
  s = await startNodeService({ ENABLE_TOKEN: 'true', JWT_DEFAULT_KEY: inVariable(spki(realm)), API_AUTH_SALT: SALT, SESSION_SECRET: SECRET });
  db = neonDb(parseConnection(s.database.secret(CATALOG_OWNER), 'CATALOG_URL'));
  await s.database.exec('CREATE SCHEMA shop');
  await s.database.exec('CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text)');
  await s.database.exec("INSERT INTO shop.t_city VALUES (1, 'Berlin'), (2, 'Lyon')");
  await s.database.exec('GRANT USAGE ON SCHEMA shop TO kg_reader');
  await s.database.exec('GRANT SELECT ON shop.t_city TO kg_reader');
  await s.rows(
    'CREATE ONTOLOGY shop; CREATE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city',
    'shop',
  );
});
afterAll(() => s?.close());

type Headers = Readonly<Record<string, string>>;

/** A statement of the whole service, or on `ontology`, with these headers. */
async function ask(sql: string, headers: Headers, ontology = ''): Promise<Answered> {
  const body = JSON.stringify({ ontology_name: ontology, query: sql });
  const response = await s.fetch('/svc/api/query', { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
}
const by = (token: string): Headers => ({ 'x-api-key': token });
/** `status code` of a statement. */
const outcome = async (sql: string, headers: Headers, ontology = ''): Promise<string> => {
  const { status, json } = await ask(sql, headers, ontology);
  return status === 200 ? '200' : `${status} ${json.code}`;
};
const admins = async (...statements: readonly string[]) => {
  let rows: Record<string, unknown>[] = [];
  for (const sql of statements) rows = await s.rows(sql);
  return rows;
};

/** A statement on the catalog itself. */
const catalog = (sql: string) => s.database.exec(sql, [], CATALOG_OWNER);

let number = 0;
const made: string[] = [];
/** A user with a name of its own, its token, and what it may. */
async function user(name: string, ...grants: readonly string[]): Promise<{ name: string; token: string }> {
  number++;
  const own = `${name}${number}`;
  made.push(own);
  await admins(`CREATE USER ${own} PASSWORD '${PASSWORD}'`, ...grants.map((g) => `GRANT ${g} TO USER ${own}`));
  const [row] = await admins(`CREATE TOKEN FOR ${own}`);
  return { name: own, token: String(row?.token) };
}
const isAdmin = async (headers: Headers): Promise<boolean> => {
  const { status, json } = await ask('SELECT role_name FROM svc.SYS_ROLES', headers);
  return status === 200 && json.data.some((r: { role_name: string }) => r.role_name === 'admin');
};
/** A token by get_token, or the status of the refusal. */
async function logIn(name: string, password = PASSWORD): Promise<string> {
  const bearer = await makeBearer({ user: name, password }, SALT, Date.now());
  const response = await s.fetch('/svc/api/get_token', { method: 'POST', headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' } });
  const json = (await response.json()) as { data: string[] };
  return response.status === 200 ? String(json.data[0]) : String(response.status);
}
const jwt = (claims: Readonly<Record<string, unknown>>): Headers => ({
  'x-jwt-token': jws({ alg: 'RS256' }, { exp: Math.floor(Date.now() / 1000) + 300, ...claims }, realm),
});
const promoted = async (name: string) => (await admins(`GRANT ROLE admin TO USER ${name}`))[0];
const NOTHING = { tokens_revoked: 0, auth_grants_revoked: 0, password_cleared: false, email_cleared: false };

afterEach(async () => {
  for (const name of made.splice(0)) await s.query(`REVOKE ROLE admin FROM USER ${name}`);
});

describe('AUTH on a user who becomes an administrator', () => {
  it('lets nobody act as an administrator, and is gone when the role is taken back', async () => {
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

  it('is refused whatever grants the catalog holds, with the words of every other refusal', async () => {
    const vic = await user('vic');
    const amy = await user('amy');
    await promoted(vic.name);
    // as a release before this one has left it
    await catalog(
      `INSERT INTO kg_catalog.grants (user_id, privilege, resource, resource_key) SELECT id, 'auth', '["user","${vic.name}"]', '["user","${vic.name}"]' FROM kg_catalog.users WHERE key = '${amy.name}'`,
    );
    await admins('REFRESH PERMISSIONS');
    const refusal = async (name: string) => {
      const { status, json } = await ask('SELECT 1 AS one', { ...by(amy.token), 'x-api-impersonate-user': name });
      const { request_id, ...told } = json;
      return { status, told };
    };
    expect(await refusal(vic.name)).toEqual(await refusal('nobody'));
    expect((await refusal(vic.name)).status).toBe(403);
  });

  it('cannot be given, in the promoting script neither', async () => {
    const vic = await user('vic');
    const amy = await user('amy');
    const grant = `GRANT AUTH ON user.${vic.name} TO USER ${amy.name}`;
    expect(await outcome(`GRANT ROLE admin TO USER ${vic.name}; ${grant}`, by(s.token))).toBe('400 administrator');
    await promoted(vic.name);
    expect(await outcome(grant, by(s.token))).toBe('400 administrator');
    expect(await outcome(`REVOKE ROLE admin FROM USER ${vic.name}; ${grant}`, by(s.token))).toBe('200');
    // nor is it left by a script that grants first
    expect(await outcome(`${grant}; GRANT ROLE admin TO USER ${vic.name}; REVOKE ROLE admin FROM USER ${vic.name}`, by(s.token))).toBe('200');
    expect(await outcome('SELECT 1 AS one', { ...by(amy.token), 'x-api-impersonate-user': vic.name })).toBe('403 forbidden');
  });

  it('gives a statement that began before no rights of an administrator', async () => {
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
    // its own statement goes on with what it could do
    const { principal } = await resume(own, options);
    expect([principal.isAdmin, principal.roles, principal.grants.map((g) => g.resource)]).toEqual([false, [], [['ontology', 'shop']]]);
    expect((await resume({ ...own, isAdmin: true }, options)).principal.isAdmin).toBe(true);
    await admins('REVOKE QUERY ON ALL ontology FROM ROLE admin');
    // nor does one that an administrator began in the place of another go on when he is none any more
    const asAdmin = { ...acted, isAdmin: true, actor: { userId: await id(amy.name), name: amy.name } };
    await expect(resume(asAdmin, options)).rejects.toMatchObject({ status: 401 });
  });
});

describe('at a promotion', () => {
  it('tokens that others made end, and those of the user and of administrators stay', async () => {
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
    // again is no promotion
    expect(await promoted(tom.name)).toEqual({ role: 'admin', user: tom.name, ...NOTHING });
  });

  it.each([
    ['with the token that it made', (token: string) => by(token)],
    ['in the place of the user', (_: string, name: string, ben: string) => ({ ...by(ben), 'x-api-impersonate-user': name })],
  ])('what the maker of a token makes %s is its own, not of the user', async (_, come) => {
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

  it('a password that another has set is cleared, with what was got by it', async () => {
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

  it('tokens got by a password of another end also where the password is a new one by then', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    await ask(`ALTER USER ${tom.name} SET PASSWORD = 'bens own'`, by(ben.token));
    const token = await logIn(tom.name, 'bens own');
    await admins(`ALTER USER ${tom.name} SET PASSWORD = '${PASSWORD}'`);
    expect(await promoted(tom.name)).toMatchObject({ tokens_revoked: 1, password_cleared: false });
    expect(await outcome('SELECT 1 AS one', by(token))).toBe('401 invalid_token');
    expect(await isAdmin(by(await logIn(tom.name)))).toBe(true);
  });

  it('an e-mail that another has set is cleared, with the sessions of before', async () => {
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

  it('a new e-mail ends sessions, so that none of before is left at a promotion', async () => {
    const tom = await user('tom');
    const login = await findLogin(db, tom.name);
    const { value } = await beginSession(SECRET, login as NonNullable<typeof login>, [], Date.now());
    const page = async () => (await s.fetch('/svc/get_svc_user_token/', { headers: { cookie: `svc_session=${value}` } })).status;
    expect(await page()).toBe(200);
    await admins(`ALTER USER ${tom.name} SET EMAIL = '${tom.name}@corp.example'`);
    expect(await page()).toBe(303);
  });

  it('a token of an administrator who is none any more counts as that of another', async () => {
    const tom = await user('tom');
    const ada = await user('ada');
    await promoted(ada.name);
    const [{ token }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, by(ada.token))).json.data;
    await admins(`REVOKE ROLE admin FROM USER ${ada.name}`);
    expect(await promoted(tom.name)).toMatchObject({ tokens_revoked: 1 });
    expect(await outcome('SELECT 1 AS one', by(token))).toBe('401 invalid_token');
  });

  it('a maker who was dropped is nobody whom one trusts', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    const [{ token }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, by(ben.token))).json.data;
    await ask(`ALTER USER ${tom.name} SET PASSWORD = 'bens own'`, by(ben.token));
    const second = await logIn(tom.name, 'bens own');
    await admins(`DROP USER ${ben.name}`);
    expect(await promoted(tom.name)).toMatchObject({ tokens_revoked: 2, password_cleared: true });
    for (const t of [token, second]) expect(await outcome('SELECT 1 AS one', by(t))).toBe('401 invalid_token');
  });

  it('tokens of before makers were kept end, but for those of a login', async () => {
    const tom = await user('tom');
    const own = await logIn(tom.name);
    await catalog(`UPDATE kg_catalog.tokens SET created_by = NULL WHERE user_id = (SELECT id FROM kg_catalog.users WHERE key = '${tom.name}')`);
    await catalog(`UPDATE kg_catalog.users SET password_by = NULL, email_by = NULL WHERE key = '${tom.name}'`);
    expect(await promoted(tom.name)).toEqual({ role: 'admin', user: tom.name, ...NOTHING, tokens_revoked: 1 });
    expect(await outcome('SELECT 1 AS one', by(tom.token))).toBe('401 invalid_token');
    expect(await isAdmin(by(own))).toBe(true);
  });

  it('the row is right where one script makes the user and promotes it', async () => {
    const name = 'fresh';
    const script = `CREATE USER ${name} PASSWORD '${PASSWORD}' OPTIONS (email = 'fresh@corp.example'); CREATE TOKEN FOR ${name}; GRANT ROLE admin TO USER ${name}`;
    expect((await ask(script, by(s.token))).json.data).toEqual([{ role: 'admin', user: name, ...NOTHING }]);
    expect(await isAdmin(by(await logIn(name)))).toBe(true);
    await admins(`REVOKE ROLE admin FROM USER ${name}; DROP USER ${name}`);
  });

  it('nothing is taken where nothing of the script is kept', async () => {
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
  ])('is no hold: %s', async (sql) => {
    const tom = await user('tom');
    const ben = await user('ben');
    await admins(`GRANT EDIT ON user.${tom.name} TO USER ${ben.name} WITH GRANT OPTION`);
    await promoted(tom.name);
    const [{ token_id }] = (await admins(`SHOW TOKEN FOR ${tom.name}`)) as [{ token_id: string }];
    const text = sql.replace('@', tom.name).replace('&', ben.name).replace('#', token_id);
    expect(await outcome(text, by(ben.token))).toBe('403 forbidden');
  });

  it('that is written while the user becomes one is not kept', async () => {
    const tom = await user('tom');
    const ben = await user('ben', `EDIT ON user.${tom.name}`);
    // the promotion lies between the judging and the writing of each statement
    const late = await startLate(async () => {
      await promoted(tom.name);
    });
    for (const sql of [`CREATE TOKEN FOR ${tom.name}`, `ALTER USER ${tom.name} SET PASSWORD = 'x'`, `ALTER USER ${tom.name} SET EMAIL = 'x@corp.example'`]) {
      expect([sql, await late(sql, ben.token)]).toEqual([sql, '409 version_conflict']);
      await admins(`REVOKE ROLE admin FROM USER ${tom.name}`);
    }
  });
});

describe('an asynchronous answer', () => {
  /** Starts the statement, waits for its end, and reads it with other headers. */
  async function begun(sql: string, headers: Headers): Promise<(other: Headers) => Promise<{ status: number; text: string }>> {
    const path = '/svc/openapi/ontology/shop/query';
    const response = await s.fetch(path, { method: 'POST', headers: { 'content-type': 'text/plain', 'x-async': 'true', ...headers }, body: sql });
    const { poll_url } = (await response.json()) as { poll_url: string };
    const read = async (other: Headers) => {
      const answer = await s.fetch(poll_url, { headers: other });
      return { status: answer.status, text: await answer.text() };
    };
    await expect.poll(async () => (await read(headers)).text, { timeout: 10_000 }).toContain('"completed"');
    return read;
  }
  const LOST = { status: 404, text: '{"error":"Response not found"}' };

  it('is read under the claims that it was made with, and under no others', async () => {
    const eva = await user('eva', 'QUERY ON ALL ontology.shop');
    await admins(`ALTER USER ${eva.name} SET EMAIL = '${eva.name}@corp.example'`);
    await s.rows("CREATE POLICY here ON CONCEPT city TO PUBLIC USING (name = svc_claim('town'))", 'shop');
    try {
      const claims = (more: Readonly<Record<string, unknown>>) => jwt({ email: `${eva.name}@corp.example`, ...more });
      const read = await begun('SELECT name FROM svc.city', claims({ town: 'Berlin' }));
      expect((await read(claims({ town: 'Berlin', iat: 5, jti: 'another token of the same login' }))).text).toContain('[{"name":"Berlin"}]');
      const others = { 'another claim': { town: 'Lyon' }, 'no claim': {}, 'one claim more': { town: 'Berlin', dept: 'x' } };
      for (const [what, more] of Object.entries(others)) expect({ what, ...(await read(claims(more))) }).toEqual({ what, ...LOST });
      for (const headers of [by(eva.token), by(s.token)]) expect(await read(headers)).toEqual(LOST);
      const own = await begun('SELECT name FROM svc.city', by(eva.token));
      expect(await own(claims({ town: 'Berlin' }))).toEqual(LOST);
    } finally {
      await s.rows('DROP POLICY here', 'shop');
    }
  });

  it('that was begun in the place of a user is not that of the user, nor of another who comes in its place', async () => {
    const vic = await user('vic', 'QUERY ON ALL ontology.shop');
    const amy = await user('amy', `AUTH ON user.${vic.name}`);
    const abe = await user('abe', `AUTH ON user.${vic.name}`);
    const as = (token: string): Headers => ({ ...by(token), 'x-api-impersonate-user': vic.name });
    const read = await begun('SELECT name FROM svc.city ORDER BY name', as(amy.token));
    expect((await read(as(amy.token))).status).toBe(200);
    for (const headers of [by(vic.token), by(amy.token), as(abe.token), as(s.token)]) expect(await read(headers)).toEqual(LOST);
  });
});

describe('a withdrawn function of the datasource', () => {
  const MODEL = `CREATE ONTOLOGY calls;
ALTER ONTOLOGY calls SET allowed_functions = 'shop.twice, shop.other';
CREATE PROPERTY doubled bigint AS SELECT shop.twice(id);
CREATE MEASURE total bigint AS SELECT SUM(shop.twice(id));
CREATE MEASURE some bigint AS SELECT COUNT(id) WHERE shop.twice(id) > 2;
CREATE CONCEPT city (id bigint, name string, doubled bigint, total MEASURE bigint, some MEASURE bigint, PRIMARY KEY (id));
CREATE CONCEPT mapped (id bigint, PRIMARY KEY (id));
CREATE CONCEPT late INHERITS (city) FROM dsvc.city WHERE shop.twice(id) > 2;
CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city;
CREATE MAPPING mm INTO (mapped) AS SELECT shop.twice(id) AS id FROM shop.t_city;
CREATE ONTOLOGY VIEW seen AS SELECT shop.twice(id) AS d, shop.other(id) AS o FROM svc.city;
CREATE ONTOLOGY VIEW raw USING main AS SELECT shop.twice(id) AS d FROM shop.t_city;
CREATE ONTOLOGY VIEW over AS SELECT d FROM vsvc.seen;
CREATE ONTOLOGY CUBE rolled AS SELECT shop.twice(id) AS d, SUM(id) AS n FROM svc.city;
CREATE ONTOLOGY VIEW kept AS SELECT upper(name) AS n, shop.other(id) AS o FROM svc.city`;
  /** What reads each of the texts. */
  const READS = {
    'the statement itself': 'SELECT shop.twice(id) AS d FROM svc.city',
    'a view': 'SELECT d FROM vsvc.seen',
    'a view on raw tables': 'SELECT d FROM vsvc.raw',
    'a view of a view': 'SELECT d FROM vsvc.over',
    'a cube': 'SELECT d, SUM(n) AS n FROM vsvc.rolled GROUP BY d',
    'a calculated property': 'SELECT doubled FROM svc.city',
    'a measure': 'SELECT SUM("measure.total") AS t FROM dsvc.city',
    'the condition of a measure': 'SELECT SUM("measure.some") AS t FROM dsvc.city',
    'a mapping': 'SELECT id FROM svc.mapped',
    'a logic concept': 'SELECT id FROM svc.late',
  };
  const set = (value: string) => s.query(`ALTER ONTOLOGY calls SET allowed_functions = '${value}'`, 'calls');
  let una: Headers;

  beforeAll(async () => {
    for (const name of ['twice', 'other']) {
      await s.database.exec(`CREATE FUNCTION shop.${name}(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'`);
      await s.database.exec(`GRANT EXECUTE ON FUNCTION shop.${name}(bigint) TO PUBLIC`);
    }
    await s.rows(MODEL, 'calls');
    await s.rows("CREATE EXAMPLE 'How much is twice?' AS SELECT shop.twice(id) AS d FROM svc.city", 'calls');
    una = by((await user('una', 'QUERY ON ALL ontology.calls')).token);
  });

  it('ends at once in every stored text, those that were read before too', async () => {
    for (const [what, sql] of Object.entries(READS)) expect([what, await outcome(sql, una, 'calls')]).toEqual([what, '200']);
    const filtered = async (path: string) => (await s.fetch(`/svc/api/q/calls/${path}`, { headers: una })).status;
    expect([await filtered('view/seen'), await filtered('view/rolled'), await filtered('concept/city?_subj_=doubled&_op_=gt&_comp_=1')]).toEqual([
      200, 200, 200,
    ]);
    expect((await set('shop.other')).status).toBe(200);
    for (const [what, sql] of Object.entries(READS)) {
      const { status, json } = await ask(sql, una, 'calls');
      expect([what, status, json.code, json.data]).toEqual([what, 400, 'forbidden_function', 'function `shop.twice` is not allowed']);
    }
    expect([await filtered('view/seen'), await filtered('view/rolled'), await filtered('concept/city?_subj_=doubled&_op_=gt&_comp_=1')]).toEqual([
      400, 400, 400,
    ]);
    expect(await outcome('SELECT name FROM svc.city', una, 'calls')).toBe('200');
    expect(await outcome('SELECT n, o FROM vsvc.kept', una, 'calls')).toBe('200');
    await set('shop.twice, shop.other');
    for (const [what, sql] of Object.entries(READS)) expect([what, await outcome(sql, una, 'calls')]).toEqual([what, '200']);
  });

  it('in a policy lets nothing through', async () => {
    await s.rows('CREATE POLICY few ON CONCEPT city TO PUBLIC USING (shop.twice(id) < 3)', 'calls');
    try {
      expect((await ask('SELECT id FROM svc.city', una, 'calls')).json.data).toEqual([{ id: 1 }]);
      await set('shop.other');
      expect(await outcome('SELECT id FROM svc.city', una, 'calls')).toBe('400 forbidden_function');
    } finally {
      await set('shop.twice, shop.other');
      await s.query('DROP POLICY few', 'calls');
    }
  });

  it('is named with what it breaks', async () => {
    await s.rows('CREATE POLICY few ON CONCEPT city TO PUBLIC USING (shop.twice(id) < 3)', 'calls');
    await s.rows("CREATE POLICY hide ON PROPERTY name MASK WITH (CASE WHEN shop.twice(3) = 6 THEN 'x' END)", 'calls');
    try {
      const { json } = await set('shop.other');
      expect(json.data[0].warnings.map((w: { code: string }) => w.code)).toEqual(Array(11).fill('function_not_allowed'));
      const calls = 'calls `shop.twice`, which is not allowed';
      expect(json.data[0].warnings.map((w: { message: string }) => w.message)).toEqual([
        `the view \`seen\` ${calls}`,
        `the view \`raw\` ${calls}`,
        `the cube \`rolled\` ${calls}`,
        `the property \`doubled\` ${calls}`,
        `the measure \`total\` ${calls}`,
        `the measure \`some\` ${calls}`,
        `the mapping \`mm\` ${calls}`,
        `the logic concept \`late\` ${calls}`,
        `the policy \`few\` ${calls}`,
        `the policy \`hide\` ${calls}`,
        `the example \`How much is twice?\` ${calls}`,
      ]);
      expect((await set('')).json.data[0].warnings).toHaveLength(12);
      expect((await set('shop.twice, shop.other')).json.data[0].warnings).toEqual([]);
    } finally {
      await s.rows('DROP POLICY few', 'calls');
      await s.rows('DROP POLICY hide', 'calls');
    }
  });

  it('that the same script takes out of a text is not named for it', async () => {
    const script = "ALTER ONTOLOGY calls SET allowed_functions = 'shop.other'; CREATE OR REPLACE ONTOLOGY VIEW seen AS SELECT id AS d, id AS o FROM svc.city";
    const { json } = await s.query(script, 'calls');
    const messages: string[] = json.data[0].warnings.map((w: { message: string }) => w.message);
    expect(messages.filter((m) => m.includes('seen'))).toEqual([]);
    expect(messages.filter((m) => m.includes('doubled'))).toHaveLength(1);
    await set('shop.twice, shop.other');
  });
});

describe('clear_cache', () => {
  it.each([
    ['EDIT ON ontology.shop', 200, undefined],
    ['EDIT ON ALL ontology', 200, undefined],
    ['QUERY ON ALL ontology.shop', 403, 'forbidden'],
    ['ACCESS ON ALL ontology.shop', 403, 'forbidden'],
    ['EDIT ON ontology.shop.concept.city', 403, 'forbidden'],
    ['EDIT ON ontology', 404, 'unknown_ontology'],
    ['QUERY ON datasource.main', 404, 'unknown_ontology'],
  ])('with %s is %i', async (grant, status, code) => {
    const una = await user('una', grant);
    for (const method of ['GET', 'POST']) {
      const response = await s.fetch('/svc/api/clear_cache/shop', { method, headers: by(una.token) });
      const json = (await response.json()) as { code?: string };
      expect([response.status, json.code]).toEqual([status, code]);
    }
  });
});

/** A service over the same catalog that lets something happen before each batch of writes. */
async function startLate(before: () => Promise<unknown>): Promise<(sql: string, token: string) => Promise<string>> {
  const { createApp } = await import('../../src/http/app.ts');
  const { readConfig } = await import('../../src/config.ts');
  const { loadNodeParser } = await import('../../src/cli/node-parser.ts');
  const runtime = {
    config: readConfig({ CATALOG_URL: s.database.secret(CATALOG_OWNER) }),
    db: {
      query: db.query,
      batch: async (calls: Parameters<typeof db.batch>[0]) => {
        await before();
        return db.batch(calls);
      },
    },
    parser: await loadNodeParser(),
    now: Date.now,
    waitUntil: () => undefined,
    log: () => undefined,
  };
  const app = createApp('svc', '0');
  return async (sql, token) => {
    const headers = { 'x-api-key': token, 'content-type': 'application/json' };
    const request = new Request('http://127.0.0.1/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query: sql }) });
    const response = await app.fetch(request, { runtime });
    forgetSnapshots();
    return `${response.status} ${((await response.json()) as { code: string }).code}`;
  };
}
