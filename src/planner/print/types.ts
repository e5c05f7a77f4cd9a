/** Type names. */
import type { Node, TypeName } from '@pgsql/types';
import { columnRef } from './leaves.ts';
import { constant, identifier, identifiers, stringOf } from './lexical.ts';
import { check, fields, type Sink, unsupported } from './sink.ts';

const TYPE_NAME = fields('names typmods typemod arrayBounds location');

/**
 * The SQL names of types in pg_catalog. The grammar turns each back into exactly that type name, so a column that gets its name from its type (`SELECT
 * '1'::int` has a column `int4`) keeps it.
 */
const SQL_NAMES: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['bool', ['boolean', '']],
  ['int2', ['smallint', '']],
  ['int4', ['integer', '']],
  ['int8', ['bigint', '']],
  ['float4', ['real', '']],
  ['float8', ['double precision', '']],
  ['numeric', ['numeric', '']],
  ['varchar', ['varchar', '']],
  ['json', ['json', '']],
  ['interval', ['interval', '']],
  ['time', ['time', '']],
  ['timestamp', ['timestamp', '']],
  ['timetz', ['time', ' with time zone']],
  ['timestamptz', ['timestamp', ' with time zone']],
]);

/** The fields of intervals by their masks (INTERVAL_MASK of utils/timestamp.h). */
const INTERVALS: ReadonlyMap<number, string> = new Map([
  [4, 'year'],
  [2, 'month'],
  [8, 'day'],
  [1024, 'hour'],
  [2048, 'minute'],
  [4096, 'second'],
  [6, 'year to month'],
  [1032, 'day to hour'],
  [3080, 'day to minute'],
  [7176, 'day to second'],
  [3072, 'hour to minute'],
  [7168, 'hour to second'],
  [6144, 'minute to second'],
]);
const INTERVAL_FULL_RANGE = 0x7fff;

/**
 * Prints a type with its modifiers and array bounds.
 * @throws SvcError 400 `unsupported_syntax`, also for SETOF and %TYPE
 */
export function typeName(sink: Sink, t: TypeName): void {
  check('TypeName', TYPE_NAME, t);
  if (t.typemod !== undefined && t.typemod > 0) throw unsupported('a type with a resolved modifier');
  sink.at(t.location);
  const names = t.names ?? [];
  const base = names.length === 2 && stringOf(names[0]) === 'pg_catalog' ? stringOf(names[1]) : undefined;
  if (base === 'interval' && t.typmods !== undefined && t.typmods.length > 0) interval(sink, t.typmods);
  else {
    const sql = base === undefined ? undefined : sqlName(base, t.typmods);
    if (sql !== undefined) sink.text += sql[0];
    else if (names.length > 0) sink.text += identifiers(names, '.');
    else throw unsupported('a type without a name');
    modifiers(sink, t.typmods);
    if (sql !== undefined) sink.text += sql[1];
  }
  if (t.arrayBounds === undefined) return;
  for (const bound of t.arrayBounds) {
    const size = (bound as { Integer?: { ival?: number } }).Integer;
    if (size === undefined) throw unsupported('this array bound');
    sink.text += size.ival === -1 ? '[]' : `[${size.ival ?? 0}]`;
  }
}

/** The name of a type without modifiers, as it is written before a string constant (`pg_catalog.int4 '1'`). */
export function plainTypeName(t: TypeName): string {
  check('TypeName', TYPE_NAME, t);
  if ((t.typmods?.length ?? 0) > 0 || (t.arrayBounds?.length ?? 0) > 0) throw unsupported('a constant of this type');
  return (t.names ?? []).map((n) => identifier(stringOf(n))).join('.');
}

/** The SQL name of `base` before and after the modifiers; undefined if SQL has no name for the type with these modifiers. */
function sqlName(base: string, mods: readonly Node[] | undefined): readonly [string, string] | undefined {
  const words = SQL_NAMES.get(base);
  if (words === undefined || mods === undefined || mods.length === 0 || base === 'numeric') return words;
  const takesOne = base === 'varchar' || base.startsWith('time');
  return takesOne && mods.length === 1 && (integerOf(mods[0]) ?? -1) >= 0 ? words : undefined;
}

function modifiers(sink: Sink, mods: readonly Node[] | undefined): void {
  if (mods === undefined || mods.length === 0) return;
  sink.text += '(';
  sink.list(mods, modifier);
  sink.text += ')';
}

/** PostgreSQL accepts constants and names as modifiers (`typenameTypeMod` in parse_type.c). */
function modifier(sink: Sink, node: Node): void {
  if ('A_Const' in node) constant(sink, node.A_Const);
  else if ('ColumnRef' in node) columnRef(sink, node.ColumnRef);
  else throw unsupported('this modifier of a type');
}

/** Prints an interval type. Its modifiers are the mask of its fields and the number of digits of the seconds. */
function interval(sink: Sink, mods: readonly Node[]): void {
  const mask = integerOf(mods[0]);
  const digits = mods[1] === undefined ? undefined : integerOf(mods[1]);
  const named = mask === undefined ? undefined : INTERVALS.get(mask);
  if (mods.length <= 2 && mask === INTERVAL_FULL_RANGE && digits !== undefined) sink.text += `interval(${digits})`;
  else if (mods.length === 1 && named !== undefined) sink.text += `interval ${named}`;
  else if (mods.length === 2 && digits !== undefined && named?.endsWith('second')) sink.text += `interval ${named}(${digits})`;
  else {
    sink.text += 'pg_catalog."interval"';
    modifiers(sink, mods);
  }
}

function integerOf(node: Node | undefined): number | undefined {
  const constant = (node as { A_Const?: { ival?: { ival?: number } } } | undefined)?.A_Const;
  return constant?.ival === undefined ? undefined : (constant.ival.ival ?? 0);
}
