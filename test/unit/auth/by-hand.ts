/** Keys and JWTs made with node:crypto, so that the tests do not depend on the library that they test. */
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export const rsa = (bits = 2048): KeyPair => generateKeyPairSync('rsa', { modulusLength: bits });
export const ec = (namedCurve = 'P-256'): KeyPair => generateKeyPairSync('ec', { namedCurve });
export const ed25519 = (): KeyPair => generateKeyPairSync('ed25519');

export const spki = (pair: KeyPair): string => String(pair.publicKey.export({ type: 'spki', format: 'pem' }));
export const pkcs1 = (pair: KeyPair): string => String(pair.publicKey.export({ type: 'pkcs1', format: 'pem' }));
export const jwk = (pair: KeyPair): Record<string, unknown> => ({ ...pair.publicKey.export({ format: 'jwk' }) });
/** The form for a variable: newlines as the two characters backslash and n. */
export const inVariable = (pem: string): string => pem.trim().replaceAll('\n', '\\n');

const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const n = body.length;
  return Buffer.concat([Buffer.from([tag, ...(n < 128 ? [n] : n < 256 ? [0x81, n] : [0x82, n >> 8, n & 255])]), body]);
};

/** A self-signed X.509 certificate (RFC 5280) over an RSA key. */
export function certificate(pair: KeyPair): string {
  const algorithm = der(0x30, Buffer.from('06092a864886f70d01010b0500', 'hex'));
  const name = der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('id.example')))));
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    pair.publicKey.export({ type: 'spki', format: 'der' }),
  );
  const whole = der(0x30, body, algorithm, der(0x03, Buffer.from([0]), sign('sha256', body, pair.privateKey)));
  return `-----BEGIN CERTIFICATE-----\n${whole
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n')}\n-----END CERTIFICATE-----\n`;
}

export const base64url = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** The signer: a key pair by the header's `alg`, or a secret by HMAC. */
export type Signer = KeyPair | { readonly secret: string | Uint8Array };

/** A compact JWS; header and payload are texts (sent as they are) or values. */
export function jws(header: unknown, payload: unknown, signer: Signer | null, alg = String((header as { alg?: unknown })?.alg ?? 'RS256')): string {
  const input = `${base64url(header)}.${base64url(payload)}`;
  return `${input}.${signer === null ? '' : signature(input, signer, alg).toString('base64url')}`;
}

function signature(input: string, signer: Signer, alg: string): Buffer {
  const hash = `sha${alg.slice(2)}`;
  if ('secret' in signer) return createHmac(hash, signer.secret).update(input).digest();
  const key = signer.privateKey;
  if (/^ES/.test(alg)) return sign(hash, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  if (/^PS/.test(alg)) return sign(hash, Buffer.from(input), { key, padding: 6, saltLength: -1 });
  return sign(/^Ed/.test(alg) ? null : hash, Buffer.from(input), key);
}

/** The DER bytes of a public key. */
export const derOf = (pair: KeyPair): Buffer => createPublicKey(pair.publicKey.export({ type: 'spki', format: 'pem' })).export({ type: 'spki', format: 'der' });
