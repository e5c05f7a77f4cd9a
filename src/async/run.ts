/** The lifecycle of one async statement: it is stored, run by an alarm, kept for ten minutes, and deleted by a second alarm. */
import { loggedLine, SvcError } from '../errors.ts';
import { presentedRows } from '../nesting/stage.ts';
import {
  type Answer,
  type AsyncJob,
  type AsyncPoll,
  asynchronous,
  countedAs,
  MAX_BYTES,
  type Noting,
  type RestQuestion,
  type Runtime,
  resultTooLarge,
} from '../service.ts';
import { JobStore, PieceCutter, type Storage } from './store.ts';

/** How long a result is kept (docs/design/platform-rules.md#async-statements). */
const RETENTION_MS = 10 * 60_000;
/** Added to the statement timeout, so that PostgreSQL cancels the statement before the run is aborted. */
const GRACE_MS = 10_000;
/** How long the end of a statement waits for the object that counts it. */
const RELEASE_MS = 2_000;

const FAILED = 'The service failed to answer this request';
const INTERRUPTED = 'The statement was interrupted; send it again';

export class AsyncRun {
  readonly #store: JobStore;
  /** Called only when the statement runs, not for polls. */
  readonly #runtime: () => Runtime;

  constructor(storage: Storage, runtime: () => Runtime) {
    this.#store = new JobStore(storage);
    this.#runtime = runtime;
  }

  /** Stores the job and schedules it to run immediately. */
  async start(job: AsyncJob): Promise<void> {
    this.#store.create(job.owner, JSON.stringify(job));
    await this.#store.storage.setAlarm(Date.now());
  }

  /** Returns the state of the job, or null if this owner has no job with this id. Does not write. */
  poll(owner: string): AsyncPoll | null {
    const stored = this.#store.read();
    if (stored === undefined || stored.owner !== owner) return null;
    const { state, version, error } = stored;
    if (state !== 'completed' && state !== 'error') return { state: 'running' };
    const { rights, origin } = JSON.parse(stored.job) as Partial<AsyncJob>;
    // stored by an earlier release
    if (rights == null) return null;
    // an error may contain values and parts of the model, so reading it needs the same rights as reading rows
    if (state === 'error') return { state, version, error: error ?? FAILED, rights };
    return { state, version, pieces: this.#store.pieces(), first: this.#store.piece(0) ?? new Uint8Array(), rights, origin };
  }

  /** Returns the nth piece of a completed result, or null if this owner has no such piece. */
  piece(owner: string, n: number): Uint8Array | null {
    const stored = this.#store.read();
    if (stored?.owner !== owner || stored.state !== 'completed') return null;
    return this.#store.piece(n) ?? null;
  }

  /** Handles the alarm: runs a waiting job, or deletes a job whose retention has ended. */
  async alarm(): Promise<void> {
    const stored = this.#store.read();
    if (stored === undefined) return;
    const { storage } = this.#store;
    if (stored.state === 'completed' || stored.state === 'error') {
      await storage.deleteAll();
      return;
    }
    // the alarm was repeated because its first run was interrupted; a statement with changes must not run twice
    const job = JSON.parse(stored.job) as AsyncJob;
    if (stored.state === 'running') {
      await this.#release(job);
      this.#store.failed(INTERRUPTED, null);
    } else await this.#run(job);
    await storage.setAlarm(Date.now() + RETENTION_MS);
  }

  /**
   * Ends the count of the job. This happens before its end is stored, so that a caller who sees the end can send another one. The end of a statement that was
   * committed must be stored, so this takes a short time at most.
   */
  async #release({ caller, id }: AsyncJob): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, RELEASE_MS);
    });
    try {
      const running = this.#runtime().asyncStatements;
      await Promise.race([late, Promise.all(countedAs(caller).map((key) => running?.release(key, id)))]);
    } catch {
      // the count ends with its lease
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(job: AsyncJob): Promise<void> {
    this.#store.running();
    const runtime = this.#runtime();
    const begun = runtime.now();
    let version: string | null = null;
    let ontology: string | null = null;
    let fault: unknown;
    const signal = AbortSignal.timeout(runtime.config.asyncTimeoutMs + GRACE_MS);
    try {
      let origin: AsyncJob['origin'] = {};
      let { rights } = job;
      const noting: Noting = {
        about: (name, of) => {
          ontology = name;
          version = of;
        },
        answeredBy: (datasource, place) => {
          origin = { ...origin, source: [datasource, place] };
        },
        dataAsOf: (asOf) => {
          origin = { ...origin, asOf };
        },
      };
      const changed = (after: AsyncJob['rights']): void => {
        rights = after;
        this.#store.replace(JSON.stringify({ ...job, rights }));
      };
      const answer = await (job.question === undefined
        ? (await asynchronous()).runJob(runtime, job, signal, noting, changed)
        : answerQuestion(runtime, job, job.question, signal, noting));
      await this.#keep(answer, job);
      this.#store.replace(JSON.stringify({ ...job, rights, origin }));
    } catch (error) {
      fault = error;
    }
    await this.#release(job);
    if (fault === undefined) this.#store.completed(version);
    else this.#store.failed(signal.aborted ? 'the statement ran out of time' : fault instanceof SvcError ? fault.message : FAILED, version);
    const cause = fault instanceof SvcError ? fault.cause : fault;
    runtime.log({
      level: fault === undefined || (fault instanceof SvcError && fault.status < 500) ? 'info' : 'error',
      event: 'async',
      request_id: job.requestId,
      response_id: job.id,
      ms: Math.round(runtime.now() - begun),
      user: job.caller.name,
      ontology,
      status: fault === undefined ? 200 : fault instanceof SvcError ? fault.status : 500,
      ...(cause === undefined ? {} : { cause: loggedLine(cause) }),
    });
  }

  /** Stores the rows of an answer. Nobody has read them yet, so a statement whose tables were distributed in another way meanwhile runs once more. @throws SvcError 400 `result_too_large` */
  async #keep(answer: Answer | { readonly kind: 'value'; readonly data: unknown }, job: AsyncJob): Promise<void> {
    try {
      await this.#keepOnce(answer, job);
    } catch (error) {
      const next = answer.kind === 'rows' ? await answer.again?.(error) : undefined;
      if (next === undefined) throw error;
      this.#store.dropPieces();
      await this.#keepOnce(next, job);
    }
  }

  async #keepOnce(answer: Answer | { readonly kind: 'value'; readonly data: unknown }, { presentation }: AsyncJob): Promise<void> {
    let n = 0;
    const cutter = new PieceCutter((piece) => this.#store.addPiece(n++, piece));
    if (answer.kind === 'value') {
      const bytes = new TextEncoder().encode(JSON.stringify(answer.data));
      if (bytes.length > MAX_BYTES) throw resultTooLarge(MAX_BYTES);
      cutter.push(bytes);
    } else if (answer.kind === 'kept') cutter.push(answer.bytes);
    else {
      for await (const chunk of presentedRows(answer, presentation, { maxBytes: MAX_BYTES, owner: answer.owner })) cutter.push(chunk);
    }
    cutter.end();
  }
}

/** Answers a question. The result is the body that the request would have got. @throws SvcError as `answerOver` */
async function answerQuestion(
  runtime: Runtime,
  job: AsyncJob,
  question: RestQuestion,
  signal: AbortSignal,
  noting: Noting,
): Promise<{ readonly kind: 'value'; readonly data: unknown }> {
  const [{ answerOver }, { cutRows }, { jobRequest }] = await Promise.all([import('../llm/rest.ts'), import('../nesting/cut.ts'), asynchronous()]);
  const { data } = await answerOver(await jobRequest(runtime, job, signal, noting), question, cutRows);
  return { kind: 'value', data: { status: 'success', data } };
}
