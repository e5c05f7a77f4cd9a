/** Errors that depend on the types and collations of columns: in comparisons, in casts, and by conflicting collations. */
import type { ColumnDef } from '../../ontology/model.ts';
import { type SelectStmt, walk } from '../plan/tree.ts';

/**
 * Types whose comparisons may raise an error: geometric types overflow, values of macaddr8 may not fit in the common type of a comparison, and `name` has its own collation,
 * which may conflict.
 */
export const COMPUTED_TYPES = new Set(['point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle', 'macaddr8', 'name']);

/**
 * True if comparisons or implicit conversions of a column's values may raise an error: geometric types overflow, and nothing is known about user-defined types.
 * @param type the name that the datasource reports (`int4`, `_text`, `oid:16400`); undefined: unknown
 */
export const comparisonsMayRaise = (type: string | undefined): boolean =>
  type === undefined || type.startsWith('oid:') || (type !== 'name' && COMPUTED_TYPES.has(type.replace(/^_/, '')));

const FAMILIES: readonly ReadonlySet<string>[] = [new Set(['int2', 'int4', 'int8']), new Set(['text', 'varchar', 'bpchar', 'char', 'name'])];
const WIDTH: Readonly<Record<string, number>> = { int2: 1, int4: 2, int8: 3 };
/** PostgreSQL's internal names of types, if they differ from the names in SQL. */
export const INTERNAL_NAMES: Readonly<Record<string, string>> = {
  integer: 'int4',
  bigint: 'int8',
  smallint: 'int2',
  'double precision': 'float8',
  real: 'float4',
  boolean: 'bool',
  'timestamp with time zone': 'timestamptz',
  'timestamp without time zone': 'timestamp',
};

/** The maximum number of digits of an integer type. */
const DIGITS: Readonly<Record<string, number>> = { int2: 5, int4: 10, int8: 19 };
/** PostgreSQL adds VARHDRSZ to a type modifier. */
const MODIFIER_OFFSET = 4;

/** True if a column has texts. PostgreSQL's message quotes a text that it cannot cast. */
export const givesTexts = (column: ColumnDef): boolean => column.type === undefined || castsAlways(column, 'varchar');

/** True if every value of a column fits in numeric(precision, scale). Rounding could add a digit. */
function fitsDigits({ type = '', modifier }: ColumnDef, precision: number, scale: number): boolean {
  if (type in DIGITS) return (DIGITS[type] as number) <= precision - scale;
  if (type !== 'numeric' || modifier === undefined) return false;
  const packed = modifier - MODIFIER_OFFSET;
  const [has, fraction] = [packed >> 16, packed & 0x7ff];
  return fraction <= scale && has - fraction <= precision - scale;
}

/** True if PostgreSQL derives no collation for a column, so that comparing its values raises an error. */
export const lacksCollation = (column: ColumnDef): boolean => column.collation === '';

const PLAIN: ReadonlySet<string | undefined> = new Set([undefined, '"C"', '"POSIX"']);

/** True if the texts of a column have no collation that may be nondeterministic. That of a database cannot be. */
export const hasPlainCollation = (column: ColumnDef): boolean => PLAIN.has(column.collation);

/** True if an expression of a statement has COLLATE. A column of a table does not keep it. */
export function collates(stmt: SelectStmt): boolean {
  let found = false;
  walk({ SelectStmt: stmt }, (n) => {
    found ||= 'CollateClause' in n;
    return !found;
  });
  return found;
}

/**
 * True if the columns of a statement have different collations, other than the default. An expression of two such columns, or a CASE that returns one or the other, has no
 * collation. Comparing its value raises an error ("could not determine which collation to use", Collation Support in PostgreSQL's manual). The default collation does not
 * conflict.
 */
export function collationsConflict(columns: Iterable<ColumnDef>): boolean {
  const found = new Set<string>();
  for (const column of columns) {
    if (lacksCollation(column)) return true;
    const collation = column.collation ?? (column.type === 'name' || column.type === '_name' ? '"C"' : undefined);
    if (collation !== undefined) found.add(collation);
  }
  return found.size > 1;
}

/** True if every value of a table's column can be cast to a declared SQL type. */
export function castsAlways(column: ColumnDef | undefined, declared: string): boolean {
  const given = column?.type;
  if (column === undefined || given === undefined || lacksCollation(column)) return false;
  const wanted = INTERNAL_NAMES[declared] ?? declared;
  if (given === wanted || wanted === 'text') return true;
  const [, precision, scale = '0'] = (wanted.startsWith('numeric(') && /^numeric\((\d+)(?:,\s*(\d+))?\)$/.exec(wanted)) || [];
  if (precision !== undefined) return fitsDigits(column, Number(precision), Number(scale));
  if (wanted === 'numeric' || wanted === 'float8') return given in WIDTH || (wanted === 'float8' && given === 'float4');
  if (given in WIDTH && wanted in WIDTH) return (WIDTH[given] as number) <= (WIDTH[wanted] as number);
  return FAMILIES.some((f) => f.has(given) && f.has(wanted));
}

/** True if every value of a table's column can be compared as a part of a key of a declared SQL type: integers are compared without a cast. */
export const comparesAlways = (column: ColumnDef | undefined, declared: string): boolean =>
  ((column?.type ?? '') in WIDTH && (INTERNAL_NAMES[declared] ?? declared) in WIDTH) || castsAlways(column, declared);
