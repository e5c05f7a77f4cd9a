/**
 * Reads the environment variables into one typed, validated object. No other module reads them: index.ts calls `readConfig`
 * and passes the result on. Also runs in Node (dev/start.ts uses `isSetting` to select the variables for the Worker).
 */
import { BadConnection, type Connection, readConnection } from './connection.ts';

/** The environment. wrangler passes texts, booleans and numbers; bindings (KV, Durable Objects) are ignored. */
export type Env = Readonly<Record<string, unknown>>;

/** A setting is invalid. The message names the variable and does not contain its value. */
export class ConfigError extends Error {
  readonly variable: string;
  constructor(variable: string, expected: string) {
    super(`${variable} must be ${expected}`);
    this.name = 'ConfigError';
    this.variable = variable;
  }
}

/** The settings of a tenant's tokens (`JWT_<TENANT>_*`), not validated: an invalid key affects only callers of that tenant (auth/tenants.ts). */
export interface TenantConfig {
  /** The id as spelled in the names of the variables. */
  readonly id: string;
  readonly key: string | null;
  /** As written, except that `RS246` is read as `RS256`. */
  readonly algorithms: readonly string[];
  readonly audience: string | null;
  readonly issuer: string | null;
  readonly jwksUrl: string | null;
}

/** A remark on a setting, for the log. It names variables, never values. */
export interface SettingRemark {
  readonly level: 'error' | 'warn';
  readonly variable: string;
  readonly message: string;
}

export interface Config {
  readonly product: string;
  /** Without a trailing slash; null: the request's own origin, on loopback only. */
  readonly publicUrl: string | null;
  /** Null: not set, so only `health` can be answered. */
  readonly catalog: Connection | null;
  /** Unparsed values of DATASOURCE_<NAME>, by name of the variable (`parseConnection` parses one). */
  readonly datasourceSecrets: Readonly<Record<string, string>>;
  readonly sessionSecret: string | null;
  /** Not validated: a value that is not a token is refused when a request uses it, and the rest of the service keeps working. */
  readonly adminToken: string | null;
  readonly apiTokenTtlDays: number;
  readonly apiAuthSalt: string | null;
  readonly statementTimeoutMs: number;
  readonly asyncTimeoutMs: number;
  /** The most asynchronous statements of one user that wait or run at once. */
  readonly asyncPerUser: number;
  /** A statement that takes longer has a line of its own in the log; 0: none has. */
  readonly slowQueryMs: number;
  /** 0 = off. */
  readonly resultCacheTtlSeconds: number;
  readonly corsOrigins: readonly string[];
  readonly locationHint: string | null;
  readonly auditRetentionDays: number;
  /** Days after which versions of ontologies are deleted; 0: never. */
  readonly versionRetentionDays: number;
  /** The most that the versions of an ontology may take in the catalog. */
  readonly versionMiB: number;
  readonly historyRetentionDays: number;
  readonly jwt: {
    readonly enabled: boolean;
    readonly user: 'email' | 'username';
    readonly type: string;
    readonly tenantUser: boolean;
    /** By tenant id in upper case; `DEFAULT` is used for requests without the header. */
    readonly tenants: Readonly<Record<string, TenantConfig>>;
    /** Variables that look like settings of a tenant but have an invalid name, such as `JWT_acme_KEY`. */
    readonly misnamed: readonly string[];
  };
  readonly mcp: {
    readonly defaultOntology: string | null;
    readonly defaultAgent: string | null;
    readonly corsOrigins: readonly string[];
    readonly debug: boolean;
    readonly rowLimit: number;
    readonly dcrEnabled: boolean;
    /** True if clients may be described by a metadata document (CIMD), which the service fetches. */
    readonly cimdEnabled: boolean;
    readonly clientId: string | null;
    readonly clientSecret: string | null;
    readonly issuer: string | null;
    readonly redirectUris: readonly string[];
  };
  readonly llm: {
    readonly type: string | null;
    readonly model: string | null;
    readonly apiKey: string | null;
    readonly baseUrl: string | null;
    readonly temperature: number | null;
    readonly timeoutSeconds: number;
    readonly additionalParams: Readonly<Record<string, unknown>>;
  };
  /** The variables that `get_config` returns: those that are listed by exact name and are not secrets. */
  readonly exposed: ReadonlyMap<string, string>;
}

/** All settings with a fixed name; docs/configuration.md documents them. */
export const SETTING_NAMES: readonly string[] = [
  'PRODUCT_NAME',
  'PUBLIC_URL',
  'CATALOG_URL',
  'SESSION_SECRET',
  'ADMIN_TOKEN',
  'API_TOKEN_TTL',
  'API_AUTH_SALT',
  'ALLOWED_CONFIG_ENVS_IN_API',
  'STATEMENT_TIMEOUT_MS',
  'ASYNC_TIMEOUT_MS',
  'ASYNC_PER_USER',
  'SLOW_QUERY_MS',
  'RESULT_CACHE_TTL',
  'CORS_ORIGINS',
  'DO_LOCATION_HINT',
  'AUDIT_RETENTION_DAYS',
  'HISTORY_RETENTION_DAYS',
  'VERSION_RETENTION_DAYS',
  'VERSION_MIB',
  'ENABLE_TOKEN',
  'JWT_USE_EMAIL_OR_USER',
  'JWT_TYPE',
  'JWT_USE_TENANT_USER',
  'MCP_OAUTH_DCR_ENABLED',
  'MCP_OAUTH_CIMD_ENABLED',
  'MCP_OAUTH_CLIENT_ID',
  'MCP_OAUTH_CLIENT_SECRET',
  'MCP_OAUTH_ISSUER',
  'MCP_OAUTH_REDIRECT_URIS',
  'MCP_DEFAULT_ONTOLOGY',
  'MCP_DEFAULT_AGENT',
  'MCP_CORS_ORIGINS',
  'MCP_DEBUG',
  'ROW_LIMIT',
  'LLM_TYPE',
  'LLM_MODEL',
  'LLM_API_KEY',
  'LLM_BASE_URL',
  'LLM_TEMPERATURE',
  'LLM_TIMEOUT',
  'LLM_ADDITIONAL_PARAMS',
];

const TENANT_SETTING = /^JWT_([A-Z0-9_]{1,64})_(KEY|ALGORITHM|AUDIENCE|ISSUER|JWKS_URL)$/;
const TENANT_LIKE = /^JWT_.+_(KEY|ALGORITHM|AUDIENCE|ISSUER|JWKS_URL)$/i;
const DATASOURCE_SETTING = /^DATASOURCE_[A-Z0-9_]{1,100}$/;
const SECRET_SETTINGS = new Set([
  'CATALOG_URL',
  'SESSION_SECRET',
  'ADMIN_TOKEN',
  'API_AUTH_SALT',
  'MCP_OAUTH_CLIENT_SECRET',
  'LLM_API_KEY',
  'LLM_ADDITIONAL_PARAMS',
]);
const SECRET_WORD = /KEY|SECRET|SALT|TOKEN|PASS|CREDENTIAL|DATABASE|DATASOURCE|CATALOG/i;

/** True if an environment variable with this name is a setting of the service, including `JWT_<TENANT>_*` and `DATASOURCE_<NAME>`. */
export const isSetting = (name: string): boolean => SETTING_NAMES.includes(name) || TENANT_SETTING.test(name) || DATASOURCE_SETTING.test(name);

/** True if CREATE DATASOURCE may name this variable (docs/design/statements-and-versions.md#datasources-and-secrets). */
export const isDatasourceSecret = (name: string): boolean => DATASOURCE_SETTING.test(name);

/** Reads single variables. A variable that is not set or empty has its default. The functions throw ConfigError for an invalid value. */
function readerOf(env: Env) {
  const text = (name: string): string | null => {
    const value = textOf(env[name]);
    return value === undefined || value.trim() === '' ? null : value.trim();
  };
  const number = (name: string, fallback: number, least = 0, most = Number.MAX_SAFE_INTEGER): number => {
    const value = text(name);
    if (value === null) return fallback;
    if (!/^\d{1,15}$/.test(value) || Number(value) < least || Number(value) > most) {
      throw new ConfigError(name, most === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${least}` : `a whole number from ${least} to ${most}`);
    }
    return Number(value);
  };
  const flag = (name: string, fallback: boolean): boolean => {
    const value = text(name)?.toLowerCase();
    if (value === undefined) return fallback;
    if (['true', '1', 'yes', 'on'].includes(value)) return true;
    if (['false', '0', 'no', 'off'].includes(value)) return false;
    throw new ConfigError(name, 'true or false');
  };
  return { text, number, flag };
}

type Reader = ReturnType<typeof readerOf>;

/**
 * Reads all settings. A variable that is not set or empty has its default.
 * @throws ConfigError for the first invalid variable
 */
export function readConfig(env: Env): Config {
  const reader = readerOf(env);
  const { text, number } = reader;
  const product = text('PRODUCT_NAME') ?? 'svc';
  if (!/^[a-z][a-z0-9_]{0,30}$/.test(product)) throw new ConfigError('PRODUCT_NAME', 'a lowercase letter followed by up to 30 of a-z, 0-9 and _');
  const catalogUrl = text('CATALOG_URL');
  const catalog = catalogUrl === null ? null : parseConnection(catalogUrl, 'CATALOG_URL');
  return {
    product,
    publicUrl: publicUrl(text('PUBLIC_URL')),
    catalog,
    datasourceSecrets: datasources(env),
    sessionSecret: text('SESSION_SECRET'),
    adminToken: text('ADMIN_TOKEN'),
    apiTokenTtlDays: number('API_TOKEN_TTL', 90, 1, 36_500),
    apiAuthSalt: text('API_AUTH_SALT') === null ? null : (textOf(env.API_AUTH_SALT) ?? null),
    statementTimeoutMs: number('STATEMENT_TIMEOUT_MS', 30_000, 1, 3_600_000),
    asyncTimeoutMs: number('ASYNC_TIMEOUT_MS', 600_000, 1, 840_000),
    asyncPerUser: number('ASYNC_PER_USER', 20, 1, 10_000),
    slowQueryMs: number('SLOW_QUERY_MS', 5000, 0, 3_600_000),
    resultCacheTtlSeconds: number('RESULT_CACHE_TTL', 0),
    corsOrigins: list(text('CORS_ORIGINS')),
    locationHint: text('DO_LOCATION_HINT'),
    auditRetentionDays: number('AUDIT_RETENTION_DAYS', 90, 1),
    historyRetentionDays: number('HISTORY_RETENTION_DAYS', 30, 1),
    versionRetentionDays: number('VERSION_RETENTION_DAYS', 0, 0, 36_500),
    versionMiB: number('VERSION_MIB', 1024, 1),
    jwt: jwtConfig(env, reader),
    mcp: mcpConfig(reader, catalog),
    llm: llmConfig(reader),
    exposed: exposed(env),
  };
}

function jwtConfig(env: Env, { text, flag }: Reader): Config['jwt'] {
  const user = (text('JWT_USE_EMAIL_OR_USER') ?? 'email').toLowerCase();
  if (user !== 'email' && user !== 'username') throw new ConfigError('JWT_USE_EMAIL_OR_USER', 'email or username');
  return {
    enabled: flag('ENABLE_TOKEN', false),
    user,
    type: (text('JWT_TYPE') ?? 'custom').toLowerCase(),
    tenantUser: flag('JWT_USE_TENANT_USER', false),
    tenants: tenants(env),
    misnamed: Object.keys(env).filter((name) => TENANT_LIKE.test(name) && !TENANT_SETTING.test(name)),
  };
}

function mcpConfig({ text, number, flag }: Reader, catalog: Connection | null): Config['mcp'] {
  return {
    defaultOntology: text('MCP_DEFAULT_ONTOLOGY'),
    defaultAgent: text('MCP_DEFAULT_AGENT'),
    corsOrigins: text('MCP_CORS_ORIGINS') === null ? ['*'] : list(text('MCP_CORS_ORIGINS')),
    debug: flag('MCP_DEBUG', false),
    rowLimit: number('ROW_LIMIT', 3000, 1),
    dcrEnabled: flag('MCP_OAUTH_DCR_ENABLED', true),
    // a local runtime can connect to every address that a name resolves to, including loopback
    cimdEnabled: flag('MCP_OAUTH_CIMD_ENABLED', catalog?.endpoint == null || !isLoopback(new URL(catalog.endpoint).hostname)),
    clientId: text('MCP_OAUTH_CLIENT_ID'),
    clientSecret: text('MCP_OAUTH_CLIENT_SECRET'),
    issuer: text('MCP_OAUTH_ISSUER'),
    redirectUris: list(text('MCP_OAUTH_REDIRECT_URIS')),
  };
}

function llmConfig({ text, number }: Reader): Config['llm'] {
  const temperature = text('LLM_TEMPERATURE');
  if (temperature !== null && !Number.isFinite(Number(temperature))) throw new ConfigError('LLM_TEMPERATURE', 'a number');
  return {
    type: text('LLM_TYPE'),
    model: text('LLM_MODEL'),
    apiKey: text('LLM_API_KEY'),
    baseUrl: text('LLM_BASE_URL'),
    temperature: temperature === null ? null : Number(temperature),
    timeoutSeconds: number('LLM_TIMEOUT', 120, 1, 3600),
    additionalParams: jsonObject('LLM_ADDITIONAL_PARAMS', text('LLM_ADDITIONAL_PARAMS')),
  };
}

/**
 * Reads a connection: a connection string, or JSON {"url","endpoint"} for an SQL-over-HTTP server. The endpoint must be https; http is allowed on loopback only
 * (docs/design/statements-and-versions.md#datasources-and-secrets).
 * @throws ConfigError naming `variable`
 */
export function parseConnection(value: string, variable: string): Connection {
  try {
    return readConnection(value);
  } catch (error) {
    if (error instanceof BadConnection) throw new ConfigError(variable, error.message);
    throw error;
  }
}

/** True if a host is on the loopback interface (`localhost`, 127.0.0.0/8, ::1). @param hostname in the form of `URL.hostname` */
export const isLoopback = (hostname: string): boolean => /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;

const list = (value: string | null): readonly string[] =>
  (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function publicUrl(value: string | null): string | null {
  if (value === null) return null;
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) throw new ConfigError('PUBLIC_URL', 'an https address');
  const url = new URL(value);
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) throw new ConfigError('PUBLIC_URL', 'an https address (http on loopback only)');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function jsonObject(name: string, value: string | null): Readonly<Record<string, unknown>> {
  if (value === null) return {};
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Record<string, unknown>;
  } catch {
    // reported below
  }
  throw new ConfigError(name, 'a JSON object');
}

function datasources(env: Env): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of Object.keys(env)) {
    const value = textOf(env[name]);
    if (DATASOURCE_SETTING.test(name) && value !== undefined && value.trim() !== '') found[name] = value.trim();
  }
  return found;
}

function tenants(env: Env): Readonly<Record<string, TenantConfig>> {
  const found: Record<string, TenantConfig> = {};
  const value = (tenant: string, what: string): string | null => textOf(env[`JWT_${tenant}_${what}`])?.trim() || null;
  for (const name of Object.keys(env)) {
    const tenant = TENANT_SETTING.exec(name)?.[1];
    if (tenant === undefined || Object.hasOwn(found, tenant)) continue;
    const algorithms = list(value(tenant, 'ALGORITHM')).map((a) => (/^rs246$/i.test(a) ? 'RS256' : a));
    found[tenant] = {
      id: tenant,
      key: value(tenant, 'KEY'),
      algorithms: algorithms.length > 0 ? algorithms : ['RS256'],
      audience: value(tenant, 'AUDIENCE'),
      issuer: value(tenant, 'ISSUER'),
      jwksUrl: value(tenant, 'JWKS_URL'),
    };
  }
  return found;
}

/** The variables that ALLOWED_CONFIG_ENVS_IN_API lists by exact name, without those that are or may be secrets. */
function exposed(env: Env): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of list(textOf(env.ALLOWED_CONFIG_ENVS_IN_API) ?? null)) {
    const value = Object.hasOwn(env, name) ? textOf(env[name]) : undefined;
    if (value === undefined || isSecret(name) || /\bpostgres(ql)?:\/\//i.test(value)) continue;
    found.set(name, value);
  }
  return found;
}

const isSecret = (name: string): boolean =>
  SECRET_SETTINGS.has(name) ||
  DATASOURCE_SETTING.test(name) ||
  (TENANT_SETTING.test(name) ? TENANT_SETTING.exec(name)?.[2] === 'KEY' : !SETTING_NAMES.includes(name) && SECRET_WORD.test(name));
