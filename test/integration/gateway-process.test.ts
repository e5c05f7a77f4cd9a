/** `npm run gateway` as its operator sees it: its log, its metrics, and its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get, request } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort, postgresPrograms, type ScratchPostgres, startScratchPostgres } from '../../dev/scratch-postgres.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const GATEWAY = fileURLToPath(new URL('../../dev/gateway.ts', import.meta.url));

interface Gateway {
  readonly child: ChildProcess;
  readonly port: number;
  readonly metricsPort: number;
  /** What it has printed. */
  readonly log: () => string;
}

const stops: (() => unknown)[] = [];

async function startGateway(database: string, command = [process.execPath, GATEWAY]): Promise<Gateway> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const env = { GATEWAY_DATABASE_URL: database, GATEWAY_USERS: 'reader', GATEWAY_PORT: String(port), GATEWAY_METRICS_PORT: String(metricsPort) };
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: PROJECT, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  stops.push(() => child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => (text += part));
  await expect.poll(() => text).toContain('metrics at');
  return { child, port, metricsPort, log: () => text };
}

const ask = (port: number, query: string, password = 'r'): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'neon-connection-string': `postgres://reader:${password}@h/postgres` },
    body: JSON.stringify({ query, params: [] }),
  });

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

describe.skipIf(postgresPrograms() === undefined)('npm run gateway', () => {
  let scratch: ScratchPostgres;
  beforeAll(async () => {
    scratch = await startScratchPostgres({ passwords: true });
    await scratch.exec("CREATE ROLE reader LOGIN PASSWORD 'r'");
    return () => scratch.stop();
  });

  it('counts what it does, and ends after the request that runs', async () => {
    const { child, port, metricsPort, log } = await startGateway(`postgresql://127.0.0.1:${scratch.port}/postgres`);
    expect((await ask(port, 'SELECT 1 AS one')).status).toBe(200);
    expect((await ask(port, 'SELECT 1 / 0')).status).toBe(400);
    expect((await ask(port, 'SELECT 1', 'wrong')).status).toBe(401);
    const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    await expect.poll(metrics).toContain('svc_gateway_requests_total{status="401"} 1');
    const text = await metrics();
    for (const line of [
      'svc_gateway_requests_total{status="200"} 1',
      'svc_gateway_requests_total{status="400"} 1',
      'svc_gateway_statements_total 2',
      'svc_gateway_errors_total{sqlstate="22012"} 1',
      'svc_gateway_wait_seconds_count 2',
      'svc_gateway_request_seconds_count 3',
      'svc_gateway_connections{role="reader",state="idle"} 1',
      'svc_gateway_waiting{role="reader"} 0',
      'svc_gateway_unreachable_total 0',
    ])
      expect(text.split('\n')).toContain(line);
    // every line has the form of the format
    for (const line of text.trim().split('\n')) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/);
    expect((await fetch(`http://127.0.0.1:${metricsPort}/sql`)).status).toBe(404);
    // a page of another host whose name leads to this machine
    const asked = async (host: string) => (await once(get({ port: metricsPort, path: '/metrics', headers: { host } }), 'response'))[0].statusCode;
    for (const host of ['rebound.example', `rebound.example:${metricsPort}`, '127.0.0.1.rebound.example', 'localhost@rebound.example'])
      expect(await asked(host)).toBe(421);
    for (const host of ['localhost', `LOCALHOST:${metricsPort}`, `127.0.0.1:${metricsPort}`, `[::1]:${metricsPort}`]) expect(await asked(host)).toBe(200);

    const running = ask(port, 'SELECT 7 AS seven FROM pg_sleep(1.5)');
    await expect.poll(metrics).toContain('svc_gateway_connections{role="reader",state="active"} 1');
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    const answer = await running;
    expect([answer.status, ((await answer.json()) as { rows: unknown }).rows]).toEqual([200, [{ seven: 7 }]]);
    expect((await exit)[0]).toBe(0);
    expect(log()).toContain('SIGTERM');
    await expect(ask(port, 'SELECT 1')).rejects.toThrow();
  });

  it('logs a database that it cannot reach, at its start and once for many requests', async () => {
    const nothing = await freePort();
    const { child, port, metricsPort, log } = await startGateway(`postgresql://127.0.0.1:${nothing}/postgres`);
    await expect.poll(log).toContain(`the database 127.0.0.1:${nothing}/postgres cannot be reached: ECONNREFUSED`);
    for (let i = 0; i < 3; i++) expect((await ask(port, 'SELECT 1')).status).toBe(500);
    expect(log().match(/cannot be reached/g)?.length).toBeLessThanOrEqual(2);
    expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toMatch(/^svc_gateway_unreachable_total 3$/m);
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await exit)[0]).toBe(0);
  });

  it('accepts a login during guesses of another address that do not end', async () => {
    const { port } = await startGateway(`postgresql://127.0.0.1:${scratch.port}/postgres`);
    const answers: Promise<unknown>[] = [];
    let [over, refused] = [false, 0];
    const guess = (i: number): Promise<unknown> => {
      const headers = { 'neon-connection-string': `postgres://reader:guess${i}@h/postgres` };
      const sent = request({ port, host: '127.0.0.1', localAddress: '127.0.0.2', agent: false, path: '/sql', method: 'POST', headers });
      sent.end('{"query":"SELECT 1","params":[]}');
      return once(sent, 'response').then(
        ([answer]) => {
          answer.resume();
          if (answer.statusCode === 401) refused++;
        },
        () => undefined,
      );
    };
    const flood = (async () => {
      for (let i = 0; !over; i++) {
        answers.push(guess(i));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    try {
      await expect.poll(() => refused).toBeGreaterThan(3);
      const late = new Promise((resolve) => setTimeout(resolve, 60_000, 'no answer'));
      expect(await Promise.race([ask(port, 'SELECT 1').then((r) => r.status), late])).toBe(200);
    } finally {
      over = true;
      await flood;
    }
  });

  it('closes the connection of a refused request whose body does not end, and refuses a second Host', async () => {
    const { port } = await startGateway(`postgresql://127.0.0.1:${scratch.port}/postgres`);
    const head = (password: string, more: string) =>
      `POST /sql HTTP/1.1\r\nHost: 127.0.0.1\r\nNeon-Connection-String: postgres://reader:${password}@h/postgres\r\n${more}\r\n`;
    const chunk = `100000\r\n${' '.repeat(1024 * 1024)}\r\n`;
    const send = async (text: string, endless: boolean): Promise<string> => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      let got = '';
      socket.on('data', (part) => (got += part)).on('error', () => undefined);
      const closed = once(socket, 'close').catch(() => undefined);
      const more = setInterval(() => endless && socket.writable && socket.writableLength === 0 && socket.write(chunk), 20);
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 60_000))]).finally(() => clearInterval(more));
      const state = socket.destroyed ? 'closed' : 'open';
      socket.destroy();
      return `${got.slice(9, 12)} ${state}`;
    };
    const cases = await Promise.all([
      send(head('wrong', 'Transfer-Encoding: chunked\r\n'), true),
      send(head('r', 'Transfer-Encoding: chunked\r\n'), true),
      send(head('wrong', 'Content-Length: 1000\r\n'), false),
      send(`${head('r', 'Host: other.example\r\nConnection: close\r\nContent-Length: 32\r\n')}{"query":"SELECT 1","params":[]}`, false),
    ]);
    expect(cases).toEqual(['401 closed', '413 closed', '401 closed', '400 closed']);
  });

  it('ends after npm, which passes no signal on', async () => {
    const { child, port, log } = await startGateway(`postgresql://127.0.0.1:${scratch.port}/postgres`, ['npm', 'run', 'gateway']);
    expect((await ask(port, 'SELECT 1 AS one')).status).toBe(200);
    child.kill('SIGTERM');
    await expect
      .poll(() =>
        ask(port, 'SELECT 1').then(
          () => 'answers',
          () => 'has ended',
        ),
      )
      .toBe('has ended');
    expect(log()).toContain('ends after the requests that run');
  });
});
