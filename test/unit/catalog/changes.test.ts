import { describe, expect, it } from 'vitest';
import { commit } from '../../../src/catalog/changes.ts';
import { type CatalogDb, catalogUnavailable, DbError, sql } from '../../../src/catalog/db.ts';

const db = (batch: () => Promise<never[]>, found: unknown[] = []): CatalogDb => ({ batch, query: async () => found as never[] });
const lost = () => Promise.reject(catalogUnavailable(new Error('reset')));

describe('a commit', () => {
  it('that conflicts with another writer is 409', async () => {
    for (const state of ['23505', '23503', '40001']) {
      await expect(
        commit(
          db(() => Promise.reject(new DbError(state, 'x'))),
          [],
          'v',
        ),
      ).rejects.toMatchObject({ status: 409, code: 'version_conflict' });
    }
  });

  it('with a lost answer counts as successful if its version exists', async () => {
    await expect(commit(db(lost, [{ seq: 2 }]), [], 'v')).resolves.toBeUndefined();
    await expect(commit(db(lost), [], 'v')).rejects.toMatchObject({ status: 503 });
    await expect(commit(db(lost, [{ seq: 2 }]), [], null)).rejects.toMatchObject({ status: 503 });
  });

  it('that PostgreSQL refuses for another reason is an internal error', async () => {
    await expect(
      commit(
        db(() => Promise.reject(new DbError('42P01', 'x'))),
        [],
        'v',
      ),
    ).rejects.toBeInstanceOf(DbError);
  });
});

describe('statements', () => {
  it('are constants', () => {
    const put = sql as unknown as (s: TemplateStringsArray, ...v: unknown[]) => string;
    expect(sql`SELECT 1`).toBe('SELECT 1');
    expect(() => put`SELECT ${'x'}`).toThrow(TypeError);
  });
});
