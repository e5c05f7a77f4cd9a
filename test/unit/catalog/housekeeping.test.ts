/** The hourly work. */
import { expect, it } from 'vitest';
import { inTurn } from '../../../src/catalog/housekeeping.ts';

it('runs each part of the hourly work, also after one that fails, and reports the fault then', async () => {
  const ran: string[] = [];
  const part = (name: string, fails: boolean) => async () => {
    ran.push(name);
    if (fails) throw new Error(name);
  };
  await expect(inTurn([part('a', true), part('b', false), part('c', true)])).rejects.toThrow('a');
  expect(ran).toEqual(['a', 'b', 'c']);
});
