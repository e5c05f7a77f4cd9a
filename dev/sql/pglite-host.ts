import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import pg from 'pg';

const OPEN_TIMEOUT_MS = 120_000;

interface FromThread {
  ready?: true;
  closed?: true;
  fatal?: string;
  bytes?: Uint8Array;
}

/**
 * Runs PGlite on a data folder in a thread of its own and offers one `pg` client on it. `kill` ends the thread in the
 * middle of whatever it does, as a crash would; the next `client()` starts another on the same files, which recovers
 * by its write-ahead log.
 */
export class PgliteHost {
  readonly dataDir: string;
  #thread: Worker | undefined;
  #client: Promise<pg.Client> | undefined;
  #ending: Promise<unknown> = Promise.resolve();

  constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  /** The client, after a start of the thread where none runs. Rejects where the data folder cannot be opened. */
  client(): Promise<pg.Client> {
    this.#client ??= this.#open().catch(async (error: unknown) => {
      await this.kill();
      throw error;
    });
    return this.#client;
  }

  /** Ends the thread at once; statements under way fail. */
  async kill(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#client = undefined;
    if (thread) this.#ending = thread.terminate();
    await this.#ending;
  }

  /** Closes the database in good order, or after a while at any rate. */
  async close(): Promise<void> {
    const thread = this.#thread;
    if (thread) {
      const closed = new Promise<void>((resolve) => {
        thread.on('message', (m: FromThread) => (m.closed || m.fatal !== undefined) && resolve());
        thread.once('exit', () => resolve());
      });
      thread.postMessage({ close: true });
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([closed, new Promise((resolve) => (timer = setTimeout(resolve, 3000)))]);
      clearTimeout(timer);
    }
    await this.kill();
  }

  async #open(): Promise<pg.Client> {
    await this.#ending;
    const thread = new Worker(new URL('./pglite-thread.ts', import.meta.url), { workerData: { dataDir: this.dataDir }, stdout: true, stderr: true });
    this.#thread = thread;
    // What PostgreSQL logs is not for the terminal of the one who starts the service; errors come back by the protocol.
    let log = '';
    for (const stream of [thread.stdout, thread.stderr]) stream.on('data', (d: Buffer) => (log = (log + d.toString()).slice(-2000)));
    const stream = new ThreadStream(thread);
    const failed = new Promise<never>((_, reject) => {
      thread.on('message', (m: FromThread) => {
        if (m.fatal === undefined) return;
        reject(new Error(lastLine(log) ?? m.fatal));
        if (this.#thread === thread) void this.kill();
      });
      thread.once('error', reject);
      thread.once('exit', () => reject(new Error(lastLine(log) ?? 'the thread of the embedded database ended')));
    });
    failed.catch(() => undefined);
    const ready = new Promise<void>((resolve) => thread.on('message', (m: FromThread) => m.ready && resolve()));
    const timer = setTimeout(() => void thread.terminate(), OPEN_TIMEOUT_MS);
    try {
      await Promise.race([ready, failed]);
      const client = new pg.Client({ user: 'postgres', database: 'postgres', stream: () => stream as never });
      client.on('error', () => undefined);
      await Promise.race([client.connect(), failed]);
      // In PGlite's single-user mode a local change of the session's user is undone only if it was once set like this.
      await client.query('SET SESSION AUTHORIZATION postgres');
      return client;
    } finally {
      clearTimeout(timer);
    }
  }
}

const lastLine = (log: string): string | undefined =>
  log
    .split('\n')
    .filter((line) => /FATAL|PANIC|ERROR/.test(line))
    .at(-1)
    ?.replace(/^.*?(FATAL|PANIC|ERROR):\s*/, '')
    .trim();

/** What `pg` takes for its socket: messages to and from the thread. */
class ThreadStream extends Duplex {
  #thread: Worker;

  constructor(thread: Worker) {
    super({ autoDestroy: true });
    this.#thread = thread;
    thread.on('message', (m: FromThread) => m.bytes && !this.destroyed && this.push(Buffer.from(m.bytes.buffer, m.bytes.byteOffset, m.bytes.byteLength)));
    thread.once('exit', () => this.destroy());
  }

  connect(): void {
    queueMicrotask(() => this.emit('connect'));
  }
  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#thread.postMessage({ bytes: new Uint8Array(chunk) });
    done();
  }

  // `pg` corks the messages of one statement; PGlite wants them in one piece, up to the Sync.
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#thread.postMessage({ bytes: new Uint8Array(Buffer.concat(chunks.map((c) => c.chunk))) });
    done();
  }
}
