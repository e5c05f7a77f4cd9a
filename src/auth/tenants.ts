/** Finds the tenant of a JWT and validates its settings (docs/design/credentials.md#tenants). */
import type { Config, SettingRemark, TenantConfig } from '../config.ts';
import { isSafeAddress } from '../connection.ts';
import { tenantKey } from './jwt-identity.ts';
import { KeyFault, knownAlgorithm, parseKey } from './jwt-keys.ts';

type JwtConfig = Config['jwt'];

/** A tenant with valid settings. */
export interface Tenant {
  readonly config: TenantConfig;
  /** Canonical names of the algorithms. */
  readonly algorithms: readonly string[];
  /** Keys by algorithm; null if they come from the tenant's JWKS address. */
  readonly keys: ReadonlyMap<string, CryptoKey> | null;
}

const notFound = (variable: string, message: string): KeyFault => new KeyFault('tenant_configuration_not_found', variable, message);

/** Validated tenants. Faults are cached too, so that invalid settings cost no more than valid ones. Promises are not cached. */
const validated = new WeakMap<TenantConfig, Tenant | KeyFault>();

/**
 * Finds the tenant of a request.
 * @param sent value of `x-jwt-tenant-id`; null: the default tenant
 * @throws KeyFault if the tenant does not exist (`variable` is then empty) or its settings are invalid
 */
export async function tenantOf(jwt: JwtConfig, sent: string | null): Promise<Tenant> {
  if (jwt.type !== 'custom') throw badType();
  const key = sent === null ? 'DEFAULT' : tenantKey(sent);
  const config = key !== undefined && Object.hasOwn(jwt.tenants, key) ? jwt.tenants[key] : undefined;
  if (config === undefined) throw notFound('', 'the tenant does not exist');
  let found = validated.get(config);
  if (found === undefined) {
    found = await validate(config);
    validated.set(config, found);
  }
  if (found instanceof KeyFault) throw found;
  return found;
}

const badType = (): KeyFault =>
  notFound('JWT_TYPE', 'must be custom for every identity provider (for Entra, set JWT_<TENANT>_JWKS_URL and JWT_<TENANT>_ISSUER)');

async function validate(config: TenantConfig): Promise<Tenant | KeyFault> {
  const name = (what: string): string => `JWT_${config.id}_${what}`;
  try {
    const { key, jwksUrl } = config;
    if (key === null && jwksUrl === null) throw notFound(name('KEY'), 'is not set although other variables of the tenant are');
    const algorithms = config.algorithms.map((written) => {
      const algorithm = knownAlgorithm(written);
      if (algorithm !== undefined) return algorithm;
      throw new KeyFault(
        'could_not_parse_public_key',
        name('ALGORITHM'),
        'names an algorithm that is not accepted (accepted: RS, PS or ES with 256, 384 or 512, and EdDSA)',
      );
    });
    if (jwksUrl === null) return { config, algorithms, keys: await parseKey(key ?? '', name('KEY'), algorithms) };
    if (!isSafeAddress(jwksUrl)) throw new KeyFault('invalid_key_format', name('JWKS_URL'), 'is not an https address (http on loopback only)');
    return { config, algorithms, keys: null };
  } catch (error) {
    if (error instanceof KeyFault) return error;
    throw error;
  }
}

/** True if two tenants have the same keys. Providers such as Entra sign for all of their directories with the same keys, at different addresses of one host. */
function haveSameKeys(a: TenantConfig, b: TenantConfig): boolean {
  if (a.jwksUrl === null || b.jwksUrl === null) return a.jwksUrl === b.jwksUrl && a.key?.trim() === b.key?.trim();
  return new URL(a.jwksUrl).host === new URL(b.jwksUrl).host;
}

/** Returns the one of two tenants whose settings accept tokens of the other, or undefined. */
function confused(a: TenantConfig, b: TenantConfig): TenantConfig | undefined {
  const mayEqual = (x: string | null, y: string | null): boolean => x === null || y === null || x === y;
  if (!haveSameKeys(a, b) || !mayEqual(a.issuer, b.issuer) || !mayEqual(a.audience, b.audience)) return undefined;
  return a.issuer === null ? a : b;
}

/** Checks the settings of JWTs for errors and risks; returns nothing if JWTs are disabled. Remarks contain no values. */
export async function remarksOnTenants(jwt: JwtConfig): Promise<readonly SettingRemark[]> {
  if (!jwt.enabled) return [];
  if (jwt.type !== 'custom') return [{ level: 'error', variable: 'JWT_TYPE', message: badType().message }];
  const remarks: SettingRemark[] = jwt.misnamed.map((variable) => ({
    level: 'error',
    variable,
    message: `${variable}: is ignored; a tenant's id consists of at most 64 capital letters, digits and _`,
  }));
  const tenants = Object.values(jwt.tenants);
  if (tenants.length === 0)
    remarks.push({ level: 'error', variable: 'JWT_DEFAULT_KEY', message: 'JWT_DEFAULT_KEY: ENABLE_TOKEN is true, but no tenant has a key' });
  const usable: TenantConfig[] = [];
  for (const tenant of tenants) {
    const { id, key, jwksUrl } = tenant;
    try {
      await tenantOf(jwt, id);
      usable.push(tenant);
    } catch (error) {
      if (!(error instanceof KeyFault)) throw error;
      remarks.push({ level: 'error', variable: error.variable, message: error.message });
      continue;
    }
    if (key !== null && jwksUrl !== null)
      remarks.push({ level: 'warn', variable: `JWT_${id}_KEY`, message: `JWT_${id}_KEY: is not used, since JWT_${id}_JWKS_URL is set` });
  }
  const found = usable.flatMap((a, i) => usable.slice(0, i).flatMap((b) => confused(a, b) ?? []));
  for (const id of new Set(found.map((tenant) => tenant.id))) {
    remarks.push({
      level: 'warn',
      variable: `JWT_${id}_ISSUER`,
      message: `JWT_${id}_ISSUER: another tenant has the same keys, and neither issuer nor audience distinguishes its tokens, so they are accepted as tokens of this tenant`,
    });
  }
  if (usable.length > 1 && !jwt.tenantUser) {
    remarks.push({
      level: 'warn',
      variable: 'JWT_USE_TENANT_USER',
      message: 'JWT_USE_TENANT_USER: is not true although there are several tenants, so each tenant can name any user that is not bound to a tenant',
    });
  }
  return remarks;
}
