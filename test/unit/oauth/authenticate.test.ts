/** Whether the password of an OAuth grant is still valid: how long an answer of the catalog is used. */
import { describe, expect, it } from 'vitest';
import type { CatalogDb } from '../../../src/catalog/db.ts';
import { readConfig } from '../../../src/config.ts';
import { isPasswordCurrent, passwordDigestOf } from '../../../src/oauth/authenticate.ts';
import type { OAuthParts } from '../../../src/oauth/types.ts';

const ID = '00000000-0000-4000-8000-00000000000a';

const setUp = () => {
  const row = { id: ID, name: 'ann', active: true, password: 'one' as string | null, generation: '0', password_by: '[]' };
  const clock = { at: 1_000_000 };
  const asked = { times: 0 };
  const db = {
    query: async () => {
      asked.times++;
      return [{ ...row }];
    },
  } as unknown as CatalogDb;
  const config = readConfig({ SESSION_SECRET: 'a secret that signs the sessions of this test' });
  const parts = { config, db, now: () => clock.at } as unknown as OAuthParts;
  return { row, clock, asked, parts };
};

describe('the password of a grant', () => {
  it('is asked for again after 30 s', async () => {
    const { row, clock, asked, parts } = setUp();
    const digest = (await passwordDigestOf(parts, ID)) as string;
    asked.times = 0;
    expect([await isPasswordCurrent(parts, ID, digest, 1), await isPasswordCurrent(parts, ID, digest, 1), asked.times]).toEqual([true, true, 1]);
    row.password = 'two';
    clock.at += 29_999;
    expect(await isPasswordCurrent(parts, ID, digest, 1)).toBe(true);
    clock.at += 1;
    expect(await isPasswordCurrent(parts, ID, digest, 1)).toBe(false);
  });

  it('is asked for at once where rights have changed: no new right meets an old password', async () => {
    const { row, parts } = setUp();
    const digest = (await passwordDigestOf(parts, ID)) as string;
    expect(await isPasswordCurrent(parts, ID, digest, 10)).toBe(true);
    // the promotion has cleared it and raised the number
    row.password = null;
    expect([
      await isPasswordCurrent(parts, ID, digest, 10),
      await isPasswordCurrent(parts, ID, digest, 11),
      await isPasswordCurrent(parts, ID, digest, null),
    ]).toEqual([true, false, false]);
  });

  it('is another one after a new e-mail', async () => {
    const { row, parts } = setUp();
    const digest = (await passwordDigestOf(parts, ID)) as string;
    row.generation = '1';
    expect(await isPasswordCurrent(parts, ID, digest, null)).toBe(false);
  });
});
