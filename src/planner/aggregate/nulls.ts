/** What an expression over a path is where nothing is related, and the kind of number that it gives, as far as its tree alone tells. */
import type { FuncCall, TypeName } from '@pgsql/types';
import { parseType } from '../../ontology/types.ts';
import { type Reference, referenceOf } from '../references.ts';
import { typeOf } from '../sources.ts';
import { cast, lastName, type Node, nullValue, rewrite, walk } from '../tree.ts';

/** NULL operands make these NULL. */
const STRICT_OPERATORS = new Set(['+', '-', '*', '/', '%', '=', '<>', '!=', '<', '>', '<=', '>=']);
/** These fail on no value. */
const COMPARISONS = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);
const STRICT_FUNCTIONS = new Set(['abs', 'round', 'trunc', 'floor', 'ceil', 'ceiling', 'length', 'lower', 'upper']);

/** Whether an expression over columns of related rows is surely NULL where all of them are. */
export function isNullOverNulls(expr: Node | undefined): boolean {
  if (!expr) return false;
  if ('ColumnRef' in expr) return referenceOf(expr.ColumnRef) !== undefined;
  if ('TypeCast' in expr) return isNullOverNulls(expr.TypeCast.arg);
  if ('A_Expr' in expr) {
    const { kind, name, lexpr, rexpr } = expr.A_Expr;
    return kind === 'AEXPR_OP' && name?.length === 1 && STRICT_OPERATORS.has(lastName(name)) && (isNullOverNulls(lexpr) || isNullOverNulls(rexpr));
  }
  if ('FuncCall' in expr) {
    const { funcname, args } = expr.FuncCall as FuncCall;
    return funcname?.length === 1 && STRICT_FUNCTIONS.has(lastName(funcname)) && (args ?? []).some(isNullOverNulls);
  }
  return 'A_Const' in expr && expr.A_Const.isnull === true;
}

/**
 * The expression with NULL for each column of a related row; undefined where PostgreSQL, which works out constants before it runs, might fail
 * on it though no row has it.
 */
export function overNulls(expr: Node): Node | undefined {
  let safe = true;
  walk(expr, (n) => {
    if (isNullOverNulls(n)) {
      walk(n, (c) => {
        if ('ColumnRef' in c && !typeAt(c)) safe = false;
        return undefined;
      });
      return false;
    }
    if (!isHarmless(n)) safe = false;
    return safe;
  });
  if (!safe) return undefined;
  return rewrite(expr, (n) => {
    const type = 'ColumnRef' in n ? typeAt(n) : undefined;
    return type === undefined ? undefined : cast(nullValue(), type);
  }) as Node;
}

const HARMLESS = ['A_Const', 'CoalesceExpr', 'CaseExpr', 'CaseWhen', 'BoolExpr', 'NullTest', 'BooleanTest', 'List', 'String', 'Integer', 'Float'];

function isHarmless(node: Node): boolean {
  if ('A_Expr' in node) {
    const { kind, name } = node.A_Expr;
    return (kind === 'AEXPR_OP' || kind === 'AEXPR_IN') && name?.length === 1 && COMPARISONS.has(lastName(name));
  }
  return HARMLESS.some((h) => h in node);
}

/** The SQL type of the column that a reference means; undefined: not known. */
function typeAt(node: Node): string | undefined {
  const ref = 'ColumnRef' in node ? referenceOf(node.ColumnRef) : undefined;
  return ref && typeOfReference(ref);
}

function typeOfReference({ node, alias, column }: Reference): string | undefined {
  if (alias !== node.alias) return undefined;
  if (node.step?.kind === 'multi') return parseType(node.step.def.type).sql;
  const wanted = [...node.columns.values()].find((c) => c.name === column)?.wanted;
  return wanted && typeOf(wanted);
}

/** Kinds of exact numbers: what PostgreSQL's sums of them are, and that they come out the same in any order, depends on them. */
export type Exact = 'integer' | 'bigint' | 'numeric';

const RANK: readonly Exact[] = ['integer', 'bigint', 'numeric'];
const EXACT: Readonly<Record<string, Exact>> = { smallint: 'integer', integer: 'integer', int2: 'integer', int4: 'integer', bigint: 'bigint', int8: 'bigint' };

/** The kind of an expression; undefined: no exact number, or not known. */
export function exactKind(expr: Node | undefined): Exact | undefined {
  if (!expr) return undefined;
  if ('ColumnRef' in expr) {
    const type = typeAt(expr);
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
    return widest(lexpr ? [lexpr, rexpr] : [rexpr]);
  }
  if ('CoalesceExpr' in expr) return widest(expr.CoalesceExpr.args ?? []);
  if ('CaseExpr' in expr) {
    const results = (expr.CaseExpr.args ?? []).map((w) => ('CaseWhen' in w ? w.CaseWhen.result : undefined));
    return widest(expr.CaseExpr.defresult ? [...results, expr.CaseExpr.defresult] : results);
  }
  return undefined;
}

function castKind(type: TypeName | undefined): Exact | undefined {
  if (!type || type.arrayBounds?.length || type.setof) return undefined;
  const name = lastName(type.names);
  return name === 'numeric' ? 'numeric' : EXACT[name];
}

function widest(operands: readonly (Node | undefined)[]): Exact | undefined {
  const isBareNull = (n: Node | undefined): boolean => n !== undefined && 'A_Const' in n && n.A_Const.isnull === true;
  const kinds = operands.filter((o) => !isBareNull(o)).map(exactKind);
  if (kinds.length === 0 || kinds.includes(undefined)) return undefined;
  return RANK[Math.max(...kinds.map((k) => RANK.indexOf(k as Exact)))];
}
