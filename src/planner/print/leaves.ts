/** Expressions without operands: column references, parameters, SQL value functions. Constants are in `lexical.ts`. */
import type * as pg from '@pgsql/types';
import { identifier, stringOf } from './lexical.ts';
import { check, fields, must, type Sink } from './sink.ts';

const COLUMN_REF = fields('fields location');

/** Prints a column reference. */
export function columnRef(sink: Sink, n: pg.ColumnRef): void {
  check('ColumnRef', COLUMN_REF, n);
  sink.at(n.location);
  const parts = must(n.fields, 'ColumnRef');
  for (let i = 0; i < parts.length; i++) {
    if (i > 0) sink.text += '.';
    namePart(sink, parts[i] as pg.Node);
  }
}

/** Prints one part of a qualified name, or `*`. */
export function namePart(sink: Sink, node: pg.Node): void {
  const word = (node as { String?: pg.String }).String;
  if (word !== undefined) sink.text += identifier(word.sval ?? '');
  else sink.text += 'A_Star' in node ? '*' : identifier(stringOf(node));
}

const PARAM_REF = fields('number location');

/** Prints a parameter such as `$1`. */
export function paramRef(sink: Sink, n: pg.ParamRef): void {
  check('ParamRef', PARAM_REF, n);
  sink.at(n.location);
  sink.text += `$${n.number ?? 0}`;
}

const SQL_VALUE_FUNCTION = fields('op typmod location');

/** Prints CURRENT_DATE, CURRENT_TIMESTAMP(3), CURRENT_USER and the other functions that are called without an argument list. */
export function sqlValueFunction(sink: Sink, n: pg.SQLValueFunction): void {
  check('SQLValueFunction', SQL_VALUE_FUNCTION, n);
  sink.at(n.location);
  const op = must(n.op, 'SQLValueFunction').slice('SVFOP_'.length);
  sink.text += op.endsWith('_N') ? `${op.slice(0, -2)}(${n.typmod ?? 0})` : op;
}
