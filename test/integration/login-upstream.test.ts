/** Logging in at a real OpenID Connect provider (MCP_OAUTH_ISSUER) instead of the service's own page. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { CLIENT, type IdentityProvider, SECRET, startIdentityProvider } from './support/identity-provider.ts';
import { type Visited, Visitor } from './support/visitor.ts';

const CALLBACK = 'http://127.0.0.1/svc/login/callback';
const PAGE = '/svc/get_svc_user_token/';
const LOGIN = `/svc/login?${new URLSearchParams({ return_to: PAGE })}`;

let provider: IdentityProvider;
let service: TestService;
let ahead = 0;
const lines: string[] = [];

beforeAll(async () => {
  provider = await startIdentityProvider(
    {
      ann: { email: 'Ann@corp.example', email_verified: true },
      ben: { email: 'ben@corp.example', email_verified: false },
      bound: { email: 'bound@corp.example' },
      moved: { email: 'moved@corp.example' },
      stranger: { email: 'stranger@corp.example' },
      idle: { email: 'idle@corp.example' },
      admin: { email: 'admin' },
      split: { email_verified: true },
    },
    [CALLBACK],
  );
  service = await startService({
    settings: {
      SESSION_SECRET: 'a secret that signs the sessions of this test',
      MCP_OAUTH_ISSUER: provider.issuer,
      MCP_OAUTH_CLIENT_ID: CLIENT,
      MCP_OAUTH_CLIENT_SECRET: SECRET,
    },
    parts: { now: () => Date.now() + ahead, log: (line) => void lines.push(JSON.stringify(line)) },
  });
  for (const statement of [
    "CREATE USER ann PASSWORD 'Correct-horse-9!' OPTIONS (email='ann@CORP.example')",
    "CREATE USER ben OPTIONS (email='ben@corp.example')",
    "CREATE USER bound OPTIONS (email='bound@corp.example', tenant='other')",
    "CREATE USER moved OPTIONS (email='moved@corp.example')",
    "CREATE USER idle OPTIONS (email='idle@corp.example')",
    "ALTER USER idle SET ACTIVE = 'false'",
  ])
    await service.rows(statement);
});
afterAll(async () => {
  await service?.close();
  await provider?.close();
});

const visitor = (): Visitor => new Visitor((path, init) => service.fetch(path, init));

/** Opens the provider and logs in there. @returns the redirect back to us, as a path */
async function atProvider(location: string, account: string): Promise<string> {
  const { pathname, search } = await provider.visit(location, account, CALLBACK);
  return `${pathname}${search}`;
}

async function logIn(browser: Visitor, account: string): Promise<Visited> {
  const sent = await browser.send(LOGIN);
  return browser.send(await atProvider(sent.location as string, account));
}

describe('the login page', () => {
  it('sends the browser to the provider, with state, nonce and PKCE, and does not ask for a password', async () => {
    const browser = visitor();
    const sent = await browser.send(LOGIN);
    const { origin, searchParams } = new URL(sent.location as string);
    expect([sent.status, origin]).toEqual([303, provider.issuer]);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: CLIENT,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid email',
      state: expect.stringMatching(/^.{40,}$/),
      nonce: expect.stringMatching(/^.{40,}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(browser.set.join()).toMatch(/^svc_login=[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    const again = new URL((await visitor().send(LOGIN)).location as string).searchParams;
    for (const name of ['state', 'nonce', 'code_challenge']) expect(again.get(name)).not.toBe(searchParams.get(name));
    const posted = await visitor().post('/svc/login', { user: 'ann', password: 'Correct-horse-9!' });
    expect(posted.status).toBe(403);
    expect((await visitor().send('/svc/login')).text).toContain('href="/svc/login?return_to=%2Fsvc%2Flogin"');
  });

  it('identifies the returning user by its e-mail, and redirects to the requested page', async () => {
    const browser = visitor();
    const back = await logIn(browser, 'ann');
    expect([back.status, back.location]).toEqual([303, PAGE]);
    expect([...browser.cookies.keys()]).toEqual(['svc_session']);
    const { token } = JSON.parse((await browser.send(PAGE)).text) as { token: string };
    expect(token).toMatch(/^tk_/);
    expect((await browser.send('/svc/login')).text).toContain('<strong>ann</strong>');
    expect(lines.join()).not.toContain(SECRET);
  });

  it.each([
    ['ben', 401, 'Token validation failed', 'an e-mail that is not verified'],
    ['bound', 401, 'User not found', 'a user of another tenant'],
    ['stranger', 401, 'User not found', 'nobody of that e-mail'],
    ['idle', 401, 'User not found', 'a user who is not active'],
    ['admin', 401, 'User not found', 'the built-in administrator'],
  ])('does not log in %s', async (account, status, message) => {
    const browser = visitor();
    const back = await logIn(browser, account);
    expect([back.status, back.text]).toEqual([status, expect.stringContaining(message)]);
    expect([...browser.cookies.keys()]).toEqual([]);
  });

  it.each([
    [false, 401],
    [true, 303],
  ])('uses email_verified of the answer that has the e-mail: %s at the userinfo endpoint', async (verified, status) => {
    const browser = visitor();
    // the ID token has no e-mail, but says that one is verified
    const back = await atProvider((await browser.send(LOGIN)).location as string, 'split');
    const real = globalThis.fetch;
    let asked = 0;
    globalThis.fetch = (async (input, init) => {
      if (new URL(input instanceof Request ? input.url : input).pathname !== '/me') return real(input, init);
      asked++;
      return Response.json({ sub: 'split', email: 'ann@corp.example', email_verified: verified });
    }) as typeof fetch;
    const answer = await browser.send(back).finally(() => {
      globalThis.fetch = real;
    });
    expect([asked, answer.status, browser.cookies.has('svc_session')]).toEqual([1, status, verified]);
  });

  it.each([
    ['itself', (json: string) => json, 303],
    ['an infinite time', (json: string) => json.replace(/"exp":\d+/, '"exp":1e400'), 401],
    ['an empty subject', (json: string) => json.replace(/"sub":"ann"/, '"sub":""'), 401],
    ['two e-mails', (json: string) => json.replace('{', '{"email":"ben@corp.example",'), 401],
  ])('reads an ID token as strictly as a JWT: %s', async (_, change, status) => {
    const browser = visitor();
    const back = await atProvider((await browser.send(LOGIN)).location as string, 'ann');
    const real = globalThis.fetch;
    let isChanged = false;
    globalThis.fetch = (async (input, init) => {
      const answer = await real(input, init);
      if (new URL(input instanceof Request ? input.url : input).pathname !== '/token') return answer;
      const tokens = (await answer.json()) as { id_token: string };
      const [header, payload = '', signature] = tokens.id_token.split('.');
      const json = Buffer.from(payload, 'base64url').toString('utf8');
      isChanged = change(json) !== json;
      return Response.json({ ...tokens, id_token: [header, Buffer.from(change(json)).toString('base64url'), signature].join('.') });
    }) as typeof fetch;
    const answer = await browser.send(back).finally(() => {
      globalThis.fetch = real;
    });
    expect([isChanged, answer.status, browser.cookies.has('svc_session')]).toEqual([status === 401, status, status === 303]);
  });

  it.each([
    ['/.well-known/openid-configuration', 503],
    ['/token', 401],
    ['/me', 401],
  ])('reads only a part of an endless answer of %s', async (path, status) => {
    // the metadata is cached for ten minutes
    const before = ahead;
    ahead += 11 * 60_000;
    const browser = visitor();
    const address = path.startsWith('/.well-known') ? LOGIN : await atProvider((await browser.send(LOGIN)).location as string, 'split');
    const real = globalThis.fetch;
    let read = 0;
    const endless = (): Response => {
      const piece = new Uint8Array(64 * 1024).fill(0x20);
      const body = new ReadableStream({
        pull(controller) {
          read += piece.length;
          if (read > 64 * 1024 * 1024) controller.close();
          else controller.enqueue(piece);
        },
      });
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    };
    globalThis.fetch = (async (input, init) =>
      new URL(input instanceof Request ? input.url : input).pathname === path ? endless() : real(input, init)) as typeof fetch;
    const answer = await browser.send(address).finally(() => {
      globalThis.fetch = real;
      ahead = before;
    });
    expect([answer.status, browser.cookies.has('svc_session')]).toEqual([status, false]);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(1024 * 1024);
  });

  it('does not log in by an e-mail that was changed in the meantime', async () => {
    const browser = visitor();
    const back = await atProvider((await browser.send(LOGIN)).location as string, 'moved');
    const real = globalThis.fetch;
    let changed = false;
    globalThis.fetch = (async (input, init) => {
      // the e-mail has identified the user, whose login is read next
      if (!changed && typeof init?.body === 'string' && init.body.includes('ended_sessions')) {
        changed = true;
        await service.rows("ALTER USER moved SET EMAIL = 'elsewhere@corp.example'");
      }
      return real(input, init);
    }) as typeof fetch;
    const { status } = await browser.send(back).finally(() => {
      globalThis.fetch = real;
    });
    expect([changed, status, browser.cookies.has('svc_session')]).toEqual([true, 401, false]);
  });

  it('accepts an answer only in the same browser, once, in time, of that issuer, with its state', async () => {
    const begin = async (): Promise<[Visitor, string]> => {
      const browser = visitor();
      return [browser, await atProvider((await browser.send(LOGIN)).location as string, 'ann')];
    };
    const changed = (path: string, name: string, value: string): string => {
      const url = new URL(path, CALLBACK);
      url.searchParams.set(name, value);
      return `${url.pathname}${url.search}`;
    };
    const [one, first] = await begin();
    expect((await visitor().send(first)).status).toBe(403);
    const [other] = await begin();
    expect((await other.send(first)).status).toBe(401);
    expect((await one.send(first)).location).toBe(PAGE);
    expect((await one.send(first)).status).toBe(403);
    for (const [name, value] of [
      ['state', 'made-up'],
      ['iss', 'https://evil.example'],
      ['code', 'made-up'],
      ['error', 'access_denied'],
    ] as const) {
      const [browser, back] = await begin();
      const refused = await browser.send(changed(back, name, value));
      expect([name, refused.status, [...browser.cookies.keys()]]).toEqual([name, 401, []]);
    }
    const [late, slow] = await begin();
    ahead = 11 * 60_000;
    expect((await late.send(slow)).status).toBe(403);
    ahead = 0;
    const [forger, back] = await begin();
    forger.cookies.set('svc_login', `${(forger.cookies.get('svc_login') as string).split('.')[0]}.AAAA`);
    expect((await forger.send(back)).status).toBe(403);
    const [longer, whole] = await begin();
    longer.cookies.set('svc_login', `${longer.cookies.get('svc_login')}.AAAA`);
    expect((await longer.send(whole)).status).toBe(403);
  });
});
