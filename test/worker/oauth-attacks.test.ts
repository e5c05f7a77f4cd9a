/** Attacks on OAuth and on signing in that must fail, in the Workers runtime. */
/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { env, runInDurableObject } from 'cloudflare:test';
import { exports } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { hidden, type Visited, Visitor } from '../integration/support/visitor.ts';

const BASE = 'http://127.0.0.1:8787';
const RESOURCE = `${BASE}/svc/api/mcp`;
const CALLBACK = 'http://127.0.0.1:33418/callback';
const PASSWORD = 'Correct-horse-9!';

type Fields = Readonly<Record<string, string>>;

const send = (path: string, init: RequestInit = {}): Promise<Response> => exports.default.fetch(new Request(BASE + path, { redirect: 'manual', ...init }));

async function answer(path: string, init: RequestInit) {
  const response = await send(path, init);
  const text = await response.text();
  return { status: response.status, text, json: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, string> };
}

async function rows(query: string): Promise<void> {
  const headers = { 'x-api-key': inject('adminToken'), 'content-type': 'application/json' };
  const { status, text } = await answer('/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query }) });
  expect([status, text]).toEqual([200, expect.anything()]);
}

async function register(fields: object = {}): Promise<Record<string, string>> {
  const body = JSON.stringify({ client_name: 'Weaver', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', ...fields });
  const { status, json } = await answer('/svc/oauth/register', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(status).toBe(201);
  return json;
}
const newClient = async (fields: object = {}): Promise<string> => (await register(fields)).client_id as string;

async function asking(client_id: string, verifier: string, change: Fields = {}): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const code_challenge = Buffer.from(digest).toString('base64url');
  const fields = { response_type: 'code', client_id, redirect_uri: CALLBACK, code_challenge, code_challenge_method: 'S256', state: 'xyz', ...change };
  return `/svc/oauth/authorize?${new URLSearchParams(fields)}`;
}
const verifierOf = (): string => crypto.randomUUID() + crypto.randomUUID();

const sessions = new Map<string, ReadonlyMap<string, string>>();
/** A browser of a user who has logged in. Those of one user share a session, because checking a password is slow on purpose. */
async function visitor(user = 'nell'): Promise<Visitor> {
  const found = new Visitor(send, sessions.get(user));
  if (sessions.has(user)) return found;
  expect((await found.logIn(user, PASSWORD)).status).toBe(303);
  sessions.set(user, new Map(found.cookies));
  return found;
}

const post = (path: string, fields: Fields | string, headers: Fields = {}) =>
  answer(path, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body: String(new URLSearchParams(fields)) });
const token = (fields: Fields | string, headers?: Fields) => post('/svc/oauth/token', fields, headers);

/** Allows a client. @returns the client's request for its code */
async function allowed(client_id: string, browser: Visitor, change: Fields = {}): Promise<Record<string, string>> {
  const code_verifier = verifierOf();
  const path = await asking(client_id, code_verifier, change);
  const shown = await browser.send(path);
  const sent = await browser.post(
    path,
    { ...hidden(shown.text), ...(change.scope === undefined ? {} : { scope: 'model' }), decision: 'allow' },
    { origin: BASE },
  );
  const code = new URL(sent.location as string).searchParams.get('code') as string;
  return { grant_type: 'authorization_code', client_id, code, code_verifier, redirect_uri: CALLBACK };
}
const signIn = async (client: string, browser: Visitor): Promise<Record<string, string>> => (await token(await allowed(client, browser))).json;
const refresh = (client_id: string, refresh_token = '', more: Fields = {}) => token({ grant_type: 'refresh_token', client_id, refresh_token, ...more });

/** The status of a call of the MCP server. */
async function call(access_token = ''): Promise<number> {
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' };
  return (await answer('/svc/api/mcp', { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' })).status;
}

/** Answers for the URLs of clients. */
function publish(documents: Readonly<Record<string, () => Response>>): void {
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    if (url.startsWith('https://')) return documents[url]?.() ?? new Response('no', { status: 404 });
    return real(input, init);
  });
}
const described = (client_id: string, change: object = {}) => ({ client_id, client_name: 'Loom', redirect_uris: [CALLBACK], ...change });

beforeAll(async () => {
  for (const user of ['nell', 'nick', 'nora', 'away']) await rows(`CREATE USER ${user} PASSWORD '${PASSWORD}'`);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('a redirect to another URI than the registered one', () => {
  const SITE = 'https://app.example/cb?x=1';
  let client: string;
  let browser: Visitor;
  beforeAll(async () => {
    client = await newClient({ redirect_uris: [SITE, 'http://[::1]:1/cb', 'http://localhost:1/cb'] });
    browser = await visitor();
  });

  it.each([
    'https://app.example/cb',
    `${SITE}&y=2`,
    `${SITE}#`,
    'https://APP.example/cb?x=1',
    'https://app.example:443/cb?x=1',
    'https://app.example:8443/cb?x=1',
    'https://app.example/cb%3fx=1',
    'https://app.example/./cb?x=1',
    'https://app.example\\cb?x=1',
    ` ${SITE}`,
    `${SITE}\n`,
    'https://u@app.example/cb?x=1',
    'http://app.example/cb?x=1',
    'http://[::1]:80@evil.example/cb',
    'http://localhost:1@evil.example/cb',
    'http://localhost:2\\@evil.example/cb',
    'http://localhost.evil.example:1/cb',
    'http://LOCALHOST:2/cb',
    'http://localhost:2/%63b',
    'http://localhost:2/x/../cb',
    'http://[0:0:0:0:0:0:0:1]:1/cb',
    'http://localhost./cb',
  ])('%j', async (redirect_uri) => {
    const { status, location } = await browser.send(await asking(client, verifierOf(), { redirect_uri }));
    expect([status, location]).toEqual([400, null]);
  });

  it('by a duplicate parameter, in any spelling', async () => {
    const asked = await asking(client, verifierOf(), { redirect_uri: SITE });
    for (const more of [
      '&client_id=x',
      '&%63lient_id=x',
      '&redirect%5furi=https://evil.example/',
      '&state=2',
      '&code_challenge_method=plain',
      '&response_type=token',
    ])
      expect(await browser.send(asked + more)).toMatchObject({ status: 400, location: null });
  });
});

describe('a client that claims to be another one', () => {
  it('gets no token with any secret', async () => {
    const browser = await visitor();
    const open = await newClient();
    const [one, two] = [
      await register({ token_endpoint_auth_method: 'client_secret_basic' }),
      await register({ token_endpoint_auth_method: 'client_secret_post' }),
    ];
    const [id, secret] = [one.client_id as string, one.client_secret as string];
    const basic = (user = '', password = '') => ({ authorization: `Basic ${btoa(`${user}:${password}`)}` });
    const { client_id: _, ...code } = await allowed(id, browser);
    const { client_id: __, ...openCode } = await allowed(open, browser);
    const tries: [string, Fields, Fields][] = [
      ['a secret of a client that has none', { ...openCode, client_id: open, client_secret: secret }, {}],
      ['the same in the header', openCode, basic(open, secret)],
      ['no secret', { ...code, client_id: id }, {}],
      ['an empty secret', { ...code, client_id: id, client_secret: '' }, {}],
      ['the secret in the body', { ...code, client_id: id, client_secret: secret }, {}],
      ['the secret of another client', code, basic(id, two.client_secret)],
      ['another client', { ...code, client_id: two.client_id as string, client_secret: two.client_secret as string }, {}],
      ['another client without a secret', { ...code, client_id: open }, {}],
      ['two clients', { ...code, client_id: open }, basic(id, secret)],
      [
        'an assertion',
        { ...code, client_id: id, client_assertion: 'a.b.c', client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' },
        {},
      ],
    ];
    for (const [name, fields, headers] of tries) {
      const { status, json } = await token(fields, headers);
      expect([name, status >= 400 && status < 500, json.access_token]).toEqual([name, true, undefined]);
    }
    expect((await token(`grant_type=refresh_token&client_id=${open}&client_id=${id}&refresh_token=x`)).json.error).toBe('invalid_request');
    expect((await token(code, basic(id, secret))).status).toBe(200);
  });

  it.each(['text/plain', 'text/html', 'application/octet-stream', 'image/svg+xml'])(
    'is not accepted from a host that stores texts of others (%s)',
    async (type) => {
      const id = `https://paste.example/${type}`;
      publish({ [id]: () => new Response(JSON.stringify(described(id)), { headers: { 'content-type': type } }) });
      expect(await (await visitor()).send(await asking(id, verifierOf()))).toMatchObject({ status: 400, location: null });
    },
  );

  it('is distinguished on the page by the port of its URI', async () => {
    const id = 'https://loom.example:8443/client.json';
    publish({ [id]: () => Response.json(described(id, { redirect_uris: ['https://desk.example:9443/cb'] })) });
    const { text } = await (await visitor()).send(await asking(id, verifierOf(), { redirect_uri: 'https://desk.example:9443/cb' }));
    expect(text).toContain('published by <strong>loom.example:8443</strong>. Access goes to <strong>desk.example:9443</strong>');
  });

  it('has a name on the page, also if the name that it gave itself is invisible', async () => {
    const client = await newClient({ client_name: '\u200b\u2060\u202e' });
    expect((await (await visitor()).send(await asking(client, verifierOf()))).text).toContain(`<h1>Allow ${client} to use svc?</h1>`);
  });
});

describe('the log', () => {
  it('has no line that a client wrote', async () => {
    const lines: string[] = [];
    for (const level of ['log', 'warn', 'error', 'info'] as const) vi.spyOn(console, level).mockImplementation((...parts) => void lines.push(parts.join(' ')));
    const id = 'https://loom.example/forged.json';
    publish({ [id]: () => Response.json(described('x\n{"event":"forged"}')) });
    for (const client_id of [id, 'https://loom.example/a\n{"event":"forged"}']) {
      expect((await new Visitor(send).send(await asking(client_id, verifierOf()))).status).toBe(400);
      expect((await refresh(client_id, 'x')).status).toBe(401);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(lines.filter((line) => line.includes('metadata_resolution_failed')).length).toBe(4);
    expect(lines.filter((line) => line.includes('\n'))).toEqual([]);
  });
});

describe('tokens', () => {
  it('have no other scopes than those of their grant, and at least read', async () => {
    const browser = await visitor();
    const client = await newClient();
    const reader = await signIn(client, browser);
    for (const scope of ['model', 'admin', 'model\tread']) expect((await refresh(client, reader.refresh_token, { scope })).json.error).toBe('invalid_scope');
    expect((await refresh(client, reader.refresh_token, { scope: 'read model' })).json.scope).toBe('read');
    for (const [scope, given] of [
      [' ', 'read'],
      ['model', 'read model'],
      ['read', 'read'],
    ] as const)
      expect((await token({ ...(await allowed(client, browser, { scope: 'read model' })), scope })).json.scope).toBe(given);
  });

  it('are valid neither as another kind of token nor for another resource', async () => {
    const browser = await visitor();
    const client = await newClient();
    const { access_token = '', refresh_token = '' } = await signIn(client, browser);
    expect((await refresh(client, access_token)).json.error).toBe('invalid_grant');
    expect((await token({ ...(await allowed(client, browser)), code: access_token })).json.error).toBe('invalid_grant');
    expect(await call(refresh_token)).toBe(401);
    for (const resource of [
      RESOURCE.toUpperCase(),
      `${RESOURCE}//`,
      `${RESOURCE}/health`,
      BASE,
      RESOURCE.replace('127.0.0.1', 'localhost'),
      `${RESOURCE}%2f`,
      '',
    ])
      expect((await refresh(client, refresh_token, { resource })).json.error).toBe('invalid_target');
    expect(await call(access_token)).toBe(200);
  });

  it('are invalid after a code was used twice at the same time', async () => {
    const browser = await visitor();
    const client = await newClient();
    for (let i = 0; i < 5; i++) {
      const fields = await allowed(client, browser);
      const answers = await Promise.all([token(fields), token(fields), token(fields)]);
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
      for (const { json } of answers) expect(await call(json.access_token)).toBe(401);
    }
  });

  it('are invalid after their revocation, for any number of tokens of the client, and also while it refreshes', async () => {
    const browser = await visitor('nick');
    const client = await newClient();
    const { access_token = '', refresh_token = '' } = await signIn(client, browser);
    const [userId = '', grantId = ''] = access_token.split(':');
    const object = env.OAUTH_STORE.get(env.OAUTH_STORE.idFromName(`-:user:${userId}`));
    await runInDurableObject(object, async (_object, { storage }) => {
      const [[, record] = []] = await storage.list({ prefix: `token:${userId}:${grantId}:` });
      // they sort before the client's own token by name
      for (let i = 0; i < 2000; i++) await storage.put(`token:${userId}:${grantId}:${' '.repeat(4)}${i}`, record);
    });
    expect(await call(access_token)).toBe(200);
    const [refreshed] = await Promise.all([refresh(client, refresh_token), token({ client_id: client, token: refresh_token })]);
    for (const left of [access_token, refreshed.json.access_token ?? '']) expect(await call(left)).toBe(401);
    for (const left of [refresh_token, refreshed.json.refresh_token ?? 'x']) expect((await refresh(client, left)).status).toBe(400);
  });

  it('are invalid for a login that ended while its user allowed the client', async () => {
    const browser = await visitor('nora');
    const client = await newClient();
    const code_verifier = verifierOf();
    const path = await asking(client, code_verifier);
    const form = { ...hidden((await browser.send(path)).text), decision: 'allow' };
    // a new password is set after the session was checked
    const real = globalThis.fetch;
    let changed = false;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const response = await real(input, init);
      if (changed || typeof init?.body !== 'string' || !init.body.includes('ended_sessions')) return response;
      changed = true;
      await rows("ALTER USER nora SET PASSWORD = 'Another-horse-9!'");
      return response;
    });
    const sent = await browser.post(path, form, { origin: BASE });
    expect([sent.status, changed]).toEqual([302, true]);
    const code = new URL(sent.location as string).searchParams.get('code') as string;
    const fetched = await token({ grant_type: 'authorization_code', client_id: client, code, code_verifier });
    expect([fetched.status, fetched.json.error]).toEqual([400, 'invalid_grant']);
  });

  it('and sessions are not restored for a user who was set inactive for a while', async () => {
    const browser = await visitor('away');
    const client = await newClient();
    const { access_token, refresh_token } = await signIn(client, browser);
    expect(await call(access_token)).toBe(200);
    await rows("ALTER USER away SET ACTIVE = 'false'; ALTER USER away SET ACTIVE = 'true'");
    expect([await call(access_token), (await refresh(client, refresh_token)).json.error]).toEqual([401, 'invalid_grant']);
    expect((await browser.send('/svc/oauth/grants')).location).toMatch(/^\/svc\/login\?/);
  });
});

describe('the pages', () => {
  it('never redirect out of the service, however a browser reads the URL', async () => {
    const browser = await visitor();
    const open: Visited[] = [];
    for (const to of [
      '//evil.example',
      '/\\evil.example',
      '/.//evil.example',
      '/x/..//evil.example',
      '/%2e//evil.example',
      '/%2e%2e//evil.example',
      '/\tevil.example',
      '/\u2028//evil.example',
      '@evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      `${BASE}@evil.example/`,
      '/svc/login\r\nset-cookie: a=b',
    ])
      open.push(await browser.send(`/svc/login?${new URLSearchParams({ return_to: to })}`));
    expect(open.map(({ status, location }) => [status, location]).filter(([status]) => status !== 200)).toEqual([]);
  });

  it.each([
    ['x-forwarded-host', 'evil.example'],
    ['x-forwarded-proto', 'https'],
    ['forwarded', 'host=evil.example;proto=https'],
    ['x-original-url', '/svc/oauth/grants'],
    ['host', '127.0.0.1:8787/evil?'],
    ['host', 'evil.example@127.0.0.1:8787'],
  ])('and the metadata do not change with %s: %s', async (name, value) => {
    const { status, json } = await answer('/.well-known/oauth-authorization-server', { headers: { [name]: value } });
    expect([status, json.issuer]).toEqual([200, BASE]);
  });

  it('give no token to a page of another host, even of the same site', async () => {
    const browser = await visitor();
    for (const site of ['cross-site', 'same-site']) {
      const { status, text } = await browser.send('/svc/get_svc_user_token', { headers: { 'sec-fetch-site': site } });
      expect([status, text.includes('tk_')]).toEqual([403, false]);
    }
  });
});
