/** What stands behind the escapes of E'..' and U&'..' strings (PostgreSQL, "String Constants"). */
import { badRequest } from '../errors.ts';

const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g;

/** The text of E'..': octal and hexadecimal escapes are bytes of UTF-8. */
export function decodeUtf8Escapes(raw: string): string {
  if (!raw.includes('\\')) return raw;
  let bytes = false;
  const text = raw.replace(ESCAPE, (_, hex?: string, octal?: string, u4?: string, u8?: string, other?: string) => {
    if (hex !== undefined || octal !== undefined) {
      const byte = hex === undefined ? Number.parseInt(octal as string, 8) & 0xff : Number.parseInt(hex, 16);
      if (byte < 0x80) return String.fromCharCode(byte);
      bytes = true;
      return BYTE_MARK + String.fromCharCode(byte);
    }
    const point = u4 ?? u8;
    if (point !== undefined) return codePoint(Number.parseInt(point, 16));
    return LETTERS[other as string] ?? (other as string);
  });
  return bytes ? text.replace(BYTES, (run) => new TextDecoder().decode(Uint8Array.from(run.replaceAll(BYTE_MARK, ''), (c) => c.charCodeAt(0)))) : text;
}

/** Stands before each byte over 127 until the whole run is known; half a surrogate, which no text of a caller holds. */
const BYTE_MARK = '\udfff';
const BYTES = /(?:\udfff[\u0080-\u00ff])+/g;

/** The text of U&'..' and U&"..". Throws 400 `syntax_error` at `offset` for an escape that is none. */
export function unescapeUnicode(raw: string, mark: string, offset: number): string {
  let text = '';
  for (let i = 0; i < raw.length; ) {
    if (raw[i] !== mark) {
      text += raw[i++];
      continue;
    }
    const rest = raw.slice(i + 1, i + 8);
    const digits = /^[0-9a-fA-F]{4}/.exec(rest)?.[0] ?? /^\+([0-9a-fA-F]{6})/.exec(rest)?.[0];
    if (digits !== undefined) {
      text += codePoint(Number.parseInt(digits.replace('+', ''), 16));
      i += 1 + digits.length;
    } else if (raw[i + 1] === mark) {
      text += mark;
      i += 2;
    } else {
      throw badRequest('syntax_error', 'invalid Unicode escape', { offset, hint: 'Unicode escapes must be \\XXXX or \\+XXXXXX.' });
    }
  }
  return text;
}

/** Two escapes may give the halves of one character, as in PostgreSQL; what is no character at all becomes U+FFFD. */
const codePoint = (n: number): string => (n <= 0x10ffff ? String.fromCodePoint(n) : '\ufffd');
