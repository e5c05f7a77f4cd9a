/** Checks the numbers of an answer against the rows that it is based on, for `warnings` (docs/design/mcp.md#numbers-in-answers). Pure. */

/** Digits with thousands separators (several kinds of blanks and apostrophes, points, commas; also Indian grouping) and a decimal part. */
const NUMBER =
  /(?:\d{1,3}(?:[.,'\u2019\u00a0\u2009\u202f ]\d{3})+(?!\d)|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)|\d+(?:,\d+){2,}|\d+)(?:[.,]\d+)?(?:e[+-]?\d{1,3}(?![\p{L}\d]))?/giu;
/** A date with points, day or month first: not a number with a decimal part. */
const DATE = /^\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})(?!\d)/;

/** Scale words after a number. `unit`: often a unit of something else (5 m, 12 T), so the unscaled number is possible too. */
const SCALES: readonly { readonly word: RegExp; readonly factor: number; readonly unit?: true }[] = [
  { word: /^\s*(?:%|percent|per cent|prozent|pour ?cent|por ciento)/i, factor: 0.01, unit: true },
  { word: /^\s*(?:thousand|tausend|tsd|mille)\b/i, factor: 1e3 },
  { word: /^\s*(?:millions?|millionen|mio|mln|mill)\b/i, factor: 1e6 },
  { word: /^\s*(?:billions?|milliarden?|milliards?|mrd|bn|bln)\b/i, factor: 1e9 },
  { word: /^\s*(?:trillions?|billionen|tn|trn)\b/i, factor: 1e12 },
  { word: /^\s*k\b/i, factor: 1e3, unit: true },
  { word: /^\s*(?:m|mn)\b/i, factor: 1e6, unit: true },
  { word: /^\s*b\b/i, factor: 1e9, unit: true },
];
/** Scales in the name of a column or in the SQL: the column's numbers may already be scaled. */
const SCALED = /thousand|tausend|tsd|million|mio|mln|billion|milliard|mrd|bn|trillion|percent|_pct|_k\b|_m\b|_mn\b|10{3,}/i;
/** Words before a number that mark it as rounded. */
const HEDGE =
  /(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|under|more than|less than|at least|at most|up to|close to|above|below|just|circa|ca\.?|c\.|etwa|ungef\u00e4hr|rund|fast|knapp|gut|\u00fcber|unter|mehr als|weniger als|bis zu|an die|environ|pr\u00e8s de|presque|plus de|moins de|autour de|~|\u2248|\u2243|>|<)\s*(?:[$\u20ac\u00a3\u00a5]|usd|eur|chf|gbp)?\s*$/i;
/** What marks a whole number as a rank, before and after it. */
const RANK_BEFORE = /(?:#|\bno\.?|\bnr\.?|n\u00b0|\bnum\u00e9ro|\bnumber|\brank(?:ed)?|\bplaces?|\bplatz|\brang|\btop|\bposition)\s*\**$/i;
const ORDINAL = /^(?:st|nd|rd|th|er|re|e|\u00e8me|eme)\b/i;

interface WrittenNumber {
  readonly text: string;
  /** Its possible values, each with a tolerance for rounding. */
  readonly readings: readonly Reading[];
  /** Alternative readings as several numbers, all of which must be known: dates, and numbers separated only by a comma or a blank. */
  readonly parts: readonly (readonly Reading[])[];
  /** The rank of a row in a list, if it may be one. */
  readonly rank: number | undefined;
}

interface Reading {
  readonly value: number;
  readonly slack: number;
}

/**
 * The numbers of `answer`, as written, that do not occur in the values of `rows`, the column names, the row count, or `also` (the question, the SQL).
 * Understands rounding, thousands separators, percentages, scale words, times, dates and ranks, as written in English, German and
 * French.
 * Of texts in the rows it reads the first 100,000 characters.
 */
export function unfoundNumbers(answer: string, rows: readonly Readonly<Record<string, unknown>>[], also: readonly string[]): readonly string[] {
  const columns = Object.keys(rows[0] ?? {}).join(' ');
  const known = new Set<number>([rows.length]);
  const room = { left: MAX_READ };
  for (const row of rows) for (const value of Object.values(row)) gather(value, known, room);
  for (const text of also) gather(text, known, { left: MAX_READ });
  // sales_2023 contains a year
  for (const [digits] of [columns, ...also].join(' ').matchAll(/(?<=_)\d{1,4}(?!\d)/g)) known.add(Number(digits));
  const sorted = [...known].sort((a, b) => a - b);
  const scaled = SCALED.test([columns, ...also].join(' '));
  const found = (readings: readonly Reading[]): boolean => readings.some((r) => contains(sorted, r));
  let next = 1;
  const unfound = numbersIn(answer, scaled).filter(({ readings, parts, rank }) => {
    // a list counts up from 1
    const isPlace = rank !== undefined && rank <= rows.length && (rank === next || rank < next);
    if (rank === next) next++;
    return !isPlace && !found(readings) && !(parts.length > 0 && parts.every(found));
  });
  return [...new Set(unfound.map((n) => n.text))];
}

/** Whether a sorted list contains a number within a reading's tolerance, ignoring the sign. */
function contains(sorted: readonly number[], { value, slack }: Reading): boolean {
  const near = (wanted: number): boolean => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] as number) < wanted - slack) low = middle + 1;
      else high = middle;
    }
    return low < sorted.length && (sorted[low] as number) <= wanted + slack;
  };
  return near(value) || near(-value);
}

/** How many characters of texts in the rows are searched for numbers. */
const MAX_READ = 100_000;

function gather(value: unknown, known: Set<number>, room: { left: number }): void {
  if (typeof value === 'number') known.add(value);
  else if (typeof value === 'string') {
    const text = value.slice(0, room.left);
    room.left -= text.length;
    for (const { readings, parts } of numbersIn(text, true, true)) for (const r of [...readings, ...parts.flat()]) known.add(r.value);
  } else if (Array.isArray(value)) {
    known.add(value.length);
    for (const v of value) gather(v, known, room);
  } else if (typeof value === 'object' && value !== null) for (const v of Object.values(value)) gather(v, known, room);
}

/** The numbers of a text. Digits inside words (`B52`, `h2o`) and list numbers at the start of a line are not numbers. `isValue`: the text before a number is irrelevant. */
function numbersIn(text: string, scaled: boolean, isValue = false): readonly WrittenNumber[] {
  const found: WrittenNumber[] = [];
  let end = 0;
  for (const match of text.matchAll(NUMBER)) {
    const at = match.index;
    if (at < end) continue;
    const joint = text.slice(Math.max(0, at - 2), at);
    // 2024-03-05T09:05
    if (/[\p{L}_]$/u.test(joint) && !/\dT$/.test(joint)) continue;
    const date = DATE.exec(text.slice(at, at + 11))?.[0];
    const written = date ?? match[0];
    end = at + written.length;
    const before = isValue ? '' : text.slice(Math.max(0, at - 24), at);
    const after = text.slice(end, end + 16);
    if (!isValue && /^[.)]\**\s/.test(after) && /(?:^|\n)[\s*>|-]*$/.test(before) && /^\d{1,3}$/.test(written)) continue;
    found.push(writtenNumber(written, before, after, date !== undefined, scaled));
  }
  return found;
}

function writtenNumber(written: string, before: string, after: string, isDate: boolean, scaled: boolean): WrittenNumber {
  const rank = rankOf(written, before, after);
  const exact = (digits: string): readonly Reading[] => [{ value: Number(digits), slack: 0 }];
  if (isDate) {
    const parts = written.split('.').map((digits, i) => (i === 2 && digits.length === 2 ? [...exact(digits), ...exact(`20${digits}`)] : exact(digits)));
    return { text: written, readings: [], parts, rank };
  }
  const scale = SCALES.find(({ word }) => word.test(after));
  const plain = readingsOf(written, HEDGE.test(before));
  const by = (factor: number): readonly Reading[] => plain.map(({ value, slack }) => ({ value: value * factor, slack: slack * factor }));
  const readings = scale === undefined ? plain : scale.unit || scaled ? [...plain, ...by(scale.factor)] : by(scale.factor);
  return { text: written, readings: [...readings, ...hoursOf(written, after)], parts: partsOf(written, scale !== undefined), rank };
}

/** Converts 2 pm to the 24-hour clock, as in rows. */
function hoursOf(written: string, after: string): readonly Reading[] {
  const hour = Number(written);
  const half = /^(?::\d\d){0,2}\s*([ap])\.?m\b/i.exec(after)?.[1]?.toLowerCase();
  if (half === undefined || !/^\d{1,2}$/.test(written) || hour < 1 || hour > 12) return [];
  return [{ value: (hour % 12) + (half === 'p' ? 12 : 0), slack: 0 }];
}

/** The separate numbers that `12, 345` or `12 345` may be. None if a point or an apostrophe shows that the digits belong together. */
function partsOf(written: string, isScaled: boolean): readonly (readonly Reading[])[] {
  const several = / /.test(written) ? / |,/ : (written.match(/,/g)?.length ?? 0) > 1 && !written.includes('.') ? /,/ : undefined;
  if (several === undefined || isScaled) return [];
  return written.split(several).map((part) => readingsOf(part, false));
}

/** The rank that a number may be: `#2`, `2.`, `2nd`, `| 2 |`. */
function rankOf(written: string, before: string, after: string): number | undefined {
  if (!/^[1-9]\d{0,2}$/.test(written)) return undefined;
  const isOne = RANK_BEFORE.test(before) || ORDINAL.test(after) || /^[.):]\**\s/.test(after) || (/\|\s*\**$/.test(before) && /^\**\s*\|/.test(after));
  return isOne ? Number(written) : undefined;
}

/** The possible values of a written number: separators mean thousands or a decimal point. `hedged`: a round number also means values near it. */
function readingsOf(written: string, hedged: boolean): readonly Reading[] {
  const plain = written.replace(/['\u2019\u00a0\u2009\u202f ]/g, '');
  const readings = new Map<number, number>();
  const add = (text: string): void => {
    const value = Number(text);
    if (!Number.isFinite(value)) return;
    const places = /\.(\d+)/.exec(text)?.[1]?.length ?? 0;
    const zeros = hedged && places === 0 ? finalZeros(text) : -1;
    // the tolerance of about 1,200 is its last significant digit
    readings.set(value, zeros >= 0 ? 10 ** zeros : 0.5000001 * 10 ** -places);
  };
  add(plain.replaceAll(',', ''));
  // 1.234,5 and 24,75
  if (/,/.test(plain)) add(plain.replaceAll('.', '').replace(',', '.').replaceAll(',', ''));
  // 1.234.567 and 12.345
  if (/^\d{1,3}(?:\.\d{3})+$/.test(plain)) add(plain.replaceAll('.', ''));
  return [...readings].map(([value, slack]) => ({ value, slack }));
}

/** The number of trailing zeros of a whole number; 0 if the text is not one. */
function finalZeros(text: string): number {
  if (!/^\d+$/.test(text)) return 0;
  let at = text.length;
  while (text[at - 1] === '0') at--;
  return text.length - at;
}
