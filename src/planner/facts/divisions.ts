/** Finds divisions in stored expressions, for the error of a statement in which one of them divides by zero. */
import { lastName, type Node, walk } from '../plan/tree.ts';

const OPERATORS: ReadonlySet<string> = new Set(['/', '%']);
const FUNCTIONS: ReadonlySet<string> = new Set(['div', 'mod']);
/** What the text of an expression with a division contains. */
const MAYBE = /[/%]|\bdiv\b|\bmod\b/i;

/** True if an expression has a divisor that may be zero. @param tree makes the tree of `text` */
export function mayDivideByZero(text: string, tree: () => Node): boolean {
  if (!MAYBE.test(text)) return false;
  let found = false;
  walk(tree(), (node) => {
    const divisor = divisorOf(node);
    found ||= divisor !== undefined && !isNeverZero(divisor);
    return !found;
  });
  return found;
}

function divisorOf(node: Node): Node | undefined {
  if ('A_Expr' in node && node.A_Expr.kind === 'AEXPR_OP' && OPERATORS.has(lastName(node.A_Expr.name))) return node.A_Expr.rexpr;
  if ('FuncCall' in node && FUNCTIONS.has(lastName(node.FuncCall.funcname))) return node.FuncCall.args?.[1];
  return undefined;
}

/** True for a number other than zero, and for NULLIF(x, 0). */
function isNeverZero(divisor: Node): boolean {
  if ('TypeCast' in divisor && divisor.TypeCast.arg) return isNeverZero(divisor.TypeCast.arg);
  if ('A_Expr' in divisor) return divisor.A_Expr.kind === 'AEXPR_NULLIF' && divisor.A_Expr.rexpr !== undefined && numberOf(divisor.A_Expr.rexpr) === 0;
  const number = numberOf(divisor);
  return number !== undefined && number !== 0;
}

function numberOf(node: Node): number | undefined {
  if (!('A_Const' in node)) return undefined;
  const { ival, fval } = node.A_Const;
  if (ival) return ival.ival ?? 0;
  return fval ? Number(fval.fval) : undefined;
}
