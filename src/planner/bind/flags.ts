/**
 * Comparisons of flags with numbers: `is_inverse = 0` and `` `_type_of_c` IN (1) `` mean the same as with false and true. PostgreSQL has no operator for a boolean and
 * a number. Other expressions and columns are not changed, so the type of an answer stays boolean.
 */
import type { A_Expr } from '@pgsql/types';
import { boolean, lastName, type Node } from '../plan/tree.ts';
import { columnOf } from './names.ts';
import type { Resolver } from './resolve.ts';
import type { Scope } from './scope.ts';

const OPERATORS: ReadonlySet<string> = new Set(['=', '<>']);

/** Replaces 0 and 1 by false and true where they are compared with a flag by =, <> or IN (in place). Call this before the operands are resolved. */
export function readNumbers(resolver: Resolver, expression: A_Expr, scope: Scope): void {
  const { kind, name, lexpr, rexpr } = expression;
  if ((kind !== 'AEXPR_OP' && kind !== 'AEXPR_IN') || !OPERATORS.has(lastName(name)) || lexpr === undefined || rexpr === undefined) return;
  if (kind === 'AEXPR_IN') {
    if (!('List' in rexpr) || !rexpr.List.items?.some(isNumber) || !isFlag(resolver, lexpr, scope)) return;
    rexpr.List.items = rexpr.List.items.map(asBoolean);
  } else if (isNumber(rexpr)) {
    if (isFlag(resolver, lexpr, scope)) expression.rexpr = asBoolean(rexpr);
  } else if (isNumber(lexpr) && isFlag(resolver, rexpr, scope)) expression.lexpr = asBoolean(lexpr);
}

/** The value of the constant 0 or 1; undefined for any other expression. */
function numberOf(node: Node): boolean | undefined {
  const value = 'A_Const' in node ? node.A_Const.ival : undefined;
  const number = value === undefined ? undefined : (value.ival ?? 0);
  return number === 0 || number === 1 ? number === 1 : undefined;
}

const isNumber = (node: Node): boolean => numberOf(node) !== undefined;

function asBoolean(node: Node): Node {
  const value = numberOf(node);
  return value === undefined ? node : boolean(value);
}

function isFlag(resolver: Resolver, node: Node, scope: Scope): boolean {
  if (!('ColumnRef' in node)) return false;
  const last = node.ColumnRef.fields?.at(-1);
  return last !== undefined && !('A_Star' in last) && columnOf(resolver, node.ColumnRef, scope)?.column.isFlag === true;
}
