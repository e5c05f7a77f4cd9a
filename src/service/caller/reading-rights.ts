/** The reading rights of a caller as a digest, to detect changes. */
import type { Caller } from '../../auth/authenticate.ts';
import { sha256 } from '../../auth/tokens.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import type { ReadingRights } from '../runtime.ts';
import { visibleOntologies } from './lookup.ts';
import { accessKey, accessOf } from './policies.ts';
import { sightText, tablesKey } from './sight.ts';

/**
 * Returns a digest of all grants of a caller and the policies that apply to it. The statements of a script may name users, roles and other ontologies, so the
 * rights on the ontology of the script are not enough. The digest also covers which part of that ontology the caller sees, and which tables it may query.
 * @param ofRows whether rows were read with the rights: a policy may show fewer of them after a change of the model that it reads, so the versions count where policies apply
 */
export async function rightsOf(caller: Caller, row: OntologyRow | undefined, ofRows = false): Promise<ReadingRights> {
  const { principal, snapshot } = caller;
  const grants = principal.grants.map(({ privilege, key, all, grantOption }) => JSON.stringify([privilege, key, all, grantOption])).sort();
  const granted = principal.isAdmin ? 'administrator' : [grants, [...principal.roles].sort()];
  const policies = visibleOntologies(snapshot, principal)
    .map((o) => [o.id, accessKey(accessOf(caller, o)), ofRows ? o.version : null])
    .filter(([, key]) => key !== '');
  const own = row === undefined ? null : [row.id, sightText(principal, row.name), tablesKey(principal, row)];
  return { ontology: row?.name ?? null, digest: await sha256(JSON.stringify([granted, policies, own])) };
}
