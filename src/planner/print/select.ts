/** SELECT, VALUES, set operations and WITH. */
import type * as pg from '@pgsql/types';
import { expression } from './expression.ts';
import { fromItem } from './from.ts';
import { sortBy, windowDefinition } from './function.ts';
import { constant, identifier, identifiers, isNegative } from './lexical.ts';
import { check, fields, must, type Sink, typeOf, unsupported } from './sink.ts';
import { plainTypeName } from './types.ts';

const SELECT_STMT = fields(
  'distinctClause targetList fromClause whereClause groupClause groupDistinct havingClause windowClause valuesLists sortClause ' +
    'limitOffset limitCount limitOption withClause op all larg rarg',
);

/** Prints a query in parentheses: `(SELECT ..)`. */
export function subquery(sink: Sink, node: pg.Node): void {
  sink.text += '(';
  if ('SelectStmt' in node) select(sink, node.SelectStmt);
  else throw unsupported(typeOf(node) ?? 'an empty subquery');
  sink.text += ')';
}

/** Prints a query without parentheses. */
export function select(sink: Sink, n: pg.SelectStmt): void {
  sink.enter();
  if (n.withClause !== undefined) withClause(sink, n.withClause);
  if (n.op === undefined || n.op === 'SETOP_NONE') simpleSelect(sink, n);
  else setOperation(sink, n);
  if (n.sortClause !== undefined) {
    sink.text += ' ORDER BY ';
    sink.list(n.sortClause, sortBy);
  }
  limits(sink, n);
  sink.leave();
}

function limits(sink: Sink, n: pg.SelectStmt): void {
  const ties = n.limitOption === 'LIMIT_OPTION_WITH_TIES';
  if (ties && n.limitCount === undefined) throw unsupported('WITH TIES without a limit');
  if (n.limitCount !== undefined && !ties) {
    sink.text += ' LIMIT ';
    expression(sink, n.limitCount);
  }
  if (n.limitOffset !== undefined) {
    sink.text += ' OFFSET ';
    expression(sink, n.limitOffset);
  }
  if (n.limitCount !== undefined && ties) {
    sink.text += ' FETCH FIRST (';
    expression(sink, n.limitCount);
    sink.text += ') ROWS WITH TIES';
  }
}

/** The precedence of a set operation: INTERSECT binds more tightly than UNION and EXCEPT. */
const rank = (n: pg.SelectStmt): number => (n.op === undefined || n.op === 'SETOP_NONE' ? 3 : n.op === 'SETOP_INTERSECT' ? 2 : 1);

const hasTail = (n: pg.SelectStmt): boolean =>
  n.withClause !== undefined || n.sortClause !== undefined || n.limitCount !== undefined || n.limitOffset !== undefined || n.lockingClause !== undefined;

/** Prints a set operation. Set operations are nested on the left and can be many, so a loop walks them. */
function setOperation(sink: Sink, last: pg.SelectStmt): void {
  const chain: pg.SelectStmt[] = [];
  let n = last;
  for (;;) {
    check('SelectStmt', SELECT_STMT, n);
    chain.push(n);
    const left = must(n.larg, 'set operation');
    if (rank(left) === 3 || rank(left) < rank(n) || hasTail(left)) break;
    n = left;
  }
  for (let i = chain.length - 1; i >= 0; i--) {
    const step = chain[i] as pg.SelectStmt;
    if (i === chain.length - 1) setOperand(sink, must(step.larg, 'set operation'));
    sink.text += ` ${must(step.op, 'set operation').slice('SETOP_'.length)} ${step.all ? 'ALL ' : ''}`;
    // PostgreSQL builds one set for a chain of UNIONs.
    if (step.op !== 'SETOP_UNION' || (!step.all && chain[i + 1]?.op !== step.op)) sink.countSet();
    setOperand(sink, must(step.rarg, 'set operation'));
  }
}

function setOperand(sink: Sink, n: pg.SelectStmt): void {
  const parentheses = hasTail(n) || rank(n) < 3;
  if (parentheses) sink.text += '(';
  select(sink, n);
  if (parentheses) sink.text += ')';
}

function simpleSelect(sink: Sink, n: pg.SelectStmt): void {
  check('SelectStmt', SELECT_STMT, n);
  if (n.larg !== undefined || n.rarg !== undefined || n.all) throw unsupported('this kind of query');
  if (n.valuesLists !== undefined) {
    if (n.targetList !== undefined || n.fromClause !== undefined) throw unsupported('this kind of query');
    sink.text += 'VALUES ';
    sink.list(n.valuesLists, valuesRow);
    return;
  }
  const isFirst = sink.text === '';
  sink.text += 'SELECT';
  if (n.distinctClause !== undefined) {
    sink.countSet();
    sink.text += ' DISTINCT';
    // DISTINCT without ON is a list of one empty node.
    if (typeOf(n.distinctClause[0] ?? {}) !== undefined) {
      sink.text += ' ON (';
      sink.list(n.distinctClause, expression);
      sink.text += ')';
    }
  }
  if (n.targetList !== undefined) {
    sink.text += ' ';
    sink.list(n.targetList, target);
  }
  if (isFirst) sink.listLength = sink.text.length;
  if (n.fromClause !== undefined) {
    sink.text += ' FROM ';
    sink.list(n.fromClause, fromItem);
  }
  if (n.whereClause !== undefined) {
    sink.text += ' WHERE ';
    expression(sink, n.whereClause);
  }
  if (n.groupClause !== undefined) {
    sink.countSet();
    sink.text += n.groupDistinct ? ' GROUP BY DISTINCT ' : ' GROUP BY ';
    sink.list(n.groupClause, groupItem);
  }
  if (n.havingClause !== undefined) {
    sink.text += ' HAVING ';
    expression(sink, n.havingClause);
  }
  if (n.windowClause !== undefined) {
    sink.text += ' WINDOW ';
    sink.list(n.windowClause, windowItem);
  }
}

function valuesRow(sink: Sink, node: pg.Node): void {
  sink.text += '(';
  sink.list(must((node as { List?: pg.List }).List?.items, 'VALUES'), expression);
  sink.text += ')';
}

const RES_TARGET = fields('name val location');

function target(sink: Sink, node: pg.Node): void {
  const n = must((node as { ResTarget?: pg.ResTarget }).ResTarget, 'select list');
  check('ResTarget', RES_TARGET, n);
  expression(sink, must(n.val, 'select list'));
  if (n.name !== undefined) sink.text += ` AS ${identifier(n.name)}`;
}

function windowItem(sink: Sink, node: pg.Node): void {
  const n = must((node as { WindowDef?: pg.WindowDef }).WindowDef, 'WINDOW');
  sink.at(n.location);
  sink.text += `${identifier(must(n.name, 'WINDOW'))} AS `;
  windowDefinition(sink, n);
}

const GROUPING_SET = fields('kind content location');

const GROUPING_WORDS: ReadonlyMap<string, string> = new Map([
  ['GROUPING_SET_EMPTY', ''],
  ['GROUPING_SET_ROLLUP', 'ROLLUP '],
  ['GROUPING_SET_CUBE', 'CUBE '],
  ['GROUPING_SET_SETS', 'GROUPING SETS '],
]);

function groupItem(sink: Sink, node: pg.Node): void {
  const n = (node as { GroupingSet?: pg.GroupingSet }).GroupingSet;
  if (n === undefined) {
    expression(sink, node);
    return;
  }
  check('GroupingSet', GROUPING_SET, n);
  const word = GROUPING_WORDS.get(n.kind ?? '');
  if (word === undefined) throw unsupported('this grouping set');
  sink.enter();
  sink.at(n.location);
  sink.text += `${word}(`;
  sink.list(n.content, groupItem);
  sink.text += ')';
  sink.leave();
}

const WITH_CLAUSE = fields('ctes recursive location');

function withClause(sink: Sink, n: pg.WithClause): void {
  check('WithClause', WITH_CLAUSE, n);
  sink.text += n.recursive ? 'WITH RECURSIVE ' : 'WITH ';
  sink.list(must(n.ctes, 'WITH'), cte);
  sink.text += ' ';
}

const COMMON_TABLE_EXPR = fields('ctename aliascolnames ctematerialized ctequery search_clause cycle_clause location');
const SEARCH_CLAUSE = fields('search_col_list search_breadth_first search_seq_column location');
const CYCLE_CLAUSE = fields('cycle_col_list cycle_mark_column cycle_mark_value cycle_mark_default cycle_path_column location');

function cte(sink: Sink, node: pg.Node): void {
  const n = must((node as { CommonTableExpr?: pg.CommonTableExpr }).CommonTableExpr, 'WITH');
  check('CommonTableExpr', COMMON_TABLE_EXPR, n);
  sink.at(n.location);
  sink.text += identifier(must(n.ctename, 'WITH'));
  if (n.aliascolnames !== undefined) sink.text += `(${identifiers(n.aliascolnames, ', ')})`;
  sink.text +=
    n.ctematerialized === 'CTEMaterializeAlways' ? ' AS MATERIALIZED ' : n.ctematerialized === 'CTEMaterializeNever' ? ' AS NOT MATERIALIZED ' : ' AS ';
  subquery(sink, must(n.ctequery, 'WITH'));
  const search = n.search_clause;
  if (search !== undefined) {
    check('CTESearchClause', SEARCH_CLAUSE, search);
    sink.text += ' ';
    sink.at(search.location);
    sink.text += `SEARCH ${search.search_breadth_first ? 'BREADTH' : 'DEPTH'} FIRST BY ${identifiers(search.search_col_list, ', ')}`;
    sink.text += ` SET ${identifier(must(search.search_seq_column, 'SEARCH'))}`;
  }
  const cycle = n.cycle_clause;
  if (cycle !== undefined) {
    check('CTECycleClause', CYCLE_CLAUSE, cycle);
    sink.text += ' ';
    sink.at(cycle.location);
    sink.text += `CYCLE ${identifiers(cycle.cycle_col_list, ', ')} SET ${identifier(must(cycle.cycle_mark_column, 'CYCLE'))} TO `;
    constantOnly(sink, must(cycle.cycle_mark_value, 'CYCLE'));
    sink.text += ' DEFAULT ';
    constantOnly(sink, must(cycle.cycle_mark_default, 'CYCLE'));
    sink.text += ` USING ${identifier(must(cycle.cycle_path_column, 'CYCLE'))}`;
  }
}

/** Prints a constant in CYCLE, which accepts only constants, and a typed one only as `type 'text'`. */
function constantOnly(sink: Sink, node: pg.Node): void {
  if ('A_Const' in node && !isNegative(node.A_Const)) constant(sink, node.A_Const);
  else if ('TypeCast' in node) {
    const { arg, typeName } = node.TypeCast;
    const inner = must((arg as { A_Const?: pg.A_Const } | undefined)?.A_Const, 'CYCLE');
    if (inner.sval === undefined) throw unsupported('this constant in CYCLE');
    sink.text += `${plainTypeName(must(typeName, 'CYCLE'))} `;
    constant(sink, inner);
  } else throw unsupported('this constant in CYCLE');
}
