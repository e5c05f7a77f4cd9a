import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32, createToken, equalHashes, isToken, sha256 } from '../../../src/auth/tokens.ts';
import { generated } from '../../support/generated.ts';

describe('API tokens', () => {
  it('have tk_, 27 random characters and a checksum of 6', () => {
    for (let i = 0; i < 200; i++) {
      const token = createToken();
      expect(token).toMatch(/^tk_[0-9A-Za-z]{33}$/);
      expect(isToken(token)).toBe(true);
    }
  });

  it('differ in every random position', () => {
    const tokens = Array.from({ length: 300 }, () => createToken());
    expect(new Set(tokens).size).toBe(300);
    for (let i = 3; i < 30; i++) expect(new Set(tokens.map((t) => t[i])).size).toBeGreaterThan(40);
  });

  it('skip bytes that would make some characters more likely', () => {
    const token = createToken((bytes) => bytes.map((_, i) => (i % 2 === 0 ? 255 : 61)));
    expect(token.slice(3, 30)).toBe('z'.repeat(27));
  });

  it('have the CRC-32 of the random part as their checksum', () => {
    expect(crc32('123456789')).toBe(0xcbf43926);
    expect(isToken('tk_0000000000000000000000000000GHq4q')).toBe(false);
  });

  it('are refused with any one character changed, missing or added', () => {
    fc.assert(
      fc.property(fc.nat(32), fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'), (at, c) => {
        const token = createToken();
        const place = at + 3;
        if (token[place] !== c) expect(isToken(token.slice(0, place) + c + token.slice(place + 1))).toBe(false);
        expect(isToken(token.slice(0, place) + token.slice(place + 1))).toBe(false);
        expect(isToken(`${token}${c}`)).toBe(false);
      }),
      generated(),
    );
  });

  it('are refused in other forms', () => {
    const token = createToken();
    for (const text of ['', 'tk_', token.slice(3), `TK_${token.slice(3)}`, ` ${token}`, `${token}\n`, `Bearer ${token}`, `tk_${'x'.repeat(4000)}`])
      expect(isToken(text)).toBe(false);
  });

  it('are stored as SHA-256 in hexadecimal', async () => {
    expect(await sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('are compared by hashes', () => {
    expect(equalHashes('abcd', 'abcd')).toBe(true);
    for (const other of ['abce', 'bbcd', 'abc', 'abcdd', '']) expect(equalHashes('abcd', other)).toBe(false);
    expect(equalHashes('', '')).toBe(true);
  });
});
