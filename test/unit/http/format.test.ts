/** The form of answers: which one is asked for, and how bodies are made of rows that stream and break. */
import { describe, expect, it } from 'vitest';
import { kept } from '../../../src/answer-memory.ts';
import { badRequest } from '../../../src/errors.ts';
import { acceptedFormat, bodyOf, wishOf } from '../../../src/http/format.ts';
import type { Shape } from '../../../src/ontology/shape.ts';

describe('the format', () => {
  it.each([
    [null, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['APPLICATION/JSON', 'json'],
    ['application/*', 'json'],
    ['text/*', 'csv'],
    ['text/csv', 'csv'],
    ['text/csv;header=present', 'csv'],
    ['application/x-ndjson', 'ndjson'],
    ['text/csv, application/json', 'csv'],
    ['application/json, text/csv', 'json'],
    ['text/csv;q=0.5, application/json', 'json'],
    ['text/csv, */*;q=0.1', 'csv'],
    ['application/x-ndjson, */*', 'ndjson'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
    ['application/json;q=0, */*', 'csv'],
    ['application/json;q=0, text/csv;q=0, */*;q=0.1', 'ndjson'],
    ['text/csv;q=x', 'csv'],
  ])('of accept: %s', (accept, expected) => expect(acceptedFormat(accept)).toBe(expected));

  it.each(['text/html', 'application/xml, image/*', '*/*;q=0', 'text/csv;q=0', 'nonsense'])('is refused for %s', (accept) =>
    expect(() => acceptedFormat(accept)).toThrow(expect.objectContaining({ status: 406, code: 'not_acceptable' })),
  );

  it('of CSV is flat', () => {
    expect(wishOf(new Headers({ nested: 'TRUE', accept: 'text/csv' })).presentation.nested).toBe(false);
    expect(wishOf(new Headers({ nested: ' true ' })).presentation.nested).toBe(true);
    expect(wishOf(new Headers({ nested: '1', 'api-nested-format-properties': 'yes' })).presentation).toMatchObject({ nested: false, formatProperties: false });
  });
});

const column = (key: string, format: string | null = null): Shape['columns'][number] => ({
  key,
  hops: [],
  member: key,
  kind: 'value',
  ofRoot: false,
  format,
  json: false,
});
const SHAPE: Shape = { nests: false, columns: [column('n', 'number:1'), column('t')] };
const NESTS: Shape = {
  nests: true,
  columns: [
    { ...column('entity_id'), kind: 'id', ofRoot: true },
    { ...column('r[c].x'), hops: ['r[c]'], member: 'x', ofRoot: true },
  ],
};
const faultBody = (fault: unknown): object => ({ error: (fault as Error).message });
const AROUND = { before: '{"data":', after: '}' };

/** An answer whose rows stream in pieces; a later fault breaks it. */
function answer(shape: Shape, pieces: readonly string[], fault?: Error) {
  let cancelled = false;
  const left = pieces.map((p) => new TextEncoder().encode(p));
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = left.shift();
        if (piece) controller.enqueue(piece);
        else if (fault) controller.error(fault);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const rows = { whole: undefined, stream, body: () => stream, done: Promise.resolve({ rows: 0, bytes: 0 }), cancel: () => (cancelled = true) };
  return {
    answer: { kind: 'rows' as const, owner: 'ann', rows: { ...rows, cancel: () => void rows.cancel() }, shape, nested: shape.nests },
    wasCancelled: () => cancelled,
  };
}
const text = async (body: Awaited<ReturnType<typeof bodyOf>>): Promise<string> => new Response(body).text();
const wish = (headers: Record<string, string>) => wishOf(new Headers(headers));
const FORMATTED = { 'api-nested-format-properties': 'true' };
const PIECES = ['[{"n":1,"t":"a', '"},{"n":2.25,"t":null}', ']'];

describe('the body of rows', () => {
  it('streams, changed row by row', async () => {
    expect(await text(await bodyOf(answer(SHAPE, PIECES).answer, wish(FORMATTED), AROUND, faultBody))).toBe(
      '{"data":[{"n":"1.0","t":"a"},{"n":"2.3","t":null}]}',
    );
    expect(await text(await bodyOf(answer(SHAPE, PIECES).answer, wish({ accept: 'text/csv' }), AROUND, faultBody))).toBe('n,t\r\n1,a\r\n2.25,\r\n');
    expect(await text(await bodyOf(answer(SHAPE, PIECES).answer, wish({ accept: 'application/x-ndjson' }), AROUND, faultBody))).toBe(
      '{"n":1,"t":"a"}\n{"n":2.25,"t":null}\n',
    );
  });

  it('is aborted by a fault after its beginning', async () => {
    const broken = () => answer(SHAPE, PIECES.slice(0, 2), new Error('gone')).answer;
    for (const headers of [FORMATTED, { accept: 'text/csv' }]) {
      const body = await bodyOf(broken(), wish(headers), AROUND, faultBody);
      await expect(text(body)).rejects.toThrow('gone');
    }
  });

  it('of CSV ends within an open quote, then aborted', async () => {
    const { answer: broken } = answer(SHAPE, [...PIECES.slice(0, 2), ',{"n":3,'], new Error('gone "for" good'));
    const body = (await bodyOf(broken, wish({ accept: 'text/csv' }), AROUND, faultBody)) as ReadableStream<Uint8Array>;
    const reader = body.getReader();
    let got = '';
    const all = async () => {
      for (;;) got += new TextDecoder().decode((await reader.read()).value);
    };
    await expect(all()).rejects.toThrow('gone');
    expect(got).toBe(`n,t\r\n1,a\r\n2.25,\r\n"{'error':'gone \\'for\\' good'}`);
  });

  it('of NDJSON ends with a line about the fault, never after a part of a row', async () => {
    const { answer: broken } = answer(SHAPE, [...PIECES.slice(0, 2), ',{"n":3,'], new Error('gone'));
    expect(await text(await bodyOf(broken, wish({ accept: 'application/x-ndjson' }), AROUND, faultBody))).toBe(
      '{"n":1,"t":"a"}\n{"n":2.25,"t":null}\n{"error":"gone"}\n',
    );
  });

  it('is folded before its first byte, so that a fault has its status', async () => {
    const rows = ['[{"c0":"a","c1":1},{"c0":"b","c1":2}', ',{"c0":"a","c1":3}]'];
    expect(await text(await bodyOf(answer(NESTS, rows).answer, wish({ nested: 'true' }), AROUND, faultBody))).toBe(
      '{"data":[{"entity_id":"a","r[c]":[{"x":1},{"x":3}]},{"entity_id":"b","r[c]":[{"x":2}]}]}',
    );
    const broken = answer(NESTS, rows.slice(0, 1), badRequest('x', 'gone'));
    await expect(bodyOf(broken.answer, wish({ nested: 'true' }), AROUND, faultBody)).rejects.toThrow('gone');
    expect(broken.wasCancelled()).toBe(true);
  });

  it.each([{ accept: 'text/csv' }, { accept: 'application/x-ndjson' }, { nested: 'true' }, FORMATTED])(
    'is refused with a row that is too long: %j',
    async (headers: Record<string, string>) => {
      const nested = 'nested' in headers;
      const long = Array.from({ length: 80 }, () => 'x'.repeat(64 * 1024));
      const begin = nested ? '[{"c0":"a","c1":"' : '[{"n":1,"t":"';
      const before = kept();
      const tried = answer(nested ? NESTS : SHAPE, [begin, ...long, '"}]']);
      await expect(bodyOf(tried.answer, wish(headers), AROUND, faultBody)).rejects.toThrow(
        expect.objectContaining({ status: 400, code: 'result_too_large', message: 'a row is larger than 4 MB' }),
      );
      expect([tried.wasCancelled(), kept()]).toEqual([true, before]);
    },
  );

  it('streams when it is long', async () => {
    const count = 60_000;
    const rows = Array.from({ length: count }, (_, i) => `{"c0":"thing:${i}","c1":"${'x'.repeat(20)}"}`);
    const body = await bodyOf(answer(NESTS, ['[', rows.join(','), ']']).answer, wish({ nested: 'true' }), AROUND, faultBody);
    expect(body).toBeInstanceOf(ReadableStream);
    const { data } = JSON.parse(await text(body));
    expect([data.length, data[0], data[count - 1].entity_id]).toEqual([count, { entity_id: 'thing:0', 'r[c]': [{ x: 'x'.repeat(20) }] }, `thing:${count - 1}`]);
  });

  it('of the service itself has the same forms', async () => {
    const value = {
      kind: 'value' as const,
      data: [
        { a: 1, b: 'x,y' },
        { a: null, c: [1] },
      ],
    };
    expect(await text(await bodyOf(value, wish({}), AROUND, faultBody))).toBe('{"data":[{"a":1,"b":"x,y"},{"a":null,"c":[1]}]}');
    expect(await text(await bodyOf(value, wish({ accept: 'text/csv' }), AROUND, faultBody))).toBe('a,b,c\r\n1,"x,y",\r\n,,[1]\r\n');
    expect(await text(await bodyOf(value, wish({ accept: 'application/x-ndjson' }), AROUND, faultBody))).toBe('{"a":1,"b":"x,y"}\n{"a":null,"c":[1]}\n');
  });
});

describe('the copy for the result cache', () => {
  const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
  /** What was kept of an answer, and what was sent; `rows`: the whole array, where it is small. */
  async function kept(
    shape: Shape,
    pieces: readonly string[],
    headers: Record<string, string>,
    { whole = false, fault = undefined as Error | undefined } = {},
  ) {
    const copies: string[] = [];
    const { answer: streaming } = answer(shape, pieces, fault);
    const rows = whole ? { ...streaming.rows, whole: encode(pieces.join('')), body: (b = '', a = '') => encode(b + pieces.join('') + a) } : streaming.rows;
    const keep = (bytes: Uint8Array): void => void copies.push(new TextDecoder().decode(bytes));
    const sent = await bodyOf({ ...streaming, rows, keep }, wish(headers), AROUND, faultBody)
      .then(text)
      .catch((error: Error) => error.message);
    return { copies, sent };
  }

  it('is the text between the words around it, in every form', async () => {
    for (const whole of [true, false]) {
      for (const [headers, expected] of [
        [FORMATTED, '[{"n":"1.0","t":"a"},{"n":"2.3","t":null}]'],
        [{ accept: 'text/csv' }, 'n,t\r\n1,a\r\n2.25,\r\n'],
        [{ accept: 'application/x-ndjson' }, '{"n":1,"t":"a"}\n{"n":2.25,"t":null}\n'],
      ] as const) {
        const { copies, sent } = await kept(SHAPE, PIECES, headers, { whole });
        expect(copies).toEqual([expected]);
        expect(sent).toContain(expected);
      }
    }
    expect((await kept(SHAPE, PIECES, {}, { whole: true })).copies).toEqual([PIECES.join('')]);
    const nested = ['[{"c0":"a","c1":1},{"c0":"b","c1":2}', ',{"c0":"a","c1":3}]'];
    for (const whole of [true, false]) {
      const { copies } = await kept(NESTS, nested, { nested: 'true' }, { whole });
      expect(copies).toEqual(['[{"entity_id":"a","r[c]":[{"x":1},{"x":3}]},{"entity_id":"b","r[c]":[{"x":2}]}]']);
    }
  });

  it('is sent again with the words of another route around it', async () => {
    const body = await bodyOf({ kind: 'kept', bytes: encode('[{"a":1}]'), rows: 1 }, wish({}), { before: '', after: '' }, faultBody);
    expect(await text(body)).toBe('[{"a":1}]');
    expect(await text(await bodyOf({ kind: 'kept', bytes: encode('[{"a":1}]'), rows: 1 }, wish({}), AROUND, faultBody))).toBe('{"data":[{"a":1}]}');
    expect(await text(await bodyOf({ kind: 'kept', bytes: encode('a\r\n1\r\n'), rows: 1 }, wish({ accept: 'text/csv' }), AROUND, faultBody))).toBe(
      'a\r\n1\r\n',
    );
  });

  it('is not made of an answer that breaks off', async () => {
    for (const headers of [FORMATTED, { accept: 'text/csv' }, { accept: 'application/x-ndjson' }]) {
      expect((await kept(SHAPE, PIECES.slice(0, 2), headers, { fault: new Error('gone') })).copies).toEqual([]);
    }
    expect((await kept(NESTS, ['[{"c0":"a","c1":1}'], { nested: 'true' }, { fault: new Error('gone') })).copies).toEqual([]);
  });

  it('is not made of what is larger than a mebibyte, however it was sent', async () => {
    const row = `{"n":1,"t":"${'x'.repeat(1000)}"}`;
    const pieces = ['[', ...Array.from({ length: 1100 }, (_, i) => (i === 0 ? row : `,${row}`)), ']'];
    for (const headers of [{}, FORMATTED, { accept: 'text/csv' }, { accept: 'application/x-ndjson' }]) {
      const { copies, sent } = await kept(SHAPE, pieces, headers);
      expect(copies).toEqual([]);
      expect(sent.length).toBeGreaterThan(1_100_000);
    }
    const many = Array.from({ length: 1100 }, (_, i) => `{"c0":"${i}","c1":"${'x'.repeat(1000)}"}`).join(',');
    expect((await kept(NESTS, [`[${many}]`], { nested: 'true' })).copies).toEqual([]);
  });
});
