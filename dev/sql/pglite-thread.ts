// The thread of PGlite: it exchanges bytes of PostgreSQL's wire protocol. One long statement blocks only this
// thread, and the thread's owner can end it at any time.
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';

const CHUNK = 64 * 1024;
const port = parentPort!;
const { dataDir } = workerData as { dataDir: string };

try {
  const database = await PGlite.create(dataDir);
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
