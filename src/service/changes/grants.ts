/** GRANT, and the resources that it names. */
import { canGrant, canSee, type Resource } from '../../auth/grants.ts';
import * as catalog from '../../catalog/changes.ts';
import { badRequest, forbidden } from '../../errors.ts';
import type { Grant, Name } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { datasourceInStatement, loadGraph, quoted, unknownInStatement } from '../lookup.ts';
import { resourceText } from '../system-access.ts';
import { type Changing, type Done, done } from './context.ts';

export async function grant(ctx: Changing, statement: Grant): Promise<Done> {
  const { privilege, all, grantOption } = statement;
  const resource = await resourceOf(ctx, statement.resource);
  const text = resourceText(resource);
  if (!canGrant(ctx.principal, privilege, resource, all)) {
    throw forbidden('forbidden', `This needs ${privilege.toUpperCase()} ON ${all ? 'ALL ' : ''}${text} with grant option`, {
      offset: statement.source.offset,
    });
  }
  const grantee = statement.grantee.kind === 'user' ? await ctx.user(statement.grantee.name) : await ctx.role(statement.grantee.name);
  return done(catalog.grant({ grantee: { kind: statement.grantee.kind, id: grantee.id }, privilege, resource, all, grantOption }), {
    privilege: privilege.toUpperCase(),
    resource: text,
    is_all: all,
    grantee_type: statement.grantee.kind,
    grantee: grantee.name,
    grant_option: grantOption,
  });
}

/** The parts of a resource in the spelling of what they name. @throws SvcError 400 `unknown_*` */
async function resourceOf(ctx: Changing, parts: readonly Name[]): Promise<Resource> {
  const [kind, name, inner, object, more] = parts as [Name, ...(Name | undefined)[]];
  const fail = (at: Name, hint: string) =>
    badRequest('bad_resource', `${quoted(parts.map((p) => p.text).join('.'))} is no resource`, { offset: at.offset, hint });
  const word = fold(kind.text);
  const kinds = ['ontology', 'datasource', 'user', 'role', 'agent'];
  if (!kinds.includes(word)) throw fail(kind, `A resource begins with ${kinds.join(', ')}`);
  if (more !== undefined || (inner !== undefined && (word !== 'ontology' || object === undefined))) {
    throw fail(more ?? inner ?? kind, 'A resource is ontology[.n[.concept.c | .view.v]], datasource[.d], user[.u], role[.r] or agent[.a]');
  }
  if (name === undefined) return [word];
  if (word === 'datasource') return [word, datasourceInStatement(ctx.caller, name).name];
  if (word === 'user') return [word, (await ctx.user(name)).name];
  if (word === 'role') return [word, (await ctx.role(name)).name];
  if (word === 'agent') {
    const agent = ctx.caller.snapshot.agents.find((a) => a.key === fold(name.text) && canSee(ctx.principal, ['agent', a.name]));
    if (agent === undefined) throw unknownInStatement('agent', name, []);
    return [word, agent.name];
  }
  const ontology = ctx.ontology(name);
  if (inner === undefined || object === undefined) return [word, ontology.name];
  const what = fold(inner.text);
  if (what !== 'concept' && what !== 'view') throw fail(inner, 'Behind the ontology stands concept or view');
  const { draft, request } = ctx.session;
  const graph = draft?.row.key === ontology.key ? await draft.graph() : await loadGraph(request.runtime, ontology);
  const list: readonly { readonly name: string }[] = what === 'concept' ? graph.concepts : graph.model.views;
  const visible = list.filter((o) => canSee(ctx.principal, ['ontology', ontology.name, what, o.name]));
  const found = visible.find((o) => fold(o.name) === fold(object.text));
  if (found === undefined) {
    throw unknownInStatement(
      what,
      object,
      visible.map((o) => o.name),
    );
  }
  return [word, ontology.name, what, found.name];
}
