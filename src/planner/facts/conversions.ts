/**
 * Implicit conversions that may raise an error. PostgreSQL converts two values to a common type in a comparison, CASE or UNION. Some values of `numeric` do not fit in a
 * float, and some dates do not fit in a timestamp. The message quotes the value.
 */
import { lastName, type Node, nameOf, walk } from '../plan/tree.ts';

type Kind = 'numeric' | 'float' | 'date' | 'timestamp';

/** The pairs of types whose conversion may raise an error. */
export const CONVERSIONS: readonly (readonly [Kind, Kind])[] = [
  ['numeric', 'float'],
  ['date', 'timestamp'],
];

/** True if two of the types are such a pair. */
export function conversionMayRaise(types: readonly string[]): boolean {
  const kinds = types.map(convertedAs);
  return CONVERSIONS.some((pair) => pair.every((k) => kinds.includes(k)));
}

/** Numbers with at most this many digits before and after the point fit in a float. Numbers that are too small raise an error too. */
const FLOAT_DIGITS = 37;

const KINDS: Readonly<Record<string, Kind>> = {
  numeric: 'numeric',
  'double precision': 'float',
  real: 'float',
  float8: 'float',
  float4: 'float',
  date: 'date',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
};

/**
 * The kind of a type, or of the elements of an array type; undefined for types without such conversions.
 * @param type a declared SQL type, or a name in PostgreSQL's catalog
 */
export function convertedAs(type: string): Kind | undefined {
  const [, precision, scale = '0'] = /^numeric\((\d+)(?:,\s*(-?\d+))?\)$/.exec(type) ?? [];
  if (precision === undefined) return KINDS[type.replace(/^_/, '')];
  return Number(precision) - Number(scale) > FLOAT_DIGITS || Number(scale) > FLOAT_DIGITS ? 'numeric' : undefined;
}

/** Window functions that always return a float. */
const FLOAT_FUNCTIONS = new Set(['percent_rank', 'cume_dist']);

/** The types in a tree: of casts, of current_timestamp and the like, and of percent_rank and cume_dist. */
export function typesNamed(tree: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  walk(tree, (n: Node) => {
    const type = 'TypeCast' in n ? nameOf(n.TypeCast.typeName?.names?.at(-1)) : undefined;
    if (type !== undefined) names.add(type.replace(/^_/, ''));
    if ('SQLValueFunction' in n) names.add('timestamptz');
    if ('FuncCall' in n && FLOAT_FUNCTIONS.has(lastName(n.FuncCall.funcname))) names.add('float8');
    return undefined;
  });
  return names;
}
