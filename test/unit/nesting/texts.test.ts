import { describe, expect, it } from 'vitest';
import { murmur3 } from '../../../src/nesting/texts.ts';

describe('MurmurHash3', () => {
  // published values for seed 0
  it.each([
    ['', 0x00000000],
    ['a', 0x3c2569b2],
    ['hello', 0x248bfa47],
    ['hello, world', 0x149bbb7f],
    ['The quick brown fox jumps over the lazy dog', 0x2e4ff723],
  ])('of %j', (text, expected) => {
    const bytes = new TextEncoder().encode(`xyz${text}zyx`);
    expect(murmur3(bytes, 3, bytes.length - 3) >>> 0).toBe(expected);
  });
});
