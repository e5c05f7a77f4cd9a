import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Gate } from '../../../src/mcp/gate.ts';
import { ANSWER_BYTES, BATCH_BYTES, Budget, budgetOf, cutRows, cutTexts } from '../../../src/nesting/cut.ts';
import type { Answer } from '../../../src/service.ts';
import { generated } from '../../support/generated.ts';

const encoder = new TextEncoder();

/** An answer of the datasource whose rows come in pieces of that many bytes. */
function streamed(text: string, size: number) {
  const bytes = encoder.encode(text);
  const state = { sent: 0, cancelled: false };
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) {
      state.sent++;
      yield bytes.slice(at, at + size);
    }
  }
  const rows = { whole: undefined, stream: pieces(), cancel: () => (state.cancelled = true) };
  return { state, answer: { kind: 'rows', owner: 'ann', rows, shape: { columns: [{}, {}] }, nested: false } as unknown as Answer };
}

const rowsOf = (n: number, filler = ''): object[] => Array.from({ length: n }, (_, i) => ({ n: i, t: `é"${filler}` }));

describe('cutRows', () => {
  it('extracts rows from pieces of any size, with exact numbers', async () => {
    const text = '[{"n":1,"t":"a"},{"n":9007199254740993,"t":"}{\\"ü"}]';
    for (const size of [1, 2, 7, 1000]) {
      expect(await cutRows(streamed(text, size).answer, 10)).toEqual({
        rows: [
          { n: 1, t: 'a' },
          { n: '9007199254740993', t: '}{"ü' },
        ],
        truncated: false,
      });
    }
  });

  it('reports truncation only if there were more rows', async () => {
    const answer = (n: number) => streamed(JSON.stringify(rowsOf(n)), 50).answer;
    expect([(await cutRows(answer(3), 3)).truncated, (await cutRows(answer(4), 3)).truncated, (await cutRows(answer(0), 3)).truncated]).toEqual([
      false,
      true,
      false,
    ]);
    expect((await cutRows({ kind: 'value', data: rowsOf(4) }, 3)).rows).toHaveLength(3);
  });

  it('ends between two rows if an answer would exceed 2 MiB, and reads no more', async () => {
    const { answer, state } = streamed(JSON.stringify(rowsOf(3000, 'filler '.repeat(400))), 64 * 1024);
    const { rows, truncated } = await cutRows(answer, 3000);
    expect(truncated).toBe(true);
    const content = JSON.stringify(rows);
    expect(encoder.encode(JSON.stringify({ structuredContent: rows, text: content })).length).toBeLessThanOrEqual(ANSWER_BYTES);
    expect(encoder.encode(content).length).toBeGreaterThan(0.9 * (ANSWER_BYTES / 2));
    expect(state.cancelled).toBe(true);
    expect(state.sent).toBeLessThan(40);
  });

  it('reads rows to the end that count only then', async () => {
    const { answer, state } = streamed(JSON.stringify(rowsOf(3000, 'filler '.repeat(400))), 64 * 1024);
    const known = await cutRows(streamed(JSON.stringify(rowsOf(3000, 'filler '.repeat(400))), 64 * 1024).answer, 10);
    const rows = (answer as { rows: object }).rows;
    expect(await cutRows({ ...answer, rows: { ...rows, isTentative: true } } as Answer, 10)).toEqual(known);
    expect(state.cancelled).toBe(false);
    expect(state.sent).toBeGreaterThan(100);
    async function* failing() {
      yield encoder.encode(JSON.stringify(rowsOf(50)));
      throw new Error('they do not count');
    }
    await expect(cutRows({ ...answer, rows: { ...rows, stream: failing(), isTentative: true } } as unknown as Answer, 10)).rejects.toThrow('they do not count');
  });

  it('returns texts unchanged, truncated at the same rows', async () => {
    const text = '[{"n": 1.10,"t":"a"},{"n":9007199254740993,"t":"}{\\"\u00fc"}]';
    for (const most of [1, 2, 3]) {
      const { rows, row_count, truncated } = await cutTexts(streamed(text, 7).answer, most);
      expect(rows.json).toBe(['{"n": 1.10,"t":"a"}', '{"n":"9007199254740993","t":"}{\\"\u00fc"}'].slice(0, most).join(','));
      expect([row_count, truncated]).toEqual([Math.min(most, 2), most < 2]);
    }
    const large = JSON.stringify(rowsOf(3000, 'filler '.repeat(400)));
    expect((await cutTexts(streamed(large, 64 * 1024).answer, 3000)).row_count).toBe((await cutRows(streamed(large, 64 * 1024).answer, 3000)).rows.length);
    expect((await cutTexts({ kind: 'value', data: [{ a: 1 }] }, 3)).rows.json).toBe('{"a":1}');
  });

  it('counts bytes exactly, however late it counts', () => {
    const json = fc
      .oneof(fc.string({ maxLength: 60, unit: 'grapheme' }), fc.string({ maxLength: 300 }), fc.constant('"\\'.repeat(40)))
      .map((t) => JSON.stringify(t));
    const bytes = (text: string): number => encoder.encode(text).length + 1;
    fc.assert(
      fc.property(fc.array(json, { maxLength: 40 }), fc.integer({ min: 0, max: 3000 }), (all, room) => {
        const budget = new Budget(room);
        let left = room;
        for (const text of all) {
          left -= bytes(text) + bytes(JSON.stringify(text));
          expect(budget.takes(text)).toBe(left >= 0);
          if (left < 0) break;
        }
      }),
      generated(300),
    );
  });

  it('refuses a row that fits into no answer, before it has read all of it', async () => {
    const { state, answer } = streamed(JSON.stringify(rowsOf(1, 'x'.repeat(10_000_000))), 64 * 1024);
    await expect(cutTexts(answer, 10)).rejects.toThrow(
      expect.objectContaining({ status: 400, code: 'result_too_large', message: 'a row is larger than 2 MB' }),
    );
    expect([state.sent < 40, state.cancelled]).toEqual([true, true]);
  });

  it('bounds all answers of a batch together', async () => {
    const answers = new Budget(BATCH_BYTES);
    let sent = 0;
    for (let i = 0; i < 20; i++) {
      const { rows, truncated } = await cutTexts({ kind: 'value', data: rowsOf(500, 'x'.repeat(1000)) }, 500, budgetOf({ answers }));
      sent += 2 * rows.json.length;
      expect(truncated).toBe(i >= 8);
    }
    expect(sent).toBeLessThan(BATCH_BYTES);
    expect(sent).toBeGreaterThan(BATCH_BYTES / 2);
  });

  it('shares a budget between several lists', async () => {
    const budget = new Budget(100);
    expect((await cutRows({ kind: 'value', data: [{ a: 1 }, { a: 2 }] }, 10, budget)).truncated).toBe(false);
    expect((await cutRows({ kind: 'value', data: rowsOf(9) }, 10, budget)).truncated).toBe(true);
  });
});

describe('Gate', () => {
  it('runs eight at once, and the rest in order, also after errors', async () => {
    const gate = new Gate(8);
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const work = (i: number) =>
      gate.run(async () => {
        most = Math.max(most, ++running);
        order.push(i);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running--;
        if (i % 3 === 0) throw new Error('fault');
        return i;
      });
    const done = await Promise.allSettled(Array.from({ length: 30 }, (_, i) => work(i)));
    expect([most, running, order, done.filter((d) => d.status === 'rejected').length]).toEqual([8, 0, Array.from({ length: 30 }, (_, i) => i), 10]);
  });
});
