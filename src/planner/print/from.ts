/** Items of FROM. */
import type * as pg from '@pgsql/types';
import { callLikeCast, collateClause, expression } from './expression.ts';
import { identifier, identifiers } from './lexical.ts';
import { PRECEDENCE, precedenceOf } from './operators.ts';
import { subquery } from './select.ts';
import { check, fields, must, type Sink, typeOf, unsupported } from './sink.ts';
import { typeName } from './types.ts';

/** Prints an item of FROM with its joins. */
export function fromItem(sink: Sink, node: pg.Node): void {
  const type = typeOf(node);
  const print = type === undefined ? undefined : ITEMS.get(type);
  if (print === undefined) throw unsupported(type ?? 'an empty item of FROM');
  sink.enter();
  print(sink, (node as unknown as Record<string, unknown>)[type as string] as never);
  sink.leave();
}

const ALIAS = fields('aliasname colnames');

function alias(sink: Sink, n: pg.Alias | undefined): void {
  if (n === undefined) return;
  check('Alias', ALIAS, n);
  sink.text += ` AS ${identifier(must(n.aliasname, 'alias'))}`;
  if (n.colnames !== undefined) sink.text += `(${identifiers(n.colnames, ', ')})`;
}

const RANGE_VAR = fields('catalogname schemaname relname inh relpersistence alias location');

function rangeVar(sink: Sink, n: pg.RangeVar): void {
  check('RangeVar', RANGE_VAR, n);
  if (n.inh === false || n.inh === undefined) throw unsupported('ONLY');
  if (n.relpersistence !== undefined && n.relpersistence !== 'p') throw unsupported('a temporary table');
  sink.at(n.location);
  if (n.catalogname !== undefined) sink.text += `${identifier(n.catalogname)}.`;
  if (n.schemaname !== undefined) sink.text += `${identifier(n.schemaname)}.`;
  sink.text += identifier(must(n.relname, 'table'));
  alias(sink, n.alias);
}

const RANGE_TABLE_SAMPLE = fields('relation method args repeatable location');

function tableSample(sink: Sink, n: pg.RangeTableSample): void {
  check('RangeTableSample', RANGE_TABLE_SAMPLE, n);
  rangeVar(sink, must((n.relation as { RangeVar?: pg.RangeVar } | undefined)?.RangeVar, 'TABLESAMPLE'));
  sink.text += ' TABLESAMPLE ';
  sink.at(n.location);
  sink.text += `${identifiers(must(n.method, 'TABLESAMPLE'), '.')}(`;
  sink.list(n.args, expression);
  sink.text += ')';
  if (n.repeatable !== undefined) {
    sink.text += ' REPEATABLE (';
    expression(sink, n.repeatable);
    sink.text += ')';
  }
}

const RANGE_SUBSELECT = fields('lateral subquery alias');

function rangeSubselect(sink: Sink, n: pg.RangeSubselect): void {
  check('RangeSubselect', RANGE_SUBSELECT, n);
  if (n.lateral) sink.text += 'LATERAL ';
  subquery(sink, must(n.subquery, 'subquery'));
  alias(sink, n.alias);
}

const RANGE_FUNCTION = fields('lateral ordinality is_rowsfrom functions alias coldeflist');

function rangeFunction(sink: Sink, n: pg.RangeFunction): void {
  check('RangeFunction', RANGE_FUNCTION, n);
  const functions = must(n.functions, 'function in FROM');
  if (functions.length !== 1 && !n.is_rowsfrom) throw unsupported('several functions without ROWS FROM');
  if (n.lateral) sink.text += 'LATERAL ';
  if (n.is_rowsfrom) sink.text += 'ROWS FROM (';
  sink.list(functions, functionOfRows);
  if (n.is_rowsfrom) sink.text += ')';
  if (n.ordinality) sink.text += ' WITH ORDINALITY';
  if (n.coldeflist === undefined) alias(sink, n.alias);
  else {
    // The forms are `f() AS (a int)` and `f() AS x(a int)`.
    if (n.alias === undefined) sink.text += ' AS ';
    else alias(sink, n.alias);
    columnDefinitions(sink, n.coldeflist);
  }
}

/** Prints a function and, in ROWS FROM, its own column definitions. */
function functionOfRows(sink: Sink, node: pg.Node): void {
  const [call, columns] = must((node as { List?: pg.List }).List?.items, 'function in FROM');
  const f = must(call, 'function in FROM');
  if ('TypeCast' in f) callLikeCast(sink, f.TypeCast);
  else if (precedenceOf(f) === PRECEDENCE.atom && !NO_FUNCTIONS.has(typeOf(f) as string)) expression(sink, f);
  else throw unsupported('this expression in FROM');
  const list = (columns as { List?: pg.List } | undefined)?.List?.items;
  if (list !== undefined) {
    sink.text += ' AS ';
    columnDefinitions(sink, list);
  }
}

/** Expressions that need no parentheses but that the grammar does not accept as a function in FROM. */
const NO_FUNCTIONS: ReadonlySet<string> = new Set([
  'ColumnRef',
  'ParamRef',
  'A_Const',
  'SubLink',
  'CaseExpr',
  'A_ArrayExpr',
  'RowExpr',
  'A_Indirection',
  'GroupingFunc',
]);

const COLUMN_DEF = fields('colname typeName collClause is_local location');

function columnDefinitions(sink: Sink, list: readonly pg.Node[]): void {
  sink.text += '(';
  sink.list(list, columnDefinition);
  sink.text += ')';
}

function columnDefinition(sink: Sink, node: pg.Node): void {
  const n = must((node as { ColumnDef?: pg.ColumnDef }).ColumnDef, 'column definition');
  check('ColumnDef', COLUMN_DEF, n);
  sink.at(n.location);
  sink.text += `${identifier(must(n.colname, 'column definition'))} `;
  typeName(sink, must(n.typeName, 'column definition'));
  if (n.collClause !== undefined) collateClause(sink, n.collClause);
}

const JOIN_EXPR = fields('jointype isNatural larg rarg usingClause join_using_alias quals alias rtindex');

const JOIN_WORDS: ReadonlyMap<string, string> = new Map([
  ['JOIN_INNER', 'JOIN'],
  ['JOIN_LEFT', 'LEFT JOIN'],
  ['JOIN_RIGHT', 'RIGHT JOIN'],
  ['JOIN_FULL', 'FULL JOIN'],
]);

/** Prints a join. The joins of `a JOIN b .. JOIN c ..` are nested on the left and can be many, so a loop walks them. */
function join(sink: Sink, last: pg.JoinExpr): void {
  const chain: pg.JoinExpr[] = [last];
  let left = must(last.larg, 'JOIN');
  if (last.alias !== undefined) sink.text += '(';
  while ('JoinExpr' in left && left.JoinExpr.alias === undefined) {
    chain.push(left.JoinExpr);
    left = must(left.JoinExpr.larg, 'JOIN');
  }
  fromItem(sink, left);
  for (let i = chain.length - 1; i >= 0; i--) joined(sink, chain[i] as pg.JoinExpr);
  if (last.alias !== undefined) {
    sink.text += ')';
    alias(sink, last.alias);
  }
}

/** Prints a join without its left side. */
function joined(sink: Sink, n: pg.JoinExpr): void {
  check('JoinExpr', JOIN_EXPR, n);
  const word = JOIN_WORDS.get(n.jointype ?? '');
  if (word === undefined || (n.rtindex ?? 0) !== 0) throw unsupported('this kind of join');
  const conditions = (n.isNatural ? 1 : 0) + (n.usingClause === undefined ? 0 : 1) + (n.quals === undefined ? 0 : 1);
  if (conditions > 1 || (conditions === 0 && n.jointype !== 'JOIN_INNER')) throw unsupported('this kind of join');
  sink.text += ` ${conditions === 0 ? 'CROSS JOIN' : n.isNatural ? `NATURAL ${word}` : word} `;
  const right = must(n.rarg, 'JOIN');
  const parentheses = 'JoinExpr' in right && right.JoinExpr.alias === undefined;
  if (parentheses) sink.text += '(';
  fromItem(sink, right);
  if (parentheses) sink.text += ')';
  if (n.usingClause !== undefined) sink.text += ` USING (${identifiers(n.usingClause, ', ')})`;
  if (n.join_using_alias !== undefined) {
    if (n.usingClause === undefined || n.join_using_alias.colnames !== undefined) throw unsupported('this kind of join');
    alias(sink, n.join_using_alias);
  }
  if (n.quals !== undefined) {
    sink.text += ' ON ';
    expression(sink, n.quals);
  }
}

const ITEMS: ReadonlyMap<string, (sink: Sink, body: never) => void> = new Map<string, (sink: Sink, body: never) => void>([
  ['RangeVar', rangeVar],
  ['JoinExpr', join],
  ['RangeSubselect', rangeSubselect],
  ['RangeFunction', rangeFunction],
  ['RangeTableSample', tableSample],
]);
