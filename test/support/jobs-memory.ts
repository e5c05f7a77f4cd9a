/** Jobs without Durable Objects: the same life cycle with storage in memory. Alarms ring when the test says so. */
import { JobLife, type JobStorage } from '../../src/service/ops/job-life.ts';
import { type Runtime, runScript } from '../../src/service.ts';

/** The storage of an object in memory. */
export class MemoryStorage implements JobStorage {
  readonly values = new Map<string, unknown>();
  alarmAt: number | null = null;

  async get(key: string): Promise<unknown> {
    return this.values.get(key);
  }
  async put(key: string, value: unknown): Promise<void> {
    this.values.set(key, structuredClone(value));
  }
  async delete(key: string): Promise<boolean> {
    return this.values.delete(key);
  }
  async getAlarm(): Promise<number | null> {
    return this.alarmAt;
  }
  async setAlarm(at: number): Promise<void> {
    this.alarmAt = at;
  }
  async deleteAlarm(): Promise<void> {
    this.alarmAt = null;
  }
  async deleteAll(): Promise<void> {
    this.values.clear();
  }
}

interface Item {
  readonly storage: MemoryStorage;
  life: JobLife;
}

/** All jobs of a service. */
export class MemoryJobs {
  readonly items = new Map<string, Item>();
  readonly #runtime: () => Runtime;

  readonly #reached: (storage: JobStorage) => JobStorage;

  /** @param reached the storage as an object reaches it */
  constructor(runtime: () => Runtime, reached: (storage: JobStorage) => JobStorage = (storage) => storage) {
    this.#runtime = runtime;
    this.#reached = reached;
  }

  #life(storage: JobStorage): JobLife {
    return new JobLife(this.#reached(storage), this.#runtime, runScript, () => 0);
  }

  wake(id: string, at: number): Promise<void> {
    const storage = new MemoryStorage();
    const item = this.items.get(id) ?? { storage, life: this.#life(storage) };
    this.items.set(id, item);
    return item.life.wake(id, at);
  }

  async ping(): Promise<void> {}

  /** Starts the objects again, as after an end of their isolate: only what is stored is left. */
  restart(): void {
    for (const item of this.items.values()) item.life = this.#life(item.storage);
  }

  /** Lets the alarm of each object ring that is due. @returns how many rang */
  async ring(now = Date.now()): Promise<number> {
    const due = [...this.items.values()].filter(({ storage }) => storage.alarmAt !== null && storage.alarmAt <= now);
    await Promise.all(
      due.map(({ storage, life }) => {
        storage.alarmAt = null;
        return life.alarm();
      }),
    );
    return due.length;
  }
}
