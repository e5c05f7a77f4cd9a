import pg from 'pg';
import type { Answer } from './answer.ts';
import type { Backend } from './backend.ts';
import { canceller } from './canceller.ts';
import { asFault, cancelled, isGone, isMistyped, isStale, SqlFault } from './fault.ts';
import './invalid-messages.ts';
import type { Metrics, PoolState } from './metrics.ts';
import { beginOf, type Login, RequestFault, type SqlRequest, type Statement } from './protocol.ts';
import { Session } from './session.ts';
import { type Patience, SlowReaders } from './slow-readers.ts';
import { type Running, runStatement, TypeCatalog } from './statement.ts';
import { TimeLimit } from './time-limit.ts';

/** The PostgreSQL connection for a login of the endpoint: the client's settings, or undefined to refuse the login. */
export type Connect = (login: Login) => pg.ClientConfig | undefined;

interface Place {
  config: pg.ClientConfig;
  pool: pg.Pool;
  types: TypeCatalog;
  readers: SlowReaders;
}

/** Connections of each login. */
const CONNECTIONS = 10;
/** How long a request waits for a connection. */
const WAIT_MS = 10_000;
/** Both are less than WAIT_MS, so that a request which waits gets the connection of a caller that does not read. */
const PATIENCE: Patience = { slowMs: 5000, patienceMs: 2000 };

/** `ALTER ROLE ... SET` applies to the next login: a session that is in use all the time would never have the new setting. */
const LIFETIME_SECONDS = 600;

/** How long PostgreSQL may take to cancel a statement, or to reset a session. A server that the network has lost never answers. */
const GIVE_UP_MS = 30_000;
/** The kernel notices a server that the network has lost 10 seconds after this time. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Options of a PgBackend. */
export interface PgBackendOptions {
  /** Connections of each login; default 10. */
  max?: number;
  /** How long a connection is used; default 600. */
  lifetimeSeconds?: number;
  /** How long a caller may keep PostgreSQL waiting while others wait for a connection; default 5000. */
  slowMs?: number;
  /** How long a request waits for a connection until such callers lose theirs; default 2000. */
  patienceMs?: number;
  /** How long PostgreSQL may take to cancel a statement, or to reset a session, until its connection is closed; default 30,000. */
  giveUpMs?: number;
  metrics?: Metrics | undefined;
  /** Called when no connection can be opened, or one is lost. */
  onUnreachable?: ((error: unknown) => void) | undefined;
}

/** A PostgreSQL server for the endpoint: a pool for each user and database, a session for each request. */
export class PgBackend implements Backend {
  #connect: Connect;
  #options: PgBackendOptions;
  #places = new Map<string, Place>();
  #sessions = new WeakMap<pg.PoolClient, Session>();

  constructor(connect: Connect, options: PgBackendOptions = {}) {
    this.#connect = connect;
    this.#options = options;
  }

  accepts(login: Login): boolean {
    return this.#connect(login) !== undefined;
  }

  async run(request: SqlRequest, answer: Answer, signal: AbortSignal): Promise<() => Promise<void>> {
    const place = this.#place(request.login);
    const { metrics } = this.#options;
    const begun = performance.now();
    const client = await this.#client(place).catch((error: unknown) => {
      throw this.#unreached(error);
    });
    metrics?.waited((performance.now() - begun) / 1000);
    metrics?.statements(request.statements.length);
    const { start, stop } = canceller(place.config, client);
    const limit = new TimeLimit(client, this.#options.giveUpMs ?? GIVE_UP_MS);
    const end = () => {
      limit.begin();
      start();
    };
    signal.addEventListener('abort', end, { once: true });
    const session = this.#session(client);
    const release = async () => {
      place.readers.ended(answer);
      signal.removeEventListener('abort', end);
      limit.begin();
      // neither the reset nor the next request of the session waits for a caller that has not read the end of its answer
      (client as unknown as Inner).connection.stream.resume();
      // The last cancellation must have arrived before another request gets the session.
      await stop();
      try {
        await session.clean();
        client.release();
      } catch (error) {
        client.release(error as Error);
      } finally {
        limit.clear();
      }
    };
    try {
      await session.begin();
      await this.#statements({ client, session, types: place.types, readers: place.readers, answer, stop: end, signal }, request);
      return release;
    } catch (error) {
      session.failed(request.statements.map(({ query }) => query));
      await release();
      if (error instanceof SqlFault) metrics?.failed(error.fields.code ?? '');
      throw error instanceof Error && /^Connection terminated|^Client has encountered a connection error|ECONNRESET/.test(error.message)
        ? this.#unreached(error)
        : error;
    }
  }

  /** A connection. If all are in use for a while, answers end whose callers keep theirs without reading. */
  #client({ pool, readers }: Place): Promise<pg.PoolClient> {
    const isFree = pool.idleCount > 0 || pool.totalCount < (this.#options.max ?? CONNECTIONS);
    return isFree ? pool.connect() : readers.makeRoom(pool.connect());
  }

  /** The connections of each role now. */
  pools(): PoolState[] {
    const roles = new Map<string, PoolState>();
    for (const { config, pool } of this.#places.values()) {
      const role = config.user ?? decodeURIComponent(URL.parse(config.connectionString ?? '')?.username ?? '');
      const { active, idle, waiting } = roles.get(role) ?? { active: 0, idle: 0, waiting: 0 };
      roles.set(role, { role, active: active + pool.totalCount - pool.idleCount, idle: idle + pool.idleCount, waiting: waiting + pool.waitingCount });
    }
    return [...roles.values()];
  }

  #unreached(error: unknown): unknown {
    const fault = reachFault(error);
    if (fault instanceof RequestFault && fault.status === 500) {
      this.#options.metrics?.unreachable();
      this.#options.onUnreachable?.(error);
    }
    return fault;
  }

  async close(): Promise<void> {
    const places = [...this.#places.values()];
    this.#places.clear();
    await Promise.all(places.map(({ pool }) => pool.end()));
  }

  async #statements(run: Run, request: SqlRequest): Promise<void> {
    const { client, session, answer, signal } = run;
    if (!request.batch) return single(run, request);
    const control = (sql: string) => {
      if (signal.aborted) throw cancelled();
      return client.query(sql).catch((error: unknown) => {
        throw asFault(error);
      });
    };
    await control(beginOf(request));
    answer.write('{"results":[');
    for (let i = 0; i < request.statements.length; i++) {
      if (i > 0) answer.write(',');
      session.ended(await runStatement(run, request.statements[i]!, request.rawText));
    }
    answer.write(']}');
    await control('COMMIT');
  }

  #session(client: pg.PoolClient): Session {
    let session = this.#sessions.get(client);
    if (session === undefined) {
      session = new Session(client);
      this.#sessions.set(client, session);
    }
    return session;
  }

  #place(login: Login): Place {
    const key = JSON.stringify(login);
    let place = this.#places.get(key);
    if (!place) {
      const config = this.#connect(login);
      if (!config) throw new RequestFault(401, 'the login is refused');
      const { max = CONNECTIONS, lifetimeSeconds = LIFETIME_SECONDS, slowMs = PATIENCE.slowMs, patienceMs = PATIENCE.patienceMs } = this.#options;
      const times = { connectionTimeoutMillis: WAIT_MS, idleTimeoutMillis: 60_000, maxLifetimeSeconds: lifetimeSeconds };
      const pool = new pg.Pool({ ...config, ...KEEP_ALIVE, ...times, max, pipeline: true });
      pool.on('error', ignore);
      // A client that loses its connection between two statements emits an error, which would end the process.
      pool.on('connect', (client) => void client.on('error', ignore));
      place = { config, pool, types: new TypeCatalog(), readers: new SlowReaders({ slowMs, patienceMs }) };
      this.#places.set(key, place);
    }
    return place;
  }
}

function ignore(): void {}

/** A request in progress. */
interface Run extends Running {
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** Parts of `pg`'s clients that its types do not declare. */
interface Inner {
  readonly connection: NodeJS.EventEmitter & { readonly stream: NodeJS.ReadableStream };
}

/**
 * Runs the only statement of a request. A prepared one is sent once more without its plan if PostgreSQL refuses the plan, or the parameters for it. It has done
 * nothing until it answers that it has bound the parameters; afterwards the same errors may be those of a function, or of a procedure that has committed.
 */
async function single(run: Run, { statements, rawText }: SqlRequest): Promise<void> {
  const { session } = run;
  const { connection } = run.client as unknown as Inner;
  const [statement] = statements as [Statement];
  const send = (name: string | undefined) =>
    runStatement({ ...run, name, send: (query) => session.sendWithReset(() => run.client.query(query)) }, statement, rawText);
  const name = session.nameOf(statement.query);
  let isBound = false;
  const onBound = () => {
    isBound = true;
  };
  connection.once('bindComplete', onBound);
  try {
    session.ended(await send(name));
  } catch (error) {
    if (name === undefined || isBound || !(isStale(error) || (isMistyped(error) && statement.params.length > 0))) throw error;
    session.forget(statement.query, isGone(error));
    session.ended(await send(undefined));
  } finally {
    connection.off('bindComplete', onBound);
  }
}

/** The error if no session is available, without addresses and credentials. */
function reachFault(error: unknown): unknown {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === '28P01' || code === '28000') return new RequestFault(401, 'the login is refused', code);
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]+$/.test(code)) return asFault(error);
  return new RequestFault(500, 'the database cannot be reached', '08006');
}
