import { beforeEach, describe, expect, it } from 'vitest';
import { type CatalogDb, catalogUnavailable } from '../../../src/catalog/db.ts';
import { forgetSnapshots, loadSnapshot, MAX_AGE_MS, REFRESH_AGE_MS, type Snapshot } from '../../../src/catalog/snapshot.ts';

/** A catalog with a clock of its own that counts its reads. */
class FakeCatalog implements CatalogDb {
  reads = 0;
  down = false;
  user: string | null = 'ann';
  /** What the catalog's clock is ahead of the isolate's. */
  skew = 0;
  before: (() => void) | undefined;
  readonly now: () => number;
  constructor(now: () => number) {
    this.now = now;
  }
  async query() {
    this.reads++;
    if (this.down) throw catalogUnavailable(new Error('down'));
    const snapshot = {
      verifiedAt: this.now() + this.skew,
      token: this.user === null ? null : { id: 't', expires: null, revoked: false },
      user: this.user === null ? null : { id: 'u', name: this.user, email: null, tenant: null, active: true },
      roles: [],
      grants: [],
      ontologies: [],
      datasources: [],
      agents: [],
      cacheGeneration: this.reads,
      permissions: 1,
    } satisfies Snapshot;
    await Promise.resolve();
    this.before?.();
    return [{ snapshot: JSON.stringify(snapshot) }];
  }
  async batch() {
    return [];
  }
}

const setUp = () => {
  const clock = { at: 1_000_000 };
  const background: Promise<unknown>[] = [];
  const db = new FakeCatalog(() => clock.at);
  const load = (fresh = false) => loadSnapshot({ kind: 'token', hash: 'h' }, { db, now: () => clock.at, waitUntil: (work) => background.push(work), fresh });
  return { clock, background, db, load };
};

beforeEach(() => forgetSnapshots());

describe('the snapshot of rights', () => {
  it('is read once while it is young', async () => {
    const { clock, db, load, background } = setUp();
    await load();
    clock.at += REFRESH_AGE_MS - 1;
    await load();
    expect([db.reads, background.length]).toEqual([1, 0]);
  });

  it('is read anew in the background from 30 s on, once at a time, and answers at once', async () => {
    const { clock, db, load, background } = setUp();
    await load();
    clock.at += REFRESH_AGE_MS;
    expect((await load()).cacheGeneration).toBe(1);
    await load();
    expect(background.length).toBe(1);
    await Promise.all(background);
    expect((await load()).cacheGeneration).toBe(2);
    expect(db.reads).toBe(2);
  });

  it('is never used from 60 s on: without the catalog 503, not stale rights', async () => {
    const { clock, db, load } = setUp();
    await load();
    db.down = true;
    clock.at += MAX_AGE_MS - 1;
    expect((await load()).user?.name).toBe('ann');
    clock.at += 1;
    await expect(load()).rejects.toMatchObject({ status: 503, code: 'catalog_unavailable' });
  });

  it('is as old as the older of two clocks says', async () => {
    const slow = setUp();
    slow.db.skew = -MAX_AGE_MS;
    expect((await slow.load()).cacheGeneration).toBe(1);
    expect((await slow.load()).cacheGeneration).toBe(2);
    forgetSnapshots();
    const fast = setUp();
    fast.db.skew = 3_600_000;
    await fast.load();
    fast.clock.at += MAX_AGE_MS;
    expect((await fast.load()).cacheGeneration).toBe(2);
  });

  it('is read where somebody asks for it fresh, or has written', async () => {
    const { db, load } = setUp();
    await load();
    await load(true);
    expect(db.reads).toBe(2);
    forgetSnapshots();
    await load();
    expect(db.reads).toBe(3);
  });

  it('is not kept where a write came between its read and its arrival', async () => {
    const { db, load } = setUp();
    db.before = forgetSnapshots;
    await load();
    db.before = undefined;
    await load();
    expect(db.reads).toBe(2);
  });

  it('of an unknown token is remembered for ten seconds', async () => {
    const { clock, db, load } = setUp();
    db.user = null;
    await load();
    expect((await load()).user).toBeNull();
    expect(db.reads).toBe(1);
    db.user = 'ann';
    clock.at += 10_000;
    expect((await load()).user?.name).toBe('ann');
  });
});
