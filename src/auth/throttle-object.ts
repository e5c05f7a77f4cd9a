/** The Durable Object that counts the failed attempts to sign in of one user name or one address. */
import { DurableObject } from 'cloudflare:workers';
import { AttemptCounter, type Attempts } from './throttle.ts';

/** Its constructor, and an attempt that succeeds, write nothing. */
export class LoginThrottle extends DurableObject {
  readonly #counter = new AttemptCounter(this.ctx.storage, Date.now);

  settle(failed: boolean): Promise<number> {
    return this.#counter.settle(failed);
  }

  override alarm(): Promise<void> {
    return this.#counter.alarm();
  }
}

/** The objects of a namespace; the location hint is part of an object's name (platform, Configuration). */
export function loginAttempts(namespace: DurableObjectNamespace<LoginThrottle>, hint: string | null): Attempts {
  return {
    settle: (key, failed) =>
      namespace.get(namespace.idFromName(`${hint ?? '-'}:${key}`), hint === null ? {} : { locationHint: hint as DurableObjectLocationHint }).settle(failed),
  };
}
