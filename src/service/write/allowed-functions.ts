/**
 * The setting `allowed_functions`: functions of the datasource that queries may call. Each function is looked up on the datasource
 * before it is allowed (docs/design/statements-and-versions.md#allowed_functions).
 */
import type { Caller } from '../../auth/authenticate.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { httpEngine } from '../../engine/engine.ts';
import { fixed } from '../../engine/statement.ts';
import { badRequest } from '../../errors.ts';
import { functionsIn } from '../../planner/read/own-functions.ts';
import { datasourceOf } from '../caller/datasource.ts';
import type { Runtime } from '../runtime.ts';

/** Looks up functions by name. An overloaded function has several rows. */
const FIND = fixed`SELECT lower(n.nspname || '.' || p.proname), p.provolatile, p.prokind, p.proretset::text
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE lower(n.nspname || '.' || p.proname) IN (SELECT pg_catalog.json_array_elements_text($1::pg_catalog.json))`;

/** Schemas whose functions cannot be allowed: the service decides which of them are safe. */
const RESERVED_SCHEMAS = /^(pg_.*|information_schema|kg_catalog)\./;

/**
 * Returns the functions that exist on a datasource.
 * @throws SvcError 400 `bad_value` if one of them is a procedure, VOLATILE or returns several rows there; 502
 */
export async function functionsOn(runtime: Runtime, caller: Caller, datasource: string, names: readonly string[], offset: number): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const [answer] = await httpEngine.batch(datasourceOf(runtime, caller, datasource), [{ text: FIND, params: [JSON.stringify(names)] }], {
    timeoutMs: runtime.config.statementTimeoutMs,
  });
  return (answer?.rows ?? []).map(([name, volatility, kind, isSet]) => {
    if (kind === 'p') throw badRequest('bad_value', `\`${name}\` is a procedure`, { offset });
    if (volatility === 'v')
      throw badRequest('bad_value', `the function \`${name}\` is VOLATILE`, { offset, hint: 'Only IMMUTABLE and STABLE functions can be allowed' });
    // in a calculated property it would be computed, with all other values of the row, before the conditions of policies
    if (isSet === 'true')
      throw badRequest('bad_value', `the function \`${name}\` returns several rows`, {
        offset,
        hint: 'Only functions that return one value can be allowed; a view of the datasource can read the rows of this one',
      });
    return name ?? '';
  });
}

/**
 * Parses and checks a comma-separated list of `schema.name`. @returns the names in lower case
 * @throws SvcError 400 `bad_value` if a name is malformed, or the function does not exist on a datasource of the ontology, is VOLATILE or returns several rows; 502
 */
export async function checkFunctions(runtime: Runtime, caller: Caller, ontology: OntologyRow, value: string, offset: number): Promise<readonly string[]> {
  const fail = (message: string, hint?: string) => badRequest('bad_value', message, { offset, hint });
  const names = [...functionsIn(value)];
  for (const name of names) {
    if (!/^[^\s.,"]+\.[^\s.,"]+$/.test(name)) throw fail(`allowed_functions must be a comma-separated list of schema.name, but \`${name}\` has another format`);
    if (RESERVED_SCHEMAS.test(name))
      throw fail(`\`${name}\` is not a function of the datasource's own schemas`, "PostgreSQL's built-in functions are allowed if they are safe");
  }
  if (names.length === 0) return names;
  const found = new Set<string>();
  for (const key of ontology.datasources) for (const name of await functionsOn(runtime, caller, key, names, offset)) found.add(name);
  const missing = names.find((n) => !found.has(n));
  if (missing !== undefined) throw fail(`there is no function \`${missing}\` on the datasources of the ontology`);
  return names;
}
