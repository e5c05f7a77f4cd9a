/** Facts of datasources for the planner. They are read when a plan asks for them, and planning starts again; they are read again when they are a minute old. */
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

  constructor(reader: object, datasource: Datasource) {
    super();
    this.reader = reader;
    this.datasource = datasource;
  }
}

interface Known<T> {
  readonly value: T;
  readonly at: number;
}

const MAX_AGE_MS = 60_000;
const TIMEOUT_MS = 2_000;

/** A kind of facts. */
interface FactKind<T> {
  /** Loads the function that asks a datasource. @param before the facts that were known */
  readonly load: () => Promise<(datasource: Datasource, timeoutMs: number, before: T | undefined) => Promise<T>>;
  /** The facts of a datasource that does not answer. */
  readonly none: T;
  /** The estimated size of facts. */
  readonly bytesOf: (facts: T) => number;
}

/** A kind of facts, and those that the isolate knows. */
export interface FactStore<T> extends FactKind<T> {
  readonly known: Cache<Known<T>>;
}

/** Facts of a kind, in the cache with a name. */
export const factStore = <T>(name: string, kind: FactKind<T>): FactStore<T> => ({ ...kind, known: cacheOf(name) });

/** Facts of datasources during the planning of one statement. */
export class DatasourceFacts<T> {
  readonly #session: Session;
  readonly #store: FactStore<T>;
  readonly #read = new Map<string, T>();

  constructor(session: Session, store: FactStore<T>) {
    this.#session = session;
    this.#store = store;
  }

  /** The facts of a datasource. @throws FactsNeeded */
  of(datasource: Datasource): T {
    const place = keyOf(datasource);
    const own = this.#read.get(place);
    if (own !== undefined) return own;
    const found = this.#store.known.get(place);
    if (found === undefined || this.#session.request.runtime.now() - found.at >= MAX_AGE_MS) throw new FactsNeeded(this, datasource);
    return found.value;
  }

  /** Calls `make`, and calls it again after reading the facts that it needs. @throws what `make` throws */
  async whileNeeded<R>(make: () => Promise<R>): Promise<R> {
    for (;;) {
      try {
        return await make();
      } catch (error) {
        if (!(error instanceof FactsNeeded) || error.reader !== this) throw error;
        await this.#load(error.datasource);
      }
    }
  }

  /** Reads the facts of a datasource. */
  async #load(datasource: Datasource): Promise<void> {
    const { load, none, bytesOf, known } = this.#store;
    const place = keyOf(datasource);
    const at = this.#session.request.runtime.now();
    let value = none;
    try {
      const read = await load();
      value = await onDatasource(this.#session, datasource.name, () => read(datasource, TIMEOUT_MS, known.get(place)?.value));
    } catch {
      // the statement is planned without them
    }
    this.#read.set(place, value);
    known.set(place, { value, at }, bytesOf(value));
  }
}
