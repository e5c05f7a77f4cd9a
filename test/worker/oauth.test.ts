/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { createExecutionContext, env, listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { exports } from 'cloudflare:workers';
import worker from 'built-worker';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { neonDb } from '../../src/catalog/db.ts';
import { readConfig } from '../../src/config.ts';
import type { Connection } from '../../src/connection.ts';
import { SvcError } from '../../src/errors.ts';
import { authenticateOAuth } from '../../src/oauth/authenticate.ts';
import { MAX_GRANTS } from '../../src/oauth/records.ts';
import { oauthServers } from '../../src/oauth/server.ts';
import { oauthStores } from '../../src/oauth/store-object.ts';
import type { OAuthParts } from '../../src/oauth/types.ts';
import { hidden, Visitor } from '../integration/support/visitor.ts';

const BASE = 'http://127.0.0.1:8787';
const RESOURCE = `${BASE}/svc/api/mcp`;
const METADATA = `${BASE}/.well-known/oauth-protected-resource/svc/api/mcp`;
const CALLBACK = 'http://127.0.0.1:33418/callback';
const PASSWORD = 'Correct-horse-9!';

const send = (path: string, init: RequestInit = {}): Promise<Response> => exports.default.fetch(new Request(BASE + path, { redirect: 'manual', ...init }));

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the answers of endpoints are what is tested
  readonly json: any;
}

async function answer(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await send(path, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text.startsWith('{') ? JSON.parse(text) : text };
}

async function rows(query: string): Promise<void> {
  const headers = { 'x-api-key': inject('adminToken'), 'content-type': 'application/json' };
  const { status, json } = await answer('/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query }) });
  expect([status, json]).toEqual([200, expect.anything()]);
}

const register = (fields: object = {}) =>
  answer('/svc/oauth/register', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Weaver', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', ...fields }),
  });
const newClient = async (fields: object = {}): Promise<string> => (await register(fields)).json.client_id;

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return Buffer.from(digest).toString('base64url');
}

type Fields = Readonly<Record<string, string | undefined>>;
const given = (fields: Fields): [string, string][] => Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined);

/** The URL of an authorization request. */
async function asking(client_id: string, verifier: string, change: Fields = {}): Promise<string> {
  const fields = {
    response_type: 'code',
    client_id,
    redirect_uri: CALLBACK,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
    state: 'xyz',
    resource: RESOURCE,
    ...change,
  };
  return `/svc/oauth/authorize?${new URLSearchParams(given(fields))}`;
}

const sessions = new Map<string, ReadonlyMap<string, string>>();
/** A browser of a user who has logged in. Those of one user share a session, because checking a password is slow on purpose. */
async function visitor(user = 'olive'): Promise<Visitor> {
  const found = new Visitor(send, sessions.get(user));
  if (sessions.has(user)) return found;
  expect((await found.logIn(user, PASSWORD)).status).toBe(303);
  sessions.set(user, new Map(found.cookies));
  return found;
}

const verifierOf = (): string => crypto.randomUUID() + crypto.randomUUID();

/** Approves a request. @returns the redirect URI for the client */
async function allow(browser: Visitor, path: string, more: Readonly<Record<string, string>> = {}): Promise<URL> {
  const shown = await browser.send(path);
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('Allow')]);
  const sent = await browser.post(path, { ...hidden(shown.text), decision: 'allow', ...more }, { origin: BASE });
  expect([sent.status, sent.location]).toEqual([302, expect.any(String)]);
  return new URL(sent.location as string);
}

const token = (fields: Fields, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  answer('/svc/oauth/token', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(given(fields)).toString(),
  });

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

/** The whole flow; `change`: additional parameters of the authorization request. */
async function signIn(client_id: string, browser: Visitor, change: Fields = {}): Promise<Tokens> {
  const verifier = verifierOf();
  const landed = await allow(browser, await asking(client_id, verifier, change), change.scope?.includes('model') ? { scope: 'model' } : {});
  const fetched = await token(exchange(client_id, landed.searchParams.get('code') as string, verifier));
  expect([fetched.status, fetched.json]).toEqual([200, expect.anything()]);
  return fetched.json;
}

const exchange = (client_id: string, code: string, code_verifier: string): Record<string, string | undefined> => ({
  grant_type: 'authorization_code',
  client_id,
  code,
  code_verifier,
  redirect_uri: CALLBACK,
  resource: RESOURCE,
});
const refresh = (client_id: string, refresh_token: string, more: Fields = {}) => token({ grant_type: 'refresh_token', client_id, refresh_token, ...more });

function parts(change: Readonly<Record<string, unknown>> = {}): OAuthParts {
  const config = readConfig({ ...env, ...change });
  return {
    config,
    db: neonDb(config.catalog as Connection),
    now: Date.now,
    log: () => undefined,
    waitUntil: () => undefined,
    oauth: oauthServers(oauthStores(env.OAUTH_STORE, config.locationHint)),
  };
}

/** The MCP server's answer to an access token: the user, or the status. */
async function principalOf(access_token: string, at: OAuthParts = parts()): Promise<unknown> {
  try {
    const { principal } = await authenticateOAuth(access_token, new Request(RESOURCE), at);
    return [principal.name, principal.credential, ...principal.scopes];
  } catch (error) {
    if (error instanceof SvcError) return [error.status, error.headers?.['www-authenticate']];
    throw error;
  }
}
const INVALID = [401, `Bearer realm="svc", resource_metadata="${METADATA}", scope="read", error="invalid_token"`];

beforeAll(async () => {
  for (const user of ['olive', 'otto', 'pat', 'quin']) await rows(`CREATE USER ${user} PASSWORD '${PASSWORD}'`);
});

describe('metadata', () => {
  it('of the authorization server, at its URL and with the path of the MCP server (RFC 8414)', async () => {
    for (const path of ['', '/svc/api/mcp', '/svc/api/mcp/']) {
      const { status, json, headers } = await answer(`/.well-known/oauth-authorization-server${path}`, { headers: { origin: 'https://page.example' } });
      expect([status, json]).toEqual([
        200,
        expect.objectContaining({
          issuer: BASE,
          authorization_endpoint: `${BASE}/svc/oauth/authorize`,
          token_endpoint: `${BASE}/svc/oauth/token`,
          registration_endpoint: `${BASE}/svc/oauth/register`,
          revocation_endpoint: `${BASE}/svc/oauth/token`,
          scopes_supported: ['read', 'model'],
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
          client_id_metadata_document_supported: true,
        }),
      ]);
      expect([headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).toEqual(['https://page.example', null]);
    }
  });

  it('of the resource, with and without the slash (RFC 9728)', async () => {
    for (const path of ['', '/svc/api/mcp', '/svc/api/mcp/']) {
      const { status, json } = await answer(`/.well-known/oauth-protected-resource${path}`);
      expect([status, json]).toEqual([200, expect.objectContaining({ resource: RESOURCE, authorization_servers: [BASE], scopes_supported: ['read'] })]);
    }
    expect((await answer('/.well-known/oauth-protected-resource/other')).status).toBe(404);
  });
});

describe('the whole flow', () => {
  it('registers, logs in, asks the user and gives tokens that act for that user', async () => {
    const client = await register();
    expect([client.status, client.json]).toEqual([201, expect.objectContaining({ client_name: 'Weaver', redirect_uris: [CALLBACK] })]);
    expect(client.json.client_secret).toBeUndefined();
    const browser = new Visitor(send);
    const verifier = verifierOf();
    const path = await asking(client.json.client_id, verifier);
    const stranger = await browser.send(path);
    expect([stranger.status, stranger.location]).toEqual([303, `/svc/login?${new URLSearchParams({ return_to: path })}`]);
    expect((await browser.logIn('olive', PASSWORD, path)).location).toBe(path);
    const shown = await browser.send(path);
    expect(shown.text).toMatch(/Weaver[\s\S]*olive[\s\S]*Read:/);
    expect(shown.text).not.toContain('Model:');
    expect(shown.text).not.toContain('<script');
    expect(shown.headers.get('content-security-policy')).toMatch(/form-action 'self' http:\/\/127\.0\.0\.1:33418;.*frame-ancestors 'none'/);
    expect(shown.headers.get('x-frame-options')).toBe('DENY');
    const landed = await allow(browser, path);
    expect([landed.origin + landed.pathname, landed.searchParams.get('state'), landed.searchParams.get('iss')]).toEqual([CALLBACK, 'xyz', BASE]);
    const fetched = await token(exchange(client.json.client_id, landed.searchParams.get('code') as string, verifier));
    expect([fetched.status, fetched.json]).toEqual([
      200,
      { access_token: expect.any(String), refresh_token: expect.any(String), token_type: 'bearer', expires_in: 3600, scope: 'read', resource: RESOURCE },
    ]);
    expect(fetched.headers.get('cache-control')).toBe('no-store');
    expect(await principalOf(fetched.json.access_token)).toEqual(['olive', 'oauth', 'read']);
    // valid only under the MCP path
    for (const headers of [{ authorization: `Bearer ${fetched.json.access_token}` }, { 'x-api-key': fetched.json.access_token }])
      expect((await answer('/svc/api/get_ontologies', { headers })).status).toBe(401);
    for (const other of [`${fetched.json.access_token}x`, fetched.json.refresh_token, 'made-up', `${fetched.json.access_token.slice(0, -1)}`])
      expect(await principalOf(other)).toEqual(INVALID);
  });

  it('grants the scope model if it is requested and left ticked', async () => {
    const browser = await visitor();
    const client = await newClient();
    const verifier = verifierOf();
    const path = await asking(client, verifier, { scope: 'read model other' });
    const shown = await browser.send(path);
    expect(shown.text).toMatch(/<input type="checkbox" name="scope" value="model" checked>/);
    expect(await principalOf((await signIn(client, browser, { scope: 'model' })).access_token)).toEqual(['olive', 'oauth', 'read', 'model']);
    const landed = await allow(browser, path, { scope: 'read' });
    expect((await token(exchange(client, landed.searchParams.get('code') as string, verifier))).json.scope).toBe('read');
  });
});

describe('tokens', () => {
  it('rotate: a refresh returns new ones, and the old refresh token ends with the use of the new one', async () => {
    const client = await newClient();
    const one = await signIn(client, await visitor());
    const two = await refresh(client, one.refresh_token, { resource: `${RESOURCE}/` });
    expect([two.status, await principalOf(two.json.access_token)]).toEqual([200, ['olive', 'oauth', 'read']]);
    expect(two.json.refresh_token).not.toBe(one.refresh_token);
    const three = await refresh(client, two.json.refresh_token);
    expect(three.status).toBe(200);
    // the first token is used again: the whole grant ends
    expect(await refresh(client, one.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(await refresh(client, three.json.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(await principalOf(three.json.access_token)).toEqual(INVALID);
  });

  it('are not ended by an invented refresh token', async () => {
    const client = await newClient();
    const { refresh_token } = await signIn(client, await visitor());
    const madeUp = refresh_token.replace(/.{32}$/, 'A'.repeat(32));
    expect(await refresh(client, madeUp)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect((await refresh(client, refresh_token)).status).toBe(200);
  });

  it('are issued once for two simultaneous uses of a code or a refresh token', async () => {
    const browser = await visitor();
    const client = await newClient();
    const verifier = verifierOf();
    const landed = await allow(browser, await asking(client, verifier));
    const fields = exchange(client, landed.searchParams.get('code') as string, verifier);
    const codes = await Promise.all(Array.from({ length: 5 }, () => token(fields)));
    expect(codes.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    const { refresh_token } = await signIn(client, browser);
    const two = await Promise.all([refresh(client, refresh_token), refresh(client, refresh_token)]);
    // in sequence the second use is the retry of a client that has lost its answer: it replaces the first
    const live = [];
    for (const { status, json } of two) if (status === 200 && (await refresh(client, json.refresh_token)).status === 200) live.push(json);
    expect(live.length).toBeLessThanOrEqual(1);
  });

  it('end with the second use of a code', async () => {
    const client = await newClient();
    const verifier = verifierOf();
    const landed = await allow(await visitor(), await asking(client, verifier));
    const fields = exchange(client, landed.searchParams.get('code') as string, verifier);
    const first = await token(fields);
    expect([first.status, await principalOf(first.json.access_token)]).toEqual([200, ['olive', 'oauth', 'read']]);
    expect(await token(fields)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(await principalOf(first.json.access_token)).toEqual(INVALID);
  });

  it.each([
    ['another redirect URI', { redirect_uri: `${CALLBACK}/other` }],
    ['another port than that of the request', { redirect_uri: CALLBACK.replace('33418', '40000') }],
    ['a wrong verifier', { code_verifier: 'x'.repeat(43) }],
    ['no verifier', { code_verifier: undefined }],
    ['another resource', { resource: 'https://other.example/mcp' }],
    ['an unknown client', { client_id: 'nobody' }],
  ])('are not issued for a code with %s', async (_, change) => {
    const client = await newClient();
    const verifier = verifierOf();
    const landed = await allow(await visitor(), await asking(client, verifier));
    const code = landed.searchParams.get('code') as string;
    const refused = await token({ ...exchange(client, code, verifier), ...change });
    expect([refused.status, refused.json.access_token]).toEqual([expect.toSatisfy((status: number) => status === 400 || status === 401), undefined]);
    const other = await newClient();
    expect(await token(exchange(other, code, verifier))).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });

  it('are issued for a code without a redirect URI (OAuth 2.1), but not without the verifier that binds the code to its client', async () => {
    const client = await newClient();
    const verifier = verifierOf();
    const without = async (change: Record<string, string | undefined>) => {
      const landed = await allow(await visitor(), await asking(client, verifier));
      return token({ ...exchange(client, landed.searchParams.get('code') as string, verifier), redirect_uri: undefined, ...change });
    };
    expect((await without({})).status).toBe(200);
    for (const code_verifier of [undefined, '', 'x'.repeat(43)]) expect((await without({ code_verifier })).status).toBe(400);
  });

  it('are revoked (RFC 7009): an access token by itself, a refresh token with its grant, and not by another client', async () => {
    const browser = await visitor();
    const [client, other] = [await newClient(), await newClient()];
    const one = await signIn(client, browser);
    const revoke = (client_id: string, revoked: string) => token({ client_id, token: revoked });
    expect((await revoke(other, one.access_token)).status).toBe(200);
    expect(await principalOf(one.access_token)).toEqual(['olive', 'oauth', 'read']);
    expect((await revoke(client, one.access_token)).status).toBe(200);
    expect(await principalOf(one.access_token)).toEqual(INVALID);
    const two = await refresh(client, one.refresh_token);
    expect(two.status).toBe(200);
    expect((await revoke(client, two.json.refresh_token)).status).toBe(200);
    expect(await principalOf(two.json.access_token)).toEqual(INVALID);
    expect(await refresh(client, two.json.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect((await revoke(client, 'made-up')).status).toBe(200);
  });

  it('are only for this resource (RFC 8707), with and without a trailing slash', async () => {
    const browser = await visitor();
    const client = await newClient();
    expect((await signIn(client, browser, { resource: `${RESOURCE}/` })).scope).toBe('read');
    expect((await signIn(client, browser, { resource: undefined })).scope).toBe('read');
    const wrong = await browser.send(await asking(client, verifierOf(), { resource: 'https://other.example/mcp' }));
    expect(new URL(wrong.location as string).searchParams.get('error')).toBe('invalid_target');
    const { access_token } = await signIn(client, browser);
    const elsewhere = parts({ PUBLIC_URL: 'https://svc.example' });
    expect(await principalOf(access_token, elsewhere)).toMatchObject([
      401,
      expect.stringContaining('https://svc.example/.well-known/oauth-protected-resource/svc/api/mcp'),
    ]);
  });

  it('expire', async () => {
    const { access_token } = await signIn(await newClient(), await visitor());
    vi.useFakeTimers({ now: Date.now() + 3_700_000, toFake: ['Date'] });
    try {
      expect(await principalOf(access_token, { ...parts(), now: () => Date.now() - 3_700_000 })).toEqual(INVALID);
    } finally {
      vi.useRealTimers();
    }
  });

  it('end with a new password and when the user is set inactive', async () => {
    const client = await newClient();
    const [pat, quin] = [await signIn(client, await visitor('pat')), await signIn(client, await visitor('quin'))];
    expect([await principalOf(pat.access_token), await principalOf(quin.access_token)]).toEqual([
      ['pat', 'oauth', 'read'],
      ['quin', 'oauth', 'read'],
    ]);
    await rows("ALTER USER pat SET PASSWORD = 'Another-horse-9!'");
    await rows("ALTER USER quin SET ACTIVE = 'false'");
    const later = { ...parts(), now: () => Date.now() + 59_000 };
    expect([await principalOf(pat.access_token, later), await principalOf(quin.access_token, later)]).toEqual([INVALID, INVALID]);
    for (const { refresh_token } of [pat, quin]) expect(await refresh(client, refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });
});

describe('the MCP server', () => {
  const call = (access_token: string, query: string, search = '') =>
    answer(`/svc/api/mcp${search}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${access_token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'execute_sql', arguments: { query, ontology: 'loom' } } }),
    });

  it('names in each 401 the metadata for getting a token', async () => {
    const none = await answer('/svc/api/mcp', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, `Bearer realm="svc", resource_metadata="${METADATA}", scope="read"`]);
    for (const headers of [{ authorization: 'Bearer made-up' }, { authorization: 'Bearer tk_made-up' }, { 'x-api-key': 'tk_made-up' }]) {
      const bad = await answer('/svc/api/mcp', { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{}' });
      expect([bad.status, bad.headers.get('www-authenticate')]).toEqual(INVALID);
    }
  });

  it('changes the model only with the scope model, and names the scope in its refusal', async () => {
    await rows('CREATE ONTOLOGY loom');
    await rows('GRANT EDIT ON ALL ontology.loom TO USER olive');
    const [client, browser] = [await newClient(), await visitor()];
    const [reader, modeller] = [await signIn(client, browser), await signIn(client, browser, { scope: 'read model' })];
    const refused = await call(reader.access_token, 'CREATE PROPERTY `thread` string', '?mode=model');
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer realm="svc", error="insufficient_scope", scope="read model", resource_metadata="${METADATA}"`,
    ]);
    expect(refused.json).toMatchObject({ id: 7, error: { data: { code: 'insufficient_scope' } } });
    // without mode=model no scope would help; reading statements run
    expect(await call(reader.access_token, 'CREATE PROPERTY `thread` string')).toMatchObject({ status: 200, json: { result: { isError: true } } });
    expect(await call(reader.access_token, 'SHOW ONTOLOGY', '?mode=model')).toMatchObject({ status: 200, json: { id: 7, result: { structuredContent: {} } } });
    const made = await call(modeller.access_token, 'CREATE PROPERTY `thread` string', '?mode=model');
    expect([made.status, made.json.result]).toEqual([200, expect.not.objectContaining({ isError: true })]);
  });
});

describe('the server refuses', () => {
  it.each([
    `${CALLBACK}/`,
    `${CALLBACK}/other`,
    `${CALLBACK}?next=1`,
    'http://127.0.0.1:33418/x/../callback',
    'http://localhost:33418/callback',
    'https://127.0.0.1:33418/callback',
    'http://127.0.0.2:33418/callback',
    'https://evil.example/callback',
    'http://127.0.0.1:33418@evil.example/callback',
    'javascript:alert(1)',
  ])('a redirect to %s', async (redirect_uri) => {
    const refused = await (await visitor()).send(await asking(await newClient(), verifierOf(), { redirect_uri }));
    expect([refused.status, refused.location]).toEqual([400, null]);
  });

  it('no other port of a loopback address (RFC 8252)', async () => {
    const landed = await allow(await visitor(), await asking(await newClient(), verifierOf(), { redirect_uri: CALLBACK.replace('33418', '40517') }));
    expect([landed.port, landed.searchParams.get('code')]).toEqual(['40517', expect.any(String)]);
  });

  it('an authorization without PKCE S256, also of clients with a secret', async () => {
    const browser = await visitor();
    const secret = await register({ token_endpoint_auth_method: 'client_secret_basic' });
    for (const client of [await newClient(), secret.json.client_id])
      for (const change of [
        { code_challenge: undefined, code_challenge_method: undefined },
        { code_challenge: 'p'.repeat(43), code_challenge_method: 'plain' },
        { code_challenge_method: undefined },
      ]) {
        const refused = await browser.send(await asking(client, verifierOf(), change));
        const { searchParams } = new URL(refused.location as string);
        expect([refused.status, searchParams.get('error'), searchParams.get('state'), searchParams.get('code')]).toEqual([302, 'invalid_request', 'xyz', null]);
      }
  });

  it('a request without a page (`prompt=none`)', async () => {
    const path = await asking(await newClient(), verifierOf(), { prompt: 'none' });
    for (const [browser, code] of [
      [new Visitor(send), 'login_required'],
      [await visitor(), 'interaction_required'],
    ] as const) {
      const { status, location } = await browser.send(path);
      const { origin, pathname, searchParams } = new URL(location as string);
      expect([status, `${origin}${pathname}`, searchParams.get('error'), searchParams.get('state')]).toEqual([302, CALLBACK, code, 'xyz']);
    }
    // a foreign address gets a link only, as for other errors
    const foreign = await asking(await newClient({ redirect_uris: ['https://loom.example/cb'] }), verifierOf(), {
      prompt: 'none',
      redirect_uri: 'https://loom.example/cb',
    });
    const shown = await (await visitor()).send(foreign);
    expect([shown.status, shown.location, shown.text]).toEqual([400, null, expect.stringContaining('error=interaction_required')]);
  });

  it('a redirect for an unknown client, and a duplicate parameter', async () => {
    const browser = await visitor();
    expect(await browser.send(await asking('nobody', verifierOf()))).toMatchObject({ status: 400, location: null });
    expect(await browser.send(`${await asking(await newClient(), verifierOf())}&redirect_uri=https://evil.example/`)).toMatchObject({
      status: 400,
      location: null,
    });
  });

  it('consent by a form of another browser, request or site', async () => {
    const [olive, otto] = [await visitor(), await visitor('otto')];
    const [path, another] = [await asking(await newClient(), verifierOf()), await asking(await newClient(), verifierOf())];
    const fields = { ...hidden((await olive.send(path)).text), decision: 'allow' };
    const form = (browser: Visitor, at: string, sent: Record<string, string>, headers: Record<string, string> = { origin: BASE }) =>
      browser.post(at, sent, headers);
    for (const refused of [
      await form(olive, path, { decision: 'allow' }),
      await form(otto, path, fields),
      await form(olive, another, fields),
      await form(olive, path, fields, { origin: 'https://evil.example' }),
      await form(olive, path, fields, { 'sec-fetch-site': 'cross-site' }),
    ])
      expect([refused.status, refused.location]).toEqual([403, null]);
    expect((await form(new Visitor(send), path, fields)).location).toMatch(/^\/svc\/login/);
    expect((await form(olive, path, fields)).location).toMatch(/[?&]code=/);
    const no = new URL((await form(olive, path, { ...fields, decision: 'deny' })).location as string);
    expect([no.searchParams.get('error'), no.searchParams.get('state'), no.searchParams.get('iss'), no.searchParams.get('code')]).toEqual([
      'access_denied',
      'xyz',
      BASE,
      null,
    ]);
  });

  it('HTML of a client on the pages', async () => {
    const browser = await visitor();
    const client = await newClient({ client_name: '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>' });
    const shown = await browser.send(await asking(client, verifierOf()));
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('&lt;img src=x')]);
    await signIn(client, browser);
    const listed = await browser.send('/svc/oauth/grants');
    expect(listed.text).toContain('&lt;img src=x');
    for (const { text } of [shown, listed]) expect(text).not.toMatch(/<img|<script/);
  });

  it('a redirect to the site of a client without the user if the request is wrong', async () => {
    const site = 'https://evil.example/callback';
    const registered = await register({ redirect_uris: [site] });
    const wrong = { redirect_uri: site, resource: 'https://other.example/mcp' };
    const asked = await asking(registered.json.client_id, verifierOf(), wrong);
    for (const browser of [await visitor(), new Visitor(send)]) {
      const { status, location, text } = await browser.send(asked);
      expect({ status, location }).toEqual({ status: 400, location: null });
      expect(text).toContain('<a href="https://evil.example/callback?error=invalid_target&amp;');
    }
  });

  it('registrations without a redirect URI, or with one that runs script', async () => {
    for (const redirect_uris of [undefined, [], ['javascript:alert(1)'], ['http://evil.example/callback'], [`${CALLBACK}#x`]])
      expect(await register({ redirect_uris })).toMatchObject({ status: 400, json: expect.not.objectContaining({ client_id: expect.anything() }) });
  });

  it('registrations of more than 16 KiB', async () => {
    const redirect_uris = Array.from({ length: 1000 }, (_, i) => `https://app${i}.example/callback`);
    for (const fields of [{ redirect_uris }, { client_name: 'x'.repeat(17_000) }, { contacts: ['x'.repeat(17_000)] }])
      expect(await register(fields)).toMatchObject({ status: 400, json: { error: 'invalid_client_metadata' } });
    expect((await register({ redirect_uris: redirect_uris.slice(0, 100) })).status).toBe(201);
  });

  it('registrations for more than 7 days until their first token, also if they revoke invented ones', async () => {
    const days = async (client: string): Promise<number> => {
      const name = `${parts().config.locationHint ?? '-'}:client:${client}`;
      const read = async (_object: unknown, state: DurableObjectState): Promise<number> =>
        ((await state.storage.get<{ readonly expires: number }>(`client:${client}`))?.expires ?? 0) - Date.now();
      return Math.round((await runInDurableObject(env.OAUTH_STORE.get(env.OAUTH_STORE.idFromName(name)), read)) / 86_400_000);
    };
    const client = await newClient();
    expect(await days(client)).toBe(7);
    const revoked = await token({ token: 'a:b:c', token_type_hint: 'access_token', client_id: client });
    expect([revoked.status, await days(client)]).toEqual([200, 7]);
    await signIn(client, await visitor());
    expect(await days(client)).toBe(90);
  });

  it('objects for invented tokens, codes and clients', async () => {
    const filled = async (): Promise<number> => {
      const ids = await listDurableObjectIds(env.OAUTH_STORE);
      const records = ids.map((id) =>
        runInDurableObject(env.OAUTH_STORE.get(id), async (_object, state) => (await state.storage.list()).size + ((await state.storage.getAlarm()) ?? 0)),
      );
      return (await Promise.all(records)).filter((size) => size > 0).length;
    };
    const client = await newClient();
    const before = await filled();
    expect(before).toBeGreaterThan(0);
    const madeUp = (): string => `${crypto.randomUUID()}:${'a'.repeat(16)}:${'b'.repeat(32)}`;
    for (let i = 0; i < 4; i++) {
      expect(await principalOf(madeUp())).toEqual(INVALID);
      expect((await token({ ...exchange(client, madeUp(), 'v'.repeat(43)) })).json.error).toBe('invalid_grant');
      expect((await refresh(client, madeUp())).json.error).toBe('invalid_grant');
      expect((await refresh(`client${String(i).padStart(10, '0')}`, madeUp())).json.error).toBe('invalid_client');
    }
    expect(await filled()).toBe(before);
  });
});

describe('a grant of a user', () => {
  it('is listed, and ends at once when it is revoked', async () => {
    const browser = await visitor('otto');
    const client = await newClient({ client_name: 'Loom' });
    const { access_token, refresh_token } = await signIn(client, browser);
    const shown = await browser.send('/svc/oauth/grants');
    expect([shown.status, shown.text]).toEqual([200, expect.stringMatching(/<strong>Loom<\/strong> \(127\.0\.0\.1\), read,/)]);
    const fields = hidden(shown.text);
    const olive = await visitor();
    expect((await olive.send('/svc/oauth/grants')).text).not.toContain('Loom');
    // neither another user nor a page of another site
    await olive.post('/svc/oauth/grants', { ...hidden((await olive.send('/svc/oauth/grants')).text), grant: fields.grant as string }, { origin: BASE });
    expect((await browser.post('/svc/oauth/grants', fields, { origin: 'https://evil.example' })).status).toBe(403);
    expect(await principalOf(access_token)).toEqual(['otto', 'oauth', 'read']);
    expect((await browser.post('/svc/oauth/grants', fields, { origin: BASE })).location).toBe('/svc/oauth/grants');
    expect(await principalOf(access_token)).toEqual(INVALID);
    expect(await refresh(client, refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect((await new Visitor(send).send('/svc/oauth/grants')).location).toMatch(/^\/svc\/login\?/);
  });

  it('is stored in one object per user, for the newest grants of each client, until it expires', async () => {
    await rows(`CREATE USER rita PASSWORD '${PASSWORD}'`);
    const browser = await visitor('rita');
    const client = await newClient();
    const first = await signIn(client, browser);
    const userId = first.access_token.split(':')[0] as string;
    const object = env.OAUTH_STORE.get(env.OAUTH_STORE.idFromName(`-:user:${userId}`));
    for (let i = 0; i < MAX_GRANTS; i++) await allow(browser, await asking(client, verifierOf()));
    const keys = await runInDurableObject(object, async (_object, state) => [...(await state.storage.list()).keys()]);
    expect([keys.filter((key) => key.startsWith('grant:')).length, keys.filter((key) => key.startsWith('token:')).length]).toEqual([MAX_GRANTS, 0]);
    expect(await principalOf(first.access_token)).toEqual(INVALID);
    // tokens and secrets are stored as digests
    const kept = await runInDurableObject(object, async (_object, state) => JSON.stringify([...(await state.storage.list())]));
    expect(kept).not.toContain(first.refresh_token.split(':')[2]);
    await runInDurableObject(object, async (_object, state) => {
      for (const [key, record] of await state.storage.list<object>()) await state.storage.put(key, { ...record, expires: Date.now() - 1 });
    });
    expect((await browser.send('/svc/oauth/grants')).text).toContain('No program has access');
    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await runInDurableObject(object, async (_object, state) => [(await state.storage.list()).size, await state.storage.getAlarm()])).toEqual([0, null]);
  });
});

describe('settings', () => {
  /** The service with other settings. */
  const withSettings =
    (settings: Readonly<Record<string, string>>, base = BASE) =>
    (path: string, init: RequestInit = {}): Promise<Response> =>
      own(settings).then((its) => worker.fetch(new Request(base + path, { redirect: 'manual', ...init }) as never, its, createExecutionContext()));
  const made = new Map<string, Env>();
  const own = async (settings: Readonly<Record<string, string>>): Promise<Env> => {
    const key = JSON.stringify(settings);
    const its = made.get(key) ?? { ...env, ...settings };
    made.set(key, its);
    return its;
  };
  const CLIENT = {
    MCP_OAUTH_DCR_ENABLED: 'false',
    MCP_OAUTH_CLIENT_ID: 'desk-client',
    MCP_OAUTH_CLIENT_SECRET: 'a-secret-of-the-desk',
    MCP_OAUTH_REDIRECT_URIS: CALLBACK,
  };

  it('no client registers if MCP_OAUTH_DCR_ENABLED is false', async () => {
    const at = withSettings(CLIENT);
    const metadata = (await (await at('/.well-known/oauth-authorization-server')).json()) as object;
    expect(metadata).not.toHaveProperty('registration_endpoint');
    const refused = await at('/svc/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [CALLBACK] }),
    });
    expect([refused.status, await refused.json()]).toEqual([404, expect.not.objectContaining({ client_id: expect.anything() })]);
  });

  it('the client that they name gets its tokens with its secret', async () => {
    const at = withSettings(CLIENT);
    const browser = new Visitor(at);
    await browser.logIn('olive', PASSWORD);
    const verifier = verifierOf();
    const landed = await allow(browser, await asking('desk-client', verifier));
    const ask = async (fields: Fields, headers: Readonly<Record<string, string>> = {}) => {
      const body = new URLSearchParams(given(fields)).toString();
      const response = await at('/svc/oauth/token', { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body });
      return { status: response.status, json: (await response.json()) as Record<string, string> };
    };
    const fields = exchange('desk-client', landed.searchParams.get('code') as string, verifier);
    const basic = { authorization: `Basic ${btoa('desk-client:a-secret-of-the-desk')}` };
    for (const wrong of [{}, { client_secret: 'wrong' }])
      expect(await ask({ ...fields, ...wrong })).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
    const first = await ask({ ...fields, client_id: undefined }, basic);
    expect(first).toMatchObject({ status: 200, json: { scope: 'read' } });
    const again = { grant_type: 'refresh_token', client_id: 'desk-client', refresh_token: first.json.refresh_token };
    expect(await ask(again)).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
    expect(await ask({ ...again, client_secret: 'a-secret-of-the-desk' })).toMatchObject({ status: 200 });
    for (const redirect_uri of ['https://evil.example/callback', `${CALLBACK}/other`])
      expect(await browser.send(await asking('desk-client', verifier, { redirect_uri }))).toMatchObject({ status: 400, location: null });
  });

  it('with PUBLIC_URL OAuth answers only on its host; without it only on loopback', async () => {
    const PUBLIC = { PUBLIC_URL: 'https://svc.example' };
    const here = await withSettings(PUBLIC, 'https://svc.example')('/.well-known/oauth-protected-resource/svc/api/mcp');
    expect([here.status, await here.json()]).toEqual([200, expect.objectContaining({ resource: 'https://svc.example/svc/api/mcp' })]);
    for (const path of [
      '/.well-known/oauth-protected-resource/svc/api/mcp',
      '/.well-known/oauth-authorization-server',
      '/svc/oauth/authorize',
      '/svc/oauth/grants',
    ]) {
      const elsewhere = await withSettings(PUBLIC)(path);
      expect([path, elsewhere.status, await elsewhere.json()]).toEqual([path, 421, expect.objectContaining({ code: 'misdirected_request' })]);
    }
    const db = JSON.parse(inject('catalogUrl')) as { url: string };
    const deployed = { CATALOG_URL: JSON.stringify({ ...db, endpoint: 'https://sql.example/sql' }) };
    const nowhere = await withSettings(deployed, 'https://svc.example')('/.well-known/oauth-authorization-server');
    expect([nowhere.status, await nowhere.json()]).toEqual([503, expect.objectContaining({ code: 'not_configured' })]);
  });
});

describe('a client ID metadata document', () => {
  it('describes a client that is not registered', async () => {
    const id = 'https://loom.example/client.json';
    const document = { client_id: id, client_name: 'Loom of Example', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' };
    const real = globalThis.fetch;
    const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const url = String(input instanceof Request ? input.url : input);
      if (url === id) return Response.json(document);
      if (url.startsWith('https://')) return new Response('no', { status: 404 });
      return real(input, init);
    });
    try {
      const browser = await visitor();
      const shown = await browser.send(await asking(id, verifierOf()));
      expect([shown.status, shown.text]).toEqual([200, expect.stringMatching(/Loom of Example[\s\S]*published by <strong>loom\.example/)]);
      expect(await principalOf((await signIn(id, browser)).access_token)).toEqual(['olive', 'oauth', 'read']);
      expect(await browser.send(await asking('https://other.example/client.json', verifierOf()))).toMatchObject({ status: 400, location: null });
    } finally {
      spy.mockRestore();
    }
  });
});
