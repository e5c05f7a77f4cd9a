import { beforeEach, describe, expect, it } from 'vitest';
import { type CatalogDb, catalogUnavailable } from '../../../src/catalog/db.ts';
import { keyValues } from '../../../src/catalog/kv.ts';
import { forgetSnapshots, loadSnapshot, MAX_AGE_MS, REFRESH_AGE_MS, type Snapshot, type SnapshotKey } from '../../../src/catalog/snapshot.ts';
import { memoryNamespace } from '../../support/memory-namespace.ts';

/** A catalog with its own clock that counts its reads. */
class FakeCatalog implements CatalogDb {
  reads = 0;
  down = false;
  user: string | null = 'ann';
  /** How far the catalog's clock is ahead of the isolate's. */
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
      token: this.user === null ? null : { id: 't', expires: null, revoked: false, by: [] },
      user: this.user === null ? null : { id: 'u', name: this.user, email: null, tenant: null, active: true, emailBy: [] },
      roles: [],
      grants: [],
      ontologies: [],
      datasources: [],
      agents: [],
      cacheGeneration: this.reads,
      permissions: 1,
      maskKey: 'k',
      isWhole: true,
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
  it('is read once while it is fresh', async () => {
    const { clock, db, load, background } = setUp();
    await load();
    clock.at += REFRESH_AGE_MS - 1;
    await load();
    expect([db.reads, background.length]).toEqual([1, 0]);
  });

  it('is refreshed in the background after 30 s, by one read at a time, while requests use the old one', async () => {
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

  it('is not used after 60 s: without the catalog a request fails with 503', async () => {
    const { clock, db, load } = setUp();
    await load();
    db.down = true;
    clock.at += MAX_AGE_MS - 1;
    expect((await load()).user?.name).toBe('ann');
    clock.at += 1;
    await expect(load()).rejects.toMatchObject({ status: 503, code: 'catalog_unavailable' });
  });

  it('has the larger of the ages by the two clocks', async () => {
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

  it('is read if a fresh one is required, or after a write', async () => {
    const { db, load } = setUp();
    await load();
    await load(true);
    expect(db.reads).toBe(2);
    forgetSnapshots();
    await load();
    expect(db.reads).toBe(3);
  });

  it('is not cached if a write happened while it was read', async () => {
    const { db, load } = setUp();
    db.before = forgetSnapshots;
    await load();
    db.before = undefined;
    await load();
    expect(db.reads).toBe(2);
  });

  it('of an unknown token is cached for ten seconds', async () => {
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

describe('the snapshot in KV', () => {
  const OWNER = { scope: 'us', secret: 'a secret' };
  /** A cold isolate, a KV that others have written to, and a catalog. */
  const withOthers = async () => {
    const namespace = memoryNamespace();
    const kv = keyValues(namespace, OWNER);
    const { clock, db, background } = setUp();
    clock.at = Date.now() + 3_600_000;
    const cold = (by: SnapshotKey = BY, reads = db, owner = OWNER) => {
      forgetSnapshots(0);
      return loadSnapshot(by, { db: reads, now: () => clock.at, waitUntil: (work) => background.push(work), kv: keyValues(namespace, owner) });
    };
    await cold();
    await Promise.all(background.splice(0));
    expect([db.reads, namespace.entries.size]).toEqual([1, 1]);
    return { namespace, kv, clock, db, background, cold };
  };
  const BY: SnapshotKey = { kind: 'token', hash: 'h'.repeat(64) };

  it('replaces the read of a cold isolate while it is fresh, and is then refreshed in the background', async () => {
    const { clock, db, cold, background } = await withOthers();
    clock.at += REFRESH_AGE_MS - 1;
    expect((await cold()).user?.name).toBe('ann');
    expect([db.reads, background.length]).toEqual([1, 0]);
    clock.at += 2;
    await cold();
    await Promise.all(background.splice(0));
    expect(db.reads).toBe(2);
  });

  it('is used after 60 s neither from memory nor from KV: without the catalog a request fails with 503', async () => {
    const { clock, db, cold } = await withOthers();
    clock.at += MAX_AGE_MS - 1;
    db.down = true;
    expect((await cold()).user?.name).toBe('ann');
    for (const more of [1, 600_000]) {
      clock.at += more;
      await expect(cold()).rejects.toMatchObject({ status: 503, code: 'catalog_unavailable' });
    }
    db.down = false;
    await cold();
    expect(db.reads).toBeGreaterThan(3);
  });

  it('does not become younger in a memory cache', async () => {
    const { clock, db, cold, kv } = await withOthers();
    clock.at += MAX_AGE_MS - 1;
    await cold();
    db.down = true;
    clock.at += 1;
    await expect(loadSnapshot(BY, { db, now: () => clock.at, waitUntil: () => undefined, kv })).rejects.toMatchObject({ status: 503 });
  });

  it('is not read if a fresh one is required', async () => {
    const { clock, db, kv, namespace } = await withOthers();
    const reads = namespace.reads;
    await loadSnapshot(BY, { db, now: () => clock.at, waitUntil: () => undefined, kv, fresh: true });
    expect([db.reads, namespace.reads]).toEqual([2, reads]);
  });

  it('is not used by an isolate that has written since', async () => {
    const { clock, db, kv } = await withOthers();
    clock.at += 5000;
    forgetSnapshots(clock.at);
    await loadSnapshot(BY, { db, now: () => clock.at, waitUntil: () => undefined, kv });
    expect(db.reads).toBe(2);
  });

  it('is invalid for another token, service or secret, and if it was moved or forged', async () => {
    const { db, cold, namespace, background } = await withOthers();
    const [[key, entry]] = [...namespace.entries] as [[string, { value: ArrayBuffer; metadata: unknown; seconds: number }]];
    let reads = db.reads;
    for (const [by, owner] of [
      [{ kind: 'token', hash: 'i'.repeat(64) }, OWNER],
      [{ kind: 'user', id: BY.kind === 'token' ? BY.hash : '' }, OWNER],
      [BY, { ...OWNER, scope: 'them' }],
      [BY, { ...OWNER, secret: 'another' }],
    ] as const) {
      await cold(by, db, owner);
      await Promise.all(background.splice(0));
      expect(db.reads).toBe(++reads);
    }
    const admin = await keyValues(namespace, OWNER).key('snapshot', ['u:admin']);
    namespace.entries.set(admin, entry);
    expect(await keyValues(namespace, OWNER).text(admin)).toBeUndefined();
    for (const value of [
      new ArrayBuffer(0),
      new ArrayBuffer(40),
      new TextEncoder().encode('{"readAt":9e15,"snapshot":{"verifiedAt":9e15,"user":{}}}').buffer,
    ]) {
      namespace.entries.set(key, { ...entry, value });
      await cold();
      // what this read writes must not replace the next forged value
      await Promise.all(background.splice(0));
      expect(db.reads).toBe(++reads);
    }
  });

  it('does not show the token\u2019s hash or a name to a reader of the namespace', async () => {
    const { namespace } = await withOthers();
    for (const [key, { value }] of namespace.entries) {
      expect(key).toMatch(/^snapshot\.2\.[0-9a-f]{64}$/);
      expect(key).not.toContain('hhhh');
      expect(new TextDecoder().decode(value as ArrayBuffer)).not.toContain('"name"');
    }
  });

  it('without a user is not written', async () => {
    const { db, cold, namespace, background } = await withOthers();
    db.user = null;
    await cold({ kind: 'token', hash: 'x' });
    await Promise.all(background.splice(0));
    expect(namespace.entries.size).toBe(1);
  });

  it('is not needed if KV fails', async () => {
    const { db, cold, namespace, background } = await withOthers();
    namespace.down = true;
    expect((await cold()).user?.name).toBe('ann');
    await Promise.all(background.splice(0));
    expect(db.reads).toBe(2);
  });
});
