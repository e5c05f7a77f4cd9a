/** The storage of one async statement in its Durable Object's SQLite: the job, its state, and its result in pieces. */

/** The part of `DurableObjectStorage` that is used. */
export interface Storage {
  readonly sql: { exec(query: string, ...values: unknown[]): { toArray(): Record<string, unknown>[] } };
  setAlarm(at: number): Promise<void>;
  deleteAll(): Promise<void>;
}

/** `waiting`: the alarm has not fired yet. */
export type JobState = 'waiting' | 'running' | 'completed' | 'error';

export interface StoredJob {
  /** Digest of the caller who may read the result (service/ops/async.ts). */
  readonly owner: string;
  readonly state: JobState;
  /** The job as JSON. */
  readonly job: string;
  /** The version of the ontology that the statement used. */
  readonly version: string | null;
  readonly error: string | null;
}

/** A row of SQLite in a Durable Object has at most 2 MB. */
const PIECE_BYTES = 1024 * 1024;

/** Stores a job and its result. Reads do not write, so an object without a job remains empty. */
export class JobStore {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  get storage(): Storage {
    return this.#storage;
  }

  #rows(query: string, ...values: unknown[]): Record<string, unknown>[] {
    return this.#storage.sql.exec(query, ...values).toArray();
  }

  create(owner: string, job: string): void {
    this.#rows('CREATE TABLE job (owner TEXT NOT NULL, state TEXT NOT NULL, job TEXT NOT NULL, version TEXT, error TEXT)');
    this.#rows('CREATE TABLE piece (n INTEGER PRIMARY KEY, bytes BLOB NOT NULL)');
    this.#rows("INSERT INTO job (owner, state, job) VALUES (?, 'waiting', ?)", owner, job);
  }

  /** Returns the job; undefined if it does not exist or was deleted. */
  read(): StoredJob | undefined {
    if (this.#rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'job'").length === 0) return undefined;
    return this.#rows('SELECT owner, state, job, version, error FROM job')[0] as StoredJob | undefined;
  }

  running(): void {
    this.#rows("UPDATE job SET state = 'running'");
  }

  /** Replaces the text of the job. */
  replace(job: string): void {
    this.#rows('UPDATE job SET job = ?', job);
  }

  completed(version: string | null): void {
    this.#rows("UPDATE job SET state = 'completed', version = ?", version);
  }

  /** Ends the job with an error and deletes the pieces that were stored. */
  failed(error: string, version: string | null): void {
    this.dropPieces();
    this.#rows("UPDATE job SET state = 'error', error = ?, version = ?", error, version);
  }

  /** Deletes the pieces of a result that is not complete. */
  dropPieces(): void {
    this.#rows('DELETE FROM piece');
  }

  addPiece(n: number, bytes: Uint8Array): void {
    this.#rows('INSERT INTO piece (n, bytes) VALUES (?, ?)', n, bytes.slice().buffer);
  }

  pieces(): number {
    return Number(this.#rows('SELECT count(*) AS n FROM piece')[0]?.n);
  }

  piece(n: number): Uint8Array | undefined {
    const [row] = this.#rows('SELECT bytes FROM piece WHERE n = ?', n);
    return row === undefined ? undefined : new Uint8Array(row.bytes as ArrayBuffer);
  }
}

/** Divides a stream of bytes into pieces of `size`. */
export class PieceCutter {
  readonly #size: number;
  readonly #take: (piece: Uint8Array) => void;
  #buffer: Uint8Array;
  #filled = 0;

  constructor(take: (piece: Uint8Array) => void, size = PIECE_BYTES) {
    this.#take = take;
    this.#size = size;
    this.#buffer = new Uint8Array(Math.min(size, 64 * 1024));
  }

  push(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      const part = bytes.subarray(at, at + this.#size - this.#filled);
      this.#reserve(this.#filled + part.length);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === this.#size) this.end();
    }
  }

  /** Passes on the incomplete last piece. */
  end(): void {
    if (this.#filled > 0) this.#take(this.#buffer.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #reserve(length: number): void {
    if (length <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.min(this.#size, Math.max(length, this.#buffer.length * 2)));
    larger.set(this.#buffer.subarray(0, this.#filled));
    this.#buffer = larger;
  }
}
