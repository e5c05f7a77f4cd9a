/** Digests of mappings: the tables of cached mappings have them. */
import { sha256 } from '../../auth/tokens.ts';
import type { MappingDef } from '../../ontology/model.ts';

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
