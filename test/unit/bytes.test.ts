/** Pieces of bytes, and bodies that are read under a limit. */
import { describe, expect, it } from 'vitest';
import { concat, readBounded, wholeOf } from '../../src/bytes.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

/** A body of these pieces. `taken` counts the pieces that were read, `cancelled` is true after a cancel. */
function bodyOf(...pieces: readonly Uint8Array[]) {
  const seen = { taken: 0, cancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[seen.taken++];
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel() {
        seen.cancelled = true;
        throw new Error('a failing cancel changes nothing');
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, seen };
}

describe('concat', () => {
  it('concatenates pieces', () => expect([...concat([bytes(1), bytes(), bytes(2, 3)])]).toEqual([1, 2, 3]));
  it('copies a single piece', () => {
    const one = bytes(1);
    const all = concat([one]);
    one[0] = 9;
    expect([...all]).toEqual([1]);
  });
  it('wholeOf returns a single piece itself', () => {
    const one = bytes(1);
    expect(wholeOf([one])).toBe(one);
    expect([...wholeOf([one, bytes(2)])]).toEqual([1, 2]);
  });
});

describe('readBounded', () => {
  const read = async (stream: ReadableStream<Uint8Array> | null, limit: number, drain?: number) => {
    const body = await readBounded(stream, limit, drain);
    return [[...body.bytes], body.isCut];
  };

  it('reads a body that is as large as the limit', async () => {
    const { stream, seen } = bodyOf(bytes(1, 2), bytes(3));
    expect(await read(stream, 3)).toEqual([[1, 2, 3], false]);
    expect(seen.cancelled).toBe(false);
  });

  it('returns the beginning of a larger one, and cancels the rest', async () => {
    const { stream, seen } = bodyOf(bytes(1, 2), bytes(3, 4), bytes(5), bytes(6));
    expect(await read(stream, 3)).toEqual([[1, 2, 3], true]);
    expect(seen).toEqual({ taken: 2, cancelled: true });
  });

  it('continues to read up to a second limit', async () => {
    const { stream, seen } = bodyOf(bytes(1, 2), bytes(3, 4), bytes(5), bytes(6));
    expect(await read(stream, 3, 10)).toEqual([[1, 2, 3], true]);
    expect(seen.cancelled).toBe(false);
    const other = bodyOf(bytes(1, 2), bytes(3, 4), bytes(5), bytes(6));
    expect(await read(other.stream, 3, 4)).toEqual([[1, 2, 3], true]);
    expect(other.seen).toEqual({ taken: 3, cancelled: true });
  });

  it('treats a missing body as empty', async () => expect(await read(null, 3)).toEqual([[], false]));

  it('throws the error of the stream', async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull() {
        throw new Error('reset');
      },
    });
    await expect(read(failing, 3)).rejects.toThrow('reset');
  });
});
