/** Acting as another user (docs/design/rights-and-visibility.md#impersonation): `x-api-impersonate-user`, for callers with AUTH on that user. */
import { loadSnapshot } from '../catalog/snapshot.ts';
import { forbidden } from '../errors.ts';
import { type AuthOptions, type Caller, makersOf, principalOf } from './authenticate.ts';
import { can } from './grants.ts';

/** The same for whatever reason: who may not be a user learns nothing of it. */
const refused = () => forbidden('forbidden', 'This needs AUTH on that user', { hint: 'GRANT AUTH ON user.<other> TO USER <you> gives it' });

/** A name as it was meant: bytes of UTF-8 reach us as one character each. */
function named(header: string): string {
  const bytes = Uint8Array.from(header, (c) => c.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).trim();
  } catch {
    return header.trim();
  }
}

/**
 * The user of that name, with its rights and none of the caller's own; what the caller's credential says of it (tenant, claims)
 * does not go along. Only administrators act as administrators, whatever AUTH grants there are.
 * @throws SvcError 403 `forbidden` without the right, or where there is no such user; 503
 */
export async function impersonate(caller: Caller, header: string, options: AuthOptions): Promise<Caller> {
  const name = named(header);
  const { principal } = caller;
  if (!/^[^\u0000-\u001f\u007f-\u009f]{1,256}$/.test(name) || !can(principal, 'auth', ['user', name])) throw refused();
  const snapshot = await loadSnapshot({ kind: 'name', name, email: null }, options);
  const { user } = snapshot;
  if (user === null || !user.active) throw refused();
  const actor = { userId: principal.userId, name: principal.name };
  const other = principalOf(user, snapshot, { credential: principal.credential, controllers: makersOf(principal), actor });
  if (other.isAdmin && !principal.isAdmin) throw refused();
  return {
    principal: other,
    snapshot,
    refresh: async () => impersonate(await caller.refresh(), header, { ...options, fresh: true }),
  };
}
