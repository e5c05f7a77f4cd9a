/** JWTs in the Workers runtime: its cryptography accepts the same keys and tokens, and values cached by one request work in the next. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import worker from 'built-worker';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';

const ALGORITHMS = ['RS256', 'PS384', 'ES256', 'EdDSA'] as const;
type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
const pairs = new Map<string, Pair>();
const JWKS_URL = 'https://id.example/jwks.json';

/** A separate deployment: bindings of the test's database and these variables. */
let settings: typeof env;
/** The log of the service. */
const lines: string[] = [];
const contexts: ExecutionContext[] = [];

/** Waits for the background work of all requests so far: a request collects lines of the audit for a third of a second. */
async function settled(): Promise<void> {
  await Promise.all(contexts.splice(0).map((context) => waitOnExecutionContext(context)));
}

async function send(headers: Record<string, string>, sql = 'SELECT svc_username() AS me', deployment = settings) {
  const context = createExecutionContext();
  const request = new Request('http://127.0.0.1:8787/svc/api/query/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ontology_name: '', query: sql }),
  });
  const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], deployment, context);
  const json = (await response.json()) as { data: unknown };
  contexts.push(context);
  return { status: response.status, data: json.data };
}

const token = (alg: string, header: Record<string, unknown> = {}, claims: Record<string, unknown> = {}, key = pairs.get(alg)?.privateKey): Promise<string> =>
  new SignJWT({ email: 'joan', ...claims })
    .setProtectedHeader({ alg, ...header })
    .setExpirationTime('5m')
    .sign(key as CryptoKey);

/** A private key of the algorithm that is not its tenant's. Making an RSA key takes a second, so it is that of the other tenant with one. */
async function strangersKey(alg: (typeof ALGORITHMS)[number]): Promise<CryptoKey> {
  const other = alg === 'RS256' ? 'PS384' : alg === 'PS384' ? 'RS256' : undefined;
  if (other === undefined) return (await generateKeyPair(alg)).privateKey;
  return (await importJWK(await exportJWK((pairs.get(other) as Pair).privateKey), alg)) as CryptoKey;
}

beforeAll(async () => {
  vi.spyOn(console, 'log').mockImplementation((line: unknown) => void lines.push(String(line)));
  for (const alg of ALGORITHMS) pairs.set(alg, await generateKeyPair(alg, { extractable: true }));
  const variables: Record<string, string> = { ENABLE_TOKEN: 'true', JWT_WEB_JWKS_URL: JWKS_URL, JWT_WEB_ALGORITHM: ALGORITHMS.join(','), JWT_BAD_KEY: 'hush' };
  for (const [alg, { publicKey }] of pairs) {
    variables[`JWT_${alg.toUpperCase()}_KEY`] = (await exportSPKI(publicKey)).trim().replaceAll('\n', '\\n');
    variables[`JWT_${alg.toUpperCase()}_ALGORITHM`] = alg;
    variables[`JWT_JWK_${alg.toUpperCase()}_KEY`] = JSON.stringify(await exportJWK(publicKey));
    variables[`JWT_JWK_${alg.toUpperCase()}_ALGORITHM`] = alg;
  }
  settings = { ...env, ...variables };
  const made = await send({ 'x-api-key': inject('adminToken') }, 'CREATE USER joan');
  expect(made.status, JSON.stringify(made)).toBe(200);
});

afterAll(settled);

describe('JWTs in workerd', () => {
  it.each(ALGORITHMS)('are valid with %s, from PEM and from JWK, repeatedly', async (alg) => {
    const stranger = await token(alg, {}, {}, await strangersKey(alg));
    for (const tenant of [alg, `jwk-${alg}`]) {
      for (let i = 0; i < 3; i++)
        expect(await send({ 'x-jwt-token': await token(alg), 'x-jwt-tenant-id': tenant })).toEqual({ status: 200, data: [{ me: 'joan' }] });
      expect(await send({ 'x-jwt-token': stranger, 'x-jwt-tenant-id': tenant })).toEqual({ status: 401, data: 'Invalid token' });
    }
  });

  it('are valid with keys of a URL, fetched once', async () => {
    const keys = await Promise.all([...pairs].map(async ([alg, { publicKey }]) => ({ ...(await exportJWK(publicKey)), kid: alg, alg, use: 'sig' })));
    const real = globalThis.fetch;
    const fetched = vi
      .spyOn(globalThis, 'fetch')
      .mockImplementation((input, init) => (String(input) === JWKS_URL ? Promise.resolve(Response.json({ keys })) : real(input, init)));
    try {
      const sent = await Promise.all(ALGORITHMS.map(async (alg) => send({ 'x-jwt-token': await token(alg, { kid: alg }), 'x-jwt-tenant-id': 'web' })));
      expect(sent).toEqual(ALGORITHMS.map(() => ({ status: 200, data: [{ me: 'joan' }] })));
      expect(await send({ 'x-jwt-token': await token('RS256', { kid: 'other' }), 'x-jwt-tenant-id': 'web' })).toEqual({ status: 401, data: 'Invalid token' });
      expect(fetched.mock.calls.filter(([input]) => String(input) === JWKS_URL).length).toBe(1);
    } finally {
      fetched.mockRestore();
    }
  });

  it('are refused with the messages of the specification', async () => {
    const rs256 = { 'x-jwt-tenant-id': 'rs256' };
    for (const [headers, message] of [
      [{ ...rs256, 'x-jwt-token': await token('RS256', {}, { email: 'nobody' }) }, 'User not found'],
      [
        {
          ...rs256,
          'x-jwt-token': await new SignJWT({ email: 'joan' })
            .setProtectedHeader({ alg: 'RS256' })
            .setExpirationTime(1)
            .sign((pairs.get('RS256') as Pair).privateKey),
        },
        'Token has expired',
      ],
      [{ ...rs256, 'x-jwt-token': await token('RS256', {}, { email: 7 }) }, 'Token validation failed'],
      [{ ...rs256, 'x-jwt-token': 'x' }, 'Invalid token'],
      [{ 'x-jwt-tenant-id': 'bad', 'x-jwt-token': await token('RS256') }, 'Invalid key format'],
      [{ 'x-jwt-token': await token('RS256') }, 'Tenant configuration not found'],
    ] as const)
      expect(await send(headers)).toEqual({ status: 401, data: message });
  });

  it('cause one log line for each invalid setting', async () => {
    await settled();
    const said = lines.filter((line) => line.includes('"event":"setting_'));
    expect(said.map((line) => JSON.parse(line).variable)).toEqual(['JWT_BAD_KEY', 'JWT_USE_TENANT_USER']);
    expect(lines.join()).not.toContain('hush');
  });

  it('and an invalid ADMIN_TOKEN is ignored, and logged once', async () => {
    await settled();
    lines.length = 0;
    const other = { ...env, ADMIN_TOKEN: 'tk_adminadminadminadminadminadmin' };
    for (let i = 0; i < 2; i++) expect((await send({ 'x-api-key': other.ADMIN_TOKEN }, 'SELECT 1', other)).status).toBe(401);
    await settled();
    expect(lines.filter((line) => line.includes('ADMIN_TOKEN')).length).toBe(1);
    expect(lines.join()).not.toContain(other.ADMIN_TOKEN);
  });
});
