/** Operators, and the precedence of expressions. */
import type * as pg from '@pgsql/types';
import { expression, operand, parenthesized } from './expression.ts';
import { isNegative, operator, stringOf } from './lexical.ts';
import { check, fields, must, type Sink, typeOf, unsupported } from './sink.ts';

/** The levels of precedence, lowest first. Expressions that the printer does not distinguish are `other` and get parentheses. */
export const PRECEDENCE = { or: 1, and: 2, other: 3, comparison: 4, operator: 5, plus: 6, times: 7, power: 8, cast: 9, atom: 10 } as const;

/** The precedence of the outermost operator of `node`. */
export function precedenceOf(node: pg.Node): number {
  const type = typeOf(node);
  const body = (node as unknown as Readonly<Record<string, never>>)[type ?? ''] as never;
  switch (type) {
    case 'A_Const':
      return isNegative(body) ? PRECEDENCE.other : PRECEDENCE.atom;
    case 'A_Expr':
      return (body as pg.A_Expr).kind === 'AEXPR_NULLIF' ? PRECEDENCE.atom : binaryPrecedence(body);
    case 'FuncCall':
      return (body as pg.FuncCall).funcformat === 'COERCE_SQL_SYNTAX' && OPERATOR_FUNCTIONS.has(lastName(body)) ? PRECEDENCE.other : PRECEDENCE.atom;
    case 'BoolExpr': {
      const op = (body as pg.BoolExpr).boolop;
      return op === 'OR_EXPR' ? PRECEDENCE.or : op === 'AND_EXPR' ? PRECEDENCE.and : PRECEDENCE.other;
    }
    case 'SubLink': {
      const kind = (body as pg.SubLink).subLinkType;
      return kind === 'ANY_SUBLINK' || kind === 'ALL_SUBLINK' ? PRECEDENCE.other : PRECEDENCE.atom;
    }
    case 'TypeCast':
      return PRECEDENCE.cast;
    case 'NullTest':
    case 'BooleanTest':
    case 'CollateClause':
    case 'JsonIsPredicate':
      return PRECEDENCE.other;
    default:
      return PRECEDENCE.atom;
  }
}

/** Functions that are printed as operators. */
const OPERATOR_FUNCTIONS: ReadonlySet<string> = new Set(['timezone', 'overlaps', 'is_normalized']);

const lastName = (call: pg.FuncCall): string => {
  const names = call.funcname ?? [];
  return names.length === 0 ? '' : stringOf(names[names.length - 1]);
};

/** The precedence of a binary operator; `other` for anything else. */
function binaryPrecedence(n: pg.A_Expr): number {
  if (n.kind !== 'AEXPR_OP' || n.lexpr === undefined || n.rexpr === undefined || n.name?.length !== 1) return PRECEDENCE.other;
  switch (stringOf(n.name[0])) {
    case '=':
    case '<>':
    case '<':
    case '>':
    case '<=':
    case '>=':
      return PRECEDENCE.comparison;
    case '+':
    case '-':
      return PRECEDENCE.plus;
    case '*':
    case '/':
    case '%':
      return PRECEDENCE.times;
    case '^':
      return PRECEDENCE.power;
    default:
      return PRECEDENCE.operator;
  }
}

const A_EXPR = fields('kind name lexpr rexpr rexpr_list_start rexpr_list_end location');

/** Prints an A_Expr. */
export function operatorExpression(sink: Sink, n: pg.A_Expr): void {
  if (n.kind === 'AEXPR_OP') {
    plain(sink, n);
    return;
  }
  check('A_Expr', A_EXPR, n);
  const left = must(n.lexpr, 'A_Expr');
  const right = must(n.rexpr, 'A_Expr');
  // The name of BETWEEN consists of words.
  const name = n.kind?.includes('BETWEEN') ? '' : operator(n.name);
  if (n.kind === 'AEXPR_NULLIF') {
    expect(name === '=');
    sink.at(n.location);
    sink.text += 'NULLIF(';
    sink.list([left, right], expression);
    sink.text += ')';
    return;
  }
  operand(sink, left);
  sink.text += ' ';
  sink.at(n.location);
  switch (n.kind) {
    case 'AEXPR_OP_ANY':
    case 'AEXPR_OP_ALL':
      sink.text += `${name} ${n.kind === 'AEXPR_OP_ANY' ? 'ANY' : 'ALL'} `;
      arrayOperand(sink, right);
      break;
    case 'AEXPR_DISTINCT':
    case 'AEXPR_NOT_DISTINCT':
      expect(name === '=');
      sink.text += n.kind === 'AEXPR_DISTINCT' ? 'IS DISTINCT FROM ' : 'IS NOT DISTINCT FROM ';
      operand(sink, right);
      break;
    case 'AEXPR_IN':
      inList(sink, name, right);
      break;
    case 'AEXPR_LIKE':
      matching(sink, right, 'like_escape', pick(name, '~~', 'LIKE ', '!~~'));
      break;
    case 'AEXPR_ILIKE':
      matching(sink, right, 'like_escape', pick(name, '~~*', 'ILIKE ', '!~~*'));
      break;
    case 'AEXPR_SIMILAR':
      matching(sink, right, 'similar_to_escape', pick(name, '~', 'SIMILAR TO ', '!~'));
      break;
    case 'AEXPR_BETWEEN':
    case 'AEXPR_NOT_BETWEEN':
    case 'AEXPR_BETWEEN_SYM':
    case 'AEXPR_NOT_BETWEEN_SYM':
      between(sink, n.kind, right);
      break;
    default:
      throw unsupported('this operator');
  }
}

function between(sink: Sink, kind: string, right: pg.Node): void {
  const bounds = must((right as { List?: pg.List }).List?.items, 'BETWEEN');
  expect(bounds.length === 2);
  sink.text += kind.includes('NOT') ? 'NOT BETWEEN ' : 'BETWEEN ';
  if (kind.endsWith('_SYM')) sink.text += 'SYMMETRIC ';
  operand(sink, bounds[0] as pg.Node);
  sink.text += ' AND ';
  operand(sink, bounds[1] as pg.Node);
}

function expect(isTrue: boolean): void {
  if (!isTrue) throw unsupported('this operator');
}

/**
 * Returns `word` for the operator `plainName` and `NOT word` for `negated`.
 * @throws SvcError 400 `unsupported_syntax` for any other operator
 */
function pick(name: string, plainName: string, word: string, negated: string): string {
  expect(name === plainName || name === negated);
  return name === negated ? `NOT ${word}` : word;
}

/** Prints an operator expression. Chains such as `a || b || c` are nested on the left and can be long, so a loop walks them. */
function plain(sink: Sink, last: pg.A_Expr): void {
  const chain: pg.A_Expr[] = [];
  let n = last;
  for (;;) {
    check('A_Expr', A_EXPR, n);
    chain.push(n);
    const left = n.lexpr;
    if (left === undefined || !('A_Expr' in left) || left.A_Expr.kind !== 'AEXPR_OP') break;
    const precedence = binaryPrecedence(n);
    const leftPrecedence = binaryPrecedence(left.A_Expr);
    // Comparisons are not associative. A left operand of higher precedence needs no parentheses.
    if (precedence < PRECEDENCE.comparison || leftPrecedence < precedence || (leftPrecedence === precedence && precedence === PRECEDENCE.comparison)) break;
    n = left.A_Expr;
  }
  for (let i = chain.length - 1; i >= 0; i--) {
    const step = chain[i] as pg.A_Expr;
    const precedence = binaryPrecedence(step);
    if (step.lexpr !== undefined) {
      if (i === chain.length - 1) operand(sink, step.lexpr);
      sink.text += ' ';
    }
    sink.at(step.location);
    sink.text += `${operator(step.name)} `;
    const right = must(step.rexpr, 'operator');
    if (precedence >= PRECEDENCE.comparison && precedenceOf(right) > precedence) expression(sink, right);
    else operand(sink, right);
  }
}

/** Prints the right side of `= ANY`. Parentheses around a single subquery would turn `= ANY (array)` into `= ANY (query)`; COALESCE keeps it an expression. */
function arrayOperand(sink: Sink, node: pg.Node): void {
  if (isSubquery(node)) {
    sink.text += '(COALESCE(';
    expression(sink, node);
    sink.text += '))';
  } else parenthesized(sink, node);
}

const isSubquery = (node: pg.Node): boolean => 'SubLink' in node && node.SubLink.subLinkType === 'EXPR_SUBLINK';

function inList(sink: Sink, name: string, right: pg.Node): void {
  expect(name === '=' || name === '<>');
  const items = must((right as { List?: pg.List }).List?.items, 'IN');
  if (items.length === 1 && isSubquery(items[0] as pg.Node)) {
    // `IN ((query))` has the same problem. PostgreSQL itself turns a list of one item into a comparison.
    sink.text += `${name} `;
    operand(sink, items[0] as pg.Node);
    return;
  }
  sink.text += name === '=' ? 'IN (' : 'NOT IN (';
  sink.list(items, expression);
  sink.text += ')';
}

/** Prints the pattern of LIKE, ILIKE or SIMILAR TO with its escape character. The grammar wraps both in a function call. */
function matching(sink: Sink, right: pg.Node, wrapper: string, word: string): void {
  sink.text += word;
  const args = wrappedArguments(right, wrapper);
  if (args === undefined) {
    // The grammar always wraps the pattern of SIMILAR TO.
    expect(wrapper === 'like_escape');
    operand(sink, right);
    return;
  }
  operand(sink, args[0] as pg.Node);
  if (args.length === 2) {
    sink.text += ' ESCAPE ';
    operand(sink, args[1] as pg.Node);
  }
}

const WRAPPER_CALL = fields('funcname args funcformat location');

function wrappedArguments(node: pg.Node, wrapper: string): readonly pg.Node[] | undefined {
  const call = (node as { FuncCall?: pg.FuncCall }).FuncCall;
  if (call?.funcname?.length !== 2 || stringOf(call.funcname[0]) !== 'pg_catalog' || lastName(call) !== wrapper) return undefined;
  const count = call.args?.length ?? 0;
  if (count !== 2 && (count !== 1 || wrapper === 'like_escape')) return undefined;
  check('FuncCall', WRAPPER_CALL, call);
  return call.args;
}
