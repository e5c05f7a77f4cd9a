/**
 * JWTs of external identity providers (docs/design/credentials.md#json-web-tokens): signature, claims, and which user they name.
 * docs/security.md#rfc-8725-point-by-point goes through RFC 8725.
 */
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { ByteStore, type Cache } from '../cache.ts';
import type { Config } from '../config.ts';
import { SvcError, unauthorized } from '../errors.ts';
import { type JwksOptions, JwksUnavailable, jwksKeys } from './jwks.ts';
import { KeyFault } from './jwt-keys.ts';
import { type Tenant, tenantKey, tenantOf } from './tenants.ts';

/** Seconds by which the provider's clock may differ from ours. */
const LEEWAY_SECONDS = 30;
/** Longer tokens are refused unread. */
const MAX_CHARACTERS = 16 * 1024;
/** A longer claim names nobody. */
const MAX_NAME = 512;
/** Media types of JWTs that stand for a user; a token that says it is something else (a logout token, a DPoP proof) is not taken for one. */
const TYPES = ['jwt', 'at+jwt'];

/** Messages that clients know, by their codes (docs/design/credentials.md#jwt-failures). */
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

/** 401 with one of these messages; `cause` goes to the log. */
export const jwtFault = (code: keyof typeof MESSAGES, cause?: unknown): SvcError => unauthorized(code, MESSAGES[code], { headers: CHALLENGE, cause });

/** A token whose signature and claims hold. */
export interface VerifiedJwt {
  /** The name of the user that it names. */
  readonly name: string;
  /** The e-mail to look for where no user has that name; null: e-mails are not compared. */
  readonly email: string | null;
  /** The tenant as variables have it; `DEFAULT` without a header. */
  readonly tenant: string;
  /** Texts, numbers, booleans and lists of texts (as JSON) among the claims, as texts (`claimTexts`). */
  readonly claims: Readonly<Record<string, string>>;
}

/**
 * Judges a token. `sent`: `x-jwt-tenant-id`, or null.
 * @throws SvcError 401 with the messages of docs/design/credentials.md#jwt-failures
 */
export async function verifyJwt(token: string, sent: string | null, jwt: Config['jwt'], options: JwksOptions): Promise<VerifiedJwt> {
  const now = options.now();
  const key = `${sent ?? ' '}\u0000${token}`;
  const seen = seenOf(jwt).get(key);
  if (seen !== undefined && now >= seen.at && now < seen.until) return seen.jwt;
  try {
    const tenant = await tenantOf(jwt, sent);
    const payload = await verified(token, tenant, options);
    const claim = claimOf(payload, jwt.user);
    const { name, email } = namesOf(claim, sent, jwt);
    const found: VerifiedJwt = { name, email, tenant: tenant.config.id, claims: claimTexts(payload) };
    const until = Math.min(now + SEEN_MS, (payload.exp as number) * 1000 + LEEWAY_SECONDS * 1000);
    seenOf(jwt).set(key, { jwt: found, at: now, until }, 6 * token.length);
    return found;
  } catch (error) {
    throw asFault(error);
  }
}

/** A token that held, until when it needs no second look. */
interface Seen {
  readonly jwt: VerifiedJwt;
  readonly at: number;
  readonly until: number;
}

/** How long the signature of a token that comes again is not verified again: a withdrawn key lives on by that much. */
const SEEN_MS = 60_000;
const SEEN_BYTES = 2 * 1024 * 1024;
const seenBy = new WeakMap<Config['jwt'], Cache<Seen>>();

function seenOf(jwt: Config['jwt']): Cache<Seen> {
  let seen = seenBy.get(jwt);
  if (seen === undefined) {
    // a store of its own, so that a flood of tokens never pushes out what requests need
    seen = new ByteStore(SEEN_BYTES).view('jwt');
    seenBy.set(jwt, seen);
  }
  return seen;
}

function asFault(error: unknown): unknown {
  if (error instanceof SvcError) return error;
  // a tenant that nobody has configured is the caller's fault, the others are the operator's
  if (error instanceof KeyFault) return jwtFault(error.code, error.variable === '' ? undefined : error);
  if (error instanceof JwksUnavailable) return jwtFault('could_not_parse_public_key', error);
  if (error instanceof errors.JWTExpired) return jwtFault('token_has_expired');
  if (error instanceof errors.JWTClaimValidationFailed) return jwtFault('token_validation_failed');
  if (error instanceof errors.JOSEError) return jwtFault('invalid_token');
  return error;
}

/** The claims of a token that is signed by the tenant's key and meant for this service. @throws JOSEError, SvcError, JwksUnavailable */
async function verified(token: string, tenant: Tenant, options: JwksOptions): Promise<JWTPayload> {
  const parts = token.split('.');
  if (token.length > MAX_CHARACTERS || parts.length !== 3) throw jwtFault('invalid_token');
  const { alg, kid } = headerOf(token, parts[0] as string);
  if (typeof alg !== 'string' || !tenant.algorithms.includes(alg) || (kid !== undefined && typeof kid !== 'string')) throw jwtFault('invalid_token');
  const keys = tenant.keys === null ? await jwksKeys(tenant, alg, kid, options) : [tenant.keys.get(alg) as CryptoKey];
  const { audience, issuer } = tenant.config;
  for (const key of keys) {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, key, {
        algorithms: [alg],
        requiredClaims: ['exp'],
        clockTolerance: LEEWAY_SECONDS,
        currentDate: new Date(options.now()),
        ...(audience === null ? {} : { audience }),
        ...(issuer === null ? {} : { issuer }),
      });
      if (!isUserToken(protectedHeader.typ, payload) || repeatsMember(textOf(parts[1] as string))) throw jwtFault('token_validation_failed');
      return payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw jwtFault('invalid_token');
}

const textOf = (part: string): string => Buffer.from(part, 'base64url').toString('utf8');

function headerOf(token: string, part: string): Readonly<Record<string, unknown>> {
  try {
    const header = decodeProtectedHeader(token);
    if (!repeatsMember(textOf(part))) return header;
  } catch {
    // told below
  }
  throw jwtFault('invalid_token');
}

/** Not a security event (RFC 8417) such as a logout token, nor any other kind of JWT that the provider signs by the same key (RFC 8725, 3.11). */
function isUserToken(typ: unknown, payload: JWTPayload): boolean {
  const kind = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  return (kind === undefined || (typeof kind === 'string' && TYPES.includes(kind))) && payload.events === undefined && Number.isFinite(payload.exp);
}

/** Whether an object's text (valid JSON) has a member twice: readers differ in which one they take. Inner objects are not looked at. */
export function repeatsMember(json: string): boolean {
  const names = new Set<string>();
  let depth = 0;
  let last = '';
  for (const [mark] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (mark === '{' || mark === '[') depth++;
    else if (mark === '}' || mark === ']') depth--;
    else if (mark !== ':') last = mark;
    else if (depth === 1) {
      const name = JSON.parse(last) as string;
      if (names.has(name)) return true;
      names.add(name);
    }
  }
  return false;
}

/** Whom the claims of a user who has logged in at a provider name, as a JWT of the default tenant would. @throws SvcError 401 */
export function namesOfClaims(claims: Readonly<Record<string, unknown>>, jwt: Config['jwt']): Pick<VerifiedJwt, 'name' | 'email'> {
  return namesOf(claimOf(claims, jwt.user), null, jwt);
}

/** The claim that names the user. @throws SvcError `token_validation_failed` */
function claimOf(payload: JWTPayload, user: Config['jwt']['user']): string {
  const of = (name: string): unknown => (Object.hasOwn(payload, name) ? payload[name] : undefined);
  const verifiedMail = of('email_verified');
  const claim = user === 'email' ? of('email') : (of('username') ?? of('preferred_username'));
  // some providers write booleans as texts
  const mailHolds = verifiedMail === undefined || verifiedMail === true || verifiedMail === 'true';
  if (!mailHolds || typeof claim !== 'string' || claim.trim() === '' || /\p{Cc}/u.test(claim) || !claim.isWellFormed())
    throw jwtFault('token_validation_failed');
  return claim;
}

/** The names to look for. @throws SvcError `user_not_found` where the claim cannot be anybody's */
function namesOf(claim: string, sent: string | null, jwt: Config['jwt']): { readonly name: string; readonly email: string | null } {
  // signs for theta, ohm, kelvin and angstrom are letters in lower case: a provider that tells them apart could name somebody else's account
  if (claim.length > MAX_NAME || /[\u03f4\u2126\u212a\u212b]/.test(claim)) throw jwtFault('user_not_found');
  if (!jwt.tenantUser) return { name: claim, email: claim };
  if (sent !== null) return { name: `${sent}/${claim}`, email: null };
  // without a header there is no prefix; a name that has one of another tenant is that tenant's
  const prefix = claim.includes('/') ? tenantKey(claim.slice(0, claim.indexOf('/'))) : undefined;
  if (prefix !== undefined && Object.hasOwn(jwt.tenants, prefix)) throw jwtFault('user_not_found');
  return { name: claim, email: null };
}

/** Claims that tell of the token, not of its user: each token has others, and plans are kept for a user's claims. */
const OF_THE_TOKEN = new Set(['exp', 'nbf', 'iat', 'jti', 'auth_time', 'nonce', 'at_hash', 'c_hash', 's_hash']);

/** PostgreSQL has no texts with U+0000, and a lone surrogate would become U+FFFD: different claims would be one text. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Beyond 2^53 and near infinity the parser has rounded the number: different claims would be one text. */
const isExactNumber = (n: number): boolean => Number.isSafeInteger(n) || (Number.isFinite(n) && !Number.isInteger(n));

/** What svc_claim(name) gives. Claims that have no exact text are left out. */
export function claimTexts(payload: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const texts: [string, string][] = [];
  for (const [name, value] of Object.entries(payload)) {
    if (OF_THE_TOKEN.has(name) || !isStorable(name)) continue;
    if (typeof value === 'string') {
      if (isStorable(value)) texts.push([name, value]);
    } else if (typeof value === 'boolean' || (typeof value === 'number' && isExactNumber(value))) texts.push([name, String(value)]);
    else if (Array.isArray(value) && value.every((v) => typeof v === 'string')) texts.push([name, JSON.stringify(value)]);
  }
  return Object.fromEntries(texts);
}
