/** The Durable Object with the OAuth records of one user or one client. */
import { DurableObject } from 'cloudflare:workers';
import { type Found, OAuthRecords, type Written } from './records.ts';

/** Stores OAuth records. The constructor and reads do not write. */
export class OAuthStore extends DurableObject {
  readonly #records = new OAuthRecords(this.ctx.storage, Date.now);

  read(key: string): Promise<Found | null> {
    return this.#records.read(key);
  }

  write(written: Written): Promise<boolean> {
    return this.#records.write(written);
  }

  remove(key: string): Promise<void> {
    return this.#records.remove(key);
  }

  names(prefix: string): Promise<readonly { readonly name: string; readonly metadata: unknown }[]> {
    return this.#records.names(prefix);
  }

  isSpent(grant: string, tokenId: string): Promise<boolean> {
    return this.#records.isSpent(grant, tokenId);
  }

  override alarm(): Promise<void> {
    return this.#records.alarm();
  }
}

/** Returns the Durable Object with a name. */
export type Stores = (name: string) => Pick<OAuthStore, 'read' | 'write' | 'remove' | 'names' | 'isSpent'>;

/** The Durable Objects of a namespace. The location hint is part of an object's name (docs/design/platform-rules.md#names-of-durable-objects). */
export function oauthStores(namespace: DurableObjectNamespace<OAuthStore>, hint: string | null): Stores {
  return (name) =>
    namespace.get(
      namespace.idFromName(`${hint ?? '-'}:${name}`),
      hint === null ? {} : { locationHint: hint as DurableObjectLocationHint },
    ) as unknown as ReturnType<Stores>;
}
