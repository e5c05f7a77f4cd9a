/**
 * The members of PostgreSQL's syntax tree by which it calls functions, reads its catalog or resolves names, and the rule for each. Each node type of nodes.ts has an entry,
 * which the type checker ensures. See Value Expressions (Function Calls, Field Selection, Operator Invocations, Type Casts, Collation Expressions) and Type Conversion in
 * PostgreSQL's manual.
 */
import type { NODES } from './nodes.ts';

/**
 * The rule for a member of a node.
 * - `function`: the name of a function. It must be on the list (functions.ts), or a function of the datasource that the ontology allows.
 * - `operator`: the name of an operator. It must be one of PostgreSQL's (operators.ts), unqualified or qualified by pg_catalog.
 * - `type`: the name of a type. It must be on the list (types.ts), which has no reg* type.
 * - `constants`: the modifiers of a type, as in numeric(10, 2). PostgreSQL also accepts names here; the verifier accepts constants only.
 * - `collation`: the name of a collation. It must be on the list (types.ts).
 * - `relation`: the name of a relation. It must not be in a schema of PostgreSQL or of the service. The resolver looks it up, or tables.ts in SQL over tables.
 * - `column`: the name of a column. It must not be a system column. The resolver checks that `a.b` is a column of `a`; otherwise PostgreSQL reads it as the call b(a).
 * - `field`: a field of a composite value (fields.ts). `(x).f` must be a field of `x`; otherwise PostgreSQL reads it as the call f(x).
 * - `value function`: a function without brackets. It must be one that reads the clock.
 * - `literal`: a text whose type PostgreSQL derives from the context. The type is never a reg* type: pg_typeof always gets a cast to text (typeof.ts), the columns of
 *   mappings and raw views have types of the list, and no function of the list takes or returns another type.
 * - `own name`: a name that the statement defines for a relation, column or window, or a parameter of a function that is checked by its name.
 * - `syntax`: PostgreSQL chooses the function by the syntax and the types of the operands: equality and order of the default operator class, the constructors and
 *   predicates of SQL/JSON, subscripts. The choice depends only on the operands.
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

/** The rules for the members of each node type. Members without a rule resolve no names. */
export const RESOLVES = {
  // DISTINCT, GROUP BY, UNION and the like use `=` of the default operator class; ORDER BY and window functions use `<`
  SelectStmt: { distinctClause: 'syntax', groupClause: 'syntax', sortClause: 'syntax', valuesLists: 'syntax', op: 'syntax' },
  WithClause: {},
  CommonTableExpr: { ctename: 'own name', aliascolnames: 'own name' },
  CTESearchClause: { search_col_list: 'own name', search_seq_column: 'own name' },
  // the marks of CYCLE are compared with `=`
  CTECycleClause: {
    cycle_col_list: 'own name',
    cycle_mark_column: 'own name',
    cycle_mark_value: 'syntax',
    cycle_mark_default: 'syntax',
    cycle_path_column: 'own name',
  },

  RangeVar: { schemaname: 'relation', relname: 'relation' },
  RangeSubselect: {},
  // its functions, including those of ROWS FROM, are FuncCall nodes
  RangeFunction: {},
  // USING and NATURAL compare with `=`
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
  // also LIKE, ILIKE, SIMILAR TO, BETWEEN, IN, IS DISTINCT FROM, NULLIF, whose `name` is the operator; the functions of ESCAPE and SIMILAR TO are FuncCall nodes
  A_Expr: { name: 'operator', kind: 'syntax' },
  BoolExpr: {},
  NullTest: {},
  BooleanTest: {},
  // CASE x WHEN y compares with `=`; its results are converted to a common type, like those of COALESCE, GREATEST and ARRAY
  CaseExpr: { arg: 'syntax', args: 'syntax' },
  CaseWhen: {},
  CoalesceExpr: { args: 'syntax' },
  MinMaxExpr: { args: 'syntax' },
  // IN has no operator name and compares with `=`
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

  // the grammar also makes calls of EXTRACT, OVERLAPS, AT TIME ZONE, POSITION, SUBSTRING, OVERLAY, TRIM, NORMALIZE, IS NORMALIZED, COLLATION FOR, aggregates,
  // ordered-set aggregates and window functions
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

/** The rules that the guard checks. The others need no check. */
const CHECKED: ReadonlySet<Rule> = new Set<Rule>([
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

/** A member that the guard checks. */
export interface CheckedMember {
  readonly member: string;
  readonly rule: Rule;
}

/** The members of each node type that the guard checks, and their rules. */
export const CHECKED_MEMBERS: ReadonlyMap<string, readonly CheckedMember[]> = new Map(
  Object.entries(RESOLVES).map(([type, members]) => [
    type,
    (Object.entries(members) as [string, Rule][]).filter(([, rule]) => CHECKED.has(rule)).map(([member, rule]) => ({ member, rule })),
  ]),
);
