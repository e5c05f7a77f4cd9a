/** Bounds of numbers on which the length of a result depends: exponents, digits after the point. */
import type { ColumnRef } from '@pgsql/types';
import { lastName, type Node, walk } from '../plan/tree.ts';
import { LENGTHS, names } from './functions.ts';
import { ofBytes, type Size, sum, UNKNOWN } from './sizes.ts';
import { constant, functionName, magnitude, SHORT_VALUE } from './steps.ts';

/** What a number depends on. */
interface Known {
  readonly sizeOf: (node: Node) => Size;
  /** The number of rows that an aggregate takes; 1: those of a table. */
  readonly rowsOf: (args: readonly Node[]) => number;
  /** The absolute value of a column that is constant. */
  readonly numberOf: (reference: ColumnRef) => number | undefined;
  readonly params: readonly (string | null)[];
  /** The assumed largest number of a table. */
  readonly ofTable: number;
}

/** The assumed largest number of a table: a length, a number of rows, a part of a date. */
export const TABLE_NUMBER = 100;

/** The absolute value that a number has at most; undefined if it is not known. */
export function boundOf(node: Node | undefined, known: Known): number | undefined {
  const number = magnitude(node);
  if (node === undefined || number !== undefined) return number;
  if ('TypeCast' in node) return boundOf(node.TypeCast.arg, known);
  if ('ParamRef' in node) return absolute(known.params[(node.ParamRef.number ?? 0) - 1] ?? undefined);
  if ('A_Const' in node) return absolute(node.A_Const.fval?.fval ?? node.A_Const.sval?.sval);
  if ('ColumnRef' in node) return isOfTable(node, known) ? known.ofTable : known.numberOf(node.ColumnRef);
  if ('FuncCall' in node) return boundOfCall(functionName(node.FuncCall), node.FuncCall.args ?? [], known);
  if ('CoalesceExpr' in node) return largestOf(node.CoalesceExpr.args, known);
  if ('MinMaxExpr' in node) return largestOf(node.MinMaxExpr.args, known);
  if ('CaseExpr' in node) {
    const { args = [], defresult } = node.CaseExpr;
    return largestOf([...args.map((a) => ('CaseWhen' in a ? a.CaseWhen.result : a)), ...(defresult ? [defresult] : [])], known);
  }
  if (!('A_Expr' in node)) return undefined;
  const { kind, lexpr, rexpr, name } = node.A_Expr;
  const left = lexpr ? boundOf(lexpr, known) : 0;
  if (kind === 'AEXPR_NULLIF') return left;
  const right = boundOf(rexpr, known);
  return kind !== 'AEXPR_OP' || left === undefined || right === undefined ? undefined : boundOfOperation(lastName(name), left, right, rexpr);
}

function boundOfOperation(symbol: string, left: number, right: number, divisor: Node | undefined): number | undefined {
  if (symbol === '+' || symbol === '-') return left + right;
  if (symbol === '*') return left * right;
  if (symbol === '%') return right;
  // a divisor that is not constant may be a fraction
  const isConstant =
    divisor !== undefined && ('A_Const' in divisor || ('TypeCast' in divisor && divisor.TypeCast.arg !== undefined && 'A_Const' in divisor.TypeCast.arg));
  return symbol === '/' && isConstant && right > 0 ? left / right : undefined;
}

/** Functions whose result is about as large as their first argument. */
const SAME = names('abs any_value avg ceil ceiling floor max min percentile_cont percentile_disc round trunc first_value last_value');

function boundOfCall(name: string, args: readonly Node[], known: Known): number | undefined {
  const [first] = args;
  if (LENGTHS.has(name)) return first && known.sizeOf(first).made <= SHORT_VALUE ? known.ofTable : undefined;
  if (name === 'count') return Math.max(known.ofTable, known.rowsOf(args));
  if ((name === 'extract' || name === 'date_part') && isDateOfTable(args, known)) return known.ofTable;
  if (name === 'sum' && first) return isOfTable(first, known) ? known.ofTable : undefined;
  return SAME.has(name) ? boundOf(first, known) : undefined;
}

function largestOf(nodes: readonly (Node | undefined)[] = [], known: Known): number | undefined {
  const bounds = nodes.map((n) => boundOf(n, known));
  return bounds.includes(undefined) ? undefined : Math.max(0, ...(bounds as number[]));
}

function absolute(text: string | undefined): number | undefined {
  const number = text === undefined ? Number.NaN : Math.abs(Number(text));
  return Number.isNaN(number) ? undefined : number;
}

/** True for a value of a table that the statement does not change. */
function isOfTable(node: Node, { sizeOf }: Known): boolean {
  const { made, data } = sizeOf(node);
  return data > 0 && made === 0;
}

/** The parts of dates that are small numbers. */
const PARTS_OF_DATES = /^(century|day|decade|dow|doy|hour|iso(dow|year)|minute|month|quarter|second|week|year)$/i;

/** True if the arguments are dates of tables, or the time between them: no constant makes them larger. */
function isDateOfTable(args: readonly Node[], known: Known): boolean {
  let found = true;
  walk(args, (n) => {
    if ('A_Const' in n) found &&= PARTS_OF_DATES.test(n.A_Const.sval?.sval ?? '');
    else if ('A_Expr' in n) found &&= lastName(n.A_Expr.name) === '-';
    else if ('ColumnRef' in n) found &&= isOfTable(n, known);
    return found;
  });
  return found;
}

/** The value of an argument that is a number of characters, if it consists of constants and lengths of texts; otherwise unknown. */
export function charactersIn(node: Node | undefined, sizeOf: (node: Node) => Size): Size {
  const number = constant(node);
  if (number !== undefined) return ofBytes(number);
  if (node && 'TypeCast' in node) return charactersIn(node.TypeCast.arg, sizeOf);
  if (node && 'FuncCall' in node && LENGTHS.has(functionName(node.FuncCall))) return sizeOf(node.FuncCall.args?.[0] ?? node);
  if (!node || !('A_Expr' in node)) return UNKNOWN;
  const { lexpr, rexpr, name } = node.A_Expr;
  const symbol = lastName(name);
  if (symbol === '+') return sum([charactersIn(lexpr, sizeOf), charactersIn(rexpr, sizeOf)]);
  const subtracted = magnitude(rexpr);
  if (symbol !== '-' || !lexpr || subtracted === undefined) return UNKNOWN;
  // the number may be negative
  return constant(rexpr) === subtracted ? charactersIn(lexpr, sizeOf) : sum([charactersIn(lexpr, sizeOf), ofBytes(subtracted)]);
}
