/** Runs the statement of a job with the rights that its maker has now. */
import { type Maker, resumeMaker } from '../../auth/resume.ts';
import type { StoredJob } from '../../catalog/jobs.ts';
import { jobRun } from '../../language/modelling/job.ts';
import type { Runtime, ServiceRequest } from '../runtime.ts';
import { Spending } from '../spending.ts';
import type { Validation } from './job-validate.ts';
import type { runScript } from './script.ts';

/** Runs a script. The module of scripts that write, from which this one is loaded, cannot import it. */
export type RunScript = typeof runScript;

/** The result of a step: the message of the run, or the state with which the next step begins. */
export type Outcome = { readonly message: string; readonly rows?: number | undefined } | { readonly next: unknown };

/**
 * Runs a job, or a step of it.
 * @param state of the last step; undefined: this is the first one
 * @throws SvcError 401 if the maker may not use the service any more; as the statement
 */
export async function runStep(runScript: RunScript, runtime: Runtime, job: StoredJob, run: string, state: unknown, signal: AbortSignal): Promise<Outcome> {
  const caller = await resumeMaker(JSON.parse(job.maker) as Maker, runtime);
  let next: unknown;
  const request: ServiceRequest = {
    runtime,
    caller,
    requestId: run,
    spending: new Spending(),
    signal,
    ends: signal,
    permitted: null,
    knownVersion: null,
    about: () => undefined,
    steps: {
      state,
      keep: (of) => {
        next = of;
      },
    },
  };
  // an earlier release may have stored another statement
  if (jobRun({ text: job.statement, offset: 0 }).kind === 'validate_data') {
    const { validate } = await import('./job-validate.ts');
    return validate(request, job, state as Validation | undefined);
  }
  const answer = await runScript(request, { ontology: job.ontology, sql: job.statement, limit: null, datasource: null });
  if (next !== undefined) return { next };
  const [row] = (answer.kind === 'value' ? answer.data : []) as readonly { readonly rows?: number; readonly as_of?: string }[];
  return { message: `${row?.rows} rows as of ${row?.as_of}`, rows: row?.rows };
}
