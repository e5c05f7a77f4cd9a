/**
 * The bearer of get_token (docs/design/credentials.md#the-bearer-of-get_token): a Fernet token over base64(`user:password`) with a key derived from
 * API_AUTH_SALT.
 */
import { decrypt, encrypt, keyFromText } from './fernet.ts';

/** The lifetime of a bearer. */
export const BEARER_SECONDS = 24 * 60 * 60;

/** User name and password of a sign-in. */
export interface UserPassword {
  readonly user: string;
  readonly password: string;
}

/** Derives the key from a salt: the salt itself if it is a Fernet key (base64url of 32 bytes), else the SHA-256 of its UTF-8. */
async function bearerKey(salt: string): Promise<Uint8Array<ArrayBuffer>> {
  return keyFromText(salt) ?? new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(salt)));
}

/** Creates a bearer. The user name ends at the first colon, so it must not contain one. @param at milliseconds since 1970 */
export async function makeBearer({ user, password }: UserPassword, salt: string, at: number): Promise<string> {
  const text = Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
  return encrypt(new TextEncoder().encode(text), await bearerKey(salt), at);
}

/** Decrypts a bearer. @returns user and password; null if the bearer has another salt, has expired, is from the future or is malformed */
export async function openBearer(bearer: string, salt: string, at: number): Promise<UserPassword | null> {
  const plain = await decrypt(bearer, await bearerKey(salt), at, BEARER_SECONDS);
  const text = plain === null ? null : decoded(plain);
  const colon = text?.indexOf(':') ?? -1;
  return text === null || colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Decodes base64 and then UTF-8, both strictly. */
function decoded(plain: Uint8Array): string | null {
  const base64 = Buffer.from(plain).toString('latin1');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
