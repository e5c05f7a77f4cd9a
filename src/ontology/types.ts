/**
 * The types of properties and measures (docs/design/statements-and-versions.md#types): their syntax, canonical names and PostgreSQL types, and which of them can
 * be compared.
 */
import { badRequest, didYouMean, nearest } from '../errors.ts';
import type { TypeName } from './model.ts';

/** Groups of types whose values PostgreSQL compares without a cast. */
export type TypeFamily = 'text' | 'number' | 'boolean' | 'date' | 'time' | 'json' | 'uuid';

export interface TypeInfo {
  /** The canonical name: lower case, `integer` for `int`, e.g. `decimal(10,2)`. */
  readonly name: TypeName;
  /** The PostgreSQL type that a value is cast to, e.g. `numeric(10,2)`. */
  readonly sql: string;
  readonly family: TypeFamily;
}

const TABLE: Readonly<Record<string, readonly [canonical: string, sql: string, family: TypeFamily]>> = {
  string: ['string', 'text', 'text'],
  integer: ['integer', 'integer', 'number'],
  int: ['integer', 'integer', 'number'],
  bigint: ['bigint', 'bigint', 'number'],
  smallint: ['smallint', 'smallint', 'number'],
  float: ['float', 'double precision', 'number'],
  double: ['double', 'double precision', 'number'],
  decimal: ['decimal', 'numeric', 'number'],
  boolean: ['boolean', 'boolean', 'boolean'],
  date: ['date', 'date', 'date'],
  time: ['time', 'time', 'time'],
  timestamp: ['timestamp', 'timestamp', 'date'],
  timestamptz: ['timestamptz', 'timestamptz', 'date'],
  datetime: ['datetime', 'timestamp', 'date'],
  json: ['json', 'jsonb', 'json'],
  uuid: ['uuid', 'uuid', 'uuid'],
};

/** The names of all types, with synonyms. */
export const typeNames = (): string[] => Object.keys(TABLE);

/** The types without numbers by their names. */
const CANONICAL: ReadonlyMap<string, TypeInfo> = new Map(
  Object.entries(TABLE).map(([written, [name, sql, family]]) => [written, Object.freeze({ name, sql, family })]),
);

/** numeric(p,s) within the limits of the model: a precision of 1 to 1000, a scale of 0 to the precision. */
const DECIMAL = /^decimal\s*\(\s*(\d{1,4})\s*(?:,\s*(\d{1,4})\s*)?\)$/;

/**
 * Finds a type as a modeller writes it, ignoring case and blanks.
 *
 * @returns undefined if the ontology language has no type of this name
 */
export function findType(text: string): TypeInfo | undefined {
  const known = CANONICAL.get(text);
  if (known) return known;
  const wanted = text.trim().toLowerCase();
  const plain = Object.hasOwn(TABLE, wanted) ? TABLE[wanted] : undefined;
  if (plain) return { name: plain[0], sql: plain[1], family: plain[2] };
  const match = DECIMAL.exec(wanted);
  if (!match) return undefined;
  const precision = Number(match[1]);
  const scale = match[2] === undefined ? undefined : Number(match[2]);
  if (precision < 1 || precision > 1000 || (scale !== undefined && scale > precision)) return undefined;
  const suffix = scale === undefined ? `(${precision})` : `(${precision},${scale})`;
  return { name: `decimal${suffix}`, sql: `numeric${suffix}`, family: 'number' };
}

/**
 * Like `findType`, for a type that must exist.
 *
 * @param offset the offset of the type in the caller's text, for the error
 * @throws SvcError 400 `unknown_type`
 */
export function parseType(text: string, offset?: number): TypeInfo {
  const found = findType(text);
  if (found) return found;
  const word = text
    .trim()
    .toLowerCase()
    .replace(/(?<!\s)\s*\(.*$/s, '');
  if (Object.hasOwn(TABLE, word) && text.includes('(')) {
    const fault = word === 'decimal' ? 'takes a precision of 1 to 1000 and a scale of 0 to the precision' : 'takes no numbers';
    throw badRequest('unknown_type', `unknown type \`${text}\`: ${word} ${fault}`, { offset });
  }
  const near = (Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined) ?? nearest(word, Object.keys(TABLE));
  throw badRequest('unknown_type', `unknown type \`${text}\`${didYouMean(near)}`, {
    offset,
    hint: `the types are ${Object.keys(TABLE).join(', ')}; decimal takes an optional precision and scale, as in decimal(10,2)`,
  });
}

/** Names that other systems use for our types, for hints in error messages. */
const SYNONYMS: Readonly<Record<string, string>> = {
  text: 'string',
  varchar: 'string',
  varchar2: 'string',
  char: 'string',
  character: 'string',
  number: 'decimal',
  numeric: 'decimal',
  real: 'float',
  float4: 'float',
  float8: 'double',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  long: 'bigint',
  bool: 'boolean',
  jsonb: 'json',
};

/** Whether values of two canonical types can be compared with `=`. Returns true for unknown types. */
export function comparable(a: TypeName, b: TypeName): boolean {
  const left = findType(a);
  const right = findType(b);
  if (!left || !right) return true;
  return left.family === right.family && left.family !== 'json';
}

/** Whether PostgreSQL has no `=` for values of two canonical types, so that a statement that compares them fails. Returns false for unknown types. */
export function neverComparable(a: TypeName, b: TypeName): boolean {
  const left = findType(a);
  const right = findType(b);
  return left !== undefined && right !== undefined && left.family !== right.family;
}

const POSTGRES: Readonly<Record<string, TypeName>> = {
  text: 'string',
  varchar: 'string',
  bpchar: 'string',
  name: 'string',
  citext: 'string',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'float',
  float8: 'double',
  numeric: 'decimal',
  bool: 'boolean',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  json: 'json',
  jsonb: 'json',
  uuid: 'uuid',
};

/** The model's name for a PostgreSQL type (`int4`, `text`, as in ColumnDef.type), or undefined. */
export const postgresTypeName = (type: string): TypeName | undefined => (Object.hasOwn(POSTGRES, type) ? POSTGRES[type] : undefined);

/** The family of a PostgreSQL type; undefined for types without a family. */
export function postgresFamily(type: string): TypeFamily | undefined {
  if (type === 'char') return 'text';
  if (type === 'timetz') return 'time';
  const name = postgresTypeName(type);
  return name === undefined ? undefined : findType(name)?.family;
}
