/**
 * Facts of datasources for the planner. If a plan needs facts that are not known, they are read and planning starts again. Facts without a version are read again
 * after a minute.
 */
import { type Cache, cacheOf } from '../../cache.ts';
import type { Datasource } from '../../engine/datasource.ts';
import { keyOf } from '../../engine/settings.ts';
import type { Session } from '../session.ts';
import { onDatasource } from './watched.ts';

/** A plan needs the facts of a datasource. */
class FactsNeeded extends Error {
  /** What reads them. */
  readonly reader: object;
  readonly datasource: Datasource;
  readonly version: string | undefined;

  constructor(reader: object, datasource: Datasource, version: string | undefined) {
    super();
    this.reader = reader;
    this.datasource = datasource;
    this.version = version;
  }
}

interface Known<T> {
  readonly value: T;
  /** They are used until this moment. */
  readonly until: number;
}

const MAX_AGE_MS = 60_000;
const TIMEOUT_MS = 2_000;

/** A kind of facts. */
interface FactKind<T> {
  /**
   * Loads the function that asks a datasource, or the catalog for facts with a version.
   * @param before the facts that were known
   */
  readonly load: (session: Session) => Promise<(datasource: Datasource, timeoutMs: number, before: T | undefined, version: string | undefined) => Promise<T>>;
  /** The facts of a datasource that does not answer. */
  readonly none: () => T | Promise<T>;
  /** The estimated size of facts. */
  readonly bytesOf: (facts: T) => number;
}

/** A kind of facts, and those that the isolate knows. */
export interface FactStore<T> extends FactKind<T> {
  readonly known: Cache<Known<T>>;
}

/** Facts of a kind, in the cache with a name. */
export const factStore = <T>(name: string, kind: FactKind<T>): FactStore<T> => ({ ...kind, known: cacheOf(name) });

const placeOf = (datasource: Datasource, version: string | undefined): string => `${keyOf(datasource)}\n${version ?? ''}`;

/** Facts of datasources during the planning of one statement. */
export class DatasourceFacts<T> {
  readonly #session: Session;
  readonly #store: FactStore<T>;
  readonly #read = new Map<string, T>();

  constructor(session: Session, store: FactStore<T>) {
    this.#session = session;
    this.#store = store;
  }

  /** The facts of a datasource. Those of a version never change. @throws FactsNeeded */
  of(datasource: Datasource, version?: string): T {
    const place = placeOf(datasource, version);
    const own = this.#read.get(place);
    if (own !== undefined) return own;
    const found = this.#store.known.get(place);
    if (found === undefined || this.#session.request.runtime.now() >= found.until) throw new FactsNeeded(this, datasource, version);
    return found.value;
  }

  /** Calls `make`, and calls it again after reading the facts that it needs. @throws what `make` throws */
  async whileNeeded<R>(make: () => Promise<R>): Promise<R> {
    for (;;) {
      try {
        return await make();
      } catch (error) {
        if (!(error instanceof FactsNeeded) || error.reader !== this) throw error;
        await this.#load(error.datasource, error.version);
      }
    }
  }

  /** Uses other facts in place of those that are known. */
  protected replace(datasource: Datasource, version: string | undefined, value: T): void {
    const place = placeOf(datasource, version);
    this.#read.set(place, value);
    this.#store.known.set(place, { value, until: this.#session.request.runtime.now() + MAX_AGE_MS }, this.#store.bytesOf(value));
  }

  /** Reads the facts of a datasource. */
  async #load(datasource: Datasource, version: string | undefined): Promise<void> {
    const { load, none, bytesOf, known } = this.#store;
    const place = placeOf(datasource, version);
    let until = this.#session.request.runtime.now() + MAX_AGE_MS;
    let value: T;
    try {
      const read = await load(this.#session);
      const ask = (): Promise<T> => read(datasource, TIMEOUT_MS, known.get(place)?.value, version);
      value = await (version === undefined ? onDatasource(this.#session, datasource.name, ask) : ask());
      if (version !== undefined) until = Number.POSITIVE_INFINITY;
    } catch {
      // the statement is planned without them
      value = await none();
    }
    this.#read.set(place, value);
    known.set(place, { value, until }, bytesOf(value));
  }
}
