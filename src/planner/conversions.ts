/**
 * Types of which PostgreSQL makes one by itself where two values meet (a comparison, CASE, UNION), with values that have no place in the other:
 * `numeric` holds numbers that no float holds, `date` days that no timestamp holds. The message quotes the value.
 */
import { lastName, type Node, nameOf, walk } from './tree.ts';

type Kind = 'numeric' | 'float' | 'date' | 'timestamp';

/** Pairs that may fail where both are read. */
export const CONVERSIONS: readonly (readonly [Kind, Kind])[] = [
  ['numeric', 'float'],
  ['date', 'timestamp'],
];

/** Whether two of these types are such a pair. */
export function mayMeet(types: readonly string[]): boolean {
  const kinds = types.map(convertedAs);
  return CONVERSIONS.some((pair) => pair.every((k) => kinds.includes(k)));
}

/** Digits before the point, or after it, that every number of a type may have and still be a float. PostgreSQL fails on one that is too small too. */
const FLOAT_DIGITS = 37;

const KINDS: Readonly<Record<string, Kind>> = {
  numeric: 'numeric',
  'double precision': 'float',
  float8: 'float',
  float4: 'float',
  date: 'date',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
};

/** What a type counts as, an array as its elements; undefined: nothing of this. `type`: a declared SQL type, or a name in PostgreSQL's catalog. */
export function convertedAs(type: string): Kind | undefined {
  const [, precision, scale = '0'] = /^numeric\((\d+)(?:,\s*(-?\d+))?\)$/.exec(type) ?? [];
  if (precision === undefined) return KINDS[type.replace(/^_/, '')];
  return Number(precision) - Number(scale) > FLOAT_DIGITS || Number(scale) > FLOAT_DIGITS ? 'numeric' : undefined;
}

/** Window functions that give a float whatever they read. */
const FLOAT_FUNCTIONS = new Set(['percent_rank', 'cume_dist']);

/** The types that a tree names: of casts, of current_timestamp and its like, and of percent_rank and cume_dist. */
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
