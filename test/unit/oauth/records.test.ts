import { describe, expect, it } from 'vitest';
import { MAX_ALL_GRANTS, MAX_GRANTS, OAuthRecords, PAGE, type Storage } from '../../../src/oauth/records.ts';

/** A Durable Object's storage and clock. */
function object() {
  const values = new Map<string, unknown>();
  const it = { now: 1_000_000, alarm: null as number | null, writes: 0, mostRead: 0, values };
  const storage = {
    get: async (key: string) => structuredClone(values.get(key)),
    put: async (key: string, value: unknown) => {
      it.writes++;
      values.set(key, structuredClone(value));
    },
    delete: async (key: string) => values.delete(key),
    list: async ({ prefix = '', startAfter = '', limit = Number.POSITIVE_INFINITY }: { prefix?: string; startAfter?: string; limit?: number } = {}) => {
      const found = [...values].filter(([key]) => key.startsWith(prefix) && key > startAfter).sort(([a], [b]) => (a < b ? -1 : 1));
      const page = found.slice(0, limit);
      it.mostRead = Math.max(it.mostRead, page.length);
      return new Map(page);
    },
    getAlarm: async () => it.alarm,
    setAlarm: async (at: number) => {
      it.alarm = at;
    },
    deleteAll: async () => {
      values.clear();
      it.alarm = null;
    },
  };
  return Object.assign(it, { records: new OAuthRecords(storage as unknown as Storage, () => it.now) });
}

const grant = (clientId: string, more: object = {}): string => JSON.stringify({ clientId, ...more });
const entry = (key: string, value: string, seen = 0, expires: number | null = null) => ({ key, value, metadata: null, expires, seen });

describe('records', () => {
  it('are written only by a writer that has seen the last version', async () => {
    const { records } = object();
    expect(await records.write(entry('client:a', '1'))).toBe(true);
    expect(await records.write(entry('client:a', '2'))).toBe(false);
    const seen = (await records.read('client:a'))?.version ?? 0;
    expect([await records.write(entry('client:a', '3', seen)), await records.write(entry('client:a', '4', seen))]).toEqual([true, false]);
    expect((await records.read('client:a'))?.value).toBe('3');
    await records.remove('client:a');
    expect(await records.write(entry('client:a', '5', seen + 1))).toBe(false);
  });

  it('are written once by simultaneous writers that have seen the same version', async () => {
    const { records } = object();
    await records.write(entry('grant:u:g', grant('c')));
    const written = await Promise.all(Array.from({ length: 5 }, (_, i) => records.write(entry('grant:u:g', grant(`c${i}`), 1))));
    expect(written.filter(Boolean).length).toBe(1);
    const [changed] = await Promise.all([records.write(entry('grant:u:g', grant('c'), 2)), records.remove('grant:u:g')]);
    expect([changed, await records.read('grant:u:g')]).toEqual([true, null]);
    expect(await records.write(entry('grant:u:g', grant('c'), 3))).toBe(false);
  });

  it('are not found after they have expired, and are deleted by the alarm', async () => {
    const it = object();
    await it.records.write(entry('client:a', '1', 0, it.now + 1000));
    await it.records.write(entry('client:b', '1', 0, it.now + 5_000_000));
    expect(await it.records.names('client:')).toEqual([
      { name: 'client:a', metadata: null },
      { name: 'client:b', metadata: null },
    ]);
    it.now += 1000;
    expect([await it.records.read('client:a'), (await it.records.names('client:')).map(({ name }) => name)]).toEqual([null, ['client:b']]);
    expect(it.alarm).toBe(it.now + 600_000);
    it.now = it.alarm as number;
    await it.records.alarm();
    expect([[...it.values.keys()], it.alarm]).toEqual([['client:b'], 1_000_000 + 5_000_000 + 600_000]);
    it.now = it.alarm as number;
    await it.records.alarm();
    expect([it.values.size, it.alarm]).toEqual([0, null]);
  });

  it('that are only read write nothing', async () => {
    const it = object();
    await it.records.read('grant:u:g');
    await it.records.names('grant:u:');
    await it.records.isSpent('grant:u:g', 'x');
    expect([it.writes, it.alarm]).toEqual([0, null]);
  });

  it('of a grant end its tokens, and a token needs its grant', async () => {
    const { records } = object();
    expect(await records.write(entry('token:u:g:1', '{}'))).toBe(false);
    await records.write(entry('grant:u:g', grant('c')));
    await records.write(entry('grant:u:g2', grant('c')));
    expect(await records.write(entry('token:u:g:1', '{}'))).toBe(true);
    expect(await records.write(entry('token:u:g2:1', '{}'))).toBe(true);
    await records.remove('grant:u:g');
    expect([await records.read('token:u:g:1'), await records.write(entry('token:u:g:2', '{}'))]).toEqual([null, false]);
    expect(await records.read('token:u:g2:1')).not.toBeNull();
  });

  it('of a grant end in one step, for any number of tokens', async () => {
    const it = object();
    const ends = it.now + 3_600_000;
    await it.records.write(entry('grant:u:g', grant('c')));
    for (let i = 0; i < 3 * PAGE; i++) await it.records.write(entry(`token:u:g:${String(i).padStart(5, '0')}`, '{}', 0, ends));
    await it.records.remove('grant:u:g');
    expect(it.values.size).toBe(2 * PAGE);
    for (const key of it.values.keys()) expect(await it.records.read(key)).toBeNull();
    // the alarm reads in pages too, and sees all of them
    it.now = ends - 1;
    await it.records.alarm();
    expect([it.values.size, it.alarm]).toEqual([2 * PAGE, ends + 600_000]);
    it.now = ends;
    await it.records.write(entry('client:a', '1', 0, ends + 1000));
    await it.records.alarm();
    expect([[...it.values.keys()], it.mostRead]).toEqual([['client:a'], PAGE]);
  });

  it('contain the replaced refresh tokens', async () => {
    const { records } = object();
    const [one, two, three] = ['1', '2', '3'].map((d) => d.repeat(64)) as [string, string, string];
    await records.write(entry('grant:u:g', grant('c', { refreshTokenId: one })));
    await records.write(entry('grant:u:g', grant('c', { refreshTokenId: two, previousRefreshTokenId: one }), 1));
    expect(await records.isSpent('grant:u:g', one)).toBe(false);
    await records.write(entry('grant:u:g', grant('c', { refreshTokenId: three, previousRefreshTokenId: two }), 2));
    expect([await records.isSpent('grant:u:g', one), await records.isSpent('grant:u:g', two), await records.isSpent('grant:u:g', 'f'.repeat(64))]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('keep the newest grants to all clients together', async () => {
    const it = object();
    for (let i = 0; i < MAX_ALL_GRANTS + 2; i++) {
      it.now++;
      await it.records.write(entry(`grant:u:${i}`, grant(`client ${i}`)));
    }
    const names = (await it.records.names('grant:')).map(({ name }) => name);
    expect([names.length, ['grant:u:0', 'grant:u:1', 'grant:u:2'].map((name) => names.includes(name))]).toEqual([MAX_ALL_GRANTS, [false, false, true]]);
  });

  it('keep the newest grants of each client', async () => {
    const it = object();
    for (let i = 0; i < MAX_GRANTS + 3; i++) {
      it.now++;
      await it.records.write(entry(`grant:u:${String.fromCharCode(122 - i)}`, grant('c')));
    }
    await it.records.write(entry('grant:u:other', grant('d')));
    const names = (await it.records.names('grant:')).map(({ name }) => name);
    expect([names.length, names.includes('grant:u:z'), names.includes('grant:u:x'), names.includes('grant:u:w'), names.includes('grant:u:other')]).toEqual([
      MAX_GRANTS + 1,
      false,
      false,
      true,
      true,
    ]);
  });
});
