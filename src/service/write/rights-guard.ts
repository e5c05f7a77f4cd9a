/** Commits what a script writes, if its caller still has the rights that the script was checked with. */
import type { Caller } from '../../auth/authenticate.ts';
import { includes } from '../../auth/grants.ts';
import { commit } from '../../catalog/changes.ts';
import type { Call, CatalogDb } from '../../catalog/db.ts';
import { changesRights, requireAdmin, requireSameRights } from '../../catalog/rights.ts';
import type { GrantRow } from '../../catalog/snapshot.ts';
import { SvcError } from '../../errors.ts';

/** A batch that a script writes. */
export interface Batch {
  readonly calls: readonly Call[];
  /** The version that it writes. */
  readonly version: string | null;
  /** True if the batch changes rights or objects of rights. Then any concurrent change of rights aborts it; otherwise only the loss of a right of the caller does. */
  readonly strict: boolean;
}

/** How often a batch is retried because rights of other users have changed. */
const MAX_RETRIES = 5;

/** True if `now` has all rights of `before`. */
const keepsAll = (before: readonly GrantRow[], now: readonly GrantRow[]): boolean =>
  before.every((old) =>
    now.some(
      (grant) =>
        includes(grant.privilege, old.privilege) &&
        grant.all === old.all &&
        (grant.grantOption || !old.grantOption) &&
        grant.key.length === old.key.length &&
        grant.key.every((part, i) => part === old.key[i]),
    ),
  );

export class RightsGuard {
  readonly #caller: Caller;
  /** The number of changes of rights that the next batch expects in the catalog. */
  #permissions: number;

  /** @param caller the caller that the script was checked with; it may contain grants that the script has added */
  constructor(caller: Caller) {
    this.#caller = caller;
    this.#permissions = caller.snapshot.permissions;
  }

  /**
   * Commits a batch.
   * @throws SvcError 409 `version_conflict` if the caller has lost a right, and as `commit`; as `authenticate` if the credential has ended
   */
  async commit(db: CatalogDb, batch: Batch): Promise<void> {
    for (let retries = 0; ; retries++) {
      try {
        await commit(db, [...this.#checks(), ...batch.calls], batch.version);
        this.#permissions += batch.calls.filter(changesRights).length;
        return;
      } catch (error) {
        const isConflict = error instanceof SvcError && error.code === 'version_conflict';
        if (!isConflict || batch.strict || retries === MAX_RETRIES || !(await this.#keepsRights())) throw error;
      }
    }
  }

  /** Calls that abort the batch if the rights have changed. */
  #checks(): readonly Call[] {
    const { isAdmin, userId, credential, actor } = this.#caller.principal;
    if (!isAdmin) return [requireSameRights(this.#permissions)];
    return credential === 'admin_token' && actor === undefined ? [] : [requireAdmin(userId)];
  }

  /** True if rights have changed and the caller has lost none. Then updates the expected number. */
  async #keepsRights(): Promise<boolean> {
    const { principal } = this.#caller;
    if (principal.isAdmin) return false;
    const now = await this.#caller.refresh();
    if (now.snapshot.permissions === this.#permissions || !keepsAll(principal.grants, now.principal.grants)) return false;
    this.#permissions = now.snapshot.permissions;
    return true;
  }
}
