/**
 * The datasource's own functions that queries may call; the datasource is asked for each before it is allowed
 * (docs/design/statements-and-versions.md#allowed_functions).
 */
import type { Caller } from '../auth/authenticate.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { httpEngine } from '../engine/engine.ts';
import { fixed } from '../engine/statement.ts';
import { badRequest } from '../errors.ts';
import { functionsIn } from '../planner/own-functions.ts';
import { datasourceOf } from './datasource.ts';
import type { Runtime } from './runtime.ts';

/** What a function of that name is, on one datasource: several rows where it is overloaded. */
const FIND = fixed`SELECT lower(n.nspname || '.' || p.proname), p.provolatile, p.prokind
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE lower(n.nspname || '.' || p.proname) IN (SELECT pg_catalog.json_array_elements_text($1::pg_catalog.json))`;

/** Schemas whose functions the service judges itself, or never calls. */
const CLOSED = /^(pg_.*|information_schema|kg_catalog)\./;

/**
 * Which of these functions a datasource has.
 * @throws SvcError 400 `bad_value` if one of them is a procedure or VOLATILE there; 502
 */
export async function functionsOn(runtime: Runtime, caller: Caller, datasource: string, names: readonly string[], offset: number): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const [answer] = await httpEngine.batch(datasourceOf(runtime, caller, datasource), [{ text: FIND, params: [JSON.stringify(names)] }], {
    timeoutMs: runtime.config.statementTimeoutMs,
  });
  return (answer?.rows ?? []).map(([name, volatility, kind]) => {
    if (kind === 'p') throw badRequest('bad_value', `\`${name}\` is a procedure`, { offset });
    if (volatility === 'v')
      throw badRequest('bad_value', `the function \`${name}\` is VOLATILE`, { offset, hint: 'Only IMMUTABLE and STABLE functions can be allowed' });
    return name ?? '';
  });
}

/**
 * A comma list of `schema.name` -> the names, in lower case.
 * @throws SvcError 400 `bad_value` for what is no such name, is not on a datasource of the ontology, or changes something there (VOLATILE); 502
 */
export async function checkFunctions(runtime: Runtime, caller: Caller, ontology: OntologyRow, value: string, offset: number): Promise<readonly string[]> {
  const fail = (message: string, hint?: string) => badRequest('bad_value', message, { offset, hint });
  const names = [...functionsIn(value)];
  for (const name of names) {
    if (!/^[^\s.,"]+\.[^\s.,"]+$/.test(name)) throw fail(`allowed_functions is a comma list of schema.name, which \`${name}\` is not`);
    if (CLOSED.test(name)) throw fail(`\`${name}\` is none of the datasource's own functions`, "PostgreSQL's own functions are allowed where they are safe");
  }
  if (names.length === 0) return names;
  const found = new Set<string>();
  for (const key of ontology.datasources) for (const name of await functionsOn(runtime, caller, key, names, offset)) found.add(name);
  const missing = names.find((n) => !found.has(n));
  if (missing !== undefined) throw fail(`there is no function \`${missing}\` on the datasources of the ontology`);
  return names;
}
