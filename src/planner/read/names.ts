/** The name that PostgreSQL gives to a column of a select list (FigureColname in parse_target.c). */

import type { Node, SelectStmt, TypeName } from '@pgsql/types';
import { nameOf } from '../plan/tree.ts';

/** The name of an unaliased output column. */
export const columnName = (node: Node): string => figure(node)[0] ?? '?column?';

/** The sub-select whose star names an unaliased output column. The name is that of its first column, which is known when the star is expanded. */
export const namingStar = (node: Node): SelectStmt | undefined => figure(node)[2];

/** A name and its strength as in PostgreSQL: 0 for no name, 1 for a weak name (the type of a cast), 2 for a good one. `star`: the sub-select whose star gives the name. */
type Figure = readonly [name: string | undefined, strength: 0 | 1 | 2, star?: SelectStmt];

function figure(node: Node): Figure {
  if ('ColumnRef' in node) {
    const name = nameOf(node.ColumnRef.fields?.at(-1));
    return name === undefined ? [undefined, 0] : [name, 2];
  }
  if ('A_Indirection' in node) {
    const name = nameOf((node.A_Indirection.indirection ?? []).findLast((i) => 'String' in i));
    if (name !== undefined) return [name, 2];
    return node.A_Indirection.arg ? figure(node.A_Indirection.arg) : [undefined, 0];
  }
  if ('FuncCall' in node) {
    const name = nameOf(node.FuncCall.funcname?.at(-1));
    return name === undefined ? [undefined, 0] : [name, 2];
  }
  if ('A_Expr' in node) return node.A_Expr.kind === 'AEXPR_NULLIF' ? ['nullif', 2] : [undefined, 0];
  if ('TypeCast' in node) {
    const found = node.TypeCast.arg ? figure(node.TypeCast.arg) : undefined;
    if (found && found[1] > 1) return found;
    return [lastOf(node.TypeCast.typeName), 1];
  }
  if ('CollateClause' in node) return node.CollateClause.arg ? figure(node.CollateClause.arg) : [undefined, 0];
  if ('GroupingFunc' in node) return ['grouping', 2];
  if ('SubLink' in node) {
    if (node.SubLink.subLinkType === 'EXISTS_SUBLINK') return ['exists', 2];
    if (node.SubLink.subLinkType === 'ARRAY_SUBLINK') return ['array', 2];
    if (node.SubLink.subLinkType === 'EXPR_SUBLINK') {
      let stmt = node.SubLink.subselect && 'SelectStmt' in node.SubLink.subselect ? node.SubLink.subselect.SelectStmt : undefined;
      while (stmt?.larg) stmt = stmt.larg;
      // PostgreSQL takes the name of the sub-query's column, even if it is `?column?`
      if (stmt?.valuesLists) return ['column1', 2];
      const first = stmt?.targetList?.[0];
      const { name, val } = first && 'ResTarget' in first ? first.ResTarget : {};
      if (name === undefined && stmt && val && 'ColumnRef' in val && val.ColumnRef.fields?.some((f) => 'A_Star' in f)) return [undefined, 2, stmt];
      const inner = name === undefined && val ? namingStar(val) : undefined;
      if (inner) return [undefined, 2, inner];
      if (val) return [name ?? columnName(val), 2];
    }
    return [undefined, 0];
  }
  if ('CaseExpr' in node) {
    const found = node.CaseExpr.defresult ? figure(node.CaseExpr.defresult) : undefined;
    return found && found[1] > 1 ? found : ['case', 1];
  }
  if ('A_ArrayExpr' in node) return ['array', 2];
  if ('RowExpr' in node) return ['row', 2];
  if ('CoalesceExpr' in node) return ['coalesce', 2];
  if ('MinMaxExpr' in node) return [node.MinMaxExpr.op === 'IS_GREATEST' ? 'greatest' : 'least', 2];
  if ('SQLValueFunction' in node) return [SQL_VALUES[node.SQLValueFunction.op ?? ''], 2];
  if ('JsonObjectConstructor' in node) return ['json_object', 2];
  if ('JsonArrayConstructor' in node || 'JsonArrayQueryConstructor' in node) return ['json_array', 2];
  if ('JsonFuncExpr' in node) return [JSON_FUNCTIONS[node.JsonFuncExpr.op ?? ''], 2];
  if ('JsonParseExpr' in node) return ['json', 2];
  if ('JsonScalarExpr' in node) return ['json_scalar', 2];
  if ('JsonSerializeExpr' in node) return ['json_serialize', 2];
  if ('JsonObjectAgg' in node) return ['json_objectagg', 2];
  if ('JsonArrayAgg' in node) return ['json_arrayagg', 2];
  return [undefined, 0];
}

const lastOf = (type: TypeName | undefined): string | undefined => nameOf(type?.names?.at(-1));

const JSON_FUNCTIONS: Readonly<Record<string, string>> = { JSON_EXISTS_OP: 'json_exists', JSON_QUERY_OP: 'json_query', JSON_VALUE_OP: 'json_value' };

const SQL_VALUES: Readonly<Record<string, string>> = {
  SVFOP_CURRENT_DATE: 'current_date',
  SVFOP_CURRENT_TIME: 'current_time',
  SVFOP_CURRENT_TIME_N: 'current_time',
  SVFOP_CURRENT_TIMESTAMP: 'current_timestamp',
  SVFOP_CURRENT_TIMESTAMP_N: 'current_timestamp',
  SVFOP_LOCALTIME: 'localtime',
  SVFOP_LOCALTIME_N: 'localtime',
  SVFOP_LOCALTIMESTAMP: 'localtimestamp',
  SVFOP_LOCALTIMESTAMP_N: 'localtimestamp',
};
