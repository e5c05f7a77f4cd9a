/** What the audit log keeps of grants to OAuth clients. */
import type { Session } from '../auth/session.ts';
import { audit } from '../catalog/changes.ts';

/** An entry of a user who gave a client access (`object`: the client) or took it back (`object`: the grant). */
export const oauthEntry = (action: 'oauth_grant' | 'oauth_revoke', session: Session, object: string, requestId: string) =>
  audit({ user: session.userName, credential: 'password', action, object: object.slice(0, 500), ontology: null, digest: null, requestId });
