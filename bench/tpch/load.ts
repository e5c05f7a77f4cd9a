/** Loads the tables into a PostgreSQL or into PGlite, by COPY. */
import type { PGlite } from '@electric-sql/pglite';
import type { Client, Connection, Submittable } from 'pg';
import { tables } from './generate.ts';
import { sizesOf } from './sizes.ts';

/** The destination of the tables. */
export interface Target {
  exec(sql: string): Promise<unknown>;
  /** Writes rows in the text format of COPY to `table`. */
  copy(table: string, pieces: Iterable<string>): Promise<void>;
}

/** Creates the schema `tpch` and fills it. Foreign keys are not declared: neither our planner nor PostgreSQL's uses them here. */
export async function loadTpch(target: Target, scale: number): Promise<void> {
  const sizes = sizesOf(scale);
  await target.exec('CREATE SCHEMA tpch');
  for (const table of tables) {
    await target.exec(table.create);
    await target.copy(`tpch.${table.name}`, table.rows(sizes));
    for (const index of table.indexes) await target.exec(index);
  }
  await target.exec('VACUUM ANALYZE');
}

/** PGlite reads a COPY from a file. */
export const intoPglite = (db: PGlite): Target => ({
  exec: (sql) => db.exec(sql),
  copy: async (table, pieces) => {
    await db.query(`COPY ${table} FROM '/dev/blob'`, [], { blob: new Blob([...pieces]) });
  },
});

export const intoPostgres = (client: Client): Target => ({
  exec: (sql) => client.query(sql),
  copy: (table, pieces) =>
    new Promise((resolve, reject) => {
      client.query(new CopyIn(`COPY ${table} FROM STDIN`, pieces, (error) => (error ? reject(error) : resolve())));
    }),
});

/** Parts of a `pg` connection that COPY needs and that its types do not declare. */
type CopyConnection = Connection & { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void; sendCopyFail(message: string): void };

/** A COPY ... FROM STDIN as a query object of `pg`, which has no such object of its own. */
class CopyIn implements Submittable {
  readonly #sql: string;
  readonly #pieces: Iterable<string>;
  callback: (error?: Error) => void;

  constructor(sql: string, pieces: Iterable<string>, callback: (error?: Error) => void) {
    this.#sql = sql;
    this.#pieces = pieces;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    connection.query(this.#sql);
  }

  async handleCopyInResponse(connection: CopyConnection): Promise<void> {
    try {
      for (const piece of this.#pieces) {
        connection.sendCopyFromChunk(Buffer.from(piece));
        if (connection.stream.writableNeedDrain) await new Promise((resolve) => connection.stream.once('drain', resolve));
      }
      connection.endCopyFrom();
    } catch (error) {
      connection.sendCopyFail(String(error));
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback();
  }

  handleError(error: Error): void {
    this.callback(error);
    this.callback = () => {};
  }
}
