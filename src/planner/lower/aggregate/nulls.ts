/** The value of an expression over a path if no row is related, and the type of number that it gives, as far as both follow from its tree. */
import type { FuncCall, TypeName } from '@pgsql/types';
import { parseType } from '../../../ontology/types.ts';
import type { Reference, References } from '../../plan/references.ts';
import { cast, lastName, type Node, nullValue, rewrite, walk } from '../../plan/tree.ts';
import { typeOf } from '../../plan/wanted.ts';

/** Operators that return NULL for a NULL operand. */
const STRICT_OPERATORS = new Set(['+', '-', '*', '/', '%', '=', '<>', '!=', '<', '>', '<=', '>=']);
/** Operators that raise no error for any value. */
const COMPARISONS = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);
const STRICT_FUNCTIONS = new Set(['abs', 'round', 'trunc', 'floor', 'ceil', 'ceiling', 'length', 'lower', 'upper']);

/** True if an expression over columns of related rows is certainly NULL if all of them are. */
export function isNullOverNulls(expr: Node | undefined, references: References): boolean {
  const isNull = (n: Node | undefined): boolean => isNullOverNulls(n, references);
  if (!expr) return false;
  if ('ColumnRef' in expr) return references.of(expr.ColumnRef) !== undefined;
  if ('TypeCast' in expr) return isNull(expr.TypeCast.arg);
  if ('A_Expr' in expr) {
    const { kind, name, lexpr, rexpr } = expr.A_Expr;
    return kind === 'AEXPR_OP' && name?.length === 1 && STRICT_OPERATORS.has(lastName(name)) && (isNull(lexpr) || isNull(rexpr));
  }
  if ('FuncCall' in expr) {
    const { funcname, args } = expr.FuncCall as FuncCall;
    return funcname?.length === 1 && STRICT_FUNCTIONS.has(lastName(funcname)) && (args ?? []).some(isNull);
  }
  return 'A_Const' in expr && expr.A_Const.isnull === true;
}

/**
 * The expression with NULL in place of each column of a related row; undefined if PostgreSQL's evaluation of constants at plan time might raise an error that
 * no row would raise.
 */
export function overNulls(expr: Node, references: References): Node | undefined {
  let safe = true;
  walk(expr, (n) => {
    if (isNullOverNulls(n, references)) {
      walk(n, (c) => {
        if ('ColumnRef' in c && !typeAt(c, references)) safe = false;
        return undefined;
      });
      return false;
    }
    if (!raisesNoError(n)) safe = false;
    return safe;
  });
  if (!safe) return undefined;
  return rewrite(expr, (n) => {
    const type = 'ColumnRef' in n ? typeAt(n, references) : undefined;
    return type === undefined ? undefined : cast(nullValue(), type);
  }) as Node;
}

const RAISE_NO_ERROR = ['A_Const', 'CoalesceExpr', 'CaseExpr', 'CaseWhen', 'BoolExpr', 'NullTest', 'BooleanTest', 'List', 'String', 'Integer', 'Float'];

function raisesNoError(node: Node): boolean {
  if ('A_Expr' in node) {
    const { kind, name } = node.A_Expr;
    return (kind === 'AEXPR_OP' || kind === 'AEXPR_IN') && name?.length === 1 && COMPARISONS.has(lastName(name));
  }
  return RAISE_NO_ERROR.some((h) => h in node);
}

/** The SQL type of the column of a reference; undefined if it is not known. */
function typeAt(node: Node, references: References): string | undefined {
  const ref = 'ColumnRef' in node ? references.of(node.ColumnRef) : undefined;
  return ref && typeOfReference(ref);
}

function typeOfReference({ node, alias, column, relation }: Reference): string | undefined {
  if (alias !== node.alias) return undefined;
  if (node.step?.kind === 'multi') return parseType(node.step.def.type).sql;
  const wanted = node.wantedOf(column);
  return wanted && typeOf(relation.state.graph, wanted);
}

/** Exact number types. The type of PostgreSQL's sum depends on them, and such sums do not depend on the order of the rows. */
export type Exact = 'integer' | 'bigint' | 'numeric';

const RANK: readonly Exact[] = ['integer', 'bigint', 'numeric'];
const EXACT: Readonly<Record<string, Exact>> = { smallint: 'integer', integer: 'integer', int2: 'integer', int4: 'integer', bigint: 'bigint', int8: 'bigint' };

/** The exact number type of an expression; undefined if its type is another one or not known. */
export function exactKind(expr: Node | undefined, references: References): Exact | undefined {
  if (!expr) return undefined;
  if ('ColumnRef' in expr) {
    const type = typeAt(expr, references);
    return type?.startsWith('numeric') ? 'numeric' : EXACT[type ?? ''];
  }
  if ('A_Const' in expr) {
    if (expr.A_Const.ival) return 'integer';
    const digits = expr.A_Const.fval?.fval;
    if (digits === undefined) return undefined;
    return /^\d{1,18}$/.test(digits) ? 'bigint' : 'numeric';
  }
  if ('TypeCast' in expr) return castKind(expr.TypeCast.typeName);
  if ('A_Expr' in expr) {
    const { kind, name, lexpr, rexpr } = expr.A_Expr;
    if (kind !== 'AEXPR_OP' || name?.length !== 1 || !'+-*/%'.includes(lastName(name))) return undefined;
    return widest(lexpr ? [lexpr, rexpr] : [rexpr], references);
  }
  if ('CoalesceExpr' in expr) return widest(expr.CoalesceExpr.args ?? [], references);
  if ('CaseExpr' in expr) {
    const results = (expr.CaseExpr.args ?? []).map((w) => ('CaseWhen' in w ? w.CaseWhen.result : undefined));
    return widest(expr.CaseExpr.defresult ? [...results, expr.CaseExpr.defresult] : results, references);
  }
  return undefined;
}

function castKind(type: TypeName | undefined): Exact | undefined {
  if (!type || type.arrayBounds?.length || type.setof) return undefined;
  const name = lastName(type.names);
  return name === 'numeric' ? 'numeric' : EXACT[name];
}

function widest(operands: readonly (Node | undefined)[], references: References): Exact | undefined {
  const isBareNull = (n: Node | undefined): boolean => n !== undefined && 'A_Const' in n && n.A_Const.isnull === true;
  const kinds = operands.filter((o) => !isBareNull(o)).map((o) => exactKind(o, references));
  if (kinds.length === 0 || kinds.includes(undefined)) return undefined;
  return RANK[Math.max(...kinds.map((k) => RANK.indexOf(k as Exact)))];
}

/** The SQL type of an aggregate call; undefined if it is not known. */
export function resultType(call: Node, references: References): string | undefined {
  if (!('FuncCall' in call) || call.FuncCall.funcname?.length !== 1) return undefined;
  const name = lastName(call.FuncCall.funcname);
  const [arg] = call.FuncCall.args ?? [];
  if (name === 'count') return 'bigint';
  if (name === 'bool_and' || name === 'bool_or' || name === 'every') return 'boolean';
  const type = arg && typeAt(arg, references);
  const isFloat = type === 'double precision' || type === 'real';
  if (name === 'min' || name === 'max') return type;
  if (name !== 'sum' && name !== 'avg') return undefined;
  if (isFloat) return name === 'sum' ? type : 'double precision';
  const kind = exactKind(arg, references);
  if (kind === undefined) return undefined;
  return name === 'sum' && kind === 'integer' ? 'bigint' : 'numeric';
}
