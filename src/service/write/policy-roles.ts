/** Roles that policies name in their SQL. `svc_has_role('r')` is true for any role with that name, even one that is created later. */

import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, forbidden, quoted } from '../../errors.ts';
import type { Name } from '../../language/statements.ts';
import type { Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { rolesAskedBy, type TestedRoles } from '../../planner/enforcement/index.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { loadGraph } from '../caller/lookup.ts';
import { mayMakePolicies } from '../caller/policies.ts';
import type { Changing } from './changing.ts';
import { rulesOf } from './kept-policies.ts';

/** The roles that a list of policies tests, with the version that they were computed for. Graphs of many ontologies do not stay in memory. */
const kept = new WeakMap<OntologyRow['policies'], { readonly version: string; readonly asked: TestedRoles }>();

/** Cached roles by graph, with the policies that they were computed from. */
const known = new WeakMap<Graph, { readonly policies: OntologyRow['policies']; readonly asked: TestedRoles }>();

async function rolesOf(ctx: Changing, row: OntologyRow): Promise<TestedRoles> {
  const { draft, request } = ctx.session;
  const { runtime } = request;
  const isDraft = draft?.row.key === row.key;
  const before = isDraft ? undefined : kept.get(row.policies);
  if (before?.version === row.version) return before.asked;
  const graph = isDraft ? await draft.graph() : await loadGraph(runtime, row);
  const found = known.get(graph);
  if (found !== undefined && found.policies === row.policies) return found.asked;
  const { parser, config } = runtime;
  const context = { parser, product: config.product, activeDatasource: row.active ?? 'main', allowedFunctions: allowedFunctionsOf(row) };
  const asked = rolesAskedBy(context, graph, rulesOf(row.policies));
  known.set(graph, { policies: row.policies, asked });
  if (!isDraft) kept.set(row.policies, { version: row.version, asked });
  return asked;
}

/**
 * Checks that no policy tests for the name of a new role, unless the caller may create that policy. The creator of a role can add users to it.
 * @throws SvcError 403 `forbidden`
 */
export async function requireMayCreateRole(ctx: Changing, name: Name): Promise<void> {
  for (const row of ctx.caller.snapshot.ontologies) {
    if (row.policies.length === 0 || mayMakePolicies(ctx.principal, row.name)) continue;
    const { names, any } = await rolesOf(ctx, row);
    if (!any && !names.has(fold(name.text))) continue;
    throw forbidden('forbidden', `A policy may test for the role ${quoted(name.text)}, so only users who may create the policy may create the role`, {
      offset: name.offset,
      hint: 'Ask an administrator to create the role',
    });
  }
}

/** Checks that no policy tests for a role that is to be dropped. @throws SvcError 400 `in_use` */
export async function requireRoleUnused(ctx: Changing, name: Name): Promise<void> {
  for (const row of ctx.caller.snapshot.ontologies) {
    if (row.policies.length === 0 || !(await rolesOf(ctx, row)).names.has(fold(name.text))) continue;
    throw badRequest('in_use', `the role ${quoted(name.text)} is named by a policy`, { offset: name.offset, hint: 'Drop or replace the policy first' });
  }
}
