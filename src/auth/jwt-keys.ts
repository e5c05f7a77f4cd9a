/**
 * Public keys of identity providers. A PEM (SPKI, PKCS#1 or an X.509 certificate) or a JWK is imported once for each
 * configured algorithm, and each imported key works with its algorithm only (RFC 8725, 3.1 and 3.2). Symmetric algorithms
 * are not supported, so a public key can never be used as the secret of an HMAC.
 */
import { importJWK, importSPKI, importX509, type JWK } from 'jose';

/** The accepted algorithms and their types of keys. Neither `none` nor an HMAC is accepted. */
const KEY_TYPES: Readonly<Record<string, { readonly kty: string; readonly crv?: string }>> = {
  RS256: { kty: 'RSA' },
  RS384: { kty: 'RSA' },
  RS512: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  PS384: { kty: 'RSA' },
  PS512: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
};

/** Shorter RSA keys are refused (RFC 7518, 3.3). */
const MIN_RSA_BITS = 2048;

/** Why the tokens of a tenant cannot be verified. `code` is the error code of the answer, `variable` the setting that is wrong. The message is logged and contains no values. */
export class KeyFault extends Error {
  readonly code: 'invalid_key_format' | 'could_not_parse_public_key' | 'tenant_configuration_not_found';
  readonly variable: string;
  constructor(code: KeyFault['code'], variable: string, message: string) {
    super(`${variable}: ${message}`);
    this.name = 'KeyFault';
    this.code = code;
    this.variable = variable;
  }
}

/** Finds an accepted algorithm by name, ignoring case. @returns its canonical name; undefined if it is not accepted */
export const knownAlgorithm = (name: string): string | undefined => Object.keys(KEY_TYPES).find((known) => known.toLowerCase() === name.toLowerCase());

/** True if the parameters of a JWK allow it to verify signatures with the algorithm (RFC 7517, 4). */
export function fits(jwk: JWK, algorithm: string): boolean {
  const type = KEY_TYPES[algorithm];
  return (
    type !== undefined &&
    jwk.kty === type.kty &&
    (type.crv === undefined || jwk.crv === type.crv) &&
    (jwk.alg === undefined || jwk.alg === algorithm) &&
    (jwk.use === undefined || jwk.use === 'sig') &&
    (jwk.key_ops === undefined || (Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify')))
  );
}

/** Imports the public key of a JWK for one algorithm; undefined if it is invalid or too short. */
export async function publicKey(jwk: JWK, algorithm: string): Promise<CryptoKey | undefined> {
  const { kty, n, e, crv, x, y } = jwk;
  try {
    const key = await importJWK({ kty, n, e, crv, x, y } as JWK, algorithm);
    return key instanceof Uint8Array || key.type !== 'public' ? undefined : longEnough(key as CryptoKey);
  } catch {
    return undefined;
  }
}

const longEnough = (key: CryptoKey): CryptoKey | undefined => {
  const { modulusLength } = key.algorithm as { modulusLength?: number };
  return modulusLength !== undefined && modulusLength < MIN_RSA_BITS ? undefined : key;
};

/**
 * Parses the key in a variable and imports it for each algorithm. The two characters `\n` mean a newline (docs/design/credentials.md#keys-and-algorithms).
 * @throws KeyFault `invalid_key_format` if it is neither PEM nor JWK; `could_not_parse_public_key` if it cannot be imported, is too short, or does not fit one
 *   of the algorithms
 */
export async function parseKey(text: string, variable: string, algorithms: readonly string[]): Promise<ReadonlyMap<string, CryptoKey>> {
  const plain = text.replace(/\\r/g, '').replace(/\\n/g, '\n').trim();
  const importKey = plain.startsWith('{') ? ofJwk(plain, variable) : ofPem(plain, variable);
  const keys = new Map<string, CryptoKey>();
  for (const algorithm of algorithms) {
    const key = await importKey(algorithm);
    if (key === undefined) throw unusable(variable, `has no public key that fits ${algorithm} (RSA keys have at least ${MIN_RSA_BITS} bits)`);
    keys.set(algorithm, key);
  }
  return keys;
}

type Import = (algorithm: string) => Promise<CryptoKey | undefined>;

const unusable = (variable: string, message: string): KeyFault => new KeyFault('could_not_parse_public_key', variable, message);
const malformed = (variable: string): KeyFault =>
  new KeyFault('invalid_key_format', variable, 'is neither a PEM with header and footer lines nor a JWK (newlines may be written as \\n)');

function ofJwk(text: string, variable: string): Import {
  let jwk: JWK;
  try {
    jwk = JSON.parse(text) as JWK;
  } catch {
    throw malformed(variable);
  }
  if (typeof jwk.kty !== 'string') throw malformed(variable);
  if (jwk.kty === 'oct' || jwk.d !== undefined) throw unusable(variable, 'contains a secret key; set it to the public key');
  return async (algorithm) => (fits(jwk, algorithm) ? publicKey(jwk, algorithm) : undefined);
}

function ofPem(text: string, variable: string): Import {
  const [, label, body] = /-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\s]*)-----END \1-----/.exec(text) ?? [];
  if (label === undefined || body === undefined) throw malformed(variable);
  if (/PRIVATE KEY/.test(label)) throw unusable(variable, 'contains a private key; set it to the public key');
  const der = decode(body, variable);
  const [pem, read] =
    label === 'CERTIFICATE'
      ? [pemOf('CERTIFICATE', der), importX509]
      : label === 'PUBLIC KEY'
        ? [pemOf('PUBLIC KEY', der), importSPKI]
        : label === 'RSA PUBLIC KEY'
          ? [pemOf('PUBLIC KEY', spkiOfPkcs1(der)), importSPKI]
          : [];
  if (pem === undefined || read === undefined) throw unusable(variable, 'contains a PEM that is neither PUBLIC KEY, RSA PUBLIC KEY nor CERTIFICATE');
  return async (algorithm) => {
    try {
      return longEnough(await read(pem, algorithm));
    } catch {
      return undefined;
    }
  };
}

function decode(base64: string, variable: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64.replace(/\s/g, '')), (c) => c.charCodeAt(0));
  } catch {
    throw unusable(variable, 'contains a PEM with invalid base64');
  }
}

const pemOf = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${(btoa(Array.from(der, (b) => String.fromCharCode(b)).join('')).match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----`;

/** AlgorithmIdentifier of rsaEncryption: 1.2.840.113549.1.1.1 with NULL. */
const RSA_ENCRYPTION = [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

/** Converts RSAPublicKey (RFC 8017, A.1.1) to SubjectPublicKeyInfo (RFC 5280, 4.1). */
function spkiOfPkcs1(pkcs1: Uint8Array): Uint8Array {
  const bits = tagged(0x03, [0, ...pkcs1]);
  return Uint8Array.from(tagged(0x30, [...RSA_ENCRYPTION, ...bits]));
}

/** Encodes a DER value: tag, length, contents. */
function tagged(tag: number, contents: readonly number[]): number[] {
  const { length } = contents;
  const octets = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return [tag, ...octets, ...contents];
}
