/** The model of an older version, for rollbacks and their plans. */
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { readModel } from '../../catalog/versions.ts';
import { badRequest, quoted } from '../../errors.ts';
import type { Model } from '../../ontology/model.ts';
import type { Runtime } from '../runtime.ts';

/** @param offset where an error is placed @throws SvcError 400 `unknown_version`; as `readModel` */
export async function modelOf(runtime: Runtime, { id, name }: Pick<OntologyRow, 'id' | 'name'>, version: string, offset: number): Promise<Model> {
  const model = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(version) ? await readModel(runtime, id, version.toLowerCase()) : undefined;
  if (model === undefined)
    throw badRequest('unknown_version', `the ontology ${quoted(name)} has no version ${quoted(version)}`, { offset, hint: 'SHOW VERSIONS lists them' });
  return model;
}
