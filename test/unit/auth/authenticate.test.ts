/** The order of credentials, and the cost of checking them (docs/design/credentials.md#the-order-of-credentials). */
import { beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_ID, type AuthOptions, authenticate, type Caller } from '../../../src/auth/authenticate.ts';
import { resume } from '../../../src/auth/resume.ts';
import { createToken, sha256 } from '../../../src/auth/tokens.ts';
import type { CatalogDb } from '../../../src/catalog/db.ts';
import { forgetSnapshots, type Snapshot, type UserRow } from '../../../src/catalog/snapshot.ts';
import { readConfig } from '../../../src/config.ts';
import type { SvcError } from '../../../src/errors.ts';
import { inVariable, jws, rsa, spki } from './by-hand.ts';

const pair = rsa();
const admin = createToken();
const anns = createToken();
const bens = createToken();

const user = (id: string, name: string, more: Partial<UserRow> = {}): UserRow => ({ id, name, email: null, tenant: null, active: true, emailBy: [], ...more });
const USERS = {
  admin: user(ADMIN_ID, 'admin'),
  ann: user('a', 'ann'),
  ben: user('b', 'ben'),
  bound: user('c', 'bound', { tenant: 'big-co' }),
  gone: user('d', 'gone', { active: false }),
};

/** A catalog of these users that counts its queries. */
class Catalog implements CatalogDb {
  reads = 0;
  writes: string[] = [];
  readonly now: () => number;
  readonly tokens = new Map<string, { user: UserRow; id: string; expires: number | null; revoked: boolean }>();
  constructor(now: () => number) {
    this.now = now;
  }
  async query(statement: string, params: readonly unknown[] = []) {
    if (/^UPDATE kg_catalog.tokens SET last_used/.test(statement)) {
      this.writes.push(String(params[0]));
      return [];
    }
    this.reads++;
    const [hash, id, name] = params;
    const token = this.tokens.get(String(hash));
    const found = token?.user ?? Object.values(USERS).find((u) => u.id === id || u.name === name) ?? null;
    const snapshot = {
      verifiedAt: this.now(),
      token: token ?? null,
      user: found,
      roles: [],
      grants: [],
      ontologies: [],
      datasources: [],
      agents: [],
      cacheGeneration: 0,
      permissions: 0,
      maskKey: 'k',
      isWhole: true,
    };
    return [{ snapshot: JSON.stringify(snapshot satisfies Omit<Snapshot, 'token'> & { token: unknown }) }];
  }
  async batch() {
    return [];
  }
}

const clock = { at: Date.UTC(2031, 0, 1) };
let db: Catalog;
let background: Promise<unknown>[];
let options: AuthOptions;
beforeEach(async () => {
  forgetSnapshots();
  clock.at += 3_600_000;
  db = new Catalog(() => clock.at);
  db.tokens.set(await sha256(anns), { user: USERS.ann, id: 'token-of-ann', expires: null, revoked: false });
  db.tokens.set(await sha256(bens), { user: USERS.ben, id: 'token-of-ben', expires: clock.at + 60_000, revoked: false });
  background = [];
  options = { db, now: () => clock.at, waitUntil: (work) => void background.push(work), log: () => undefined };
});

const SETTINGS = readConfig({
  ADMIN_TOKEN: admin,
  ENABLE_TOKEN: 'true',
  JWT_USE_EMAIL_OR_USER: 'username',
  JWT_DEFAULT_KEY: inVariable(spki(pair)),
  JWT_BIG_CO_KEY: inVariable(spki(pair)),
});
const WITHOUT_JWT = readConfig({ ADMIN_TOKEN: admin, JWT_DEFAULT_KEY: inVariable(spki(pair)) });
const jwt = (username: string, more: Record<string, unknown> = {}): string => jws({ alg: 'RS256' }, { username, exp: clock.at / 1000 + 300, ...more }, pair);

/** The user of these headers, or the code of the refusal. */
const callerOf = (headers: Record<string, string>, settings = SETTINGS): Promise<string> =>
  authenticate(new Headers(headers), settings, options).then(
    ({ principal }) => `${principal.name} by ${principal.credential}`,
    (error: SvcError) => `${error.status} ${error.code}`,
  );

describe('the order of credentials', () => {
  it('is x-jwt-token, x-api-key, Authorization', async () => {
    const all = { 'x-jwt-token': jwt('ben'), 'x-api-key': anns, authorization: `Bearer ${admin}` };
    expect(await callerOf(all)).toBe('ben by jwt');
    expect(await callerOf(all, WITHOUT_JWT)).toBe('ann by api_token');
    expect(await callerOf({ authorization: all.authorization })).toBe('admin by admin_token');
    expect(await callerOf({ authorization: `bearer  ${anns} ` })).toBe('ann by api_token');
    expect(await callerOf({})).toBe('401 credential_missing');
    expect(await callerOf({ 'x-jwt-tenant-id': 'big-co' })).toBe('401 credential_missing');
    expect(await callerOf({ 'x-jwt-token': jwt('ben') }, WITHOUT_JWT)).toBe('401 credential_missing');
  });

  it('does not skip an invalid one', async () => {
    for (const bad of ['', 'nonsense', jwt('ben', { exp: 1 }), jws({ alg: 'RS256' }, { username: 'ben', exp: 9e9 }, rsa()), jwt('nobody')])
      expect(await callerOf({ 'x-jwt-token': bad, 'x-api-key': anns })).toMatch(/^401 (invalid_token|token_has_expired|user_not_found)$/);
    expect(await callerOf({ 'x-jwt-token': jwt('ben'), 'x-jwt-tenant-id': 'nobody', 'x-api-key': anns })).toBe('401 tenant_configuration_not_found');
    for (const bad of ['', 'tk_', 'nonsense', createToken(), jwt('ben')])
      expect(await callerOf({ 'x-api-key': bad, authorization: `Bearer ${anns}` })).toBe('401 invalid_token');
    for (const bad of ['', 'Bearer', 'Basic eDp5', `Bearer ${jwt('ben')}`, anns]) expect(await callerOf({ authorization: bad })).toBe('401 invalid_token');
  });

  it('ignores those after the one that is used', async () => {
    expect(await callerOf({ 'x-api-key': anns, authorization: 'Basic eDp5' })).toBe('ann by api_token');
    expect(await callerOf({ 'x-jwt-token': jwt('ben'), 'x-api-key': 'tk_wrong' })).toBe('ben by jwt');
  });
});

describe('the user of a JWT', () => {
  it('is active, of that tenant, and not the built-in administrator', async () => {
    const at = (name: string, tenant?: string) => callerOf({ 'x-jwt-token': jwt(name), ...(tenant === undefined ? {} : { 'x-jwt-tenant-id': tenant }) });
    expect(await at('gone')).toBe('401 user_not_found');
    expect(await at('nobody')).toBe('401 user_not_found');
    expect(await at('admin')).toBe('401 user_not_found');
    expect([await at('ann'), await at('ann', 'BIG_CO')]).toEqual(['ann by jwt', 'ann by jwt']);
    expect([await at('bound'), await at('bound', 'default')]).toEqual(['401 user_not_found', '401 user_not_found']);
    for (const tenant of ['big-co', 'BIG_CO', 'Big-Co']) expect(await at('bound', tenant), tenant).toBe('bound by jwt');
  });

  it('has tenant and claims, also for asynchronous statements', async () => {
    const { principal, refresh } = await authenticate(
      new Headers({ 'x-jwt-token': jwt('ann', { dept: 'sales' }), 'x-jwt-tenant-id': 'big-co' }),
      SETTINGS,
      options,
    );
    const expected = { name: 'ann', credential: 'jwt', tenant: 'BIG_CO', claims: { username: 'ann', dept: 'sales' }, isAdmin: false };
    expect(principal).toMatchObject(expected);
    for (const later of [await refresh(), await resume(JSON.parse(JSON.stringify(principal)) as Caller['principal'], options)])
      expect(later.principal).toMatchObject(expected);
    const byToken = await authenticate(new Headers({ 'x-api-key': anns }), SETTINGS, options);
    expect(byToken.principal).toMatchObject({ tenant: null, claims: {} });
  });
});

describe('an API token', () => {
  it('ends when it expires, is revoked, or its user is not active', async () => {
    expect(await callerOf({ 'x-api-key': bens })).toBe('ben by api_token');
    clock.at += 59_000;
    expect(await callerOf({ 'x-api-key': bens })).toBe('ben by api_token');
    clock.at += 1_000;
    expect(await callerOf({ 'x-api-key': bens })).toBe('401 invalid_token');
    const hash = await sha256(anns);
    for (const end of [{ revoked: true }, { user: USERS.gone }, { expires: clock.at }]) {
      forgetSnapshots();
      db.tokens.set(hash, { user: USERS.ann, id: 't', expires: null, revoked: false, ...end });
      expect(await callerOf({ 'x-api-key': anns }), JSON.stringify(end)).toBe('401 invalid_token');
    }
  });

  it('of another form is refused without a query, also as ADMIN_TOKEN', async () => {
    const hush = 'tk_adminadminadminadminadminadmin';
    const settings = readConfig({ ADMIN_TOKEN: hush });
    for (const bad of [hush, 'tk_', 'hush', `${anns}x`, anns.slice(3), `tk_${'x'.repeat(4000)}`])
      expect(await callerOf({ 'x-api-key': bad }, settings), bad).toBe('401 invalid_token');
    expect([db.reads, db.writes.length]).toEqual([0, 0]);
    expect(await callerOf({ 'x-api-key': anns }, settings), 'the rest still works').toBe('ann by api_token');
  });

  it('is recorded as used at most once a minute, in the background', async () => {
    for (let i = 0; i < 5; i++) await callerOf({ 'x-api-key': anns });
    await callerOf({ 'x-api-key': bens });
    expect(db.writes).toEqual(['token-of-ann', 'token-of-ben']);
    expect(background.length).toBe(2);
    clock.at += 59_999;
    await callerOf({ 'x-api-key': anns });
    expect(db.writes.length).toBe(2);
    clock.at += 1;
    await callerOf({ 'x-api-key': anns });
    expect(db.writes.length).toBe(3);
    await callerOf({ 'x-api-key': admin });
    await callerOf({ 'x-api-key': createToken() });
    expect(db.writes.length).toBe(3);
  });

  it('works even if its use cannot be recorded', async () => {
    const { query } = db;
    db.query = (statement, params) => (/^UPDATE/.test(statement) ? Promise.reject(new Error('down')) : query.call(db, statement, params));
    clock.at += 3_600_000;
    db.tokens.set(await sha256(anns), { user: USERS.ann, id: 'unnoted', expires: null, revoked: false });
    expect(await callerOf({ 'x-api-key': anns })).toBe('ann by api_token');
    await expect(Promise.all(background)).resolves.toBeDefined();
  });
});

describe('a cached authentication', () => {
  it('needs no query of the catalog', async () => {
    const kinds = [
      { 'x-api-key': anns },
      { authorization: `Bearer ${anns}` },
      { 'x-api-key': admin },
      { 'x-jwt-token': jwt('ann') },
      { 'x-jwt-token': jwt('ann'), 'x-jwt-tenant-id': 'big-co' },
    ];
    for (const headers of kinds) await callerOf(headers);
    const [reads, writes] = [db.reads, db.writes.length];
    for (let i = 0; i < 50; i++) for (const headers of kinds) expect(await callerOf(headers)).toMatch(/ by /);
    // another token of the same user
    expect(await callerOf({ 'x-jwt-token': jwt('ANN', { iat: 1 }) })).toBe('ann by jwt');
    expect([db.reads, db.writes.length]).toEqual([reads, writes]);
  });
});
