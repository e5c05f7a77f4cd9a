/** The Durable Object that counts failed attempts to sign in of one user name or one address. */
import { DurableObject } from 'cloudflare:workers';
import { AttemptCounter, type Attempts } from './throttle.ts';

/** Counts attempts. Only a failed attempt writes to storage. */
export class LoginThrottle extends DurableObject {
  readonly #counter = new AttemptCounter(this.ctx.storage, Date.now);

  begin(most: number): string | null {
    return this.#counter.begin(most);
  }

  settle(failed: boolean, ticket?: string): Promise<number> {
    return this.#counter.settle(failed, ticket);
  }

  cancel(ticket: string): void {
    this.#counter.cancel(ticket);
  }

  isKnown(): Promise<boolean> {
    return this.#counter.isKnown();
  }

  remember(): Promise<void> {
    return this.#counter.remember();
  }

  override alarm(): Promise<void> {
    return this.#counter.alarm();
  }
}

/** Counts attempts in the objects of a namespace. The location hint is part of an object's name (docs/design/platform-rules.md#names-of-durable-objects). */
export function loginAttempts(namespace: DurableObjectNamespace<LoginThrottle>, hint: string | null): Attempts {
  const of = (key: string) =>
    namespace.get(namespace.idFromName(`${hint ?? '-'}:${key}`), hint === null ? {} : { locationHint: hint as DurableObjectLocationHint });
  return {
    begin: async (key, most) => of(key).begin(most),
    settle: async (key, failed, ticket) => of(key).settle(failed, ticket),
    cancel: async (key, ticket) => of(key).cancel(ticket),
    isKnown: async (key) => of(key).isKnown(),
    remember: async (key) => of(key).remember(),
  };
}
