/**
 * Fernet tokens (github.com/fernet/spec): version 0x80, seconds since 1970 as 64 bits, IV, AES-128-CBC with PKCS #7
 * padding, and HMAC-SHA256 over everything before it; encoded in base64url with padding. WebCrypto compares the
 * signatures in constant time.
 */
type Bytes = Uint8Array<ArrayBuffer>;

const VERSION = 0x80;
const IV_AT = 9;
const CIPHER_AT = 25;
const BLOCK = 16;
const MAC_BYTES = 32;
const KEY_BYTES = 32;

/** Tolerance for timestamps in the future, because clocks differ. Other implementations use the same value. */
export const LEEWAY_SECONDS = 60;

/** Decodes a Fernet key: base64url of 32 bytes (43 characters and one `=`). Undefined if the text is not a key. */
export function keyFromText(text: string): Bytes | undefined {
  const bytes = fromBase64Url(text);
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}

/**
 * Creates a token. The first half of the key signs, the second half encrypts.
 * @param at milliseconds since 1970
 */
export async function encrypt(plain: Bytes, key: Bytes, at: number, iv: Bytes = crypto.getRandomValues(new Uint8Array(BLOCK))): Promise<string> {
  const cipher = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-CBC', iv }, await encryptionKey(key), plain));
  const token = new Uint8Array(CIPHER_AT + cipher.length + MAC_BYTES);
  token[0] = VERSION;
  new DataView(token.buffer).setBigUint64(1, BigInt(Math.floor(at / 1000)));
  token.set(iv, IV_AT);
  token.set(cipher, CIPHER_AT);
  const end = token.length - MAC_BYTES;
  token.set(new Uint8Array(await crypto.subtle.sign('HMAC', await signingKey(key), token.subarray(0, end))), end);
  return toBase64Url(token);
}

/**
 * Decrypts a token, after its signature has been verified.
 * @param at milliseconds since 1970
 * @returns null if the signature is invalid, or the token is older than `maxAgeSeconds` or from the future beyond the leeway
 */
export async function decrypt(text: string, key: Bytes, at: number, maxAgeSeconds: number): Promise<Bytes | null> {
  const token = fromBase64Url(text);
  const length = (token?.length ?? 0) - CIPHER_AT - MAC_BYTES;
  if (token === undefined || token[0] !== VERSION || length < BLOCK || length % BLOCK !== 0) return null;
  const end = CIPHER_AT + length;
  if (!(await crypto.subtle.verify('HMAC', await signingKey(key), token.subarray(end), token.subarray(0, end)))) return null;
  const stamp = new DataView(token.buffer).getBigUint64(1);
  const now = BigInt(Math.floor(at / 1000));
  if (stamp + BigInt(maxAgeSeconds) < now || stamp > now + BigInt(LEEWAY_SECONDS)) return null;
  try {
    const iv = token.subarray(IV_AT, CIPHER_AT);
    return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-CBC', iv }, await encryptionKey(key), token.subarray(CIPHER_AT, end)));
  } catch {
    return null; // invalid padding
  }
}

const signingKey = (key: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', key.subarray(0, 16), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);

const encryptionKey = (key: Bytes): Promise<CryptoKey> => crypto.subtle.importKey('raw', key.subarray(16), 'AES-CBC', false, ['encrypt', 'decrypt']);

const toBase64Url = (bytes: Bytes): string => Buffer.from(bytes).toString('base64').replaceAll('+', '-').replaceAll('/', '_');

/** Decodes canonical base64url; undefined for any other encoding of the same bytes. */
function fromBase64Url(text: string): Bytes | undefined {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64url'));
  return toBase64Url(bytes) === text ? bytes : undefined;
}
