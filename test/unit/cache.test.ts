import { describe, expect, it } from 'vitest';
import { ByteStore } from '../../src/cache.ts';

describe('the store of an isolate', () => {
  it('evicts the least recently used entry if it is full', () => {
    const store = new ByteStore(4000);
    const cache = store.view<number>('c');
    for (let i = 0; i < 4; i++) cache.set(`k${i}`, i, 850);
    cache.get('k0');
    cache.set('k4', 4, 850);
    expect([0, 1, 2, 3, 4].map((i) => cache.get(`k${i}`))).toEqual([0, undefined, 2, 3, 4]);
    expect(store.bytes).toBeLessThanOrEqual(4000);
  });

  it('counts a value once, however often it is set', () => {
    const store = new ByteStore(1000);
    const cache = store.view<number>('c');
    for (let i = 0; i < 50; i++) cache.set('k', i, 100);
    expect(cache.get('k')).toBe(49);
    expect(store.bytes).toBeLessThan(250);
    cache.delete('k');
    expect(store.bytes).toBe(0);
  });

  it('separates names, and does not store values that are too large', () => {
    const store = new ByteStore(1000);
    const [a, b] = [store.view<string>('a'), store.view<string>('b')];
    a.set('k', 'of a', 1);
    b.set('k', 'of b', 1);
    a.clear();
    expect([a.get('k'), b.get('k')]).toEqual([undefined, 'of b']);
    b.set('huge', 'x', 900);
    expect([b.get('huge'), b.get('k')]).toEqual([undefined, 'of b']);
  });

  it('keeps the other entries if the size of one is not a number', () => {
    const store = new ByteStore(1000);
    const cache = store.view<number>('c');
    cache.set('a', 1, 100);
    cache.set('b', 2, Number.NaN);
    cache.set('c', 3, 100);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
    expect(store.bytes).toBeLessThan(500);
  });
});
