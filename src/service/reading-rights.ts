/** What a caller may read, as a digest that can be compared later. */
import type { Caller } from '../auth/authenticate.ts';
import { sha256 } from '../auth/tokens.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { accessKey, accessOf } from './policies.ts';
import { sightKey, tablesKey } from './sight.ts';

/** What a caller may read, of an ontology and of the whole service: equal digests, equal rights. `ontology`: of the script; null: none. */
export interface ReadingRights {
  readonly ontology: string | null;
  readonly digest: string;
}

/**
 * The rights of a caller: all of its grants, and the policies in force for it. The statements of a script may name users, roles and other ontologies, so the
 * rights on the ontology of the script are not enough. The digest also covers what the caller sees of that ontology, and which of its tables it may query.
 */
export async function rightsOf(caller: Caller, row: OntologyRow | undefined): Promise<ReadingRights> {
  const { principal, snapshot } = caller;
  const grants = principal.grants.map(({ privilege, key, all, grantOption }) => JSON.stringify([privilege, key, all, grantOption])).sort();
  const held = principal.isAdmin ? 'administrator' : [grants, [...principal.roles].sort()];
  const policies = snapshot.ontologies.map((o) => [o.id, accessKey(accessOf(caller, o))]).filter(([, key]) => key !== '');
  const own = row === undefined ? null : [row.id, sightKey(principal, row.name), tablesKey(principal, row)];
  return { ontology: row?.name ?? null, digest: await sha256(JSON.stringify([held, policies, own])) };
}
