/** Numbers of an answer in words, looked up in the rows that it was made from (decisions 9: `warnings`). Pure. */

/** Digits with separators; a sign, dashes of dates and letters around are looked at by `numbersIn`. */
const NUMBER = /(?:\d{1,3}(?:[.,'\u00a0\u202f]\d{3})+(?!\d)|\d+)(?:[.,]\d+)?(?:e[+-]?\d{1,3})?/gi;
const SCALES: readonly (readonly [RegExp, number])[] = [
  [/^\s*(?:%|percent|per cent|prozent)/i, 0.01],
  [/^\s*(?:k|thousand|tausend)\b/i, 1e3],
  [/^\s*(?:m|mn|mio|million(?:en|s)?)\b/i, 1e6],
  [/^\s*(?:bn|mrd|billion(?:s)?|milliarde(?:n)?)\b/i, 1e9],
];

interface Said {
  readonly text: string;
  /** What it may stand for, and by how much that may be off for being rounded. */
  readonly readings: readonly Reading[];
}

interface Reading {
  readonly value: number;
  readonly slack: number;
}

/**
 * The numbers of `answer` that neither a value of `rows`, nor their count, nor `also` (the question, the SQL) holds, as they
 * are written. Rounding, thousands' separators, percent and words of scale are understood.
 */
export function unfoundNumbers(answer: string, rows: readonly Readonly<Record<string, unknown>>[], also: readonly string[]): readonly string[] {
  const known = new Set<number>([rows.length]);
  for (const row of rows) for (const value of Object.values(row)) gather(value, known);
  for (const text of also) gather(text, known);
  const sorted = [...known].sort((a, b) => a - b);
  const unfound = numbersIn(answer).filter((n) => !n.readings.some((r) => holds(sorted, r)));
  return [...new Set(unfound.map((n) => n.text))];
}

/** Whether a sorted list has a number that a reading may mean, its sign aside. */
function holds(sorted: readonly number[], { value, slack }: Reading): boolean {
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

function gather(value: unknown, known: Set<number>): void {
  if (typeof value === 'number') known.add(value);
  else if (typeof value === 'string') for (const n of numbersIn(value)) for (const r of n.readings) known.add(r.value);
  else if (Array.isArray(value)) {
    known.add(value.length);
    for (const v of value) gather(v, known);
  } else if (typeof value === 'object' && value !== null) for (const v of Object.values(value)) gather(v, known);
}

/** The numbers of a text; digits inside words (`B52`, `h2o`) are names, not numbers, and so are list numbers at a line's beginning. */
function numbersIn(text: string): readonly Said[] {
  const found: Said[] = [];
  for (const match of text.matchAll(NUMBER)) {
    const at = match.index;
    const before = text[at - 1] ?? '';
    const after = text.slice(at + match[0].length);
    if (/[\p{L}_]/u.test(before)) continue;
    if (/^[.)]\s/.test(after) && /(?:^|\n)\s*$/.test(text.slice(0, at))) continue;
    found.push(said(match[0], after));
  }
  return found;
}

function said(written: string, after: string): Said {
  const scale = SCALES.find(([word]) => word.test(after))?.[1] ?? 1;
  const by = (factor: number): readonly Reading[] => readingsOf(written).map(({ value, slack }) => ({ value: value * factor, slack: slack * factor }));
  // a percentage stands for itself too, where the row holds percents
  return { text: written, readings: scale < 1 ? [...by(1), ...by(scale)] : by(scale) };
}

/** What a written number may be: separators mean thousands or a decimal point. */
function readingsOf(written: string): readonly Reading[] {
  const plain = written.replace(/['\u00a0\u202f]/g, '');
  const readings = new Map<number, number>();
  const add = (text: string): void => {
    const value = Number(text);
    if (Number.isFinite(value)) readings.set(value, /\.(\d+)/.exec(text)?.[1]?.length ?? 0);
  };
  add(plain.replaceAll(',', ''));
  // 1.234,5 and 24,75
  if (/,/.test(plain)) add(plain.replaceAll('.', '').replace(',', '.').replaceAll(',', ''));
  // 1.234.567 and 12.345
  if (/^\d{1,3}(?:\.\d{3})+$/.test(plain)) add(plain.replaceAll('.', ''));
  return [...readings].map(([value, places]) => ({ value, slack: 0.5000001 * 10 ** -places }));
}
