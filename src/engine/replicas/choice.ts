/** Which replica an isolate asks next: what it remembers of each one, and the choice between them. */

/** What an isolate remembers of a replica. */
export interface ReplicaState {
  /** When the statements began that have not ended. The entry of a request that the runtime ended stays, so old ones are dropped. */
  begun: number[];
  /** Moving average of the times to the first bytes of answers, in milliseconds; 0: none yet. */
  latency: number;
  /** When the average last changed. */
  measuredAt: number;
  /** Failures in a row. */
  failures: number;
  /** It is not asked before this time. */
  restsUntil: number;
  /** One statement has to try it after its rest. */
  isOnTrial: boolean;
  /** The last position that it has replayed. */
  lsn: bigint;
}

export const newReplica = (): ReplicaState => ({ begun: [], latency: 0, measuredAt: 0, failures: 0, restsUntil: 0, isOnTrial: false, lsn: 0n });

/** The share of a new time in the average. */
const SHARE = 0.3;
/** In this time, a latency that is not measured again counts half, so that a replica that was slow is tried again. */
const HALF_LIFE_MS = 10_000;
/** A replica that fails rests for this time, and twice as long after each further failure. */
const REST_MS = 1000;
const LONGEST_REST_MS = 60_000;
/** When the rest of a replica ends, one statement tries it, and the others wait this long for the result. */
const TRIAL_MS = 3000;

/** How busy a replica is: the time that one more statement is expected to take. */
export function loadOf(state: ReplicaState, now: number, timeoutMs: number): number {
  const running = state.begun.filter((at) => now - at < timeoutMs).length;
  const latency = state.latency * 0.5 ** (Math.max(0, now - state.measuredAt) / HALF_LIFE_MS);
  return (running + 1) * (latency + 1);
}

/**
 * Chooses a replica: of two random ones that do not rest, the one that is less busy. A choice of the least busy of all would send the statements of all
 * isolates to the same one.
 * @param random returns a number from 0 to below 1
 * @returns its index; undefined if all rest
 */
export function choose(states: readonly ReplicaState[], now: number, timeoutMs: number, random: () => number): number | undefined {
  const awake = states.flatMap((state, i) => (state.restsUntil <= now ? [i] : []));
  if (awake.length < 2) return awake[0];
  const first = Math.floor(random() * awake.length);
  const second = (first + 1 + Math.floor(random() * (awake.length - 1))) % awake.length;
  const [a, b] = [awake[first], awake[second]] as [number, number];
  const load = (i: number): number => loadOf(states[i] as ReplicaState, now, timeoutMs);
  return load(a) <= load(b) ? a : b;
}

/** Notes the start of a statement. @returns to call at its end, with the time to its first bytes if it succeeded */
export function begin(state: ReplicaState, now: number, timeoutMs: number): (end: number, succeeded: boolean) => void {
  state.begun = [...state.begun.filter((at) => now - at < timeoutMs), now];
  if (state.isOnTrial) state.restsUntil = now + TRIAL_MS;
  return (end, succeeded) => {
    const at = state.begun.indexOf(now);
    if (at >= 0) state.begun.splice(at, 1);
    if (!succeeded) return;
    const took = Math.max(0, end - now);
    state.latency = state.latency === 0 ? took : state.latency + SHARE * (took - state.latency);
    state.measuredAt = end;
    state.failures = 0;
    state.restsUntil = 0;
    state.isOnTrial = false;
  };
}

/** Notes a failure, after which the replica rests. */
export function fail(state: ReplicaState, now: number): void {
  state.failures++;
  state.isOnTrial = true;
  state.restsUntil = now + Math.min(LONGEST_REST_MS, REST_MS * 2 ** Math.min(state.failures - 1, 10));
}

/** Lets a replica rest that is not broken, but cannot be used now. */
export function rest(state: ReplicaState, until: number): void {
  state.restsUntil = Math.max(state.restsUntil, until);
  state.isOnTrial = true;
}
