/** GRANT, REVOKE and REFRESH PERMISSIONS. */
import { canGrant, canSee, type Resource } from '../../auth/grants.ts';
import * as catalog from '../../catalog/changes.ts';
import { findUser } from '../../catalog/changes.ts';
import type { Call } from '../../catalog/db.ts';
import { requireNotAdmin } from '../../catalog/promotion.ts';
import * as rights from '../../catalog/rights.ts';
import { badRequest, forbidden, quoted, SvcError } from '../../errors.ts';
import type { Grant, Name, RefreshPermissions, Revoke } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { datasourceInStatement, loadGraph, unknownInStatement } from '../caller/lookup.ts';
import { resourceText } from '../caller/system-access.ts';
import { type Changing, type Done, done } from './changing.ts';
import type { Kinds } from './kinds.ts';
import { makeRoomForGrant, requireRoomForGrant } from './rights-room.ts';

async function grant(ctx: Changing, statement: Grant): Promise<Done> {
  const { privilege, all, grantOption } = statement;
  const resource = await resourceOf(ctx, statement);
  const text = resourceText(resource);
  await requireGrantOption(ctx, statement, resource);
  const guard = privilege === 'auth' ? await requireNoAdministrator(ctx, statement) : [];
  const grantee = statement.grantee.kind === 'user' ? await ctx.user(statement.grantee.name) : await ctx.role(statement.grantee.name);
  await requireRoomForGrant(ctx, grantee, { privilege, resource, all }, statement.source.offset);
  ctx.recordGrant(grantee, privilege, resource, all);
  const calls = catalog.grant({ grantee: { kind: statement.grantee.kind, id: grantee.id }, privilege, resource, all, grantOption });
  return done([...guard, ...(await existenceGuard(ctx, resource)), ...calls], {
    privilege: privilege.toUpperCase(),
    resource: text,
    is_all: all,
    grantee_type: statement.grantee.kind,
    grantee: grantee.name,
    grant_option: grantOption,
  });
}

/**
 * Refuses AUTH on an administrator: it has no effect now, but would have one if the user lost the role.
 * @returns calls to commit before the grant. They abort the batch if the user has become an administrator.
 * @throws SvcError 400 `administrator`
 */
async function requireNoAdministrator(ctx: Changing, { resource, source }: Grant): Promise<readonly Call[]> {
  const [, name] = resource;
  if (name === undefined) return [];
  const user = await ctx.user(name);
  if (await ctx.isAdministrator(user)) {
    throw badRequest('administrator', `the user ${quoted(user.name)} is an administrator`, {
      offset: source.offset,
      hint: 'Only administrators may impersonate administrators, and they do not need AUTH',
    });
  }
  return requireNotAdmin(user.id);
}

/** Calls that abort the batch if the object of a grant was dropped concurrently. */
async function existenceGuard(ctx: Changing, [kind, name]: Resource): Promise<readonly Call[]> {
  if (kind === undefined || name === undefined) return [];
  const at = { text: name, offset: 0 };
  if (kind === 'user') return rights.requireExists(kind, name, (await ctx.user(at)).id);
  if (kind === 'role') return rights.requireExists(kind, name, (await ctx.role(at)).id);
  if (kind === 'ontology') return rights.requireExists(kind, name, ctx.ontology(at).id);
  return rights.requireExists(kind as 'datasource' | 'agent', name, null);
}

/** Revokes exactly this grant. Grants that the grantee has made with it remain. */
async function revoke(ctx: Changing, statement: Revoke): Promise<Done> {
  const { privilege, all } = statement;
  const resource = await resourceOf(ctx, statement);
  await requireGrantOption(ctx, statement, resource);
  const { kind, name } = statement.grantee;
  const grantee = kind === 'user' ? await ctx.user(name) : await ctx.role(name);
  const text = resourceText(resource);
  if (!ctx.granted(grantee, privilege, resource, all) && !(await rights.hasGrant(ctx.db, grantee.id, privilege, resource, all))) {
    throw badRequest('unknown_grant', `the ${kind} ${quoted(grantee.name)} has no grant ${privilege.toUpperCase()} ON ${all ? 'ALL ' : ''}${text}`, {
      offset: statement.source.offset,
      hint: 'SHOW GRANTS lists the grants; grants ON ALL and grants without ALL are separate',
    });
  }
  await makeRoomForGrant(ctx, grantee, { privilege, resource, all });
  return done(rights.revoke({ grantee: { kind, id: grantee.id }, privilege, resource, all }), {
    privilege: privilege.toUpperCase(),
    resource: text,
    is_all: all,
    grantee_type: kind,
    grantee: grantee.name,
    revoked: true,
  });
}

/** Invalidates all cached rights. */
async function refreshPermissions(ctx: Changing, { source }: RefreshPermissions): Promise<Done> {
  if (!ctx.principal.isAdmin) throw forbidden('forbidden', 'Only administrators may use REFRESH PERMISSIONS', { offset: source.offset });
  return done(rights.refreshPermissions(), { refreshed: true });
}

/** Checks that the caller may grant or revoke a privilege. AUTH requires EDIT on the user with grant option; for administrators it requires an administrator. @throws SvcError 403 */
async function requireGrantOption(ctx: Changing, { privilege, all, source }: Grant | Revoke, resource: Resource): Promise<void> {
  const needed = privilege === 'auth' ? 'edit' : privilege;
  if (!canGrant(ctx.principal, needed, resource, all)) {
    throw forbidden('forbidden', `This needs ${needed.toUpperCase()} ON ${all ? 'ALL ' : ''}${resourceText(resource)} with grant option`, {
      offset: source.offset,
    });
  }
  if (privilege !== 'auth' || ctx.principal.isAdmin) return;
  const user = await findUser(ctx.db, resource[1] ?? '');
  if (user !== undefined) await ctx.requireMayChange(user, source.offset);
}

/**
 * Returns the parts of a resource as declared. Grants on concepts and views remain when a version drops them, so a caller who may
 * grant on the whole ontology may also name a concept or view that does not exist. Other objects that do not exist can be named
 * only by administrators, to revoke grants. @throws SvcError 400 `unknown_*`
 */
async function resourceOf(ctx: Changing, { kind, privilege, resource: parts }: Grant | Revoke): Promise<Resource> {
  try {
    return await existing(ctx, parts);
  } catch (error) {
    if (!(error instanceof SvcError) || !error.code.startsWith('unknown_')) throw error;
    const written = parts.map((part, i) => (i === 0 || i === 2 ? fold(part.text) : part.text));
    const inOntology = error.code === 'unknown_concept' || error.code === 'unknown_view';
    const may = inOntology ? canGrant(ctx.principal, privilege, ['ontology', written[1] ?? ''], true) : kind === 'revoke' && ctx.principal.isAdmin;
    if (!may) throw error;
    return inOntology ? ['ontology', ctx.ontology(parts[1] as Name).name, ...written.slice(2)] : written;
  }
}

async function existing(ctx: Changing, parts: readonly Name[]): Promise<Resource> {
  const [kind, name, inner, object, more] = parts as [Name, ...(Name | undefined)[]];
  const fail = (at: Name, hint: string) =>
    badRequest('bad_resource', `${quoted(parts.map((p) => p.text).join('.'))} is not a resource`, { offset: at.offset, hint });
  const word = fold(kind.text);
  const kinds = ['ontology', 'datasource', 'user', 'role', 'agent'];
  if (!kinds.includes(word)) throw fail(kind, `A resource must begin with one of ${kinds.join(', ')}`);
  if (more !== undefined || (inner !== undefined && (word !== 'ontology' || object === undefined))) {
    throw fail(more ?? inner ?? kind, 'A resource must be ontology[.n[.concept.c | .view.v]], datasource[.d], user[.u], role[.r] or agent[.a]');
  }
  if (name === undefined) return [word];
  if (word === 'datasource') return [word, datasourceInStatement(ctx.caller, name).name];
  if (word === 'user') return [word, (await ctx.user(name)).name];
  if (word === 'role') return [word, (await ctx.role(name)).name];
  if (word === 'agent') {
    const agent = ctx.caller.snapshot.agents.find((a) => a.key === fold(name.text) && canSee(ctx.principal, ['agent', a.name]));
    if (agent === undefined)
      throw unknownInStatement(
        'agent',
        name,
        ctx.caller.snapshot.agents.flatMap((a) => (canSee(ctx.principal, ['agent', a.name]) ? [a.name] : [])),
      );
    return [word, agent.name];
  }
  const ontology = ctx.ontology(name);
  if (inner === undefined || object === undefined) return [word, ontology.name];
  const what = fold(inner.text);
  if (what !== 'concept' && what !== 'view') throw fail(inner, 'After the ontology expected concept or view');
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

export const GRANTS: Kinds<'grant' | 'revoke' | 'refresh_permissions'> = {
  grant: { apply: grant },
  revoke: { apply: revoke },
  refresh_permissions: { apply: refreshPermissions },
};
