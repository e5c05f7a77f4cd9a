/** Whether the value of a stored expression can be cast to a declared type whatever the row holds. */
import type { Graph } from '../ontology/graph.ts';
import type { ColumnDef } from '../ontology/model.ts';
import { parseType } from '../ontology/types.ts';
import { castsAlways } from './leak.ts';
import { fieldsOf, lastName, type Node, nameOf } from './tree.ts';

/** The names of types in PostgreSQL's catalog, by the name in SQL where the two differ. */
const INTERNAL: Readonly<Record<string, string>> = {
  integer: 'int4',
  bigint: 'int8',
  smallint: 'int2',
  'double precision': 'float8',
  boolean: 'bool',
};

/** A declared SQL type as the type of a column. */
function columnOf(sql: string): ColumnDef {
  const [, precision, scale = '0'] = /^numeric\((\d+)(?:,\s*(\d+))?\)$/.exec(sql) ?? [];
  // PostgreSQL packs both in the type modifier, and adds 4 (VARHDRSZ)
  if (precision !== undefined) return { name: '', type: 'numeric', modifier: ((Number(precision) << 16) | Number(scale)) + 4 };
  return { name: '', type: INTERNAL[sql] ?? sql };
}

/** Expressions that give a boolean. */
const CONDITIONS = new Set([
  'AEXPR_OP',
  'AEXPR_OP_ANY',
  'AEXPR_OP_ALL',
  'AEXPR_IN',
  'AEXPR_BETWEEN',
  'AEXPR_NOT_BETWEEN',
  'AEXPR_DISTINCT',
  'AEXPR_NOT_DISTINCT',
]);
const COMPARISONS = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);

/**
 * Whether every value of an expression over plain names of properties can be cast to a declared type. Too often no rather than too often yes: for an
 * expression that `isTotal` (leak.ts) refuses, the answer does not matter.
 * @param declared an SQL type, as `parseType` gives it
 */
export function givesAlways(graph: Graph, node: Node, declared: string): boolean {
  if (declared === 'text') return true;
  const isBoolean = declared === 'boolean';
  const all = (nodes: readonly (Node | undefined)[]): boolean => nodes.every((n) => n === undefined || givesAlways(graph, n, declared));
  if ('ColumnRef' in node) {
    const def = graph.property(fieldsOf(node.ColumnRef).at(-1) ?? '');
    return def !== undefined && castsAlways(columnOf(parseType(def.type).sql), declared);
  }
  if ('A_Const' in node) {
    const { isnull, ival, boolval, fval } = node.A_Const;
    if (isnull) return true;
    if (boolval) return isBoolean;
    if (ival) return castsAlways(columnOf('integer'), declared);
    return fval !== undefined && castsAlways(columnOf('numeric'), declared);
  }
  if ('BoolExpr' in node || 'NullTest' in node || 'BooleanTest' in node) return isBoolean;
  if ('A_Expr' in node) {
    const { kind = '', name, lexpr } = node.A_Expr;
    if (kind === 'AEXPR_NULLIF') return all([lexpr]);
    if (!CONDITIONS.has(kind) || !isBoolean) return false;
    return kind !== 'AEXPR_OP' || COMPARISONS.has(lastName(name));
  }
  if ('CaseExpr' in node) {
    const { args = [], defresult } = node.CaseExpr;
    return all([...args.map((a) => ('CaseWhen' in a ? a.CaseWhen.result : a)), defresult]);
  }
  if ('CoalesceExpr' in node) return all(node.CoalesceExpr.args ?? []);
  if ('MinMaxExpr' in node) return all(node.MinMaxExpr.args ?? []);
  if ('FuncCall' in node && isExtreme(node.FuncCall.funcname)) return all(node.FuncCall.args ?? []);
  if ('FuncCall' in node) return castsAlways(columnOf(resultOf(node.FuncCall.funcname) ?? ''), declared);
  if ('TypeCast' in node) {
    const { names = [], typmods = [] } = node.TypeCast.typeName ?? {};
    const type = nameOf(names.at(-1));
    return typmods.length === 0 && type !== undefined && castsAlways({ name: '', type }, declared);
  }
  return false;
}

/** The types of calls that give a value for every value. */
const RESULTS: Readonly<Record<string, string>> = {
  char_length: 'integer',
  character_length: 'integer',
  length: 'integer',
  octet_length: 'integer',
  count: 'bigint',
  bool_and: 'boolean',
  bool_or: 'boolean',
  every: 'boolean',
};

const resultOf = (name: readonly Node[] | undefined): string | undefined => RESULTS[lastName(name)];

/** Whether a call gives one of its argument's values. */
const isExtreme = (name: readonly Node[] | undefined): boolean => ['min', 'max'].includes(lastName(name));
