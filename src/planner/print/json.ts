/** SQL/JSON: constructors and IS JSON (PostgreSQL 16), JSON(), JSON_VALUE and related functions (17). JSON_TABLE is refused. */
import type * as pg from '@pgsql/types';
import { expression, operand } from './expression.ts';
import { filterAndOver, sortBy } from './function.ts';
import { identifier } from './lexical.ts';
import { select } from './select.ts';
import { check, fields, must, type Sink, unsupported } from './sink.ts';
import { typeName } from './types.ts';

const FORMAT = fields('format_type encoding location');

function format(sink: Sink, n: pg.JsonFormat | undefined): void {
  if (n === undefined) return;
  check('JsonFormat', FORMAT, n);
  if (n.format_type === undefined || n.format_type === 'JS_FORMAT_DEFAULT') return;
  if (n.format_type !== 'JS_FORMAT_JSON') throw unsupported('this FORMAT');
  sink.text += ' FORMAT JSON';
  if (n.encoding !== undefined && n.encoding !== 'JS_ENC_DEFAULT') sink.text += ` ENCODING ${n.encoding.slice('JS_ENC_'.length)}`;
}

const VALUE_EXPR = fields('raw_expr format');

/** Prints `expression [FORMAT JSON]`. */
function value(sink: Sink, n: pg.JsonValueExpr | undefined): void {
  const body = must(n, 'JSON value');
  check('JsonValueExpr', VALUE_EXPR, body);
  expression(sink, must(body.raw_expr, 'JSON value'));
  format(sink, body.format);
}

const OUTPUT = fields('typeName returning');
const RETURNING = fields('format');

function output(sink: Sink, n: pg.JsonOutput | undefined): void {
  if (n === undefined) return;
  check('JsonOutput', OUTPUT, n);
  sink.text += ' RETURNING ';
  typeName(sink, must(n.typeName, 'RETURNING'));
  if (n.returning !== undefined) {
    check('JsonReturning', RETURNING, n.returning);
    format(sink, n.returning.format);
  }
}

const KEY_VALUE = fields('key value');

function pair(sink: Sink, n: pg.JsonKeyValue): void {
  check('JsonKeyValue', KEY_VALUE, n);
  operand(sink, must(n.key, 'JSON key'));
  sink.text += ' : ';
  value(sink, n.value);
}

const pairNode = (sink: Sink, node: pg.Node): void => pair(sink, must((node as { JsonKeyValue?: pg.JsonKeyValue }).JsonKeyValue, 'JSON key'));
const valueNode = (sink: Sink, node: pg.Node): void => value(sink, (node as { JsonValueExpr?: pg.JsonValueExpr }).JsonValueExpr);

/** Prints the NULL ON NULL or ABSENT ON NULL clause unless it is the default, which differs between objects and arrays. */
function nulls(sink: Sink, absent: boolean | undefined, standard: boolean): void {
  if ((absent ?? false) !== standard) sink.text += absent ? ' ABSENT ON NULL' : ' NULL ON NULL';
}

const OBJECT = fields('exprs output absent_on_null unique location');

/** Prints `JSON_OBJECT(key : value, ..)`. */
export function objectConstructor(sink: Sink, n: pg.JsonObjectConstructor): void {
  check('JsonObjectConstructor', OBJECT, n);
  sink.at(n.location);
  sink.text += 'JSON_OBJECT(';
  sink.list(n.exprs, pairNode);
  if (n.exprs !== undefined) nulls(sink, n.absent_on_null, false);
  if (n.unique) sink.text += ' WITH UNIQUE KEYS';
  output(sink, n.output);
  sink.text += ')';
}

const ARRAY = fields('exprs output absent_on_null location');

/** Prints `JSON_ARRAY(value, ..)`. */
export function arrayConstructor(sink: Sink, n: pg.JsonArrayConstructor): void {
  check('JsonArrayConstructor', ARRAY, n);
  sink.at(n.location);
  sink.text += 'JSON_ARRAY(';
  sink.list(n.exprs, valueNode);
  if (n.exprs !== undefined) nulls(sink, n.absent_on_null, true);
  output(sink, n.output);
  sink.text += ')';
}

const ARRAY_QUERY = fields('query output format absent_on_null location');

/** Prints `JSON_ARRAY(query)`. */
export function arrayQueryConstructor(sink: Sink, n: pg.JsonArrayQueryConstructor): void {
  check('JsonArrayQueryConstructor', ARRAY_QUERY, n);
  sink.at(n.location);
  sink.text += 'JSON_ARRAY(';
  const query = must(n.query, 'JSON_ARRAY') as { SelectStmt?: pg.SelectStmt };
  select(sink, must(query.SelectStmt, 'JSON_ARRAY'));
  format(sink, n.format);
  output(sink, n.output);
  sink.text += ')';
}

const AGG = fields('constructor arg absent_on_null unique');
const AGG_CONSTRUCTOR = fields('output agg_filter agg_order over location');

/** Prints `JSON_OBJECTAGG(key : value)`. */
export function objectAgg(sink: Sink, n: pg.JsonObjectAgg): void {
  const made = constructorOf(n);
  sink.at(made.location);
  sink.text += 'JSON_OBJECTAGG(';
  pair(sink, must(n.arg, 'JSON_OBJECTAGG'));
  nulls(sink, n.absent_on_null, false);
  if (n.unique) sink.text += ' WITH UNIQUE KEYS';
  if (made.agg_order !== undefined) throw unsupported('ORDER BY in JSON_OBJECTAGG');
  output(sink, made.output);
  sink.text += ')';
  filterAndOver(sink, made.agg_filter, made.over);
}

/** Prints `JSON_ARRAYAGG(value)`. */
export function arrayAgg(sink: Sink, n: pg.JsonArrayAgg): void {
  const made = constructorOf(n);
  sink.at(made.location);
  sink.text += 'JSON_ARRAYAGG(';
  value(sink, n.arg);
  if (made.agg_order !== undefined) {
    sink.text += ' ORDER BY ';
    sink.list(made.agg_order, sortBy);
  }
  nulls(sink, n.absent_on_null, true);
  output(sink, made.output);
  sink.text += ')';
  filterAndOver(sink, made.agg_filter, made.over);
}

function constructorOf(n: pg.JsonObjectAgg | pg.JsonArrayAgg): pg.JsonAggConstructor {
  check('JSON aggregate', AGG, n);
  // Every JavaScript object inherits a `constructor`, so only an own property counts.
  if (!Object.hasOwn(n, 'constructor') || n.constructor === undefined) throw unsupported('an incomplete JSON aggregate');
  const made = n.constructor as pg.JsonAggConstructor;
  check('JSON aggregate', AGG_CONSTRUCTOR, made);
  return made;
}

const PARSE = fields('expr output unique_keys location');

/** Prints `JSON(value)`. */
export function parseExpr(sink: Sink, n: pg.JsonParseExpr): void {
  check('JsonParseExpr', PARSE, n);
  if (n.output !== undefined) throw unsupported('RETURNING in JSON()');
  sink.at(n.location);
  sink.text += 'JSON(';
  value(sink, n.expr);
  if (n.unique_keys) sink.text += ' WITH UNIQUE KEYS';
  sink.text += ')';
}

const SCALAR = fields('expr output location');

/** Prints `JSON_SCALAR(value)`. */
export function scalarExpr(sink: Sink, n: pg.JsonScalarExpr): void {
  check('JsonScalarExpr', SCALAR, n);
  if (n.output !== undefined) throw unsupported('RETURNING in JSON_SCALAR');
  sink.at(n.location);
  sink.text += 'JSON_SCALAR(';
  expression(sink, must(n.expr, 'JSON_SCALAR'));
  sink.text += ')';
}

/** Prints `JSON_SERIALIZE(value)`. */
export function serializeExpr(sink: Sink, n: pg.JsonSerializeExpr): void {
  check('JsonSerializeExpr', SCALAR, n);
  sink.at(n.location);
  sink.text += 'JSON_SERIALIZE(';
  value(sink, n.expr);
  output(sink, n.output);
  sink.text += ')';
}

const IS_PREDICATE = fields('expr format item_type unique_keys location');

/** Prints `value IS JSON`. */
export function isPredicate(sink: Sink, n: pg.JsonIsPredicate): void {
  check('JsonIsPredicate', IS_PREDICATE, n);
  if (n.format?.format_type !== undefined && n.format.format_type !== 'JS_FORMAT_DEFAULT') throw unsupported('FORMAT in IS JSON');
  sink.at(n.location);
  operand(sink, must(n.expr, 'IS JSON'));
  sink.text += ' IS JSON';
  if (n.item_type !== undefined && n.item_type !== 'JS_TYPE_ANY') sink.text += ` ${n.item_type.slice('JS_TYPE_'.length)}`;
  if (n.unique_keys) sink.text += ' WITH UNIQUE KEYS';
}

const FUNC_EXPR = fields('op context_item pathspec passing output on_empty on_error wrapper quotes location');

const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['JSON_EXISTS_OP', 'JSON_EXISTS('],
  ['JSON_QUERY_OP', 'JSON_QUERY('],
  ['JSON_VALUE_OP', 'JSON_VALUE('],
]);
const WRAPPERS: ReadonlyMap<string, string> = new Map([
  ['JSW_UNSPEC', ''],
  ['JSW_NONE', ' WITHOUT WRAPPER'],
  ['JSW_CONDITIONAL', ' WITH CONDITIONAL WRAPPER'],
  ['JSW_UNCONDITIONAL', ' WITH UNCONDITIONAL WRAPPER'],
]);
const QUOTES: ReadonlyMap<string, string> = new Map([
  ['JS_QUOTES_UNSPEC', ''],
  ['JS_QUOTES_KEEP', ' KEEP QUOTES'],
  ['JS_QUOTES_OMIT', ' OMIT QUOTES'],
]);

/** Prints JSON_EXISTS, JSON_QUERY and JSON_VALUE. */
export function funcExpr(sink: Sink, n: pg.JsonFuncExpr): void {
  check('JsonFuncExpr', FUNC_EXPR, n);
  sink.at(n.location);
  sink.text += word(FUNCTIONS, n.op, '');
  value(sink, n.context_item);
  sink.text += ', ';
  expression(sink, must(n.pathspec, 'JSON path'));
  if (n.passing !== undefined) {
    sink.text += ' PASSING ';
    sink.list(n.passing, passing);
  }
  output(sink, n.output);
  sink.text += word(WRAPPERS, n.wrapper, 'JSW_UNSPEC') + word(QUOTES, n.quotes, 'JS_QUOTES_UNSPEC');
  behavior(sink, n.on_empty, ' ON EMPTY');
  behavior(sink, n.on_error, ' ON ERROR');
  sink.text += ')';
}

function word(table: ReadonlyMap<string, string>, key: string | undefined, otherwise: string): string {
  const found = table.get(key ?? otherwise);
  if (found === undefined) throw unsupported('this JSON function');
  return found;
}

const ARGUMENT = fields('val name');

function passing(sink: Sink, node: pg.Node): void {
  const n = must((node as { JsonArgument?: pg.JsonArgument }).JsonArgument, 'PASSING');
  check('JsonArgument', ARGUMENT, n);
  value(sink, n.val);
  sink.text += ` AS ${identifier(must(n.name, 'PASSING'))}`;
}

const BEHAVIOR = fields('btype expr location');

function behavior(sink: Sink, n: pg.JsonBehavior | undefined, when: string): void {
  if (n === undefined) return;
  check('JsonBehavior', BEHAVIOR, n);
  const type = must(n.btype, 'JSON function').slice('JSON_BEHAVIOR_'.length);
  sink.text += ' ';
  sink.at(n.location);
  sink.text += type.replaceAll('_', ' ');
  if (type === 'DEFAULT') {
    sink.text += ' ';
    expression(sink, must(n.expr, 'DEFAULT'));
  } else if (n.expr !== undefined) throw unsupported('this JSON function');
  sink.text += when;
}
