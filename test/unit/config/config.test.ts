import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigError, isDatasourceSecret, isLoopback, isSetting, parseConnection, readConfig, SETTING_NAMES } from '../../../src/config.ts';

const fails = (env: Record<string, unknown>): string => {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('it was accepted');
};

describe('readConfig', () => {
  it('has the defaults of the specification', () => {
    const c = readConfig({});
    expect(c.product).toBe('svc');
    expect([c.apiTokenTtlDays, c.statementTimeoutMs, c.asyncTimeoutMs, c.resultCacheTtlSeconds, c.mcp.rowLimit, c.llm.timeoutSeconds]).toEqual([
      90, 30_000, 600_000, 0, 3000, 120,
    ]);
    expect([c.jwt.enabled, c.jwt.user, c.jwt.tenantUser, c.mcp.dcrEnabled, c.mcp.debug]).toEqual([false, 'email', false, true, false]);
    expect([c.mcp.corsOrigins, c.corsOrigins]).toEqual([['*'], []]);
    expect([c.catalog, c.adminToken, c.publicUrl]).toEqual([null, null, null]);
  });

  it('accepts text, booleans and numbers', () => {
    for (const value of ['7', 7, ' 7 ']) expect(readConfig({ ROW_LIMIT: value }).mcp.rowLimit).toBe(7);
    for (const value of [true, 'true', 'True', '1', 'yes']) expect(readConfig({ ENABLE_TOKEN: value }).jwt.enabled).toBe(true);
    for (const value of [false, 'false', '0', '']) expect(readConfig({ ENABLE_TOKEN: value }).jwt.enabled).toBe(false);
  });

  it('names an invalid variable, never its value', () => {
    for (const [name, value] of [
      ['PRODUCT_NAME', 'Svc'],
      ['PRODUCT_NAME', 'a'.repeat(32)],
      ['ROW_LIMIT', '-3-hush'],
      ['ROW_LIMIT', '0'],
      ['STATEMENT_TIMEOUT_MS', '1.5'],
      ['ENABLE_TOKEN', 'perhaps-hush'],
      ['CATALOG_URL', 'hush-not-a-url'],
      ['CATALOG_URL', '{"url":"postgres://u:hush@h/d","endpoint":"http://far.example/sql"}'],
      ['PUBLIC_URL', 'http://far.example'],
      ['JWT_USE_EMAIL_OR_USER', 'phone'],
      ['LLM_ADDITIONAL_PARAMS', '[1]'],
    ] as const) {
      const message = fails({ [name]: value });
      expect(message).toContain(name);
      expect(message).not.toContain('hush');
    }
  });

  it('collects tenants and datasources by their names', () => {
    const c = readConfig({
      JWT_DEFAULT_KEY: 'k',
      JWT_ACME_ALGORITHM: 'RS246, ES256',
      JWT_USE_TENANT_USER: 'True',
      DATASOURCE_MAIN: 'x',
      DATASOURCE_WARE_2: 'y',
      DATASOURCE_lower: 'z',
      JWT_lower_KEY: 'l',
      [`JWT_${'L'.repeat(65)}_ISSUER`]: 'i',
    });
    expect(Object.keys(c.jwt.tenants).sort()).toEqual(['ACME', 'DEFAULT']);
    expect(c.jwt.tenants.ACME).toMatchObject({ id: 'ACME', key: null, algorithms: ['RS256', 'ES256'] });
    expect(c.jwt.tenants.DEFAULT).toMatchObject({ id: 'DEFAULT', key: 'k', algorithms: ['RS256'] });
    expect(c.jwt.misnamed).toEqual(['JWT_lower_KEY', `JWT_${'L'.repeat(65)}_ISSUER`]);
    expect(c.jwt.tenantUser).toBe(true);
    expect(c.datasourceSecrets).toEqual({ DATASOURCE_MAIN: 'x', DATASOURCE_WARE_2: 'y' });
  });

  it('returns only listed variables, and no secret', () => {
    const env = {
      ALLOWED_CONFIG_ENVS_IN_API:
        'ROW_LIMIT, API_AUTH_SALT,JWT_ACME_KEY,JWT_ACME_AUDIENCE,CATALOG_URL,DATASOURCE_MAIN,MCP_*,MY_WORD,MY_PASSWORD,MY_LINK,constructor,ABSENT,API_TOKEN_TTL',
      ROW_LIMIT: 5,
      API_AUTH_SALT: 's',
      JWT_ACME_KEY: 'k',
      JWT_ACME_AUDIENCE: 'app',
      CATALOG_URL: 'postgres://u:p@h/d',
      DATASOURCE_MAIN: 'postgres://u:p@h/d',
      MCP_DEBUG: 'true',
      MY_WORD: 'hello',
      MY_PASSWORD: 'p',
      MY_LINK: 'postgresql://u:p@h/d',
      API_TOKEN_TTL: '9',
      STATEMENT_TIMEOUT_MS: '7',
    };
    expect(Object.fromEntries(readConfig(env).exposed)).toEqual({ ROW_LIMIT: '5', JWT_ACME_AUDIENCE: 'app', MY_WORD: 'hello', API_TOKEN_TTL: '9' });
  });
});

describe('connections', () => {
  it('are a connection string, or JSON with url and endpoint', () => {
    expect(parseConnection(' postgres://u:p@h:5432/d ', 'X')).toEqual({ url: 'postgres://u:p@h:5432/d', endpoint: null });
    expect(parseConnection('{"url":"postgresql://u:p@h/d","endpoint":"https://gate.example/sql"}', 'X')).toEqual({
      url: 'postgresql://u:p@h/d',
      endpoint: 'https://gate.example/sql',
    });
    for (const host of ['127.0.0.1:4444', 'localhost', '[::1]:1']) {
      expect(parseConnection(`{"url":"postgres://u:p@h/d","endpoint":"http://${host}/sql"}`, 'X').endpoint).toBe(`http://${host}/sql`);
    }
  });

  it('are refused for any other target', () => {
    for (const endpoint of [
      'http://10.0.0.1/sql',
      'http://db.localhost/sql',
      'http://127.0.0.1.evil.example/sql',
      'ftp://localhost/',
      'https://user:pw@gate.example/',
      'gate',
    ]) {
      expect(() => parseConnection(JSON.stringify({ url: 'postgres://u:p@h/d', endpoint }), 'X')).toThrow(ConfigError);
    }
    for (const value of ['postgres://h/d', 'postgres://u:p@h', 'mysql://u:p@h/d', '{"url":7}', '{', 'postgres://'])
      expect(() => parseConnection(value, 'X')).toThrow(ConfigError);
  });

  it('recognize the names of the loopback interface', () => {
    for (const host of ['localhost', '127.0.0.1', '127.8.9.1', '[::1]', 'app.localhost']) expect(isLoopback(host)).toBe(true);
    for (const host of ['evil.example', '127.0.0.1.evil.example', '128.0.0.1', 'localhost.evil.example']) expect(isLoopback(host)).toBe(false);
  });
});

describe('names of settings', () => {
  it('are known, including dynamic ones', () => {
    for (const name of [...SETTING_NAMES, 'JWT_DEFAULT_KEY', 'JWT_ACME_CORP_JWKS_URL', 'DATASOURCE_MAIN', 'DATASOURCE_X1']) expect(isSetting(name)).toBe(true);
    for (const name of ['PATH', 'HOME', 'JWT_KEY', 'jwt_acme_key', 'DATASOURCE_', 'DATABASE_URL', 'NODE_ENV']) expect(isSetting(name)).toBe(false);
  });

  it('of datasources begin with DATASOURCE_', () => {
    for (const name of ['CATALOG_URL', 'datasource', 'XDATASOURCE_MAIN', 'DATASOURCE_', '__proto__', 'DATASOURCE_a'])
      expect(isDatasourceSecret(name)).toBe(false);
    expect(isDatasourceSecret('DATASOURCE_MAIN')).toBe(true);
  });

  it('are all in docs/configuration.md', () => {
    const text = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    expect(SETTING_NAMES.filter((name) => !new RegExp(`(?<![A-Z0-9_])${name}(?![A-Z0-9_])`).test(text))).toEqual([]);
  });
});
