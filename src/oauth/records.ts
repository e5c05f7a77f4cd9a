/**
 * What OAuth keeps, in the storage of one Durable Object: of one user its grants and access tokens, of one client its
 * registration. Each record has a version, and a write that comes of an older one is refused: of two uses of one code or
 * refresh token at the same time one alone succeeds. Reading writes nothing.
 */

/** As much of an object's storage as is used. */
export type Storage = Pick<DurableObjectStorage, 'get' | 'put' | 'delete' | 'list' | 'getAlarm' | 'setAlarm' | 'deleteAll'>;

/** A record as it is handed out. */
export interface Found {
  readonly value: string;
  readonly version: number;
}

interface Stored extends Found {
  readonly metadata: unknown;
  /** Milliseconds since 1970; null: it stays. */
  readonly expires: number | null;
  /** When it was made. */
  readonly made: number;
  /** Of a grant: refresh tokens (the beginning of their ids) that were replaced and are good for nothing any more. */
  readonly spent?: readonly string[];
}

/** How a record is written. `seen`: the version that the writer has read, 0 where there was none. */
export interface Written {
  readonly key: string;
  readonly value: string;
  readonly metadata: unknown;
  readonly expires: number | null;
  readonly seen: number;
}

/** Grants of one user to one client that live at the same time; older ones end. */
export const LIVE_GRANTS = 20;
const KEPT_SPENT = 1000;
const ID_CHARACTERS = 32;
/** How many records are read at once: each may have some 20 KiB, and a client may refresh its tokens without end. */
export const PAGE = 500;
/** Records that have expired are not found any more; they are cleared away this much later at the most. */
const CLEAR_MS = 10 * 60_000;

export class OAuthRecords {
  readonly #storage: Storage;
  readonly #now: () => number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(storage: Storage, now: () => number) {
    this.#storage = storage;
    this.#now = now;
  }

  /** @returns null for an access token whose grant is gone */
  async read(key: string): Promise<Found | null> {
    const found = await this.#live(key);
    return found === undefined || !(await this.#hasGrant(key)) ? null : { value: found.value, version: found.version };
  }

  /** Writes a record. @returns false where it was changed since the writer has read it, or its grant is gone */
  write(written: Written): Promise<boolean> {
    return this.#alone(() => this.#write(written));
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

  /** Deletes a record, and a grant with its tokens: at most `PAGE` records of tokens. The others are good for nothing without their grant, and expire. */
  remove(key: string): Promise<void> {
    return this.#alone(() => this.#remove(key));
  }

  async #remove(key: string): Promise<void> {
    await this.#storage.delete(key);
    if (!key.startsWith('grant:')) return;
    const tokens = await this.#storage.list({ prefix: `token:${key.slice('grant:'.length)}:`, limit: PAGE });
    await Promise.all([...tokens.keys()].map((token) => this.#storage.delete(token)));
  }

  /** Names of the records that begin so, with what was put beside them. */
  async names(prefix: string): Promise<readonly { readonly name: string; readonly metadata: unknown }[]> {
    const found = await this.#storage.list<Stored>({ prefix });
    return [...found].filter(([, record]) => this.#isLive(record)).map(([name, { metadata }]) => ({ name, metadata }));
  }

  /** Whether a refresh token of a grant was replaced before: somebody has an old copy of it. */
  async isSpent(grant: string, tokenId: string): Promise<boolean> {
    return (await this.#live(grant))?.spent?.includes(tokenId.slice(0, ID_CHARACTERS)) ?? false;
  }

  /** Clears away what has expired. */
  alarm(): Promise<void> {
    return this.#alone(() => this.#clear());
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
    else if (Number.isFinite(next)) await this.#storage.setAlarm(Math.max(next, this.#now()) + CLEAR_MS);
  }

  /**
   * Runs a change after those before it: what it has read is still so when it writes. The input gate of an object keeps other events out while storage is
   * read, but not a call that has begun in the same event.
   */
  #alone<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#last.then(change);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Whether a record may be there: an access token needs its grant, other records need nothing. */
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
    if (due === null || due > expires + CLEAR_MS) await this.#storage.setAlarm(expires + CLEAR_MS);
  }

  /** Ends the oldest grants to the client of a new one beyond the newest 20. */
  async #makeRoom(value: string): Promise<void> {
    const { clientId } = JSON.parse(value) as GrantPart;
    const grants = [...(await this.#storage.list<Stored>({ prefix: 'grant:' }))]
      .filter(([, record]) => (JSON.parse(record.value) as GrantPart).clientId === clientId)
      .sort(([, a], [, b]) => b.made - a.made);
    for (const [key] of grants.slice(LIVE_GRANTS - 1)) await this.#remove(key);
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
  return [...(before.spent ?? []), ...gone.map((id) => id.slice(0, ID_CHARACTERS))].slice(-KEPT_SPENT);
}
