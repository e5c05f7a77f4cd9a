/** The built Worker in workerd, over a local database, called by Node's own HTTP client, which does not correct requests. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type Running, SERVICE_BINDINGS, serviceSettings, startScripts } from '../../../bench/lib/stack.ts';
import type { LocalPostgres } from '../../../dev/testing.ts';
import { buildConsole } from '../../../scripts/build-console.ts';
import { builtService } from './built.ts';

/** An answer, read to its end. */
export interface WorkerAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The transfer was aborted before its end. */
  readonly broken: boolean;
}

export interface WorkerRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
}

/** Services of one build, each with its own settings. */
export interface BuiltWorkers<Name extends string> {
  readonly urls: Readonly<Record<Name, string>>;
  readonly token: string;
  stop(): Promise<void>;
}

/** Starts the built service once for each set of settings, all over the same database and catalog. */
export async function startBuiltWorkers<Name extends string>(
  database: LocalPostgres,
  settings: Readonly<Record<Name, Readonly<Record<string, string>>>>,
): Promise<BuiltWorkers<Name>> {
  const [script, console, { adminToken, bindings }] = await Promise.all([builtService(), buildConsole(), serviceSettings({ local: database, name: '' })]);
  const serviceBindings = { ASSETS: { disk: { path: console, writable: false } } };
  const named = Object.entries<Readonly<Record<string, string>>>(settings);
  const running: Running = await startScripts(
    Object.fromEntries(named.map(([name, own]) => [name, { script, bindings: { ...bindings, ...own }, more: { ...SERVICE_BINDINGS, serviceBindings } }])),
  );
  return { urls: running.urls as Record<Name, string>, token: adminToken, stop: running.stop };
}

/** Sends a request on a new connection and reads the answer. @throws Error if no head of an answer arrives within `patienceMs` */
export function ask(base: string, path: string, { method = 'GET', headers = {}, body }: WorkerRequest = {}, patienceMs = 120_000): Promise<WorkerAnswer> {
  const { hostname, port } = new URL(base);
  // by default Node sends no length with DELETE and similar methods
  const all = body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, method, path, headers: all as Record<string, string>, agent: false, timeout: patienceMs }, (response) => {
      const chunks: Buffer[] = [];
      const end = (broken: boolean) =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
          broken,
        });
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => end(true));
      response.on('end', () => end(!response.complete));
    });
    request.on('timeout', () => request.destroy(new Error(`${method} ${path.slice(0, 200)}: no answer in time`)));
    request.on('error', reject);
    request.end(body);
  });
}
