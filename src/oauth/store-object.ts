/** The Durable Object with the OAuth records of one user or one client. */
import { DurableObject } from 'cloudflare:workers';
import type { Found, OAuthRecords, Written } from './records.ts';

/** Stores OAuth records. The constructor and reads do not write. */
export class OAuthStore extends DurableObject {
  #records: Promise<OAuthRecords> | undefined;

  #loaded(): Promise<OAuthRecords> {
    this.#records ??= import('./records.ts').then((loaded) => new loaded.OAuthRecords(this.ctx.storage, Date.now));
    return this.#records;
  }

  async read(key: string): Promise<Found | null> {
    return (await this.#loaded()).read(key);
  }

  async write(written: Written): Promise<boolean> {
    return (await this.#loaded()).write(written);
  }

  async remove(key: string): Promise<void> {
    return (await this.#loaded()).remove(key);
  }

  async names(prefix: string): Promise<readonly { readonly name: string; readonly metadata: unknown }[]> {
    return (await this.#loaded()).names(prefix);
  }

  async isSpent(grant: string, tokenId: string): Promise<boolean> {
    return (await this.#loaded()).isSpent(grant, tokenId);
  }

  override async alarm(): Promise<void> {
    return (await this.#loaded()).alarm();
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
