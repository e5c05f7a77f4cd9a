/**
 * Whether two results are the same answer. Names of columns and their order never count. Rows are compared as a multiset, or in
 * order if the question asks for one. Every column of the gold result must be there, with few additional ones.
 */

export type Row = Readonly<Record<string, unknown>>;

/** Additional columns that an answer may have, such as the name next to the requested number. */
const MOST_EXTRA = 3;

export interface CompareOptions {
  /** The rows must be in the order of the gold result. */
  readonly ordered?: boolean | undefined;
  readonly mostExtra?: number;
}

export interface Comparison {
  readonly same: boolean;
  /** The difference; empty if the rows are equal. */
  readonly why: string;
}

const SAME: Comparison = { same: true, why: '' };
const differs = (why: string): Comparison => ({ same: false, why });

export function compareRows(gold: readonly Row[], answer: readonly Row[], { ordered = false, mostExtra = MOST_EXTRA }: CompareOptions = {}): Comparison {
  if (gold.length !== answer.length) return differs(`${answer.length} rows instead of ${gold.length}`);
  if (gold.length === 0) return SAME;
  const [wanted, given] = [columnsOf(gold), columnsOf(answer)];
  if (given.length < wanted.length) return differs(`${given.length} columns instead of ${wanted.length}`);
  if (given.length > wanted.length + mostExtra) return differs(`${given.length - wanted.length} columns too many`);
  const sameColumn = ordered ? sameList : sameBag;
  const choices = wanted.map((w) => given.flatMap((g, i) => (sameColumn(w, g) ? [i] : [])));
  const missing = choices.findIndex((c) => c.length === 0);
  if (missing >= 0) return differs(`no column has the values of ${JSON.stringify(Object.keys(gold[0] as Row)[missing])}`);
  const rows = (columns: readonly (readonly unknown[])[], which: readonly number[]) => gold.map((_, r) => which.map((c) => columns[c]?.[r]));
  const goldRows = rows(
    wanted,
    wanted.map((_, i) => i),
  );
  // columns that are equal row by row need no further check; equal multisets of values may belong to different rows
  for (const chosen of assignments(choices)) {
    if (ordered || sameRows(goldRows, rows(given, chosen))) return SAME;
  }
  return differs('the columns have the right values, but in other rows');
}

/** The values of each column. A row without the member has NULL there. */
function columnsOf(rows: readonly Row[]): readonly (readonly unknown[])[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.map((name) => rows.map((row) => row[name] ?? null));
}

const sameList = (a: readonly unknown[], b: readonly unknown[]): boolean => a.every((v, i) => sameValue(v, b[i]));

/** Whether two columns have the same values in any order. */
function sameBag(a: readonly unknown[], b: readonly unknown[]): boolean {
  const [x, y] = [[...a].sort(order), [...b].sort(order)];
  return x.every((v, i) => sameValue(v, y[i]));
}

/** Whether two lists have the same rows in any order, each equally often. */
function sameRows(gold: readonly (readonly unknown[])[], answer: readonly (readonly unknown[])[]): boolean {
  const left = new Set(answer.keys());
  return gold.every((row) => {
    for (const i of left) {
      if (sameList(row, answer[i] as readonly unknown[])) return left.delete(i);
    }
    return false;
  });
}

/** The maximum number of assignments to try: columns of equal values have many. */
const MOST_ASSIGNMENTS = 500;

/** Assignments of a different column to each gold column. */
function* assignments(choices: readonly (readonly number[])[]): Generator<readonly number[]> {
  let made = 0;
  function* from(at: number, taken: readonly number[]): Generator<readonly number[]> {
    if (made >= MOST_ASSIGNMENTS) return;
    if (at === choices.length) {
      made++;
      yield taken;
      return;
    }
    for (const choice of choices[at] as readonly number[]) if (!taken.includes(choice)) yield* from(at + 1, [...taken, choice]);
  }
  yield* from(0, []);
}

/**
 * Equal values: numbers to seven digits, or if equal when rounded to two decimals; a number and its text (JSON-RPC
 * sends long numbers as texts); a date and its midnight.
 */
export function sameValue(gold: unknown, answer: unknown): boolean {
  if (gold === answer) return true;
  if (gold === null || answer === null || gold === undefined || answer === undefined) return false;
  const [x, y] = [numberOf(gold), numberOf(answer)];
  if (x !== undefined && y !== undefined && (typeof gold === 'number' || typeof answer === 'number')) return sameNumber(x, y);
  if (typeof gold === 'string' && typeof answer === 'string') return momentOf(gold) === momentOf(answer);
  return typeof gold === 'object' && typeof answer === 'object' && JSON.stringify(gold) === JSON.stringify(answer);
}

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : undefined;
}

function sameNumber(gold: number, answer: number): boolean {
  const apart = Math.abs(gold - answer);
  if (apart <= 1e-7 * Math.max(Math.abs(gold), Math.abs(answer)) || apart < 1e-12) return true;
  // the answer may be rounded: to two decimals, and at least three digits
  return !Number.isInteger(gold) && apart <= 0.005 + 1e-9 && apart <= 2e-3 * Math.abs(gold);
}

const MIDNIGHT = /^(\d{4}-\d\d-\d\d)[T ]00:00:00(\.0+)?(\+00(:00)?|Z)?$/;
const momentOf = (text: string): string => text.replace(MIDNIGHT, '$1');

/** An order in which equal values are adjacent: numbers by size, everything else by its text. */
function order(a: unknown, b: unknown): number {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== undefined && y !== undefined) return x - y;
  if (x !== undefined || y !== undefined) return x !== undefined ? -1 : 1;
  const [s, t] = [a, b].map((v) => (typeof v === 'string' ? momentOf(v) : JSON.stringify(v ?? null))) as [string, string];
  return s < t ? -1 : s > t ? 1 : 0;
}
