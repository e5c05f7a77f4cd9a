/** Digests of mappings: the tables of cached mappings have them. */
import type { Caller } from '../../auth/authenticate.ts';
import { sha256 } from '../../auth/tokens.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import type { Runtime } from '../runtime.ts';
import { connectionDigest } from './datasource.ts';

const digests = new WeakMap<MappingDef, Promise<string>>();

/** A digest of the SELECT of a mapping and the types of its columns, as 24 hexadecimal digits. */
export function mappingDigest(mapping: MappingDef): Promise<string> {
  let digest = digests.get(mapping);
  if (digest === undefined) {
    const { sql, datasource, columns } = mapping;
    digest = sha256(JSON.stringify([sql, datasource, columns.map((c) => [c.name, c.type, c.modifier, c.collation])])).then((hash) => hash.slice(0, 24));
    digests.set(mapping, digest);
  }
  return digest;
}

/** The digest of the table of a mapping in a datasource. In another datasource than its own, it also depends on the connection of its own. @param key the key of the datasource */
export async function digestIn(runtime: Runtime, caller: Caller, mapping: MappingDef, key: string): Promise<string> {
  const digest = await mappingDigest(mapping);
  if (key === fold(mapping.datasource)) return digest;
  return (await sha256(JSON.stringify([digest, await connectionDigest(runtime, caller, mapping.datasource), key]))).slice(0, 24);
}
