/** The Durable Object of one job. index.ts provides the runtime. What it does is loaded with its first alarm. */
import { DurableObject } from 'cloudflare:workers';
import { type JobLife, type Runtime, runScript, scheduled } from '../service.ts';

/** Runs one job by its alarms. */
export abstract class JobObject<E> extends DurableObject<E> {
  #life: JobLife | undefined;

  protected abstract runtime(): Runtime;

  async #loaded(): Promise<JobLife> {
    const loaded = await scheduled();
    this.#life ??= new loaded.JobLife(this.ctx.storage, () => this.runtime(), runScript);
    return this.#life;
  }

  /** Lets the job look at the catalog at a moment, or earlier. */
  async wake(id: string, at: number): Promise<void> {
    await (await this.#loaded()).wake(id, at);
  }

  /** Answers, and stores nothing. */
  ping(): void {}

  override async alarm(): Promise<void> {
    await (await this.#loaded()).alarm();
  }
}

/**
 * Addresses the objects of a namespace. The location hint is part of an object's name
 * (docs/design/platform-rules.md#names-of-durable-objects).
 */
export function jobObjects(namespace: DurableObjectNamespace, hint: string | null): NonNullable<Runtime['jobs']> {
  const stub = (id: string) =>
    namespace.get(
      namespace.idFromName(`${hint ?? '-'}:${id}`),
      hint === null ? {} : { locationHint: hint as DurableObjectLocationHint },
    ) as unknown as NonNullable<Runtime['jobs']> & Pick<JobLife, 'wake'>;
  return {
    wake: (id, at) => stub(id).wake(id, at),
    ping: () => stub('ready').ping(),
  };
}
