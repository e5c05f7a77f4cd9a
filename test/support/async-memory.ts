/** Async statements without Durable Objects: the same life cycle with an SQLite database in memory and a timer for alarms. */
import { DatabaseSync } from 'node:sqlite';
import { AsyncRun } from '../../src/async/run.ts';
import { StatementSlots } from '../../src/async/slots.ts';
import type { Storage } from '../../src/async/store.ts';
import type { AsyncStatements, Runtime } from '../../src/service.ts';

/** The part of a Durable Object's storage that `AsyncRun` needs; `alarm` is called when an alarm is set for now. */
export function memoryStorage(alarm: () => void): Storage & { readonly database: DatabaseSync; alarmAt: number | null } {
  const database = new DatabaseSync(':memory:');
  const storage = {
    database,
    alarmAt: null as number | null,
    sql: {
      exec: (query: string, ...values: unknown[]) => {
        const given = values.map((v) => (v instanceof ArrayBuffer ? new Uint8Array(v) : v)) as (string | number | Uint8Array | null)[];
        const rows = database.prepare(query).all(...given) as Record<string, unknown>[];
        return { toArray: () => rows };
      },
    },
    setAlarm: async (at: number) => {
      storage.alarmAt = at;
      if (at <= Date.now()) setTimeout(alarm, 0);
    },
    deleteAll: async () => {
      database.exec('DROP TABLE IF EXISTS job; DROP TABLE IF EXISTS piece; DROP TABLE IF EXISTS slot');
    },
  };
  return storage;
}

/** All async statements of a service. `runtime` is called when one runs. */
export function memoryStatements(runtime: () => Runtime): AsyncStatements {
  const runs = new Map<string, AsyncRun>();
  const users = new Map<string, StatementSlots>();
  const slotsOf = (user: string): StatementSlots => {
    const slots = users.get(user) ?? new StatementSlots(memoryStorage(() => undefined));
    users.set(user, slots);
    return slots;
  };
  return {
    take: (user, id, most, leaseMs) => slotsOf(user).take(id, most, leaseMs),
    release: async (user, id) => slotsOf(user).release(id),
    start: (job) => {
      const run: AsyncRun = new AsyncRun(
        memoryStorage(() => void run.alarm()),
        runtime,
      );
      runs.set(job.id, run);
      return run.start(job);
    },
    poll: async (id, owner) => runs.get(id)?.poll(owner) ?? null,
    piece: async (id, owner, n) => runs.get(id)?.piece(owner, n) ?? null,
  };
}
