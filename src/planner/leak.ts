/**
 * Which expressions may stand beside the condition of a row policy without telling of the rows that it hides. PostgreSQL is free to
 * evaluate a caller's condition before the policy's; an expression that can fail (a division, a cast, an overflow) would then fail on a
 * hidden row. What never fails and writes nothing may be evaluated on any row: nobody sees what it gave for one that is filtered out.
 * (PostgreSQL has the same idea for views, as LEAKPROOF and security_barrier: Rules and Privileges in its manual.)
 */
import type { FuncCall } from '@pgsql/types';
import { isAggregate } from './guard/index.ts';
import { type Node, walk } from './tree.ts';

const TOTAL_OPERATORS = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);
const TOTAL_KINDS = new Set([
  'AEXPR_OP',
  'AEXPR_OP_ANY',
  'AEXPR_OP_ALL',
  'AEXPR_IN',
  'AEXPR_BETWEEN',
  'AEXPR_NOT_BETWEEN',
  'AEXPR_DISTINCT',
  'AEXPR_NOT_DISTINCT',
  'AEXPR_NULLIF',
]);
/** Functions that give a value for every value. Aggregates and windows see only rows that have passed every condition of their block. */
const TOTAL_FUNCTIONS = new Set([
  'char_length',
  'character_length',
  'length',
  'lower',
  'upper',
  'octet_length',
  'row_number',
  'rank',
  'dense_rank',
  'percent_rank',
  'cume_dist',
  'first_value',
  'last_value',
]);

/** Whether no part of a tree can fail on any row. Constants are the statement's own and tell nothing. */
export function isTotal(tree: unknown): boolean {
  let total = true;
  walk(tree, (n) => {
    if ('A_Expr' in n) total &&= isTotalOperator(n.A_Expr.kind, n.A_Expr.name);
    else if ('FuncCall' in n) total &&= isTotalCall(n.FuncCall);
    else if ('TypeCast' in n) total &&= isTotalCast(n);
    else if (PARTIAL.some((name) => name in n)) total = false;
    return total;
  });
  return total;
}

/** Nodes that may fail on a value: subscripts, JSON and XML functions, regular expressions of SIMILAR TO and the like. */
const PARTIAL = [
  'A_Indirection',
  'RangeFunction',
  'JsonFuncExpr',
  'JsonTable',
  'JsonParseExpr',
  'JsonScalarExpr',
  'JsonSerializeExpr',
  'JsonValueExpr',
  'XmlExpr',
  'CollateClause',
];

function isTotalOperator(kind: string | undefined, name: readonly Node[] | undefined): boolean {
  const last = name?.at(-1);
  return (
    TOTAL_KINDS.has(kind ?? '') &&
    (last === undefined || !('String' in last) || TOTAL_OPERATORS.has(last.String.sval ?? '') || kind?.endsWith('BETWEEN') === true)
  );
}

function isTotalCall(call: FuncCall): boolean {
  const last = call.funcname?.at(-1);
  const name = last && 'String' in last ? (last.String.sval ?? '') : '';
  return (call.funcname?.length ?? 0) === 1 && (isAggregate(name) || TOTAL_FUNCTIONS.has(name));
}

/** A cast of a constant, or one to text. */
function isTotalCast(node: Extract<Node, { TypeCast: unknown }>): boolean {
  const { arg, typeName } = node.TypeCast;
  if (arg && ('A_Const' in arg || 'ParamRef' in arg)) return true;
  const last = typeName?.names?.at(-1);
  return last !== undefined && 'String' in last && last.String.sval === 'text' && !typeName?.typmods?.length && !typeName?.arrayBounds?.length;
}

const FAMILIES: readonly ReadonlySet<string>[] = [new Set(['int2', 'int4', 'int8']), new Set(['text', 'varchar', 'bpchar', 'char', 'name'])];
const WIDTH: Readonly<Record<string, number>> = { int2: 1, int4: 2, int8: 3 };
const DECLARED: Readonly<Record<string, string>> = {
  integer: 'int4',
  bigint: 'int8',
  smallint: 'int2',
  'double precision': 'float8',
  boolean: 'bool',
  'timestamp with time zone': 'timestamptz',
  'timestamp without time zone': 'timestamp',
};

/** Whether a table's column of a type (`given`, PostgreSQL's internal name) can be cast to a declared SQL type whatever it holds. */
export function castsAlways(given: string | undefined, declared: string): boolean {
  if (given === undefined) return false;
  const wanted = DECLARED[declared] ?? declared;
  if (given === wanted || wanted === 'text') return true;
  if (wanted === 'numeric' || wanted === 'float8') return given in WIDTH || (wanted === 'float8' && given === 'float4');
  if (given in WIDTH && wanted in WIDTH) return (WIDTH[given] as number) <= (WIDTH[wanted] as number);
  return FAMILIES.some((f) => f.has(given) && f.has(wanted));
}
