/** Checks names of functions, operators, collations and types against the closed lists. */
import type { Declared } from './declared.ts';
import { isFunction, RESULT_ROWS } from './functions.ts';
import { isOperator } from './operators.ts';
import { refuse } from './refusal.ts';
import type { Row } from './row.ts';
import { isCollation, isType } from './types.ts';

/** Schemas whose functions and tables a plan cannot declare. */
const SYSTEM_SCHEMA = /^(pg_|information_schema$|kg_catalog$)/i;

/** True for a schema of PostgreSQL or of the service's catalog. Declarations of its functions and tables are ignored. */
export const isSystemSchema = (schema: string): boolean => SYSTEM_SCHEMA.test(schema);

/** The unqualified name of a built-in object; undefined if the name is qualified by another schema than `pg_catalog`. */
const builtIn = (path: readonly string[]): string | undefined =>
  path.length === 1 || (path.length === 2 && path[0] === 'pg_catalog') ? path.at(-1) : undefined;

const isDeclared = (declared: Declared, path: readonly string[]): boolean =>
  path.length === 2 && !isSystemSchema(path[0] as string) && declared.functions.has(path.join('.'));

/**
 * Checks the name of a called function.
 * @param isCastToText whether the call is the direct argument of a cast to text
 * @returns the fields of the result if it is a row
 * @throws RefusedByVerifier `function`
 */
export function checkFunction(declared: Declared, path: readonly string[], isCastToText: boolean): Row | undefined {
  const [name, schema] = [path.at(-1) as string, path.length > 1 ? path.slice(0, -1).join('.') : 'pg_catalog'];
  const isBuiltIn = schema === 'pg_catalog' && isFunction(name);
  // PostgreSQL casts a text that is compared with a regtype to regtype, which looks the text up in the catalog
  if (isBuiltIn ? name === 'pg_typeof' && !isCastToText : !isDeclared(declared, path)) refuse('function', path.join('.'));
  return isBuiltIn ? RESULT_ROWS.get(name) : undefined;
}

/** Checks the name of an operator. @throws RefusedByVerifier `operator` */
export function checkOperator(path: readonly string[]): void {
  if (!isOperator(builtIn(path))) refuse('operator', path.join('.'));
}

/** Checks the name of a collation. @throws RefusedByVerifier `collation` */
export function checkCollation(path: readonly string[]): void {
  if (!isCollation(builtIn(path))) refuse('collation', path.join('.'));
}

/** Checks the name of a type, without its modifiers. @throws RefusedByVerifier `type` */
export function checkTypeName(path: readonly string[]): void {
  if (!isType(builtIn(path))) refuse('type', path.join('.'));
}
