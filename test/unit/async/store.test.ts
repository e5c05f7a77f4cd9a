import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobStore, PieceCutter } from '../../../src/async/store.ts';
import { memoryStorage } from '../../support/async-memory.ts';
import { generated } from '../../support/generated.ts';

describe('pieces', () => {
  it('are the bytes in order, all except the last of full size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 12 }), (size, chunks) => {
        const pieces: Uint8Array[] = [];
        const cutter = new PieceCutter((piece) => pieces.push(piece.slice()), size);
        for (const chunk of chunks) cutter.push(chunk);
        cutter.end();
        expect(Buffer.concat(pieces).equals(Buffer.concat(chunks))).toBe(true);
        for (const piece of pieces.slice(0, -1)) expect(piece.length).toBe(size);
        expect(pieces.every((p) => p.length > 0)).toBe(true);
      }),
      generated(),
    );
  });

  it('may be larger than the initial buffer', () => {
    const pieces: number[] = [];
    const cutter = new PieceCutter((piece) => pieces.push(piece.length));
    for (let i = 0; i < 5; i++) cutter.push(new Uint8Array(600_000));
    cutter.end();
    expect(pieces).toEqual([1_048_576, 1_048_576, 902_848]);
  });
});

describe('the store', () => {
  it('reads nothing if nothing was written, and writes nothing by reading', () => {
    const storage = memoryStorage(() => undefined);
    expect(new JobStore(storage).read()).toBe(undefined);
    expect(storage.database.prepare('SELECT name FROM sqlite_master').all()).toEqual([]);
  });

  it('stores a job, its state, and its pieces', () => {
    const store = new JobStore(memoryStorage(() => undefined));
    store.create('u', '{"id":1}');
    expect(store.read()).toMatchObject({ owner: 'u', state: 'waiting', job: '{"id":1}', version: null, error: null });
    store.running();
    store.addPiece(0, new Uint8Array([1, 2]));
    store.addPiece(1, new Uint8Array([0, 3, 0]).subarray(1, 2));
    store.completed('v');
    expect(store.read()).toMatchObject({ state: 'completed', version: 'v' });
    expect([store.pieces(), store.piece(0), store.piece(1), store.piece(2)]).toEqual([2, new Uint8Array([1, 2]), new Uint8Array([3]), undefined]);
    store.failed('broken', null);
    expect([store.read(), store.pieces()]).toMatchObject([{ state: 'error', error: 'broken' }, 0]);
  });
});
