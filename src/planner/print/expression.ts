/** Expressions. An operand gets parentheses unless its precedence is certain. */
import type * as pg from '@pgsql/types';
import { functionCall } from './function.ts';
import * as json from './json.ts';
import { columnRef, namePart, paramRef, sqlValueFunction } from './leaves.ts';
import { constant, operator } from './lexical.ts';
import { operatorExpression, PRECEDENCE, precedenceOf } from './operators.ts';
import { subquery } from './select.ts';
import { check, fields, must, type Sink, unsupported } from './sink.ts';
import { typeName } from './types.ts';

type Printer = (sink: Sink, body: never) => void;

/**
 * Prints an expression without parentheses around it.
 * @throws SvcError 400 `unsupported_syntax`, `too_complex`
 */
export function expression(sink: Sink, node: pg.Node): void {
  for (const type in node) {
    const print = PRINTERS.get(type);
    if (print === undefined) throw unsupported(type);
    sink.enter();
    print(sink, (node as Record<string, unknown>)[type] as never);
    sink.leave();
    return;
  }
  throw unsupported('an empty expression');
}

/** Prints an expression in parentheses. */
export function parenthesized(sink: Sink, node: pg.Node): void {
  sink.text += '(';
  expression(sink, node);
  sink.text += ')';
}

/** Prints an operand, in parentheses unless it binds at least as tightly as a cast. */
export function operand(sink: Sink, node: pg.Node): void {
  if (precedenceOf(node) >= PRECEDENCE.cast) expression(sink, node);
  else parenthesized(sink, node);
}

const BOOL_EXPR = fields('boolop args location');

function boolExpr(sink: Sink, n: pg.BoolExpr): void {
  check('BoolExpr', BOOL_EXPR, n);
  const args = must(n.args, 'BoolExpr');
  if (n.boolop === 'NOT_EXPR') {
    sink.at(n.location);
    sink.text += 'NOT ';
    operand(sink, must(args[0], 'NOT'));
    return;
  }
  const word = n.boolop === 'OR_EXPR' ? ' OR ' : ' AND ';
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as pg.Node;
    if (i > 0) {
      sink.text += ' ';
      if (i === 1) sink.at(n.location);
      sink.text += word.slice(1);
    }
    if (precedenceOf(arg) > PRECEDENCE.and || args.length === 1) expression(sink, arg);
    else parenthesized(sink, arg);
  }
}

const NULL_TEST = fields('arg nulltesttype location');

function nullTest(sink: Sink, n: pg.NullTest): void {
  check('NullTest', NULL_TEST, n);
  operand(sink, must(n.arg, 'NullTest'));
  sink.text += ' ';
  sink.at(n.location);
  sink.text += n.nulltesttype === 'IS_NOT_NULL' ? 'IS NOT NULL' : 'IS NULL';
}

const BOOLEAN_TEST = fields('arg booltesttype location');

function booleanTest(sink: Sink, n: pg.BooleanTest): void {
  check('BooleanTest', BOOLEAN_TEST, n);
  operand(sink, must(n.arg, 'BooleanTest'));
  sink.text += ' ';
  sink.at(n.location);
  sink.text += must(n.booltesttype, 'BooleanTest').replaceAll('_', ' ');
}

const SUB_LINK = fields('subLinkType testexpr operName subselect location');

function subLink(sink: Sink, n: pg.SubLink): void {
  check('SubLink', SUB_LINK, n);
  const query = must(n.subselect, 'SubLink');
  switch (n.subLinkType) {
    case 'EXPR_SUBLINK':
      sink.at(n.location);
      break;
    case 'EXISTS_SUBLINK':
      sink.at(n.location);
      sink.text += 'EXISTS ';
      break;
    case 'ARRAY_SUBLINK':
      sink.at(n.location);
      sink.text += 'ARRAY';
      break;
    case 'ANY_SUBLINK':
    case 'ALL_SUBLINK': {
      operand(sink, must(n.testexpr, 'SubLink'));
      sink.text += ' ';
      sink.at(n.location);
      if (n.operName !== undefined) sink.text += `${operator(n.operName)} ${n.subLinkType === 'ANY_SUBLINK' ? 'ANY' : 'ALL'} `;
      else if (n.subLinkType === 'ANY_SUBLINK') sink.text += 'IN ';
      else throw unsupported('ALL without an operator');
      break;
    }
    default:
      throw unsupported('this kind of subquery');
  }
  if ((n.testexpr !== undefined || n.operName !== undefined) && n.subLinkType !== 'ANY_SUBLINK' && n.subLinkType !== 'ALL_SUBLINK') {
    throw unsupported('this kind of subquery');
  }
  subquery(sink, query);
}

const TYPE_CAST = fields('arg typeName location');

function typeCast(sink: Sink, n: pg.TypeCast): void {
  check('TypeCast', TYPE_CAST, n);
  operand(sink, must(n.arg, 'TypeCast'));
  sink.at(n.location);
  sink.text += '::';
  typeName(sink, must(n.typeName, 'TypeCast'));
}

/** Prints a cast where the grammar does not accept `::`, such as in FROM. */
export function callLikeCast(sink: Sink, n: pg.TypeCast): void {
  check('TypeCast', TYPE_CAST, n);
  sink.at(n.location);
  sink.text += 'CAST(';
  expression(sink, must(n.arg, 'TypeCast'));
  sink.text += ' AS ';
  typeName(sink, must(n.typeName, 'TypeCast'));
  sink.text += ')';
}

const COLLATE_CLAUSE = fields('arg collname location');

/** Prints `arg COLLATE name`. A column definition has no `arg`. */
export function collateClause(sink: Sink, n: pg.CollateClause): void {
  check('CollateClause', COLLATE_CLAUSE, n);
  if (n.arg !== undefined) operand(sink, n.arg);
  sink.text += ' ';
  sink.at(n.location);
  sink.text += 'COLLATE ';
  sink.list(must(n.collname, 'COLLATE'), namePart, '.');
}

const CASE_EXPR = fields('arg args defresult location');
const CASE_WHEN = fields('expr result location');

function caseExpr(sink: Sink, n: pg.CaseExpr): void {
  check('CaseExpr', CASE_EXPR, n);
  sink.at(n.location);
  sink.text += 'CASE';
  if (n.arg !== undefined) {
    sink.text += ' ';
    expression(sink, n.arg);
  }
  for (const node of must(n.args, 'CASE')) {
    const when = must((node as { CaseWhen?: pg.CaseWhen }).CaseWhen, 'CASE');
    check('CaseWhen', CASE_WHEN, when);
    sink.text += ' ';
    sink.at(when.location);
    sink.text += 'WHEN ';
    expression(sink, must(when.expr, 'WHEN'));
    sink.text += ' THEN ';
    expression(sink, must(when.result, 'THEN'));
  }
  if (n.defresult !== undefined) {
    sink.text += ' ELSE ';
    expression(sink, n.defresult);
  }
  sink.text += ' END';
}

/** Prints `WORD(arg, ..)` for nodes that have only arguments. */
function call(sink: Sink, word: string, location: number | undefined, args: readonly pg.Node[] | undefined): void {
  sink.at(location);
  sink.text += `${word}(`;
  sink.list(args, expression);
  sink.text += ')';
}

const ARGUMENTS = fields('args location');

function coalesceExpr(sink: Sink, n: pg.CoalesceExpr): void {
  check('CoalesceExpr', ARGUMENTS, n);
  call(sink, 'COALESCE', n.location, n.args);
}

function groupingFunc(sink: Sink, n: pg.GroupingFunc): void {
  check('GroupingFunc', ARGUMENTS, n);
  call(sink, 'GROUPING', n.location, n.args);
}

const MIN_MAX_EXPR = fields('op args location');

function minMaxExpr(sink: Sink, n: pg.MinMaxExpr): void {
  check('MinMaxExpr', MIN_MAX_EXPR, n);
  call(sink, n.op === 'IS_LEAST' ? 'LEAST' : 'GREATEST', n.location, n.args);
}

const A_ARRAY_EXPR = fields('elements list_start list_end location');

function arrayExpr(sink: Sink, n: pg.A_ArrayExpr): void {
  check('A_ArrayExpr', A_ARRAY_EXPR, n);
  sink.at(n.location);
  sink.text += 'ARRAY[';
  sink.list(n.elements, expression);
  sink.text += ']';
}

const ROW_EXPR = fields('args row_format location');

function rowExpr(sink: Sink, n: pg.RowExpr): void {
  check('RowExpr', ROW_EXPR, n);
  call(sink, n.row_format === 'COERCE_IMPLICIT_CAST' && (n.args?.length ?? 0) > 1 ? '' : 'ROW', n.location, n.args);
}

const A_INDIRECTION = fields('arg indirection');
const A_INDICES = fields('is_slice lidx uidx');

function indirection(sink: Sink, n: pg.A_Indirection): void {
  check('A_Indirection', A_INDIRECTION, n);
  const arg = must(n.arg, 'A_Indirection');
  // A name can take subscripts without parentheses. A dot after it would be read as part of the name.
  const first = n.indirection?.[0];
  const bare = ('ColumnRef' in arg && first !== undefined && 'A_Indices' in first) || ('SubLink' in arg && arg.SubLink.subLinkType === 'EXPR_SUBLINK');
  if (bare) expression(sink, arg);
  else parenthesized(sink, arg);
  for (const step of n.indirection ?? []) {
    const indices = (step as { A_Indices?: pg.A_Indices }).A_Indices;
    if (indices === undefined) {
      sink.text += '.';
      namePart(sink, step);
      continue;
    }
    check('A_Indices', A_INDICES, indices);
    sink.text += '[';
    if (indices.is_slice) {
      if (indices.lidx !== undefined) expression(sink, indices.lidx);
      sink.text += ':';
      if (indices.uidx !== undefined) expression(sink, indices.uidx);
    } else {
      if (indices.lidx !== undefined) throw unsupported('this subscript');
      expression(sink, must(indices.uidx, 'subscript'));
    }
    sink.text += ']';
  }
}

const PRINTERS: ReadonlyMap<string, Printer> = new Map<string, Printer>([
  ['ColumnRef', columnRef],
  ['A_Const', constant],
  ['A_Expr', operatorExpression],
  ['FuncCall', functionCall],
  ['BoolExpr', boolExpr],
  ['ParamRef', paramRef],
  ['NullTest', nullTest],
  ['BooleanTest', booleanTest],
  ['SubLink', subLink],
  ['TypeCast', typeCast],
  ['CollateClause', collateClause],
  ['CaseExpr', caseExpr],
  ['CoalesceExpr', coalesceExpr],
  ['MinMaxExpr', minMaxExpr],
  ['GroupingFunc', groupingFunc],
  ['A_ArrayExpr', arrayExpr],
  ['RowExpr', rowExpr],
  ['A_Indirection', indirection],
  ['SQLValueFunction', sqlValueFunction],
  ['JsonObjectConstructor', json.objectConstructor],
  ['JsonArrayConstructor', json.arrayConstructor],
  ['JsonArrayQueryConstructor', json.arrayQueryConstructor],
  ['JsonObjectAgg', json.objectAgg],
  ['JsonArrayAgg', json.arrayAgg],
  ['JsonParseExpr', json.parseExpr],
  ['JsonScalarExpr', json.scalarExpr],
  ['JsonSerializeExpr', json.serializeExpr],
  ['JsonIsPredicate', json.isPredicate],
  ['JsonFuncExpr', json.funcExpr],
]);
