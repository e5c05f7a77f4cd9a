/** Commits what a script writes, if its caller still has the rights by which the script was judged. */
import type { Caller } from '../auth/authenticate.ts';
import { includes } from '../auth/grants.ts';
import { commit } from '../catalog/changes.ts';
import type { Call, CatalogDb } from '../catalog/db.ts';
import { changesRights, isStillAdmin, sameRights } from '../catalog/rights.ts';
import type { GrantRow } from '../catalog/snapshot.ts';
import { SvcError } from '../errors.ts';

/** A batch that a script writes. */
export interface Batch {
  readonly calls: readonly Call[];
  /** The version that it writes. */
  readonly version: string | null;
  /** It changes rights, or what rights are on: any other change of rights aborts it. Else only the loss of a right of the caller does. */
  readonly strict: boolean;
}

/** How often the rights of other users may change while one batch is written. */
const MOST_RETRIES = 5;

/** Whether every right of `before` is still there. */
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
  /** The number of the catalog's rights that the next batch expects. */
  #permissions: number;

  /** @param caller as the script was judged; grants that the script itself adds may be added to it */
  constructor(caller: Caller) {
    this.#caller = caller;
    this.#permissions = caller.snapshot.permissions;
  }

  /**
   * Commits a batch.
   * @throws SvcError 409 `version_conflict` if the caller lost a right meanwhile, and as `commit`; as `authenticate` if the credential ended
   */
  async commit(db: CatalogDb, batch: Batch): Promise<void> {
    for (let retries = 0; ; retries++) {
      try {
        await commit(db, [...this.#checks(), ...batch.calls], batch.version);
        this.#permissions += batch.calls.filter(changesRights).length;
        return;
      } catch (error) {
        const overtaken = error instanceof SvcError && error.code === 'version_conflict';
        if (!overtaken || batch.strict || retries === MOST_RETRIES || !(await this.#onlyOthers())) throw error;
      }
    }
  }

  /** Calls that abort the batch if the rights have changed. */
  #checks(): readonly Call[] {
    const { isAdmin, userId, credential, actor } = this.#caller.principal;
    if (!isAdmin) return [sameRights(this.#permissions)];
    return credential === 'admin_token' && actor === undefined ? [] : [isStillAdmin(userId)];
  }

  /** Whether rights have changed, none of them the caller's: then expects what they are now. */
  async #onlyOthers(): Promise<boolean> {
    const { principal } = this.#caller;
    if (principal.isAdmin) return false;
    const now = await this.#caller.refresh();
    if (now.snapshot.permissions === this.#permissions || !keepsAll(principal.grants, now.principal.grants)) return false;
    this.#permissions = now.snapshot.permissions;
    return true;
  }
}
