import { expect, it } from 'vitest';
import { StatementSlots } from '../../../src/async/slots.ts';
import { memoryStorage } from '../../support/async-memory.ts';

function slotsAt() {
  const clock = { now: 1_000_000 };
  const storage = memoryStorage(() => undefined);
  const tables = () => storage.database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all().length;
  return { clock, storage, tables, slots: new StatementSlots(storage, () => clock.now) };
}

it('counts at most so many statements, and each end makes room for one', async () => {
  const { slots } = slotsAt();
  for (const id of ['a', 'b', 'c']) expect(await slots.take(id, 3, 1000)).toBe(true);
  expect(await slots.take('d', 3, 1000)).toBe(false);
  slots.release('unknown');
  expect(await slots.take('d', 3, 1000)).toBe(false);
  slots.release('b');
  slots.release('b');
  expect([await slots.take('d', 3, 1000), await slots.take('e', 3, 1000)]).toEqual([true, false]);
});

it('frees what was never released when its lease ends, and then deletes everything', async () => {
  const { slots, clock, storage, tables } = slotsAt();
  await slots.take('crashed', 2, 1000);
  clock.now += 600;
  await slots.take('later', 2, 1000);
  expect(storage.alarmAt).toBe(clock.now + 1000);
  expect(await slots.take('third', 2, 1000)).toBe(false);
  clock.now += 400;
  expect(await slots.take('third', 2, 1000)).toBe(true);
  // an alarm of an earlier lease keeps the others
  expect([await slots.alarm(), storage.alarmAt, tables()]).toEqual([true, clock.now + 1000, 1]);
  clock.now += 1000;
  expect([await slots.alarm(), tables()]).toEqual([true, 0]);
});

it('writes nothing in the object of a statement', async () => {
  const { slots, tables } = slotsAt();
  slots.release('a');
  expect([await slots.alarm(), tables()]).toEqual([false, 0]);
});
