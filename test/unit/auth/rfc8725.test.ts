/** RFC 8725 (JSON Web Token Best Current Practices) point by point, as docs/security.md lists it: each attack is refused. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { repeatsMember } from '../../../src/auth/jwt.ts';
import { base64url, certificate, derOf, ec, inVariable, jwk, jws, pkcs1, rsa, spki } from './by-hand.ts';
import { realm, SECONDS } from './realm.ts';

const pair = rsa();
const stranger = rsa();
const { verifiedBy, token } = realm(pair);
const good = token();
const [head, body, seal] = good.split('.') as [string, string, string];
const claims = { email: 'ann@corp.example', aud: 'app', iss: 'https://id.example', exp: SECONDS + 300 };

/** Each of them is refused with the code (`invalid_token` by default). */
async function refused(tokens: Readonly<Record<string, string>>, code = 'invalid_token', of = verifiedBy): Promise<void> {
  expect(await verifiedBy(good), 'the right token').toMatchObject({ name: 'ann@corp.example' });
  for (const [what, attack] of Object.entries(tokens)) expect(await of(attack), what).toBe(code);
}

// no request is made for the addresses that a header names
let hits = 0;
const server = createServer((_, response) => {
  hits++;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ keys: [{ ...jwk(stranger), kid: 'k', use: 'sig', alg: 'RS256' }] }));
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
});
afterAll(() => void server.close());

describe('3.1 the algorithm is verified', () => {
  it('`none` is never accepted', async () => {
    const tokens: Record<string, string> = {};
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', ' ']) {
      tokens[`alg ${alg}`] = jws({ alg }, claims, null);
      tokens[`alg ${alg} over a right signature`] = `${base64url({ alg })}.${body}.${seal}`;
    }
    await refused({
      ...tokens,
      'no alg': jws({ typ: 'JWT' }, claims, null),
      'without the last dot': `${base64url({ alg: 'none' })}.${body}`,
      'no signature': `${head}.${body}.`,
    });
  });

  it('only the configured one is, in its exact spelling', async () => {
    const tokens = Object.fromEntries(['RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((alg) => [alg, token({}, { alg })]));
    await refused({
      ...tokens,
      'in small letters': jws({ alg: 'rs256' }, claims, pair, 'RS256'),
      'RS246, which is a name only in settings': jws({ alg: 'RS246' }, claims, pair, 'RS256'),
      'as a list': jws({ alg: ['RS256', 'none'] }, claims, pair, 'RS256'),
      'as an object': jws({ alg: { toString: 'RS256' } }, claims, pair, 'RS256'),
      'ES256 by another key': token({}, { alg: 'ES256' }, ec()),
    });
  });

  it('a public key is never the secret of an HMAC', async () => {
    const n = String(jwk(pair).n);
    const secrets = {
      PEM: spki(pair),
      'PEM without its last newline': spki(pair).trim(),
      'the text of the variable': inVariable(spki(pair)),
      'PKCS#1': pkcs1(pair),
      DER: derOf(pair),
      'base64 of DER': derOf(pair).toString('base64'),
      JWK: JSON.stringify(jwk(pair)),
      modulus: Buffer.from(n, 'base64url'),
      'modulus as text': n,
      'SHA-256 of PEM': createHash('sha256').update(spki(pair)).digest(),
      nothing: '',
      audience: 'app',
    };
    for (const alg of ['HS256', 'HS384', 'HS512'])
      await refused(Object.fromEntries(Object.entries(secrets).map(([what, secret]) => [`${alg} by ${what}`, token({}, { alg }, { secret })])));
    // a tenant whose settings name an HMAC is refused entirely
    const mixed = realm(pair, { JWT_DEFAULT_ALGORITHM: 'RS256,HS256' });
    for (const [what, secret] of Object.entries(secrets))
      expect(await mixed.verifiedBy(token({}, { alg: 'HS256' }, { secret })), what).toBe('could_not_parse_public_key');
    expect(await mixed.verifiedBy(good)).toBe('could_not_parse_public_key');
  });
});

describe('3.2 algorithms are appropriate', () => {
  it('settings accept none that is broken or unknown', async () => {
    for (const algorithm of ['none', 'HS256', 'RSA1_5', 'RS1', 'ES256K', 'dir', 'A128KW']) {
      const of = realm(pair, { JWT_DEFAULT_ALGORITHM: algorithm });
      for (const attack of [good, jws({ alg: algorithm }, claims, null)]) expect(await of.verifiedBy(attack), algorithm).toBe('could_not_parse_public_key');
    }
  });
});

describe('3.3 and 3.4 every signature and its inputs are validated', () => {
  it('no signed part can be changed', async () => {
    const flipped = (part: string, at: number) => `${part.slice(0, at)}${part[at] === 'A' ? 'B' : 'A'}${part.slice(at + 1)}`;
    await refused({
      'another payload': `${head}.${base64url({ ...claims, email: 'ben@corp.example' })}.${seal}`,
      'another header': `${base64url({ alg: 'RS256', typ: 'JWT', kid: 'x' })}.${body}.${seal}`,
      'a letter of the payload': `${head}.${flipped(body, 10)}.${seal}`,
      'a letter of the signature': `${head}.${body}.${flipped(seal, 20)}`,
      'a short signature': `${head}.${body}.${seal.slice(0, -4)}`,
      'a long signature': `${head}.${body}.${seal}AAAA`,
      'a signature of zeros': `${head}.${body}.${Buffer.alloc(256).toString('base64url')}`,
      'a signature of ones': `${head}.${body}.${Buffer.alloc(256, 255).toString('base64url')}`,
      'the signature of another token': `${head}.${body}.${token({ email: 'ben' }).split('.')[2]}`,
      'the key of a stranger': token({}, {}, stranger),
    });
  });

  it('an elliptic-curve signature of zeros, or in another form, is invalid', async () => {
    const curve = ec();
    const of = realm(curve, { JWT_DEFAULT_ALGORITHM: 'ES256' });
    const right = of.token({}, { alg: 'ES256' });
    expect(await of.verifiedBy(right)).toMatchObject({ name: 'ann@corp.example' });
    const input = right.slice(0, right.lastIndexOf('.'));
    const { sign } = await import('node:crypto');
    for (const attack of [Buffer.alloc(64), Buffer.alloc(64, 255), Buffer.alloc(0), sign('sha256', Buffer.from(input), curve.privateKey)])
      expect(await of.verifiedBy(`${input}.${attack.toString('base64url')}`)).toBe('invalid_token');
  });

  it('an unknown critical header, unencoded or compressed payloads and encrypted tokens are not supported, so they are refused', async () => {
    await refused({
      crit: token({}, { crit: ['x-must'], 'x-must': true }),
      'empty crit': token({}, { crit: [] }),
      'crit of what is missing': token({}, { crit: ['exp'] }),
      b64: token({}, { crit: ['b64'], b64: false }),
      'five parts, as of an encrypted token': `${base64url({ alg: 'RSA-OAEP', enc: 'A256GCM', zip: 'DEF' })}.AAAA.AAAA.AAAA.AAAA`,
      'JSON serialisation': JSON.stringify({ payload: body, signatures: [{ protected: head, signature: seal }] }),
    });
  });

  it('a text that is not a token is refused', async () => {
    await refused({
      empty: '',
      words: 'garbage',
      dots: '..',
      'two parts': `${head}.${body}`,
      'four parts': `${good}.${seal}`,
      'two tokens': `${good}, ${good}`,
      'Bearer before it': `Bearer ${good}`,
      'a header that is not JSON': `${base64url('nope')}.${body}.${seal}`,
      'a header that is a list': `${base64url([])}.${body}.${seal}`,
      'a header that is null': `${base64url('null')}.${body}.${seal}`,
      'the claims in the clear': Buffer.from(JSON.stringify(claims)).toString('base64'),
      'an API token': `tk_${'a'.repeat(33)}`,
      'a payload that is not JSON': jws({ alg: 'RS256' }, 'not json', pair),
      'a payload that is a list': jws({ alg: 'RS256' }, ['ann@corp.example'], pair),
      'a payload that is null': jws({ alg: 'RS256' }, 'null', pair),
      'an empty payload': jws({ alg: 'RS256' }, '', pair),
    });
  });

  it('a huge token is not read', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    await refused({
      'a long claim': token({ x: 'x'.repeat(20_000) }),
      'a long header': token({}, { x: 'x'.repeat(20_000) }),
      dots: '.'.repeat(100_000),
      letters: 'A'.repeat(1_000_000),
    });
    expect(await verifiedBy(token({ one: 'that is verified' }))).toMatchObject({ name: 'ann@corp.example' });
    expect(verify).toHaveBeenCalledTimes(1);
    verify.mockRestore();
    const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`;
    expect(await verifiedBy(jws({ alg: 'RS256' }, JSON.stringify(claims).replace('{', `{"x":${deep},`), pair))).toMatchObject({ name: 'ann@corp.example' });
  });
});

describe('3.5 keys have enough entropy', () => {
  it('short RSA keys are refused, and there are no shared secrets', async () => {
    const short = rsa(1024);
    const of = realm(short);
    expect(await of.verifiedBy(of.token())).toBe('could_not_parse_public_key');
    const secret = JSON.stringify({ kty: 'oct', k: Buffer.from('secret').toString('base64url') });
    const shared = realm(pair, { JWT_DEFAULT_KEY: secret, JWT_DEFAULT_ALGORITHM: 'HS256' });
    expect(await shared.verifiedBy(token({}, { alg: 'HS256' }, { secret: 'secret' }))).toBe('could_not_parse_public_key');
  });
});

describe('3.7 text is UTF-8', () => {
  it('and unambiguous: no invalid bytes, no duplicate member', async () => {
    const broken = Buffer.concat([
      Buffer.from('{"email":"ann@corp.example","aud":"app","iss":"https://id.example","exp":'),
      Buffer.from(`${SECONDS + 9},"x":"`),
      Buffer.from([0xff, 0xc0]),
      Buffer.from('"}'),
    ]);
    const input = `${head}.${broken.toString('base64url')}`;
    const { sign } = await import('node:crypto');
    expect(await verifiedBy(`${input}.${sign('sha256', Buffer.from(input), pair.privateKey).toString('base64url')}`)).toBe('invalid_token');

    const twice = JSON.stringify(claims);
    await refused(
      {
        email: jws({ alg: 'RS256' }, twice.replace('{', '{"email":"ben@corp.example",'), pair),
        'written otherwise': jws({ alg: 'RS256' }, twice.replace('}', ',"em\\u0061il":"ben@corp.example"}'), pair),
        exp: jws({ alg: 'RS256' }, twice.replace('{', '{"exp":1,'), pair),
      },
      'token_validation_failed',
    );
    await refused({ 'alg in the header': jws('{"alg":"none","alg":"RS256"}', claims, pair, 'RS256') });
    expect(await verifiedBy(jws({ alg: 'RS256' }, { ...claims, a: { email: 1 }, b: [{ email: 1 }], c: '"email":', 'd"email': 2 }, pair))).toMatchObject({
      name: 'ann@corp.example',
    });
  });

  it.each([
    ['{}', false],
    ['{"a":1,"b":{"a":1},"c":[{"a":1}]}', false],
    ['{"a":"\\"a\\":","b":2}', false],
    ['{"a":1,"a":2}', true],
    ['{"a":{"x":1}, "b":[1,{"y":2}] , "\\u0061" : 3}', true],
    ['{"":1,"":2}', true],
  ])('%s has a member twice: %s', (json, twice) => expect(repeatsMember(json)).toBe(twice));
});

describe('3.8 and 3.9 issuer and audience', () => {
  it('must be ours if they are set', async () => {
    await refused(
      {
        issuer: token({ iss: 'https://evil.example' }),
        'no issuer': token({ iss: undefined }),
        audience: token({ aud: 'other' }),
        'audience only in azp': token({ aud: undefined, azp: 'app', client_id: 'app' }),
      },
      'token_validation_failed',
    );
  });
});

describe('3.10 keys in a token are not trusted', () => {
  it('kid is only compared', async () => {
    const kids = [
      '../../../../dev/null',
      '/dev/null',
      "x' UNION SELECT 'key' --",
      'JWT_DEFAULT_KEY',
      '$(cat /etc/passwd)',
      '__proto__',
      'x'.repeat(10_000),
      url,
      'k',
    ];
    await refused(Object.fromEntries(kids.map((kid) => [kid.slice(0, 30), token({}, { kid }, stranger)])));
    // with one configured key its id does not matter
    for (const kid of kids) expect(await verifiedBy(token({}, { kid })), kid.slice(0, 30)).toMatchObject({ name: 'ann@corp.example' });
    await refused({ 'a list': token({}, { kid: ['k'] }), 'a number': token({}, { kid: 1 }), null: token({}, { kid: null }) });
  });

  it('keys in the header, and URLs of keys, are ignored', async () => {
    const x5c = [certificate(stranger).replace(/-----[^-]+-----|\s/g, '')];
    await refused({
      jwk: token({}, { jwk: jwk(stranger) }, stranger),
      'jwk with kid': token({}, { jwk: { ...jwk(stranger), kid: 'k' }, kid: 'k' }, stranger),
      keys: token({}, { keys: [jwk(stranger)] }, stranger),
      jku: token({}, { jku: url, kid: 'k' }, stranger),
      x5u: token({}, { x5u: url }, stranger),
      x5c: token({}, { x5c }, stranger),
      'an issuer that has the keys': token({ iss: url.replace('/jwks.json', '') }, { kid: 'k' }, stranger),
    });
    // nor do they affect a valid token
    expect(await verifiedBy(token({}, { jwk: jwk(stranger), jku: url, x5u: url, x5c, kid: 'k' }))).toMatchObject({ name: 'ann@corp.example' });
    expect(hits).toBe(0);
  });
});

describe('3.11 and 3.12 tokens of other kinds are refused', () => {
  it('by their type', async () => {
    for (const typ of ['JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'application/jwt', undefined])
      expect(await verifiedBy(token({}, { typ })), typ).toMatchObject({ name: 'ann@corp.example' });
    const kinds = ['logout+jwt', 'secevent+jwt', 'dpop+jwt', 'oauth-authz-req+jwt', 'JOSE', 'token-introspection+jwt', 'kb+jwt', '', 'at+jwt2', 7, null];
    await refused(Object.fromEntries(kinds.map((typ) => [String(typ), token({}, { typ })])), 'token_validation_failed');
  });

  it('by their content: a security event is not a login', async () => {
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    await refused({ 'a logout token': token({ events }) }, 'token_validation_failed');
  });

  it('of another tenant', async () => {
    const keys = { A: rsa(), B: rsa(), C: rsa(), D: rsa() };
    const env = Object.fromEntries(Object.entries(keys).map(([id, key]) => [`JWT_${id}_KEY`, inVariable(spki(key))]));
    const of = realm(pair, { ...env, JWT_A_AUDIENCE: 'app', JWT_USE_TENANT_USER: 'true' });
    for (const [id, key] of Object.entries(keys)) {
      for (const sent of ['A', 'B', 'C', 'D', null]) {
        const found = await of.verifiedBy(of.token({}, {}, key), sent);
        expect(typeof found === 'string' ? found : found.name, `${id} as ${sent}`).toBe(sent === id ? `${id}/ann@corp.example` : 'invalid_token');
      }
      // claims about tenants are ignored
      const lying = of.token({ tenant: 'A', tid: 'A', 'x-jwt-tenant-id': 'A', iss: 'A' }, { tenant: 'A', kid: 'A' }, key);
      if (id !== 'A') expect(await of.verifiedBy(lying, 'A')).toBe('invalid_token');
    }
    for (const sent of ['A,B', 'A, B', 'A;B', 'A\u0000', 'A/', '/A', '../A', 'A.', '*', '$A', '__proto__', 'constructor', 'A_KEY', '', ' A'])
      expect(await of.verifiedBy(of.token({}, {}, keys.A), sent), JSON.stringify(sent)).toBe('tenant_configuration_not_found');
  });
});
