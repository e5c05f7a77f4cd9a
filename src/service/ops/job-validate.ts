/** VALIDATE DATA: the checks of `kg validate --data`, in the steps of a job. */
import { keepCounts } from '../../catalog/counts.ts';
import type { StoredJob } from '../../catalog/jobs.ts';
import { keepStatistics } from '../../catalog/statistics.ts';
import { readModel } from '../../catalog/versions.ts';
import { DataReader } from '../../checks/reader.ts';
import { checkSteps, type Found, findingLines, summaryOf } from '../../checks/run.ts';
import type { Datasource } from '../../engine/datasource.ts';
import { conflict } from '../../errors.ts';
import { compile } from '../../ontology/compile.ts';
import { fold } from '../../ontology/names.ts';
import type { Target } from '../../planner/index.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { datasourceOf } from '../caller/datasource.ts';
import { requireOntology } from '../caller/lookup.ts';
import { datasourcesOf, lackForValidation } from '../caller/validation.ts';
import { targetNow } from '../read/placements.ts';
import type { ServiceRequest } from '../runtime.ts';

/** What is kept between two steps. */
export interface Validation {
  readonly version: string;
  /** The number of checks that were made, of how many. */
  readonly done: number;
  readonly of?: number;
  readonly found: Found;
}

/** A step of the job ends after this time, and after this many statements: the platform limits time, processor time and requests of an alarm. */
const [STEP_MS, STEP_STATEMENTS] = [240_000, 30];
/** A statement may take this long. */
const STATEMENT_MS = 280_000;

/**
 * Makes the next checks. The rights of the maker count in each step.
 * @throws SvcError 403, 404, 409 `version_conflict` if the version does not exist any more; 502, 503, 504
 */
export async function validate(
  request: ServiceRequest,
  job: StoredJob,
  earlier: Validation | undefined,
): Promise<{ readonly message: string } | { readonly next: Validation }> {
  const { runtime, caller, signal } = request;
  const row = requireOntology(caller, job.ontology);
  const version = earlier?.version ?? row.version;
  const model = await readModel(runtime, row.id, version);
  if (model === undefined) throw conflict('version_conflict', 'The version of the ontology that was checked does not exist any more');
  const graph = compile(model, row.name);
  const lack = lackForValidation(caller, row, graph);
  if (lack !== undefined) throw lack;
  const used = [...datasourcesOf(graph)];
  const datasources = new Map(used.map((name): [string, Datasource] => [fold(name), datasourceOf(runtime, caller, name)]));
  const targets = new Map<string, Target>();
  for (const [key, datasource] of datasources) {
    const target = await targetNow(caller.snapshot, datasource);
    if (target) targets.set(key, target);
  }
  const reader = new DataReader({
    graph,
    parser: runtime.parser,
    product: 'svc',
    activeDatasource: row.active ?? 'main',
    allowedFunctions: allowedFunctionsOf(row),
    datasources,
    targets,
    timeoutMs: STATEMENT_MS,
    signal,
  });
  const steps = checkSteps(reader);
  // another release may split the checks differently: the run begins again
  const kept = earlier?.of === steps.length ? earlier : undefined;
  const found: Found = kept?.found ?? { counts: [], findings: [], statistics: [] };
  const begun = runtime.now();
  let done = kept?.done ?? 0;
  for (; done < steps.length; done++) {
    signal.throwIfAborted();
    if (reader.statements >= STEP_STATEMENTS || runtime.now() - begun > STEP_MS) return { next: { version, done, of: steps.length, found } };
    await steps[done]?.(found);
  }
  await runtime.db.batch([...keepCounts(version, found.counts), ...keepStatistics(version, found.statistics)]);
  return { message: [summaryOf(found.findings), ...findingLines(found.findings)].join('\n') };
}
