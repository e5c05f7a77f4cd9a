/** The memory limit of the answers in progress of an isolate, and which part is dropped. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ANSWER_MEMORY_BYTES, AnswerMemory, FOLD_BYTES, kept, type Share } from '../../src/answer-memory.ts';
import { bodyOf, wishOf } from '../../src/http/format.ts';
import type { Shape } from '../../src/ontology/shape.ts';

const MIB = 1024 * 1024;
const BUSY = expect.objectContaining({ status: 503, code: 'busy', headers: { 'retry-after': '5' } });

describe('the memory of answers', () => {
  /** A limit of 100 bytes with a clock and a list of the dropped parts. */
  function memoryOf() {
    const lost: string[] = [];
    const clock = { now: 0 };
    const memory = new AnswerMemory(100, () => clock.now);
    const share = (owner: string, name = owner): Share => memory.share(owner, () => void lost.push(name));
    return { memory, share, lost, clock };
  }

  it('counts what its parts keep', () => {
    const { memory, share } = memoryOf();
    const [a, b] = [share('ann'), share('ben')];
    a.keep(30);
    b.keep(70);
    a.keep(20);
    expect(memory.bytes).toBe(90);
    b.end();
    b.end();
    expect(memory.bytes).toBe(20);
    a.keep(0);
    expect(memory.bytes).toBe(0);
  });

  it('takes from the caller who keeps the most, not from the last one', () => {
    const { memory, share, lost } = memoryOf();
    const parts = [share('ann', 'a1'), share('ann', 'a2'), share('ben', 'b')];
    parts[0]?.keep(30);
    parts[1]?.keep(31);
    parts[2]?.keep(50);
    expect([lost, memory.bytes]).toEqual([['a2'], 80]);
    expect(() => parts[1]?.keep(1)).toThrow(BUSY);
    expect(() => parts[0]?.keep(30)).not.toThrow();
    expect(() => parts[2]?.keep(50)).not.toThrow();
  });

  it('takes from the one who asks, where that one keeps the most', () => {
    const { memory, share, lost } = memoryOf();
    share('ben').keep(40);
    expect(() => share('ann').keep(70)).toThrow(BUSY);
    expect([lost, memory.bytes]).toEqual([['ann'], 40]);
  });

  it('takes from unused parts first', () => {
    const { memory, share, lost, clock } = memoryOf();
    const old = share('ben');
    old.keep(10);
    clock.now = 31_000;
    share('ann').keep(95);
    expect([lost, memory.bytes]).toEqual([['ben'], 95]);
    expect(() => old.keep(1)).toThrow(BUSY);
  });

  it('leaves no way back to a part that has lost its memory', () => {
    const { memory, share } = memoryOf();
    const part = share('ann');
    expect(() => part.keep(101)).toThrow(BUSY);
    part.end();
    expect(() => part.keep(1)).toThrow(BUSY);
    expect(memory.bytes).toBe(0);
  });
});

const COLUMN = { hops: [], kind: 'value', ofRoot: true, format: null, json: false } as const;
const SHAPE: Shape = {
  columns: [
    { ...COLUMN, key: 'entity_id', member: 'entity_id', kind: 'id' },
    { ...COLUMN, key: 'r[c].x', member: 'x', hops: ['r[c]'] },
  ],
  nests: true,
};
const X = 'x'.repeat(16_300);
const AROUND = { before: '{"data":', after: '}' };

/** An answer of some MiB of distinct rows, which comes piece by piece. */
function answer(owner: string, mib: number) {
  let cancelled = false;
  async function* pieces() {
    yield new TextEncoder().encode('[');
    for (let i = 0; i < mib * 16; i++) {
      // other answers go on meanwhile
      await Promise.resolve();
      const row = (n: number) => `${i + n > 0 ? ',' : ''}{"c0":"${owner}:${i}:${n}","c1":"${i}:${n}${X}"}`;
      yield new TextEncoder().encode(Array.from({ length: 4 }, (_, n) => row(n)).join(''));
    }
    yield new TextEncoder().encode(']');
  }
  const stream = pieces() as unknown as ReadableStream<Uint8Array>;
  const rows = { whole: undefined, stream, body: () => stream, done: Promise.resolve({ rows: 0, bytes: 0 }), cancel: () => (cancelled = true) };
  return {
    answer: { kind: 'rows' as const, owner, rows: { ...rows, cancel: () => void rows.cancel() }, shape: SHAPE, nested: true },
    wasCancelled: () => cancelled,
  };
}

/** All memory is given back, some of it just after the answer has ended. */
const released = () => expect.poll(kept).toBe(0);
beforeEach(released);

const asked = (owner: string, mib: number) => bodyOf(answer(owner, mib).answer, wishOf(new Headers({ nested: 'true' })), AROUND, () => ({}));

describe('nested answers at the same time', () => {
  it('keep no more than the memory together, and the caller who asks for the most loses', async () => {
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, kept());
    });
    const answers = [...Array.from({ length: 5 }, () => asked('ann', 8)), asked('ben', 2)];
    const ended = await Promise.allSettled(answers);
    clearInterval(watch);
    const texts = await Promise.allSettled(ended.map(async (e) => (e.status === 'fulfilled' ? new Response(e.value).text() : Promise.reject(e.reason))));
    const ben = texts.at(-1);
    expect(ben?.status === 'fulfilled' && JSON.parse(ben.value).data.length).toBe(2 * 16 * 4);
    const refused = texts.filter((t) => t.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(5);
    for (const { reason } of refused) expect(reason).toEqual(BUSY);
    // what is not refused is whole
    for (const text of texts.slice(0, 5)) if (text.status === 'fulfilled') expect(JSON.parse(text.value).data.length).toBe(8 * 16 * 4);
    expect(most).toBeLessThanOrEqual(ANSWER_MEMORY_BYTES);
    await released();
  });

  it('lose their memory while their reader is idle, with an end that is not JSON', async () => {
    const bodies: ReadableStream<Uint8Array>[] = [];
    for (let i = 0; i < 5; i++) bodies.push((await asked('ann', 8)) as ReadableStream<Uint8Array>);
    expect(kept()).toBeLessThanOrEqual(ANSWER_MEMORY_BYTES);
    const ends = await Promise.allSettled(bodies.map((body) => new Response(body).text()));
    expect(ends.filter((e) => e.status === 'rejected').length).toBeGreaterThan(0);
    for (const end of ends) if (end.status === 'fulfilled') JSON.parse(end.value);
    await released();
  });

  it('give back their memory when the caller leaves', async () => {
    const body = (await asked('ann', 4)) as ReadableStream<Uint8Array>;
    expect(kept()).toBeGreaterThan(4 * MIB);
    await body.cancel();
    await released();
  });

  it('use a part of the memory each', async () => {
    const tried = answer('ann', 28);
    await expect(bodyOf(tried.answer, wishOf(new Headers({ nested: 'true' })), AROUND, () => ({}))).rejects.toThrow(
      expect.objectContaining({
        status: 400,
        code: 'result_too_large',
        message: `the nested result takes more than ${Math.floor(FOLD_BYTES / 1e6)} MB of memory`,
      }),
    );
    expect(tried.wasCancelled()).toBe(true);
    await released();
  });
});
