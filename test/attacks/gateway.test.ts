/** What callers without a password can do to the SQL endpoint by the form of their HTTP requests. */
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Backend } from '../../dev/sql/backend.ts';
import { MAX_UNAUTHENTICATED } from '../../dev/sql/unauthenticated.ts';
import { type SqlServer, startSqlServer } from '../../dev/sql-server.ts';

let server: SqlServer;
/** Logins that wait. */
const logins: ((isAccepted: boolean) => void)[] = [];
let most = 0;

beforeAll(async () => {
  const backend: Backend = {
    accepts: () =>
      new Promise((resolve) => {
        logins.push(resolve);
        most = Math.max(most, logins.length);
      }),
    run: () => Promise.reject(new Error('no request is valid')),
    close: async () => undefined,
  };
  server = await startSqlServer({ backend });
});
afterAll(() => server?.close());

const WRONG = 'POST /sql HTTP/1.1\r\nHost: 127.0.0.1\r\nneon-connection-string: postgres://nobody:x@h/app\r\ncontent-length: 2\r\n\r\n{}';

/** A connection, what it has got, and whether it is closed. */
function open({ port } = server) {
  const socket = connect(port, '127.0.0.1');
  const got = { text: '', closed: false };
  socket.on('data', (data) => (got.text += data));
  socket.on('error', () => undefined);
  socket.on('close', () => (got.closed = true));
  return { socket, got };
}
const decide = (isAccepted: boolean): void => {
  for (const one of logins.splice(0)) one(isAccepted);
};

describe('requests that are sent before the answers to those before them', () => {
  it('are answered in order if they are few', async () => {
    const { socket, got } = open();
    socket.write(WRONG.repeat(8));
    await expect.poll(() => logins.length).toBe(8);
    decide(true);
    await expect.poll(() => got.text.split('HTTP/1.1 400').length - 1).toBe(8);
    // the connection stays, and has room for others
    socket.write(WRONG.repeat(8));
    await expect.poll(() => logins.length).toBe(8);
    decide(true);
    await expect.poll(() => got.text.split('HTTP/1.1 400').length - 1).toBe(16);
    socket.destroy();
  });

  it('close the connection if they are many, and no more of them wait', async () => {
    most = 0;
    const { socket, got } = open();
    socket.write(WRONG.repeat(2000));
    await expect.poll(() => got.closed).toBe(true);
    expect(most).toBeLessThanOrEqual(8);
    decide(false);
    const other = open();
    other.socket.write(WRONG);
    await expect.poll(() => logins.length).toBe(1);
    decide(false);
    await expect.poll(() => other.got.text).toContain('HTTP/1.1 401');
    other.socket.destroy();
  });
});

it.each([
  ['a foreign Host', WRONG.replace('Host: 127.0.0.1', 'Host: evil.example'), 421],
  ['a foreign Host after many headers', WRONG.replace('Host: 127.0.0.1', `${'a: b\r\n'.repeat(900)}Host: evil.example`), 421],
  ['two lengths', WRONG.replace('content-length: 2', 'content-length: 2\r\ntransfer-encoding: chunked'), 400],
  ['long headers', WRONG.replace('content-length', `x: ${'y'.repeat(40_000)}\r\ncontent-length`), 431],
  ['another protocol', WRONG.replace('content-length', 'Upgrade: h2c\r\nConnection: Upgrade\r\ncontent-length').replace('127.0.0.1', 'evil'), 421],
])('refuses %s', async (_, text, status) => {
  const { socket, got } = open();
  socket.write(text);
  await expect.poll(() => got.text).toContain(`HTTP/1.1 ${status}`);
  expect(logins).toEqual([]);
  socket.destroy();
});

it('is no proxy', async () => {
  const { socket, got } = open();
  socket.write(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  await expect.poll(() => got.closed).toBe(true);
  expect(got.text).toBe('');
});

describe('connections whose callers have no password', () => {
  let asked: SqlServer;
  const sockets: ReturnType<typeof open>[] = [];
  beforeAll(async () => {
    const backend: Backend = {
      accepts: ({ password }) => password === 'right',
      run: async (_, output) => {
        output.write('{}');
        return async () => undefined;
      },
      close: async () => undefined,
    };
    asked = await startSqlServer({ backend, greetingMs: 1500, idleMs: 300 });
  });
  afterAll(async () => {
    for (const { socket } of sockets) socket.destroy();
    await asked?.close();
  });

  const send = (text: string) => {
    const one = open(asked);
    sockets.push(one);
    one.socket.write(text);
    return one;
  };
  const RIGHT = WRONG.replace('nobody:x@h/app', 'reader:right@h/app').replace('content-length: 2\r\n\r\n{}', 'content-length: 20\r\n\r\n{"query":"SELECT 1"}');
  const statuses = ({ got }: ReturnType<typeof open>) => [...got.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

  it('are limited in number, and do not exclude other callers', async () => {
    const known = send(RIGHT);
    await expect.poll(() => statuses(known)).toEqual(['200']);
    // some are silent, some have got an answer, some send their headers slowly
    const unauthenticated = Array.from({ length: MAX_UNAUTHENTICATED + 200 }, (_, i) => send(['', WRONG, 'POST /sql HTTP/1.1\r\n'][i % 3] ?? ''));
    await expect.poll(() => unauthenticated.filter(({ got }) => got.closed).length).toBeGreaterThanOrEqual(200);
    const other = send(RIGHT);
    await expect.poll(() => statuses(other)).toEqual(['200']);
    known.socket.write(RIGHT);
    await expect.poll(() => statuses(known)).toEqual(['200', '200']);
  });

  it('end with a refusal that says so; those of others stay', async () => {
    const known = send(RIGHT);
    await expect.poll(() => statuses(known)).toEqual(['200']);
    // without this header, a caller could send its next request just as the connection ends; requests after the refusal are not answered
    for (const text of [WRONG, WRONG.repeat(2), WRONG.replace('neon-', 'x-'), WRONG.replace('127.0.0.1', 'evil.example')]) {
      const refused = send(text);
      await expect.poll(() => refused.got.closed).toBe(true);
      expect(statuses(refused)).toHaveLength(1);
      expect(refused.got.text.toLowerCase()).toContain('\r\nconnection: close\r\n');
    }
    known.socket.write(WRONG);
    await expect.poll(() => statuses(known)).toEqual(['200', '401']);
    // longer than the connection of another caller would stay
    await setTimeout(600);
    known.socket.write(RIGHT);
    await expect.poll(() => statuses(known)).toEqual(['200', '401', '200']);
    expect(known.got.text.toLowerCase()).not.toContain('connection: close');
  });

  it('end soon after an answer that came before the body', async () => {
    const refused = send(WRONG.slice(0, -2));
    await expect.poll(() => statuses(refused)).toEqual(['401']);
    refused.socket.write('{}');
    await expect.poll(() => refused.got.closed).toBe(true);
  });

  it('end soon after a request that expects something unknown', async () => {
    for (const [body, text] of [
      ['', '{}'],
      ['{}', ''],
    ] as const) {
      const refused = send(WRONG.replace('content-length', 'expect: something\r\ncontent-length').replace('{}', body));
      await expect.poll(() => statuses(refused)).toEqual(['401']);
      refused.socket.write(text);
      await expect.poll(() => refused.got.closed).toBe(true);
    }
    // those who have a password get their answer
    const known = send(RIGHT.replace('content-length', 'expect: something\r\ncontent-length'));
    await expect.poll(() => statuses(known)).toEqual(['200']);
  });

  it('end soon without a request', async () => {
    const silent = [send(''), send('POST /sql HTTP/1.1\r\n')];
    await expect.poll(() => silent.every(({ got }) => got.closed)).toBe(true);
  });
});
