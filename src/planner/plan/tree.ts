/**
 * Functions to build and walk PostgreSQL's syntax trees (the JSON of libpg-query, with the types of @pgsql/types). A plan owns the trees that it has parsed and changes them
 * in place. Shared trees (mappings, stored expressions) are cloned first.
 */
import type { A_Const, ColumnRef, JoinType, Node, SelectStmt, TypeName } from '@pgsql/types';
import { made, visited } from '../../budget.ts';

export type { Node, SelectStmt } from '@pgsql/types';

/** Counts a node in the budget of the current plan. */
function counted<T>(node: T): T {
  made();
  return node;
}

/** A String node. */
export const string = (sval: string): Node => ({ String: { sval } });

/** A reference to a column: `alias.name`, or `name`. */
export const column = (...names: string[]): Node => counted({ ColumnRef: { fields: names.map(string) } });

/** A resolved reference: the number of the source of a column (references.ts), and the column's name there. */
export const reference = (source: number, name: string): Node => counted({ ColumnRef: { fields: [{ Integer: { ival: source } }, string(name)] } });

/** A text constant. */
export const text = (sval: string): Node => counted({ A_Const: { sval: { sval } } as A_Const });
export const nullValue = (): Node => counted({ A_Const: { isnull: true } as A_Const });
export const boolean = (value: boolean): Node => ({ A_Const: { boolval: value ? { boolval: true } : {} } as A_Const });

/** An integer constant of any size. The digits are written to the SQL unchanged. */
export function integer(digits: string): Node {
  const n = Number(digits);
  if (Number.isInteger(n) && Math.abs(n) <= 0x7fffffff)
    return n < 0 ? minus(integer(String(-n))) : { A_Const: { ival: n === 0 ? {} : { ival: n } } as A_Const };
  return digits.startsWith('-') ? minus(integer(digits.slice(1))) : { A_Const: { fval: { fval: digits } } as A_Const };
}
const minus = (n: Node): Node => ({ A_Expr: { kind: 'AEXPR_OP', name: [string('-')], rexpr: n } });

/** PostgreSQL's internal name of each base type that types.ts returns, for a qualified cast. */
const BASE: Readonly<Record<string, string>> = {
  text: 'text',
  integer: 'int4',
  bigint: 'int8',
  smallint: 'int2',
  'double precision': 'float8',
  real: 'float4',
  numeric: 'numeric',
  boolean: 'bool',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  'timestamp without time zone': 'timestamp',
  'timestamp with time zone': 'timestamptz',
  jsonb: 'jsonb',
  json: 'json',
  uuid: 'uuid',
};

/** A TypeName of a base type with its modifiers, e.g. `numeric(10,2)`. Types without modifiers are shared: they are not changed. */
export function typeName(sql: string): TypeName {
  const known = TYPE_NAMES.get(sql) ?? typeNameOf(sql);
  if (known.typmods === undefined) TYPE_NAMES.set(sql, Object.freeze(known));
  return known;
}

const TYPE_NAMES = new Map<string, TypeName>();

function typeNameOf(sql: string): TypeName {
  const m = /^([a-z]+(?: [a-z]+)*)(?: ?\(([\d, ]+)\))?$/.exec(sql);
  const base = m?.[1] === undefined ? undefined : BASE[m[1]];
  if (!base) throw new Error(`no base type ${sql}`);
  const names =
    base === 'text' || base === 'date' || base === 'uuid' || base === 'jsonb' || base === 'json' ? [string(base)] : [string('pg_catalog'), string(base)];
  const typmods = m?.[2]?.split(',').map((d) => integer(d.trim()));
  return { names, ...(typmods ? { typmods } : {}), typemod: -1 };
}

/** A cast to a base type, as in `numeric(10,2)`. */
export const cast = (arg: Node, type: string): Node => counted({ TypeCast: { arg, typeName: typeName(type) } });

/** An operator with two operands. */
export const operator = (name: string, lexpr: Node, rexpr: Node): Node => counted({ A_Expr: { kind: 'AEXPR_OP', name: [string(name)], lexpr, rexpr } });
export const equals = (l: Node, r: Node): Node => operator('=', l, r);

/** The conditions joined by AND; undefined if the list is empty. */
export function and(conditions: readonly Node[]): Node | undefined {
  if (conditions.length < 2) return conditions[0];
  return { BoolExpr: { boolop: 'AND_EXPR', args: [...conditions] } };
}
/** The conditions that a condition joins by AND. */
export function conjuncts(condition: Node | undefined): Node[] {
  if (!condition) return [];
  if ('BoolExpr' in condition && condition.BoolExpr.boolop === 'AND_EXPR') return (condition.BoolExpr.args ?? []).flatMap(conjuncts);
  return [condition];
}

/** The conditions joined by OR. */
export const or = (args: readonly Node[]): Node => (args.length === 1 ? (args[0] as Node) : { BoolExpr: { boolop: 'OR_EXPR', args: [...args] } });
export const not = (arg: Node): Node => ({ BoolExpr: { boolop: 'NOT_EXPR', args: [arg] } });
export const isNull = (arg: Node): Node => ({ NullTest: { arg, nulltesttype: 'IS_NULL' } });
export const isNotNull = (arg: Node): Node => ({ NullTest: { arg, nulltesttype: 'IS_NOT_NULL' } });
export const coalesce = (...args: Node[]): Node => ({ CoalesceExpr: { args } });

/** A call of a built-in function. */
export const call = (name: string, args: readonly Node[]): Node =>
  counted({
    FuncCall: { funcname: [string(name)], args: [...args], funcformat: 'COERCE_EXPLICIT_CALL' },
  });

/** An item of a select list. */
export const target = (val: Node, name?: string): Node => counted({ ResTarget: name === undefined ? { val } : { name, val } });

/** A sub-select in FROM. */
export const subselect = (query: SelectStmt | Node, alias: string, options: { lateral?: boolean; columns?: readonly string[] } = {}): Node =>
  counted({
    RangeSubselect: {
      ...(options.lateral ? { lateral: true } : {}),
      subquery: isWrapped(query) ? query : { SelectStmt: query },
      alias: { aliasname: alias, ...(options.columns?.length ? { colnames: options.columns.map(string) } : {}) },
    },
  });
const isWrapped = (q: SelectStmt | Node): q is Node => 'SelectStmt' in q;

/** A join. */
export const join = (jointype: JoinType, larg: Node, rarg: Node, quals?: Node): Node => ({ JoinExpr: { jointype, larg, rarg, ...(quals ? { quals } : {}) } });

/** OFFSET 0: PostgreSQL does not push conditions down into a sub-select that has it. */
export const OFFSET_ZERO: Pick<SelectStmt, 'limitOffset' | 'limitOption'> = { limitOffset: integer('0'), limitOption: 'LIMIT_OPTION_COUNT' };

/** A SELECT with the members that the parser sets in every plain SELECT. */
export const select = (parts: SelectStmt): SelectStmt => counted({ limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_NONE', ...parts });

/** UNION ALL of two queries. */
export const unionAll = (larg: SelectStmt, rarg: SelectStmt): SelectStmt => ({ limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_UNION', all: true, larg, rarg });

/** UNION of two queries: each row once. */
export const union = (larg: SelectStmt, rarg: SelectStmt): SelectStmt => ({ limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_UNION', larg, rarg });

/** True if a node of an expression is a sub-query: a SubLink, or the query of another node, as in JSON_ARRAY(SELECT ...). */
export const isSubQuery = (node: object): boolean => 'SubLink' in node || 'SelectStmt' in node;

/** EXISTS with a query. */
export const exists = (query: SelectStmt): Node => ({ SubLink: { subLinkType: 'EXISTS_SUBLINK', subselect: { SelectStmt: query } } });

/** The text of a String node; undefined for another node. */
export const nameOf = (node: Node | undefined): string | undefined => (node && 'String' in node ? (node.String.sval ?? '') : undefined);

/** The texts of a list of String nodes, such as the name of a function or a USING clause; '' for another node. */
export const namesOf = (nodes: readonly Node[] | undefined): string[] => (nodes ?? []).map((n) => nameOf(n) ?? '');

/** The last text of such a list: an operator, or the name of a function or type without its schema; '' if the list is empty. */
export const lastName = (names: readonly Node[] | undefined): string => nameOf(names?.at(-1)) ?? '';

/** The texts of the fields of a ColumnRef; `*` for a star. */
export function fieldsOf({ fields }: ColumnRef): string[] {
  // most references have a single name
  if (fields?.length === 1) return [nameOf(fields[0]) ?? '*'];
  return (fields ?? []).map((f) => nameOf(f) ?? '*');
}

/** A deep copy of a tree. */
export const clone = <T>(tree: T): T => structuredCloneTree(tree) as T;

function structuredCloneTree(v: unknown): unknown {
  if (v === null || typeof v !== 'object') return v;
  made();
  if (Array.isArray(v)) return v.map(structuredCloneTree);
  const out: Record<string, unknown> = {};
  for (const k in v) {
    const member = (v as Record<string, unknown>)[k];
    out[k] = typeof member === 'object' ? structuredCloneTree(member) : member;
  }
  return out;
}

/** Members that differ between two equal expressions at different places of a text. */
const isPlace = (key: string): boolean =>
  key === 'location' || key === 'list_start' || key === 'list_end' || key === 'rexpr_list_start' || key === 'rexpr_list_end';

/** True if two trees are equal, regardless of locations. @param step called for each two objects; `visited` where a text decides how many trees are compared */
export function isSame(a: unknown, b: unknown, step?: () => void): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  step?.();
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!isSame(a[i], b[i], step)) return false;
    return true;
  }
  const first = a as Record<string, unknown>;
  const second = b as Record<string, unknown>;
  let left = 0;
  for (const k in first) {
    const one = first[k];
    if (one === undefined || isPlace(k)) continue;
    const other = second[k];
    if (one !== other && !isSame(one, other, step)) return false;
    left++;
  }
  for (const k in second) if (second[k] !== undefined && !isPlace(k)) left--;
  return left === 0;
}

/** Rewrites the nodes below a value in place, except names and constants within a node. `visit` returns the replacement of a node, or undefined to continue with its members. */
export function rewrite(value: unknown, visit: (node: Node) => Node | undefined): unknown {
  if (value === null || typeof value !== 'object') return value;
  visited();
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const by = rewrite(value[i], visit);
      // shared trees are not written to
      if (by !== value[i]) value[i] = by;
    }
    return value;
  }
  const o = value as Record<string, unknown>;
  for (const k in o) {
    const v = o[k];
    if (typeof v !== 'object' || v === null) continue;
    // only a wrapped node has a member with a capital letter, and no other member
    if (isNodeName(k)) {
      const replaced = visit(value as Node);
      if (replaced !== undefined) return replaced;
    }
    if (hasOnlyNames(k)) continue;
    const by = rewrite(o[k], visit);
    if (by !== o[k]) o[k] = by;
  }
  return value;
}

/** Calls `visit` for each node below a value, outer nodes first, except names and constants within a node. If `visit` returns false, the members of the node are skipped. */
export function walk(value: unknown, visit: (node: Node) => boolean | undefined): void {
  if (value === null || typeof value !== 'object') return;
  visited();
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) walk(value[i], visit);
    return;
  }
  const o = value as Record<string, unknown>;
  for (const k in o) {
    const v = o[k];
    if (typeof v !== 'object' || v === null) continue;
    if (isNodeName(k) && visit(value as Node) === false) return;
    if (!hasOnlyNames(k)) walk(o[k], visit);
  }
}

/** Calls `visit` for each reference to a column below a value. */
export function eachColumn(value: unknown, visit: (ref: ColumnRef) => void): void {
  if (value === null || typeof value !== 'object') return;
  visited();
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) eachColumn(value[i], visit);
    return;
  }
  const o = value as Record<string, unknown>;
  for (const k in o) {
    const v = o[k];
    if (typeof v !== 'object' || v === null) continue;
    if (k === 'ColumnRef') visit(v as ColumnRef);
    else if (!hasOnlyNames(k)) eachColumn(v, visit);
  }
}

/** True for a member or node that consists of names and constants, which is half of a tree. Nothing below it is visited. */
export const hasOnlyNames = (key: string): boolean => key === 'ColumnRef' || key === 'A_Const' || key === 'typeName' || key === 'funcname';

/** The first location in a tree, outer nodes first, as a UTF-8 byte offset, or undefined. */
export function locationIn(tree: unknown): number | undefined {
  let found: number | undefined;
  walk(tree, (node) => {
    const { location } = Object.values(node)[0] as { readonly location?: number };
    if (location !== undefined && location >= 0) found ??= location;
    return found === undefined;
  });
  return found;
}

/** The type of a wrapped node, such as `A_Const`. */
export function typeOf(node: Node): string {
  for (const type in node) return type;
  return '';
}

/** True for the name of a wrapped node: `{ A_Const: ... }` has one member, and its name begins with a capital letter. */
export const isNodeName = (key: string): boolean => {
  const c = key.charCodeAt(0);
  return c >= 65 && c <= 90;
};

/** Replaces the content of a node, in place. */
export function replaceNode(node: Node, by: Node): void {
  const slot = node as Record<string, unknown>;
  for (const k of Object.keys(slot)) delete slot[k];
  Object.assign(slot, by);
}
