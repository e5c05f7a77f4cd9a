/**
 * Reads from a replica of a datasource (docs/scale-out.md#reads-from-replicas). The statement and a question about the replica's position are one transaction,
 * so that no row of a replica is returned that lags, was promoted, or has another database. A statement that fails there runs once more, on the primary.
 */
import { cacheOf } from '../../cache.ts';
import { SvcError } from '../../errors.ts';
import type { Datasource } from '../datasource.ts';
import { httpEngine } from '../engine.ts';
import { DatasourceFault, datasourceFailed } from '../errors.ts';
import type { RowStream, RowsRequest } from '../rows.ts';
import { hasBeenRead, keyOf } from '../settings.ts';
import { begin, choose, fail, newReplica, type ReplicaState, rest } from './choice.ts';
import { askPosition, branchesOf, POSITION, type Position, positionOf, type Refusal, refusalOf } from './position.ts';
import { firstOf } from './race.ts';

/** A datasource with replicas. */
export interface Near {
  readonly primary: Datasource;
  /** In the order of the option; undefined: its variable is missing or invalid. */
  readonly replicas: readonly (Datasource | undefined)[];
  readonly maxLagMs: number;
  readonly now: () => number;
  /** Lets work continue after the answer. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  /** Replaces Math.random (for tests). */
  readonly random?: (() => number) | undefined;
}

/** Rows, and who returned them: 0 the primary, 1 the first replica. */
export interface NearRows {
  readonly rows: RowStream;
  readonly place: number;
}

/** A position of the primary, and when it was asked for. */
interface Seen {
  readonly at: number;
  readonly position: Position;
}

/** What an isolate remembers of a primary. */
interface PrimaryState {
  /** The newest one first. */
  seen: readonly Seen[];
  /** When it was last asked. */
  askedAt: number;
}

const primaries = cacheOf<PrimaryState>('engine.primary');
const replicaStates = cacheOf<ReplicaState>('engine.replica');

/** Forgets all primaries and replicas, for tests. */
export function forgetReplicas(): void {
  primaries.clear();
  replicaStates.clear();
}

function kept<T>(cache: ReturnType<typeof cacheOf<T>>, key: string, make: () => T): T {
  let state = cache.get(key);
  if (state === undefined) {
    state = make();
    cache.set(key, state, 512);
  }
  return state;
}

const stateOf = (near: Near, i: number): ReplicaState => kept(replicaStates, `${keyOf(near.primary)}\n${keyOf(near.replicas[i] as Datasource)}`, newReplica);

/** The primary is asked for its position this often in `max_lag`, and so many positions are kept. */
const LOOKS = 3;
const POSITION_TIMEOUT_MS = 2000;
/** A server that is not a replica of the primary is asked again after this time. */
const REFUSED_MS = 60_000;
/** A primary whose position cannot be read is asked again so much later. */
const UNKNOWN_MS = 5000;
/** A replica that lags is asked again after this time at most. */
const LAGGING_MS = 2000;
/** A statement is not repeated with less time than this. */
const LEAST_MS = 200;

/** Runs a statement on the primary. @throws SvcError as `httpEngine.rows` */
export const readPrimary = async ({ primary }: Pick<Near, 'primary'>, request: RowsRequest): Promise<NearRows> => ({
  rows: await httpEngine.rows(primary, request),
  place: 0,
});

/**
 * Runs a statement on a replica, or on the primary if no replica can be used.
 * @throws SvcError as `httpEngine.rows`
 */
export async function readNear(near: Near, request: RowsRequest): Promise<NearRows> {
  const begun = near.now();
  const seen = look(near, begun);
  const usable = near.replicas.flatMap((replica, i) => (replica === undefined ? [] : [i]));
  const states = usable.map((i) => stateOf(near, i));
  // The settings of the primary decide how its statements are planned, and only its own answers say them. Old ones are used until the next answer: replicas
  // must answer while the primary is down.
  const chosen = seen.length === 0 || !hasBeenRead(near.primary) ? undefined : choose(states, begun, request.timeoutMs, near.random ?? Math.random);
  const i = chosen === undefined ? undefined : usable[chosen];
  if (i === undefined) return readPrimary(near, request);
  const replica = near.replicas[i] as Datasource;
  const { rows, first } = await firstOf({
    now: near.now,
    begun,
    timeoutMs: request.timeoutMs,
    leastMs: LEAST_MS,
    signal: request.signal,
    replica: (signal) => onReplica(near, i, { ...request, signal }, seen),
    primary: (signal, timeoutMs) => httpEngine.rows(near.primary, { ...request, signal, timeoutMs }),
    answers: () => isAlive(replica),
    isFinal,
    dead: () => failed(near, i, 'it does not answer'),
  });
  if (first === 'replica') return { rows, place: i + 1 };
  if (near.now() - begun >= request.timeoutMs / 2) failed(near, i, 'it was slower than the primary');
  return { rows, place: 0 };
}

/** Runs a statement on a replica once, and notes how it went. @throws SvcError */
async function onReplica(near: Near, i: number, request: RowsRequest, seen: readonly Seen[]): Promise<RowStream> {
  const state = stateOf(near, i);
  const replica = near.replicas[i] as Datasource;
  const end = begin(state, near.now(), request.timeoutMs);
  const accept = (rows: readonly (readonly unknown[])[] | undefined): void => {
    const position = positionOf(rows);
    const refused = refusalOf(
      position,
      (seen[0] as Seen).position,
      branchesOf(replica, near.primary),
      seen.map((s) => s.position.lsn),
    );
    if (refused !== undefined) throw datasourceFailed(new Refused(refused));
    if (position !== undefined && position.lsn > state.lsn) state.lsn = position.lsn;
  };
  try {
    const rows = await httpEngine.rows(replica, { ...request, retry: false, check: { statement: POSITION, accept } });
    end(near.now(), true);
    return rows;
  } catch (error) {
    end(near.now(), false);
    note(near, i, error);
    throw error;
  }
}

/** A replica that cannot be used. */
class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`the replica is not used: ${refusal}`);
    this.name = 'Refused';
    this.refusal = refusal;
  }
}

/** Decides how long a replica rests after an error. */
function note(near: Near, i: number, error: unknown): void {
  const cause = error instanceof SvcError ? error.cause : error;
  if (cause instanceof Refused) {
    const rests = cause.refusal === 'lag' ? Math.min(LAGGING_MS, near.maxLagMs / LOOKS) : REFUSED_MS;
    pause(near, i, rests, cause.refusal);
  } else if (isPermission(cause)) pause(near, i, REFUSED_MS, 'the role may not read its position or its tables');
  else if (error instanceof SvcError && error.status === 502 && !isMissing(cause)) failed(near, i, 'it failed');
}

const isPermission = (cause: unknown): boolean => cause instanceof DatasourceFault && cause.sqlstate === '42501';
/** A table, column or schema that the replica may not have yet. */
const isMissing = (cause: unknown): boolean => cause instanceof DatasourceFault && /^(42|3F)/.test(cause.sqlstate ?? '');

function pause(near: Near, i: number, ms: number, reason: string): void {
  rest(stateOf(near, i), near.now() + ms);
  logged(near, i, reason);
}

function failed(near: Near, i: number, reason: string): void {
  fail(stateOf(near, i), near.now());
  logged(near, i, reason);
}

const logged = ({ log, primary }: Near, i: number, reason: string): void =>
  log({ level: 'warn', event: 'replica', datasource: primary.name, replica: i + 1, reason });

/** True for errors that the primary would not spare: the answer is too large for the service. */
const isFinal = (error: unknown): boolean => error instanceof SvcError && (error.code === 'result_too_large' || error.code === 'busy');

async function isAlive(replica: Datasource): Promise<boolean> {
  try {
    await askPosition(replica, 1);
    return true;
  } catch (error) {
    // it has answered, with an error
    return error instanceof SvcError && error.cause instanceof DatasourceFault && error.cause.sqlstate !== undefined;
  }
}

const isPosition = (value: unknown): value is Position => typeof (value as Partial<Position> | undefined)?.lsn === 'bigint';

/** The recent positions of the primary. If the newest one is not new, the primary is asked in the background. */
function look(near: Near, now: number): readonly Seen[] {
  const { primary, maxLagMs } = near;
  const state = kept<PrimaryState>(primaries, keyOf(primary), () => ({ seen: [], askedAt: Number.NEGATIVE_INFINITY }));
  if (now - state.askedAt >= maxLagMs / LOOKS) {
    state.askedAt = now;
    near.waitUntil(see(near, state, now));
  }
  return state.seen.filter((s) => now - s.at <= maxLagMs);
}

async function see(near: Near, state: PrimaryState, at: number): Promise<void> {
  const before = near.replicas.map((replica, i) => (replica === undefined ? 0n : stateOf(near, i).lsn));
  const fault = (error: unknown): unknown => (error instanceof SvcError ? error.cause : error);
  const position = await askPosition(near.primary, POSITION_TIMEOUT_MS).catch(fault);
  if (!isPosition(position) || position.isStandby) {
    state.askedAt = at + (isPermission(position) ? REFUSED_MS : UNKNOWN_MS);
    const reason = isPermission(position) ? 'the role may not read the position of the primary' : 'the position of the primary is unknown';
    near.log({ level: 'warn', event: 'replica', datasource: near.primary.name, replica: 0, reason });
    return;
  }
  const [last] = state.seen;
  const isSame = last === undefined || (last.position.identity === position.identity && last.position.timeline === position.timeline);
  state.seen = [{ at, position }, ...(isSame ? state.seen : [])].slice(0, LOOKS + 1);
  // a standby of this primary was never ahead of it; one that was follows another server
  before.forEach((lsn, i) => {
    if (lsn <= position.lsn) return;
    stateOf(near, i).lsn = 0n;
    pause(near, i, REFUSED_MS, 'it was ahead of the primary');
  });
}
