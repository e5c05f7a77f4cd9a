/**
 * Asynchronous statements, which continue after their request (docs/design/statements-and-versions.md#statements-that-run-on): starting, running and polling
 * them.
 */
import type { Caller } from '../../auth/authenticate.ts';
import { earlierOf, resume } from '../../auth/resume.ts';
import { quoted, SvcError } from '../../errors.ts';
import type { Presentation } from '../../nesting/presentation.ts';
import { sameName } from '../../ontology/names.ts';
import { attachedDatasource } from '../caller/datasource.ts';
import { findOntology, requireOntology, upToDate } from '../caller/lookup.ts';
import { countedAs, ownerOf } from '../caller/owner.ts';
import { rightsOf } from '../caller/reading-rights.ts';
import type { Answer, AsyncJob, AsyncPoll, AsyncStatements, ReadingRights, RestQuestion, Runtime, Script, ServiceRequest } from '../runtime.ts';
import { Spending } from '../spending.ts';
import { runScript } from './script.ts';

/** True if the caller still has the rights. Its cached snapshot may be older than the statement, so it is refreshed if necessary. @throws SvcError 503 */
async function stillHas(request: ServiceRequest, rights: ReadingRights): Promise<boolean> {
  return (await has(request.caller, rights)) || (await has(await request.caller.refresh(), rights));
}

async function has(caller: Caller, { ontology, digest }: ReadingRights): Promise<boolean> {
  const row = ontology === null ? undefined : findOntology(caller, ontology);
  return (ontology === null || row !== undefined) && (await rightsOf(caller, row, true)).digest === digest;
}

/** The presentation of an answer to a question, whose rows are never nested. */
const PLAIN: Presentation = {
  nested: false,
  formatProperties: false,
  caseSensitivity: false,
  formatBooleans: false,
  ignoreEntityId: false,
  minimizeRelationships: false,
};

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const unavailable = (cause?: unknown): SvcError =>
  new SvcError(503, 'async_unavailable', 'Background statements are currently not available', {
    hint: 'Try again in a few seconds, or send the statement without x-async',
    headers: { 'retry-after': '5' },
    cause,
  });

function statements({ runtime }: ServiceRequest): AsyncStatements {
  if (runtime.asyncStatements !== undefined) return runtime.asyncStatements;
  throw new SvcError(503, 'not_configured', 'This service does not run statements in the background', { hint: 'Send the statement without x-async' });
}

/**
 * Starts a script that continues after its request. The ontology and the datasource are checked now, the text when it runs.
 * @returns the id of the statement
 * @throws SvcError 404 `unknown_ontology`, 400 `unknown_datasource`, 429 `too_many_async`, 503
 */
export const startAsync = (request: ServiceRequest, script: Script, presentation: Presentation): Promise<string> => start(request, { script, presentation });

/** The same for a question about an ontology, which the caller must be allowed to ask. @throws SvcError 404 `unknown_ontology`, 429, 503 */
export const startAsyncQuestion = (request: ServiceRequest, ontology: string, question: RestQuestion): Promise<string> =>
  start(request, { script: { ontology, sql: '', limit: null, datasource: null }, presentation: PLAIN, question });

/** How many times ASYNC_PER_USER may wait or run of what one user sends as others. */
const AS_OTHERS = 10;

/** A statement counts for this time beyond its timeout if nothing ends it. */
const LEASE_GRACE_MS = 60_000;

const tooMany = (most: number, whose: string): SvcError =>
  new SvcError(429, 'too_many_async', `${most} asynchronous statements ${whose} wait or run`, {
    hint: 'Wait until one of them has ended, or send the statement without x-async',
    headers: { 'retry-after': '5' },
  });

/** Counts a job for its user, and starts it. @throws SvcError 429 `too_many_async`, 503 `async_unavailable` */
async function startCounted({ config }: Runtime, running: AsyncStatements, job: AsyncJob): Promise<void> {
  const [key = '', keyOfAll] = countedAs(job.caller);
  const take = async (counted: string, most: number, whose: string): Promise<void> => {
    if (!(await running.take(counted, job.id, most, config.asyncTimeoutMs + LEASE_GRACE_MS))) throw tooMany(most, whose);
  };
  try {
    await take(key, config.asyncPerUser, keyOfAll === undefined ? 'of this user' : `that you send as ${quoted(job.caller.name)}`);
    if (keyOfAll !== undefined) await take(keyOfAll, config.asyncPerUser * AS_OTHERS, 'that you send as other users');
    await running.start(job);
  } catch (error) {
    await Promise.all(countedAs(job.caller).map((counted) => running.release(counted, job.id).catch(() => undefined)));
    throw error instanceof SvcError ? error : unavailable(error);
  }
}

async function start(request: ServiceRequest, { script, presentation, question }: Pick<AsyncJob, 'script' | 'presentation' | 'question'>): Promise<string> {
  const running = statements(request);
  const { ontology } = script;
  const caller = await upToDate(request, ontology);
  const row = findOntology(caller, ontology);
  if (row === undefined && !sameName(ontology, 'system_db') && !/^\s*create\s+ontology\b/i.test(script.sql)) requireOntology(caller, ontology);
  if (script.datasource !== null) attachedDatasource(caller, row, script.datasource);
  if (row !== undefined) request.about(row.name, row.version);
  const id = crypto.randomUUID();
  const job: AsyncJob = {
    id,
    caller: { ...earlierOf(caller.principal), name: caller.principal.name },
    owner: await ownerOf(caller.principal),
    rights: await rightsOf(caller, row, true),
    script,
    requestId: request.requestId,
    permitted: request.permitted,
    ...(request.fresh ? { fresh: true } : {}),
    knownVersion: row?.version ?? null,
    presentation,
    ...(question === undefined ? {} : { question }),
  };
  await startCounted(request.runtime, running, job);
  return id;
}

/**
 * Returns the state of a statement; null if it does not exist or was deleted, if the caller is not its owner (`ownerOf`), or if it has ended and the caller's
 * rights have changed since it began.
 * @throws SvcError 503
 */
export async function pollAsync(request: ServiceRequest, id: string): Promise<AsyncPoll | null> {
  const key = id.toLowerCase();
  if (!ID.test(key)) return null;
  try {
    const poll = await statements(request).poll(key, await ownerOf(request.caller.principal));
    return poll !== null && poll.state !== 'running' && !(await stillHas(request, poll.rights)) ? null : poll;
  } catch (error) {
    throw error instanceof SvcError ? error : unavailable(error);
  }
}

/** How long a caller who still reads a result keeps the rights of its poll, as long as a snapshot of rights. */
const RECHECK_MS = 60_000;

/**
 * Yields the rows of a completed statement as pieces of a JSON array. Fails if they are deleted in the meantime. A slow reader is checked again like a new one:
 * each later piece needs a credential and rights that were valid at most a minute before.
 * @throws SvcError 401, 503
 */
export async function* asyncRows(
  request: ServiceRequest,
  id: string,
  { pieces, first, rights }: AsyncPoll & { readonly state: 'completed' },
): AsyncGenerator<Uint8Array> {
  const { now } = request.runtime;
  let checked = now();
  yield first;
  if (pieces <= 1) return;
  const owner = await ownerOf(request.caller.principal);
  for (let n = 1; n < pieces; n++) {
    if (now() - checked >= RECHECK_MS) {
      checked = now();
      if (!(await has(await request.caller.refresh(), rights))) throw new Error('the rights to the result ended while it was being sent');
    }
    const piece = await statements(request).piece(id.toLowerCase(), owner, n);
    if (piece === null) throw new Error('the result was deleted while it was being sent');
    yield piece;
  }
}

/** What the request of a job reports. */
export type Noting = Pick<ServiceRequest, 'about' | 'answeredBy' | 'dataAsOf'>;

/** The request of a job: the current rights of its caller, and the timeout ASYNC_TIMEOUT_MS. @throws SvcError 401, 503 as `resume` */
export async function jobRequest(
  { config, ...runtime }: Runtime,
  { caller, requestId, permitted = null, fresh, knownVersion }: AsyncJob,
  signal: AbortSignal,
  noting: Noting,
): Promise<ServiceRequest> {
  const patient: Runtime = { ...runtime, config: { ...config, statementTimeoutMs: config.asyncTimeoutMs } };
  return { runtime: patient, caller: await resume(caller, runtime), requestId, spending: new Spending(), signal, permitted, fresh, knownVersion, ...noting };
}

/**
 * Runs the statements of a job.
 * @param changedRights called if the script has changed something, with the rights that are required to read the answer or error
 * @throws SvcError as `runScript`
 */
export async function runJob(
  runtime: Runtime,
  job: AsyncJob,
  signal: AbortSignal,
  noting: Noting,
  changedRights: (rights: ReadingRights) => void,
): Promise<Answer> {
  const request = await jobRequest(runtime, job, signal, noting);
  let changed = false;
  const noted = (): void => {
    changed = true;
  };
  try {
    return await runScript({ ...request, noted }, job.script);
  } finally {
    if (changed) {
      const after = await resume(job.caller, runtime);
      changedRights(await rightsOf(after, findOntology(after, job.script.ontology), true));
    }
  }
}
