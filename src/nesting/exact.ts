/** JSON for readers that parse numbers as doubles (docs/design/mcp.md#exact-numbers): a number that a double cannot represent becomes text. Pure. */

/** A number with fewer digits and points is always exact. */
const LONG = 16;
/** An exponent of three digits may overflow. */
const LONG_EXPONENT = /[eE][+-]?\d{3}/;

/** Whether a text may have a number that a double does not represent. */
const mayLose = (text: string): boolean => hasLongNumber(text) || LONG_EXPONENT.test(text);

/**
 * Whether `LONG` digits and points follow each other, the first of them a digit. Answers are large, so only each sixteenth character is looked at: a run of
 * sixteen contains one of them.
 */
function hasLongNumber(text: string): boolean {
  for (let at = 0; at < text.length; at += LONG) {
    if (!isNumeric(text.charCodeAt(at))) continue;
    let from = at;
    let to = at + 1;
    while (from > 0 && isNumeric(text.charCodeAt(from - 1))) from--;
    while (to < text.length && isNumeric(text.charCodeAt(to))) to++;
    while (text.charCodeAt(from) === POINT) from++;
    if (to - from >= LONG) return true;
    // each run is read once; the next one begins after `to`
    at = to;
  }
  return false;
}

const POINT = 0x2e;
const isNumeric = (c: number): boolean => (c >= 0x30 && c <= 0x39) || c === POINT;

type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown;

/** Parses a JSON text. Integers beyond 2^53-1, and numbers whose digits a double loses, become texts. @throws SyntaxError */
export function parseExact(text: string): unknown {
  if (!mayLose(text)) return parse(text);
  return parse(text, (_key, value, { source }) => (typeof value === 'number' && source !== undefined && !isKept(source, value) ? source : value));
}

/** PostgreSQL may write line breaks between members (those inside strings are escaped), but a message is one line. */
const LINE_END = /[\n\r]/;

/** Whether a JSON text surely is what `parseExact` returns, on one line. */
export const isExact = (text: string): boolean => !mayLose(text) && !LINE_END.test(text);

/** Such JSON: the text itself if it already is. @throws SyntaxError */
export const exactText = (text: string): string => (isExact(text) ? text : JSON.stringify(parseExact(text)));

/** Whether a double keeps all digits of a number, and JSON does not write it as an integer beyond 2^53-1. */
function isKept(source: string, value: number): boolean {
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value);
  if (/^-?\d+$/.test(String(value)) && !Number.isSafeInteger(value)) return false;
  return Number.isFinite(value) && digits(source) === digits(String(value));
}

/** The canonical form of a decimal number: its digits without leading and trailing zeros, and the exponent. */
function digits(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const short = all.replace(/(?<!0)0+$/, '');
  if (short === '') return '0';
  return `${sign}${short}e${Number(exponent) - fraction.length + all.length - short.length}`;
}
