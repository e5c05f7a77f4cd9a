/** Which JWTs are valid, and which user they name (docs/design/credentials.md#json-web-tokens). */
import { describe, expect, it, vi } from 'vitest';
import { verifyJwt } from '../../../src/auth/jwt.ts';
import { readConfig } from '../../../src/config.ts';
import { base64url, ec, ed25519, inVariable, jws, rsa, spki } from './by-hand.ts';
import { NOW, realm, SECONDS } from './realm.ts';

const pair = rsa();
const { verifiedBy, token } = realm(pair);

describe('a token', () => {
  it('that is signed by the key, for our audience, authenticates its user', async () => {
    expect(await verifiedBy(token())).toEqual({
      name: 'ann@corp.example',
      email: 'ann@corp.example',
      tenant: 'DEFAULT',
      claims: { email: 'ann@corp.example', aud: 'app', iss: 'https://id.example' },
    });
  });

  it.each([
    ['an audience list that contains ours', { aud: ['x', 'app'] }],
    ['exp within the leeway', { exp: SECONDS - 29 }],
    ['nbf within the leeway', { nbf: SECONDS + 30 }],
    ['a verified e-mail', { email_verified: true }],
    ['a verified e-mail as a text', { email_verified: 'true' }],
  ])('is valid with %s', async (_what, claims) => expect(await verifiedBy(token(claims))).toMatchObject({ name: 'ann@corp.example' }));

  it.each([
    ['token_has_expired', 'exp past the leeway', { exp: SECONDS - 30 }],
    ['token_validation_failed', 'no exp', { exp: undefined }],
    ['token_validation_failed', 'exp as a text', { exp: String(SECONDS + 300) }],
    ['token_validation_failed', 'nbf past the leeway', { nbf: SECONDS + 31 }],
    ['token_validation_failed', 'nbf as a text', { nbf: 'soon' }],
    ['token_validation_failed', 'iat as a text', { iat: 'then' }],
    ['token_validation_failed', 'another audience', { aud: 'app2' }],
    ['token_validation_failed', 'an empty audience list', { aud: [] }],
    ['token_validation_failed', 'no audience', { aud: undefined }],
    ['token_validation_failed', 'another issuer', { iss: 'https://id.example/' }],
    ['token_validation_failed', 'an issuer list', { iss: ['https://id.example'] }],
    ['token_validation_failed', 'no issuer', { iss: undefined }],
    ['token_validation_failed', 'no e-mail', { email: undefined }],
    [
      'token_validation_failed',
      'the name only in other claims',
      { email: undefined, username: 'ann@corp.example', preferred_username: 'ann@corp.example', upn: 'ann@corp.example' },
    ],
    ['token_validation_failed', 'an empty e-mail', { email: ' ' }],
    ['token_validation_failed', 'a list as e-mail', { email: ['ann@corp.example'] }],
    ['token_validation_failed', 'a zero byte', { email: 'ann@corp.example\u0000' }],
    ['token_validation_failed', 'a newline', { email: 'ann@corp.example\n' }],
    ['token_validation_failed', 'half a character', { email: 'ann\ud800' }],
    ['token_validation_failed', 'an e-mail that is not verified', { email_verified: false }],
    ['token_validation_failed', 'an e-mail that is not verified, as a text', { email_verified: 'false' }],
    ['token_validation_failed', 'an odd email_verified', { email_verified: 0 }],
    ['user_not_found', 'the Kelvin sign for a k', { email: 'fran\u212a@corp.example' }],
    ['user_not_found', 'a name that no user can have', { email: `${'a'.repeat(600)}@corp.example` }],
  ])('is refused as %s with %s', async (code, _what, claims) => expect(await verifiedBy(token(claims))).toBe(code));

  it('is never valid without an end', async () => {
    const claims = `{"email":"ann@corp.example","aud":"app","iss":"https://id.example","exp":1e400}`;
    expect(await verifiedBy(jws({ alg: 'RS256' }, claims, pair))).toBe('token_validation_failed');
  });

  it('needs no audience and issuer without the settings', async () => {
    const { verifiedBy: lenient, token: any } = realm(pair, { JWT_DEFAULT_AUDIENCE: '', JWT_DEFAULT_ISSUER: '' });
    expect(await lenient(any({ aud: undefined, iss: undefined }))).toMatchObject({ name: 'ann@corp.example' });
  });

  it('is valid with each of several algorithms, and with other types of keys', async () => {
    const several = realm(pair, { JWT_DEFAULT_ALGORITHM: 'RS246, PS512' });
    for (const alg of ['RS256', 'PS512']) expect(await several.verifiedBy(several.token({}, { alg }))).toMatchObject({ name: 'ann@corp.example' });
    expect(await several.verifiedBy(several.token({}, { alg: 'RS384' }))).toBe('invalid_token');
    for (const [alg, other] of [
      ['ES256', ec()],
      ['ES384', ec('P-384')],
      ['ES512', ec('P-521')],
      ['EdDSA', ed25519()],
    ] as const) {
      const of = realm(other, { JWT_DEFAULT_ALGORITHM: alg });
      expect(await of.verifiedBy(of.token({}, { alg })), alg).toMatchObject({ name: 'ann@corp.example' });
      expect(
        await of.verifiedBy(of.token({}, { alg }, alg === 'EdDSA' ? ed25519() : alg === 'ES256' ? ec() : alg === 'ES384' ? ec('P-384') : ec('P-521'))),
      ).toBe('invalid_token');
    }
  });

  it('is first checked for its signature', async () => {
    for (const claims of [{ exp: SECONDS - 600 }, { aud: 'x' }, { email: undefined }]) expect(await verifiedBy(token(claims, {}, rsa()))).toBe('invalid_token');
  });
});

describe('a repeated token', () => {
  it('is verified once a minute, and ends when it expires', async () => {
    const { jwt } = readConfig({ ENABLE_TOKEN: 'true', JWT_DEFAULT_KEY: spki(pair), JWT_ACME_KEY: spki(rsa()) });
    const clock = { at: NOW };
    const options = { now: () => clock.at, waitUntil: () => undefined, log: () => undefined };
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const verifiedBy = (text: string, sent: string | null = null) =>
      verifyJwt(text, sent, jwt, options).then(
        ({ name }) => name,
        (error: { code: string }) => error.code,
      );
    const short = token({ exp: SECONDS + 100 });
    for (let i = 0; i < 5; i++) expect(await verifiedBy(short)).toBe('ann@corp.example');
    expect(verify).toHaveBeenCalledTimes(1);
    expect(await verifiedBy(short, 'acme'), 'of another tenant it is another').toBe('invalid_token');
    expect(await verifiedBy(`${short.slice(0, -8)}AAAAAAAA`)).toBe('invalid_token');
    expect(await verifiedBy(short.replace('.', '. '))).toBe('invalid_token');
    verify.mockClear();
    clock.at = NOW + 59_999;
    expect(await verifiedBy(short)).toBe('ann@corp.example');
    expect(verify).toHaveBeenCalledTimes(0);
    clock.at = NOW + 60_000;
    expect(await verifiedBy(short)).toBe('ann@corp.example');
    expect(verify).toHaveBeenCalledTimes(1);
    clock.at = NOW - 1;
    expect(await verifiedBy(short), 'a clock that was set back').toBe('ann@corp.example');
    expect(verify).toHaveBeenCalledTimes(2);
    clock.at = NOW + 100_000;
    expect(await verifiedBy(short)).toBe('ann@corp.example');
    clock.at = NOW + 129_999;
    expect(await verifiedBy(short), 'within the leeway').toBe('ann@corp.example');
    clock.at = NOW + 130_000;
    expect(await verifiedBy(short)).toBe('token_has_expired');
    verify.mockRestore();
  });
});

describe('the user that a token names', () => {
  it('by username, else by preferred_username', async () => {
    const of = realm(pair, { JWT_USE_EMAIL_OR_USER: 'username' });
    expect(await of.verifiedBy(of.token({ username: 'Ann', preferred_username: 'x' }))).toMatchObject({ name: 'Ann', email: 'Ann' });
    expect(await of.verifiedBy(of.token({ preferred_username: 'ann' }))).toMatchObject({ name: 'ann' });
    expect(await of.verifiedBy(of.token({}))).toBe('token_validation_failed');
    expect(await of.verifiedBy(of.token({ username: 7, preferred_username: 'ann' }))).toBe('token_validation_failed');
  });

  it('of a tenant has the tenant before it, as it was sent, and its e-mail is not compared', async () => {
    const acme = rsa();
    const env = { JWT_USE_TENANT_USER: 'True', JWT_BIG_CO_KEY: inVariable(spki(acme)), JWT_ACME_KEY: inVariable(spki(acme)) };
    const of = realm(pair, env);
    const at = (sent: string, email = 'ann') => of.verifiedBy(of.token({ email }, {}, acme), sent);
    expect(await at('big-co')).toMatchObject({ name: 'big-co/ann', email: null, tenant: 'BIG_CO' });
    expect(await at('Big_Co')).toMatchObject({ name: 'Big_Co/ann', email: null, tenant: 'BIG_CO' });
    expect(await at('acme', '../big-co/ann')).toMatchObject({ name: 'acme/../big-co/ann' });
    // the default tenant has no prefix, and must not name another tenant's user
    expect(await of.verifiedBy(of.token({ email: 'ann' }))).toMatchObject({ name: 'ann', email: null, tenant: 'DEFAULT' });
    for (const email of ['acme/ann', 'ACME/ann', 'big-co/ann', 'big_co/x/y', 'default/ann'])
      expect(await of.verifiedBy(of.token({ email })), email).toBe('user_not_found');
    for (const email of ['other/ann', '/ann', 'a b/ann']) expect(await of.verifiedBy(of.token({ email })), email).toMatchObject({ name: email });
  });

  it('has its claims as texts', async () => {
    const given = {
      dept: 'sales',
      level: 7,
      ratio: 0.5,
      staff: true,
      groups: ['a', 'b"c'],
      none: [],
      nothing: null,
      mixed: ['a', 1],
      realm_access: { roles: ['admin'] },
    };
    const payload = JSON.stringify({ email: 'ann', aud: 'app', iss: 'https://id.example', exp: SECONDS + 60, iat: SECONDS, jti: 'j', nonce: 'n', ...given });
    const found = await verifiedBy(jws({ alg: 'RS256' }, payload.replace('{', '{"__proto__":"p","constructor":"c",'), pair));
    expect(typeof found === 'string' ? found : Object.entries(found.claims)).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['email', 'ann'],
      ['aud', 'app'],
      ['iss', 'https://id.example'],
      ['dept', 'sales'],
      ['level', '7'],
      ['ratio', '0.5'],
      ['staff', 'true'],
      ['groups', '["a","b\\"c"]'],
      ['none', '[]'],
    ]);
  });
});

describe('the message of an error', () => {
  const options = { now: () => NOW, waitUntil: () => undefined, log: () => undefined };
  const fault = async (env: Record<string, string>, sent: string | null) => {
    const { jwt } = readConfig({ ENABLE_TOKEN: 'true', ...env });
    return verifyJwt(token(), sent, jwt, options).then(
      () => expect.unreachable(),
      (error: { status: number; code: string; message: string; headers: Record<string, string>; cause?: Error }) => error,
    );
  };

  it('is that of the specification, with the setting only in the log', async () => {
    const env = { JWT_A_KEY: 'hush', JWT_B_KEY: '-----BEGIN PUBLIC KEY-----\\naHVzaA==\\n-----END PUBLIC KEY-----', JWT_C_AUDIENCE: 'app' };
    for (const [sent, message, variable] of [
      ['a', 'Invalid key format', 'JWT_A_KEY'],
      ['b', 'Could not parse public key', 'JWT_B_KEY'],
      ['c', 'Tenant configuration not found', 'JWT_C_KEY'],
      ['d', 'Tenant configuration not found', undefined],
      [null, 'Tenant configuration not found', undefined],
    ] as const) {
      const error = await fault(env, sent);
      expect([error.status, error.message, error.code]).toEqual([401, message, message.toLowerCase().replaceAll(' ', '_')]);
      expect(error.headers['www-authenticate']).toMatch(/^Bearer /);
      expect(error.cause?.message.split(':')[0]).toBe(variable);
      expect(JSON.stringify(error) + error.cause?.message).not.toMatch(/hush|aHVzaA/);
    }
  });

  it('is one of three for tokens', async () => {
    const messages: string[] = [];
    const { jwt } = readConfig({ ENABLE_TOKEN: 'true', JWT_DEFAULT_KEY: spki(pair) });
    for (const bad of [token({ exp: 1 }), `${token()}x.`, token({ exp: undefined }), base64url('x')]) {
      await verifyJwt(bad, null, jwt, options).catch((error: Error) => messages.push(error.message));
    }
    expect(messages).toEqual(['Token has expired', 'Invalid token', 'Token validation failed', 'Invalid token']);
  });
});
