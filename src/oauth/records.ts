/**
 * OAuth records in the storage of one Durable Object: the grants and access tokens of a user, or the registration of a
 * client. Each record has a version, and a write that is based on an older version is refused. Of two concurrent uses of a
 * code or refresh token, only one succeeds. Reads do not write.
 */

/** The part of a Durable Object's storage that is used. */
export type Storage = Pick<DurableObjectStorage, 'get' | 'put' | 'delete' | 'list' | 'getAlarm' | 'setAlarm' | 'deleteAll'>;

/** A record as it is returned to callers. */
export interface Found {
  readonly value: string;
  readonly version: number;
}

interface Stored extends Found {
  readonly metadata: unknown;
  /** Milliseconds since 1970; null: does not expire. */
  readonly expires: number | null;
  /** When the record was created. */
  readonly made: number;
  /** For a grant: prefixes of the ids of refresh tokens that were replaced and are no longer valid. */
  readonly spent?: readonly string[];
}

/** A record to write. `seen` is the version that the writer has read; 0: the record did not exist. */
export interface Written {
  readonly key: string;
  readonly value: string;
  readonly metadata: unknown;
  readonly expires: number | null;
  readonly seen: number;
}

/** The most grants of a user to a client. Older grants end. */
export const MAX_GRANTS = 20;
/** The most grants of a user to all clients. Anyone can register clients, and each new grant reads all of them. */
export const MAX_ALL_GRANTS = 500;
const MAX_SPENT = 1000;
const ID_CHARACTERS = 32;
/** The number of records that are read at once. A record may have 20 KiB, and the number of refreshed tokens is not limited. */
export const PAGE = 500;
/** Expired records are invisible immediately and deleted after at most this time. */
const DELETE_AFTER_MS = 10 * 60_000;

export class OAuthRecords {
  readonly #storage: Storage;
  readonly #now: () => number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(storage: Storage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** Reads a record. @returns null if it does not exist, has expired, or is an access token whose grant has ended */
  async read(key: string): Promise<Found | null> {
    const found = await this.#live(key);
    return found === undefined || !(await this.#hasGrant(key)) ? null : { value: found.value, version: found.version };
  }

  /** Writes a record. @returns false if it was changed since the writer read it, or if its grant has ended */
  write(written: Written): Promise<boolean> {
    return this.#serialized(() => this.#write(written));
  }

  async #write({ key, value, metadata, expires, seen }: Written): Promise<boolean> {
    const before = await this.#live(key);
    if ((before?.version ?? 0) !== seen) return false;
    if (!(await this.#hasGrant(key))) return false;
    const isGrant = key.startsWith('grant:');
    if (isGrant && before === undefined) await this.#makeRoom(value);
    const record: Stored = {
      value,
      metadata,
      expires,
      made: before?.made ?? this.#now(),
      version: seen + 1,
      ...(isGrant ? { spent: spentOf(before, value) } : {}),
    };
    await this.#storage.put(key, record);
    if (expires !== null) await this.#clearAt(expires);
    return true;
  }

  /** Deletes a record. A grant is deleted with up to `PAGE` of its tokens; the other tokens are invalid without their grant, and expire. */
  remove(key: string): Promise<void> {
    return this.#serialized(() => this.#remove(key));
  }

  async #remove(key: string): Promise<void> {
    await this.#storage.delete(key);
    if (!key.startsWith('grant:')) return;
    const tokens = await this.#storage.list({ prefix: `token:${key.slice('grant:'.length)}:`, limit: PAGE });
    await Promise.all([...tokens.keys()].map((token) => this.#storage.delete(token)));
  }

  /** Lists the keys with a prefix, and the metadata of their records. */
  async names(prefix: string): Promise<readonly { readonly name: string; readonly metadata: unknown }[]> {
    const found = await this.#storage.list<Stored>({ prefix });
    return [...found].filter(([, record]) => this.#isLive(record)).map(([name, { metadata }]) => ({ name, metadata }));
  }

  /** True if a refresh token of a grant was replaced before, so that someone uses an old copy of it. */
  async isSpent(grant: string, tokenId: string): Promise<boolean> {
    return (await this.#live(grant))?.spent?.includes(tokenId.slice(0, ID_CHARACTERS)) ?? false;
  }

  /** Deletes expired records. */
  alarm(): Promise<void> {
    return this.#serialized(() => this.#clear());
  }

  async #clear(): Promise<void> {
    let live = 0;
    let next = Number.POSITIVE_INFINITY;
    let startAfter: string | undefined;
    do {
      const page = await this.#storage.list<Stored>({ limit: PAGE, ...(startAfter === undefined ? {} : { startAfter }) });
      const gone: string[] = [];
      for (const [key, record] of page) {
        if (!this.#isLive(record)) gone.push(key);
        else {
          live++;
          next = Math.min(next, record.expires ?? Number.POSITIVE_INFINITY);
        }
      }
      await Promise.all(gone.map((key) => this.#storage.delete(key)));
      startAfter = page.size < PAGE ? undefined : [...page.keys()].at(-1);
    } while (startAfter !== undefined);
    if (live === 0) await this.#storage.deleteAll();
    else if (Number.isFinite(next)) await this.#storage.setAlarm(Math.max(next, this.#now()) + DELETE_AFTER_MS);
  }

  /**
   * Runs changes one after the other, so that what a change has read is still valid when it writes. The input gate of a Durable Object blocks other events
   * while storage is read, but not calls that began in the same event.
   */
  #serialized<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#last.then(change);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** False for an access token whose grant does not exist; true for all other records. */
  async #hasGrant(key: string): Promise<boolean> {
    const token = /^token:([^:]+):([^:]+):/.exec(key);
    return token === null || (await this.#live(`grant:${token[1]}:${token[2]}`)) !== undefined;
  }

  #isLive({ expires }: Stored): boolean {
    return expires === null || expires > this.#now();
  }

  async #live(key: string): Promise<Stored | undefined> {
    const record = await this.#storage.get<Stored>(key);
    return record !== undefined && this.#isLive(record) ? record : undefined;
  }

  async #clearAt(expires: number): Promise<void> {
    const due = await this.#storage.getAlarm();
    if (due === null || due > expires + DELETE_AFTER_MS) await this.#storage.setAlarm(expires + DELETE_AFTER_MS);
  }

  /** Before a new grant is stored, ends the oldest grants to the same client, so that at most 20 remain, and the oldest of too many to all clients. */
  async #makeRoom(value: string): Promise<void> {
    const { clientId } = JSON.parse(value) as GrantPart;
    const all = [...(await this.#storage.list<Stored>({ prefix: 'grant:' }))].sort(([, a], [, b]) => b.made - a.made);
    const own = all.filter(([, record]) => (JSON.parse(record.value) as GrantPart).clientId === clientId);
    const ended = new Set([...own.slice(MAX_GRANTS - 1), ...all.slice(MAX_ALL_GRANTS - 1)].map(([key]) => key));
    for (const key of ended) await this.#remove(key);
  }
}

interface GrantPart {
  readonly clientId: string;
  readonly refreshTokenId?: string;
  readonly previousRefreshTokenId?: string;
}

const refreshIds = (value: string): readonly string[] => {
  const { refreshTokenId, previousRefreshTokenId } = JSON.parse(value) as GrantPart;
  return [refreshTokenId, previousRefreshTokenId].filter((id) => id !== undefined);
};

function spentOf(before: Stored | undefined, value: string): readonly string[] {
  if (before === undefined) return [];
  const now = new Set(refreshIds(value));
  const gone = refreshIds(before.value).filter((id) => !now.has(id));
  return [...(before.spent ?? []), ...gone.map((id) => id.slice(0, ID_CHARACTERS))].slice(-MAX_SPENT);
}
