/** The characters of JSON syntax, as UTF-16 code units and as UTF-8 bytes. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const BLANK = 0x20;

/** Whether a character is JSON whitespace. */
export const isSpace = (c: number | undefined): boolean => c === BLANK || c === 0x0a || c === 0x0d || c === 0x09;
