/** Runs the statements of a request in order (docs/design/statements-and-versions.md#scripts). */
import { badRequest } from '../../errors.ts';
import { parseStatement } from '../../language/classify.ts';
import { splitScript } from '../../language/split.ts';
import { sameName } from '../../ontology/names.ts';
import { currentCaller, findOntology, requireOntology, upToDate } from '../caller/lookup.ts';
import type { Answer, Script, ServiceRequest } from '../runtime.ts';
import { isRead } from '../write/classes.ts';
import { withFirstTokens } from './first-token.ts';
import { checkPermitted } from './permitted.ts';
import { type DryRun, Run } from './run.ts';
import { counted, MAX_CACHED_CHARACTERS, parseAll, texts } from './script-text.ts';

export type { DryRun } from './run.ts';

/**
 * Runs a script and returns the answer of its last statement. All statements are first applied and planned in memory; if one of them fails there, nothing is
 * saved.
 * @throws SvcError as in docs/design/rows-and-json.md#status-codes
 */
export async function runScript(request: ServiceRequest, script: Script): Promise<Answer> {
  const run = await begin(request, script);
  return run.all();
}

/**
 * Applies and plans a script in memory as `runScript` does, and lets the datasource explain its last statement. No statement
 * is executed and nothing is saved.
 * @throws SvcError as `runScript`
 */
export async function dryRun(request: ServiceRequest, script: Script): Promise<DryRun> {
  const run = await begin(request, script);
  return run.dry();
}

const isNone = (name: string): boolean => name === '' || sameName(name, 'system_db');

/** Parses a script and opens its ontology. What only statements that change something need is loaded with the first of them. */
async function begin(request: ServiceRequest, script: Script): Promise<Run> {
  const name = script.ontology;
  let caller = isNone(name) ? await currentCaller(request) : await upToDate(request, name);
  let known = isNone(name) ? undefined : findOntology(caller, name);
  const kept = texts.get(script.sql);
  const sources = (() => {
    if (kept !== undefined) return kept.map((s) => s.source);
    try {
      return splitScript(script.sql);
    } catch (error) {
      // report unknown ontologies before syntax errors
      if (!isNone(name)) requireOntology(caller, name);
      throw error;
    }
  })();
  const [first] = sources;
  if (first === undefined) throw badRequest('empty_query', 'The query contains no statement');
  if (!isNone(name) && known === undefined) {
    const head = /^create\s+(or\s+replace\s+)?ontology\b/i.test(first.text) ? parseStatement(first) : undefined;
    if (head?.kind !== 'create_ontology' || !sameName(head.name.text, name)) requireOntology(caller, name);
  }
  const parsed = kept === undefined ? parseAll(sources, request.spending) : counted(kept, request.spending);
  for (const permitted of [request.permitted, script.permitted]) if (permitted != null) checkPermitted(parsed, permitted);
  const statements = script.permitted == null ? withFirstTokens(parsed, request, caller) : parsed;
  if (statements.every(isRead)) {
    if (kept === undefined && script.sql.length <= MAX_CACHED_CHARACTERS) texts.set(script.sql, statements, 8 * script.sql.length + 1000);
  } else {
    // statements that write are checked with current rights
    caller = await caller.refresh();
    known = isNone(name) ? undefined : findOntology(caller, name);
    if (!isNone(name) && known === undefined && statements[0]?.kind !== 'create_ontology') requireOntology(caller, name);
  }
  const begun = { request, script, statements, caller, row: known };
  if (statements.every(isRead)) return Run.of(begun);
  const { WriteRun } = await import('./write-run.ts');
  return WriteRun.of(begun);
}
