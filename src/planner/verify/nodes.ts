/**
 * The nodes of PostgreSQL's syntax tree that a finished statement may contain, and their members. Other nodes and members are refused, including those that a later version
 * of the grammar adds.
 */

/**
 * The kind of a member, which decides how it is checked. `plain`: a text, a number or a boolean; `constant`: an object of those; `expression`, `expressions`; `type`: a
 * TypeName; `operator`, `collation`: a list of names; `order`: a list of SortBy; `window`: a WindowDef; `own`: the code for this node checks it; `#Node`: the members of that
 * node, unwrapped.
 */
export type Member = 'plain' | 'constant' | 'expression' | 'expressions' | 'type' | 'operator' | 'collation' | 'order' | 'window' | 'own' | `#${string}`;

/** The members of a node, and their kinds. */
export type Members = Readonly<Record<string, Member>>;

const at = { location: 'plain' } as const;
const args = { args: 'expressions', ...at } as const;
const tail = { sortClause: 'own', limitOffset: 'own', limitCount: 'own', limitOption: 'plain', withClause: 'own', op: 'own' } as const;
const json = { output: '#JsonOutput', ...at } as const;

/** Nodes that are expressions. */
export const EXPRESSIONS: Readonly<Record<string, Members>> = {
  A_Const: { ival: 'constant', fval: 'constant', boolval: 'constant', sval: 'constant', bsval: 'constant', isnull: 'plain', ...at },
  ParamRef: { number: 'own', ...at },
  ColumnRef: { fields: 'own', ...at },
  A_Indirection: { arg: 'own', indirection: 'own' },
  A_Expr: { kind: 'own', name: 'own', lexpr: 'own', rexpr: 'expression', rexpr_list_start: 'plain', rexpr_list_end: 'plain', ...at },
  BoolExpr: { boolop: 'plain', ...args },
  NullTest: { arg: 'expression', nulltesttype: 'plain', ...at },
  BooleanTest: { arg: 'expression', booltesttype: 'plain', ...at },
  CaseExpr: { arg: 'expression', args: 'expressions', defresult: 'expression', ...at },
  CaseWhen: { expr: 'expression', result: 'expression', ...at },
  CoalesceExpr: args,
  MinMaxExpr: { op: 'plain', ...args },
  RowExpr: { args: 'own', row_format: 'plain', ...at },
  A_ArrayExpr: { elements: 'expressions', list_start: 'plain', list_end: 'plain', ...at },
  List: { items: 'expressions' },
  SubLink: { subLinkType: 'own', testexpr: 'expression', operName: 'operator', subselect: 'own', ...at },
  TypeCast: { arg: 'own', typeName: 'type', ...at },
  CollateClause: { arg: 'expression', collname: 'collation', ...at },
  SQLValueFunction: { op: 'own', typmod: 'plain', ...at },
  GroupingFunc: args,
  FuncCall: {
    funcname: 'own',
    args: 'expressions',
    agg_order: 'order',
    agg_filter: 'expression',
    over: 'window',
    agg_within_group: 'plain',
    agg_star: 'plain',
    agg_distinct: 'plain',
    func_variadic: 'plain',
    funcformat: 'plain',
    ...at,
  },
  NamedArgExpr: { arg: 'expression', name: 'plain', argnumber: 'plain', ...at },

  JsonFuncExpr: {
    op: 'plain',
    context_item: '#JsonValueExpr',
    pathspec: 'expression',
    passing: 'expressions',
    on_empty: '#JsonBehavior',
    on_error: '#JsonBehavior',
    wrapper: 'plain',
    quotes: 'plain',
    ...json,
  },
  JsonArgument: { val: '#JsonValueExpr', name: 'plain' },
  JsonValueExpr: { raw_expr: 'expression', format: '#JsonFormat' },
  JsonKeyValue: { key: 'expression', value: '#JsonValueExpr' },
  JsonObjectConstructor: { exprs: 'expressions', absent_on_null: 'plain', unique: 'plain', ...json },
  JsonArrayConstructor: { exprs: 'expressions', absent_on_null: 'plain', ...json },
  JsonArrayQueryConstructor: { query: 'own', format: '#JsonFormat', absent_on_null: 'plain', ...json },
  JsonObjectAgg: { constructor: '#JsonAggConstructor' as const, arg: '#JsonKeyValue', absent_on_null: 'plain', unique: 'plain' },
  JsonArrayAgg: { constructor: '#JsonAggConstructor' as const, arg: '#JsonValueExpr', absent_on_null: 'plain' },
  JsonIsPredicate: { expr: 'expression', format: '#JsonFormat', item_type: 'plain', unique_keys: 'plain', ...at },
  JsonParseExpr: { expr: '#JsonValueExpr', unique_keys: 'plain', ...json },
  JsonScalarExpr: { expr: 'expression', ...json },
  JsonSerializeExpr: { expr: '#JsonValueExpr', ...json },
};

/** Parts of other nodes. */
export const PARTS: Readonly<Record<string, Members>> = {
  RawStmt: { stmt: 'own', stmt_location: 'plain', stmt_len: 'plain' },
  SelectStmt: {
    distinctClause: 'own',
    targetList: 'own',
    fromClause: 'own',
    whereClause: 'own',
    groupClause: 'own',
    groupDistinct: 'plain',
    havingClause: 'own',
    windowClause: 'own',
    ...tail,
  },
  /** A SelectStmt for VALUES. */
  Values: { valuesLists: 'own', ...tail },
  /** A List for a row of VALUES. */
  ValuesList: { items: 'own' },
  /** A SelectStmt for UNION, INTERSECT or EXCEPT. */
  SetOperation: { all: 'plain', larg: 'own', rarg: 'own', ...tail },
  WithClause: { ctes: 'own', recursive: 'plain', ...at },
  CommonTableExpr: {
    ctename: 'plain',
    aliascolnames: 'own',
    ctematerialized: 'plain',
    ctequery: 'own',
    search_clause: 'own',
    cycle_clause: 'own',
    ...at,
  },
  CTESearchClause: { search_col_list: 'own', search_breadth_first: 'plain', search_seq_column: 'plain', ...at },
  CTECycleClause: {
    cycle_col_list: 'own',
    cycle_mark_column: 'plain',
    cycle_mark_value: 'expression',
    cycle_mark_default: 'expression',
    cycle_path_column: 'plain',
    ...at,
  },
  ResTarget: { name: 'plain', val: 'own', ...at },
  GroupingSet: { kind: 'plain', content: 'own', ...at },
  SortBy: { node: 'expression', sortby_dir: 'plain', sortby_nulls: 'plain', useOp: 'operator', ...at },
  WindowDef: {
    name: 'plain',
    refname: 'plain',
    partitionClause: 'expressions',
    orderClause: 'order',
    frameOptions: 'plain',
    startOffset: 'expression',
    endOffset: 'expression',
    ...at,
  },

  RangeVar: { schemaname: 'plain', relname: 'plain', inh: 'plain', relpersistence: 'plain', alias: 'own', ...at },
  RangeSubselect: { lateral: 'plain', subquery: 'own', alias: 'own' },
  RangeFunction: { lateral: 'plain', ordinality: 'plain', is_rowsfrom: 'plain', functions: 'own', alias: 'own', coldeflist: 'own' },
  JoinExpr: {
    jointype: 'plain',
    isNatural: 'plain',
    larg: 'own',
    rarg: 'own',
    usingClause: 'own',
    join_using_alias: 'own',
    quals: 'own',
    alias: 'own',
  },
  Alias: { aliasname: 'plain', colnames: 'own' },
  ColumnDef: { colname: 'plain', typeName: 'type', collClause: '#CollateClause', is_local: 'plain', ...at },

  TypeName: { names: 'own', typmods: 'own', typemod: 'plain', arrayBounds: 'own', ...at },
  A_Indices: { is_slice: 'plain', lidx: 'expression', uidx: 'expression' },
  CollateClause: { collname: 'collation', ...at },
  JsonOutput: { typeName: 'type', returning: '#JsonReturning' },
  JsonReturning: { format: '#JsonFormat' },
  JsonFormat: { format_type: 'plain', encoding: 'plain', ...at },
  JsonBehavior: { btype: 'plain', expr: 'expression', ...at },
  JsonValueExpr: EXPRESSIONS.JsonValueExpr as Members,
  JsonKeyValue: EXPRESSIONS.JsonKeyValue as Members,
  JsonAggConstructor: { agg_filter: 'expression', agg_order: 'order', over: 'window', ...json },
};

/** The kinds of A_Expr, and whether the name is an operator or a word of SQL. */
export const OPERATOR_KINDS: ReadonlyMap<string, 'operator' | 'word'> = new Map([
  ['AEXPR_OP', 'operator'],
  ['AEXPR_OP_ANY', 'operator'],
  ['AEXPR_OP_ALL', 'operator'],
  ['AEXPR_DISTINCT', 'operator'],
  ['AEXPR_NOT_DISTINCT', 'operator'],
  ['AEXPR_NULLIF', 'operator'],
  ['AEXPR_IN', 'operator'],
  ['AEXPR_LIKE', 'operator'],
  ['AEXPR_ILIKE', 'operator'],
  ['AEXPR_SIMILAR', 'operator'],
  ['AEXPR_BETWEEN', 'word'],
  ['AEXPR_NOT_BETWEEN', 'word'],
  ['AEXPR_BETWEEN_SYM', 'word'],
  ['AEXPR_NOT_BETWEEN_SYM', 'word'],
]);

/** Words that mean comparisons with >= and <=. */
export const BETWEEN: ReadonlySet<string> = new Set(['BETWEEN', 'NOT BETWEEN', 'BETWEEN SYMMETRIC', 'NOT BETWEEN SYMMETRIC']);

/** The accepted kinds of sub-queries in expressions. */
export const SUB_LINKS: ReadonlySet<string> = new Set(['EXISTS_SUBLINK', 'ALL_SUBLINK', 'ANY_SUBLINK', 'EXPR_SUBLINK', 'ARRAY_SUBLINK']);

/** The functions without brackets that read the clock. The others return the current user, role, schema or catalog. */
export const CLOCK_VALUES: ReadonlySet<string> = new Set([
  'SVFOP_CURRENT_DATE',
  'SVFOP_CURRENT_TIME',
  'SVFOP_CURRENT_TIME_N',
  'SVFOP_CURRENT_TIMESTAMP',
  'SVFOP_CURRENT_TIMESTAMP_N',
  'SVFOP_LOCALTIME',
  'SVFOP_LOCALTIME_N',
  'SVFOP_LOCALTIMESTAMP',
  'SVFOP_LOCALTIMESTAMP_N',
]);
