/** Audit entries of grants to OAuth clients. */
import type { Session } from '../auth/session.ts';
import { audit } from '../catalog/changes.ts';

/** The audit entry of a user who grants access to a client or revokes a grant. @param object id of the client or of the revoked grant */
export const oauthEntry = (action: 'oauth_grant' | 'oauth_revoke', session: Session, object: string, requestId: string) =>
  audit({ user: session.userName, credential: 'password', action, object: object.slice(0, 500), ontology: null, digest: null, requestId });
