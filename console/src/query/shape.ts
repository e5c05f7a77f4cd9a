/** Which columns of a result a chart can show, and how. Pure: no DOM. */
import { numberOf } from '../api/exact.ts';
import type { Row } from '../api/rows.ts';

/** The kinds of charts. */
export const KINDS = ['line', 'bar', 'scatter'] as const;
export type Kind = (typeof KINDS)[number];

/** The rows of a result, as far as a chart reads them. */
export interface Values {
  readonly columns: readonly string[];
  row(index: number): Row;
}

export interface Shape {
  readonly numbers: readonly string[];
  readonly times: readonly string[];
  readonly others: readonly string[];
}

/** The columns of a result, by the axis of a chart that they can be on. */
export function shapeOf(rows: Values, count: number): Shape {
  const numbers: string[] = [];
  const times: string[] = [];
  const others: string[] = [];
  for (const name of rows.columns) {
    const values = Array.from({ length: Math.min(count, 100) }, (_, i) => rows.row(i)[name]).filter((v) => v !== null && v !== undefined);
    if (values.length > 0 && values.every((v) => numberOf(v) !== null)) numbers.push(name);
    else if (values.length > 0 && values.every((v) => typeof v === 'string' && /^\d{4}-\d\d(-\d\d)?([T ]|$)/.test(v))) times.push(name);
    else others.push(name);
  }
  return { numbers, times, others };
}

export interface Choice {
  readonly x: string;
  /** Empty if no column of numbers is left. */
  readonly y: string;
  readonly kind: Kind;
}

/** What a chart shows: the user's choice, and a guess for what the user has not chosen (null). */
export function chosenIn({ numbers, times, others }: Shape, along: string | null, value: string | null, kind: Kind | null): Choice {
  const x = along ?? times[0] ?? others.find((n) => !n.startsWith('entity_id')) ?? numbers[0] ?? '';
  const y = value ?? numbers.find((n) => n !== x && !/(^|_)(id|key|code|no|lat|lng|lon|latitude|longitude)$/.test(n)) ?? numbers.find((n) => n !== x) ?? '';
  return { x, y, kind: kind ?? (times.includes(x) ? 'line' : numbers.includes(x) ? 'scatter' : 'bar') };
}
