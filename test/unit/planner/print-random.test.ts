import type { Node, SelectStmt, TypeName } from '@pgsql/types';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';
import { printExpression } from '../../../src/planner/print/index.ts';
import { generated } from '../../support/generated.ts';
import { sizesOf } from '../../support/sizes.ts';
import { withoutPlaces } from './print-tree.ts';

const SIZES = sizesOf('unit/planner/print-random');

const parser = await loadNodeParser();
const string = (sval: string): Node => ({ String: { sval } });
const name = fc.oneof(
  fc.constantFrom('a', 'b', 'select', 'row', 'rollup', 'name', 'A', 'x"y', 'ü 😀', '1', 'all', 'interval', 'over', 'with'),
  fc.string({ minLength: 1, maxLength: 12 }).filter((s) => !s.includes('\0')),
);
const fallback = { format_type: 'JS_FORMAT_DEFAULT', encoding: 'JS_ENC_DEFAULT' } as const;

/** Types in the form in which the grammar makes them. */
const type: fc.Arbitrary<TypeName> = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(
        ...['int4', 'int8', 'bool', 'float8', 'numeric', 'varchar', 'bpchar', 'interval', 'time', 'timestamptz', 'timetz', 'bit', 'json'].map((n) => ({
          names: [string('pg_catalog'), string(n)],
        })),
        { names: [string('pg_catalog'), string('numeric')], typmods: [10, 2].map((ival) => ({ A_Const: { ival: { ival } } }) as Node) },
        { names: [string('pg_catalog'), string('timestamptz')], typmods: [{ A_Const: { ival: { ival: 3 } } } as Node] },
        { names: [string('pg_catalog'), string('interval')], typmods: [{ A_Const: { ival: { ival: 1032 } } } as Node] },
      ),
      fc.array(name, { minLength: 1, maxLength: 2 }).map((names) => ({ names: names.map(string) })),
    ),
    fc.constantFrom({}, { arrayBounds: [{ Integer: { ival: -1 } }] }, { arrayBounds: [{ Integer: { ival: 3 } }, { Integer: { ival: -1 } }] }),
  )
  .map(([base, bounds]) => ({ ...base, typemod: -1, ...bounds }) as TypeName);

const constant: fc.Arbitrary<Node> = fc
  .oneof(
    fc.integer({ min: -2147483647 }).map((ival) => ({ ival: ival === 0 ? {} : { ival } })),
    fc.constantFrom('1.5', '-0.5', '1e10', '2147483648', '-9223372036854775809').map((fval) => ({ fval: { fval } })),
    fc
      .string()
      .filter((s) => !s.includes('\0'))
      .map((sval) => ({ sval: { sval } })),
    fc.constantFrom("'", '\\', "\\'", '\\\\', 'a\\nb', '$$', '--', '/*').map((sval) => ({ sval: { sval } })),
    fc.constantFrom({ boolval: { boolval: true } }, { boolval: {} }, { isnull: true }, { bsval: { bsval: 'b01' } }, { bsval: { bsval: 'x1F' } }),
  )
  .map((body) => ({ A_Const: body }) as Node);

const isA = (node: Node, type: string): boolean => type in node;
const isNumber = (node: Node): boolean =>
  isA(node, 'A_Const') && ('ival' in (node as { A_Const: object }).A_Const || 'fval' in (node as { A_Const: object }).A_Const);
const isBool = (node: Node, boolop: string): boolean => isA(node, 'BoolExpr') && (node as { BoolExpr: { boolop: string } }).BoolExpr.boolop === boolop;
const isQuery = (node: Node): boolean => isA(node, 'SubLink') && (node as { SubLink: { subLinkType: string } }).SubLink.subLinkType === 'EXPR_SUBLINK';

const { expression } = fc.letrec<{ expression: Node; leaf: Node; inner: Node; select: SelectStmt }>((tie) => {
  const e = tie('expression');
  const list = (minLength: number): fc.Arbitrary<Node[]> => fc.array(e, { minLength, maxLength: 3 });
  const aExpr = (kind: string, op: string, lexpr: Node, rexpr: Node): Node => ({ A_Expr: { kind, name: [string(op)], lexpr, rexpr } }) as Node;
  const system = (fname: string, args: Node[], funcformat = 'COERCE_SQL_SYNTAX'): Node =>
    ({ FuncCall: { funcname: [string('pg_catalog'), string(fname)], args, funcformat } }) as Node;
  return {
    leaf: fc.oneof(
      fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => ({ ColumnRef: { fields: names.map(string) } }) as Node),
      constant,
      fc.integer({ min: 1, max: 99 }).map((number) => ({ ParamRef: { number } }) as Node),
      fc.constant({ RowExpr: { row_format: 'COERCE_EXPLICIT_CALL' } } as Node),
    ),
    inner: fc.oneof(
      {
        arbitrary: fc
          .tuple(fc.constantFrom('+', '-', '*', '/', '%', '^', '=', '<>', '<', '>=', '||', '->', '@>', '!~'), e, e)
          .map(([op, l, r]) => aExpr('AEXPR_OP', op, l, r)),
        weight: 5,
      },
      fc
        .tuple(fc.constantFrom('-', '+', '@', '~', '|/'), e)
        .filter(([op, x]) => op !== '-' || !isNumber(x))
        .map(([op, rexpr]) => ({ A_Expr: { kind: 'AEXPR_OP', name: [string(op)], rexpr } }) as Node),
      fc.tuple(e, e).map(([lexpr, rexpr]) => ({ A_Expr: { kind: 'AEXPR_OP', name: [string('S s'), string('+')], lexpr, rexpr } }) as Node),
      // The grammar flattens a chain of ANDs on its left side.
      {
        arbitrary: fc
          .tuple(fc.constantFrom('AND_EXPR', 'OR_EXPR'), list(2))
          .filter(([boolop, args]) => !isBool(args[0] as Node, boolop))
          .map(([boolop, args]) => ({ BoolExpr: { boolop, args } }) as Node),
        weight: 3,
      },
      e.map((x) => ({ BoolExpr: { boolop: 'NOT_EXPR', args: [x] } }) as Node),
      fc
        .tuple(
          fc.constantFrom('AEXPR_OP_ANY', 'AEXPR_OP_ALL'),
          fc.constantFrom('=', '<', '~~'),
          e,
          e.filter((x) => !isQuery(x)),
        )
        .map(([kind, op, l, r]) => aExpr(kind, op, l, r)),
      fc.tuple(fc.constantFrom('AEXPR_DISTINCT', 'AEXPR_NOT_DISTINCT', 'AEXPR_NULLIF'), e, e).map(([kind, l, r]) => aExpr(kind, '=', l, r)),
      fc
        .tuple(
          fc.constantFrom('=', '<>'),
          e,
          list(1).filter((x) => x.length > 1 || !isQuery(x[0] as Node)),
        )
        .map(([op, l, items]) => aExpr('AEXPR_IN', op, l, { List: { items } })),
      fc
        .tuple(fc.constantFrom<[string, string]>(['AEXPR_LIKE', '~~'], ['AEXPR_LIKE', '!~~'], ['AEXPR_ILIKE', '~~*'], ['AEXPR_ILIKE', '!~~*']), e, e)
        .map(([[kind, op], l, r]) => aExpr(kind, op, l, r)),
      fc
        .tuple(fc.constantFrom('~', '!~'), e, list(1))
        .map(([op, l, args]) => aExpr('AEXPR_SIMILAR', op, l, system('similar_to_escape', args.slice(0, 2), 'COERCE_EXPLICIT_CALL'))),
      fc
        .tuple(
          fc.constantFrom<[string, string]>(
            ['AEXPR_BETWEEN', 'BETWEEN'],
            ['AEXPR_NOT_BETWEEN', 'NOT BETWEEN'],
            ['AEXPR_BETWEEN_SYM', 'BETWEEN SYMMETRIC'],
            ['AEXPR_NOT_BETWEEN_SYM', 'NOT BETWEEN SYMMETRIC'],
          ),
          e,
          e,
          e,
        )
        .map(([[kind, op], l, low, high]) => aExpr(kind, op, l, { List: { items: [low, high] } })),
      fc.tuple(e, fc.constantFrom('IS_NULL', 'IS_NOT_NULL')).map(([arg, nulltesttype]) => ({ NullTest: { arg, nulltesttype } }) as Node),
      fc.tuple(e, fc.constantFrom('IS_TRUE', 'IS_NOT_FALSE', 'IS_UNKNOWN')).map(([arg, booltesttype]) => ({ BooleanTest: { arg, booltesttype } }) as Node),
      fc
        .tuple(fc.array(name, { minLength: 1, maxLength: 2 }), list(1))
        .map(([names, args]) => ({ FuncCall: { funcname: names.map(string), args, funcformat: 'COERCE_EXPLICIT_CALL' } }) as Node),
      fc.tuple(e, e).map((args) => system('timezone', args)),
      fc.tuple(e, e).map((args) => system('position', args)),
      fc.tuple(e, e, e).map((args) => system('substring', args)),
      fc.tuple(e, e).map((args) => system('rtrim', args)),
      fc.tuple(e, e, e, e).map((args) => system('overlaps', args)),
      { arbitrary: fc.tuple(e, type).map(([arg, typeName]) => ({ TypeCast: { arg, typeName } }) as Node), weight: 2 },
      fc.tuple(e, name).map(([arg, collation]) => ({ CollateClause: { arg, collname: [string(collation)] } }) as Node),
      fc.tuple(e, e, e).map(([expr, result, defresult]) => ({ CaseExpr: { args: [{ CaseWhen: { expr, result } }], defresult } }) as Node),
      list(1).map((args) => ({ CoalesceExpr: { args } }) as Node),
      list(2).map((args) => ({ RowExpr: { args, row_format: 'COERCE_IMPLICIT_CAST' } }) as Node),
      list(1).map((elements) => ({ A_ArrayExpr: { elements } }) as Node),
      fc
        .tuple(
          e.filter((x) => !isA(x, 'A_Indirection') && !isA(x, 'ColumnRef')),
          e,
          name,
        )
        .map(([arg, uidx, field]) => ({ A_Indirection: { arg, indirection: [{ A_Indices: { uidx } }, string(field)] } }) as Node),
      fc
        .tuple(
          e.filter((x) => !isA(x, 'A_Indirection')),
          e,
          e,
        )
        .map(([arg, lidx, uidx]) => ({ A_Indirection: { arg, indirection: [{ A_Indices: { is_slice: true, lidx, uidx } }] } }) as Node),
      fc.tuple(e, tie('select'), fc.boolean()).map(
        ([testexpr, s, any]) =>
          ({
            SubLink: {
              subLinkType: any ? 'ANY_SUBLINK' : 'ALL_SUBLINK',
              testexpr,
              ...(any ? {} : { operName: [string('<')] }),
              subselect: { SelectStmt: s },
            },
          }) as Node,
      ),
      fc
        .tuple(fc.constantFrom('EXISTS_SUBLINK', 'EXPR_SUBLINK', 'ARRAY_SUBLINK'), tie('select'))
        .map(([subLinkType, s]) => ({ SubLink: { subLinkType, subselect: { SelectStmt: s } } }) as Node),
      e.map((expr) => ({ JsonIsPredicate: { expr, format: fallback, item_type: 'JS_TYPE_ANY' } }) as Node),
      fc
        .tuple(e, e)
        .map(([key, raw_expr]) => ({ JsonObjectConstructor: { exprs: [{ JsonKeyValue: { key, value: { raw_expr, format: fallback } } }] } }) as Node),
    ),
    expression: fc.oneof({ maxDepth: 5, depthSize: 'medium' }, tie('leaf'), tie('inner')),
    select: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc
        .tuple(e, name)
        .map(([val, label]) => ({ targetList: [{ ResTarget: { name: label, val } }], limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_NONE' }) as SelectStmt),
      fc
        .tuple(e, e)
        .map(([val, limitCount]) => ({ targetList: [{ ResTarget: { val } }], limitCount, limitOption: 'LIMIT_OPTION_COUNT', op: 'SETOP_NONE' }) as SelectStmt),
      fc
        .tuple(fc.constantFrom('SETOP_UNION', 'SETOP_INTERSECT', 'SETOP_EXCEPT'), fc.boolean(), tie('select'), tie('select'))
        .map(([op, all, larg, rarg]) => ({ op, ...(all ? { all } : {}), larg, rarg, limitOption: 'LIMIT_OPTION_DEFAULT' }) as SelectStmt),
    ),
  };
});

it('prints any tree as text that parses to the same tree', () => {
  fc.assert(
    fc.property(expression, (node) => {
      const printed = printExpression(node);
      const statement = parser.parse(`SELECT ${printed}`).stmts[0]?.stmt as { SelectStmt: { targetList: [{ ResTarget: { val: Node } }] } };
      expect(withoutPlaces(statement.SelectStmt.targetList[0].ResTarget.val), printed).toEqual(withoutPlaces(node));
    }),
    generated(SIZES.trees, SIZES.trees),
  );
});
