/** A statement on a replica, and on the primary if the replica fails, does not answer, or takes long. */
import type { RowStream } from '../rows.ts';

export type First = 'replica' | 'primary';

/** The two ways to run a statement. */
export interface Race {
  readonly now: () => number;
  readonly begun: number;
  /** The time for both. */
  readonly timeoutMs: number;
  /** The primary is not asked with less time left than this. */
  readonly leastMs: number;
  readonly signal: AbortSignal | undefined;
  readonly replica: (signal: AbortSignal) => Promise<RowStream>;
  readonly primary: (signal: AbortSignal, timeoutMs: number) => Promise<RowStream>;
  /** Asks whether the replica answers at all. */
  readonly answers: () => Promise<boolean>;
  /** True for errors that the primary would have, too. */
  readonly isFinal: (error: unknown) => boolean;
  /** Called if the replica does not answer at all. */
  readonly dead: () => void;
}

/** If a replica has not answered after this time, it is asked whether it answers at all. */
export const DOUBT_MS = 2000;

/**
 * Returns the rows of the replica. If the replica fails, does not respond, or has used half of the time, the primary is asked once. The first of the two that
 * succeeds is used, and the other one is cancelled.
 * @throws the error of the primary; of the replica if the primary was not asked
 */
export function firstOf(race: Race): Promise<{ readonly rows: RowStream; readonly first: First }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ rows: RowStream; first: First }>();
  const { aborts, leave } = abortsOf(race.signal);
  const faults: { replica?: unknown; primary?: unknown } = {};
  let isOver = false;
  let isPrimaryAsked = false;
  const timers: ReturnType<typeof setTimeout>[] = [];
  const end = (): void => {
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
  };
  const won = (first: First, rows: RowStream): void => {
    if (isOver) {
      rows.cancel();
      return;
    }
    end();
    aborts[first === 'replica' ? 'primary' : 'replica'].abort();
    resolve({ rows, first });
  };
  const lost = (first: First, error: unknown): void => {
    faults[first] = error;
    if (isOver) return;
    const isFinal = race.signal?.aborted === true || race.isFinal(error);
    if (first === 'replica' && !isFinal) askPrimary();
    const waits = !('replica' in faults) || (isPrimaryAsked && !('primary' in faults));
    if (waits && !isFinal) return;
    end();
    leave();
    reject('primary' in faults ? faults.primary : error);
  };
  const askPrimary = (): void => {
    const left = Math.round(race.timeoutMs - (race.now() - race.begun));
    if (isOver || isPrimaryAsked || left < race.leastMs) return;
    isPrimaryAsked = true;
    race.primary(aborts.primary.signal, left).then(
      (rows) => won('primary', rows),
      (error: unknown) => lost('primary', error),
    );
  };
  const doubt = async (): Promise<void> => {
    if (isOver || (await race.answers()) || isOver) return;
    race.dead();
    askPrimary();
    if (isPrimaryAsked) aborts.replica.abort();
  };
  if (race.timeoutMs > 2 * DOUBT_MS) timers.push(setTimeout(() => void doubt(), DOUBT_MS));
  timers.push(setTimeout(askPrimary, race.timeoutMs / 2));
  race.replica(aborts.replica.signal).then(
    (rows) => won('replica', rows),
    (error: unknown) => lost('replica', error),
  );
  return promise;
}

/** Aborts for both sides; the caller's signal aborts both. */
function abortsOf(signal: AbortSignal | undefined): { readonly aborts: Readonly<Record<First, AbortController>>; readonly leave: () => void } {
  const aborts = { replica: new AbortController(), primary: new AbortController() };
  const leave = (): void => {
    aborts.replica.abort();
    aborts.primary.abort();
  };
  if (signal?.aborted) leave();
  else signal?.addEventListener('abort', leave, { once: true });
  return { aborts, leave };
}
