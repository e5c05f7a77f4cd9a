/** PostgreSQL servers with SQL endpoints, as datasources. */
import type { ScratchPostgres } from '../../../dev/scratch-postgres.ts';
import { PgBackend } from '../../../dev/sql/pg-backend.ts';
import { startSqlServer } from '../../../dev/sql-server.ts';

/** A server with its SQL endpoint, which connects as one role. */
export interface Place {
  readonly server: ScratchPostgres;
  /** The value of a datasource's variable. */
  readonly secret: string;
  /** Ends the endpoint and the server. */
  readonly stop: () => Promise<void>;
}

/** Starts an endpoint of a server. */
export async function place(server: ScratchPostgres, role = 'reader', database = 'postgres'): Promise<Place> {
  const url = `postgres://${role}@127.0.0.1:${server.port}/${database}`;
  const http = await startSqlServer({ backend: new PgBackend(() => ({ connectionString: url })) });
  const stop = async (): Promise<void> => {
    await http.close();
    await server.stop();
  };
  return { server, secret: JSON.stringify({ url, endpoint: http.endpoint }), stop };
}
