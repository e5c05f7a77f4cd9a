/** SHOW VERSION and SHOW VERSIONS (docs/design/statements-and-versions.md#versions). */
import { can } from '../auth/grants.ts';
import { listVersions } from '../catalog/versions.ts';
import type { Session } from './changes.ts';
import type { Draft } from './draft.ts';
import { seesAll } from './sight.ts';

/** All versions, the newest first: statement null without EDIT, and for who does not see all that they name. @throws SvcError 503 */
export async function versionRows({ request, caller }: Session, { row }: Draft): Promise<readonly unknown[]> {
  const tells = can(caller.principal, 'edit', ['ontology', row.name]) && seesAll(caller.principal, row.name);
  const versions = await listVersions(request.runtime.db, row.id);
  return versions.map((v) => ({ ...v, statement: tells ? v.statement : null }));
}

/** The version that the request is about. @throws SvcError 503 */
export async function versionRow({ request }: Session, draft: Draft): Promise<readonly unknown[]> {
  const versions = await listVersions(request.runtime.db, draft.row.id, draft.version);
  return versions.map(({ statement: _, ...version }) => version);
}
