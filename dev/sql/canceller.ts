import pg from 'pg';

/** Time between two cancellations of the same statement. */
const AGAIN_MS = 100;

/** Cancels what a session runs, again and again until it is told that nothing runs any more. */
export interface Canceller {
  /** Begins; further calls do nothing. */
  start(): void;
  /** Resolves when no cancellation is under way; none follows. */
  stop(): Promise<void>;
}

/**
 * A canceller of a session, which works from a connection of its own. Once is not enough: PostgreSQL forgets a
 * cancellation that arrives while the session is idle, as it is until it has read the statement.
 */
export function canceller(config: pg.ClientConfig, processId: number): Canceller {
  const over = new AbortController();
  let work: Promise<void> | undefined;
  return {
    start: () => {
      if (!over.signal.aborted) work ??= cancelUntil(over.signal, config, processId);
    },
    stop: async () => {
      over.abort();
      await work;
    },
  };
}

async function cancelUntil(over: AbortSignal, config: pg.ClientConfig, processId: number): Promise<void> {
  while (!over.aborted) {
    const client = new pg.Client({ ...config, connectionTimeoutMillis: 5000 });
    client.on('error', ignore);
    try {
      await client.connect();
      while (!over.aborted) {
        await client.query('SELECT pg_catalog.pg_cancel_backend($1)', [processId]);
        await pause(over);
      }
    } catch {
      // The connection failed; another one is tried, until the session runs to its own time-out.
      await pause(over);
    } finally {
      await client.end().catch(ignore);
    }
  }
}

const pause = (over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      over.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, AGAIN_MS);
    over.addEventListener('abort', done, { once: true });
    if (over.aborted) done();
  });

function ignore(): void {}
