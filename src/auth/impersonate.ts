/** Impersonation (docs/design/rights-and-visibility.md#impersonation): the header `x-api-impersonate-user`, for callers with AUTH on that user. */
import { fold, loadSnapshot } from '../catalog/snapshot.ts';
import { forbidden } from '../errors.ts';
import { type AuthOptions, type Caller, creatorsOf, principalOf } from './authenticate.ts';
import { can } from './grants.ts';

/** The same error for every reason, so that it discloses nothing about the user. */
const refused = () =>
  forbidden('forbidden', 'This needs AUTH on that user', { hint: 'An administrator can grant it: GRANT AUTH ON user.<other> TO USER <you>' });

/** Decodes a header in UTF-8. The runtime passes each byte as one character. */
function decodeName(header: string): string {
  const bytes = Uint8Array.from(header, (c) => c.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).trim();
  } catch {
    return header.trim();
  }
}

/**
 * Returns the named user, or the only one with that e-mail, as the caller, with the rights of that user only. Tenant and claims of the original credential are
 * dropped. Only an administrator can impersonate an administrator, regardless of AUTH grants.
 * @throws SvcError 403 `forbidden` if the caller lacks the right or the user does not exist; 503
 */
export async function impersonate(caller: Caller, header: string, options: AuthOptions): Promise<Caller> {
  const name = decodeName(header);
  const { principal } = caller;
  const isEmail = name.includes('@');
  // a caller who may impersonate nobody must not learn from the response time whether an e-mail belongs to a user
  const mayFind = isEmail ? principal.isAdmin || principal.grants.some((g) => g.privilege === 'auth') : can(principal, 'auth', ['user', name]);
  if (!/^[^\u0000-\u001f\u007f-\u009f]{1,256}$/.test(name) || !mayFind) throw refused();
  const snapshot = await loadSnapshot({ kind: 'name', name, email: isEmail ? name : null }, options);
  const { user } = snapshot;
  if (user === null || !user.active || !can(principal, 'auth', ['user', user.name])) throw refused();
  const actor = { userId: principal.userId, name: principal.name };
  // the users who set the e-mail decide which user it means
  const controllers = [...creatorsOf(principal), ...(fold(user.name) === fold(name) ? [] : user.emailBy)];
  const other = principalOf(user, snapshot, { credential: principal.credential, controllers, actor });
  if (other.isAdmin && !principal.isAdmin) throw refused();
  return {
    principal: other,
    snapshot,
    refresh: async () => impersonate(await caller.refresh(), header, { ...options, fresh: true }),
  };
}
