/** The server mode of the Model Context Protocol's conformance runner, which does not support credentials: a proxy adds the key. */
import { spawn } from 'node:child_process';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export const RUNNER = fileURLToPath(new URL('../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;

/** A proxy for a service that adds the key to each request; everything else, including the host, is unchanged. */
export interface KeyProxy {
  readonly origin: string;
  close(): Promise<void>;
}

export async function addKey(service: string, key: string): Promise<KeyProxy> {
  const { hostname, port } = new URL(service);
  const server = createServer((asked, answer) => {
    const { method, url: path, headers } = asked;
    const passed = httpRequest({ hostname, port, method, path, headers: { ...headers, 'x-api-key': key }, setHost: false, agent: false }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.on('error', () => answer.destroy()).pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** The results of the runner, each by `<scenario>:<check>`. */
export interface Outcome {
  /** 0: every failure is in the baseline, and every entry of the baseline fails. */
  readonly code: number | null;
  readonly scenarios: number;
  readonly passed: number;
  /** Failures that are in the baseline. */
  readonly expected: readonly string[];
  readonly text: string;
}

/** Runs every scenario of a revision against the MCP server at `url`. `baseline`: file of the failures to expect; warnings count as such. */
export function runScenarios(url: string, revision: string, baseline: string): Promise<Outcome> {
  const args = [RUNNER, 'server', '--url', url, '--suite', 'all', '--spec-version', revision, '--expected-failures', baseline];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' } });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (text += part));
    child.once('error', reject);
    child.once('close', (code) => {
      const count = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? Number.NaN);
      const expected = [...text.matchAll(/^ {2}~ (\S+)$/gm)].map(([, entry]) => entry as string);
      resolve({ code, scenarios: count(/\((\d+) scenarios\)/), passed: count(/^Total: (\d+) passed/m), expected, text });
    });
  });
}
