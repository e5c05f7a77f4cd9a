/** CREATE, ALTER, RUN and DROP JOB (docs/design/jobs.md). */
import { digestOfAdmin, earlierOf, type Maker } from '../../auth/resume.ts';
import {
  dropJob as deleteJob,
  insertJob,
  lastStart,
  listJobs,
  type NewJob,
  pauseJob,
  replaceJob,
  rescheduleJob,
  resumeJob,
  wantJob,
} from '../../catalog/jobs.ts';
import { badRequest, forbidden, loggedLine, SvcError } from '../../errors.ts';
import { jobRun } from '../../language/modelling/job.ts';
import type { Name } from '../../language/statements.ts';
import type { AlterJob, CreateJob, DropJob, JobRun, RunJob } from '../../language/statements-of-jobs.ts';
import { fold, sameName } from '../../ontology/names.ts';
import { knowsJob } from '../caller/job-sight.ts';
import { unknownInStatement } from '../caller/lookup.ts';
import { seenBy } from '../caller/sight.ts';
import { lackForValidation } from '../caller/validation.ts';
import type { Runtime } from '../runtime.ts';
import { CACHES } from './cached-mappings.ts';
import { VIEW_CACHES } from './cached-views.ts';
import { editable } from './caching.ts';
import { type Changing, checkName, type Done, done, exists } from './changing.ts';
import type { Draft } from './draft.ts';
import type { Kinds } from './kinds.ts';
import { afterPace, checkedSchedule, nextRun, type Schedule, wantedRun } from './schedule.ts';

/** Each sweep wakes the jobs of all ontologies. */
const MOST_JOBS = 50;
/** All of them do the same, at other times. */
const MOST_VALIDATIONS = 8;

/** What a statement needs to know of a job. */
type Known = Pick<NewJob, 'id' | 'key' | 'name' | 'statement' | 'kind' | 'target' | 'schedule' | 'timezone'> & {
  readonly paused: boolean;
  readonly started: number | null;
  readonly nextRun: number | null;
};

/** The jobs of an ontology, with the changes of the script, by key. */
const scripts = new WeakMap<Changing, Map<string, Map<string, Known>>>();

async function jobsOf(ctx: Changing, { row }: Draft): Promise<Map<string, Known>> {
  const all = scripts.get(ctx) ?? new Map<string, Map<string, Known>>();
  scripts.set(ctx, all);
  const known = all.get(row.id) ?? new Map((await listJobs(ctx.db, row.id)).map((j) => [j.key, j]));
  all.set(row.id, known);
  return known;
}

/** Those of the jobs that the caller may know of. */
async function knownOf({ session, principal }: Changing, draft: Draft, jobs: Iterable<Known>): Promise<readonly Known[]> {
  const seen = seenBy(principal, (await draft.graph()).whole, session.request.runtime.parser);
  return [...jobs].filter((job) => knowsJob(principal, seen, job));
}

/** @throws SvcError 503 `not_configured` */
function requireJobs(ctx: Changing): NonNullable<Runtime['jobs']> {
  const { jobs } = ctx.session.request.runtime;
  if (jobs !== undefined) return jobs;
  throw new SvcError(503, 'not_configured', 'This service does not run jobs', { hint: 'Run the statement of the job from a scheduler' });
}

/** Wakes the object of a job. If that fails, the next sweep wakes it. */
async function woken(ctx: Changing, id: string, at: number): Promise<void> {
  const { jobs, log } = ctx.session.request.runtime;
  try {
    await jobs?.wake(id, at);
  } catch (error) {
    log({ level: 'warn', event: 'job_not_woken', job: id, message: loggedLine(error) });
  }
}

/** Checks that the caller may run the statement of a job now, and that it can run. @throws SvcError as the statement */
async function requireMayRun(ctx: Changing, draft: Draft, run: JobRun): Promise<void> {
  if (run.kind === 'cache_mapping') {
    await CACHES.cache_mapping.apply(ctx, run);
    return;
  }
  if (run.kind === 'cache_cube') {
    await VIEW_CACHES.cache_cube.apply(ctx, run);
    return;
  }
  if (run.kind === 'cache_view') {
    await VIEW_CACHES.cache_view.apply(ctx, run);
    return;
  }
  if (!sameName(run.name.text, draft.name)) {
    const hint = 'Send the statement in a request for the ontology that it names';
    throw badRequest('other_ontology', `The request is about the ontology \`${draft.name}\``, { offset: run.name.offset, hint });
  }
  const lack = lackForValidation(ctx.caller, draft.row, await draft.graph(), run.source.offset);
  if (lack !== undefined) throw lack;
}

/** The same for a stored statement. The position of an error is that of the statement about the job. */
async function requireMayRunStored(ctx: Changing, draft: Draft, { statement }: Known, offset: number): Promise<void> {
  try {
    await requireMayRun(ctx, draft, jobRun({ text: statement, offset }));
  } catch (error) {
    throw error instanceof SvcError ? error.at(offset) : error;
  }
}

/** The maker as it is stored. A job that ADMIN_TOKEN made ends with that token. */
async function makerOf({ principal, session }: Changing): Promise<string> {
  const adminToken = principal.credential === 'admin_token' ? await digestOfAdmin(session.request.runtime.config) : undefined;
  return JSON.stringify({ ...earlierOf(principal), adminToken } satisfies Maker);
}

const iso = (at: number): string => new Date(at).toISOString();
/** When the last run began that counts for the pace of a job: of this job, or of another one with its statement, also if it was dropped. */
async function lastOf({ db }: Changing, { row }: Draft, job: Pick<Known, 'kind' | 'target'>, started: number | null): Promise<number | null> {
  const last = await lastStart(db, row.id, job);
  return last === null ? started : Math.max(last, started ?? 0);
}

/** The first moment of a schedule. What has run keeps its pace: a change of the schedule, or another job, does not let it run more often. */
async function firstRun(schedule: Schedule, { now }: Runtime, kind: string, last: number | null): Promise<number> {
  const after = Math.max(now(), last === null ? 0 : afterPace(kind, last));
  return (await nextRun(schedule, after)) ?? after;
}

async function createJob(ctx: Changing, { name, run, text, source, ...statement }: CreateJob): Promise<Done> {
  const draft = editable(ctx, source.offset);
  requireJobs(ctx);
  const jobs = await jobsOf(ctx, draft);
  const key = fold(name.text);
  const old = jobs.get(key);
  checkName(name, 'job', old !== undefined);
  // a job of a mapping that the caller does not see: the answer does not say that it exists
  if (old !== undefined && (await knownOf(ctx, draft, [old])).length === 0)
    throw forbidden('forbidden', 'You may not make a job of this name', { offset: name.offset });
  if (old !== undefined && statement.ifNotExists) return done([], { job: old.name, schedule: old.schedule, timezone: old.timezone });
  if (old !== undefined && !statement.replace) throw exists('job', name);
  if (old === undefined && jobs.size >= MOST_JOBS)
    throw badRequest('too_many_jobs', `an ontology can have at most ${MOST_JOBS} jobs`, { offset: source.offset });
  if (run.kind === 'validate_data' && [...jobs.values()].filter((j) => j !== old && j.kind === run.kind).length >= MOST_VALIDATIONS)
    throw badRequest('too_many_jobs', `an ontology can have at most ${MOST_VALIDATIONS} jobs of VALIDATE DATA`, { offset: source.offset });
  const schedule = await checkedSchedule(run.kind, statement.schedule, statement.timezone);
  await requireMayRun(ctx, draft, run);
  const { principal } = ctx;
  const last = await lastOf(ctx, draft, { kind: run.kind, target: run.name.text }, old?.kind === run.kind ? old.started : null);
  const job: NewJob = {
    id: old?.id ?? crypto.randomUUID(),
    ontologyId: draft.row.id,
    key,
    name: name.text,
    statement: text,
    kind: run.kind,
    target: run.name.text,
    ...schedule,
    makerId: principal.userId,
    maker: await makerOf(ctx),
    nextRun: await firstRun(schedule, ctx.session.request.runtime, run.kind, last),
  };
  jobs.set(key, { ...job, paused: false, started: old?.started ?? null });
  return {
    ...done(old === undefined ? [insertJob(job)] : replaceJob(job), { job: job.name, ...schedule, next_run: iso(job.nextRun) }),
    perform: () => woken(ctx, job.id, job.nextRun),
  };
}

/** Finds a job of the ontology of the request, which the caller may edit. @throws SvcError 400 `no_ontology`, `unknown_job`; 403 */
async function found(ctx: Changing, name: Name, offset: number): Promise<{ readonly draft: Draft; readonly jobs: Map<string, Known>; readonly job: Known }> {
  const draft = editable(ctx, offset);
  const jobs = await jobsOf(ctx, draft);
  const known = await knownOf(ctx, draft, jobs.values());
  const job = known.find((j) => j.key === fold(name.text));
  if (job !== undefined) return { draft, jobs, job };
  throw unknownInStatement(
    'job',
    name,
    known.map((j) => j.name),
  );
}

async function alterJob(ctx: Changing, { name, action, source }: AlterJob): Promise<Done> {
  const { draft, jobs, job } = await found(ctx, name, source.offset);
  const { runtime } = ctx.session.request;
  if (action === 'pause') {
    jobs.set(job.key, { ...job, paused: true, nextRun: null });
    return done(pauseJob(job.id), { job: job.name, paused: true, next_run: null });
  }
  requireJobs(ctx);
  await requireMayRunStored(ctx, draft, job, source.offset);
  // an earlier release may have stored a schedule of a shorter gap
  const { offset } = source;
  const at = (text: string) => ({ text, offset });
  const schedule =
    action === 'resume'
      ? await checkedSchedule(job.kind, at(job.schedule), at(job.timezone))
      : await checkedSchedule(job.kind, action.schedule, action.timezone);
  const paused = action !== 'resume' && job.paused;
  const next = await firstRun(schedule, runtime, job.kind, await lastOf(ctx, draft, job, job.started));
  jobs.set(job.key, { ...job, schedule: schedule.schedule, timezone: schedule.timezone, paused, nextRun: paused ? job.nextRun : next });
  const change = action === 'resume' ? resumeJob(job.id, next) : rescheduleJob(job.id, schedule.schedule, schedule.timezone, next);
  return {
    ...done(change, { job: job.name, paused, schedule: schedule.schedule, timezone: schedule.timezone, next_run: paused ? null : iso(next) }),
    perform: () => (paused ? Promise.resolve() : woken(ctx, job.id, next)),
  };
}

async function runJob(ctx: Changing, { name, source }: RunJob): Promise<Done> {
  const { draft, job } = await found(ctx, name, source.offset);
  requireJobs(ctx);
  await requireMayRunStored(ctx, draft, job, source.offset);
  const now = ctx.session.request.runtime.now();
  const wanted = wantedRun(job.kind, await lastOf(ctx, draft, job, job.started), now);
  // the schedule may have an earlier moment
  const at = job.nextRun !== null && job.nextRun > now ? Math.min(wanted, job.nextRun) : wanted;
  return { ...done(wantJob(job.id, at), { job: job.name, status: 'queued', next_run: iso(at) }), perform: () => woken(ctx, job.id, at) };
}

async function dropJob(ctx: Changing, { name, lenient, source }: DropJob): Promise<Done> {
  const draft = editable(ctx, source.offset);
  const jobs = await jobsOf(ctx, draft);
  const old = jobs.get(fold(name.text));
  if (lenient && (await knownOf(ctx, draft, old === undefined ? [] : [old])).length === 0) return done([], { job: name.text, dropped: false });
  const { job } = await found(ctx, name, source.offset);
  jobs.delete(job.key);
  // the object finds that the job is gone, and ends
  const now = ctx.session.request.runtime.now();
  return { ...done([deleteJob(job.id)], { job: job.name, dropped: true }), perform: () => woken(ctx, job.id, now) };
}

export const JOBS: Kinds<'create_job' | 'alter_job' | 'run_job' | 'drop_job'> = {
  create_job: { apply: createJob },
  alter_job: { apply: alterJob },
  run_job: { apply: runJob },
  drop_job: { apply: dropJob },
};
