/**
 * The bearer of get_token (docs/design/credentials.md#the-bearer-of-get_token): a Fernet token over base64(`user:password`) with a key derived from
 * API_AUTH_SALT.
 */
import { decrypt, encrypt, keyFromText } from './fernet.ts';

/** How old a bearer may be. */
export const BEARER_SECONDS = 24 * 60 * 60;

/** What somebody signs in with. */
export interface UserPassword {
  readonly user: string;
  readonly password: string;
}

/** The key of a salt: the salt itself where it is a Fernet key (base64url of 32 bytes), else SHA-256 of its UTF-8. */
export async function bearerKey(salt: string): Promise<Uint8Array<ArrayBuffer>> {
  return keyFromText(salt) ?? new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(salt)));
}

/** A bearer. The user's name ends at the first colon, so it cannot hold one. @param at milliseconds since 1970 */
export async function makeBearer({ user, password }: UserPassword, salt: string, at: number): Promise<string> {
  const text = Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
  return encrypt(new TextEncoder().encode(text), await bearerKey(salt), at);
}

/** User and password of a bearer; null where it is none of this salt, too old, of the future, or holds something else. */
export async function openBearer(bearer: string, salt: string, at: number): Promise<UserPassword | null> {
  const plain = await decrypt(bearer, await bearerKey(salt), at, BEARER_SECONDS);
  const text = plain === null ? null : decoded(plain);
  const colon = text?.indexOf(':') ?? -1;
  return text === null || colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** UTF-8 of base64, each strictly. */
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
