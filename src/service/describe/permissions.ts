/** What a caller may do, for SYS_PERMISSIONS: its own grants and those of its roles, and the schemas of the ontology in which it may query something. Pure. */
import { canAll } from '../../auth/grants.ts';
import { quoteBack } from '../../language/quote.ts';
import type { Source } from './system-source.ts';

/** A resource with each part in back-quotes, as clients of the field read it. */
const quotedResource = (resource: readonly string[]): string => resource.map(quoteBack).join('.');

/** The schemas of the ontology with a relation that the caller may query. */
function schemasOf({ graph, context, concepts }: Source): readonly string[] {
  const readsConcepts = concepts.some((c) => c.readable);
  const readsViews = graph.model.views.some((v) => graph.reads(v));
  return [...(readsConcepts ? ['', 'e', 'd'] : []), ...(readsViews ? ['v'] : [])].map((prefix) => prefix + context.product);
}

/** The rows of SYS_PERMISSIONS: permission, resource, is_all, grant_option. An administrator has EDIT on all kinds of resources. */
export function permissionsOf(source: Source): (readonly (string | boolean)[])[] {
  const { principal } = source.context.caller;
  const kinds = ['ontology', 'datasource', 'user', 'role', 'agent'];
  const own = principal.isAdmin
    ? kinds.map((kind) => ['EDIT', quotedResource([kind]), true, true] as const)
    : principal.grants.map((g) => [g.privilege.toUpperCase(), quotedResource(g.key), g.all, g.grantOption] as const);
  const { ontology } = source.context;
  if (ontology === undefined) return [...own];
  const all = canAll(principal, 'query', ['ontology', ontology.name]);
  return [...own, ...schemasOf(source).map((schema) => ['QUERY', quotedResource(['ontology', ontology.name, 'schema', schema]), all, false] as const)];
}
