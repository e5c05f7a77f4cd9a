/**
 * The process of the Worker in `npm start`: runs the built script in workerd, on its own socket without a proxy before it. Reads its parameters as JSON from
 * the standard input, and prints what the Worker logs. Ends with SIGTERM or SIGINT.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from 'miniflare';
import type { WorkerFacts } from './built.ts';

/** The parameters of the process. */
export interface HostParameters {
  readonly port: number;
  /** The folder with the built modules. */
  readonly folder: string;
  /** The folder with the built console. */
  readonly console: string;
  /** The folder for KV and Durable Objects. */
  readonly persistDir: string;
  /** The settings of the service, as it gets them. */
  readonly settings: Readonly<Record<string, string>>;
}

const parameters = JSON.parse(await text(process.stdin)) as HostParameters;
const facts = JSON.parse(readFileSync(join(parameters.folder, 'worker.json'), 'utf8')) as WorkerFacts;

const names = readdirSync(parameters.folder).filter((n) => /\.(js|mjs|wasm)$/.test(n));
const modules = names
  .sort((a, b) => Number(b === 'index.js') - Number(a === 'index.js'))
  .map((name) => ({
    type: name.endsWith('.wasm') ? ('CompiledWasm' as const) : ('ESModule' as const),
    path: join(parameters.folder, name),
    contents: new Uint8Array(readFileSync(join(parameters.folder, name))),
  }));

const worker: V4WorkerOptions = {
  // its Durable Objects are stored under this name
  name: facts.name,
  compatibilityDate: facts.compatibilityDate,
  compatibilityFlags: [...facts.compatibilityFlags],
  modulesRoot: parameters.folder,
  modules,
  bindings: { ...parameters.settings },
  kvNamespaces: [...facts.kv],
  // Miniflare's own assets would put a proxy before the Worker
  serviceBindings: { ASSETS: { disk: { path: parameters.console, writable: false } } },
  durableObjects: Object.fromEntries(Object.entries(facts.objects).map(([binding, className]) => [binding, { className, useSQLite: true }])),
  unsafeDirectSockets: [{ host: '127.0.0.1', port: parameters.port }],
};

const create = (): Miniflare =>
  new Miniflare(
    convertV4MiniflareOptions({
      workers: [worker],
      log: new Log(LogLevel.ERROR),
      // wrangler dev uses the same folder
      resourcePersistencePath: join(parameters.persistDir, 'v3'),
      handleStructuredLogs: ({ message }) => console.log(message),
    }),
  );
let miniflare = create();

/** How often the start is repeated while the port is in use. */
const ATTEMPTS = 10;

let ending: Promise<void> | undefined;
const end = (code: number): void => {
  ending ??= miniflare.dispose().catch(() => undefined);
  void ending.then(() => process.exit(code));
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(0));

/** Whether workerd did not start because of the port. If workerd ends before Miniflare has read its reason, the message does not say it. */
async function isPortTaken({ message }: Error): Promise<boolean> {
  if (/address already in use/i.test(message)) return true;
  if (!/failed to start/i.test(message)) return false;
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(true));
    server.listen(parameters.port, '127.0.0.1', () => server.close(() => resolve(false)));
  });
}

/**
 * Waits until the Worker listens. The port was free when the start began. A connection of another process may have got it as its own port since then, and ends soon, so
 * the start is repeated for a few seconds.
 */
async function listening(): Promise<void> {
  for (let left = ATTEMPTS; ; left--) {
    try {
      await miniflare.ready;
      return;
    } catch (error) {
      if (left === 0 || ending !== undefined || !(await isPortTaken(error as Error))) throw error;
      console.log('host: the port is in use, trying again');
      await miniflare.dispose().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 500));
      miniflare = create();
    }
  }
}

try {
  await listening();
  console.log(`host: ready on ${(await miniflare.unsafeGetDirectURL(facts.name)).origin}`);
} catch (error) {
  console.error(`error: ${(error as Error).message.split('\n')[0]}`);
  end(1);
}
