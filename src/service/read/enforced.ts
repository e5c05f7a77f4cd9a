/**
 * The references that datasources enforce, for the planner (docs/design/sql-shapes.md#enforced-references). They are read when a plan asks for them, and again when they are
 * a minute old, so that a query does not rely on a dropped foreign key for longer.
 */
import { cacheOf } from '../../cache.ts';
import type { Datasource } from '../../engine/datasource.ts';
import type { Session } from '../session.ts';
import { onDatasource } from './watched.ts';

/** A plan needs the references of a datasource. */
class ReferencesNeeded extends Error {
  readonly datasource: Datasource;

  constructor(datasource: Datasource) {
    super();
    this.datasource = datasource;
  }
}

interface Known {
  readonly keys: ReadonlySet<string>;
  readonly at: number;
}

const known = cacheOf<Known>('references');
const MAX_AGE_MS = 60_000;
const TIMEOUT_MS = 2_000;
const keyOf = ({ endpoint, url }: Datasource): string => `${endpoint}\n${url}`;

/** Forgets all references, for tests. */
export const forgetReferences = (): void => known.clear();

/** The enforced references during the planning of one statement. */
export class References {
  readonly #session: Session;
  readonly #read = new Map<string, ReadonlySet<string>>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Whether a datasource enforces a reference. @throws ReferencesNeeded */
  enforces(datasource: Datasource | undefined, key: string): boolean {
    if (datasource === undefined) return false;
    const place = keyOf(datasource);
    const own = this.#read.get(place);
    if (own !== undefined) return own.has(key);
    const found = known.get(place);
    if (found === undefined || this.#session.request.runtime.now() - found.at >= MAX_AGE_MS) throw new ReferencesNeeded(datasource);
    return found.keys.has(key);
  }

  /** Calls `make`, and calls it again after reading the references that it needs. @throws what `make` throws */
  async whileNeeded<T>(make: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await make();
      } catch (error) {
        if (!(error instanceof ReferencesNeeded)) throw error;
        await this.#load(error.datasource);
      }
    }
  }

  /** Reads the references of a datasource. If that fails, none counts as enforced. */
  async #load(datasource: Datasource): Promise<void> {
    const { now } = this.#session.request.runtime;
    const at = now();
    let keys: ReadonlySet<string> = new Set();
    try {
      const { enforcedReferences } = await import('../../engine/references.ts');
      keys = await onDatasource(this.#session, datasource.name, () => enforcedReferences(datasource, TIMEOUT_MS));
    } catch {
      // the statement is planned with all joins
    }
    this.#read.set(keyOf(datasource), keys);
    known.set(keyOf(datasource), { keys, at }, 500 + 250 * keys.size);
  }
}
