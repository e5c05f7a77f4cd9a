import pg from 'pg';
import type { Answer } from './answer.ts';
import type { Backend } from './backend.ts';
import { canceller } from './canceller.ts';
import { asFault, cancelled } from './fault.ts';
import { beginOf, type Login, RequestFault, type SqlRequest } from './protocol.ts';
import { runStatement, TypeCatalog } from './statement.ts';

/** The PostgreSQL connection for a login of the endpoint: the client's settings, or undefined to refuse the login. */
export type Connect = (login: Login) => pg.ClientConfig | undefined;

interface Place {
  config: pg.ClientConfig;
  pool: pg.Pool;
  types: TypeCatalog;
}

/** A PostgreSQL server for the endpoint: a pool for each user and database, a session for each request. */
export class PgBackend implements Backend {
  #connect: Connect;
  #max: number;
  #places = new Map<string, Place>();

  constructor(connect: Connect, { max = 10 } = {}) {
    this.#connect = connect;
    this.#max = max;
  }

  accepts(login: Login): boolean {
    return this.#connect(login) !== undefined;
  }

  async run(request: SqlRequest, answer: Answer, signal: AbortSignal): Promise<() => Promise<void>> {
    const place = this.#place(request.login);
    const client = await place.pool.connect().catch((error: unknown) => {
      throw reachFault(error);
    });
    // A client that loses its connection between two statements emits an error, which would end the process.
    client.on('error', ignore);
    const { start, stop } = canceller(place.config, client);
    signal.addEventListener('abort', start, { once: true });
    const release = async () => {
      signal.removeEventListener('abort', start);
      // The last cancellation must have arrived before another request gets the session.
      await stop();
      try {
        if (client.getTransactionStatus() !== 'I') await client.query('ROLLBACK');
        await client.query('DISCARD ALL');
        client.off('error', ignore);
        client.release();
      } catch (error) {
        client.release(error as Error);
      }
    };
    try {
      await this.#statements(client, request, answer, place.types, start, signal);
      return release;
    } catch (error) {
      await release();
      throw error instanceof Error && /^Connection terminated|ECONNRESET/.test(error.message) ? reachFault(error) : error;
    }
  }

  async close(): Promise<void> {
    const places = [...this.#places.values()];
    this.#places.clear();
    await Promise.all(places.map(({ pool }) => pool.end()));
  }

  async #statements(client: pg.PoolClient, request: SqlRequest, answer: Answer, types: TypeCatalog, stop: () => void, signal: AbortSignal): Promise<void> {
    const run = (i: number) => runStatement(client as unknown as pg.Client, request.statements[i]!, request.rawText, answer, types, stop, signal);
    if (!request.batch) return run(0);
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
      await run(i);
    }
    answer.write(']}');
    await control('COMMIT');
  }

  #place(login: Login): Place {
    const key = JSON.stringify(login);
    let place = this.#places.get(key);
    if (!place) {
      const config = this.#connect(login);
      if (!config) throw new RequestFault(401, 'the login is refused');
      const pool = new pg.Pool({ ...config, max: this.#max, connectionTimeoutMillis: 10_000, idleTimeoutMillis: 60_000 });
      pool.on('error', ignore);
      place = { config, pool, types: new TypeCatalog() };
      this.#places.set(key, place);
    }
    return place;
  }
}

function ignore(): void {}

/** The error if no session is available, without addresses and credentials. */
function reachFault(error: unknown): unknown {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (code === '28P01' || code === '28000') return new RequestFault(401, 'the login is refused', code);
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]+$/.test(code)) return asFault(error);
  return new RequestFault(500, 'the database cannot be reached', '08006');
}
