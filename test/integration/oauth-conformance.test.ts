/** The authorization server of the built Worker, tested by the runner of the Model Context Protocol's conformance tests. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { hidden, Visitor } from './support/visitor.ts';
import { ask, type BuiltWorkers, startBuiltWorkers } from './support/worker.ts';

const RUNNER = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const PASSWORD = 'Correct-horse-9!';

let database: LocalPostgres;
let workers: BuiltWorkers<'service'>;
let base: string;

beforeAll(async () => {
  database = await borrowPostgres();
  workers = await startBuiltWorkers(database, { service: { MCP_OAUTH_CIMD_ENABLED: 'true' } });
  base = new URL(workers.urls.service).origin;
  const body = JSON.stringify({ query: `CREATE USER olive PASSWORD '${PASSWORD}'` });
  const made = await ask(base, '/svc/api/query', { method: 'POST', headers: { 'x-api-key': workers.token, 'content-type': 'application/json' }, body });
  expect(made.status, made.text).toBe(200);
});
afterAll(async () => {
  await workers?.stop();
  await database?.close();
});

/** An unused port. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((done) => server.close(() => done()));
  return port;
}

/** The user's actions with the URL that the runner prints: logs in, allows, and is redirected to the runner. */
async function visit(address: string): Promise<void> {
  const browser = new Visitor((path, init) => fetch(new URL(path, base), init));
  await browser.logIn('olive', PASSWORD);
  const { pathname, search } = new URL(address);
  const shown = await browser.send(pathname + search);
  const sent = await browser.post(pathname + search, { ...hidden(shown.text), decision: 'allow' }, { origin: base });
  expect([sent.status, sent.location]).toEqual([302, expect.stringContaining('code=')]);
  await (await fetch(sent.location as string)).text();
}

/** Runs it to its end. @returns its output */
function conformance(args: readonly string[]): Promise<{ code: number | null; text: string; visited: Promise<void> }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [RUNNER, 'authorization', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    let visited: Promise<void> | undefined;
    const read = (part: Buffer): void => {
      text += part;
      const address = /(http:\/\/\S+\/svc\/oauth\/authorize\?\S+)\s/.exec(text)?.[1];
      if (address !== undefined) visited ??= visit(address);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => resolve({ code, text, visited: visited ?? Promise.reject(new Error(`nobody was asked to log in: ${text}`)) }));
  });
}

describe('the conformance runner', () => {
  it('reports no failure of the authorization server', async () => {
    const port = await freePort();
    const body = JSON.stringify({ client_name: 'Runner', redirect_uris: [`http://127.0.0.1:${port}/callback`], token_endpoint_auth_method: 'none' });
    const client = await ask(base, '/svc/oauth/register', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(client.status, client.text).toBe(201);
    const { client_id } = JSON.parse(client.text) as { client_id: string };
    const { code, text, visited } = await conformance(['--url', base, '--client-id', client_id, '--resource', `${base}/svc/api/mcp`, '-p', String(port)]);
    await visited;
    expect([code, /Total: .*/.exec(text)?.[0]], text).toEqual([0, 'Total: 3 passed, 0 failed']);
  });
});
