/**
 * Loads the rights of definers. Views and the conditions of logic concepts are read with the rights of the user who last wrote them
 * (docs/design/rights-and-visibility.md#views-and-their-definers).
 */
import type { Caller } from '../../auth/authenticate.ts';
import { can, type Holder } from '../../auth/grants.ts';
import { loadSnapshot, type Snapshot } from '../../catalog/snapshot.ts';
import { forbidden } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import { isRaw } from '../../ontology/model.ts';
import type { Defined } from '../../planner/plan/context.ts';
import type { Runtime } from '../runtime.ts';
import { seenBy } from './sight.ts';

/** The plan needs rights of a definer that are not loaded yet. They are loaded, and planning starts again. */
class DefinerNeeded extends Error {
  readonly id: string;
  constructor(id: string) {
    super('the rights of a definer are needed');
    this.name = 'DefinerNeeded';
    this.id = id;
  }
}

const holderOf = ({ user, roles, grants }: Snapshot): Holder | null => (user === null ? null : { isAdmin: roles.some((r) => r.key === 'admin'), grants });

/** The rights of the definers of one statement. The views of an inactive user keep working, those of a dropped user do not. */
export class Definers {
  readonly #runtime: Runtime;
  readonly #caller: Caller;
  readonly #known = new Map<string, Holder | null>();
  /** True if the plan used a definer's rights. Such a plan must not be reused after those rights change. */
  used = false;

  constructor(runtime: Runtime, caller: Caller) {
    this.#runtime = runtime;
    this.#caller = caller;
    this.#known.set(caller.principal.userId, caller.principal);
  }

  /**
   * Returns the part of an ontology that the definer of a view or of a logic concept's condition sees now; all of it if no definer is stored.
   * @throws DefinerNeeded; SvcError 403 if the definer was dropped, or may not query the datasource of a view over tables
   */
  sees(defined: Defined, whole: Graph): Graph {
    if (defined.definer === undefined) return whole;
    this.used = true;
    const holder = this.#known.get(defined.definer);
    if (holder === undefined) throw new DefinerNeeded(defined.definer);
    const isOnTables = 'sql' in defined && isRaw(defined);
    const reads = holder !== null && (!isOnTables || can(holder, 'query', ['datasource', defined.datasource ?? '']));
    if (!reads) throw forbidden('forbidden', 'The definer has no right to read everything that the text reads');
    const seen = seenBy(holder, whole, this.#runtime.parser);
    // A concept over `thing` has the rows of all concepts, and its definer may be able to read only some of them.
    const isOverAll = 'source' in defined && defined.source.def === null;
    if (isOverAll && seen !== whole) throw forbidden('forbidden', 'The definer may not read the rows of all concepts');
    return seen;
  }

  /** Reads the rights of a user. They are not older than the caller's snapshot. @throws SvcError 503 */
  async load(id: string): Promise<void> {
    const key = { kind: 'user', id } as const;
    const found = await loadSnapshot(key, this.#runtime);
    const current = found.permissions >= this.#caller.snapshot.permissions ? found : await loadSnapshot(key, { ...this.#runtime, fresh: true });
    this.#known.set(id, holderOf(current));
  }

  /** Calls `make`, and calls it again after loading each definer that it needs. @throws SvcError 503, and what `make` throws */
  async whileNeeded<T>(make: () => T): Promise<T> {
    for (;;) {
      try {
        return make();
      } catch (error) {
        if (!(error instanceof DefinerNeeded) || this.#known.has(error.id)) throw error;
        await this.load(error.id);
      }
    }
  }
}
