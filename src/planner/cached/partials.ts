/** The partial aggregates of a cached cube, and how queries add them up (docs/design/caches.md#cached-cubes). */
import type { PropertyDef } from '../../ontology/model.ts';
import { isAggregateCall } from '../lower/aggregate/calls.ts';
import { call, cast, clone, coalesce, column, integer, isSame, lastName, type Node, namesOf, operator, rewrite, string, walk } from '../plan/tree.ts';
import { declaredType } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';

/** The name of a column of the table. @param index from 0 */
const partialColumn = (index: number): string => `c${index + 1}`;

/** The first field of a reference to a column of the table in a template. No text can write it. */
const TABLE = '~cube';

const INTEGERS = ['smallint', 'integer', 'bigint'];
/** Types whose equal values are the same. */
const EXACT = new Set([...INTEGERS, 'text', 'boolean', 'uuid', 'date', 'time', 'timestamp', 'timestamptz']);

/** True if equal values of a type are the same, so that one of them can represent all rows that have it. */
export const isExact = (type: string | undefined): boolean => type !== undefined && (EXACT.has(type) || /^numeric\(/.test(type));

/** The property that a reference means; undefined for any other node. */
export function propertyOf({ references }: PlanState, node: Node): PropertyDef | undefined {
  const found = 'ColumnRef' in node ? references.of(node.ColumnRef) : undefined;
  const wanted = found?.alias === found?.node.alias ? found?.node.wantedOf(found.column) : undefined;
  return wanted?.kind === 'property' ? wanted.def : undefined;
}

/** The SQL type of a reference to a property; undefined for any other node. */
export function typeOfProperty(state: PlanState, node: Node): string | undefined {
  const def = propertyOf(state, node);
  return def && declaredType(state.graph, def);
}

/** The type of an expression over values of some types; undefined if it is not known. Numbers with a scale count as `numeric`. */
function common(types: readonly (string | undefined)[]): string | undefined {
  const known = types.filter((t) => t !== 'null').map((t) => (t?.startsWith('numeric(') ? 'numeric' : t));
  const [first] = known;
  if (first === undefined || known.every((t) => t === first)) return first;
  if (known.some((t) => t === undefined || (t !== 'numeric' && !INTEGERS.includes(t)))) return undefined;
  return known.includes('numeric') ? 'numeric' : INTEGERS[Math.max(...known.map((t) => INTEGERS.indexOf(t as string)))];
}

const CASTS: Readonly<Record<string, string>> = { int2: 'smallint', int4: 'integer', int8: 'bigint', numeric: 'numeric' };

/** The type of an expression, if it consists of properties, numbers and arithmetic; undefined if it is not known. */
function typeOf(state: PlanState, node: Node | undefined): string | undefined {
  if (node === undefined) return 'null';
  const all = (nodes: readonly (Node | undefined)[] = []): string | undefined => common(nodes.map((n) => typeOf(state, n)));
  if ('ColumnRef' in node) return typeOfProperty(state, node);
  if ('A_Const' in node) {
    const { isnull, ival, fval } = node.A_Const;
    return isnull ? 'null' : ival ? 'integer' : fval?.fval?.includes('.') ? 'numeric' : undefined;
  }
  if ('TypeCast' in node) return CASTS[namesOf(node.TypeCast.typeName?.names).at(-1) ?? ''];
  if ('CoalesceExpr' in node) return all(node.CoalesceExpr.args);
  if ('CaseExpr' in node) return all([...(node.CaseExpr.args ?? []).map((a) => ('CaseWhen' in a ? a.CaseWhen.result : a)), node.CaseExpr.defresult]);
  if (!('A_Expr' in node)) return undefined;
  const { kind, name, lexpr, rexpr } = node.A_Expr;
  const type = all([lexpr, rexpr]);
  if (kind === 'AEXPR_NULLIF') return nullifType(typeOf(state, lexpr), isText(rexpr) ? 'null' : typeOf(state, rexpr));
  const isNumber = type === 'numeric' || INTEGERS.includes(type ?? '');
  return kind === 'AEXPR_OP' && ['+', '-', '*', '/', '%'].includes(lastName(name)) && isNumber ? type : undefined;
}

/** True for a text in quotes: the other operand gives its type. */
const isText = (node: Node | undefined): boolean => node !== undefined && 'A_Const' in node && node.A_Const.sval !== undefined;

/** The type of NULLIF: that of the first operand, unless the comparison turns the operand into another type. */
function nullifType(left: string | undefined, right: string | undefined): string | undefined {
  const own = common([left]);
  const type = common([left, right]);
  const isKept = own === type || (INTEGERS.includes(own ?? '') && INTEGERS.includes(type ?? ''));
  return own !== undefined && isKept ? left : undefined;
}

/** The partial aggregates of a cube, in the order of their columns. */
export class Partials {
  readonly #state: PlanState;
  readonly #found: Node[] = [];
  readonly #first: number;

  /** @param first the number of columns before them */
  constructor(state: PlanState, first: number) {
    this.#state = state;
    this.#first = first;
  }

  get all(): readonly Node[] {
    return this.#found;
  }

  /** The expression of a measure over the columns of the table; undefined if the table cannot give it. */
  template(expression: Node): Node | undefined {
    const before = this.#found.length;
    let isKept = true;
    const made = rewrite(clone(expression), (n) => {
      if (!isAggregateCall(n)) return undefined;
      const read = this.#read(n);
      isKept &&= read !== undefined;
      return read ?? n;
    }) as Node;
    walk(made, (n) => {
      if ('SelectStmt' in n || ('ColumnRef' in n && lastName(n.ColumnRef.fields?.slice(0, 1)) !== TABLE)) isKept = false;
      return isKept;
    });
    if (isKept) return made;
    this.#found.length = before;
    return undefined;
  }

  #read(node: Node & { readonly FuncCall: unknown }): Node | undefined {
    const { funcname, args = [], agg_filter, ...rest } = (node as Extract<Node, { FuncCall: unknown }>).FuncCall;
    if (rest.agg_distinct || rest.agg_order || rest.agg_within_group || rest.func_variadic || args.length > 1 || hasQuery([args, agg_filter])) return undefined;
    const name = lastName(funcname);
    const [arg] = args;
    const partial = (aggregate: string): Node => this.#column(filtered(call(aggregate, args), agg_filter));
    if (name === 'count') return arg || rest.agg_star ? countOf(arg ? partial(name) : this.#column(filtered(countStar(), agg_filter))) : undefined;
    const type = arg && typeOf(this.#state, arg);
    const isNumber = type === 'numeric' || INTEGERS.includes(type ?? '') || /^numeric\(/.test(type ?? '');
    if (name === 'min' || name === 'max') return isNumber || (isExact(type) && type !== 'boolean' && type !== 'uuid') ? call(name, [partial(name)]) : undefined;
    if (!isNumber) return undefined;
    const sum = (): Node => call('sum', [partial('sum')]);
    if (name === 'sum') return type === 'integer' || type === 'smallint' ? cast(sum(), 'bigint') : sum();
    if (name !== 'avg') return undefined;
    const count = { A_Expr: { kind: 'AEXPR_NULLIF', name: [string('=')], lexpr: call('sum', [partial('count')]), rexpr: integer('0') } } as Node;
    return operator('/', cast(sum(), 'numeric'), count);
  }

  #column(aggregate: Node): Node {
    let at = this.#found.findIndex((n) => isSame(n, aggregate));
    if (at < 0) at = this.#found.push(aggregate) - 1;
    return inTable(this.#first + at);
  }
}

/** The number of rows that a column with partial counts gives. */
const countOf = (counts: Node): Node => cast(coalesce(call('sum', [counts]), integer('0')), 'bigint');

/** `count(*)` */
export const countStar = (): Node => ({ FuncCall: { funcname: [string('count')], agg_star: true, funcformat: 'COERCE_EXPLICIT_CALL' } });

function filtered(aggregate: Node, filter: Node | undefined): Node {
  if (filter && 'FuncCall' in aggregate) aggregate.FuncCall.agg_filter = clone(filter);
  return aggregate;
}

function hasQuery(tree: unknown): boolean {
  let found = false;
  walk(tree, (n) => {
    found ||= 'SelectStmt' in n;
    return !found;
  });
  return found;
}

/** A column of the table in a template. @param index from 0 */
export const inTable = (index: number): Node => column(TABLE, partialColumn(index));

/** The number of rows of the cube, as a template. */
export const rowsIn = (index: number): Node => countOf(inTable(index));

/** A template with references to a table, as a new tree. @param refer makes the reference to a column */
export const filledIn = (template: Node, refer: (name: string) => Node): Node =>
  rewrite(clone(template), (n) =>
    'ColumnRef' in n && lastName(n.ColumnRef.fields?.slice(0, 1)) === TABLE ? refer(lastName(n.ColumnRef.fields)) : undefined,
  ) as Node;

/** The names of the columns of a table. */
export const columnsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => partialColumn(i));
