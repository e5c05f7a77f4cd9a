/** Row counts for the planner (docs/design/sql-shapes.md#row-counts). They are read from the catalog when a plan asks for them, and planning starts again. */
import { cacheOf } from '../../cache.ts';
import { NO_COUNTS, type RowCounts, readCounts } from '../../catalog/counts.ts';
import type { MappingDef } from '../../ontology/model.ts';
import type { Session } from '../session.ts';

/** The plan needs row counts that are not loaded yet. */
class CountsNeeded extends Error {}

/** The counts of versions. Newer counts of the same version are used when the entry is gone: they change the speed of a query, not its result. */
const counted = cacheOf<RowCounts>('counts');

/** The size of an entry, as it is not known how many objects were counted. */
const ENTRY_BYTES = 20_000;

/** The row counts of the version that a statement reads. */
export class PlanCounts {
  readonly #session: Session;
  #known: RowCounts | undefined;

  constructor(session: Session) {
    this.#session = session;
    const { draft } = session;
    this.#known = draft === undefined || draft.changed ? NO_COUNTS : counted.get(draft.version);
  }

  /** The number of rows of a mapping; undefined if they were not counted. @throws CountsNeeded */
  rowsOf(mapping: MappingDef): number | undefined {
    if (this.#known === undefined) throw new CountsNeeded();
    return this.#known('mapping', mapping.name) ?? undefined;
  }

  /** Calls `make`, and calls it again after loading the counts if it needs them. @throws what `make` throws */
  async whileNeeded<T>(make: () => Promise<T>): Promise<T> {
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof CountsNeeded)) throw error;
      await this.#load();
      return await make();
    } finally {
      // what is planned later for the same statement does not wait for counts
      this.#known ??= NO_COUNTS;
    }
  }

  /** Reads the counts. If the catalog fails, the query is planned without counts. */
  async #load(): Promise<void> {
    const { draft, request } = this.#session;
    const version = draft?.version ?? '';
    try {
      this.#known = await readCounts(request.runtime.db, version);
      counted.set(version, this.#known, ENTRY_BYTES);
    } catch {
      this.#known = NO_COUNTS;
    }
  }
}
