/** Limits the grants and tokens of a user: every request of the user reads its grants, and a list shows all of its tokens. */
import type { Principal } from '../../auth/authenticate.ts';
import { countsOf } from '../../catalog/rights.ts';
import { badRequest, quoted } from '../../errors.ts';
import type { Changing } from './changing.ts';

/** The most grants of a user or role that other users than administrators can make. */
const MOST_GRANTS = 10_000;
/** The most valid tokens of a user that CREATE TOKEN makes. */
const MOST_TOKENS = 1000;

type Counts = Record<'grants' | 'tokens', number>;
const counted = new WeakMap<Changing, Map<string, Counts>>();

/** The grants and tokens of a user or role, with those of the script, which are counted as the script makes them. */
async function countsIn(ctx: Changing, { id, isMade }: { readonly id: string; readonly isMade: boolean }): Promise<Counts> {
  let all = counted.get(ctx);
  if (all === undefined) {
    all = new Map();
    counted.set(ctx, all);
  }
  const counts = all.get(id) ?? (isMade ? { grants: 0, tokens: 0 } : await countsOf(ctx.db, id));
  all.set(id, counts);
  return counts;
}

interface Grantee {
  readonly id: string;
  readonly name: string;
}

/** @throws SvcError 400 `too_many_grants` if the user or role has too many grants, unless an administrator makes the grant */
export async function requireRoomForGrant(ctx: Changing, grantee: Grantee, offset: number): Promise<void> {
  if (ctx.principal.isAdmin) return;
  const counts = await countsIn(ctx, { id: grantee.id, isMade: ctx.made(grantee) });
  if (++counts.grants > MOST_GRANTS) throw tooManyGrants(grantee.name, offset);
}

/** The creator of an object gets a grant on it. @throws SvcError 400 `too_many_grants` */
export function requireRoomForOwn({ isAdmin, grants, name }: Principal, offset: number): void {
  if (!isAdmin && grants.filter((g) => g.role == null).length >= MOST_GRANTS) throw tooManyGrants(name, offset);
}

const tooManyGrants = (name: string, offset: number): Error =>
  badRequest('too_many_grants', `${quoted(name)} would have more than ${MOST_GRANTS} grants`, {
    offset,
    hint: 'Revoke some of them, or grant ON ALL instead of on each object; administrators can grant more',
  });

/** @throws SvcError 400 `too_many_tokens` */
export async function requireRoomForToken(ctx: Changing, user: Grantee, offset: number): Promise<void> {
  const counts = await countsIn(ctx, { id: user.id, isMade: ctx.made(user) });
  if (++counts.tokens > MOST_TOKENS)
    throw badRequest('too_many_tokens', `the user ${quoted(user.name)} would have more than ${MOST_TOKENS} valid tokens`, {
      offset,
      hint: 'Revoke some of them first',
    });
}
