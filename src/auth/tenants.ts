/** The tenant of a JWT, and whether its settings are valid (docs/design/credentials.md#tenants). */
import type { Config, TenantConfig } from '../config.ts';
import { isSafeAddress } from '../connection.ts';
import { KeyFault, knownAlgorithm, parseKey } from './jwt-keys.ts';

type JwtConfig = Config['jwt'];

/** A tenant whose tokens can be judged. */
export interface Tenant {
  readonly config: TenantConfig;
  /** In their own spelling. */
  readonly algorithms: readonly string[];
  /** By algorithm; null: the keys come from the tenant's JWKS address. */
  readonly keys: ReadonlyMap<string, CryptoKey> | null;
}

/** The id as variables have it: `big-co` is BIG_CO. Undefined where it is no id. */
export const tenantKey = (id: string): string | undefined => (/^[A-Za-z0-9_-]{1,64}$/.test(id) ? id.toUpperCase().replaceAll('-', '_') : undefined);

const notFound = (variable: string, message: string): KeyFault => new KeyFault('tenant_configuration_not_found', variable, message);

/** Finished values alone; a fault is kept too, so that bad settings cost nothing more than good ones. */
const judged = new WeakMap<TenantConfig, Tenant | KeyFault>();

/**
 * The tenant of a request; `sent`: `x-jwt-tenant-id`, null for the default one.
 * @throws KeyFault where there is no such tenant (its `variable` is then empty), or its settings do not hold
 */
export async function tenantOf(jwt: JwtConfig, sent: string | null): Promise<Tenant> {
  if (jwt.type !== 'custom') throw badType();
  const key = sent === null ? 'DEFAULT' : tenantKey(sent);
  const config = key !== undefined && Object.hasOwn(jwt.tenants, key) ? jwt.tenants[key] : undefined;
  if (config === undefined) throw notFound('', 'there is no such tenant');
  let found = judged.get(config);
  if (found === undefined) {
    found = await judge(config);
    judged.set(config, found);
  }
  if (found instanceof KeyFault) throw found;
  return found;
}

const badType = (): KeyFault => notFound('JWT_TYPE', 'is custom, for every identity provider (Entra too: by JWT_<TENANT>_JWKS_URL and JWT_<TENANT>_ISSUER)');

async function judge(config: TenantConfig): Promise<Tenant | KeyFault> {
  const name = (what: string): string => `JWT_${config.id}_${what}`;
  try {
    const { key, jwksUrl } = config;
    if (key === null && jwksUrl === null) throw notFound(name('KEY'), 'is not set, though other variables of the tenant are');
    const algorithms = config.algorithms.map((written) => {
      const algorithm = knownAlgorithm(written);
      if (algorithm !== undefined) return algorithm;
      throw new KeyFault(
        'could_not_parse_public_key',
        name('ALGORITHM'),
        'names something that is no accepted algorithm (RS, PS or ES with 256, 384 or 512, EdDSA)',
      );
    });
    if (jwksUrl === null) return { config, algorithms, keys: await parseKey(key ?? '', name('KEY'), algorithms) };
    if (!isSafeAddress(jwksUrl)) throw new KeyFault('invalid_key_format', name('JWKS_URL'), 'is no https address (http on loopback only)');
    return { config, algorithms, keys: null };
  } catch (error) {
    if (error instanceof KeyFault) return error;
    throw error;
  }
}

/** A remark on the settings of credentials for the operator. */
export interface SettingRemark {
  readonly level: 'error' | 'warn';
  readonly variable: string;
  readonly message: string;
}

/** Whether two tenants have the same keys. Providers such as Entra sign for all of their directories by the same keys, at different addresses of one host. */
function haveSameKeys(a: TenantConfig, b: TenantConfig): boolean {
  if (a.jwksUrl === null || b.jwksUrl === null) return a.jwksUrl === b.jwksUrl && a.key?.trim() === b.key?.trim();
  return new URL(a.jwksUrl).host === new URL(b.jwksUrl).host;
}

/** The tenant whose settings take tokens of another one for its own; undefined: none. */
function confused(a: TenantConfig, b: TenantConfig): TenantConfig | undefined {
  const mayEqual = (x: string | null, y: string | null): boolean => x === null || y === null || x === y;
  if (!haveSameKeys(a, b) || !mayEqual(a.issuer, b.issuer) || !mayEqual(a.audience, b.audience)) return undefined;
  return a.issuer === null ? a : b;
}

/** What is wrong or dangerous in the settings of JWTs; nothing where they are not taken. Never a value. */
export async function remarksOnTenants(jwt: JwtConfig): Promise<readonly SettingRemark[]> {
  if (!jwt.enabled) return [];
  if (jwt.type !== 'custom') return [{ level: 'error', variable: 'JWT_TYPE', message: badType().message }];
  const remarks: SettingRemark[] = jwt.misnamed.map((variable) => ({
    level: 'error',
    variable,
    message: `${variable}: is ignored; a tenant's id is in capitals, with digits and _, at most 64 characters`,
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
      message: `JWT_${id}_ISSUER: another tenant has the same keys, and neither issuer nor audience tells its tokens apart, so they are taken for tokens of this tenant`,
    });
  }
  if (usable.length > 1 && !jwt.tenantUser) {
    remarks.push({
      level: 'warn',
      variable: 'JWT_USE_TENANT_USER',
      message: 'JWT_USE_TENANT_USER: is not true with several tenants, so each tenant can name any user that is bound to none',
    });
  }
  return remarks;
}
