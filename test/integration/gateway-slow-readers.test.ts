/** Callers of the gateway that do not read their answers: the connections to PostgreSQL that they keep from others. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresPrograms, type ScratchPostgres, startScratchPostgres } from '../../dev/scratch-postgres.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import { type SqlServer, startSqlServer } from '../../dev/sql-server.ts';

describe.skipIf(postgresPrograms() === undefined)('a caller that does not read', () => {
  let scratch: ScratchPostgres;
  let server: SqlServer;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    scratch = await startScratchPostgres();
    const backend = new PgBackend(({ database }) => ({ connectionString: scratch.url, database }), { max: 2, slowMs: 300 });
    server = await startSqlServer({ backend, limits: { holdBytes: 64 * 1024 } });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await server?.close();
    await scratch?.stop();
  });

  const LARGE = "SELECT n, repeat('x', 1000) FROM generate_series(1, 40000) AS g(n)";
  const headers = { 'neon-connection-string': 'postgres://u:p@h/postgres', 'neon-array-mode': 'true' };
  /** Asks for 40 MB and reads the first bytes only; with `pace`, a little more from time to time. */
  function unread(pace?: number): Promise<{ readonly closed: () => boolean }> {
    return new Promise((resolve) => {
      const body = JSON.stringify({ query: LARGE, params: [] });
      const lines = Object.entries({ host: '127.0.0.1', 'content-length': String(body.length), ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      const socket = connect(server.port, '127.0.0.1', () => socket.write(`POST /sql HTTP/1.1\r\n${lines.join('')}\r\n${body}`));
      sockets.push(socket);
      let closed = false;
      socket.on('error', () => undefined);
      socket.on('close', () => {
        closed = true;
      });
      socket.on('data', () => socket.pause());
      socket.once('data', () => {
        const reading = pace === undefined ? undefined : setInterval(() => socket.resume(), pace);
        socket.once('close', () => clearInterval(reading));
        resolve({ closed: () => closed });
      });
    });
  }
  const one = async (): Promise<unknown> => {
    const response = await fetch(server.endpoint, { method: 'POST', headers, body: JSON.stringify({ query: 'SELECT 1', params: [] }) });
    return response.status;
  };

  it('keeps its connection while no other request waits for one', async () => {
    const reader = await unread();
    expect([await one(), await one()]).toEqual([200, 200]);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect([await one(), reader.closed()]).toEqual([200, false]);
  });

  it.each([undefined, 400])('loses it to a request that waits, also if it reads a little every %s ms', async (pace) => {
    await Promise.all([unread(pace), unread(pace), unread(pace)]);
    expect(await Promise.all(Array.from({ length: 6 }, one))).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it('gets the whole answer if it reads', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const response = await fetch(server.endpoint, { method: 'POST', headers, body: JSON.stringify({ query: LARGE, params: [] }) });
        return ((await response.json()) as { rows: unknown[] }).rows.length;
      }),
    );
    expect(answers).toEqual([40_000, 40_000, 40_000, 40_000, 40_000]);
  });
});
