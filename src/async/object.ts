/** The Durable Object of one async statement, or of the count of one user's statements. index.ts provides the runtime. */
import { DurableObject } from 'cloudflare:workers';
import type { AsyncJob, AsyncPoll, AsyncStatements, Runtime } from '../service.ts';
import type { AsyncRun } from './run.ts';
import { StatementSlots } from './slots.ts';

/** Runs one statement that continues after its request. The constructor, and a poll without a job, do not write. */
export abstract class AsyncObject<E> extends DurableObject<E> {
  #run: Promise<AsyncRun> | undefined;
  readonly #slots: StatementSlots;

  constructor(state: DurableObjectState, env: E) {
    super(state, env);
    this.#slots = new StatementSlots(state.storage);
  }

  protected abstract runtime(): Runtime;

  #loaded(): Promise<AsyncRun> {
    this.#run ??= import('./run.ts').then((loaded) => new loaded.AsyncRun(this.ctx.storage, () => this.runtime()));
    return this.#run;
  }

  /** Stores the job; an alarm runs it. */
  async start(job: AsyncJob): Promise<void> {
    await (await this.#loaded()).start(job);
  }

  async poll(owner: string): Promise<AsyncPoll | null> {
    return (await this.#loaded()).poll(owner);
  }

  async piece(owner: string, n: number): Promise<Uint8Array | null> {
    return (await this.#loaded()).piece(owner, n);
  }

  take(id: string, most: number, leaseMs: number): Promise<boolean> {
    return this.#slots.take(id, most, leaseMs);
  }

  release(id: string): void {
    this.#slots.release(id);
  }

  override async alarm(): Promise<void> {
    if (!(await this.#slots.alarm())) await (await this.#loaded()).alarm();
  }
}

/** The RPC interface of the object. */
interface Stub {
  start(job: AsyncJob): Promise<void>;
  poll(owner: string): Promise<AsyncPoll | null>;
  piece(owner: string, n: number): Promise<Uint8Array | null>;
  take(id: string, most: number, leaseMs: number): Promise<boolean>;
  release(id: string): Promise<void>;
}

/**
 * Addresses the objects of a namespace. The location hint is part of an object's name
 * (docs/design/platform-rules.md#names-of-durable-objects).
 */
export function asyncStatements(namespace: DurableObjectNamespace, hint: string | null): AsyncStatements {
  const stub = (id: string): Stub =>
    namespace.get(namespace.idFromName(`${hint ?? '-'}:${id}`), hint === null ? {} : { locationHint: hint as DurableObjectLocationHint }) as unknown as Stub;
  return {
    take: (key, id, most, leaseMs) => stub(`user:${key}`).take(id, most, leaseMs),
    release: (key, id) => stub(`user:${key}`).release(id),
    start: (job) => stub(job.id).start(job),
    poll: (id, owner) => stub(id).poll(owner),
    piece: (id, owner, n) => stub(id).piece(owner, n),
  };
}
