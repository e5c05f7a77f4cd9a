/**
 * Divisions of integers in calculated properties and measures that are declared `decimal`, `float` or `double`: PostgreSQL would truncate the quotient before the result
 * is cast to the declared type, so `(a - b) / a` would be 0 (docs/design/statements-and-versions.md#divisions).
 */
import type { Graph } from '../../ontology/graph.ts';
import { propertyAtEnd } from '../../ontology/paths.ts';
import { findType } from '../../ontology/types.ts';
import { cast, fieldsOf, lastName, type Node, rewrite } from '../plan/tree.ts';

type Kind = 'integer' | 'bigint' | 'date';

const CASTS: Readonly<Record<string, Kind>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'bigint',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'bigint',
  date: 'date',
};
/** Functions that return an integer. */
const COUNTS = new Set(['count', 'length', 'char_length', 'character_length', 'octet_length', 'cardinality', 'array_length', 'div', 'mod']);
/** Functions that return a value of the type of their first argument. */
const SAME = new Set(['min', 'max', 'abs']);

/** The type in which a declared type divides; undefined for a type whose divisions stay as they are. */
function divisionType(declared: string): string | undefined {
  const sql = findType(declared)?.sql ?? '';
  if (sql.startsWith('numeric')) return 'numeric';
  return sql === 'double precision' ? sql : undefined;
}

/** Computes the divisions of integers of an expression in its declared type (in place). @param declared the type of the property or measure */
export function divideAsDeclared(graph: Graph, tree: Node, declared: string): Node {
  const type = divisionType(declared);
  if (type === undefined) return tree;
  // rewrite does not descend into what it replaces, so the operands are rewritten first
  const visit = (n: Node): Node | undefined => {
    if (!isIntegerDivision(graph, n)) return undefined;
    const { lexpr, rexpr, ...rest } = n.A_Expr;
    return { A_Expr: { ...rest, lexpr: cast(rewrite(lexpr, visit) as Node, type), rexpr: rewrite(rexpr, visit) as Node } };
  };
  return rewrite(tree, visit) as Node;
}

/** True if an expression has a division whose result depends on its declared type. */
export function dividesIntegers(graph: Graph, tree: Node, declared: string): boolean {
  if (divisionType(declared) === undefined) return false;
  let found = false;
  rewrite(tree, (n) => {
    found ||= isIntegerDivision(graph, n);
    return undefined;
  });
  return found;
}

function isIntegerDivision(graph: Graph, n: Node): n is Extract<Node, { A_Expr: unknown }> {
  if (!('A_Expr' in n) || n.A_Expr.kind !== 'AEXPR_OP' || lastName(n.A_Expr.name) !== '/') return false;
  return isInteger(kindOf(graph, n.A_Expr.lexpr)) && isInteger(kindOf(graph, n.A_Expr.rexpr));
}

const isInteger = (kind: Kind | undefined): boolean => kind === 'integer' || kind === 'bigint';

/** The type of an expression, as far as divisions depend on it. */
function kindOf(graph: Graph, n: Node | undefined): Kind | undefined {
  if (n === undefined) return undefined;
  if ('A_Const' in n) return n.A_Const.ival ? 'integer' : /^\d{1,18}$/.test(n.A_Const.fval?.fval ?? '') ? 'bigint' : undefined;
  if ('TypeCast' in n) return n.TypeCast.typeName?.arrayBounds?.length ? undefined : CASTS[lastName(n.TypeCast.typeName?.names)];
  if ('ColumnRef' in n) return kindOfName(graph, fieldsOf(n.ColumnRef).at(-1) ?? '');
  if ('A_Expr' in n) return kindOfOperation(graph, n.A_Expr);
  if ('FuncCall' in n) return kindOfCall(graph, lastName(n.FuncCall.funcname).toLowerCase(), n.FuncCall.args ?? []);
  if ('CoalesceExpr' in n) return common(graph, n.CoalesceExpr.args ?? []);
  if ('MinMaxExpr' in n) return common(graph, n.MinMaxExpr.args ?? []);
  if (!('CaseExpr' in n)) return undefined;
  const results = (n.CaseExpr.args ?? []).flatMap((w) => ('CaseWhen' in w && w.CaseWhen.result ? [w.CaseWhen.result] : []));
  return common(graph, n.CaseExpr.defresult ? [...results, n.CaseExpr.defresult] : results);
}

/** A property, also at the end of a path, or a measure. A measure may be written with its prefix. */
function kindOfName(graph: Graph, name: string): Kind | undefined {
  const found = graph.property(propertyAtEnd(name) ?? name) ?? graph.measure(name.replace(/^measure\./i, ''));
  return found && CASTS[findType(found.type)?.sql ?? ''];
}

function kindOfOperation(graph: Graph, { kind, name, lexpr, rexpr }: Extract<Node, { A_Expr: unknown }>['A_Expr']): Kind | undefined {
  if (kind === 'AEXPR_NULLIF') return kindOf(graph, lexpr);
  const symbol = lastName(name);
  if (kind !== 'AEXPR_OP' || !'+-*/%'.includes(symbol)) return undefined;
  const [left, right] = [lexpr === undefined ? 'integer' : kindOf(graph, lexpr), kindOf(graph, rexpr)];
  // the difference of dates is a number of days
  if (symbol === '-' && left === 'date' && right === 'date') return 'integer';
  if (!isInteger(left) || !isInteger(right)) return undefined;
  return left === 'bigint' || right === 'bigint' ? 'bigint' : 'integer';
}

function kindOfCall(graph: Graph, name: string, args: readonly Node[]): Kind | undefined {
  if (name === 'count') return 'bigint';
  const first = kindOf(graph, args[0]);
  if (COUNTS.has(name)) return name === 'div' || name === 'mod' ? common(graph, args) : 'integer';
  if (SAME.has(name)) return first;
  // the sum of bigint is numeric
  return name === 'sum' && first === 'integer' ? 'bigint' : undefined;
}

/** The type of several values: NULL has any type. */
function common(graph: Graph, nodes: readonly Node[]): Kind | undefined {
  const kinds = nodes.filter((n) => !('A_Const' in n && n.A_Const.isnull)).map((n) => kindOf(graph, n));
  if (kinds.length === 0 || kinds.includes(undefined)) return undefined;
  return kinds.includes('bigint') ? 'bigint' : kinds[0];
}
