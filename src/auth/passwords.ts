/** Password hashes: scrypt with a salt and its parameters, as `$scrypt$ln=14,r=8,p=5$<salt>$<hash>` (base64 without padding). */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { normalized } from '../normalize.ts';

// needs 16 MiB, within the limit of Workers (N*r*p <= 2^20): docs/design/platform-rules.md#cryptography
const LOG_N = 14;
const R = 8;
const P = 5;
const BYTES = 32;

let begun = 0;

/**
 * Waits until no other hash has begun since the last turn of the event loop. A hash blocks the isolate's only thread, so
 * that several hashes in a row would let connections time out.
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
    scrypt(normalized(password, 'NFC'), salt, BYTES, { N: 2 ** ln, r, p, maxmem: 64 * 1024 * 1024 }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
};

const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

/** Hashes a password for storage. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return `$scrypt$ln=${LOG_N},r=${R},p=${P}$${encode(salt)}$${encode(await derive(password, salt, LOG_N, R, P))}`;
}

/** True if a password matches a stored hash. If `stored` is null (unknown user or no password), the result is false after the same time. */
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
