/** Calls of functions, aggregates and window functions, including those with a syntax of their own, such as EXTRACT. */
import type * as pg from '@pgsql/types';
import { expression, operand, parenthesized } from './expression.ts';
import { identifier, identifiers, literal, operator, stringOf } from './lexical.ts';
import { check, fields, must, type Sink, unsupported } from './sink.ts';

const FUNC_CALL = fields('funcname args agg_order agg_filter over agg_within_group agg_star agg_distinct func_variadic funcformat location');

/** Prints a FuncCall. */
export function functionCall(sink: Sink, n: pg.FuncCall): void {
  if (n.funcformat === 'COERCE_SQL_SYNTAX') {
    check('FuncCall', SYNTAX_CALL, n);
    sqlSyntax(sink, n);
    return;
  }
  check('FuncCall', FUNC_CALL, n);
  sink.at(n.location);
  sink.text += `${identifiers(must(n.funcname, 'FuncCall'), '.')}(`;
  if (n.agg_distinct) sink.text += 'DISTINCT ';
  if (n.agg_star) sink.text += '*';
  const args = n.args ?? [];
  for (let i = 0; i < args.length; i++) {
    if (i > 0) sink.text += ', ';
    if (n.func_variadic && i === args.length - 1) sink.text += 'VARIADIC ';
    argument(sink, args[i] as pg.Node);
  }
  if (n.agg_within_group) sink.text += ') WITHIN GROUP (ORDER BY ';
  else if (n.agg_order !== undefined) sink.text += ' ORDER BY ';
  sink.list(n.agg_order, sortBy);
  sink.text += ')';
  filterAndOver(sink, n.agg_filter, n.over);
}

const NAMED_ARG_EXPR = fields('arg name argnumber location');

function argument(sink: Sink, node: pg.Node): void {
  const named = (node as { NamedArgExpr?: pg.NamedArgExpr }).NamedArgExpr;
  if (named === undefined) {
    expression(sink, node);
    return;
  }
  check('NamedArgExpr', NAMED_ARG_EXPR, named);
  sink.at(named.location);
  sink.text += `${identifier(must(named.name, 'NamedArgExpr'))} => `;
  expression(sink, must(named.arg, 'NamedArgExpr'));
}

/** Prints `FILTER (WHERE ..)` and `OVER ..` after an aggregate. */
export function filterAndOver(sink: Sink, filter: pg.Node | undefined, over: pg.WindowDef | undefined): void {
  if (filter !== undefined) {
    sink.text += ' FILTER (WHERE ';
    expression(sink, filter);
    sink.text += ')';
  }
  if (over !== undefined) {
    sink.text += ' OVER ';
    sink.at(over.location);
    if (over.name !== undefined) {
      check('WindowDef', OVER_NAME, over);
      sink.text += identifier(over.name);
    } else windowDefinition(sink, over);
  }
}

const SORT_BY = fields('node sortby_dir sortby_nulls useOp location');

/** Prints an item of ORDER BY. */
export function sortBy(sink: Sink, node: pg.Node): void {
  const n = must((node as { SortBy?: pg.SortBy }).SortBy, 'ORDER BY');
  check('SortBy', SORT_BY, n);
  expression(sink, must(n.node, 'ORDER BY'));
  if (n.sortby_dir === 'SORTBY_ASC') sink.text += ' ASC';
  else if (n.sortby_dir === 'SORTBY_DESC') sink.text += ' DESC';
  else if (n.sortby_dir === 'SORTBY_USING') {
    sink.text += ' USING ';
    sink.at(n.location);
    sink.text += operator(n.useOp);
  }
  if (n.sortby_nulls === 'SORTBY_NULLS_FIRST') sink.text += ' NULLS FIRST';
  else if (n.sortby_nulls === 'SORTBY_NULLS_LAST') sink.text += ' NULLS LAST';
}

const OVER_NAME = fields('name frameOptions location');
const WINDOW_DEF = fields('name refname partitionClause orderClause frameOptions startOffset endOffset location');

/** Bits of frameOptions (FRAMEOPTION_.. of nodes/parsenodes.h). */
const FRAME = {
  nonDefault: 0x1,
  range: 0x2,
  rows: 0x4,
  groups: 0x8,
  between: 0x10,
  excludeCurrentRow: 0x8000,
  excludeGroup: 0x10000,
  excludeTies: 0x20000,
} as const;
/** The bounds of a frame: the bit of the start bound. The bit of the end bound is the next higher one. */
const BOUNDS: readonly (readonly [number, string])[] = [
  [0x20, 'UNBOUNDED PRECEDING'],
  [0x80, 'UNBOUNDED FOLLOWING'],
  [0x200, 'CURRENT ROW'],
  [0x800, 'PRECEDING'],
  [0x2000, 'FOLLOWING'],
];
const KNOWN_FRAME_BITS = 0x3ffff;

/** Prints `(reference PARTITION BY .. ORDER BY .. frame)`. The caller prints the name of the window. */
export function windowDefinition(sink: Sink, n: pg.WindowDef): void {
  check('WindowDef', WINDOW_DEF, n);
  sink.text += '(';
  let gap = '';
  if (n.refname !== undefined) {
    sink.text += identifier(n.refname);
    gap = ' ';
  }
  if (n.partitionClause !== undefined) {
    sink.text += `${gap}PARTITION BY `;
    sink.list(n.partitionClause, expression);
    gap = ' ';
  }
  if (n.orderClause !== undefined) {
    sink.text += `${gap}ORDER BY `;
    sink.list(n.orderClause, sortBy);
    gap = ' ';
  }
  frame(sink, n, gap);
  sink.text += ')';
}

function frame(sink: Sink, n: pg.WindowDef, gap: string): void {
  const options = n.frameOptions ?? 0;
  if ((options & ~KNOWN_FRAME_BITS) !== 0) throw unsupported('this window frame');
  if ((options & FRAME.nonDefault) === 0) return;
  sink.text += gap + (options & FRAME.rows ? 'ROWS ' : options & FRAME.groups ? 'GROUPS ' : 'RANGE ');
  if (options & FRAME.between) sink.text += 'BETWEEN ';
  frameBound(sink, options, n.startOffset);
  if (options & FRAME.between) {
    sink.text += ' AND ';
    frameBound(sink, options >> 1, n.endOffset);
  }
  if (options & FRAME.excludeCurrentRow) sink.text += ' EXCLUDE CURRENT ROW';
  else if (options & FRAME.excludeGroup) sink.text += ' EXCLUDE GROUP';
  else if (options & FRAME.excludeTies) sink.text += ' EXCLUDE TIES';
}

function frameBound(sink: Sink, bits: number, offset: pg.Node | undefined): void {
  for (const [bit, words] of BOUNDS) {
    if ((bits & bit) === 0) continue;
    if (bit >= 0x800) {
      operand(sink, must(offset, 'window frame'));
      sink.text += ' ';
    }
    sink.text += words;
    return;
  }
  throw unsupported('this window frame');
}

const SYNTAX_CALL = fields('funcname args funcformat location');

/**
 * Prints a call that the grammar made from special syntax (COERCE_SQL_SYNTAX) in that syntax again. The syntax means the same in all versions, whereas the
 * function may differ (EXTRACT calls another function in 13 than in 14), and it gives the column its name.
 */
function sqlSyntax(sink: Sink, n: pg.FuncCall): void {
  const names = must(n.funcname, 'FuncCall');
  if (names.length !== 2 || stringOf(names[0]) !== 'pg_catalog') throw unsupported('this function');
  const name = stringOf(names[1]);
  const args = n.args ?? [];
  const form = `${name}/${args.length}`;
  if (operatorSyntax(sink, form, args, n.location)) return;
  sink.at(n.location);
  callSyntax(sink, name, form, args);
}

/** Prints syntax that begins with an operand, such as `a AT TIME ZONE b`. Returns false if the form is another one. */
function operatorSyntax(sink: Sink, form: string, args: readonly pg.Node[], location: number | undefined): boolean {
  const [a, b] = args as [pg.Node, pg.Node];
  const then = (text: string): void => {
    sink.text += ' ';
    sink.at(location);
    sink.text += text;
  };
  switch (form) {
    case 'timezone/1':
      operand(sink, a);
      sink.text += ' AT LOCAL';
      return true;
    case 'timezone/2':
      operand(sink, b);
      then('AT TIME ZONE ');
      operand(sink, a);
      return true;
    case 'overlaps/4':
      row(sink, args.slice(0, 2));
      then('OVERLAPS ');
      row(sink, args.slice(2));
      return true;
    case 'is_normalized/1':
    case 'is_normalized/2':
      operand(sink, a);
      then(args.length === 1 ? 'IS NORMALIZED' : `IS ${normalForm(b)} NORMALIZED`);
      return true;
    default:
      return false;
  }
}

/**
 * Prints syntax that begins with a key word, such as `EXTRACT(year FROM a)`.
 * @throws SvcError 400 `unsupported_syntax` for any other form
 */
function callSyntax(sink: Sink, name: string, form: string, args: readonly pg.Node[]): void {
  const [a, b] = args as [pg.Node, pg.Node];
  switch (form) {
    case 'system_user/0':
      sink.text += 'SYSTEM_USER';
      return;
    case 'pg_collation_for/1':
      sink.text += 'COLLATION FOR ';
      parenthesized(sink, a);
      return;
    case 'normalize/1':
    case 'normalize/2':
      sink.text += 'NORMALIZE(';
      expression(sink, a);
      sink.text += args.length === 1 ? ')' : `, ${normalForm(b)})`;
      return;
    case 'extract/2':
      sink.text += `EXTRACT(${extractField(a)} FROM `;
      expression(sink, b);
      break;
    case 'position/2':
      words(sink, 'POSITION(', [b, a], [' IN ']);
      break;
    case 'substring/2':
    case 'substring/3':
      words(sink, 'SUBSTRING(', args, [' FROM ', ' FOR ']);
      break;
    case 'overlay/3':
    case 'overlay/4':
      words(sink, 'OVERLAY(', args, [' PLACING ', ' FROM ', ' FOR ']);
      break;
    case 'btrim/2':
    case 'ltrim/2':
    case 'rtrim/2':
      sink.text += trimSide(name);
      expression(sink, b);
      sink.text += ' FROM ';
      expression(sink, a);
      break;
    default:
      // The grammar accepts a list of any length in TRIM, but only the two-argument form has a meaning.
      if (name !== 'btrim' && name !== 'ltrim' && name !== 'rtrim') throw unsupported(`${name}(..) in this form`);
      sink.text += `${trimSide(name)}FROM `;
      sink.list(args, expression);
  }
  sink.text += ')';
}

const trimSide = (name: string): string => `TRIM(${name === 'ltrim' ? 'LEADING' : name === 'rtrim' ? 'TRAILING' : 'BOTH'} `;

/** Prints arguments with key words between them. The arguments are printed as operands because some of the words are operators too (`IN`). */
function words(sink: Sink, start: string, args: readonly pg.Node[], between: readonly string[]): void {
  sink.text += start;
  for (let i = 0; i < args.length; i++) {
    if (i > 0) sink.text += between[i - 1];
    operand(sink, args[i] as pg.Node);
  }
}

function row(sink: Sink, args: readonly pg.Node[]): void {
  sink.text += '(';
  sink.list(args, expression);
  sink.text += ')';
}

function constantText(node: pg.Node): string {
  const constant = (node as { A_Const?: pg.A_Const }).A_Const;
  if (constant?.sval === undefined) throw unsupported('this argument');
  return constant.sval.sval ?? '';
}

function normalForm(node: pg.Node): string {
  const form = constantText(node);
  if (!/^NFK?[CD]$/.test(form)) throw unsupported('this normal form');
  return form;
}

/** Prints `year` and the other known fields as key words. A string constant means the same. */
function extractField(node: pg.Node): string {
  const field = constantText(node);
  return /^(year|month|day|hour|minute|second|epoch|quarter|week|dow|doy|isodow|isoyear|decade|century|millennium|microseconds|milliseconds)$/.test(field)
    ? field
    : literal(field);
}
