import pg from 'pg';

/** Time between two cancellations of the same statement. */
const AGAIN_MS = 100;
/** The maximum duration of one cancellation. */
const PATIENCE_MS = 5000;

/** Cancels the statement of a session, repeatedly until it is stopped. */
export interface Canceller {
  /** Starts; further calls have no effect. */
  start(): void;
  /** Resolves when no cancellation is running; there are no further ones. */
  stop(): Promise<void>;
}

/** Parts of `pg`'s clients and connections that its types do not declare. */
interface Inner {
  readonly processID: number;
  readonly secretKey: number;
  readonly host: string;
  readonly port: number;
  readonly ssl: unknown;
  readonly sslNegotiation: string;
  readonly connection: pg.Connection & {
    connect(port: number | string, host?: string): void;
    requestSsl(): void;
    cancel(processId: number, secretKey: number): void;
  };
}

/**
 * A canceller of a session, which sends CancelRequest messages (PostgreSQL manual, 55.2.8). They need no login, so the
 * role of the session needs neither a right on pg_cancel_backend nor another connection of its limit. One message is not enough:
 * PostgreSQL ignores a cancellation that arrives while the session is idle, as it is until it has read the statement.
 */
export function canceller(config: pg.ClientConfig, session: pg.ClientBase): Canceller {
  let over: AbortController | undefined;
  let isStopped = false;
  let work: Promise<void> | undefined;
  return {
    start: () => {
      if (isStopped || work !== undefined) return;
      // most sessions are never cancelled
      over = new AbortController();
      work = cancelUntil(over.signal, config, session as unknown as Inner);
    },
    stop: async () => {
      isStopped = true;
      over?.abort();
      await work;
    },
  };
}

async function cancelUntil(over: AbortSignal, config: pg.ClientConfig, session: Inner): Promise<void> {
  while (!over.aborted) {
    await cancel(config, session);
    await pause(over);
  }
}

/** Resolves when the server has closed the connection, which it does after it has sent the signal, or when that has failed. */
function cancel(config: pg.ClientConfig, { processID, secretKey }: Inner): Promise<void> {
  // The client is never connected: it only reads the configuration, and its connection is used.
  const { connection, host, port, ssl, sslNegotiation } = new pg.Client(config) as unknown as Inner;
  return new Promise((resolve) => {
    const timer = setTimeout(() => connection.stream.destroy(), PATIENCE_MS);
    const send = () => connection.cancel(processID, secretKey);
    connection.on('connect', () => (ssl === false ? send() : sslNegotiation !== 'direct' && connection.requestSsl()));
    connection.on('sslconnect', send);
    connection.on('error', () => connection.stream.destroy());
    connection.on('end', () => {
      clearTimeout(timer);
      resolve();
    });
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
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
