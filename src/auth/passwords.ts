/** Passwords as a slow salted hash with its parameters: `$scrypt$ln=14,r=8,p=5$<salt>$<hash>` (base64 without padding). */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

// 16 MiB, within the limit of production (N*r*p <= 2^20): docs/design/platform-rules.md#cryptography
const LOG_N = 14;
const R = 8;
const P = 5;
const BYTES = 32;

let begun = 0;

/**
 * Waits until no other hash was begun in the same turn. In a Worker a hash holds the isolate's only thread: many of them,
 * one after the other, would let connections time out before anybody looks at them.
 */
async function turn(): Promise<void> {
  for (;;) {
    const seen = begun;
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (begun === seen) break;
  }
  begun++;
}

const derive = async (password: string, salt: Uint8Array, ln: number, r: number, p: number): Promise<Buffer> => {
  await turn();
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, BYTES, { N: 2 ** ln, r, p, maxmem: 64 * 1024 * 1024 }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
};

const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

/** What is stored of a password. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return `$scrypt$ln=${LOG_N},r=${R},p=${P}$${encode(salt)}$${encode(await derive(password, salt, LOG_N, R, P))}`;
}

/** Whether a password is the stored one. `stored` null (no such user, or no password): false, at the same cost. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(stored ?? '');
  if (match === null) {
    await derive(password, new Uint8Array(16), LOG_N, R, P);
    return false;
  }
  const [, ln, r, p, salt, hash] = match;
  const expected = Buffer.from(hash as string, 'base64');
  const actual = await derive(password, Buffer.from(salt as string, 'base64'), Number(ln), Number(r), Number(p));
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
