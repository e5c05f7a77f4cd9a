/** Decides whether every value of a stored expression can be cast to a declared type. */
import type { Graph } from '../../ontology/graph.ts';
import type { ColumnDef } from '../../ontology/model.ts';
import { parseType } from '../../ontology/types.ts';
import { fieldsOf, lastName, type Node, nameOf } from '../plan/tree.ts';
import { castsAlways, INTERNAL_NAMES } from './column-types.ts';
import { COMPARISONS, CONDITIONS } from './total.ts';

/** A declared SQL type as the type of a column. */
function columnOf(sql: string): ColumnDef {
  const [, precision, scale = '0'] = /^numeric\((\d+)(?:,\s*(\d+))?\)$/.exec(sql) ?? [];
  // PostgreSQL packs precision and scale into the type modifier, and adds 4 (VARHDRSZ)
  if (precision !== undefined) return { name: '', type: 'numeric', modifier: ((Number(precision) << 16) | Number(scale)) + 4 };
  return { name: '', type: INTERNAL_NAMES[sql] ?? sql };
}

/**
 * True if every value of an expression over unqualified properties can be cast to a declared type. In doubt the answer is no. It does not matter for expressions that may
 * raise an error anyway (`isTotal` in total.ts).
 * @param declared an SQL type, as `parseType` returns it
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

/** The result types of functions that raise no error. */
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

/** True for functions that return one of the values of their argument. */
const isExtreme = (name: readonly Node[] | undefined): boolean => ['min', 'max'].includes(lastName(name));
