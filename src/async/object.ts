/** The Durable Object of one async statement. index.ts provides the runtime. */
import { DurableObject } from 'cloudflare:workers';
import type { AsyncJob, AsyncPoll, Runtime } from '../service.ts';
import { AsyncRun } from './run.ts';

/** Runs one statement that continues after its request. The constructor, and a poll without a job, do not write. */
export abstract class AsyncObject<E> extends DurableObject<E> {
  readonly #run: AsyncRun;

  constructor(state: DurableObjectState, env: E) {
    super(state, env);
    this.#run = new AsyncRun(state.storage, () => this.runtime());
  }

  protected abstract runtime(): Runtime;

  /** Stores the job; an alarm runs it. */
  start(job: AsyncJob): Promise<void> {
    return this.#run.start(job);
  }

  poll(owner: string): AsyncPoll | null {
    return this.#run.poll(owner);
  }

  piece(owner: string, n: number): Uint8Array | null {
    return this.#run.piece(owner, n);
  }

  override alarm(): Promise<void> {
    return this.#run.alarm();
  }
}

/** The RPC interface of the object. */
interface Stub {
  start(job: AsyncJob): Promise<void>;
  poll(owner: string): Promise<AsyncPoll | null>;
  piece(owner: string, n: number): Promise<Uint8Array | null>;
}

/**
 * Addresses the objects of a namespace. The location hint is part of an object's name
 * (docs/design/platform-rules.md#names-of-durable-objects).
 */
export function asyncStatements(namespace: DurableObjectNamespace, hint: string | null) {
  const stub = (id: string): Stub =>
    namespace.get(namespace.idFromName(`${hint ?? '-'}:${id}`), hint === null ? {} : { locationHint: hint as DurableObjectLocationHint }) as unknown as Stub;
  return {
    start: (job: AsyncJob) => stub(job.id).start(job),
    poll: (id: string, owner: string) => stub(id).poll(owner),
    piece: (id: string, owner: string, n: number) => stub(id).piece(owner, n),
  };
}
