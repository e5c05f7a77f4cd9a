/** A caller of the SQL endpoint who disconnects: its statement on a PostgreSQL server ends at once, at any time of the request. */
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postgresPrograms, type ScratchPostgres, startScratchPostgres } from '../../dev/scratch-postgres.ts';
import type { Answer } from '../../dev/sql/answer.ts';
import { PgBackend } from '../../dev/sql/pg-backend.ts';
import type { SqlRequest } from '../../dev/sql/protocol.ts';

const MARK = 'held back';
const HOLD_MS = 250;
const SLOW = `SELECT pg_sleep(8) /* ${MARK} */`;
const login = { user: 'postgres', password: '', database: 'postgres' };

/** A request of these statements, as one batch if there are several. */
const requestOf = (...queries: string[]): SqlRequest => ({
  login,
  batch: queries.length > 1,
  statements: queries.map((query) => ({ query, params: [], arrayMode: true })),
  rawText: true,
  isolation: undefined,
  readOnly: false,
  deferrable: false,
});
const answer = { write: () => true, drained: () => Promise.resolve() } as unknown as Answer;

describe.skipIf(postgresPrograms() === undefined)('a caller who disconnects', () => {
  let scratch: ScratchPostgres;
  let proxy: Server;
  let backend: PgBackend;
  let onMark: () => void = () => undefined;
  /** Marked statements that have reached PostgreSQL. */
  let handedOn = 0;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    scratch = await startScratchPostgres();
    // Marked statements reach PostgreSQL late, so that it is known what comes before them.
    proxy = createServer((near) => {
      const far = dial(scratch.port, '127.0.0.1');
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          near.destroy();
          far.destroy();
          sockets.delete(socket);
        });
      }
      far.pipe(near);
      near.on('data', (data: Buffer) => {
        if (!data.includes(MARK)) return far.write(data);
        onMark();
        return setTimeout(() => {
          handedOn++;
          far.write(data);
        }, HOLD_MS);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as { port: number };
    backend = new PgBackend(({ user, database }) => ({ host: '127.0.0.1', port, user, database }));
  });
  afterEach(() => {
    onMark = () => undefined;
  });
  afterAll(async () => {
    await backend?.close();
    for (const socket of sockets) socket.destroy();
    proxy?.close();
    await scratch?.stop();
  });

  /** The outcome of a request. */
  const outcome = async (request: SqlRequest, signal: AbortSignal, into = answer) => {
    const error: unknown = await backend.run(request, into, signal).then(
      async (after) => void (await after()),
      (e: unknown) => e,
    );
    return { code: (error as { fields?: { code?: string } } | undefined)?.fields?.code };
  };

  it('is noticed if the cancellation arrives before the statement', async () => {
    const gone = new AbortController();
    onMark = () => gone.abort();
    expect(handedOn).toBe(0);
    const { code } = await outcome(requestOf(SLOW), gone.signal);
    expect(code).toBe('57014');
    // the statement was run after the cancellation, and still ended
    expect(handedOn).toBe(1);
  });

  it('is noticed in the middle of a statement, and the session is clean afterwards', async () => {
    const gone = new AbortController();
    setTimeout(() => gone.abort(), 300);
    const { code } = await outcome(requestOf('SELECT pg_sleep(8)'), gone.signal);
    expect(code).toBe('57014');
    for (let i = 0; i < 3; i++) expect(await outcome(requestOf('SELECT pg_sleep(0.1)'), new AbortController().signal)).toMatchObject({ code: undefined });
  });

  it('prevents further statements of its batch', async () => {
    const gone = new AbortController();
    let written = '';
    const write = (text: string) => {
      written += text;
      // The first statement's result is complete.
      if (text.startsWith('],"command"')) gone.abort();
      return true;
    };
    const seen: string[] = [];
    onMark = () => seen.push('sent');
    expect(await outcome(requestOf('SELECT 1', SLOW), gone.signal, { ...answer, write } as Answer)).toMatchObject({ code: '57014' });
    expect(seen).toEqual([]);
    expect(written.split('{"rowAsArray"')).toHaveLength(2);
  });
});
