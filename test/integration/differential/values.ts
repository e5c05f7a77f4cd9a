/** Values and operators with SQL's three-valued logic. */
import type { Op, Scalar } from './expr.ts';

export const same = (a: Scalar, b: Scalar): boolean => a === b;

/** By code point for text (collation C), false before true. */
export function compare(a: Scalar, b: Scalar): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}

export const avg = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

const not = (v: Scalar): Scalar => (v === null ? null : !v);

function or(list: readonly Scalar[]): Scalar {
  return list.includes(true) ? true : list.includes(null) ? null : false;
}

/** Applies an operator to operands that are evaluated when asked (CASE and COALESCE do not ask for all). */
export function apply(op: Op, args: readonly (() => Scalar)[]): Scalar {
  if (op === 'coalesce') {
    for (const a of args) {
      const v = a();
      if (v !== null) return v;
    }
    return null;
  }
  if (op === 'case') return args[0]!() === true ? args[1]!() : args.length > 2 ? args[2]!() : null;
  const list = args.map((a) => a());
  const [a, b, c] = list as [Scalar, Scalar, Scalar];
  switch (op) {
    case 'and':
      return not(or(list.map(not)));
    case 'or':
      return or(list);
    case 'not':
      return not(a);
    case 'isnull':
      return a === null;
    case 'notnull':
      return a !== null;
    case 'istrue':
      return a === true;
    case 'distinct':
      return a !== b;
    case 'not distinct':
      return a === b;
    case 'in':
    case 'any':
      return or(list.slice(1).map((v) => (v === null || a === null ? null : a === v)));
    case 'not in':
      return not(or(list.slice(1).map((v) => (v === null || a === null ? null : a === v))));
    case 'between':
      return not(or([not(a === null || b === null ? null : compare(a, b) >= 0), not(a === null || c === null ? null : compare(a, c) <= 0)]));
    default:
  }
  if (op === 'nullif') return a !== null && a === b ? null : a;
  if (a === null || (list.length > 1 && b === null)) return null;
  switch (op) {
    case '=':
      return a === b;
    case '<>':
      return a !== b;
    case '<':
      return compare(a, b) < 0;
    case '<=':
      return compare(a, b) <= 0;
    case '>':
      return compare(a, b) > 0;
    case '>=':
      return compare(a, b) >= 0;
    case '+':
      return (a as number) + (b as number);
    case '-':
      return (a as number) - (b as number);
    case '*':
      return (a as number) * (b as number);
    case '||':
      return `${a}${b}`;
    case 'upper':
      return String(a).toUpperCase();
    case 'length':
      return [...String(a)].length;
    case 'like':
      return like(String(a), String(b));
    case 'not like':
      return !like(String(a), String(b));
    default:
      throw new Error(`no operator ${op}`);
  }
}

/** LIKE with % and _; the patterns here have no escapes. */
function like(text: string, pattern: string): boolean {
  const re = [...pattern].map((ch) => (ch === '%' ? '.*' : ch === '_' ? '.' : ch.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))).join('');
  return new RegExp(`^${re}$`, 'su').test(text);
}
