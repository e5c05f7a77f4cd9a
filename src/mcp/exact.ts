/** JSON for readers that take numbers for doubles (docs/design/mcp.md#exact-numbers): a number that a double does not give back becomes text. Pure. */

/** Fewer digits than these always come back from a double; an exponent of three may overflow it. */
const MAY_LOSE = /[0-9][0-9.]{15}|[eE][+-]?\d{3}/;

type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown;

/** The value of a JSON text; integers beyond 2^53-1 and numbers whose digits a double loses are texts. @throws SyntaxError */
export function parseExact(text: string): unknown {
  if (!MAY_LOSE.test(text)) return parse(text);
  return parse(text, (_key, value, { source }) => (typeof value === 'number' && source !== undefined && !isKept(source, value) ? source : value));
}

/** Between members PostgreSQL may have line ends (those inside texts are escaped): a message is one line. */
const LINE_END = /[\n\r]/;

/** Whether a JSON text surely says to such readers what `parseExact` gives, and stands on one line. */
export const isExact = (text: string): boolean => !MAY_LOSE.test(text) && !LINE_END.test(text);

/** JSON that does: the text itself where it is so. @throws SyntaxError */
export const exactText = (text: string): string => (isExact(text) ? text : JSON.stringify(parseExact(text)));

/** Whether a double has all of a number's digits, and JSON writes it as what no reader takes for an integer beyond 2^53-1. */
function isKept(source: string, value: number): boolean {
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value);
  if (/^-?\d+$/.test(String(value)) && !Number.isSafeInteger(value)) return false;
  return Number.isFinite(value) && digits(source) === digits(String(value));
}

/** A decimal number in one form: its digits without zeros around them, and the power of ten behind them. */
function digits(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const short = all.replace(/(?<!0)0+$/, '');
  if (short === '') return '0';
  return `${sign}${short}e${Number(exponent) - fraction.length + all.length - short.length}`;
}
