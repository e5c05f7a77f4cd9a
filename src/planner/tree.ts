/**
 * Small words to build and walk PostgreSQL syntax trees (libpg-query's JSON, types of @pgsql/types). Trees that come from
 * the parser are owned by the plan in the making and changed in place; what is shared (mappings, stored expressions) is
 * cloned first.
 */
import type { A_Const, ColumnRef, JoinType, Node, SelectStmt, TypeName } from '@pgsql/types';
import { made, visited } from '../budget.ts';

export type { Node, SelectStmt } from '@pgsql/types';

/** SQL text that the planner's printer has made, put into a tree as it is. `atomic`: needs no brackets as an operand. */
export interface Fragment {
  readonly sql: string;
  readonly atomic?: boolean;
}

/** A Fragment where a Node is wanted: print.ts knows it. */
export const fragment = (sql: string, atomic = false): Node => counted({ Fragment: { sql, atomic } } as unknown as Node);

/** Counts a node in the budget of the plan in the making. */
function counted<T>(node: T): T {
  made();
  return node;
}

export const string = (sval: string): Node => ({ String: { sval } });

/** A reference to a column: `alias.name`, or `name`. */
export const column = (...names: string[]): Node => counted({ ColumnRef: { fields: names.map(string) } });

export const text = (sval: string): Node => counted({ A_Const: { sval: { sval } } as A_Const });
export const nullValue = (): Node => counted({ A_Const: { isnull: true } as A_Const });
export const boolean = (value: boolean): Node => ({ A_Const: { boolval: value ? { boolval: true } : {} } as A_Const });

/** An integer constant of any size (its digits go into the SQL as they are). */
export function integer(digits: string): Node {
  const n = Number(digits);
  if (Number.isInteger(n) && Math.abs(n) <= 0x7fffffff)
    return n < 0 ? minus(integer(String(-n))) : { A_Const: { ival: n === 0 ? {} : { ival: n } } as A_Const };
  return digits.startsWith('-') ? minus(integer(digits.slice(1))) : { A_Const: { fval: { fval: digits } } as A_Const };
}
const minus = (n: Node): Node => ({ A_Expr: { kind: 'AEXPR_OP', name: [string('-')], rexpr: n } });

/** PostgreSQL's own name of each base type that types.ts writes, for a qualified cast. */
const BASE: Readonly<Record<string, string>> = {
  text: 'text',
  integer: 'int4',
  bigint: 'int8',
  smallint: 'int2',
  'double precision': 'float8',
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

/** A TypeName of a base type with its modifiers, e.g. `numeric(10,2)`. */
export function typeName(sql: string): TypeName {
  const m = /^([a-z]+(?: [a-z]+)*)(?: ?\(([\d, ]+)\))?$/.exec(sql);
  const base = m?.[1] === undefined ? undefined : BASE[m[1]];
  if (!base) throw new Error(`no base type ${sql}`);
  const names =
    base === 'text' || base === 'date' || base === 'uuid' || base === 'jsonb' || base === 'json' ? [string(base)] : [string('pg_catalog'), string(base)];
  const typmods = m?.[2]?.split(',').map((d) => integer(d.trim()));
  return { names, ...(typmods ? { typmods } : {}), typemod: -1 };
}

export const cast = (arg: Node, type: string): Node => counted({ TypeCast: { arg, typeName: typeName(type) } });

export const operator = (name: string, lexpr: Node, rexpr: Node): Node => counted({ A_Expr: { kind: 'AEXPR_OP', name: [string(name)], lexpr, rexpr } });
export const equals = (l: Node, r: Node): Node => operator('=', l, r);

/** All of the conditions; undefined when there is none. */
export function and(conditions: readonly Node[]): Node | undefined {
  if (conditions.length < 2) return conditions[0];
  return { BoolExpr: { boolop: 'AND_EXPR', args: [...conditions] } };
}
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

export const target = (val: Node, name?: string): Node => counted({ ResTarget: name === undefined ? { val } : { name, val } });

export const subselect = (query: SelectStmt | Node, alias: string, options: { lateral?: boolean; columns?: readonly string[] } = {}): Node =>
  counted({
    RangeSubselect: {
      ...(options.lateral ? { lateral: true } : {}),
      subquery: isWrapped(query) ? query : { SelectStmt: query },
      alias: { aliasname: alias, ...(options.columns?.length ? { colnames: options.columns.map(string) } : {}) },
    },
  });
const isWrapped = (q: SelectStmt | Node): q is Node => 'SelectStmt' in q || 'Fragment' in q;

export const join = (jointype: JoinType, larg: Node, rarg: Node, quals?: Node): Node => ({ JoinExpr: { jointype, larg, rarg, ...(quals ? { quals } : {}) } });

/** What keeps conditions from outside out of a sub-select: PostgreSQL moves none into one with an OFFSET. */
export const FENCE: Pick<SelectStmt, 'limitOffset' | 'limitOption'> = { limitOffset: integer('0'), limitOption: 'LIMIT_OPTION_COUNT' };

/** A SELECT with what every plain SELECT of the parser has. */
export const select = (parts: SelectStmt): SelectStmt => counted({ limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_NONE', ...parts });

export const unionAll = (larg: SelectStmt, rarg: SelectStmt): SelectStmt => ({ limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_UNION', all: true, larg, rarg });

/** Whether a node of an expression is a sub-query: a SubLink, or the query of another node, as in JSON_ARRAY(SELECT ...). */
export const isSubQuery = (node: object): boolean => 'SubLink' in node || 'SelectStmt' in node;

export const exists = (query: SelectStmt): Node => ({ SubLink: { subLinkType: 'EXISTS_SUBLINK', subselect: { SelectStmt: query } } });

/** The text of a String node; undefined for another node. */
export const nameOf = (node: Node | undefined): string | undefined => (node && 'String' in node ? (node.String.sval ?? '') : undefined);

/** The texts of a list of String nodes, as of a function's name or a USING clause; '' for another node. */
export const namesOf = (nodes: readonly Node[] | undefined): string[] => (nodes ?? []).map((n) => nameOf(n) ?? '');

/** The last text of such a list: the name of a function or type without its schema, or an operator. '' if there is none. */
export const lastName = (names: readonly Node[] | undefined): string => nameOf(names?.at(-1)) ?? '';

/** The texts of a ColumnRef's fields; `*` stands for a star. */
export const fieldsOf = (ref: ColumnRef): string[] => (ref.fields ?? []).map((f) => nameOf(f) ?? '*');

export const clone = <T>(tree: T): T => structuredCloneTree(tree) as T;

function structuredCloneTree(v: unknown): unknown {
  if (v === null || typeof v !== 'object') return v;
  made();
  if (Array.isArray(v)) return v.map(structuredCloneTree);
  const out: Record<string, unknown> = {};
  for (const k in v) out[k] = structuredCloneTree((v as Record<string, unknown>)[k]);
  return out;
}

/**
 * Rewrites every expression below a value in place: `visit` is asked for each wrapped node and returns its replacement,
 * or undefined to go on into it.
 */
export function rewrite(value: unknown, visit: (node: Node) => Node | undefined): unknown {
  if (value === null || typeof value !== 'object') return value;
  visited();
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = rewrite(value[i], visit);
    return value;
  }
  const keys = Object.keys(value);
  const first = keys[0];
  if (keys.length === 1 && first !== undefined && isNodeName(first)) {
    const replaced = visit(value as Node);
    if (replaced !== undefined) return replaced;
  }
  const o = value as Record<string, unknown>;
  for (const k of keys) {
    const v = o[k];
    if (v !== null && typeof v === 'object') o[k] = rewrite(v, visit);
  }
  return value;
}

/** Asks `visit` for each wrapped node below a value, outermost first; `false` keeps out of it. */
export function walk(value: unknown, visit: (node: Node) => boolean | undefined): void {
  if (value === null || typeof value !== 'object') return;
  visited();
  if (Array.isArray(value)) {
    for (const v of value) walk(v, visit);
    return;
  }
  const keys = Object.keys(value);
  const first = keys[0];
  if (keys.length === 1 && first !== undefined && isNodeName(first) && visit(value as Node) === false) return;
  for (const k of keys) walk((value as Record<string, unknown>)[k], visit);
}

/** The first place that a tree names, outermost first: a UTF-8 byte offset; undefined: it names none. */
export function locationIn(tree: unknown): number | undefined {
  let found: number | undefined;
  walk(tree, (node) => {
    const { location } = Object.values(node)[0] as { readonly location?: number };
    if (location !== undefined && location >= 0) found ??= location;
    return found === undefined;
  });
  return found;
}

const isNodeName = (key: string): boolean => {
  const c = key.charCodeAt(0);
  return c >= 65 && c <= 90;
};

/** The bytes of a text in UTF-8. */
export function utf8Length(s: string): number {
  let n = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (c < 0x80) n += 1;
    else if (c < 0x800) n += 2;
    else if (c >= 0xd800 && c < 0xdc00) {
      n += 4;
      i++;
    } else n += 3;
  }
  return n;
}
