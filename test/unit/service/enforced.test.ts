/** How long plans rely on foreign keys that a datasource enforced when it was asked. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Datasource } from '../../../src/engine/datasource.ts';
import { forgetReferences, References } from '../../../src/service/read/enforced.ts';
import type { Session } from '../../../src/service/session.ts';

const ask = vi.hoisted(() => vi.fn<() => Promise<ReadonlySet<string>>>());
vi.mock('../../../src/engine/references.ts', () => ({ enforcedReferences: ask }));

let now = 1_000_000;
const session = { request: { runtime: { now: () => now } } } as unknown as Session;
const MAIN: Datasource = { name: 'main', url: 'postgresql://reader@db/main', endpoint: 'https://db/sql' };
const OTHER: Datasource = { ...MAIN, name: 'other', url: 'postgresql://reader@db/other' };

/** What a new statement finds: whether both datasources enforce the key. */
const asked = (): Promise<boolean[]> => {
  const references = new References(session);
  return references.whileNeeded(async () => [references.enforces(MAIN, 'k'), references.enforces(OTHER, 'k')]);
};

beforeEach(() => {
  forgetReferences();
  ask.mockReset();
});

describe('enforced references', () => {
  it('are read once for each datasource, and again after a minute', async () => {
    ask.mockResolvedValue(new Set(['k']));
    expect(await asked()).toEqual([true, true]);
    now += 59_000;
    expect(await asked()).toEqual([true, true]);
    expect(ask).toHaveBeenCalledTimes(2);
    // the foreign key was dropped
    ask.mockResolvedValue(new Set());
    now += 1_000;
    expect(await asked()).toEqual([false, false]);
    expect(ask).toHaveBeenCalledTimes(4);
  });

  it('are none if the datasource does not answer', async () => {
    ask.mockRejectedValue(new Error('unreachable'));
    expect(await asked()).toEqual([false, false]);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('are none of an unknown datasource', () => {
    expect(new References(session).enforces(undefined, 'k')).toBe(false);
    expect(ask).not.toHaveBeenCalled();
  });

  it('lets other errors pass', async () => {
    await expect(new References(session).whileNeeded(() => Promise.reject(new Error('other')))).rejects.toThrow('other');
  });
});
