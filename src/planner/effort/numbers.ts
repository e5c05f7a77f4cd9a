/** Bounds of numbers on which the length of a result depends: exponents, digits after the point. */
import { lastName, type Node, walk } from '../plan/tree.ts';
import { LENGTHS } from './functions.ts';
import { ofBytes, type Size, sum, UNKNOWN } from './sizes.ts';
import { constant, functionName, SHORT_VALUE } from './steps.ts';

/** What a number depends on. */
interface Known {
  readonly sizeOf: (node: Node) => Size;
  /** The number of rows that an aggregate takes; 1: those of a table. */
  readonly rowsOf: (args: readonly Node[]) => number;
  readonly params: readonly (string | null)[];
}

/** The assumed largest number of a table: a length, a number of rows, a part of a date. */
const TABLE_NUMBER = 100;

/** The absolute value that a number has at most; undefined if it is not known. */
export function boundOf(node: Node | undefined, known: Known): number | undefined {
  const number = constant(node);
  if (node === undefined || number !== undefined) return number;
  if ('TypeCast' in node) return boundOf(node.TypeCast.arg, known);
  if ('ParamRef' in node) return absolute(known.params[(node.ParamRef.number ?? 0) - 1] ?? undefined);
  if ('A_Const' in node) return absolute(node.A_Const.fval?.fval ?? node.A_Const.sval?.sval);
  if ('ColumnRef' in node) return isOfTable(node, known) ? TABLE_NUMBER : undefined;
  if ('FuncCall' in node) {
    const { args = [] } = node.FuncCall;
    const name = functionName(node.FuncCall);
    if (LENGTHS.has(name)) return args[0] && known.sizeOf(args[0]).made <= SHORT_VALUE ? TABLE_NUMBER : undefined;
    if (name === 'count') return Math.max(TABLE_NUMBER, known.rowsOf(args));
    return (name === 'extract' || name === 'date_part') && isDateOfTable(args, known) ? TABLE_NUMBER : undefined;
  }
  if (!('A_Expr' in node) || node.A_Expr.kind !== 'AEXPR_OP') return undefined;
  const { lexpr, rexpr, name } = node.A_Expr;
  const left = lexpr ? boundOf(lexpr, known) : 0;
  const right = boundOf(rexpr, known);
  if (left === undefined || right === undefined) return undefined;
  const symbol = lastName(name);
  return symbol === '+' || symbol === '-' ? left + right : symbol === '*' ? left * right : undefined;
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
  return symbol === '-' && lexpr && constant(rexpr) !== undefined ? charactersIn(lexpr, sizeOf) : UNKNOWN;
}
