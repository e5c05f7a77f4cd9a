/** Roles that policies name in their SQL: `svc_has_role('r')` holds for whatever role has that name. */

import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, forbidden } from '../../errors.ts';
import type { Name } from '../../language/statements.ts';
import type { Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { type AskedRoles, rolesAskedBy } from '../../planner/enforcement/index.ts';
import { allowedFunctionsOf } from '../../planner/own-functions.ts';
import { rulesOf } from '../kept-policies.ts';
import { loadGraph, quoted } from '../lookup.ts';
import { mayMakePolicies } from '../policies.ts';
import type { Changing } from './context.ts';

/** By the graph of an ontology: the policies that were looked at, and the roles that they ask for. */
const known = new WeakMap<Graph, { readonly policies: OntologyRow['policies']; readonly asked: AskedRoles }>();

async function rolesOf(ctx: Changing, row: OntologyRow): Promise<AskedRoles> {
  const { draft, request } = ctx.session;
  const { runtime } = request;
  const graph = draft?.row.key === row.key ? await draft.graph() : await loadGraph(runtime, row);
  const found = known.get(graph);
  if (found !== undefined && found.policies === row.policies) return found.asked;
  const { parser, config } = runtime;
  const context = { parser, product: config.product, activeDatasource: row.active ?? 'main', allowedFunctions: allowedFunctionsOf(row) };
  const asked = rolesAskedBy(context, graph, rulesOf(row.policies));
  known.set(graph, { policies: row.policies, asked });
  return asked;
}

/**
 * Who makes a role may put users into it. So a role that a policy asks for is made by who may make that policy.
 * @throws SvcError 403 `forbidden`
 */
export async function requireUnasked(ctx: Changing, name: Name): Promise<void> {
  for (const row of ctx.caller.snapshot.ontologies) {
    if (row.policies.length === 0 || mayMakePolicies(ctx.principal, row.name)) continue;
    const { names, any } = await rolesOf(ctx, row);
    if (!any && !names.has(fold(name.text))) continue;
    throw forbidden('forbidden', `A policy may ask for the role ${quoted(name.text)}: who may make the policy makes the role`, {
      offset: name.offset,
      hint: 'Ask an administrator to create the role',
    });
  }
}

/** A role that a policy asks for is not dropped, as one to which a policy is granted. @throws SvcError 400 `in_use` */
export async function requireNotAsked(ctx: Changing, name: Name): Promise<void> {
  for (const row of ctx.caller.snapshot.ontologies) {
    if (row.policies.length === 0 || !(await rolesOf(ctx, row)).names.has(fold(name.text))) continue;
    throw badRequest('in_use', `the role ${quoted(name.text)} is named by a policy`, { offset: name.offset, hint: 'Drop or replace the policy first' });
  }
}
