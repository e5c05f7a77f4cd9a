/** The pages that identify their user by a cookie: their host, their headers, and their redirects. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createApp } from '../../../src/http/app.ts';
import { returnAddress } from '../../../src/http/form.ts';
import { loggedInPage, loginPage } from '../../../src/http/login-page.ts';
import type { Runtime } from '../../../src/service.ts';
import { generated } from '../../support/generated.ts';
import { sizesOf } from '../../support/sizes.ts';
import { asked, fakeRuntime } from './fake-runtime.ts';

const SIZES = sizesOf('unit/http/login');

const SESSION_SECRET = 'a secret of more than thirty-two characters';
const PATHS = [
  ['GET', '/svc/login'],
  ['POST', '/svc/login'],
  ['POST', '/svc/logout'],
  ['GET', '/svc/get_svc_user_token/'],
] as const;

const at = (address: string, runtime: Runtime, init: RequestInit = {}): Promise<Response> =>
  Promise.resolve(createApp(runtime.config.product, '1').fetch(new Request(address, init), { runtime }));
const code = async (answer: Response): Promise<string> => `${answer.status} ${((await answer.json()) as { code: string }).code}`;

describe('pages with a cookie', () => {
  it('answer on the host of PUBLIC_URL only', async () => {
    const runtime = fakeRuntime({ SESSION_SECRET, PUBLIC_URL: 'https://graph.example' });
    for (const [method, path] of PATHS) {
      for (const host of ['https://other.example', 'https://graph.example.evil', 'https://graph.example:8443', 'http://127.0.0.1:8787']) {
        expect([host, await code(await at(host + path, runtime, { method }))]).toEqual([host, '421 misdirected_request']);
      }
      expect((await at(`https://graph.example${path}`, runtime, { method, headers: { host: 'other.example' } })).status).toBe(421);
      expect((await at(`https://graph.example${path}`, runtime, { method, headers: { host: 'graph.example:443' } })).status).not.toBe(421);
    }
    expect((await at('https://other.example/svc/api/health', runtime)).status).toBe(200);
  });

  it('require https, except on loopback', async () => {
    for (const settings of [{ SESSION_SECRET }, { SESSION_SECRET, PUBLIC_URL: 'https://graph.example' }] as Record<string, string>[]) {
      for (const [method, path] of PATHS)
        expect(await code(await at(`http://graph.example${path}`, fakeRuntime(settings), { method }))).toBe('403 https_required');
    }
    for (const origin of ['http://127.0.0.1:8787', 'http://localhost:8787', 'http://[::1]:8787', 'https://graph.example'])
      expect((await at(`${origin}/svc/login`, fakeRuntime({ SESSION_SECRET }))).status).toBe(200);
  });

  it('work through a tunnel to a local service, which ends TLS', async () => {
    const endpoint = 'http://127.0.0.1:5439/sql';
    const runtime = fakeRuntime({
      SESSION_SECRET,
      PUBLIC_URL: 'https://graph.example',
      CATALOG_URL: JSON.stringify({ url: 'postgresql://u:p@127.0.0.1/db', endpoint }),
    });
    const answer = await at('http://graph.example/svc/login', runtime);
    expect([answer.status, answer.headers.getSetCookie()[0]]).toEqual([200, expect.stringMatching(/^__Host-svc_form=.*; Secure/)]);
  });

  it('need a strong secret; the log names it', async () => {
    for (const settings of [{}, { SESSION_SECRET: 'too-short' }]) {
      const log: Readonly<Record<string, unknown>>[] = [];
      const runtime = fakeRuntime(settings, { log: (line) => void log.push(line) });
      for (const [method, path] of PATHS) {
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        expect(await code(await asked(path, { method, headers }, runtime))).toBe('503 not_configured');
      }
      expect(log.filter((line) => line.variable === 'SESSION_SECRET').length).toBe(PATHS.length);
      expect(JSON.stringify(log)).not.toContain('too-short');
    }
  });

  it('set their cookies with __Host- on https, under a plain name on loopback', async () => {
    const cookie = async (origin: string) => (await at(`${origin}/svc/login`, fakeRuntime({ SESSION_SECRET }))).headers.getSetCookie();
    expect(await cookie('https://graph.example')).toEqual([
      expect.stringMatching(/^__Host-svc_form=[A-Za-z0-9_-]{32}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    expect(await cookie('http://127.0.0.1:8787')).toEqual([expect.stringMatching(/^svc_form=[A-Za-z0-9_-]{32}; Path=\/; HttpOnly; SameSite=Lax$/)]);
  });

  it('cannot be framed, run no script, and are not cached', async () => {
    for (const path of ['/svc/login', '/svc/login?return_to=/x', '/svc/get_svc_user_token/']) {
      const answer = await asked(
        path,
        { headers: { accept: 'text/html', 'sec-fetch-site': path.includes('token') ? 'cross-site' : 'none' } },
        fakeRuntime({ SESSION_SECRET }),
      );
      const policy = answer.headers.get('content-security-policy') ?? '';
      for (const part of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"]) expect(policy.split('; ')).toContain(part);
      expect(policy).not.toMatch(/script-src|unsafe/);
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      // no-referrer would make browsers send `Origin: null` with the form
      expect(answer.headers.get('referrer-policy')).toBe('same-origin');
      expect(await answer.text()).not.toMatch(/<script|\son[a-z]+=|style=/);
    }
  });

  it('have their style from the service', async () => {
    const answer = await asked('/svc/login/style.css');
    expect([answer.status, answer.headers.get('content-type'), (await answer.text()).length > 100]).toEqual([200, 'text/css; charset=utf-8', true]);
  });

  it('answer errors as pages if HTML is accepted, otherwise as the error body', async () => {
    const refused = (accept: string) =>
      asked('/svc/get_svc_user_token', { headers: { accept, 'sec-fetch-site': 'cross-site' } }, fakeRuntime({ SESSION_SECRET }));
    const html = await refused('text/html,application/xhtml+xml,*/*;q=0.8');
    expect([html.status, html.headers.get('content-type'), await html.text()]).toEqual([
      403,
      'text/html; charset=utf-8',
      expect.stringContaining('role="alert"'),
    ]);
    expect(await code(await refused('*/*'))).toBe('403 cross_site');
  });

  it('are named after the product', async () => {
    const runtime = fakeRuntime({ SESSION_SECRET, PRODUCT_NAME: 'kgraph' });
    const sent = await at('http://127.0.0.1:8787/kgraph/get_kgraph_user_token/', runtime);
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/kgraph/login?return_to=%2Fkgraph%2Fget_kgraph_user_token%2F']);
    const shown = await at('http://127.0.0.1:8787/kgraph/login', runtime);
    expect([shown.headers.getSetCookie()[0], await shown.text()]).toEqual([
      expect.stringMatching(/^kgraph_form=/),
      expect.stringContaining('action="/kgraph/login"'),
    ]);
    for (const path of ['/kgraph/get_svc_user_token/', '/svc/login']) expect((await at(`http://127.0.0.1:8787${path}`, runtime)).status).toBe(404);
  });

  it('never have CORS headers', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    for (const CORS_ORIGINS of ['*', 'https://app.example']) {
      for (const [, path] of PATHS) {
        for (const method of ['GET', 'OPTIONS']) {
          const answer = await asked(path, { method, headers }, fakeRuntime({ SESSION_SECRET, CORS_ORIGINS }));
          expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
        }
      }
    }
    expect(
      (await asked('/svc/api/get_token', { method: 'POST', headers }, fakeRuntime({ CORS_ORIGINS: '*' }))).headers.get('access-control-allow-origin'),
    ).toBe('*');
  });

  it('are limited like other requests if a rate limit is bound', async () => {
    const keys: string[] = [];
    const runtime = fakeRuntime({ API_AUTH_SALT: 'x' }, { admit: async (key) => void keys.push(key) === null });
    const answer = await asked('/svc/api/get_token', { method: 'POST', headers: { 'cf-connecting-ip': '192.0.2.1' } }, runtime);
    expect([await code(answer), keys]).toEqual(['429 too_many_requests', ['login:192.0.2.1']]);
  });

  it('and the redirect to a login provider is limited before the provider is asked', async () => {
    const keys: string[] = [];
    const settings = { SESSION_SECRET, MCP_OAUTH_ISSUER: 'http://127.0.0.1:1', MCP_OAUTH_CLIENT_ID: 'c' };
    const full = fakeRuntime(settings, { admit: async (key) => void keys.push(key) === null });
    expect(await code(await asked('/svc/login?return_to=/svc/login', {}, full))).toBe('429 too_many_requests');
    expect(keys).toEqual(['login:-']);
    expect((await asked('/svc/login', {}, full)).status).toBe(200);
  });

  it('and the consent page is limited before a document of a client is fetched', async () => {
    const keys: string[] = [];
    const read = vi.fn(async () => ({ refused: 'unknown client', location: null }));
    const oauth = { at: async () => ({ read }) } as unknown as NonNullable<Runtime['oauth']>;
    const path = `/svc/oauth/authorize?${new URLSearchParams({ client_id: 'https://victim.example/client.json' })}`;
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'decision=deny' };
    for (const init of [{}, { method: 'HEAD' }, form]) {
      const answer = await asked(path, init, fakeRuntime({ SESSION_SECRET }, { oauth, admit: async (key) => void keys.push(key) === null }));
      expect(answer.status).toBe(429);
    }
    expect(keys).toEqual(['oauth:-', 'oauth:-', 'oauth:-']);
    expect(read).not.toHaveBeenCalled();
    expect((await asked(path, {}, fakeRuntime({ SESSION_SECRET }, { oauth }))).status).toBe(400);
    expect(read).toHaveBeenCalledOnce();
  });
});

describe('get_token', () => {
  it('is 503 without a salt', async () => {
    expect(await code(await asked('/svc/api/get_token', { method: 'POST' }, fakeRuntime({ SESSION_SECRET })))).toBe('503 not_configured');
  });
});

describe('a return address', () => {
  const HERE = 'https://graph.example';

  it('is a path of this origin, with its query', () => {
    for (const path of ['/', '/svc/login', '/svc/api/mcp/authorize?client_id=x&redirect_uri=https%3A%2F%2Fclient.example%2Fcb', '/a?b=//c', "/a'b?c=d'e"])
      expect(returnAddress(path, HERE)).toBe(URL.parse(path, HERE)?.href.slice(HERE.length));
    expect(returnAddress('/a/../b#c', HERE)).toBe('/b');
  });

  it('is refused if a browser could read it as another origin', () => {
    const others = [
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      'https://evil.example',
      'https:evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
      '/\t/evil.example',
    ];
    others.push(
      '/\n/evil.example',
      ' /x',
      '/.//evil.example',
      '/x/..//evil.example',
      '/%2e//evil.example',
      '///evil.example',
      'evil',
      '',
      '?x',
      '#x',
      '/\u0000',
      '/\u00e9',
    );
    others.push(`/${'x'.repeat(9000)}`, 'https://graph.example@evil.example', '/\u2215evil');
    for (const other of others) expect([other, returnAddress(other, HERE)]).toEqual([other, null]);
    for (const none of [null, undefined]) expect(returnAddress(none, HERE)).toBe(null);
  });

  it('never leads to another origin, for any text', () => {
    const part = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '//',
      '%2f',
      '%5c',
      '%2e',
      ':',
      '@',
      '?',
      '#',
      'evil.example',
      'https:',
      '\t',
      '\n',
      ' ',
      '%00',
      '\u3002',
      'x',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const path = returnAddress(`/${parts.join('')}`, HERE);
        if (path === null) return;
        expect(new URL(path, HERE).origin).toBe(HERE);
        // and once more as a browser that follows the redirect would send it
        expect(new URL(path, 'http://127.0.0.1').origin).toBe('http://127.0.0.1');
      }),
      generated(SIZES.forms, SIZES.forms),
    );
  });
});

describe('the content of pages', () => {
  const nasty = `"><script>alert(1)</script>'&amp;<b>`;
  const plain = (html: string) =>
    html.replace(/&(amp|lt|gt|quot|#39);/g, (e) => ({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" })[e] as string);

  it('is escaped, for any text', () => {
    const pages = [loginPage({ product: 'svc', formToken: nasty, returnTo: nasty, user: nasty, message: nasty }), loggedInPage('svc', nasty, nasty)];
    for (const html of pages) {
      expect(html).not.toMatch(/<script|<b>/);
      expect(plain(html)).toContain(nasty);
    }
  });

  it('is accessible: language, title, labels, errors associated with their fields', () => {
    const form = { product: 'svc', formToken: 't', returnTo: null, user: '', message: null };
    const html = loginPage(form);
    expect(html).toMatch(/<html lang="en">[\s\S]*<title>Log in to svc<\/title>/);
    for (const id of ['user', 'password']) expect(html).toMatch(new RegExp(`<label for="${id}">[\\s\\S]*<input id="${id}"`));
    expect(html).toMatch(/autocomplete="username"[\s\S]*autocomplete="current-password"/);
    expect(html).not.toMatch(/role="alert"|aria-describedby/);
    const again = loginPage({ ...form, user: 'ann', message: 'Wrong.' });
    expect(again).toMatch(/<title>Error: Log in to svc<\/title>[\s\S]*<p id="message" role="alert">Wrong\.<\/p>/);
    expect(again.match(/aria-describedby="message"/g)?.length).toBe(2);
    expect(again).toMatch(/id="password"[^>]* autofocus/);
  });
});

describe('forms', () => {
  it.each(['/svc/login', '/svc/logout'])('of more than 64 KiB are not read as fields: %s', async (path) => {
    const runtime = fakeRuntime({ SESSION_SECRET });
    const send = (body: string) =>
      at(`http://127.0.0.1:8787${path}`, runtime, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body,
      });
    expect(await code(await send('a'.repeat(64 * 1024 + 1)))).toBe('413 body_too_large');
    expect((await send('a'.repeat(64 * 1024))).status).not.toBe(413);
    expect(await code(await send('a&'.repeat(200)))).toBe('413 body_too_large');
    expect((await send('a&'.repeat(199))).status).not.toBe(413);
  });

  it('of many fields do not reach the OAuth library, which compares all of them', async () => {
    const protocol = vi.fn(async () => Response.json({}));
    const runtime = fakeRuntime({ SESSION_SECRET }, { oauth: { at: async () => ({ protocol }) } as unknown as NonNullable<Runtime['oauth']> });
    const send = (fields: number) =>
      at('http://127.0.0.1:8787/svc/oauth/token', runtime, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: Array.from({ length: fields }, (_, i) => `f${i}`).join('&'),
      });
    expect(await code(await send(10_000))).toBe('413 body_too_large');
    expect(protocol).not.toHaveBeenCalled();
    expect((await send(200)).status).toBe(200);
    expect(protocol).toHaveBeenCalledOnce();
  });

  it('of the console are not parsed if they are larger', async () => {
    const body = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
    const sent = await asked('/svc/console/token', { method: 'POST', headers: { 'content-type': 'application/json' }, body }, fakeRuntime({ SESSION_SECRET }));
    expect(await code(sent)).toBe('413 body_too_large');
  });
});
