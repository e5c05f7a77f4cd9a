/** Facts of datasources during the planning of a statement: which are read, and when. */
import { beforeEach, expect, it } from 'vitest';
import type { Datasource } from '../../../../src/engine/datasource.ts';
import { DatasourceFacts, factStore } from '../../../../src/service/read/facts.ts';
import type { Session } from '../../../../src/service/session.ts';

const MAIN: Datasource = { name: 'main', url: 'postgresql://reader@db/main', endpoint: 'https://db/sql' };
const MOST_PLANS = 10;

let now = 1_000_000;
let asked: string[] = [];
const session = { request: { runtime: { now: () => now } } } as unknown as Session;

/** Facts whose reading takes a time. */
const store = (name: string, ms = 0) =>
  factStore<string>(name, {
    load: async () => async (_datasource, _timeout, before) => {
      asked.push(name);
      now += ms;
      return `${name} after ${before}`;
    },
    none: () => '',
    bytesOf: () => 1,
  });

/** Calls a plan at most so many times. */
function limited<T>(make: () => T): () => Promise<T> {
  let calls = 0;
  return async () => {
    if (++calls > MOST_PLANS) throw new Error('planned too often');
    return make();
  };
}

beforeEach(() => {
  asked = [];
});

it('of two kinds are each read once for a plan that needs both', async () => {
  const [outer, inner] = [new DatasourceFacts(session, store('outer')), new DatasourceFacts(session, store('inner'))];
  const plan = limited(() => [inner.of(MAIN), outer.of(MAIN)]);
  expect(await outer.whileNeeded(() => inner.whileNeeded(plan))).toEqual(['inner after undefined', 'outer after undefined']);
  expect(asked).toEqual(['inner', 'outer']);
});

it('that were read for a statement stay for it when they become too old, and are read again for the next one', async () => {
  const slow = store('slow', 60_000);
  const planned = (): Promise<string> => {
    const facts = new DatasourceFacts(session, slow);
    return facts.whileNeeded(limited(() => facts.of(MAIN)));
  };
  expect(await planned()).toBe('slow after undefined');
  expect(await planned()).toBe('slow after slow after undefined');
  expect(asked).toEqual(['slow', 'slow']);
});
