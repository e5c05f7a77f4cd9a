/** SHOW VERSION and SHOW VERSIONS (docs/design/statements-and-versions.md#versions). */
import { can } from '../../auth/grants.ts';
import { listVersions, nameVersions } from '../../catalog/versions.ts';
import { seesAll } from '../caller/sight.ts';
import type { OpenOntology, Session } from '../session.ts';

/** Returns the versions, newest first. The statement is null if the caller has no EDIT on the ontology or does not see all of it, and for old versions beyond a total size. @throws SvcError 503 */
export async function versionRows({ request, caller }: Session, { row }: OpenOntology): Promise<readonly unknown[]> {
  const showsStatements = can(caller.principal, 'edit', ['ontology', row.name]) && seesAll(caller.principal, row.name);
  return showsStatements ? listVersions(request.runtime.db, row.id) : nameVersions(request.runtime.db, row.id, null);
}

/** Returns the version of the draft. @throws SvcError 503 */
export async function versionRow({ request }: Session, draft: OpenOntology): Promise<readonly unknown[]> {
  const versions = await nameVersions(request.runtime.db, draft.row.id, draft.version);
  return versions.map(({ statement: _, ...version }) => version);
}
