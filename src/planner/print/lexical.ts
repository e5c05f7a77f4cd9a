/** Tokens: identifiers, operators, constants. */
import type { A_Const, Node } from '@pgsql/types';
import { KEYWORDS } from './keywords.ts';
import { check, fields, must, type Sink, unsupported } from './sink.ts';

/**
 * `name` as an identifier that PostgreSQL reads as exactly this name. It is quoted unless it is lower-case ASCII (`/^[a-z_][a-z0-9_]*$/`, which would take most of the time
 * of printing) and not a key word.
 */
export function identifier(name: string): string {
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i);
    if ((c < 97 || c > 122) && c !== 95 && (i === 0 || c < 48 || c > 57)) return quoted(name);
  }
  return name === '' || KEYWORDS.has(name) ? quoted(name) : name;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `value` as a string constant that means the same with either setting of standard_conforming_strings. */
export function literal(value: string): string {
  const quoted = value.replaceAll("'", "''");
  return quoted.includes('\\') ? `E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`;
}

/** The text of a String node. */
export function stringOf(node: Node | undefined): string {
  const body = (node as { String?: { sval?: string } } | undefined)?.String;
  if (body === undefined) throw unsupported('a name that is not a plain string');
  return body.sval ?? '';
}

/** A list of String nodes as identifiers. */
export function identifiers(nodes: readonly Node[] | undefined, separator: string): string {
  let out = '';
  if (nodes !== undefined) {
    for (let i = 0; i < nodes.length; i++) {
      if (i > 0) out += separator;
      out += identifier(stringOf(nodes[i]));
    }
  }
  return out;
}

const OPERATOR = /^[-+*/<>=~!@#%^&|`?]+$/;
/** The usual operators, which need no check. */
const USUAL: ReadonlySet<string> = new Set(['=', '<>', '<', '>', '<=', '>=', '+', '-', '*', '/', '||', '~~']);

/** The operator of a list of names. A qualified one is `OPERATOR(schema.op)`. */
export function operator(name: readonly Node[] | undefined): string {
  const parts = must(name, 'operator');
  const symbol = stringOf(parts[parts.length - 1]);
  if (parts.length === 1 && USUAL.has(symbol)) return symbol;
  if (!OPERATOR.test(symbol) || symbol.includes('--') || symbol.includes('/*')) throw unsupported('this operator');
  return parts.length === 1 ? symbol : `OPERATOR(${identifiers(parts.slice(0, -1), '.')}.${symbol})`;
}

const CONST = fields('ival fval boolval sval bsval isnull location');

/** True if the constant is a number with a sign. The sign binds less tightly than an operator after it. */
export const isNegative = (c: A_Const): boolean => (c.ival?.ival ?? 0) < 0 || (c.fval?.fval?.startsWith('-') ?? false);

/** Prints a constant. */
export function constant(sink: Sink, c: A_Const): void {
  check('A_Const', CONST, c);
  sink.at(c.location);
  if (c.ival !== undefined) sink.text += String(c.ival.ival ?? 0);
  else if (c.sval !== undefined) sink.text += literal(c.sval.sval ?? '');
  else if (c.boolval !== undefined) sink.text += c.boolval.boolval ? 'true' : 'false';
  else if (c.isnull) sink.text += 'NULL';
  else if (c.fval !== undefined) sink.text += number(c.fval.fval ?? '');
  else if (c.bsval !== undefined) sink.text += bits(c.bsval.bsval ?? '');
  else throw unsupported('an empty constant');
}

const NUMBER = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

/** A number that PostgreSQL 15 can read: decimal and without underscores. Version 16 introduced the other forms. */
function number(written: string): string {
  const digits = written.replaceAll('_', '');
  const other = /^(-?)(0[xob][0-9a-f]+)$/i.exec(digits);
  if (other) return `${other[1]}${BigInt((other[2] as string).toLowerCase())}`;
  if (!NUMBER.test(digits)) throw unsupported('this number');
  return digits;
}

/** `b101` as B'101', `x1F` as X'1F'. */
function bits(value: string): string {
  if (!/^(b[01]*|x[0-9a-f]*)$/i.test(value)) throw unsupported('this bit string');
  return `${value.charAt(0).toUpperCase()}'${value.slice(1)}'`;
}
