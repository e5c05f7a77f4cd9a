/** The functions of a datasource that queries may call, and the ones that a stored text calls. */
import type { SqlParser } from '../../language/parser.ts';
import { parsePrepared, prepareSelect } from '../../language/prepare.ts';
import { fold } from '../../ontology/names.ts';
import { isSystemSchema } from '../guard/types.ts';
import { type Node, namesOf, walk } from '../plan/tree.ts';

/** The functions in a value of the setting `allowed_functions`, a comma-separated list of `schema.name`: the distinct names in lower case. */
export const functionsIn = (setting: string | null | undefined): ReadonlySet<string> =>
  new Set((setting ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [fold(name.trim())])));

/** The functions that an ontology allows. */
export const allowedFunctionsOf = (ontology: { readonly allowedFunctions: string | null } | undefined): ReadonlySet<string> =>
  functionsIn(ontology?.allowedFunctions);

/** The called function of a schema other than PostgreSQL's, as `schema.name`; undefined for any other node. */
export function ownFunction(node: Node): string | undefined {
  const path = 'FuncCall' in node ? namesOf(node.FuncCall.funcname) : [];
  return path.length > 1 && !isSystemSchema(path[0] ?? '') ? path.join('.') : undefined;
}

/** True if values call functions of the datasource. Any of these may return several rows, or be an aggregate. */
export function callsOwnIn(values: unknown): boolean {
  let found = false;
  walk(values, (n) => {
    found ||= ownFunction(n) !== undefined;
    return !found;
  });
  return found;
}

/**
 * The called functions of schemas other than PostgreSQL's, as `schema.name`, in order of their first call.
 * @param sql a SELECT
 * @throws SvcError 400 `syntax_error` if it cannot be parsed
 */
export function ownFunctions(parser: SqlParser, sql: string): readonly string[] {
  const found = new Set<string>();
  walk(parsePrepared(parser, prepareSelect({ text: sql, offset: 0 })).stmts, (node) => {
    const name = ownFunction(node);
    if (name !== undefined) found.add(name);
    return undefined;
  });
  return [...found];
}
