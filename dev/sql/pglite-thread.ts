// The thread of PGlite: it exchanges bytes of PostgreSQL's wire protocol. One long statement blocks only this
// thread, and the thread's owner can end it at any time.
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';

const CHUNK = 64 * 1024;
const port = parentPort!;
const { dataDir } = workerData as { dataDir: string };

/** The members of PGlite that its types declare private. */
interface Inner {
  readonly mod: { _PostgresMainLoopOnce(): void };
  readonly POSTGRES_MAIN_LONGJMP: number;
}

/**
 * Calls `end` if PostgreSQL's code is interrupted by an exception of JavaScript or WebAssembly, such as a full stack. PGlite ignores it and runs the next message,
 * so that Bind would not find the statement of an interrupted Parse. PostgreSQL's own errors are exceptions with the status POSTGRES_MAIN_LONGJMP.
 */
function watch(database: PGlite, end: (error: unknown) => void): void {
  const { mod, POSTGRES_MAIN_LONGJMP: own } = database as unknown as Inner;
  const run = mod._PostgresMainLoopOnce;
  if (typeof run !== 'function' || typeof own !== 'number') throw new Error('this version of PGlite has another main loop');
  mod._PostgresMainLoopOnce = () => {
    try {
      run();
    } catch (error) {
      if ((error as { status?: unknown } | undefined)?.status !== own) end(error);
      throw error;
    }
  };
}

try {
  const database = await PGlite.create(dataDir);
  watch(database, (error) => {
    port.postMessage({ fatal: String(error) });
    process.exit(1);
  });
  let parts: Uint8Array[] = [];
  let size = 0;
  const send = () => {
    if (size === 0) return;
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    parts = [];
    size = 0;
    port.postMessage({ bytes }, [bytes.buffer]);
  };
  port.on('message', async (message: { bytes?: Uint8Array; close?: true }) => {
    try {
      if (message.close) {
        await database.close();
        port.postMessage({ closed: true });
        port.close();
        return;
      }
      const onRawData = (bytes: Uint8Array) => {
        parts.push(bytes.slice());
        size += bytes.length;
        if (size >= CHUNK) send();
      };
      await database.execProtocolRawStream(message.bytes!, { onRawData, syncToFs: false });
      send();
    } catch (error) {
      port.postMessage({ fatal: String(error) });
    }
  });
  port.postMessage({ ready: true });
} catch (error) {
  port.postMessage({ fatal: String(error) });
}
