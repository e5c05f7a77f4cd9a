/** Decodes the escapes of E'..' and U&'..' strings (PostgreSQL, "String Constants"). */
import { badRequest } from '../errors.ts';

const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g;

/** Decodes E'..'. Octal and hexadecimal escapes are UTF-8 bytes. */
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

/** Precedes each byte over 127 until the whole run is known. It is an unpaired surrogate, which a caller's text never contains. */
const BYTE_MARK = '\udfff';
const BYTES = /(?:\udfff[\u0080-\u00ff])+/g;

/** Decodes U&'..' and U&"..". @throws SvcError 400 `syntax_error` at `offset` for an invalid escape */
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

/** Two escapes may form a surrogate pair, as in PostgreSQL. A value beyond Unicode becomes U+FFFD. */
const codePoint = (n: number): string => (n <= 0x10ffff ? String.fromCodePoint(n) : '\ufffd');
