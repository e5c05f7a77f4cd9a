/** Databases of the gateway that answer something else than PostgreSQL's protocol, or nothing any more. */

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewayBackend, readGatewaySettings } from '../../dev/gateway.ts';
import { postgresPrograms, type ScratchPostgres, startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { type SqlServer, startSqlServer } from '../../dev/sql-server.ts';

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
const ask = ({ endpoint }: SqlServer, query: string, signal?: AbortSignal): Promise<Response> =>
  fetch(endpoint, {
    method: 'POST',
    headers: { 'neon-connection-string': 'postgres://reader:secret@h/postgres' },
    body: JSON.stringify({ query, params: [] }),
    signal: signal ?? null,
  });

describe('a database that answers garbage', () => {
  /** AuthenticationOk and ReadyForQuery. */
  const LOGGED_IN = [0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49];
  let garbage: readonly number[];
  const database = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(Buffer.from(garbage)));
  });
  let port: number;
  beforeAll(async () => {
    port = await listening(database);
  });
  afterAll(() => database.close());

  // an error that nobody handles fails the run
  it.each([
    ['no message', Array<number>(100).fill(0)],
    ['a row without a statement', [...LOGGED_IN, 0x44, 0, 0, 0, 6, 0, 0]],
    ['a negative number of columns', [...LOGGED_IN, 0x54, 0, 0, 0, 6, 0xff, 0xff]],
    ['an end without a statement', [...LOGGED_IN, 0x43, 0, 0, 0, 6, 0x41, 0]],
    ['an error without an end', [...LOGGED_IN, 0x45, 0, 0, 0, 4]],
    ['an error whose text has no end', [...LOGGED_IN, 0x45, 0, 0, 0, 8, 0x4d, 0x41, 0x42, 0x43]],
    ['a request for rows', [...LOGGED_IN, 0x47, 0, 0, 0, 7, 0, 0, 0]],
    ['an incomplete key', [...LOGGED_IN.slice(0, 9), 0x4b, 0, 0, 0, 4, ...LOGGED_IN.slice(9)]],
  ])('%s: the request fails', async (_, bytes) => {
    garbage = bytes;
    const server = await startSqlServer({ backend: new PgBackend(() => ({ host: '127.0.0.1', port, user: 'reader', database: 'postgres' })) });
    const response = await ask(server, 'SELECT 1');
    expect([response.status, await response.json()]).toEqual([500, expect.objectContaining({ code: '08006' })]);
    await server.close();
  });
});

describe.skipIf(postgresPrograms() === undefined)('a database that the network loses', () => {
  let scratch: ScratchPostgres;
  /** Whether what both sides send disappears, from a connection's next data on: for ever, although later connections may work again. */
  let isLost: (sent: Buffer) => boolean;
  const sockets: Socket[] = [];
  const way = createServer((near) => {
    const far = connect(scratch.port, '127.0.0.1');
    sockets.push(near, far);
    let lost = false;
    near.on('error', () => undefined).on('close', () => far.destroy());
    far.on('error', () => undefined).on('close', () => !lost && near.destroy());
    near.on('data', (data) => {
      lost ||= isLost(data);
      if (!lost) far.write(data);
    });
    far.on('data', (data) => !lost && near.write(data));
  });
  let url: string;
  beforeAll(async () => {
    scratch = await startScratchPostgres({ passwords: true });
    await scratch.exec("CREATE ROLE reader LOGIN PASSWORD 'secret'");
    url = `postgresql://reader:secret@127.0.0.1:${await listening(way)}/postgres`;
  });
  beforeEach(() => {
    isLost = () => false;
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    way.close();
    await scratch?.stop();
  });

  it('during a statement: its connection is given up, and others get one', async () => {
    const server = await startSqlServer({ backend: new PgBackend(() => ({ connectionString: url }), { max: 2, giveUpMs: 200 }) });
    expect((await ask(server, 'SELECT 1')).status).toBe(200);
    isLost = (sent) => sent.includes('lost');
    const callers = [1, 2].map(async () => {
      const caller = new AbortController();
      const asked = ask(server, "SELECT 'lost'", caller.signal);
      setTimeout(() => caller.abort(), 500);
      await expect(asked).rejects.toThrow();
    });
    await Promise.all(callers);
    expect((await ask(server, 'SELECT 1')).status).toBe(200);
    await server.close();
  });

  it('after a statement: the session is not used again', async () => {
    const server = await startSqlServer({ backend: new PgBackend(() => ({ connectionString: url }), { max: 1, giveUpMs: 200 }) });
    isLost = (sent) => sent.includes('DISCARD ALL');
    // its session is reset by DISCARD ALL, which gets no answer
    expect((await ask(server, 'DO $$ BEGIN END $$')).status).toBe(200);
    expect((await ask(server, 'SELECT 1')).status).toBe(200);
    await server.close();
  });

  it('during checks of passwords: later ones succeed', async () => {
    const backend = new GatewayBackend(readGatewaySettings({ GATEWAY_DATABASE_URL: url, GATEWAY_USERS: 'reader' }), undefined, 300);
    const server = await startSqlServer({ backend });
    isLost = (sent) => sent.includes('rolsuper');
    const statuses = await Promise.all([1, 2, 3, 4, 5].map(async () => (await ask(server, 'SELECT 1')).status));
    expect(statuses).toEqual([500, 500, 500, 500, 500]);
    isLost = (sent) => sent[0] === 'X'.charCodeAt(0);
    // the end of a check may be lost, too
    expect((await ask(server, 'SELECT 1')).status).toBe(200);
    await server.close();
  });
});
