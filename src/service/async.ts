/**
 * Statements that run on after their request (docs/design/statements-and-versions.md#statements-that-run-on): what is kept of one, how it begins, and how it
 * runs.
 */
import type { Caller, Principal } from '../auth/authenticate.ts';
import { type Earlier, earlierOf, resume } from '../auth/resume.ts';
import { sha256 } from '../auth/tokens.ts';
import { SvcError } from '../errors.ts';
import type { Presentation } from '../nesting/presentation.ts';
import { sameName } from '../ontology/names.ts';
import { attachedDatasource } from './datasource.ts';
import { findOntology, requireOntology, upToDate } from './lookup.ts';
import { type ReadingRights, rightsOf } from './reading-rights.ts';
import type { Answer, Runtime, ServiceRequest } from './runtime.ts';
import { runScript, type Script } from './script.ts';
import { Spending } from './spending.ts';

/** A statement that waits for its turn: plain data, so that it can be stored. */
export interface AsyncJob {
  /** The `response_id`. */
  readonly id: string;
  readonly caller: Earlier & Pick<Principal, 'name'>;
  /** Who may ask for the result (`ownerOf`). */
  readonly owner: string;
  /** The rights by which it is answered. */
  readonly rights: ReadingRights;
  readonly script: Script;
  readonly requestId: string;
  /** The version of the ontology that its caller has seen. */
  readonly knownVersion: string | null;
  /** How its rows are to look. */
  readonly presentation: Presentation;
}

/** How a statement stands. `first` is the first piece of the rows' JSON array, `pieces` how many there are. */
export type AsyncPoll =
  | { readonly state: 'running' }
  | { readonly state: 'completed'; readonly version: string | null; readonly pieces: number; readonly first: Uint8Array; readonly rights: ReadingRights }
  | { readonly state: 'error'; readonly version: string | null; readonly error: string; readonly rights: ReadingRights };

/** Where statements run on: one object a statement, named by its id. */
export interface AsyncStatements {
  /** Stores the job, so that it runs whatever happens to the request. */
  start(job: AsyncJob): Promise<void>;
  /** null: it does not exist (any more), or has another owner. */
  poll(id: string, owner: string): Promise<AsyncPoll | null>;
  /** A further piece of the rows; null: they are gone. */
  piece(id: string, owner: string, n: number): Promise<Uint8Array | null>;
}

/**
 * The owner of a result: a digest of the user, of the tenant and claims of its credential, and of its actor. Rows that a policy admits under one claim are not
 * read under another.
 */
export const ownerOf = ({ userId, tenant, claims, actor }: Principal): Promise<string> =>
  sha256(JSON.stringify([userId, tenant, Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1)), actor?.userId ?? null]));

/** Whether the caller has the rights still. What was remembered of it may be older than the statement. @throws SvcError 503 */
async function hasStill(request: ServiceRequest, rights: ReadingRights): Promise<boolean> {
  return (await has(request.caller, rights)) || (await has(await request.caller.refresh(), rights));
}

async function has(caller: Caller, { ontology, digest }: ReadingRights): Promise<boolean> {
  const row = ontology === null ? undefined : findOntology(caller, ontology);
  return (ontology === null || row !== undefined) && (await rightsOf(caller, row)).digest === digest;
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const unavailable = (cause?: unknown): SvcError =>
  new SvcError(503, 'async_unavailable', 'Statements cannot be run in the background at the moment', {
    hint: 'Try again in a few seconds, or send the statement without x-async',
    headers: { 'retry-after': '5' },
    cause,
  });

function statements({ runtime }: ServiceRequest): AsyncStatements {
  if (runtime.asyncStatements !== undefined) return runtime.asyncStatements;
  throw new SvcError(503, 'not_configured', 'This service runs no statements in the background', { hint: 'Send the statement without x-async' });
}

/**
 * Lets a script run on after its request; the answer is its id. What the address names is checked first, what the text
 * says when it runs.
 * @throws SvcError 404 `unknown_ontology`, 400 `unknown_datasource`, 503
 */
export async function startAsync(request: ServiceRequest, script: Script, presentation: Presentation): Promise<string> {
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
    rights: await rightsOf(caller, row),
    script,
    requestId: request.requestId,
    knownVersion: row?.version ?? null,
    presentation,
  };
  try {
    await running.start(job);
  } catch (error) {
    throw unavailable(error);
  }
  return id;
}

/**
 * The state of a statement; null if it does not exist (any more), if the caller is not its owner (`ownerOf`), or if it has ended and the caller's rights have changed
 * since it began.
 * @throws SvcError 503
 */
export async function pollAsync(request: ServiceRequest, id: string): Promise<AsyncPoll | null> {
  const key = id.toLowerCase();
  if (!ID.test(key)) return null;
  try {
    const poll = await statements(request).poll(key, await ownerOf(request.caller.principal));
    return poll !== null && poll.state !== 'running' && !(await hasStill(request, poll.rights)) ? null : poll;
  } catch (error) {
    throw error instanceof SvcError ? error : unavailable(error);
  }
}

/** The rows of a completed statement as the pieces of a JSON array; fails where they are deleted meanwhile. */
export async function* asyncRows(
  request: ServiceRequest,
  id: string,
  { pieces, first }: AsyncPoll & { readonly state: 'completed' },
): AsyncGenerator<Uint8Array> {
  yield first;
  if (pieces <= 1) return;
  const owner = await ownerOf(request.caller.principal);
  for (let n = 1; n < pieces; n++) {
    const piece = await statements(request).piece(id.toLowerCase(), owner, n);
    if (piece === null) throw new Error('the result was deleted while it was sent');
    yield piece;
  }
}

/**
 * Runs a job with the rights that its caller has now, under ASYNC_TIMEOUT_MS.
 * @param changedRights is called with the rights by which the answer or the error may be read, if the script has changed something
 * @throws SvcError as `runScript`
 */
export async function runJob(
  runtime: Runtime,
  job: AsyncJob,
  signal: AbortSignal,
  about: ServiceRequest['about'],
  changedRights: (rights: ReadingRights) => void,
): Promise<Answer> {
  const { config, db, now, waitUntil } = runtime;
  const caller = await resume(job.caller, { db, now, waitUntil });
  const patient: Runtime = { ...runtime, config: { ...config, statementTimeoutMs: config.asyncTimeoutMs } };
  let changed = false;
  const noted = (): void => {
    changed = true;
  };
  const { requestId, knownVersion } = job;
  try {
    return await runScript({ runtime: patient, caller, requestId, spending: new Spending(), signal, knownVersion, about, noted }, job.script);
  } finally {
    if (changed) {
      const after = await resume(job.caller, { db, now, waitUntil });
      changedRights(await rightsOf(after, findOntology(after, job.script.ontology)));
    }
  }
}
