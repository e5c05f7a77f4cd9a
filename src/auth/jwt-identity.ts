/** The result of the verification of a JWT: whom it names, or its error. jwt.ts, which verifies, is loaded with the first JWT. */
import { type SvcError, unauthorized } from '../errors.ts';

/** Error messages by code (docs/design/credentials.md#jwt-failures). Clients depend on them. */
const MESSAGES = {
  token_has_expired: 'Token has expired',
  invalid_token: 'Invalid token',
  token_validation_failed: 'Token validation failed',
  invalid_key_format: 'Invalid key format',
  could_not_parse_public_key: 'Could not parse public key',
  tenant_configuration_not_found: 'Tenant configuration not found',
  user_not_found: 'User not found',
} as const;

const CHALLENGE = { 'www-authenticate': 'Bearer realm="svc", error="invalid_token"' };

/** 401 with one of these codes. @param cause for the log */
export const jwtFault = (code: keyof typeof MESSAGES, cause?: unknown): SvcError => unauthorized(code, MESSAGES[code], { headers: CHALLENGE, cause });

/** A token whose signature and claims are valid. */
export interface VerifiedJwt {
  /** The user name in the claims. */
  readonly name: string;
  /** The e-mail to look for if no user has that name; null: e-mails are not compared. */
  readonly email: string | null;
  /** The tenant, spelled as in the names of variables; `DEFAULT` without a header. */
  readonly tenant: string;
  /** The claims that are texts, numbers, booleans or lists of texts (as JSON), converted to text (`claimTexts`). */
  readonly claims: Readonly<Record<string, string>>;
}

/** Converts a tenant's id to the spelling in the names of variables: `big-co` becomes BIG_CO. Undefined if it is not a valid id. */
export const tenantKey = (id: string): string | undefined => (/^[A-Za-z0-9_-]{1,64}$/.test(id) ? id.toUpperCase().replaceAll('-', '_') : undefined);
