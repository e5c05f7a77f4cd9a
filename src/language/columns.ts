/** The output columns of a SELECT, from its tree: named as in PostgreSQL's FigureColname (parse_target.c), with stars expanded where FROM determines them. */

/** A node of libpg-query's JSON tree. */
export type Json = { readonly [key: string]: unknown };

/** True for an object other than a list. */
export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const inner = (value: unknown, type: string): Json | undefined => (isObject(value) && isObject(value[type]) ? value[type] : undefined);
const textOf = (value: unknown): string | undefined => {
  const sval = inner(value, 'String')?.sval;
  return typeof sval === 'string' ? sval : undefined;
};

/** The CTEs in scope with their columns; null if the columns are unknown. */
type Scope = ReadonlyMap<string, readonly string[] | null>;

/**
 * The column names of a SelectStmt, in order. Substitutes for names over 63 bytes remain. Returns null if a star selects
 * columns that the text does not determine.
 */
export function outputColumns(select: Json, outer: Scope = new Map()): string[] | null {
  let scope = outer;
  const clause = select.withClause;
  if (isObject(clause)) {
    const ctes = new Map(outer);
    for (const item of list(clause.ctes)) {
      const cte = inner(item, 'CommonTableExpr');
      const query = inner(cte?.ctequery, 'SelectStmt');
      const name = String(cte?.ctename);
      // a recursive term may select * from itself: its columns are unknown until the CTE is complete
      if (clause.recursive) ctes.set(name, null);
      ctes.set(name, renamed(query ? outputColumns(query, ctes) : null, cte?.aliascolnames));
    }
    scope = ctes;
  }
  if (isObject(select.larg)) return outputColumns(select.larg, scope);
  const values = list(select.valuesLists)[0];
  if (values !== undefined) return list(inner(values, 'List')?.items).map((_, i) => `column${i + 1}`);
  const columns: string[] = [];
  for (const item of list(select.targetList)) {
    const target = inner(item, 'ResTarget') ?? {};
    const ref = inner(target.val, 'ColumnRef');
    const fields = list(ref?.fields);
    if (ref && inner(fields.at(-1), 'A_Star')) {
      const qualifier = fields.length > 1 ? textOf(fields.at(-2)) : undefined;
      const expanded = star(list(select.fromClause), scope, qualifier);
      if (!expanded) return null;
      columns.push(...expanded);
    } else columns.push(typeof target.name === 'string' ? target.name : (figure(target.val)?.name ?? '?column?'));
  }
  return columns;
}

function renamed(columns: readonly string[] | null, names: unknown): string[] | null {
  const given = list(names).map((n) => textOf(n) ?? '');
  return columns === null ? null : columns.map((c, i) => given[i] ?? c);
}

/** The columns that a star over FROM expands to; null if unknown. */
function star(from: readonly unknown[], scope: Scope, qualifier: string | undefined): string[] | null {
  const columns: string[] = [];
  for (const item of from) {
    const found = relation(item, scope, qualifier);
    if (!found) return null;
    columns.push(...found);
  }
  return columns;
}

function relation(item: unknown, scope: Scope, qualifier: string | undefined): string[] | null {
  const join = inner(item, 'JoinExpr');
  if (join) {
    if (join.alias || join.isNatural || join.usingClause) return null;
    const left = relation(join.larg, scope, qualifier);
    const right = left && relation(join.rarg, scope, qualifier);
    return right && [...left, ...right];
  }
  const node = inner(item, 'RangeSubselect') ?? inner(item, 'RangeVar') ?? inner(item, 'RangeFunction');
  const alias = isObject(node?.alias) ? node.alias : undefined;
  const name = alias?.aliasname ?? node?.relname;
  if (qualifier !== undefined && name !== qualifier) return [];
  const query = inner(node?.subquery, 'SelectStmt');
  if (query) return renamed(outputColumns(query, scope), alias?.colnames);
  if (typeof node?.relname !== 'string' || node.schemaname !== undefined) return null;
  const known = scope.get(node.relname);
  return known ? renamed([...known], alias?.colnames) : null;
}

/** A column name. A weak one (the name of a type) gives way to a stronger one. */
interface Figured {
  readonly name: string;
  readonly strong: boolean;
}

const strong = (name: string): Figured => ({ name, strong: true });

const FIXED: Readonly<Record<string, string>> = {
  CoalesceExpr: 'coalesce',
  A_ArrayExpr: 'array',
  RowExpr: 'row',
  GroupingFunc: 'grouping',
  XmlSerialize: 'xmlserialize',
  JsonObjectConstructor: 'json_object',
  JsonArrayConstructor: 'json_array',
  JsonArrayQueryConstructor: 'json_array',
  JsonObjectAgg: 'json_objectagg',
  JsonArrayAgg: 'json_arrayagg',
  JsonParseExpr: 'json',
  JsonScalarExpr: 'json_scalar',
  JsonSerializeExpr: 'json_serialize',
};

function figure(value: unknown): Figured | null {
  if (!isObject(value)) return null;
  const [type, node] = Object.entries(value)[0] ?? [];
  if (type === undefined || !isObject(node)) return null;
  const fixed = FIXED[type];
  if (fixed !== undefined) return strong(fixed);
  switch (type) {
    case 'ColumnRef':
      return lastName(node.fields);
    case 'FuncCall':
      return lastName(node.funcname);
    case 'A_Indirection':
      return lastName(node.indirection) ?? figure(node.arg);
    case 'CollateClause':
      return figure(node.arg);
    case 'A_Expr':
      return node.kind === 'AEXPR_NULLIF' ? strong('nullif') : null;
    case 'TypeCast': {
      const arg = figure(node.arg);
      if (arg?.strong) return arg;
      const typeName = lastName(isObject(node.typeName) ? node.typeName.names : undefined);
      return typeName && { ...typeName, strong: false };
    }
    case 'CaseExpr': {
      const otherwise = figure(node.defresult);
      return otherwise?.strong ? otherwise : { name: 'case', strong: false };
    }
    case 'MinMaxExpr':
      return strong(node.op === 'IS_LEAST' ? 'least' : 'greatest');
    case 'SQLValueFunction':
      return strong(
        String(node.op)
          .replace(/^SVFOP_/, '')
          .replace(/_N$/, '')
          .toLowerCase(),
      );
    case 'SubLink':
      return sublink(node);
    default:
      return null;
  }
}

function sublink(node: Json): Figured | null {
  if (node.subLinkType === 'EXISTS_SUBLINK') return strong('exists');
  if (node.subLinkType === 'ARRAY_SUBLINK') return strong('array');
  if (node.subLinkType !== 'EXPR_SUBLINK') return null;
  let select = inner(node.subselect, 'SelectStmt');
  while (select && isObject(select.larg)) select = select.larg;
  const target = inner(list(select?.targetList)[0], 'ResTarget');
  return typeof target?.name === 'string' ? strong(target.name) : figure(target?.val);
}

function lastName(names: unknown): Figured | null {
  const name = list(names)
    .map(textOf)
    .filter((n) => n !== undefined)
    .at(-1);
  return name === undefined ? null : strong(name);
}
