/** Limits what the versions of an ontology take in the catalog. Each has the whole model, and stays at least for `VERSION_RETENTION_DAYS`. */
import { versionBytes } from '../../catalog/changes.ts';
import { badRequest, quoted } from '../../errors.ts';
import type { Runtime } from '../runtime.ts';

const MIB = 1024 * 1024;

/** @throws SvcError 400 `too_many_versions`; 503 */
export async function requireRoomForVersion(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  { id, name }: { id: string; name: string },
  offset: number,
): Promise<void> {
  if ((await versionBytes(db, id)) < config.versionMiB * MIB) return;
  throw badRequest('too_many_versions', `the versions of the ontology ${quoted(name)} take more than ${config.versionMiB} MiB in the catalog`, {
    offset,
    hint: 'Ask the operator to let old versions be deleted (VERSION_RETENTION_DAYS), or to set a larger VERSION_MIB',
  });
}
