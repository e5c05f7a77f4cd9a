/** Load on an HTTP server from a separate thread, so that the client is not delayed by other work of this process. */
import { Agent, request as httpRequest } from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { quantile } from './measure.ts';

/** A POST that is sent repeatedly. */
export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The number of simultaneous requests, each on a kept-alive connection. */
  readonly connections: number;
  readonly milliseconds: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50: number;
}

/** Puts load on a server. Throws if an answer is not 200. */
export function load(what: Load): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: what });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

async function run({ url, headers, body, connections, milliseconds }: Load): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const once = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(url, { method: 'POST', agent, headers: all }, (answer) => {
        answer.resume();
        answer.on('error', reject);
        answer.on('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`HTTP ${answer.statusCode}`))));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  const took: number[] = [];
  const begun = performance.now();
  const end = begun + milliseconds;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let now = performance.now(); now < end; ) {
        await once();
        const then = performance.now();
        took.push(then - now);
        now = then;
      }
    }),
  );
  const seconds = (performance.now() - begun) / 1000;
  agent.destroy();
  return { perSecond: took.length / seconds, p50: quantile(took, 0.5) };
}

if (!isMainThread && workerData !== null) parentPort?.postMessage(await run(workerData as Load));
