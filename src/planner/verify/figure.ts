/** The name of a select-list item without an alias (FigureColname in PostgreSQL's parse_target.c). */
import { type Body, firstOf, listOf, nameOf, type Tree, typeOf } from './tree.ts';

/** The name of an item. @param firsts the name of the first column of each scalar sub-select */
export const figure = (node: Tree, firsts: ReadonlyMap<Body, string>): string => find(node, firsts)[0] ?? '?column?';

/** A name, and whether it is preferred to that of an outer cast. */
type Found = readonly [name: string | undefined, good: boolean];

const NOT_FOUND: Found = [undefined, false];
const good = (name: string | undefined): Found => [name, name !== undefined];

const WORDS: Readonly<Record<string, string>> = {
  A_ArrayExpr: 'array',
  CoalesceExpr: 'coalesce',
  GroupingFunc: 'grouping',
  RowExpr: 'row',
  JsonArrayAgg: 'json_arrayagg',
  JsonArrayConstructor: 'json_array',
  JsonArrayQueryConstructor: 'json_array',
  JsonObjectAgg: 'json_objectagg',
  JsonObjectConstructor: 'json_object',
  JsonParseExpr: 'json',
  JsonScalarExpr: 'json_scalar',
  JsonSerializeExpr: 'json_serialize',
};
const LAST_WORD = /^(?:SVFOP_)?(\w+?)(?:_N|_OP)?$/;

function find(node: Tree, firsts: ReadonlyMap<Body, string>): Found {
  const type = typeOf(node);
  const body = node[type] as Body;
  const word = Object.hasOwn(WORDS, type) ? WORDS[type] : undefined;
  if (word !== undefined) return good(word);
  switch (type) {
    case 'ColumnRef':
      // the name of `(x.*)::text` is x
      return good(nameOf(listOf(body.fields).findLast((field) => 'String' in field)));
    case 'A_Indirection': {
      const named = listOf(body.indirection).findLast((step) => 'String' in step);
      return named ? good(nameOf(named)) : find(body.arg as Tree, firsts);
    }
    case 'FuncCall':
      return good(nameOf(listOf(body.funcname).at(-1)));
    case 'A_Expr':
      return body.kind === 'AEXPR_NULLIF' ? good('nullif') : NOT_FOUND;
    case 'CollateClause':
      return find(body.arg as Tree, firsts);
    case 'TypeCast': {
      const inner = find(body.arg as Tree, firsts);
      return inner[1] ? inner : [nameOf(listOf((body.typeName as Body).names).at(-1)), false];
    }
    case 'CaseExpr': {
      const inner = body.defresult ? find(body.defresult as Tree, firsts) : NOT_FOUND;
      return inner[1] ? inner : ['case', false];
    }
    case 'MinMaxExpr':
      return good(body.op === 'IS_GREATEST' ? 'greatest' : 'least');
    case 'SQLValueFunction':
    case 'JsonFuncExpr':
      return good(LAST_WORD.exec(String(body.op))?.[1]?.toLowerCase());
    case 'SubLink':
      if (body.subLinkType === 'EXISTS_SUBLINK') return good('exists');
      if (body.subLinkType === 'ARRAY_SUBLINK') return good('array');
      return body.subLinkType === 'EXPR_SUBLINK' ? good(firsts.get(firstOf(body.subselect as Tree))) : NOT_FOUND;
    default:
      return NOT_FOUND;
  }
}
