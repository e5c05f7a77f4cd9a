import { describe, expect, it, vi } from 'vitest';
import { positionOf, positionsIn } from '../../src/errors.ts';

describe('positions of many offsets', () => {
  it.each([
    ['plain text', 'a'.repeat(5000)],
    ['pairs', '\u{1f600}'.repeat(3000)],
    ['pairs at odd places', `x${'\u{1f600}'.repeat(3000)}`],
    ['halves of pairs', 'a\ud83d'.repeat(2000)],
    ['no text', ''],
  ])('are those of each offset: %s', (_, text) => {
    const all = Array.from({ length: text.length + 3 }, (_, i) => i);
    const of = positionsIn(text);
    expect(all.map(of)).toEqual(all.map((i) => positionOf(text, i)));
    // in another order
    const again = positionsIn(text);
    for (const i of [4000, 17, 5000, 0, 1024, 1023, 1025]) expect(again(i)).toBe(positionOf(text, i));
  });

  it('read the text once', () => {
    const text = 'a'.repeat(1_000_000);
    const of = positionsIn(text);
    const read = vi.spyOn(String.prototype, 'charCodeAt');
    for (let i = 0; i < 2000; i++) of(((i * 7919) % 1000) * 1000);
    const { length } = read.mock.calls;
    read.mockRestore();
    expect(length).toBeLessThan(5_000_000);
  });
});
