import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import pg from 'pg';

const OPEN_TIMEOUT_MS = 120_000;
/**
 * The stack of the thread. PostgreSQL's check of its own stack (max_stack_depth, 2 MB in PGlite) must come first: the stack of JavaScript, which the calls of
 * WebAssembly use too, was full before with Node's default of 4 MB.
 */
const STACK_MB = 64;

interface FromThread {
  ready?: true;
  closed?: true;
  fatal?: string;
  bytes?: Uint8Array;
}

/**
 * Runs PGlite on a data folder in a separate thread and provides one `pg` client for it. `kill` ends the thread at
 * any point, like a crash; the next `client()` starts another one on the same files, which recovers
 * from the write-ahead log.
 */
export class PgliteHost {
  readonly dataDir: string;
  #thread: Worker | undefined;
  #client: Promise<pg.Client> | undefined;
  #ending: Promise<unknown> = Promise.resolve();

  readonly #stackMb: number;

  /** `stackMb`: another size of the thread's stack (for tests). */
  constructor(dataDir: string, stackMb = STACK_MB) {
    this.dataDir = dataDir;
    this.#stackMb = stackMb;
  }

  /** The client. Starts the thread if it does not run yet. Rejects if the data folder cannot be opened. */
  client(): Promise<pg.Client> {
    this.#client ??= this.#open().catch(async (error: unknown) => {
      await this.kill();
      throw error;
    });
    return this.#client;
  }

  /** Ends the thread at once; running statements fail. */
  async kill(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#client = undefined;
    if (thread) this.#ending = thread.terminate();
    await this.#ending;
  }

  /** Closes the database cleanly, or after a time limit. */
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
    const resourceLimits = { stackSizeMb: this.#stackMb };
    const thread = new Worker(new URL('./pglite-thread.ts', import.meta.url), {
      workerData: { dataDir: this.dataDir },
      stdout: true,
      stderr: true,
      resourceLimits,
    });
    this.#thread = thread;
    // PostgreSQL's log is not shown to the user of `npm start`; errors are returned by the protocol.
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
      thread.once('exit', () => {
        reject(new Error(lastLine(log) ?? 'the thread of the embedded database ended'));
        if (this.#thread === thread) void this.kill();
      });
    });
    failed.catch(() => undefined);
    const ready = new Promise<void>((resolve) => thread.on('message', (m: FromThread) => m.ready && resolve()));
    const timer = setTimeout(() => void thread.terminate(), OPEN_TIMEOUT_MS);
    try {
      await Promise.race([ready, failed]);
      const client = new pg.Client({ user: 'postgres', database: 'postgres', stream: () => stream as never });
      client.on('error', () => undefined);
      await Promise.race([client.connect(), failed]);
      // In PGlite's single-user mode a local change of the session's user is undone only if it was set like this once.
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

/** The socket for `pg`: messages to and from the thread. */
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

  // `pg` corks the messages of one statement; PGlite needs them in one piece, up to the Sync.
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#thread.postMessage({ bytes: new Uint8Array(Buffer.concat(chunks.map((c) => c.chunk))) });
    done();
  }
}
