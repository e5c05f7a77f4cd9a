import { webcrypto } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KeyFault, knownAlgorithm, parseKey } from '../../../src/auth/jwt-keys.ts';
import { certificate, ec, ed25519, inVariable, jwk, pkcs1, rsa, spki } from './by-hand.ts';

const pair = rsa();

/** Whether a parsed key verifies a signature that node:crypto made, by WebCrypto. */
async function verifies(key: CryptoKey, hash = 'SHA-256'): Promise<boolean> {
  const { sign } = await import('node:crypto');
  const data = Buffer.from('data');
  return webcrypto.subtle.verify('RSASSA-PKCS1-v1_5', key as webcrypto.CryptoKey, sign(hash.replace('-', '').toLowerCase(), data, pair.privateKey), data);
}

async function fault(text: string, algorithms = ['RS256']): Promise<string> {
  try {
    await parseKey(text, 'JWT_X_KEY', algorithms);
  } catch (error) {
    expect(error).toBeInstanceOf(KeyFault);
    expect((error as KeyFault).message).toMatch(/^JWT_X_KEY: /);
    return (error as KeyFault).code;
  }
  return 'none';
}

describe('a key', () => {
  it.each([
    ['SPKI', spki(pair)],
    ['PKCS#1', pkcs1(pair)],
    ['an X.509 certificate', certificate(pair)],
    ['JWK', JSON.stringify(jwk(pair))],
    ['JWK that says what it is for', JSON.stringify({ ...jwk(pair), alg: 'RS256', use: 'sig', key_ops: ['verify'], kid: 'k' })],
    ['newlines as backslash and n', inVariable(spki(pair))],
    ['newlines as backslash, r, backslash, n', spki(pair).trim().replaceAll('\n', '\\r\\n')],
    ['newlines of Windows', spki(pair).replaceAll('\n', '\r\n')],
    ['all in one line', spki(pair).replaceAll('\n', ' ')],
    ['text around it', `subject=x\n${spki(pair)}\nthe end`],
    ['PKCS#1 in a variable', inVariable(pkcs1(pair))],
    ['a certificate in a variable', inVariable(certificate(pair))],
  ])('is read from %s', async (_what, text) => {
    const key = (await parseKey(text, 'JWT_X_KEY', ['RS256'])).get('RS256') as CryptoKey;
    expect(key.type).toBe('public');
    expect(await verifies(key)).toBe(true);
  });

  it('is imported for each algorithm separately', async () => {
    const keys = await parseKey(spki(pair), 'JWT_X_KEY', ['RS256', 'RS384', 'PS256']);
    expect(await verifies(keys.get('RS384') as CryptoKey, 'SHA-384')).toBe(true);
    expect(await verifies(keys.get('RS384') as CryptoKey, 'SHA-256')).toBe(false);
    expect((keys.get('PS256') as CryptoKey).algorithm.name).toBe('RSA-PSS');
    for (const [alg, other] of [
      ['ES256', ec()],
      ['ES384', ec('P-384')],
      ['ES512', ec('P-521')],
      ['EdDSA', ed25519()],
      ['Ed25519', ed25519()],
    ] as const) {
      for (const text of [spki(other), JSON.stringify(jwk(other))]) expect((await parseKey(text, 'JWT_X_KEY', [alg])).size, alg).toBe(1);
    }
  });

  it('that is neither PEM nor JWK has an invalid format', async () => {
    const pem = spki(pair);
    for (const text of [
      '',
      'words',
      pem.replace(/-----[^-]+-----|\s/g, ''),
      pem.replace(/-----END[^-]+-----/, ''),
      pem.replace(/-----BEGIN[^-]+-----/, ''),
      '{',
      '{}',
      '{"keys":[]}',
      '[]',
    ])
      expect(await fault(text), text.slice(0, 20)).toBe('invalid_key_format');
    expect(await fault(pem.replace('END PUBLIC', 'END RSA PUBLIC'))).toBe('invalid_key_format');
  });

  it('that cannot be imported, is short, secret or of another type is not parsed', async () => {
    const pem = spki(pair);
    const privatePem = String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const privateJwk = JSON.stringify(pair.privateKey.export({ format: 'jwk' }));
    const of = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;
    for (const text of [
      of('PUBLIC KEY', ''),
      of('PUBLIC KEY', btoa('only words')),
      of('PUBLIC KEY', 'A'),
      of('RSA PUBLIC KEY', btoa('only words')),
      of('CERTIFICATE', btoa('only words')),
      of('EC PARAMETERS', 'BggqhkjOPQMBBw=='),
      pem.replace(/\n.{40}/, '\n'),
      pem.replaceAll('PUBLIC', 'RSA PUBLIC'),
      privatePem,
      privateJwk,
      spki(rsa(1024)),
      JSON.stringify(jwk(rsa(1024))),
      spki(ec()),
      JSON.stringify(jwk(ec())),
      JSON.stringify({ kty: 'oct', k: 'c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0' }),
      JSON.stringify({ ...jwk(pair), use: 'enc' }),
      JSON.stringify({ ...jwk(pair), alg: 'PS256' }),
      JSON.stringify({ ...jwk(pair), key_ops: ['encrypt'] }),
      JSON.stringify({ kty: 'RSA' }),
    ])
      expect(await fault(text), text.slice(0, 60)).toBe('could_not_parse_public_key');
    expect(await fault(pem, ['ES256'])).toBe('could_not_parse_public_key');
    expect(await fault(pem, ['RS256', 'ES256'])).toBe('could_not_parse_public_key');
    expect(await fault(spki(ec('P-384')), ['ES256'])).toBe('could_not_parse_public_key');
  });

  it('is not in its error message', async () => {
    const secret = String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    for (const text of ['hush, hush', '{"kty": hush', secret]) {
      const error = await parseKey(text, 'JWT_X_KEY', ['RS256']).catch((e: unknown) => e as KeyFault);
      const message = `${(error as KeyFault).message} ${(error as KeyFault).stack} ${String((error as KeyFault).cause ?? '')}`;
      expect(message).not.toContain('hush');
      expect(message).not.toContain(secret.split('\n')[1]);
    }
  });
});

describe('an algorithm', () => {
  it('must use a public key', () => {
    expect(['RS256', 'rs256', 'ps512', 'eddsa', 'es384'].map(knownAlgorithm)).toEqual(['RS256', 'RS256', 'PS512', 'EdDSA', 'ES384']);
    for (const name of ['none', 'None', 'HS256', 'hs512', 'RS1', 'RS999', 'ES256K', 'RSA1_5', 'dir', '', 'constructor', '__proto__'])
      expect(knownAlgorithm(name), name).toBeUndefined();
  });
});
