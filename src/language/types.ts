/** Types of properties (decisions 6) and what they are in PostgreSQL. */
import { badRequest, nearest } from '../errors.ts';
import type { TypeName } from '../ontology/model.ts';

export interface PropertyType {
  /** As it is kept and shown: lower case, `int` told as `integer`, no blanks: `decimal(10,2)`. */
  readonly name: TypeName;
  /** The type of PostgreSQL that its values are cast to. */
  readonly sql: string;
}

const SQL_TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'integer',
  bigint: 'bigint',
  smallint: 'smallint',
  float: 'double precision',
  double: 'double precision',
  decimal: 'numeric',
  boolean: 'boolean',
  date: 'date',
  time: 'time without time zone',
  timestamp: 'timestamp without time zone',
  timestamptz: 'timestamp with time zone',
  datetime: 'timestamp without time zone',
  json: 'jsonb',
  uuid: 'uuid',
};

/** All names of types. */
export const TYPE_NAMES: readonly string[] = [...Object.keys(SQL_TYPES), 'int'];

/** Limits of PostgreSQL's numeric. */
const MAX_PRECISION = 1000;

const TYPE = /^\s*([^\s()]+)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)\s*)?$/;

/** Reads a type. Throws 400 `unknown_type`, at `offset` where it is given, with the nearest type there is. */
export function parseType(text: string, offset?: number): PropertyType {
  const [, word = text.trim(), precision, scale] = TYPE.exec(text) ?? [];
  const lower = word.toLowerCase();
  const name = lower === 'int' ? 'integer' : lower;
  const sql = Object.hasOwn(SQL_TYPES, name) ? SQL_TYPES[name] : undefined;
  if (sql === undefined) {
    const near = nearest(lower, TYPE_NAMES) ?? SYNONYMS[lower];
    throw badRequest('unknown_type', `unknown type \`${word}\`${near === undefined ? '' : `; did you mean \`${near}\`?`}`, {
      offset,
      hint: `Types: ${TYPE_NAMES.join(', ')}; decimal may be written decimal(precision, scale).`,
    });
  }
  if (precision === undefined) return { name, sql };
  if (name !== 'decimal') throw badRequest('unknown_type', `type \`${name}\` takes no numbers`, { offset });
  const [p, s] = [Number(precision), Number(scale ?? 0)];
  if (p < 1 || p > MAX_PRECISION || s > p) {
    throw badRequest('unknown_type', `a decimal has 1 to ${MAX_PRECISION} digits, of which at most all stand behind the point`, { offset });
  }
  const args = scale === undefined ? `(${p})` : `(${p},${s})`;
  return { name: `decimal${args}`, sql: `numeric${args}` };
}

/** What other systems call our types, for the hint alone. */
const SYNONYMS: Readonly<Record<string, string>> = {
  text: 'string',
  varchar: 'string',
  varchar2: 'string',
  char: 'string',
  character: 'string',
  number: 'decimal',
  numeric: 'decimal',
  real: 'float',
  float8: 'double',
  float4: 'float',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  long: 'bigint',
  bool: 'boolean',
  jsonb: 'json',
};
