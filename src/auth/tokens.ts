/**
 * API tokens (docs/design/credentials.md#api-tokens): `tk_`, 27 random base62 characters and a checksum of 6, so that a mistyped token is refused without I/O.
 * Only the SHA-256 of a token is stored.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 27;
const CHECKSUM_CHARACTERS = 6;
const TOKEN = /^tk_([0-9A-Za-z]{27})([0-9A-Za-z]{6})$/;

/** Creates a token. @param random fills its argument with random bytes */
export function createToken(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array = (bytes) => crypto.getRandomValues(bytes)): string {
  let text = '';
  while (text.length < RANDOM_CHARACTERS) {
    for (const byte of random(new Uint8Array(64))) {
      // 248 = 4 * 62; larger bytes would make some characters more likely than others
      if (byte < 248 && text.length < RANDOM_CHARACTERS) text += ALPHABET[byte % 62];
    }
  }
  return `tk_${text}${checksum(text)}`;
}

/** True if a text has the format of a token with a valid checksum. No I/O. */
export function isToken(text: string): boolean {
  const match = TOKEN.exec(text);
  return match !== null && checksum(match[1] as string) === match[2];
}

/** CRC-32 of the random part as six base62 characters. */
function checksum(text: string): string {
  let rest = crc32(text);
  let out = '';
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    out = ALPHABET[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

/** CRC-32 (ISO 3309) of an ASCII text. */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** SHA-256 of a text's UTF-8, in hexadecimal. */
export async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}

/** Compares two hashes in constant time. */
export function equalHashes(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % Math.max(1, b.length));
  return difference === 0;
}
