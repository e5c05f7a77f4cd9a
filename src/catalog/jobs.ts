/** Jobs in the catalog (migrations/017): what they run and when, their runs, and the results. */
import { fold } from '../ontology/names.ts';
import { type Call, type CatalogDb, call, type Row, sql } from './db.ts';

/** What a job runs, its schedule, and the user whose rights it has. Times are in milliseconds since 1970. */
interface JobParts {
  readonly id: string;
  readonly ontologyId: string;
  readonly key: string;
  readonly name: string;
  readonly statement: string;
  readonly kind: string;
  readonly target: string;
  readonly schedule: string;
  readonly timezone: string;
  /** The credential of the maker, as JSON. */
  readonly maker: string;
}

/** A job to create, or to replace another one. */
export interface NewJob extends JobParts {
  readonly makerId: string;
  readonly nextRun: number;
}

/** A job as it is stored. */
export interface StoredJob extends JobParts {
  readonly ontology: string;
  readonly makerName: string;
  readonly edition: string;
  readonly paused: boolean;
  /** null: it does not run until it is resumed. */
  readonly nextRun: number | null;
  /** During a run: the time from which another run may begin. */
  readonly runUntil: number | null;
  /** A run that exceeded its time and did not report its end; null: there is no such run. */
  readonly lost: string | null;
  /** When the last run began, and when the last completed run ended. */
  readonly started: number | null;
  readonly ended: number | null;
  /** How many runs have failed since the last one that succeeded. */
  readonly failures: number;
  /** The result of the last run. */
  readonly message: string | null;
}

const INSERT = sql`INSERT INTO kg_catalog.jobs (id, ontology_id, job_key, name, statement, kind, target, schedule, timezone, maker_id, maker, next_run)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, to_timestamp($12::bigint / 1000.0))`;
// the other columns are NULL, so this fails with 23502
const MUST_EXIST = sql`INSERT INTO kg_catalog.jobs (id) SELECT $1::uuid WHERE NOT EXISTS (SELECT FROM kg_catalog.jobs WHERE id = $1::uuid FOR UPDATE)`;
// a run of the old statement may still be in progress: the next run begins after it has ended
const REPLACE = sql`UPDATE kg_catalog.jobs SET name = $2, statement = $3, kind = $4, target = $5, schedule = $6, timezone = $7, maker_id = $8, maker = $9,
    next_run = to_timestamp($10::bigint / 1000.0), paused = false, edition = edition + 1, failures = 0, message = NULL, started = NULL, ended = NULL
  WHERE id = $1`;
const PAUSE = sql`UPDATE kg_catalog.jobs SET paused = true, failures = 0, next_run = NULL WHERE id = $1`;
const RESUME = sql`UPDATE kg_catalog.jobs SET paused = false, failures = 0, next_run = to_timestamp($2::bigint / 1000.0) WHERE id = $1`;
const RESCHEDULE = sql`UPDATE kg_catalog.jobs SET schedule = $2, timezone = $3, next_run = CASE WHEN paused THEN next_run ELSE to_timestamp($4::bigint / 1000.0) END WHERE id = $1`;
const WANT = sql`UPDATE kg_catalog.jobs SET next_run = to_timestamp($2::bigint / 1000.0) WHERE id = $1`;
const DROP = sql`DELETE FROM kg_catalog.jobs WHERE id = $1`;
const READ = sql`SELECT j.id::text AS id, j.ontology_id::text AS ontology_id, o.name AS ontology, j.job_key, j.name, j.statement, j.kind, j.target, j.schedule, j.timezone,
    u.name AS maker_name, j.maker, j.edition::text AS edition, j.paused, j.failures, j.message,
    floor(extract(epoch FROM j.next_run) * 1000)::bigint::text AS next_run, floor(extract(epoch FROM j.started) * 1000)::bigint::text AS started,
    floor(extract(epoch FROM j.ended) * 1000)::bigint::text AS ended,
    CASE WHEN j.run_until > now() THEN floor(extract(epoch FROM j.run_until) * 1000)::bigint::text END AS run_until,
    CASE WHEN j.run_until <= now() AND j.started IS NOT NULL AND (j.ended IS NULL OR j.ended < j.started) THEN j.run::text END AS lost
  FROM kg_catalog.jobs j JOIN kg_catalog.ontologies o ON o.id = j.ontology_id JOIN kg_catalog.users u ON u.id = j.maker_id
  WHERE j.ontology_id = $1::uuid OR j.id = $2::uuid ORDER BY j.job_key COLLATE "C"`;
// of several concurrent claims of a job only one succeeds: it locks the row, and the others then see its run. Of claims of several jobs with one statement, the later
// ones see the start of the first.
const CLAIM = sql`WITH wanted AS (SELECT id, ontology_id, kind, started FROM kg_catalog.jobs
  WHERE id = $1::uuid AND (run IS NULL OR run_until < now()) AND floor(extract(epoch FROM next_run) * 1000)::bigint = $3::bigint AND edition = $5::bigint FOR UPDATE),
  begun AS (INSERT INTO kg_catalog.job_starts AS s SELECT ontology_id, kind, $6, now() FROM wanted ON CONFLICT (ontology_id, kind, target) DO UPDATE SET started = now()
    WHERE s.started <= to_timestamp($7::bigint / 1000.0) OR s.started = (SELECT w.started FROM wanted w) RETURNING ontology_id)
  UPDATE kg_catalog.jobs j SET run = $2::uuid, run_until = now() + make_interval(secs => $4::int), started = now() FROM begun WHERE j.id = $1::uuid RETURNING j.id`;
// a moment that RUN JOB, another schedule or a pause has changed stays
const POSTPONE = sql`UPDATE kg_catalog.jobs SET next_run = to_timestamp($4::bigint / 1000.0)
  WHERE id = $1::uuid AND floor(extract(epoch FROM next_run) * 1000)::bigint = $2::bigint AND edition = $3::bigint`;
const LAST_START = sql`SELECT floor(extract(epoch FROM started) * 1000)::bigint::text AS started FROM kg_catalog.job_starts
  WHERE ontology_id = $1::uuid AND kind = $2 AND target = $3`;
// RUN JOB of a paused job sets the next run, which a pause deletes
const STEP = sql`UPDATE kg_catalog.jobs SET run_until = now() + make_interval(secs => $3::int)
  WHERE id = $1::uuid AND run = $2::uuid AND edition = $4::bigint AND NOT (paused AND next_run IS NULL) RETURNING id`;
const RELEASE = sql`UPDATE kg_catalog.jobs SET run = NULL, run_until = NULL, ended = CASE WHEN edition = $3::bigint THEN now() ELSE ended END,
    message = CASE WHEN edition = $3::bigint THEN $4 ELSE message END
  WHERE id = $1::uuid AND run = $2::uuid`;
// does not overwrite changes that were made during the run: of the schedule or the statement, a pause, RUN JOB
const FINISH = sql`UPDATE kg_catalog.jobs SET run = CASE WHEN $7::int = 0 THEN NULL ELSE run END, run_until = CASE WHEN $7::int = 0 THEN NULL ELSE now() + make_interval(secs => $7::int) END,
    ended = CASE WHEN edition = $3::bigint AND $5::text <> 'postponed' THEN now() ELSE ended END,
    message = CASE WHEN edition = $3::bigint AND $5 <> 'postponed' THEN $4 ELSE message END,
    failures = CASE WHEN edition <> $3::bigint OR $5 = 'postponed' THEN failures WHEN $5 IN ('failed', 'refused') THEN failures + 1 ELSE 0 END,
    paused = paused OR $5 = 'refused' AND edition = $3::bigint AND floor(extract(epoch FROM next_run) * 1000)::bigint = $6::bigint,
    next_run = CASE WHEN floor(extract(epoch FROM next_run) * 1000)::bigint = $6::bigint THEN CASE WHEN paused AND $5 <> 'postponed' OR $5 = 'refused' AND edition = $3::bigint THEN NULL ELSE to_timestamp($8::bigint / 1000.0) END ELSE next_run END
  WHERE id = $1::uuid AND run = $2::uuid RETURNING floor(extract(epoch FROM next_run) * 1000)::bigint::text AS next_run`;
// RUN JOB during a run causes another run, also if the job is paused
const LOSE = sql`UPDATE kg_catalog.jobs SET run = NULL, run_until = NULL, ended = now(), message = $4, failures = failures + 1,
    next_run = CASE WHEN next_run IS NULL OR paused AND next_run <= started THEN NULL ELSE to_timestamp($5::bigint / 1000.0) END
  WHERE id = $1::uuid AND run = $2::uuid AND run_until <= now() AND edition = $3::bigint RETURNING id`;
// objects wake by their alarm, or by the hourly sweep; a job with a run in progress is not late
const TROUBLED = sql`SELECT o.name AS ontology, j.name, j.failures FROM kg_catalog.jobs j JOIN kg_catalog.ontologies o ON o.id = j.ontology_id
  WHERE j.failures > 0 OR j.next_run < now() - make_interval(secs => $1::int) AND (j.run_until IS NULL OR j.run_until < now() - make_interval(secs => $1::int))
  ORDER BY j.failures DESC, j.next_run, o.name, j.name LIMIT $2::int`;
const DUE = sql`SELECT id::text AS id, floor(extract(epoch FROM next_run) * 1000)::bigint::text AS next_run FROM kg_catalog.jobs
  WHERE next_run < now() + interval '1 hour' ORDER BY next_run LIMIT $1::int`;

/** Creates a job. Fails with 23505 if a concurrent request has created one of that name, and with 23503 if the maker or the ontology was dropped. */
export const insertJob = (j: NewJob): Call =>
  call(INSERT, j.id, j.ontologyId, j.key, j.name, j.statement, j.kind, j.target, j.schedule, j.timezone, j.makerId, j.maker, j.nextRun);

/** A change of a job. Fails with 23502 if the job was dropped concurrently. */
const changed = (id: string, change: Call): readonly Call[] => [call(MUST_EXIST, id), change];

/** Replaces the statement, schedule and maker of a job. */
export const replaceJob = (j: NewJob): readonly Call[] =>
  changed(j.id, call(REPLACE, j.id, j.name, j.statement, j.kind, j.target, j.schedule, j.timezone, j.makerId, j.maker, j.nextRun));

export const pauseJob = (id: string): readonly Call[] => changed(id, call(PAUSE, id));
export const resumeJob = (id: string, nextRun: number): readonly Call[] => changed(id, call(RESUME, id, nextRun));
/** Replaces the schedule of a job. A paused job stays paused. */
export const rescheduleJob = (id: string, schedule: string, timezone: string, nextRun: number): readonly Call[] =>
  changed(id, call(RESCHEDULE, id, schedule, timezone, nextRun));
/** Schedules a run of a job at a time, also if it is paused. */
export const wantJob = (id: string, at: number): readonly Call[] => changed(id, call(WANT, id, at));
export const dropJob = (id: string): Call => call(DROP, id);

const moment = (value: unknown): number | null => (value === null ? null : Number(value));
const ofRow = (r: Row): StoredJob => ({
  id: String(r.id),
  ontologyId: String(r.ontology_id),
  ontology: String(r.ontology),
  key: String(r.job_key),
  name: String(r.name),
  statement: String(r.statement),
  kind: String(r.kind),
  target: String(r.target),
  schedule: String(r.schedule),
  timezone: String(r.timezone),
  makerName: String(r.maker_name),
  maker: String(r.maker),
  edition: String(r.edition),
  paused: r.paused === true,
  nextRun: moment(r.next_run),
  runUntil: moment(r.run_until),
  lost: r.lost === null ? null : String(r.lost),
  started: moment(r.started),
  ended: moment(r.ended),
  failures: Number(r.failures),
  message: r.message === null ? null : String(r.message),
});

/** Reads the jobs of an ontology, ordered by name. @throws SvcError 503 */
export async function listJobs(db: CatalogDb, ontologyId: string): Promise<readonly StoredJob[]> {
  return (await db.query(READ, [ontologyId, null])).map(ofRow);
}

/** Reads a job; undefined if it was dropped, or its ontology or its maker. @throws SvcError 503 */
export async function readJob(db: CatalogDb, id: string): Promise<StoredJob | undefined> {
  const [row] = await db.query(READ, [null, id]);
  return row === undefined ? undefined : ofRow(row);
}

/**
 * Begins a run, unless another one goes on, the job was changed after it was read, or another job has run its statement.
 * @param limits `seconds`: how long no other run may begin if this one does not end; `before`: the latest beginning of a run of another job with its statement
 * @throws SvcError 503
 */
export async function claimJob(
  db: CatalogDb,
  { id, nextRun, edition, target }: StoredJob,
  run: string,
  { seconds, before }: { readonly seconds: number; readonly before: number },
): Promise<boolean> {
  return (await db.query(CLAIM, [id, run, nextRun, seconds, edition, fold(target), before])).length > 0;
}

/** Moves the next run to a later moment, unless the job was changed after it was read. @throws SvcError 503 */
export async function postponeJob(db: CatalogDb, { id, nextRun, edition }: StoredJob, at: number): Promise<void> {
  await db.query(POSTPONE, [id, nextRun, edition, at]);
}

/** The start of the last run, within a day, of any job of an ontology with this statement; null: there was none. @throws SvcError 503 */
export async function lastStart(db: CatalogDb, ontologyId: string, { kind, target }: Pick<JobParts, 'kind' | 'target'>): Promise<number | null> {
  const [row] = await db.query(LAST_START, [ontologyId, kind, fold(target)]);
  return row === undefined ? null : moment(row.started);
}

/** Extends a run by `seconds`. @returns false if the job was paused, replaced or dropped, or another run has begun @throws SvcError 503 */
export async function continueRun(db: CatalogDb, { id, edition }: StoredJob, run: string, seconds: number): Promise<boolean> {
  return (await db.query(STEP, [id, run, seconds, edition])).length > 0;
}

/** Ends a run that has no step in progress, so that the next run may begin. @param message the result, unless the job was replaced @throws SvcError 503 */
export async function releaseRun(db: CatalogDb, { id, edition }: StoredJob, run: string, message: string): Promise<void> {
  await db.query(RELEASE, [id, run, edition, message]);
}

/** The end of a run. */
export interface RunEnd {
  readonly message: string;
  /** `postponed`: the result of the run before stays. `refused`: it failed, and the job is paused. */
  readonly end: 'succeeded' | 'failed' | 'refused' | 'postponed';
  /** When the job runs next, unless it was changed during the run. */
  readonly nextRun: number | null;
  /** Seconds in which no other run may begin, because work that this run started may still be in progress; 0: all of it has ended. */
  readonly hold: number;
}

/** Ends a run. @returns when the job runs next; undefined if it was dropped, or another run has begun @throws SvcError 503 */
export async function finishJob(db: CatalogDb, job: StoredJob, run: string, end: RunEnd): Promise<number | null | undefined> {
  const [row] = await db.query(FINISH, [job.id, run, job.edition, end.message, end.end, job.nextRun, end.hold, end.nextRun]);
  return row === undefined ? undefined : moment(row.next_run);
}

/** Marks a lost run as failed, unless the job was changed after it was read. @throws SvcError 503 */
export async function loseRun(db: CatalogDb, { id, lost, edition }: StoredJob, end: Pick<RunEnd, 'message' | 'nextRun'>): Promise<void> {
  await db.query(LOSE, [id, lost, edition, end.message, end.nextRun]);
}

/** The jobs that are due within an hour or overdue, the longest overdue first. @throws SvcError 503 */
export async function dueJobs(db: CatalogDb, most: number): Promise<readonly { readonly id: string; readonly nextRun: number }[]> {
  return (await db.query(DUE, [most])).map((r) => ({ id: String(r.id), nextRun: Number(r.next_run) }));
}

/** A job whose last runs have failed, or that did not run when it was due. */
export interface TroubledJob {
  readonly ontology: string;
  readonly name: string;
  readonly failures: number;
}

/** The jobs whose last run failed, then those that are at least `lateSeconds` late. @throws SvcError 503 */
export async function troubledJobs(db: CatalogDb, lateSeconds: number, most: number): Promise<readonly TroubledJob[]> {
  return (await db.query(TROUBLED, [lateSeconds, most])).map((r) => ({ ontology: String(r.ontology), name: String(r.name), failures: Number(r.failures) }));
}
