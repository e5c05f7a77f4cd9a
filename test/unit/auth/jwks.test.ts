/** Keys by URL: how often they are fetched, how old they may be, and the answers that a provider may give. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COOL_DOWN_MS, MAX_AGE_MS, REFRESH_MS } from '../../../src/auth/jwks.ts';
import { verifyJwt } from '../../../src/auth/jwt.ts';
import { readConfig } from '../../../src/config.ts';
import { ec, jwk, jws, type KeyPair, rsa } from './by-hand.ts';

const first = rsa();
const second = rsa();
const stranger = rsa();

/** A key server with a settable answer. */
let hits = 0;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const server = createServer((request, response) => {
  hits++;
  answer(request, response);
});
let url = '';
beforeEach(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
  hits = 0;
});
afterEach(() => {
  server.closeAllConnections();
  return new Promise<void>((done) => server.close(() => done()));
});

const publish = (...keys: Record<string, unknown>[]): void => {
  answer = (_, response) => response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
};
const key = (pair: KeyPair, kid: string | undefined, more: Record<string, unknown> = {}) => ({
  ...jwk(pair),
  use: 'sig',
  alg: 'RS256',
  ...(kid === undefined ? {} : { kid }),
  ...more,
});

/** A service with keys of the server, and its own clock. */
function service(env: Record<string, string> = {}) {
  const { jwt } = readConfig({ ENABLE_TOKEN: 'true', JWT_DEFAULT_JWKS_URL: url, ...env });
  const clock = { at: Date.UTC(2031, 0, 1) };
  const lines: Record<string, unknown>[] = [];
  const background: Promise<unknown>[] = [];
  const options = {
    now: () => clock.at,
    waitUntil: (work: Promise<unknown>) => void background.push(work),
    log: (line: Record<string, unknown>) => void lines.push(line),
  };
  /** `ok`, or the code of the refusal. */
  const verifiedBy = (pair: KeyPair, header: Record<string, unknown> = {}): Promise<string> =>
    verifyJwt(jws({ alg: 'RS256', ...header }, { email: 'ann', exp: clock.at / 1000 + 600 }, pair), null, jwt, options).then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
  return { clock, lines, background, verifiedBy };
}

describe('keys by URL', () => {
  it('are fetched once for all requests', async () => {
    publish(key(first, 'a'), key(second, 'b'));
    const { verifiedBy } = service();
    expect(await verifiedBy(first, { kid: 'a' })).toBe('ok');
    for (let i = 0; i < 20; i++) expect(await verifiedBy(second, { kid: 'b' })).toBe('ok');
    expect(hits).toBe(1);
  });

  it('are fetched once for simultaneous requests', async () => {
    answer = (_, response) => void setTimeout(() => response.end(JSON.stringify({ keys: [key(first, 'a')] })), 100);
    const { verifiedBy } = service();
    expect(await Promise.all(Array.from({ length: 20 }, () => verifiedBy(first, { kid: 'a' })))).toEqual(Array(20).fill('ok'));
    expect(hits).toBe(1);
  });

  it('must have the right id, and verify the signature', async () => {
    publish(key(first, 'a'), key(second, 'b'));
    const { verifiedBy } = service();
    for (const kid of ['a', 'b', 'c', '../a', url, undefined])
      expect(await verifiedBy(stranger, kid === undefined ? {} : { kid }), String(kid)).toBe('invalid_token');
    expect(await verifiedBy(first, { kid: 'b' })).toBe('invalid_token');
    expect(await verifiedBy(first, { kid: 'a', jku: 'http://127.0.0.1:1/', jwk: jwk(stranger) })).toBe('ok');
    // for a token without kid each key is tried
    for (const pair of [first, second]) expect(await verifiedBy(pair)).toBe('ok');
  });

  it('are fetched for an unknown kid, with a minimal interval', async () => {
    publish(key(first, 'a'));
    const { verifiedBy, clock } = service();
    expect(await verifiedBy(first, { kid: 'a' })).toBe('ok');
    publish(key(first, 'a'), key(second, 'b'));
    for (let i = 0; i < 10; i++) expect(await verifiedBy(second, { kid: 'b' }), 'just fetched').toBe('invalid_token');
    expect(hits).toBe(1);
    clock.at += COOL_DOWN_MS;
    expect(await verifiedBy(second, { kid: 'b' })).toBe('ok');
    for (let i = 0; i < 10; i++) expect(await verifiedBy(stranger, { kid: `made up ${i}` })).toBe('invalid_token');
    expect(hits).toBe(2);
  });

  it('are fetched again in the background, so that a withdrawn key ends', async () => {
    publish(key(first, 'a'));
    const { verifiedBy, clock, background } = service();
    expect(await verifiedBy(first, { kid: 'a' })).toBe('ok');
    publish(key(second, 'b'));
    clock.at += REFRESH_MS - 1;
    expect(await verifiedBy(first, { kid: 'a' })).toBe('ok');
    expect(background.length).toBe(0);
    clock.at += 1;
    expect(await verifiedBy(first, { kid: 'a' }), 'answered at once').toBe('ok');
    await Promise.all(background);
    // a token that was verified recently is not checked again for a minute; its key is fetched once more
    clock.at += 60_000;
    expect([await verifiedBy(first, { kid: 'a' }), await verifiedBy(second, { kid: 'b' }), hits]).toEqual(['invalid_token', 'ok', 3]);
  });

  it('are kept while the provider cannot be reached, for a limited time', async () => {
    publish(key(first, 'a'));
    const { verifiedBy, clock, lines, background } = service();
    expect(await verifiedBy(first, { kid: 'a' })).toBe('ok');
    answer = (_, response) => response.writeHead(500).end('hush');
    clock.at += MAX_AGE_MS - 1;
    expect(await verifiedBy(first, { kid: 'a' })).toBe('ok');
    await Promise.all(background);
    expect(lines).toEqual([{ level: 'error', event: 'jwks_unavailable', variable: 'JWT_DEFAULT_JWKS_URL', message: 'JWT_DEFAULT_JWKS_URL: it answered 500' }]);
    clock.at += COOL_DOWN_MS;
    expect(await verifiedBy(first, { kid: 'a' })).toBe('could_not_parse_public_key');
    const before = hits;
    for (let i = 0; i < 10; i++) expect(await verifiedBy(first, { kid: 'a' })).toBe('could_not_parse_public_key');
    expect(hits, 'a failing provider is not called again').toBe(before);
    publish(key(first, 'a'));
    clock.at += COOL_DOWN_MS;
    expect(await verifiedBy(first, { kid: 'a' })).toBe('ok');
  });

  it('that are invalid, or do not fit, are skipped', async () => {
    const short = rsa(1024);
    publish(
      { kty: 'oct', k: 'c2VjcmV0', kid: 's', alg: 'HS256' },
      { kty: 'RSA', kid: 'broken' },
      key(short, 'short'),
      key(second, 'enc', { use: 'enc' }),
      key(second, 'ops', { key_ops: ['encrypt'] }),
      key(second, 'other', { alg: 'PS256' }),
      { ...jwk(ec()), kid: 'ec' },
      { ...second.privateKey.export({ format: 'jwk' }), kid: 'private' } as Record<string, unknown>,
      key(first, 'a', { kid: 7 }),
      key(first, 'a'),
    );
    const { verifiedBy } = service();
    for (const kid of ['s', 'broken', 'enc', 'ops', 'other', 'ec']) expect(await verifiedBy(second, { kid }), kid).toBe('invalid_token');
    expect(await verifiedBy(short, { kid: 'short' })).toBe('invalid_token');
    // the public half of a private key that a provider publishes still verifies
    expect(await verifiedBy(second, { kid: 'private' })).toBe('ok');
    expect(await verifiedBy(first, { kid: 'a' })).toBe('ok');
  });

  it.each([
    ['it answered 404', (response: ServerResponse) => response.writeHead(404).end()],
    ['it answered 302', (response: ServerResponse) => response.writeHead(302, { location: url.replace('jwks.json', 'elsewhere') }).end()],
    ['its answer is not JSON', (response: ServerResponse) => response.end('<html>hush</html>')],
    ['its answer is not a key set', (response: ServerResponse) => response.end('{"keys":{}}')],
    ['its answer is not a key set', (response: ServerResponse) => response.end('null')],
    ['it has no key that fits the algorithms of the tenant', (response: ServerResponse) => response.end('{"keys":[null,1,{}]}')],
    [
      'its answer is larger than 256 KiB',
      (response: ServerResponse) => response.end(JSON.stringify({ keys: [{ ...key(first, 'a'), x: 'x'.repeat(300_000) }] })),
    ],
    ['it cannot be reached', (response: ServerResponse) => response.destroy()],
  ])('are empty if %s', async (message, respond) => {
    answer = (_, response) => void respond(response);
    const { verifiedBy, lines } = service();
    expect(await verifiedBy(first, { kid: 'a' })).toBe('could_not_parse_public_key');
    expect([hits, lines.map((line) => line.message)]).toEqual([1, [`JWT_DEFAULT_JWKS_URL: ${message}`]]);
  });
});
