/** Roles that policies and stored texts name in their SQL. `svc_has_role('r')` is true for any role with that name, even one that is created later. */
import { cacheOf } from '../../cache.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { readModel } from '../../catalog/versions.ts';
import { badRequest, forbidden, quoted, type SvcError } from '../../errors.ts';
import type { Name } from '../../language/statements.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { Model } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { type ModelContext, namesRole, rolesAskedBy, rolesInTexts, type TestedRoles } from '../../planner/enforcement/index.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { loadGraph } from '../caller/lookup.ts';
import { mayMakePolicies } from '../caller/policies.ts';
import type { Runtime } from '../runtime.ts';
import type { Changing } from './changing.ts';
import { rulesOf } from './kept-policies.ts';

/** The roles that a list of policies tests, with the version that they were computed for. Graphs of many ontologies do not stay in memory. */
const kept = new WeakMap<OntologyRow['policies'], { readonly version: string; readonly asked: TestedRoles }>();

/** Cached roles by graph, with the policies that they were computed from. */
const known = new WeakMap<Graph, { readonly policies: OntologyRow['policies']; readonly asked: TestedRoles }>();

const contextOf = ({ parser, config }: Runtime, row: OntologyRow): ModelContext => ({
  parser,
  product: config.product,
  activeDatasource: row.active ?? 'main',
  allowedFunctions: allowedFunctionsOf(row),
});

async function rolesOf(ctx: Changing, row: OntologyRow): Promise<TestedRoles> {
  const { draft, request } = ctx.session;
  const { runtime } = request;
  const isDraft = draft?.row.key === row.key;
  const before = isDraft ? undefined : kept.get(row.policies);
  if (before?.version === row.version) return before.asked;
  const graph = isDraft ? await draft.graph() : await loadGraph(runtime, row);
  const found = known.get(graph);
  if (found !== undefined && found.policies === row.policies) return found.asked;
  const asked = rolesAskedBy(contextOf(runtime, row), graph, rulesOf(row.policies));
  known.set(graph, { policies: row.policies, asked });
  if (isDraft) return asked;
  kept.set(row.policies, { version: row.version, asked });
  // the model is not read again for its texts
  keepTexts(row, rolesInTexts(contextOf(runtime, row), graph.whole.model));
  return asked;
}

/** The roles that the texts of versions name. All models together may be larger than the memory for models. */
const inTexts = cacheOf<TestedRoles>('roles-in-texts');
const inDrafts = new WeakMap<Model, TestedRoles>();

const keyOfTexts = (row: OntologyRow): string => JSON.stringify([row.id, row.version, row.allowedFunctions]);
const keepTexts = (row: OntologyRow, tested: TestedRoles): void =>
  inTexts.set(keyOfTexts(row), tested, 200 + 200 * tested.names.size + 800 * tested.patterns.size);

async function rolesInTextsOf(ctx: Changing, row: OntologyRow): Promise<TestedRoles> {
  const { draft, request } = ctx.session;
  const { runtime } = request;
  if (draft?.row.key === row.key) {
    const { model } = await draft.graph();
    const found = inDrafts.get(model) ?? rolesInTexts(contextOf(runtime, row), model);
    inDrafts.set(model, found);
    return found;
  }
  const known = inTexts.get(keyOfTexts(row));
  if (known !== undefined) return known;
  const model = await readModel(runtime, row.id, row.version);
  // an ontology that was dropped concurrently has none
  const read = model === undefined ? NO_ROLES : rolesInTexts(contextOf(runtime, row), model);
  keepTexts(row, read);
  return read;
}

/**
 * Checks that no policy, and no view or other text of an ontology, tests for the name of a new role, unless the caller may create policies there. The creator of a role can add users
 * to it. A text that computes the name of the role from values of rows does not count: it would prevent all new roles, and anybody who edits an ontology can write one.
 * @throws SvcError 403 `forbidden`
 */
export async function requireMayCreateRole(ctx: Changing, name: Name): Promise<void> {
  const refused = (what: string): SvcError =>
    forbidden('forbidden', `A ${what} may test for the role ${quoted(name.text)}, so only users who may create policies there may create the role`, {
      offset: name.offset,
      hint: 'Ask an administrator to create the role',
    });
  for (const row of ctx.caller.snapshot.ontologies) {
    if (mayMakePolicies(ctx.principal, row.name)) continue;
    const tested = row.policies.length === 0 ? NO_ROLES : await rolesOf(ctx, row);
    if (tested.any || namesRole(tested, name.text)) throw refused('policy');
    if (namesRole(await rolesInTextsOf(ctx, row), name.text)) throw refused('view, condition or expression');
  }
}

const NO_ROLES: TestedRoles = { names: new Set(), patterns: new Map(), any: false, isComputed: false };

/** Checks that no policy tests for a role that is to be dropped. @throws SvcError 400 `in_use` */
export async function requireRoleUnused(ctx: Changing, name: Name): Promise<void> {
  for (const row of ctx.caller.snapshot.ontologies) {
    if (row.policies.length === 0 || !(await rolesOf(ctx, row)).names.has(fold(name.text))) continue;
    throw badRequest('in_use', `the role ${quoted(name.text)} is named by a policy`, { offset: name.offset, hint: 'Drop or replace the policy first' });
  }
}
