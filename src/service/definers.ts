/**
 * Views are read by the rights of the user who last made them (docs/design/rights-and-visibility.md#views-and-their-definers): those rights, as far as a
 * statement needs them.
 */
import type { Caller } from '../auth/authenticate.ts';
import { can, type Holder } from '../auth/grants.ts';
import { loadSnapshot, type Snapshot } from '../catalog/snapshot.ts';
import { forbidden } from '../errors.ts';
import type { Graph } from '../ontology/graph.ts';
import { isRaw, type ViewDef } from '../ontology/model.ts';
import type { Runtime } from './runtime.ts';
import { seenBy } from './sight.ts';

/** A view is read whose definer's rights have not been asked for: planning begins again once they are there. */
export class DefinerNeeded extends Error {
  readonly id: string;
  constructor(id: string) {
    super('the rights of the definer of a view are needed');
    this.name = 'DefinerNeeded';
    this.id = id;
  }
}

const holderOf = ({ user, roles, grants }: Snapshot): Holder | null => (user === null ? null : { isAdmin: roles.some((r) => r.key === 'admin'), grants });

/** The definers' rights of one statement. A user who is not active keeps its grants, and its views; one who is dropped does not. */
export class Definers {
  readonly #runtime: Runtime;
  readonly #caller: Caller;
  readonly #known = new Map<string, Holder | null>();
  /** Whether a view was read by the rights of somebody: a plan of that holds no longer than they do. */
  used = false;

  constructor(runtime: Runtime, caller: Caller) {
    this.#runtime = runtime;
    this.#caller = caller;
    this.#known.set(caller.principal.userId, caller.principal);
  }

  /**
   * What the definer of a view sees of an ontology now; all of it for views from before that was kept.
   * @throws DefinerNeeded; SvcError 403 where the definer is gone, or may not query the datasource of a view on raw tables
   */
  sees(view: ViewDef, whole: Graph): Graph {
    if (view.definer === undefined) return whole;
    this.used = true;
    const holder = this.#known.get(view.definer);
    if (holder === undefined) throw new DefinerNeeded(view.definer);
    const reads = holder !== null && (!isRaw(view) || can(holder, 'query', ['datasource', view.datasource ?? '']));
    if (!reads) throw forbidden('forbidden', 'The definer of the view has no right to what it reads');
    return seenBy(holder, whole, this.#runtime.parser);
  }

  /** Reads the rights of a user, no older than what is known of the caller's. @throws SvcError 503 */
  async load(id: string): Promise<void> {
    const key = { kind: 'user', id } as const;
    const found = await loadSnapshot(key, this.#runtime);
    const current = found.permissions >= this.#caller.snapshot.permissions ? found : await loadSnapshot(key, { ...this.#runtime, fresh: true });
    this.#known.set(id, holderOf(current));
  }

  /** Makes something of the rights that are known, and once more for each that turns out to be needed. */
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
