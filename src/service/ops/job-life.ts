/**
 * The life of a job in its Durable Object (docs/design/jobs.md): an alarm at the moment of its next run, until the job is dropped or paused. What the job is and
 * when it runs is in the catalog; the object only has its id.
 */
import {
  claimJob,
  continueRun,
  dueJobs,
  finishJob,
  lastStart,
  loseRun,
  postponeJob,
  type RunEnd,
  readJob,
  releaseRun,
  type StoredJob,
} from '../../catalog/jobs.ts';
import { loggedLine, SvcError } from '../../errors.ts';
import type { Runtime } from '../runtime.ts';
import { afterPace, afterRun, paceOfNext, spread } from '../write/schedule.ts';
import { type Outcome, type RunScript, runStep } from './job-run.ts';

/** The part of `DurableObjectStorage` that is used. */
export interface JobStorage {
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<boolean>;
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
  deleteAlarm(): Promise<void>;
  deleteAll(): Promise<void>;
}

/** A step of a run ends after this time. The platform ends an alarm after 15 minutes. */
const STEP_MS = 14 * 60_000;
/** How long a statement of a step may go on in a database after the step has ended. */
const STATEMENT_SECONDS = 11 * 60;
/** How long no other run begins after the beginning of a step that does not end. */
const LEASE_SECONDS = STEP_MS / 1000 + STATEMENT_SECONDS;
/** The longest time without an alarm: a job that was dropped with its ontology or its maker ends after it. */
const LONGEST_MS = 86_400_000;
/** Pauses while the catalog cannot be reached. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [15_000, 900_000];
/** A run that finds too many others that read the datasource waits for this time, and a random part of it. */
const BUSY_MS = 60_000;
/** The maker is not active any more, lacks a right, or does not see the ontology. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);
/** Objects that the maker does not see are unknown to it. */
const UNKNOWN: ReadonlySet<string> = new Set(['unknown_mapping', 'unknown_cube', 'unknown_view', 'unknown_datasource']);
const isRefusal = (fault: unknown): boolean => fault instanceof SvcError && (REFUSALS.has(fault.status) || UNKNOWN.has(fault.code));
const MOST_CHARACTERS = 4000;
const PIECE_CHARACTERS = 500_000;
const FAILED = 'the run failed; the log of the service has the reason';
const LOST = 'the platform ended the run';
const STOPPED = 'the job was paused during the run';
const TOO_LONG = 'the run did not end within 14 minutes';

/** The state of a run between its steps. */
interface Progress {
  readonly run: string;
  readonly planned: StoredJob;
  readonly state: unknown;
  /** When the run began. */
  readonly begun: number;
}

export class JobLife {
  readonly #storage: JobStorage;
  readonly #runtime: () => Runtime;
  readonly #run: RunScript;
  readonly #random: () => number;
  /** Goes up with each call of `wake`. */
  #wakes = 0;
  #misses = 0;

  constructor(storage: JobStorage, runtime: () => Runtime, run: RunScript, random: () => number = Math.random) {
    this.#storage = storage;
    this.#runtime = runtime;
    this.#run = run;
    this.#random = random;
  }

  /** Lets the job look at the catalog at a moment, or earlier. */
  async wake(id: string, at: number): Promise<void> {
    this.#wakes++;
    if ((await this.#storage.get('id')) !== id) await this.#storage.put('id', id);
    const alarm = await this.#storage.getAlarm();
    if (alarm === null || alarm > at) await this.#storage.setAlarm(at);
  }

  /** Handles the alarm: runs the job, or a further step of its run, if it is time, and sets the next alarm. */
  async alarm(): Promise<void> {
    const runtime = this.#runtime();
    const id = await this.#storage.get('id');
    if (typeof id !== 'string') return this.#end();
    const wakes = this.#wakes;
    try {
      const next = await this.#turn(runtime, id);
      this.#misses = 0;
      // what has woken the job in the meantime may have seen a later state of it
      if (next === undefined && wakes === this.#wakes) return await this.#end();
      await this.#storage.setAlarm(next !== undefined && wakes === this.#wakes ? Math.min(next, runtime.now() + LONGEST_MS) : runtime.now());
    } catch (error) {
      runtime.log({ level: 'warn', event: 'job', job: id, message: loggedLine(error) });
      await this.#storage.setAlarm(runtime.now() + spread(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#misses++), this.#random));
    }
  }

  async #end(): Promise<void> {
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }

  /** @returns the moment of the next alarm; undefined: there will be none @throws SvcError 503 */
  async #turn(runtime: Runtime, id: string): Promise<number | undefined> {
    const job = await readJob(runtime.db, id);
    if (job === undefined) return undefined;
    const earlier = await this.#progress();
    if (earlier !== undefined) return this.#goOn(runtime, earlier);
    if (job.lost !== null) return this.#lose(runtime, job);
    if (job.nextRun === null) return job.runUntil === null ? undefined : Math.max(job.runUntil, runtime.now()) + 1000;
    if (job.nextRun > runtime.now()) return job.nextRun;
    // the clocks of the object and of the catalog may differ
    if (job.runUntil !== null) return Math.max(job.runUntil, runtime.now()) + 1000;
    const run = crypto.randomUUID();
    const { pause, next } = await paceOfNext(job);
    if (!(await claimJob(runtime.db, job, run, { seconds: LEASE_SECONDS, before: runtime.now() - pause }))) {
      const last = await lastStart(runtime.db, job.ontologyId, job);
      if (last === null || last === job.started || last + pause <= runtime.now()) return runtime.now() + spread(FIRST_PAUSE_MS, this.#random);
      await postponeJob(runtime.db, job, await next(last + pause));
      return runtime.now();
    }
    return this.#step(runtime, { run, planned: job, state: undefined, begun: runtime.now() });
  }

  /** Counts a run that the platform has ended as failed. It would else begin again for ever, and end at the same place. */
  async #lose(runtime: Runtime, job: StoredJob): Promise<number> {
    const nextRun = await afterRun(job, Math.max(runtime.now(), job.nextRun ?? 0), job.failures + 1, this.#random);
    await loseRun(runtime.db, job, { message: LOST, nextRun });
    report(runtime, job, job.lost, { ms: runtime.now() - (job.started ?? runtime.now()), outcome: 'lost', status: 500, cause: LOST });
    return runtime.now();
  }

  /** The next step of a run. The run ends if the object stopped during a step, or the job was changed. */
  async #goOn(runtime: Runtime, progress: Progress): Promise<number | undefined> {
    await this.#forget();
    const { planned, run } = progress;
    if (!(await continueRun(runtime.db, planned, run, LEASE_SECONDS))) {
      await releaseRun(runtime.db, planned, run, STOPPED);
      report(runtime, planned, run, { ms: runtime.now() - progress.begun, outcome: 'stopped', status: 409 });
      return runtime.now();
    }
    return this.#step(runtime, progress);
  }

  async #step(runtime: Runtime, progress: Progress): Promise<number | undefined> {
    const { planned: job, run } = progress;
    // if the object stops during the step, the job goes on when no statement of the step can run any more
    await this.#storage.setAlarm(runtime.now() + LEASE_SECONDS * 1000 + 1000);
    const { outcome, fault, hold } = await this.#within(runtime, progress);
    if (outcome !== undefined && 'next' in outcome) {
      await this.#keep({ ...progress, state: outcome.next });
      return runtime.now();
    }
    const failed = outcome === undefined;
    const message = outcome?.message ?? (hold > 0 ? TOO_LONG : fault instanceof SvcError ? fault.message : FAILED);
    // what takes too long once would take too long again: no pauses, the schedule decides
    const after = Math.max(runtime.now(), job.nextRun ?? 0) + hold * 1000;
    // an earlier release stored schedules of shorter gaps
    const later = failed ? after : Math.max(after, afterPace(job.kind, job.nextRun ?? 0));
    const isPostponed = fault instanceof SvcError && fault.code === 'busy';
    const nextRun = isPostponed
      ? after + BUSY_MS + Math.floor(BUSY_MS * this.#random())
      : await afterRun(job, later, failed && hold === 0 ? job.failures + 1 : 0, this.#random);
    // a right that the maker does not have now, it does not have in an hour either
    const isRefused = isRefusal(fault);
    const end = isPostponed ? 'postponed' : isRefused ? 'refused' : failed ? 'failed' : 'succeeded';
    const next = await finishJob(runtime.db, job, run, { message: message.slice(0, MOST_CHARACTERS), end, nextRun, hold });
    const cause = fault instanceof SvcError ? fault.cause : fault;
    report(runtime, job, run, {
      ms: runtime.now() - progress.begun,
      outcome: end,
      status: failed ? (fault instanceof SvcError ? fault.status : 500) : 200,
      rows: outcome?.rows,
      ...(fault instanceof SvcError ? { code: fault.code } : {}),
      ...(cause === undefined ? {} : { cause: loggedLine(cause) }),
    });
    return next === undefined ? runtime.now() : (next ?? undefined);
  }

  async #progress(): Promise<Progress | undefined> {
    const count = await this.#storage.get('pieces');
    if (typeof count !== 'number') return undefined;
    const pieces = await Promise.all(Array.from({ length: count }, (_, i) => this.#storage.get(`piece${i}`)));
    // an earlier release did not store the beginning
    return { begun: this.#runtime().now(), ...(JSON.parse(pieces.join('')) as Omit<Progress, 'begun'>) };
  }

  /** Stores the state of a run. A value of the storage has a limited size. */
  async #keep(progress: Progress): Promise<void> {
    const text = JSON.stringify(progress);
    const count = Math.ceil(text.length / PIECE_CHARACTERS);
    for (let i = 0; i < count; i++) await this.#storage.put(`piece${i}`, text.slice(i * PIECE_CHARACTERS, (i + 1) * PIECE_CHARACTERS));
    await this.#storage.put('pieces', count);
  }

  async #forget(): Promise<void> {
    const count = Number(await this.#storage.get('pieces'));
    await this.#storage.delete('pieces');
    for (let i = 0; i < count; i++) await this.#storage.delete(`piece${i}`);
  }

  /** Runs a step, and stops waiting for it when its time is over. */
  async #within(runtime: Runtime, { planned, run, state }: Progress): Promise<{ outcome?: Outcome; fault?: unknown; hold: number }> {
    const control = new AbortController();
    const { signal } = control;
    // a timer that is left would keep the object in memory
    const timer = setTimeout(() => control.abort(), STEP_MS);
    const over = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const work = runStep(this.#run, runtime, planned, run, state, signal);
    try {
      return { outcome: await Promise.race([work, over]), hold: 0 };
    } catch (fault) {
      work.catch(() => undefined);
      return { fault, hold: signal.aborted ? STATEMENT_SECONDS : 0 };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What a run did, for its line. */
interface Run {
  readonly ms: number;
  readonly outcome: RunEnd['end'] | 'lost' | 'stopped';
  readonly status: number;
  readonly rows?: number | undefined;
  readonly code?: string;
  readonly cause?: string;
}

/** Writes the line of a run, and counts it (docs/operating.md#runs-of-jobs). The line has no values. */
function report(runtime: Pick<Runtime, 'log' | 'measured'>, job: StoredJob, run: string | null, { ms, ...did }: Run): void {
  const isFault = did.outcome === 'lost' || (did.outcome === 'failed' && did.status >= 500);
  const line = {
    level: isFault ? 'error' : did.outcome === 'failed' || did.outcome === 'refused' ? 'warn' : 'info',
    event: 'job',
    request_id: run,
    job: job.id,
    name: job.name,
    kind: job.kind,
    ontology: job.ontology,
    user: job.makerName,
    ms: Math.round(ms),
    ...did,
  };
  runtime.log(line);
  runtime.measured?.({ ...line, method: 'JOB', path: job.kind, job: job.name });
}

/** A sweep calls at most this many objects. */
const MOST_WOKEN = 800;
const AT_ONCE = 40;

/** Wakes the jobs that run soon or should have run: an object whose alarm was lost gets another one. What fails is logged, and tried again by the next sweep. */
export async function sweepJobs(runtime: Pick<Runtime, 'db' | 'jobs' | 'log'>): Promise<void> {
  const { jobs } = runtime;
  if (jobs === undefined) return;
  try {
    const due = await dueJobs(runtime.db, MOST_WOKEN);
    for (let i = 0; i < due.length; i += AT_ONCE) {
      const woken = await Promise.allSettled(due.slice(i, i + AT_ONCE).map(({ id, nextRun }) => jobs.wake(id, nextRun)));
      for (const w of woken) if (w.status === 'rejected') runtime.log({ level: 'warn', event: 'job_not_woken', message: loggedLine(w.reason) });
    }
  } catch (error) {
    runtime.log({ level: 'warn', event: 'jobs_not_swept', message: loggedLine(error) });
  }
}
