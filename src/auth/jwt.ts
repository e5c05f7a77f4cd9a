/**
 * Verifies JWTs of external identity providers (docs/design/credentials.md#json-web-tokens): their signature, their claims and the user that they name.
 * docs/security.md#rfc-8725-point-by-point lists how each point of RFC 8725 is met.
 */
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { ByteStore, type Cache } from '../cache.ts';
import type { Config } from '../config.ts';
import { SvcError } from '../errors.ts';
import { type JwksOptions, JwksUnavailable, jwksKeys } from './jwks.ts';
import { jwtFault, tenantKey, type VerifiedJwt } from './jwt-identity.ts';
import { KeyFault } from './jwt-keys.ts';
import { type Tenant, tenantOf } from './tenants.ts';

/** Tolerance for differences between the clocks of the provider and of the service. */
const LEEWAY_SECONDS = 30;
/** Longer tokens are refused without parsing. */
const MAX_CHARACTERS = 16 * 1024;
/** A longer claim matches no user. */
const MAX_NAME = 512;
/** Accepted values of `typ`. JWTs of other types, such as logout tokens or DPoP proofs, are refused. */
const TYPES = ['jwt', 'at+jwt'];

/**
 * Verifies a token.
 * @param sent value of `x-jwt-tenant-id`, or null
 * @throws SvcError 401 with the messages of docs/design/credentials.md#jwt-failures
 */
export async function verifyJwt(token: string, sent: string | null, jwt: Config['jwt'], options: JwksOptions): Promise<VerifiedJwt> {
  const now = options.now();
  const key = `${sent ?? ' '}\u0000${token}`;
  const cached = cacheFor(jwt).get(key);
  if (cached !== undefined && now >= cached.at && now < cached.until) return cached.jwt;
  try {
    const tenant = await tenantOf(jwt, sent);
    const payload = await verified(token, tenant, options);
    const claim = claimOf(payload, jwt.user);
    const { name, email } = namesOf(claim, sent, jwt);
    const found: VerifiedJwt = { name, email, tenant: tenant.config.id, claims: claimTexts(payload) };
    const until = Math.min(now + CACHE_MS, (payload.exp as number) * 1000 + LEEWAY_SECONDS * 1000);
    cacheFor(jwt).set(key, { jwt: found, at: now, until }, 6 * token.length);
    return found;
  } catch (error) {
    throw asFault(error);
  }
}

/** A verified token, and until when it need not be verified again. */
interface CachedJwt {
  readonly jwt: VerifiedJwt;
  readonly at: number;
  readonly until: number;
}

/** How long a verified token is not verified again. A withdrawn key is accepted for this time. */
const CACHE_MS = 60_000;
const CACHE_BYTES = 2 * 1024 * 1024;
const caches = new WeakMap<Config['jwt'], Cache<CachedJwt>>();

function cacheFor(jwt: Config['jwt']): Cache<CachedJwt> {
  let cache = caches.get(jwt);
  if (cache === undefined) {
    // a separate store, so that a flood of tokens does not evict other entries
    cache = new ByteStore(CACHE_BYTES).view('jwt');
    caches.set(jwt, cache);
  }
  return cache;
}

function asFault(error: unknown): unknown {
  if (error instanceof SvcError) return error;
  // an unknown tenant is an error of the caller and is not logged; the other faults are errors in the configuration
  if (error instanceof KeyFault) return jwtFault(error.code, error.variable === '' ? undefined : error);
  if (error instanceof JwksUnavailable) return jwtFault('could_not_parse_public_key', error);
  if (error instanceof errors.JWTExpired) return jwtFault('token_has_expired');
  if (error instanceof errors.JWTClaimValidationFailed) return jwtFault('token_validation_failed');
  if (error instanceof errors.JOSEError) return jwtFault('invalid_token');
  return error;
}

/** Verifies signature, audience and issuer of a token. @returns its claims @throws JOSEError, SvcError, JwksUnavailable */
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
    // reported below
  }
  throw jwtFault('invalid_token');
}

/** True for tokens that identify a user; false for security events (RFC 8417) such as logout tokens, and for other kinds of JWTs that the provider signs with the same key (RFC 8725, 3.11). */
function isUserToken(typ: unknown, payload: JWTPayload): boolean {
  const kind = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  return (kind === undefined || (typeof kind === 'string' && TYPES.includes(kind))) && payload.events === undefined && Number.isFinite(payload.exp);
}

/** True if an object (valid JSON) has duplicate members; parsers differ in which one they use. Nested objects are not checked. */
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

/** Returns the user names in the claims of a login at a provider, by the rules for JWTs of the default tenant. @throws SvcError 401 */
export function userNamesOf(claims: Readonly<Record<string, unknown>>, jwt: Config['jwt']): Pick<VerifiedJwt, 'name' | 'email'> {
  return namesOf(claimOf(claims, jwt.user), null, jwt);
}

/** Returns the claim with the user's name. @throws SvcError `token_validation_failed` */
function claimOf(payload: JWTPayload, user: Config['jwt']['user']): string {
  const of = (name: string): unknown => (Object.hasOwn(payload, name) ? payload[name] : undefined);
  const emailVerified = of('email_verified');
  const claim = user === 'email' ? of('email') : (of('username') ?? of('preferred_username'));
  // some providers send booleans as texts
  const isEmailValid = emailVerified === undefined || emailVerified === true || emailVerified === 'true';
  if (!isEmailValid || typeof claim !== 'string' || claim.trim() === '' || /\p{Cc}/u.test(claim) || !claim.isWellFormed())
    throw jwtFault('token_validation_failed');
  return claim;
}

/** Returns the names to look for in the catalog. @throws SvcError `user_not_found` if the claim cannot match a user */
function namesOf(claim: string, sent: string | null, jwt: Config['jwt']): { readonly name: string; readonly email: string | null } {
  // The symbols theta, ohm, kelvin and angstrom become ordinary letters in lower case. A provider that distinguishes them could name another user's account.
  if (claim.length > MAX_NAME || /[\u03f4\u2126\u212a\u212b]/.test(claim)) throw jwtFault('user_not_found');
  if (!jwt.tenantUser) return { name: claim, email: claim };
  if (sent !== null) return { name: `${sent}/${claim}`, email: null };
  // without the header there is no prefix; a name with the prefix of a tenant belongs to that tenant
  const prefix = claim.includes('/') ? tenantKey(claim.slice(0, claim.indexOf('/'))) : undefined;
  if (prefix !== undefined && Object.hasOwn(jwt.tenants, prefix)) throw jwtFault('user_not_found');
  return { name: claim, email: null };
}

/** Claims about the token rather than its user. They differ in each token, and plans are cached by the user's claims. */
const OF_THE_TOKEN = new Set(['exp', 'nbf', 'iat', 'jti', 'auth_time', 'nonce', 'at_hash', 'c_hash', 's_hash']);

/** PostgreSQL does not store U+0000, and a lone surrogate would become U+FFFD, so that different claims would become the same text. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** JSON.parse rounds integers beyond 2^53, so that different claims would become the same text. */
const isExactNumber = (n: number): boolean => Number.isSafeInteger(n) || (Number.isFinite(n) && !Number.isInteger(n));

/** Returns the values of svc_claim(name). Claims without an exact text are omitted. */
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
