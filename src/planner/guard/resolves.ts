/**
 * Everything in PostgreSQL's syntax tree by which it may call a function, read its catalog or resolve a name, and the rule for each. One table:
 * every node type that may occur in a statement (nodes.ts) has an entry here, the type checker sees to that, and a node type without an entry
 * is refused. PostgreSQL manual: "Function Calls", "Field Selection", "Operator Invocations", "Type Casts", "Collation Expressions" in
 * "Value Expressions"; "Type Conversion".
 */
import type { NODES } from './nodes.ts';

/**
 * How a member of a node is judged.
 * - `function`: the name of a function: it must be on the list (functions.ts), or one of the datasource's own that the ontology allows.
 * - `operator`: the name of an operator: one of PostgreSQL's own (operators.ts), written without a schema or with pg_catalog.
 * - `type`: the name of a type: it must be on the list (types.ts). No reg* type is.
 * - `constants`: the modifiers of a type, as in numeric(10, 2). PostgreSQL also takes names here; the verifier takes constants only.
 * - `collation`: the name of a collation: it must be on the list (types.ts).
 * - `relation`: the name of a relation: no schema of PostgreSQL or of the service. Which relations there are is the question of the resolver, and in SQL over
 *   tables of tables.ts.
 * - `column`: the name of a column: no system column. `a.b` must be a column of `a`: else PostgreSQL reads it as the call b(a).
 * - `field`: a field of a composite value (fields.ts): `(x).f` must be a field of `x`: else PostgreSQL reads it as the call f(x).
 * - `value function`: a function without brackets: those that read the clock.
 * - `literal`: a text whose type PostgreSQL takes from its context. No context of a reg* type exists: pg_typeof always gets a cast to text (typeof.ts), the
 *   columns of mappings and raw views have types of the list, and no function on the list takes or returns another.
 * - `own name`: a name that the statement itself gives to a relation, a column, a window or a parameter of a call that is judged by its own name.
 * - `syntax`: PostgreSQL chooses the function by the syntax and the types of the operands: equality and order of the default operator class, the
 *   constructors and predicates of SQL/JSON, subscripts. What it chooses depends on the operands alone.
 */
export type Rule =
  | 'function'
  | 'operator'
  | 'type'
  | 'constants'
  | 'collation'
  | 'relation'
  | 'column'
  | 'field'
  | 'value function'
  | 'literal'
  | 'own name'
  | 'syntax';

export const RESOLVES = {
  // DISTINCT, GROUP BY, UNION and their like compare by `=` of the default operator class; ORDER BY and window functions by `<`
  SelectStmt: { distinctClause: 'syntax', groupClause: 'syntax', sortClause: 'syntax', valuesLists: 'syntax', op: 'syntax' },
  WithClause: {},
  CommonTableExpr: { ctename: 'own name', aliascolnames: 'own name' },
  CTESearchClause: { search_col_list: 'own name', search_seq_column: 'own name' },
  // marks are compared by `=`
  CTECycleClause: {
    cycle_col_list: 'own name',
    cycle_mark_column: 'own name',
    cycle_mark_value: 'syntax',
    cycle_mark_default: 'syntax',
    cycle_path_column: 'own name',
  },

  RangeVar: { schemaname: 'relation', relname: 'relation' },
  RangeSubselect: {},
  // the functions, also those of ROWS FROM, are FuncCall nodes below
  RangeFunction: {},
  // USING and NATURAL compare by `=`
  JoinExpr: { usingClause: 'syntax', isNatural: 'syntax' },
  Alias: { aliasname: 'own name', colnames: 'own name' },
  ColumnDef: { colname: 'own name' },

  ResTarget: { name: 'own name' },
  ColumnRef: { fields: 'column' },
  A_Star: {},
  String: {},
  Integer: {},
  Float: {},
  Boolean: {},
  BitString: {},
  List: {},

  A_Const: { sval: 'literal' },
  // also LIKE, ILIKE, SIMILAR TO, BETWEEN, IN, IS DISTINCT FROM, NULLIF: `name` is the operator. ESCAPE and SIMILAR TO call functions, FuncCall nodes below
  A_Expr: { name: 'operator', kind: 'syntax' },
  BoolExpr: {},
  NullTest: {},
  BooleanTest: {},
  // CASE x WHEN y compares by `=`; the results, as those of COALESCE, GREATEST and ARRAY, become one type
  CaseExpr: { arg: 'syntax', args: 'syntax' },
  CaseWhen: {},
  CoalesceExpr: { args: 'syntax' },
  MinMaxExpr: { args: 'syntax' },
  // IN without an operator's name compares by `=`
  SubLink: { operName: 'operator', subLinkType: 'syntax' },
  // CAST, `::`, and `type 'text'`
  TypeCast: {},
  TypeName: { names: 'type', typmods: 'constants' },
  CollateClause: { collname: 'collation' },
  RowExpr: { args: 'syntax' },
  A_ArrayExpr: { elements: 'syntax' },
  A_Indirection: { indirection: 'field' },
  A_Indices: { lidx: 'syntax', uidx: 'syntax' },
  SQLValueFunction: { op: 'value function' },

  // also EXTRACT, OVERLAPS, AT TIME ZONE, POSITION, SUBSTRING, OVERLAY, TRIM, NORMALIZE, IS NORMALIZED, COLLATION FOR, aggregates, ordered-set aggregates,
  // window functions: the grammar makes calls of them
  FuncCall: { funcname: 'function' },
  NamedArgExpr: { name: 'own name' },
  WindowDef: { name: 'own name', refname: 'own name', partitionClause: 'syntax', orderClause: 'syntax' },
  // ORDER BY x USING op
  SortBy: { useOp: 'operator' },
  GroupingSet: {},
  GroupingFunc: {},

  JsonTable: { context_item: 'syntax' },
  JsonTableColumn: { name: 'own name' },
  JsonTablePathSpec: { string: 'literal', name: 'own name' },
  JsonFuncExpr: { op: 'syntax', pathspec: 'literal' },
  JsonArgument: { name: 'own name' },
  JsonBehavior: { expr: 'syntax' },
  JsonOutput: {},
  JsonReturning: {},
  JsonFormat: {},
  JsonValueExpr: {},
  JsonKeyValue: {},
  JsonObjectConstructor: { exprs: 'syntax' },
  JsonArrayConstructor: { exprs: 'syntax' },
  JsonArrayQueryConstructor: { query: 'syntax' },
  JsonAggConstructor: {},
  JsonObjectAgg: { arg: 'syntax' },
  JsonArrayAgg: { arg: 'syntax' },
  JsonIsPredicate: { expr: 'syntax' },
  JsonParseExpr: { expr: 'syntax' },
  JsonScalarExpr: { expr: 'syntax' },
  JsonSerializeExpr: { expr: 'syntax' },
} as const satisfies { readonly [T in keyof typeof NODES]: { readonly [M in Exclude<keyof (typeof NODES)[T], 'constructor'>]?: Rule } };

/** Rules that the guard applies to a node; the other rules need no check. */
const JUDGED: ReadonlySet<Rule> = new Set<Rule>([
  'function',
  'operator',
  'type',
  'constants',
  'collation',
  'relation',
  'column',
  'field',
  'value function',
  'literal',
]);

/** The members of each node type that the guard judges, with their rules. */
export const JUDGED_MEMBERS: ReadonlyMap<string, readonly (readonly [member: string, rule: Rule])[]> = new Map(
  Object.entries(RESOLVES).map(([type, members]) => [type, (Object.entries(members) as [string, Rule][]).filter(([, rule]) => JUDGED.has(rule))]),
);
