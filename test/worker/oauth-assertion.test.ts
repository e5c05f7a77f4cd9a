/**
 * Clients that sign (`private_key_jwt`, RFC 7523): the metadata offers it, and a client uses it by a client ID metadata document
 * with keys.
 */
/// <reference types="@cloudflare/vitest-pool-workers/types" />
import { exports } from 'cloudflare:workers';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { hidden, Visitor } from '../integration/support/visitor.ts';

const BASE = 'http://127.0.0.1:8787';
const TOKEN = `${BASE}/svc/oauth/token`;
const CALLBACK = 'http://127.0.0.1:33418/callback';
const PASSWORD = 'Correct-horse-9!';

const send = (path: string, init: RequestInit = {}): Promise<Response> => exports.default.fetch(new Request(BASE + path, { redirect: 'manual', ...init }));

interface Signer {
  readonly alg: 'ES256' | 'RS256';
  readonly key: CryptoKey;
  readonly jwk: JWK;
}
async function signer(alg: Signer['alg']): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  return { alg, key: privateKey, jwk: { ...(await exportJWK(publicKey)), alg, use: 'sig', kid: crypto.randomUUID() } };
}

let es: Signer;
let rs: Signer;
let stranger: Signer;
beforeAll(async () => {
  [es, rs, stranger] = await Promise.all([signer('ES256'), signer('RS256'), signer('ES256')]);
  const headers = { 'x-api-key': inject('adminToken'), 'content-type': 'application/json' };
  const made = await send('/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query: `CREATE USER quill PASSWORD '${PASSWORD}'` }) });
  expect([made.status, await made.text()]).toEqual([200, expect.any(String)]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Publishes the keys of a client: in its document, or at a separate URL. */
function publish(id: string, keys: readonly JWK[], by: 'jwks' | 'jwks_uri'): void {
  const keysAt = `${id}.keys`;
  const document = {
    client_id: id,
    client_name: 'Signing Loom',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'private_key_jwt',
    ...(by === 'jwks' ? { jwks: { keys } } : { jwks_uri: keysAt }),
  };
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    if (url === id) return Response.json(document);
    if (url === keysAt) return Response.json({ keys });
    return real(input, init);
  });
}

/** An assertion as the client would sign it, with changes. */
async function assertion(id: string, by: Signer, change: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: id, sub: id, aud: BASE, jti: crypto.randomUUID(), iat: now, exp: now + 60, ...change };
  return new SignJWT(claims).setProtectedHeader({ alg: by.alg, kid: by.jwk.kid as string }).sign(by.key);
}

async function fetchToken(fields: Readonly<Record<string, string>>): Promise<{ status: number; json: Record<string, string> }> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await send('/svc/oauth/token', { method: 'POST', headers, body: new URLSearchParams(fields).toString() });
  return { status: response.status, json: (await response.json()) as Record<string, string> };
}

const signed = (client_assertion: string) => ({ client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', client_assertion });

/** Logs in and allows the client. @returns the client's token request, without the parameters that authenticate the client */
async function allowed(id: string): Promise<Record<string, string>> {
  const verifier = crypto.randomUUID() + crypto.randomUUID();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const path = `/svc/oauth/authorize?${new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: CALLBACK,
    code_challenge: Buffer.from(digest).toString('base64url'),
    code_challenge_method: 'S256',
    resource: `${BASE}/svc/api/mcp`,
  })}`;
  const browser = new Visitor(send);
  await browser.logIn('quill', PASSWORD);
  const shown = await browser.send(path);
  const { status, location } = await browser.post(path, { ...hidden(shown.text), decision: 'allow' }, { origin: BASE });
  expect([status, location], shown.text).toEqual([302, expect.stringContaining('code=')]);
  const code = new URL(location as string).searchParams.get('code') as string;
  return { grant_type: 'authorization_code', client_id: id, code, redirect_uri: CALLBACK, code_verifier: verifier };
}

describe('a client that signs', () => {
  it('is offered by the metadata', async () => {
    const metadata = (await (await send('/.well-known/oauth-authorization-server')).json()) as Record<string, unknown>;
    expect(metadata).toMatchObject({
      token_endpoint: TOKEN,
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      token_endpoint_auth_signing_alg_values_supported: ['RS256', 'ES256'],
      client_id_metadata_document_supported: true,
    });
  });

  it.each([
    ['ES256', 'jwks', BASE],
    ['RS256', 'jwks_uri', TOKEN],
  ] as const)('gets tokens and refreshes them by %s, with its keys in %s', async (alg, by, aud) => {
    const id = `https://loom.example/${alg}.json`;
    const own = alg === 'ES256' ? es : rs;
    publish(id, [own.jwk], by);
    const { status, json } = await fetchToken({ ...(await allowed(id)), ...signed(await assertion(id, own, { aud })) });
    expect([status, json]).toEqual([200, expect.objectContaining({ token_type: 'bearer', scope: 'read' })]);
    const headers = { authorization: `Bearer ${json.access_token}`, 'content-type': 'application/json' };
    const called = await send('/svc/api/mcp', { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
    expect([called.status, await called.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
    const refresh = { grant_type: 'refresh_token', client_id: id, refresh_token: json.refresh_token as string };
    expect((await fetchToken(refresh)).status, 'without signing').toBe(401);
    expect((await fetchToken({ ...refresh, ...signed(await assertion(id, own, { aud })) })).status).toBe(200);
  });

  it('gets nothing with an invalid assertion, nor with one that was used', async () => {
    const id = 'https://loom.example/refused.json';
    publish(id, [es.jwk], 'jwks');
    const now = Math.floor(Date.now() / 1000);
    const fields = await allowed(id);
    const refused: [string, Record<string, string>][] = [
      ['none', {}],
      ['of another key', signed(await assertion(id, { ...stranger, jwk: es.jwk }))],
      ['for another server', signed(await assertion(id, es, { aud: 'https://other.example' }))],
      ['of another client', signed(await assertion(id, es, { iss: 'https://other.example/client.json' }))],
      ['about another client', signed(await assertion(id, es, { sub: 'https://other.example/client.json' }))],
      ['expired', signed(await assertion(id, es, { iat: now - 900, exp: now - 600 }))],
      ['for ever', signed(await assertion(id, es, { exp: now + 365 * 86_400 }))],
      ['without an id', signed(await assertion(id, es, { jti: undefined }))],
      ['of another type', { ...signed(await assertion(id, es)), client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' }],
      ['cut', signed((await assertion(id, es)).slice(0, -3))],
    ];
    for (const [name, with_] of refused) {
      const { status, json } = await fetchToken({ ...fields, ...with_ });
      expect([name, status, json.error]).toEqual([name, 401, 'invalid_client']);
    }
    const once = signed(await assertion(id, es));
    const { status, json } = await fetchToken({ ...fields, ...once });
    expect([status, json.error], 'the code is still good').toEqual([200, undefined]);
    const again = await fetchToken({ grant_type: 'refresh_token', client_id: id, refresh_token: json.refresh_token as string, ...once });
    expect([again.status, again.json.error]).toEqual([401, 'invalid_client']);
  });
});
