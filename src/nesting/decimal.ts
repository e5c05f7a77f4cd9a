/** Exact decimal arithmetic on the source text of JSON numbers. */

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** A number in plain notation without leading zeros. */
const PLAIN = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** The maximum number of digits. No format and no double needs more. */
const MAX_DIGITS = 1000;

/**
 * Multiplies a number by 10^`shift` and rounds it to `digits` decimal places, halves away from zero like PostgreSQL's numeric.
 * Returns undefined if the text is not a number or would have more than `MAX_DIGITS` digits.
 */
export function rounded(source: string, digits: number, shift = 0): string | undefined {
  if (shift === 0 && PLAIN.test(source)) {
    const point = source.indexOf('.');
    const missing = digits - (point < 0 ? 0 : source.length - point - 1);
    if (missing === 0) return source;
    if (missing > 0) return (point < 0 ? `${source}.` : source) + '0'.repeat(missing);
  }
  const m = NUMBER.exec(source);
  if (!m) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = m;
  const point = whole.length + Number(exponent) + shift;
  if (Math.abs(point) > MAX_DIGITS + whole.length) return undefined;
  let all = whole + fraction;
  let integers = point;
  if (integers < 0) {
    all = '0'.repeat(-integers) + all;
    integers = 0;
  }
  const wanted = integers + digits;
  const up = wanted < all.length && all.charCodeAt(wanted) >= 0x35;
  let kept = all.slice(0, wanted).padEnd(wanted, '0');
  if (up) kept = plusOne(kept);
  const before = kept.slice(0, kept.length - digits).replace(/^0+(?=\d)/, '') || '0';
  const after = digits === 0 ? '' : `.${kept.slice(kept.length - digits)}`;
  // PostgreSQL's numeric has no negative zero
  return `${/[1-9]/.test(before + after) ? sign : ''}${before}${after}`;
}

function plusOne(digits: string): string {
  const nines = /(?<!9)9*$/.exec(digits)?.[0].length ?? 0;
  const at = digits.length - nines;
  const zeros = '0'.repeat(nines);
  return at === 0 ? `1${zeros}` : `${digits.slice(0, at - 1)}${String.fromCharCode(digits.charCodeAt(at - 1) + 1)}${zeros}`;
}
