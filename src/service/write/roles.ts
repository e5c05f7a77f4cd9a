/** CREATE and DROP ROLE, GRANT and REVOKE ROLE. */
import { can, canGrant, canSee } from '../../auth/grants.ts';
import { type Found, findRole } from '../../catalog/changes.ts';
import { type Promotion, promote } from '../../catalog/promotion.ts';
import * as rights from '../../catalog/rights.ts';
import { badRequest, forbidden, quoted } from '../../errors.ts';
import type { CreateRole, DropRole, GrantRole, Name, RevokeRole } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { lacks } from '../caller/lookup.ts';
import { type Changing, checkName, type Done, done, exists } from './changing.ts';
import type { Kinds } from './kinds.ts';
import { requireMayCreateRole, requireRoleUnused } from './policy-roles.ts';
import { requireRoomForRole } from './rights-room.ts';

async function createRole(ctx: Changing, { name, source, replace, ifNotExists }: CreateRole): Promise<Done> {
  ctx.mayCreate('role', source.offset);
  checkName(name, 'role');
  const key = fold(name.text);
  const known = ctx.roles.get(key) ?? (await findRole(ctx.db, name.text));
  if (known !== undefined && !ctx.dropped.has(known.id)) {
    if (!(replace || ifNotExists) || !canSee(ctx.principal, ['role', known.name])) throw exists('role', name);
    return done([], { role: known.name });
  }
  await requireMayCreateRole(ctx, name);
  const role = { id: crypto.randomUUID(), name: name.text };
  ctx.roles.set(key, role);
  return done([...rights.createRole(role.id, role.name), ...ctx.own(['role', role.name])], { role: role.name });
}

async function dropRole(ctx: Changing, { name, source }: DropRole): Promise<Done> {
  const role = await ctx.role(name);
  if (!can(ctx.principal, 'edit', ['role', role.name])) throw lacks('EDIT', `role.${role.name}`, source.offset);
  if (fold(role.name) === 'admin') throw builtIn('the role `admin` is built in and cannot be dropped', name);
  ctx.requireNotInPolicy('role', role, name);
  await requireRoleUnused(ctx, name);
  ctx.dropped.add(role.id);
  return done(rights.dropRole(role.id, role.name), { role: role.name, dropped: true });
}

/**
 * GRANT ROLE. For `admin`, credentials of the user that others control end in the same transaction, and the row lists what was revoked. These values are null if
 * the batch was committed but its answer was lost.
 */
async function grantRole(ctx: Changing, statement: GrantRole): Promise<Done> {
  const role = await grantableRole(ctx, statement.role, statement.source.offset);
  const user = await ctx.user(statement.user);
  const row = { role: role.name, user: user.name };
  if (fold(role.name) !== 'admin') {
    await requireRoomForRole(ctx, user, role, statement.source.offset);
    return done(rights.addMember(role.id, user.id), row);
  }
  ctx.admins.set(user.id, true);
  let revoked: Promotion | undefined;
  const calls = promote(role.id, user.id, (promotion) => {
    revoked = promotion;
  });
  // the values are known only after the commit
  const rows = () => [
    {
      ...row,
      tokens_revoked: revoked?.tokens ?? null,
      auth_grants_revoked: revoked?.authGrants ?? null,
      password_cleared: revoked?.password ?? null,
      email_cleared: revoked?.email ?? null,
    },
  ];
  return { calls: [...calls, ...rights.addMember(role.id, user.id)], rows };
}

async function revokeRole(ctx: Changing, statement: RevokeRole): Promise<Done> {
  const role = await grantableRole(ctx, statement.role, statement.source.offset);
  const user = await ctx.user(statement.user);
  if (!ctx.made(role, user) && ctx.admins.get(user.id) !== true && !(await rights.isMember(ctx.db, role.id, user.id))) {
    throw badRequest('unknown_grant', `the user ${quoted(user.name)} is not in the role ${quoted(role.name)}`, { offset: statement.user.offset });
  }
  if (fold(role.name) === 'admin') {
    await ctx.requireNotLastAdmin(user, statement.user);
    ctx.admins.set(user.id, false);
  }
  return done(rights.removeMember(role.id, user.id), { role: role.name, user: user.name, revoked: true });
}

/** Finds a role that the caller may grant: with EDIT on it with grant option. Only administrators may grant `admin`. @throws SvcError 400, 403 */
async function grantableRole(ctx: Changing, name: Name, offset: number): Promise<Found> {
  const role = await ctx.role(name);
  const allowed = fold(role.name) === 'admin' ? ctx.principal.isAdmin : canGrant(ctx.principal, 'edit', ['role', role.name], false);
  if (allowed) return role;
  throw forbidden('forbidden', `This needs EDIT ON role.${role.name} with grant option`, { offset, hint: 'Ask an administrator for the right' });
}

const builtIn = (message: string, { offset }: Name) => badRequest('built_in', message, { offset });

export const ROLES: Kinds<'create_role' | 'drop_role' | 'grant_role' | 'revoke_role'> = {
  create_role: { apply: createRole },
  drop_role: { apply: dropRole },
  grant_role: { apply: grantRole },
  revoke_role: { apply: revokeRole },
};
