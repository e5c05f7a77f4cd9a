import { describe, expect, it } from 'vitest';
import { open, seal } from '../../../src/catalog/seal.ts';

const SEALING = { secret: 'a secret', purpose: 'claims', place: 'here' };

describe('a sealed text', () => {
  it('can be decrypted only with the same purpose, key and secret, and reveals nothing', async () => {
    const text = JSON.stringify({ dept: 'sales', name: 'Zo\u00eb' });
    const sealed = await seal(text, SEALING);
    expect(await open(sealed, SEALING)).toBe(text);
    for (const other of [{ secret: 'another' }, { purpose: 'kv' }, { place: 'there' }]) expect(await open(sealed, { ...SEALING, ...other })).toBeUndefined();
    expect(Buffer.from(sealed).toString()).not.toMatch(/dept|sales/);
    expect(await seal(text, SEALING), 'no two are alike').not.toEqual(sealed);
  });

  it('that was changed or truncated cannot be decrypted', async () => {
    const sealed = await seal('text', SEALING);
    for (let i = 0; i < sealed.length; i++)
      expect(
        await open(
          Uint8Array.from(sealed, (b, at) => (at === i ? b ^ 1 : b)),
          SEALING,
        ),
      ).toBeUndefined();
    for (const end of [0, 5, 12, sealed.length - 1]) expect(await open(sealed.slice(0, end), SEALING)).toBeUndefined();
  });
});
