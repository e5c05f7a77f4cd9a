/** CREATE TOKEN and REVOKE TOKEN. */
import { creatorsOf } from '../../auth/authenticate.ts';
import { can } from '../../auth/grants.ts';
import type { TokenOrigin } from '../../auth/sign-in.ts';
import { createToken as newToken, sha256 } from '../../auth/tokens.ts';
import { listTokens } from '../../catalog/access.ts';
import * as catalog from '../../catalog/changes.ts';
import { findToken, revokeToken as revoke } from '../../catalog/tokens.ts';
import { badRequest, quoted } from '../../errors.ts';
import type { CreateToken, RevokeToken } from '../../language/statements.ts';
import { normalized } from '../../normalize.ts';
import { fold, INVISIBLE } from '../../ontology/names.ts';
import { lacks } from '../caller/lookup.ts';
import { type Changing, type Done, done } from './changing.ts';
import type { Kinds } from './kinds.ts';
import { makeRoomForToken, requireRoomForToken } from './rights-room.ts';

/** The end of the year 9999. ISO 8601 has other forms for later times, which PostgreSQL does not read. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The label of tokens that SHOW TOKEN FOR makes (service/ops/first-token.ts), and how many of them a user may have. */
const SHOWN = 'show_token';
const MOST_SHOWN = 20;
/** The labels of tokens that the service issues itself, and revokes with the login; and `SHOWN`. */
const RESERVED: ReadonlySet<string> = new Set<TokenOrigin | typeof SHOWN>(['get_token', 'get_svc_user_token', 'console', SHOWN]);
const LONGEST_LABEL = 100;

/** Checks that a label is visible, and does not look like a label of the service. @throws SvcError 400 `bad_label` */
function checkLabel({ text, offset }: NonNullable<CreateToken['label']>): void {
  if (text.trim() === '' || text.length > LONGEST_LABEL || INVISIBLE.test(text))
    throw badRequest('bad_label', `a label must have 1 to ${LONGEST_LABEL} characters and no control or invisible characters`, { offset });
  if (RESERVED.has(fold(normalized(text, 'NFKC').trim())))
    throw badRequest('bad_label', `the label ${quoted(text)} is reserved for tokens that the service issues`, { offset });
}

async function createToken(ctx: Changing, { user: name, label, expires, source, ifNone = false }: CreateToken): Promise<Done> {
  const user = await ctx.user(name);
  if (!can(ctx.principal, 'edit', ['user', user.name])) throw lacks('EDIT', `user.${user.name}`, source.offset);
  const guard = await ctx.requireMayChange(user, source.offset);
  if (label !== null) checkLabel(label);
  const { runtime } = ctx.session.request;
  const script = tokensOf(ctx);
  const again = ifNone ? script.shown.get(user.id) : undefined;
  if (again !== undefined) return done([], again);
  const known = ifNone ? [...(await listTokens(ctx.db, user.id)), ...(script.made.get(user.id) ?? [])].filter((t) => !script.revoked.has(t.token_id)) : [];
  if (ifNone && !(await needsToken(ctx, user, known))) return { calls: [], rows: () => known };
  const id = crypto.randomUUID();
  const surplus = known.filter((t) => t.label === SHOWN).slice(0, 1 - MOST_SHOWN);
  for (const t of surplus) await makeRoomForToken(ctx, user, String(t.token_id));
  await requireRoomForToken(ctx, user, id, source.offset);
  let at = runtime.now() + runtime.config.apiTokenTtlDays * 86_400_000;
  if (expires !== null) {
    const time = await catalog.parseTime(ctx.db, expires.text);
    if (time === undefined)
      throw badRequest('bad_time', 'EXPIRES must be a timestamp', { offset: expires.offset, hint: "For example EXPIRES '2031-02-03T04:05:06Z'" });
    if (time <= runtime.now()) throw badRequest('bad_time', 'EXPIRES is in the past', { offset: expires.offset });
    if (time > LATEST) throw badRequest('bad_time', 'EXPIRES must be before the year 10000', { offset: expires.offset });
    at = time;
  }
  const token = newToken();
  const end = new Date(at).toISOString();
  const calls = catalog.createToken({
    id,
    userId: user.id,
    hash: await sha256(token),
    label: ifNone ? SHOWN : (label?.text ?? null),
    expires: end,
    by: creatorsOf(ctx.principal),
  });
  const row = { token_id: id, user: user.name, token, expires: end };
  if (ifNone) script.shown.set(user.id, row);
  else script.made.set(user.id, [...(script.made.get(user.id) ?? []), listed(id, label?.text ?? null, runtime.now(), end)]);
  return done([...guard, ...calls, ...surplus.flatMap((t) => revoke(String(t.token_id)))], row);
}

/** What a script has done to tokens. The catalog does not have it before the script commits. */
interface OfScript {
  /** The tokens that SHOW TOKEN FOR has made, by id of the user: a script makes one of each user. */
  readonly shown: Map<string, Readonly<Record<string, unknown>>>;
  /** The tokens that CREATE TOKEN has made, as a list shows them, by id of the user. */
  readonly made: Map<string, readonly Listed[]>;
  readonly revoked: Set<unknown>;
}
type Listed = Awaited<ReturnType<typeof listTokens>>[number];

const scripts = new WeakMap<Changing, OfScript>();
function tokensOf(ctx: Changing): OfScript {
  const known = scripts.get(ctx) ?? { shown: new Map(), made: new Map(), revoked: new Set() };
  scripts.set(ctx, known);
  return known;
}

const listed = (id: string, label: string | null, now: number, expires: string): Listed => {
  const [created, until] = [new Date(now).toISOString(), expires].map((time) => time.replace('Z', '+00:00'));
  return { token_id: id, label, created: created ?? null, expires: until ?? null, last_used: null };
};

/** Whether SHOW TOKEN FOR makes a token: not of a user who is not active, for whom it would become valid later, and not if the user has tokens of others. */
async function needsToken(ctx: Changing, user: catalog.Found, known: readonly Listed[]): Promise<boolean> {
  if (!(await ctx.isActive(user))) return false;
  const now = ctx.session.request.runtime.now();
  return !known.some((t) => t.label !== SHOWN && !(Date.parse(t.expires ?? '') <= now));
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Revokes a token: the caller's own, or with EDIT on its user. Only administrators may revoke tokens of administrators. For other callers the token is unknown. */
async function revokeToken(ctx: Changing, { id }: RevokeToken): Promise<Done> {
  const found = ID.test(id.text) ? await findToken(ctx.db, id.text) : undefined;
  if (found === undefined || (found.user.id !== ctx.principal.userId && !can(ctx.principal, 'edit', ['user', found.user.name]))) {
    throw badRequest('unknown_token', `unknown token ${quoted(id.text)}`, {
      offset: id.offset,
      hint: 'SHOW TOKEN FOR u lists the ids of the tokens of a user',
    });
  }
  const guard = found.user.id === ctx.principal.userId ? [] : await ctx.requireMayChange(found.user, id.offset);
  await makeRoomForToken(ctx, found.user, found.id);
  const script = tokensOf(ctx);
  script.revoked.add(found.id);
  if (script.shown.get(found.user.id)?.token_id === found.id) script.shown.delete(found.user.id);
  return done([...guard, ...revoke(found.id)], { token_id: found.id, user: found.user.name, revoked: true });
}

export const TOKENS: Kinds<'create_token' | 'revoke_token'> = {
  create_token: { apply: createToken },
  revoke_token: { apply: revokeToken },
};
