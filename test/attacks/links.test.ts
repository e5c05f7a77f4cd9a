/** Attacks with the links that log a user in once: a link, and the session that it begins, must not outlive the credential that made it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admins, ask, by, catalog, isAdmin, outcome, promoted, s, startCallers, user } from './callers.ts';

beforeAll(startCallers);
afterAll(() => s?.close());

const JSON_TYPE = { 'content-type': 'application/json' };
/** The path of a link for the user of a token. */
async function linkOf(token: string): Promise<string> {
  const response = await s.fetch('/svc/console/link', { method: 'POST', headers: { ...JSON_TYPE, ...by(token) } });
  expect(response.status).toBe(200);
  return ((await response.json()) as { link: string }).link;
}
/** The cookie of the session that a link begins; null if the link is refused. */
async function entered(link: string): Promise<string | null> {
  const response = await s.fetch(link, { redirect: 'manual' });
  if (response.status !== 303) return null;
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? null;
}
/** A token of the console for a session; null if the session has ended. */
async function tokenOf(cookie: string): Promise<string | null> {
  const known = (await (await s.fetch('/svc/console/session', { headers: { cookie } })).json()) as { form_token: string | null };
  if (known.form_token === null) return null;
  const body = JSON.stringify({ form_token: known.form_token });
  const response = await s.fetch('/svc/console/token', { method: 'POST', headers: { ...JSON_TYPE, cookie }, body });
  return response.status === 200 ? ((await response.json()) as { token: string }).token : null;
}
/** tom, and a token for tom that ben made. */
async function tokenByBen(): Promise<{ name: string; token: string }> {
  const tom = await user('tom');
  const ben = await user('ben', `EDIT ON user.${tom.name}`);
  const [{ token }] = (await ask(`CREATE TOKEN FOR ${tom.name}`, by(ben.token))).json.data;
  return { name: tom.name, token };
}

describe('a link', () => {
  it('logs in once, also if two browsers send it at the same time', async () => {
    const link = await linkOf((await user('tom')).token);
    const all = await Promise.all([entered(link), entered(link), entered(link)]);
    expect(all.filter((cookie) => cookie !== null)).toHaveLength(1);
  });

  it('is not accepted from a page of another site or another port', async () => {
    const link = await linkOf((await user('tom')).token);
    for (const site of ['cross-site', 'same-site']) expect((await s.fetch(link, { redirect: 'manual', headers: { 'sec-fetch-site': site } })).status).toBe(403);
    expect(await entered(link)).not.toBeNull();
  });

  it('is not accepted as the return address of a login, which would end in the session of the user who made it', async () => {
    const link = await linkOf((await user('tom')).token);
    // what a browser sends after the form of the login page
    const response = await s.fetch(link, { redirect: 'manual', headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' } });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null]);
    expect((await s.fetch(link, { redirect: 'manual', headers: { 'sec-fetch-site': 'none' } })).status).toBe(303);
  });

  it('of a user who becomes an administrator ends if another user made it', async () => {
    const tom = await tokenByBen();
    const link = await linkOf(tom.token);
    await promoted(tom.name);
    expect(await outcome('SELECT 1 AS one', by(tom.token))).toBe('401 invalid_token');
    const cookie = await entered(link);
    const token = cookie === null ? null : await tokenOf(cookie);
    expect(token === null ? false : await isAdmin(by(token))).toBe(false);
  });

  it('and its session end with the token that made it, by its time', async () => {
    const tom = await user('tom');
    const expires = Date.now() + 600_000;
    const [row] = await admins(`CREATE TOKEN FOR ${tom.name} EXPIRES '${new Date(expires).toISOString()}'`);
    const made = String(row?.token);
    const cookie = String(await entered(await linkOf(made)));
    const given = String(await tokenOf(cookie));
    const [latest] = await catalog(
      "SELECT extract(epoch FROM expires) * 1000 AS at FROM kg_catalog.tokens WHERE label = 'console' ORDER BY created DESC LIMIT 1",
    );
    expect(Number(latest?.at)).toBeLessThanOrEqual(expires);
    const unused = await linkOf(made);
    await catalog(`UPDATE kg_catalog.tokens SET expires = now() - interval '1 second' WHERE expires <= '${new Date(expires).toISOString()}'`);
    expect(await tokenOf(cookie)).toBeNull();
    expect(await entered(unused)).toBeNull();
    await admins(`GRANT QUERY ON ALL ontology.shop TO USER ${tom.name}`);
    expect(await outcome('SELECT 1 AS one', by(given))).toBe('401 invalid_token');
  });

  it('and its session end with the token that made it, when it is revoked', async () => {
    const tom = await user('tom');
    const cookie = String(await entered(await linkOf(tom.token)));
    const given = String(await tokenOf(cookie));
    const unused = await linkOf(tom.token);
    const ids = (await admins(`SHOW TOKEN FOR ${tom.name}`)).filter((t) => t.label !== 'console').map((t) => t.token_id);
    for (const id of ids) await admins(`REVOKE TOKEN '${id}'`);
    expect(await tokenOf(cookie)).toBeNull();
    expect(await entered(unused)).toBeNull();
    expect(await outcome('SELECT 1 AS one', by(given))).toBe('401 invalid_token');
  });

  it('begins a session that is for the console only: other pages issue nothing that outlives the token', async () => {
    const tom = await user('tom');
    const cookie = String(await entered(await linkOf(tom.token)));
    const page = await s.fetch('/svc/get_svc_user_token/', { headers: { cookie }, redirect: 'manual' });
    expect(page.status).toBe(403);
    expect(await page.text()).toMatch(/signed in by a link/);
  });

  it.each([
    ['password', 'Another-horse-9!'],
    ['email', 'tom@other.example'],
    ['active', 'false'],
  ])('and its tokens end with a new %s, also if the user is active again', async (option, value) => {
    const tom = await user('tom');
    const given = String(await tokenOf(String(await entered(await linkOf(tom.token)))));
    expect(await outcome('SHOW ONTOLOGIES', by(given))).toBe('200');
    await admins(`ALTER USER ${tom.name} SET ${option.toUpperCase()} = '${value}'`);
    await admins(`ALTER USER ${tom.name} SET ACTIVE = 'true'`);
    expect(await outcome('SHOW ONTOLOGIES', by(given))).toBe('401 invalid_token');
    // a token that the user made for a program is not of a session
    expect(await outcome('SHOW ONTOLOGIES', by(tom.token))).toBe('200');
  });

  it('of another token is not accepted: the code of a link covers the id of its token', async () => {
    const tom = await user('tom');
    const link = await linkOf(tom.token);
    const other = `${link.slice(0, -32)}${'0'.repeat(32)}`;
    expect(other).not.toBe(link);
    expect(await entered(other)).toBeNull();
    expect(await entered(link)).not.toBeNull();
  });

  it('begins a session that ends if the user becomes an administrator and another user made it', async () => {
    const tom = await tokenByBen();
    const cookie = String(await entered(await linkOf(tom.token)));
    expect(await tokenOf(cookie)).not.toBeNull();
    await promoted(tom.name);
    const token = await tokenOf(cookie);
    expect(token === null ? false : await isAdmin(by(token))).toBe(false);
    const page = await s.fetch('/svc/get_svc_user_token/', { headers: { cookie }, redirect: 'manual' });
    expect(page.status).toBe(303);
  });

  it.each([
    ['the password changes', (name: string) => [`ALTER USER ${name} SET PASSWORD = 'another one 9!'`]],
    ['the e-mail changes', (name: string) => [`ALTER USER ${name} SET EMAIL = '${name}@corp.example'`]],
    ['the user is deactivated and activated again', (name: string) => [`ALTER USER ${name} SET ACTIVE = 'false'`, `ALTER USER ${name} SET ACTIVE = 'true'`]],
  ])('ends when %s', async (_, statements) => {
    const tom = await user('tom');
    const link = await linkOf(tom.token);
    await admins(...statements(tom.name));
    expect(await entered(link)).toBeNull();
  });
});
