import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Fetch } from '../../../src/engine/client.ts';
import type { DatasourceFault } from '../../../src/engine/errors.ts';
import { operatorText } from '../../../src/engine/operator.ts';
import { type RowsRequest, runRows } from '../../../src/engine/rows.ts';
import { forgetRoles } from '../../../src/engine/settings.ts';
import { SvcError } from '../../../src/errors.ts';
import { generated } from '../../support/generated.ts';
import { DS, envelope, fake, inPieces, probeRows, refusal, rowsAnswer, shown, textOf } from './fake.ts';

const request = (fetch: Fetch, more: Partial<RowsRequest> = {}): RowsRequest => ({
  text: operatorText('SELECT 1'),
  timeoutMs: 30_000,
  maxBytes: 50_000_000,
  owner: 'ann',
  fetch,
  ...more,
});
const status =
  (code: number, body = '', headers = {}) =>
  () =>
    new Response(body || null, { status: code, headers });
const pgError = (code: string, message: string) => status(400, JSON.stringify({ message, code, position: '8' }));

/** A number of bytes of rows, as texts of row objects. */
const bulk = (bytes: number): string[] => Array.from({ length: Math.ceil(bytes / 1000) }, (_, i) => `{"i":${i},"t":"${'x'.repeat(980)}"}`);

/** The pieces of an answer of single statements, of this size each. */
function* pieces(text: string, size: number): Generator<Uint8Array> {
  const all = new TextEncoder().encode(text);
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size);
}

beforeEach(forgetRoles);

describe('the settings of a statement', () => {
  it('are set by a batch with the first statement, which reads the settings of the role; then the statement is sent as a single query', async () => {
    const { fetch, asked } = fake(rowsAnswer(['{"a":1}'], probeRows('30s')));
    expect(await textOf((await runRows(DS, request(fetch, { params: ['7', null] }))).stream)).toBe('[{"a":1}]');
    expect(await textOf((await runRows(DS, request(fetch))).stream)).toBe('[{"a":1}]');
    expect(asked[0]?.body.queries?.map((q) => q.query)).toEqual([
      'SHOW ALL',
      `SET LOCAL "statement_timeout" = '30000'`,
      `SET LOCAL "search_path" = ''`,
      `SET LOCAL "TimeZone" = 'UTC'`,
      `SET LOCAL "DateStyle" = 'ISO, MDY'`,
      `SET LOCAL "IntervalStyle" = 'postgres'`,
      `SET LOCAL "bytea_output" = 'hex'`,
      `SET LOCAL "extra_float_digits" = '1'`,
      `SET LOCAL "standard_conforming_strings" = 'on'`,
      `SET LOCAL "jit" = 'off'`,
      'SELECT 1',
    ]);
    expect(asked[0]?.body.queries?.map((q) => q.params)).toEqual([...Array.from({ length: 10 }, () => []), ['7', null]]);
    expect(new Headers(asked[0]?.init.headers).get('neon-batch-read-only')).toBe('true');
    expect(asked[1]?.body).toEqual({ query: 'SELECT 1', params: [] });
  });

  it('stay in a batch if the role lacks them, or another timeout is needed', async () => {
    const { fetch, asked } = fake(rowsAnswer([], probeRows('30s')));
    await runRows(DS, request(fetch));
    await runRows(DS, request(fetch, { timeoutMs: 600_000 }));
    await runRows(DS, request(fetch, { settings: { work_mem: '8MB' } }));
    expect(asked.slice(1).map((a) => a.body.queries?.map((q) => q.query))).toEqual([
      [`SET LOCAL "statement_timeout" = '600000'`, 'SELECT 1'],
      [`SET LOCAL "work_mem" = '8MB'`, 'SELECT 1'],
    ]);
    forgetRoles();
    const poor = fake(rowsAnswer([], probeRows('0')));
    await runRows(DS, request(poor.fetch));
    await runRows(DS, request(poor.fetch));
    expect(poor.asked.map((a) => a.body.queries?.length)).toEqual([11, 2]);
    expect(new Headers(poor.asked[1]?.init.headers).get('neon-batch-read-only')).toBe('true');
  });

  it('are read again after a failed statement', async () => {
    const { fetch, asked } = fake(pgError('22012', 'division by zero'), rowsAnswer([]));
    await refusal(runRows(DS, request(fetch)));
    await runRows(DS, request(fetch));
    expect(asked.map((a) => a.body.queries?.length)).toEqual([11, 11]);
  });

  it('need a batch for the read-only transaction if the role lacks only that', async () => {
    const { fetch, asked } = fake(rowsAnswer(['{"a":1}'], shown({ 0: 'off' })));
    await runRows(DS, request(fetch));
    expect(await textOf((await runRows(DS, request(fetch))).stream)).toBe('[{"a":1}]');
    expect(asked[1]?.body.queries).toEqual([{ query: 'SELECT 1', params: [] }]);
    expect(new Headers(asked[1]?.init.headers).get('neon-batch-read-only')).toBe('true');
  });
});

describe('rows', () => {
  it('are complete if they are small', async () => {
    const { fetch } = fake(rowsAnswer(['{"n":12345678901234567890,"x":1.10}', '{"n":null}']));
    const rows = await runRows(DS, request(fetch));
    expect(new TextDecoder().decode(rows.whole)).toBe('[{"n":12345678901234567890,"x":1.10},{"n":null}]');
    expect(await rows.done).toEqual({ rows: 2, bytes: 48 });
    expect(await textOf(rows.body('{"data":', '}'))).toBe('{"data":[{"n":12345678901234567890,"x":1.10},{"n":null}]}');
  });

  it('are an empty array for a result without rows', async () => {
    const rows = await runRows(DS, request(fake(rowsAnswer([])).fetch));
    expect([await textOf(rows.stream), await rows.done]).toEqual(['[]', { rows: 0, bytes: 2 }]);
  });

  it('are the same for any pieces of the answer', async () => {
    const rows = ['{"é":"😀\\"\\\\","a":[[1],[{"b":"],["}]]}', '{"n":1e400}', 'null'];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.boolean(), async (size, byob) => {
        const fetch: Fetch = async (_, init) => {
          const text = envelope({ url: '', init, body: JSON.parse(init.body as string) }, rows);
          if (!byob) return inPieces(pieces(text, size)).response;
          const source = pieces(text, size);
          return new Response(
            new ReadableStream({
              type: 'bytes',
              pull(controller) {
                const { done, value } = source.next();
                if (done) {
                  controller.close();
                  controller.byobRequest?.respond(0);
                } else controller.enqueue(value.slice());
              },
            }),
          );
        };
        const got = await runRows(DS, request(fetch));
        expect(await textOf(got.stream)).toBe(`[${rows.join(',')}]`);
      }),
      generated(80),
    );
  });

  it('are streamed if they are large, no faster than they are read', async () => {
    const rows = bulk(8_000_000);
    let source: ReturnType<typeof inPieces> | undefined;
    const fetch: Fetch = async (_, init) => {
      source = inPieces(pieces(envelope({ url: '', init, body: JSON.parse(init.body as string) }, rows), 50_000));
      return source.response;
    };
    const got = await runRows(DS, request(fetch));
    expect(got.whole).toBeUndefined();
    const before = source!.pulled();
    expect(before).toBeLessThan(25);
    const reader = (got.body('{"data":', '}') as ReadableStream<Uint8Array>).getReader();
    const taken: Uint8Array[] = [];
    for (let i = 0; i < 10; i++) taken.push((await reader.read()).value!);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(source!.pulled() - before).toBeLessThanOrEqual(10);
    for (let next = await reader.read(); !next.done; next = await reader.read()) taken.push(next.value);
    const text = await new Blob(taken as BlobPart[]).text();
    expect(text === `{"data":[${rows.join(',')}]}`).toBe(true);
    expect(await got.done).toEqual({ rows: rows.length, bytes: text.length - '{"data":}'.length });
  });

  it('end the transfer if they are no longer needed', async () => {
    let signal: AbortSignal | null | undefined;
    const fetch: Fetch = async (_, init) => {
      signal = init.signal;
      return inPieces(pieces(envelope({ url: '', init, body: JSON.parse(init.body as string) }, bulk(3_000_000)), 60_000)).response;
    };
    const got = await runRows(DS, request(fetch));
    const reader = got.stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(signal?.aborted).toBe(true);
    await expect(got.done).rejects.toThrow('cancelled');
  });
});

describe('a check after the statement', () => {
  const refused = new SvcError(503, 'datasource_conflict', 'no');
  const accept = (rows: readonly (readonly unknown[])[] | undefined): void => {
    if (rows?.length !== 1) throw refused;
  };
  const checkAfter = { statement: { text: operatorText('SELECT 2'), params: ['x'] }, accept };
  /** The answer to a batch whose last statement is the check. */
  const answerOf = (init: RequestInit, rows: readonly string[], checked: string): string => {
    const body = JSON.parse(init.body as string) as { queries: { query: string; params: unknown[] }[] };
    return envelope({ url: '', init, body: { queries: body.queries.slice(0, -1) } }, rows).replace(/]}$/, `,{"fields":[],"rows":${checked}}]}`);
  };

  it('is the last statement of a transaction that sees what others have committed', async () => {
    const asked: RequestInit[] = [];
    const fetch: Fetch = async (_, init) => {
      asked.push(init);
      return new Response(answerOf(init, ['{"a":1}'], '[["x"]]'));
    };
    for (let i = 0; i < 2; i++) expect(await textOf((await runRows(DS, request(fetch, { checkAfter }))).stream)).toBe('[{"a":1}]');
    const queries = asked.map((init) => (JSON.parse(init.body as string) as { queries: unknown[] }).queries);
    expect(queries[0]?.slice(-2)).toEqual([
      { query: 'SELECT 1', params: [] },
      { query: 'SELECT 2', params: ['x'] },
    ]);
    expect(queries[0]?.[0]).toEqual({ query: 'SHOW ALL', params: [] });
    for (const { headers } of asked) expect(new Headers(headers).get('neon-batch-isolation-level')).toBe('ReadCommitted');
  });

  it('lets no row through if it does not accept, and fails the stream of a larger answer before its end', async () => {
    for (const checked of ['[]', '[["x"],["y"]]']) {
      const small: Fetch = async (_, init) => new Response(answerOf(init, ['{"a":1}'], checked));
      expect(await refusal(runRows(DS, request(small, { checkAfter })))).toBe(refused);
      const large: Fetch = async (_, init) => inPieces(pieces(answerOf(init, bulk(3_000_000), checked), 50_000)).response;
      const got = await runRows(DS, request(large, { checkAfter }));
      const done = got.done.catch((error: unknown) => error);
      await expect(textOf(got.stream)).rejects.toBe(refused);
      expect(await done).toBe(refused);
    }
  });

  it('comes before the end of the array: a reader of a part has no complete JSON', async () => {
    // the rows end in the bytes that are read first, or later
    for (const [rows, more] of [
      [bulk(500_000), 1_000_000],
      [bulk(3_000_000), 0],
    ] as const) {
      for (const checked of ['[["x"]]', '[]']) {
        const fetch: Fetch = async (_, init) =>
          inPieces(pieces(answerOf(init, rows, checked).replace(/]}$/, `],"more":"${'x'.repeat(more)}"}`), 50_000)).response;
        const { stream, isTentative } = await runRows(DS, request(fetch, { checkAfter }));
        expect(isTentative).toBe(true);
        const got: Uint8Array[] = [];
        const read = async (): Promise<void> => {
          for await (const piece of stream) got.push(piece.slice());
        };
        const isRefused = checked === '[]';
        if (isRefused) await expect(read()).rejects.toBe(refused);
        else await read();
        const text = Buffer.concat(got).toString();
        if (isRefused) expect(() => JSON.parse(text)).toThrow();
        else expect(JSON.parse(text)).toHaveLength(rows.length);
      }
    }
  });
});

describe('errors', () => {
  it('of the statement are reported before any byte', async () => {
    const error = await refusal(runRows(DS, request(fake(pgError('22012', 'division by zero')).fetch)));
    expect([error.status, error.code, error.message]).toEqual([400, 'division_by_zero', 'division by zero']);
    expect((error.cause as DatasourceFault).position).toBe(8);
  });

  for (const [what, answer] of [
    ['a page of another server', () => new Response('<html>')],
    ['JSON of another form', () => new Response('{"rows":{"a":1}}')],
    ['an answer that ends too early', rowsAnswerCut],
    ['no body', () => new Response(null)],
    ['401', status(401, '{"message":"no"}')],
    ['500', status(500, 'oops')],
    ['503', status(503)],
    ['a redirect', status(307, '', { location: 'https://elsewhere.example/sql' })],
  ] as [string, () => Response][]) {
    it(`${what} is 502`, async () => {
      const { fetch, asked } = fake(answer);
      const error = await refusal(runRows(DS, request(fetch)));
      expect([error.status, error.code]).toEqual([502, 'datasource_failed']);
      expect(asked).toHaveLength(1);
      expect(asked[0]?.init.redirect).toBe('manual');
    });
  }

  it('up to 1 MiB still have their status, later ones abort the stream', async () => {
    const broken =
      (after: number): Fetch =>
      async (_, init) => {
        const text = envelope({ url: '', init, body: JSON.parse(init.body as string) }, bulk(3_000_000));
        return inPieces([...pieces(text.slice(0, after), 100_000), new Error('connection lost')]).response;
      };
    const early = await refusal(runRows(DS, request(broken(900_000))));
    expect([early.status, early.code]).toEqual([502, 'datasource_failed']);
    const got = await runRows(DS, request(broken(2_000_000)));
    const late = await refusal(textOf(got.stream));
    expect([late.status, late.code]).toEqual([502, 'datasource_failed']);
    await expect(got.done).rejects.toBe(late);
  });

  it('an answer truncated after 1 MiB aborts the stream', async () => {
    const fetch: Fetch = async (_, init) => {
      const text = envelope({ url: '', init, body: JSON.parse(init.body as string) }, bulk(3_000_000));
      return inPieces(pieces(text.slice(0, -10), 100_000)).response;
    };
    const got = await runRows(DS, request(fetch));
    expect((await refusal(textOf(got.stream))).code).toBe('datasource_failed');
  });

  it('a connection that fails before any byte is repeated once, not twice', async () => {
    const fails = () => {
      throw new TypeError('fetch failed');
    };
    const once = fake(fails, rowsAnswer(['{}']));
    expect(await textOf((await runRows(DS, request(once.fetch))).stream)).toBe('[{}]');
    expect(once.asked).toHaveLength(2);
    const always = fake(fails);
    const error = await refusal(runRows(DS, request(always.fetch)));
    expect([error.status, error.code]).toEqual([502, 'datasource_failed']);
    expect(always.asked).toHaveLength(2);
  });

  it('a URL without TLS gets no request', async () => {
    const { fetch, asked } = fake(rowsAnswer([]));
    const error = await refusal(runRows({ ...DS, endpoint: 'http://db.example/sql' }, request(fetch)));
    expect([error.status, asked.length]).toEqual([502, 0]);
  });
});

describe('limits', () => {
  it('a result with a length that is too large is refused without being read', async () => {
    const source = inPieces(['x'], { 'content-length': '50000001' });
    const error = await refusal(runRows(DS, request(fake(() => source.response).fetch)));
    expect([error.status, error.code, source.pulled()]).toEqual([400, 'result_too_large', 0]);
  });

  it('507 is a result that is too large', async () => {
    expect((await refusal(runRows(DS, request(fake(status(507, 'large')).fetch)))).code).toBe('result_too_large');
  });

  it('a result that turns out too large is refused, or aborted after 1 MiB', async () => {
    const fetch: Fetch = async (_, init) =>
      inPieces(pieces(envelope({ url: '', init, body: JSON.parse(init.body as string) }, bulk(4_000_000)), 100_000)).response;
    const early = await refusal(runRows(DS, request(fetch, { maxBytes: 500_000 })));
    expect([early.status, early.code]).toEqual([400, 'result_too_large']);
    const got = await runRows(DS, request(fetch, { maxBytes: 3_000_000 }));
    expect((await refusal(textOf(got.stream))).code).toBe('result_too_large');
  });

  const hangs: Fetch = (_, init) => new Promise((_resolve, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)));

  it('a missing answer is 504, two seconds after the timeout', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const error = await refusal(runRows(DS, request(hangs, { timeoutMs: -1900 })));
    expect([error.status, error.code]).toEqual([504, 'statement_timeout']);
    expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([100]);
  });

  it('a missing body is 504 too', async () => {
    const fetch: Fetch = async (_, init) =>
      new Response(
        new ReadableStream({
          start(controller) {
            init.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
          },
        }),
      );
    expect((await refusal(runRows(DS, request(fetch, { timeoutMs: -1900 })))).status).toBe(504);
  });

  it('very slow rows after the first MiB are aborted in the time of a statement', async () => {
    const fetch: Fetch = async (_, init) => {
      const pieces = [`{"fields":[],"rows":[["${'x'.repeat(1_100_000)}"]`, ...Array.from({ length: 200 }, () => ',["y"]')];
      const encoder = new TextEncoder();
      let broken = false;
      init.signal?.addEventListener('abort', () => {
        broken = true;
      });
      return new Response(
        new ReadableStream(
          {
            async pull(controller) {
              if (pieces.length < 201) await new Promise((resolve) => setTimeout(resolve, 20));
              if (broken) controller.error(init.signal?.reason);
              else controller.enqueue(encoder.encode(pieces.shift() ?? ''));
            },
          },
          { highWaterMark: 0 },
        ),
      );
    };
    const got = await runRows(DS, request(fetch, { timeoutMs: -1900 }));
    const reader = got.stream.getReader();
    const error = await refusal(
      (async () => {
        for (let n = 0; n < 150; n++) await reader.read();
      })(),
    );
    expect([error.status, error.code]).toEqual([504, 'statement_timeout']);
  });

  it('a caller that disconnects ends the request, which is not repeated', async () => {
    const caller = new AbortController();
    let asked = 0;
    const fetch: Fetch = (url, init) => {
      asked++;
      return hangs(url, init);
    };
    const running = refusal(runRows(DS, request(fetch, { signal: caller.signal })));
    caller.abort();
    expect([(await running).code, asked]).toEqual(['caller_gone', 1]);
  });
});

function rowsAnswerCut(): Response {
  return new Response('{"results":[{"fields":[],"rows":[["on"]]},{"fields":[],"rows":[["x"]]},{"fields":[],"rows":[[{"a":1}],[{"a"');
}
