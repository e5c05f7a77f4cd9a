/** Limits the size of an ontology's versions in the catalog. Each version has the whole model, and is kept for at least `VERSION_RETENTION_DAYS`. */
import type { Principal } from '../../auth/authenticate.ts';
import { canAll } from '../../auth/grants.ts';
import { versionBytes } from '../../catalog/changes.ts';
import { badRequest, quoted } from '../../errors.ts';
import type { Runtime } from '../runtime.ts';

const MIB = 1024 * 1024;
/** Editors of parts of an ontology may use this share, so that they leave room for those who may change all of it. */
const SHARE_OF_PARTS = 1 / 2;
/** A change warns from this part of the limit on. */
const NEARLY = 3 / 4;

/** A warning of a change of an ontology whose versions have nearly used up their room. */
export interface NearlyFull {
  readonly code: 'versions_nearly_full';
  readonly message: string;
  readonly offset?: undefined;
}

/** Administrators have no limit: an ontology can always be repaired. @throws SvcError 400 `too_many_versions`; 503 */
export async function requireRoomForVersion(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  principal: Principal,
  { id, name }: { id: string; name: string },
  offset: number,
): Promise<readonly NearlyFull[]> {
  const changesAll = canAll(principal, 'edit', ['ontology', name]);
  const mostMiB = config.versionMiB * (changesAll ? 1 : SHARE_OF_PARTS);
  const bytes = await versionBytes(db, id);
  if (bytes < NEARLY * mostMiB * MIB) return [];
  const versions = `the versions of the ontology ${quoted(name)} take more than`;
  if (bytes < mostMiB * MIB || principal.isAdmin) {
    const message = `${versions} ${NEARLY * mostMiB} MiB in the catalog; from ${mostMiB} MiB on, only ${changesAll ? 'administrators' : 'users with EDIT on ALL of it'} can change it`;
    return [{ code: 'versions_nearly_full', message }];
  }
  throw badRequest('too_many_versions', `${versions} ${mostMiB} MiB in the catalog${changesAll ? '' : ', which is the share of editors of its parts'}`, {
    offset,
    hint: `Ask ${changesAll ? 'an administrator' : 'a user with EDIT on ALL of it'} to make the change, or the operator to let old versions be deleted (VERSION_RETENTION_DAYS), or to set a larger VERSION_MIB`,
  });
}
