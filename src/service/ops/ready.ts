/** Checks whether the service can reach everything that it needs. */

import type { Caller } from '../../auth/authenticate.ts';
import { sql } from '../../catalog/db.ts';
import { troubledJobs } from '../../catalog/jobs.ts';
import { appliedMigration, LATEST_MIGRATION } from '../../catalog/migrations.ts';
import { httpEngine } from '../../engine/engine.ts';
import { replicaNames } from '../../engine/replicas/options.ts';
import { PING } from '../../engine/statement.ts';
import { forbidden, SvcError } from '../../errors.ts';
import { datasourceOf, replicasOf } from '../caller/datasource.ts';
import type { Runtime, ServiceRequest } from '../runtime.ts';

/** The outcome of one check. `off`: the service is configured without it. `warning`: something is wrong, and the service works without it. */
export interface Check {
  /** `catalog`, `migrations`, `datasource <name>`, `datasource <name> replica <n>`, `kv`, `durable_objects`, `jobs` or `language_model`. */
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'off';
  /** How long the check took, in milliseconds; absent if nothing was asked. */
  readonly ms?: number;
  /** What is wrong, or a remark. */
  readonly detail?: string;
}

/** A check that takes longer has failed. */
const TIMEOUT_MS = 5000;

/**
 * Asks the catalog, each datasource, Workers KV and the Durable Objects, all at once. The language model is not asked, because its answers cost money.
 * @throws SvcError 403 `forbidden` for callers who are not administrators
 */
export async function readiness({ runtime, caller, signal }: ServiceRequest): Promise<readonly Check[]> {
  if (!caller.principal.isAdmin) throw forbidden('forbidden', 'Only administrators may see what the service depends on');
  const { db, kv, asyncStatements, jobs, llm, now } = runtime;
  const check = async (name: string, ask: () => Promise<unknown>): Promise<Check> => {
    const begun = now();
    const failed = await failure(ask);
    return { name, state: failed === undefined ? 'ok' : 'failed', ms: Math.round(now() - begun), ...(failed === undefined ? {} : { detail: failed }) };
  };
  const optional = <T>(name: string, part: T | undefined, ask: (part: T) => Promise<unknown>): Check | Promise<Check> =>
    part === undefined ? { name, state: 'off' } : check(name, () => ask(part));
  return Promise.all([
    check('catalog', () => db.query(sql`SELECT 1 AS one`)),
    check('migrations', async () => {
      const applied = await appliedMigration(db);
      if (applied !== LATEST_MIGRATION) throw new Mismatch(`the catalog has ${applied ?? 'no migration'}, the service needs ${LATEST_MIGRATION}`);
    }),
    ...replicaChecks(runtime, caller),
    ...caller.snapshot.datasources.map(({ name }) =>
      check(`datasource ${name}`, () => httpEngine.batch(datasourceOf(runtime, caller, name), [{ text: PING }], { timeoutMs: TIMEOUT_MS, signal })),
    ),
    optional('kv', kv, (part) => part.ping()),
    optional('durable_objects', asyncStatements ?? jobs, () => Promise.all([asyncStatements?.poll('ready', ''), jobs?.ping()])),
    jobsCheck(runtime),
    ...[
      llm === undefined
        ? ({ name: 'language_model', state: 'off' } as const)
        : ({ name: 'language_model', state: 'ok', detail: 'configured; it was not asked' } as const),
    ],
  ]);
}

/** A job is late after this time: its object tries again at most 15 minutes after it could not reach the catalog. */
const LATE_SECONDS = 20 * 60;
/** The names of so many jobs are in the answer. */
const NAMED_JOBS = 5;

/** Looks for jobs that fail or do not run. They are a warning: no answer depends on them. */
async function jobsCheck({ db, jobs, now }: Runtime): Promise<Check> {
  if (jobs === undefined) return { name: 'jobs', state: 'off' };
  const begun = now();
  const troubles: string[] = [];
  const failed = await failure(async () => {
    for (const { ontology, name, failures } of await troubledJobs(db, LATE_SECONDS, NAMED_JOBS + 1))
      troubles.push(`${ontology}.${name} ${failures > 0 ? `has failed (${failures} in a row)` : 'has not run when it was due'}`);
  });
  const ms = Math.round(now() - begun);
  if (failed !== undefined) return { name: 'jobs', state: 'failed', ms, detail: failed };
  const more = troubles.length > NAMED_JOBS ? '; and others' : '';
  return troubles.length === 0
    ? { name: 'jobs', state: 'ok', ms }
    : { name: 'jobs', state: 'warning', ms, detail: `${troubles.slice(0, NAMED_JOBS).join('; ')}${more}` };
}

/** Asks the replicas of all datasources. One that cannot be used is a warning: the reads go to the primary. */
function replicaChecks(runtime: Runtime, caller: Caller): Promise<Check>[] {
  return caller.snapshot.datasources.flatMap((row) =>
    replicaNames(row.replicas).map(async (_, i): Promise<Check> => {
      const name = `datasource ${row.name} replica ${i + 1}`;
      const replica = replicasOf(runtime, caller, row.name)?.replicas[i];
      if (replica === undefined) return { name, state: 'warning', detail: 'its variable is not set, or is invalid' };
      const begun = runtime.now();
      const failed = await failure(async () => {
        const { mismatch } = await import('../../engine/replicas/position.ts');
        const wrong = await mismatch(replica, datasourceOf(runtime, caller, row.name), TIMEOUT_MS);
        if (wrong !== undefined) throw new Mismatch(wrong);
      });
      return {
        name,
        state: failed === undefined ? 'ok' : 'warning',
        ms: Math.round(runtime.now() - begun),
        ...(failed === undefined ? {} : { detail: failed }),
      };
    }),
  );
}

/** A difference that an operator has to repair. */
class Mismatch extends Error {}

/** What is wrong, or undefined if the check passed. The answer of the server is only in the log. */
async function failure(ask: () => Promise<unknown>): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${TIMEOUT_MS / 1000} s`), TIMEOUT_MS);
  });
  try {
    return await Promise.race([late, ask().then(() => undefined)]);
  } catch (error) {
    return error instanceof SvcError || error instanceof Mismatch ? error.message : 'it failed';
  } finally {
    clearTimeout(timer);
  }
}
