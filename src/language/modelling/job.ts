/** Statements about jobs (docs/design/jobs.md), after their keywords. */
import type { Source } from '../statements.ts';
import type { AlterJob, CreateJob, DropJob, JobRun, JobSchedule, RunJob } from '../statements-of-jobs.ts';
import { name } from './clauses.ts';
import { Cursor } from './cursor.ts';
import { cache } from './service.ts';

const WHAT = 'the name of the job';

/** `j SCHEDULE '17 * * * *' [TIMEZONE 'Europe/Lisbon'] AS statement` */
export function createJob(c: Cursor, replace: boolean): CreateJob {
  const job = name(c, WHAT);
  c.expect('SCHEDULE');
  const times = schedule(c);
  c.expect('AS');
  const { text, offset } = c.rest('the statement that the job runs');
  return { kind: 'create_job', source: c.source, replace, name: job, ...times, run: jobRun({ text, offset }), text };
}

/** `j PAUSE`, `j RESUME`, `j SCHEDULE '17 * * * *' [TIMEZONE 'Europe/Lisbon']` */
export function alterJob(c: Cursor): AlterJob {
  const job = name(c, WHAT);
  const words = ['PAUSE', 'RESUME', 'SCHEDULE'] as const;
  const word = words.find((w) => c.accept(w));
  if (word === undefined) throw c.unexpected();
  const action = word === 'SCHEDULE' ? schedule(c) : word === 'PAUSE' ? 'pause' : 'resume';
  c.end();
  return { kind: 'alter_job', source: c.source, name: job, action };
}

/** `JOB j` */
export function runJob(c: Cursor): RunJob {
  c.expect('JOB');
  const job = name(c, WHAT);
  c.end();
  return { kind: 'run_job', source: c.source, name: job };
}

/** `[IF EXISTS] j`. A job may itself be named `if`. */
export function dropJob(c: Cursor): DropJob {
  const lenient = c.sees('IF') && c.sees('EXISTS', 1);
  if (lenient) c.expect('IF', 'EXISTS');
  const job = name(c, WHAT);
  c.end();
  return { kind: 'drop_job', source: c.source, name: job, lenient };
}

/** Parses the statement that a job runs. @throws SvcError 400 `syntax_error`, `not_supported` */
export function jobRun(source: Source): JobRun {
  const c = new Cursor(source);
  if (c.accept('CACHE')) return cache(c);
  c.expect('VALIDATE', 'DATA');
  const ontology = name(c, 'the name of the ontology');
  c.end();
  return { kind: 'validate_data', source, name: ontology };
}

function schedule(c: Cursor): JobSchedule {
  const times = c.string('the schedule in single quotes');
  return { schedule: times, timezone: c.accept('TIMEZONE') ? c.string('the name of a time zone in single quotes') : null };
}
