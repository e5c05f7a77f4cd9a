/** Limits the grants and tokens of a user: every request of the user reads its grants, and a list shows all of its tokens. */
import type { Principal } from '../../auth/authenticate.ts';
import { type GrantKey, grantKeyText, grantsOn, rightsOf, rightsOn, validTokens } from '../../catalog/rights.ts';
import { badRequest, quoted } from '../../errors.ts';
import { fold } from '../../ontology/names.ts';
import type { Changing } from './changing.ts';

/** The most grants of a user or role on an object and its parts that other users than administrators can make: no owner uses up the room of others. */
const MOST_GRANTS = 1000;
/** The most grants of a user, with those of its roles, on all objects together whose rights the granter may grant. Roles that the granter may grant count too. */
const MOST_OF_A_GRANTER = 5000;
/** The most grants and roles of a user, with the grants of its roles, that other users than administrators make. */
const MOST_RIGHTS = 30_000;
/** From half of them on, a granter may have this part of the room that is left: several granters do not use up the room of others. */
const PART_OF_THE_REST = 1 / 5;
/** The most users, roles, agents and ontologies of which a user can be an owner by creating them. */
const MOST_OWNED = 10_000;
/** The most valid tokens of a user that CREATE TOKEN makes. */
const MOST_TOKENS = 1000;

/** What the script has counted, with its own changes. */
interface Counted {
  /** Grants as texts, by grantee and object. */
  readonly grants: Map<string, Set<string>>;
  /** How many rights a user or role has, by its id. */
  readonly rights: Map<string, Rights>;
  /** Ids of valid tokens, by id of the user. */
  readonly tokens: Map<string, Set<string>>;
}

interface Rights {
  /** Of the user with its roles; of a role, its own: what a member has elsewhere does not prevent a grant to the role. */
  all: number;
  /** Those on objects whose rights the caller may grant; of a role, the most that it or a member has. */
  ofCaller: number;
}
const counted = new WeakMap<Changing, Counted>();

function countedIn(ctx: Changing): Counted {
  const known = counted.get(ctx) ?? { grants: new Map(), rights: new Map(), tokens: new Map() };
  counted.set(ctx, known);
  return known;
}

interface Grantee {
  readonly id: string;
  readonly name: string;
}

/** The grants of a user or role on the object of a resource, with those of the script. */
async function grantsIn(ctx: Changing, grantee: Grantee, resource: readonly string[]): Promise<Set<string>> {
  const { grants } = countedIn(ctx);
  const place = JSON.stringify([grantee.id, ...resource.slice(0, 2).map(fold)]);
  const known = grants.get(place) ?? new Set(ctx.made(grantee) ? [] : await grantsOn(ctx.db, grantee.id, resource));
  grants.set(place, known);
  return known;
}

/** @throws SvcError 400 `too_many_grants` if the user or role has too many grants on the object, unless it has this one or an administrator makes it */
export async function requireRoomForGrant(ctx: Changing, grantee: Grantee, grant: GrantKey, offset: number): Promise<void> {
  if (ctx.principal.isAdmin) return;
  const grants = await grantsIn(ctx, grantee, grant.resource);
  const text = grantKeyText(grant);
  if (!grants.has(text) && grants.size >= MOST_GRANTS) {
    const object = grant.resource.slice(0, 2).join('.');
    throw badRequest('too_many_grants', `${quoted(grantee.name)} would have more than ${MOST_GRANTS} grants on ${object} and its parts`, {
      offset,
      hint: 'Revoke some of them, or grant ON ALL instead of on each object; administrators can grant more',
    });
  }
  if (!grants.has(text)) await requireRoom(ctx, grantee, { all: 1, ofCaller: 1 }, offset);
  grants.add(text);
}

/** The grants and roles of a user or role, with those of the script. Each request of the user reads them. */
async function rightsIn(ctx: Changing, grantee: Grantee): Promise<Rights> {
  const { rights } = countedIn(ctx);
  let known = rights.get(grantee.id);
  if (known === undefined) {
    known = { all: 0, ofCaller: 0 };
    if (!ctx.made(grantee)) {
      const mine = grantableBy(ctx.principal);
      // who may grant rights on a kind of objects does not own all of them: members of a role could prevent its grants to the role
      const owned = mine.filter((place) => place.length > 1);
      known.all = await rightsOf(ctx.db, grantee.id);
      known.ofCaller = Math.max(await rightsOn(ctx.db, grantee.id, mine, false), await rightsOn(ctx.db, grantee.id, owned, true));
    }
    rights.set(grantee.id, known);
  }
  return known;
}

/** The rights of a role, without what its members have elsewhere. */
async function ownRights(ctx: Changing, role: Grantee): Promise<Rights> {
  if (ctx.made(role)) return countedIn(ctx).rights.get(role.id) ?? { all: 0, ofCaller: 0 };
  return { all: await rightsOf(ctx.db, role.id), ofCaller: await rightsOn(ctx.db, role.id, grantableBy(ctx.principal), false) };
}

/** The objects and kinds of objects on which, or on parts of which, the caller may grant a right. */
const grantableBy = ({ grants }: Principal): readonly (readonly string[])[] => grants.filter((g) => g.grantOption).map((g) => g.key.slice(0, 2));

/** @param more what is added @throws SvcError 400 `too_many_grants` */
async function requireRoom(ctx: Changing, grantee: Grantee, more: Rights, offset: number): Promise<void> {
  const rights = await rightsIn(ctx, grantee);
  const all = rights.all + more.all;
  const most = all <= MOST_RIGHTS / 2 ? MOST_OF_A_GRANTER : Math.min(MOST_OF_A_GRANTER, Math.floor((MOST_RIGHTS - all) * PART_OF_THE_REST));
  if (all <= MOST_RIGHTS && rights.ofCaller + more.ofCaller > most) {
    const hint = 'Revoke some of them, also from its roles; administrators can grant more';
    const who = `${quoted(grantee.name)} (or a member, if it is a role)`;
    throw badRequest('too_many_grants', `${who} would have more than ${most} grants and roles that you may grant`, { offset, hint });
  }
  if (all > MOST_RIGHTS) {
    const hint = 'Ask an administrator, who can revoke some of them, or grant more';
    throw badRequest('too_many_grants', `${quoted(grantee.name)} would have more than ${MOST_RIGHTS} grants and roles, with the grants of its roles`, {
      offset,
      hint,
    });
  }
  rights.all = all;
  rights.ofCaller += more.ofCaller;
}

/** A member of a role has its grants. @throws SvcError 400 `too_many_grants`, unless an administrator grants the role */
export async function requireRoomForRole(ctx: Changing, user: Grantee, role: Grantee, offset: number): Promise<void> {
  if (ctx.principal.isAdmin) return;
  const { all, ofCaller } = await ownRights(ctx, role);
  await requireRoom(ctx, user, { all: all + 1, ofCaller: ofCaller + 1 }, offset);
}

/** A revoked grant makes room for another one in the script. */
export async function makeRoomForGrant(ctx: Changing, grantee: Grantee, grant: GrantKey): Promise<void> {
  if (!ctx.principal.isAdmin) (await grantsIn(ctx, grantee, grant.resource)).delete(grantKeyText(grant));
}

/** The creator of an object gets a grant on it. Only such grants count: others can grant the user any number of rights. @throws SvcError 400 `too_many_grants` */
export function requireRoomForOwn({ isAdmin, grants, name }: Principal, offset: number): void {
  if (isAdmin) return;
  const owned = grants.filter((g) => g.role == null && g.privilege === 'edit' && g.all && g.grantOption && g.key.length === 2);
  if (owned.length < MOST_OWNED) return;
  throw badRequest('too_many_grants', `${quoted(name)} would be the owner of more than ${MOST_OWNED} objects`, {
    offset,
    hint: 'Drop some of them first; administrators can create more',
  });
}

/** The valid tokens of a user, with those of the script. */
async function tokensIn(ctx: Changing, user: Grantee): Promise<Set<string>> {
  const { tokens } = countedIn(ctx);
  const known = tokens.get(user.id) ?? new Set(ctx.made(user) ? [] : await validTokens(ctx.db, user.id));
  tokens.set(user.id, known);
  return known;
}

/** @param id that of the new token @throws SvcError 400 `too_many_tokens` */
export async function requireRoomForToken(ctx: Changing, user: Grantee, id: string, offset: number): Promise<void> {
  const tokens = await tokensIn(ctx, user);
  if (tokens.size >= MOST_TOKENS)
    throw badRequest('too_many_tokens', `the user ${quoted(user.name)} would have more than ${MOST_TOKENS} valid tokens`, {
      offset,
      hint: 'Revoke some of them first',
    });
  tokens.add(id);
}

/** A revoked token makes room for another one in the script. @param id that of the token */
export async function makeRoomForToken(ctx: Changing, user: Grantee, id: string): Promise<void> {
  (await tokensIn(ctx, user)).delete(id);
}
