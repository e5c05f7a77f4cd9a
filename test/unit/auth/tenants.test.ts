import { describe, expect, it } from 'vitest';
import { tenantKey } from '../../../src/auth/jwt-identity.ts';
import { remarksOnSettings, reportSettings } from '../../../src/auth/settings.ts';
import { tenantOf } from '../../../src/auth/tenants.ts';
import { createToken } from '../../../src/auth/tokens.ts';
import { readConfig } from '../../../src/config.ts';
import { ec, inVariable, rsa, spki } from './by-hand.ts';

const KEY = inVariable(spki(rsa()));
const settings = (env: Record<string, string>) => readConfig({ ENABLE_TOKEN: 'true', ...env });
const remarks = async (env: Record<string, string>) => (await remarksOnSettings(settings(env))).map(({ level, variable }) => `${level} ${variable}`);
const fault = (env: Record<string, string>, sent: string | null) =>
  tenantOf(settings(env).jwt, sent).then(
    () => 'none',
    (error: { code: string; variable: string }) => `${error.code} ${error.variable}`.trim(),
  );

describe('a tenant id', () => {
  it('is upper-cased, with - read as _', () => {
    expect(['acme', 'Big-Co', 'a_1', 'x'.repeat(64)].map(tenantKey)).toEqual(['ACME', 'BIG_CO', 'A_1', 'X'.repeat(64)]);
    for (const id of ['', ' ', 'a b', 'a.b', 'a/b', '../a', 'a\u0000', 'é', 'a,b', 'x'.repeat(65), '*']) expect(tenantKey(id), id).toBeUndefined();
  });

  it('without settings is not found', async () => {
    const env = { JWT_ACME_KEY: KEY, JWT_ACME_AUDIENCE: 'a', JWT_HALF_AUDIENCE: 'a' };
    for (const sent of [null, 'acm', 'acme_key', '__proto__', 'constructor', 'toString', ''])
      expect(await fault(env, sent), String(sent)).toBe('tenant_configuration_not_found');
    expect(await fault(env, 'half')).toBe('tenant_configuration_not_found JWT_HALF_KEY');
    expect(await fault({ JWT_TYPE: 'azure', ...env }, 'acme')).toBe('tenant_configuration_not_found JWT_TYPE');
    for (const sent of ['acme', 'ACME']) expect(await fault(env, sent)).toBe('none');
    expect(await fault({ JWT_DEFAULT_KEY: KEY }, null)).toBe('none');
  });

  it('with invalid settings is refused with the message of the error', async () => {
    const of = (env: Record<string, string>) => fault(env, 'x');
    expect(await of({ JWT_X_KEY: 'words' })).toBe('invalid_key_format JWT_X_KEY');
    expect(await of({ JWT_X_KEY: inVariable(spki(ec())) })).toBe('could_not_parse_public_key JWT_X_KEY');
    for (const algorithm of ['none', 'HS256', 'RS256,HS256', 'RS256,none', 'RS999'])
      expect(await of({ JWT_X_KEY: KEY, JWT_X_ALGORITHM: algorithm }), algorithm).toBe('could_not_parse_public_key JWT_X_ALGORITHM');
    for (const url of ['http://id.example/jwks', 'ftp://id.example/', 'https://u:p@id.example/jwks', 'words', 'file:///etc/passwd'])
      expect(await of({ JWT_X_JWKS_URL: url }), url).toBe('invalid_key_format JWT_X_JWKS_URL');
    for (const url of ['https://id.example/jwks', 'http://127.0.0.1:8080/jwks', 'http://localhost/jwks'])
      expect(await of({ JWT_X_JWKS_URL: url }), url).toBe('none');
    for (const algorithm of ['RS246', 'rs256', ' RS256 , PS256 ']) expect(await of({ JWT_X_KEY: KEY, JWT_X_ALGORITHM: algorithm }), algorithm).toBe('none');
  });
});

describe('the log for the operator', () => {
  it('names each invalid setting', async () => {
    expect(await remarks({})).toEqual(['error JWT_DEFAULT_KEY']);
    expect(await remarks({ JWT_DEFAULT_KEY: KEY })).toEqual([]);
    expect(await remarks({ JWT_TYPE: 'azure', JWT_DEFAULT_KEY: KEY })).toEqual(['error JWT_TYPE']);
    expect(await remarks({ JWT_A_KEY: 'words', JWT_B_KEY: KEY, JWT_B_ALGORITHM: 'HS256', JWT_C_ISSUER: 'i', JWT_D_KEY: KEY, JWT_e_KEY: KEY })).toEqual([
      'error JWT_e_KEY',
      'error JWT_A_KEY',
      'error JWT_B_ALGORITHM',
      'error JWT_C_KEY',
    ]);
    expect(await remarks({ JWT_A_KEY: KEY, JWT_A_JWKS_URL: 'https://id.example/jwks' })).toEqual(['warn JWT_A_KEY']);
  });

  it('warns of several tenants without prefix', async () => {
    const two = { JWT_A_KEY: KEY, JWT_B_KEY: inVariable(spki(rsa())) };
    expect(await remarks(two)).toEqual(['warn JWT_USE_TENANT_USER']);
    expect(await remarks({ ...two, JWT_USE_TENANT_USER: 'True' })).toEqual([]);
    expect(await remarks({ JWT_A_KEY: KEY, JWT_B_KEY: 'words' }), 'a refused tenant is not among the names').toEqual(['error JWT_B_KEY']);
  });

  it('warns of tenants that accept the tokens of each other', async () => {
    const of = (env: Record<string, string>) => remarks({ JWT_USE_TENANT_USER: 'true', ...env });
    const two = { JWT_A_KEY: KEY, JWT_B_KEY: KEY };
    expect(await of(two)).toEqual(['warn JWT_B_ISSUER']);
    expect(await of({ ...two, JWT_B_ISSUER: 'b' }), 'the one takes those of the other').toEqual(['warn JWT_A_ISSUER']);
    expect(await of({ ...two, JWT_A_ISSUER: 'a', JWT_B_ISSUER: 'b' })).toEqual([]);
    expect(await of({ ...two, JWT_A_AUDIENCE: 'a', JWT_B_AUDIENCE: 'b' })).toEqual([]);
    expect(await of({ ...two, JWT_A_AUDIENCE: 'a', JWT_B_AUDIENCE: 'a' })).toEqual(['warn JWT_B_ISSUER']);
    const entra = { JWT_A_JWKS_URL: 'https://login.example/a/keys', JWT_B_JWKS_URL: 'https://login.example/b/keys' };
    expect(await of(entra)).toEqual(['warn JWT_B_ISSUER']);
    expect(await of({ ...entra, JWT_A_ISSUER: 'a', JWT_B_ISSUER: 'b' })).toEqual([]);
    expect(await of({ ...entra, JWT_B_JWKS_URL: 'https://other.example/b/keys' })).toEqual([]);
  });

  it('does not mention JWTs if they are disabled, and names an invalid ADMIN_TOKEN', async () => {
    expect(await remarks({ ENABLE_TOKEN: 'false', JWT_A_KEY: 'words' })).toEqual([]);
    const token = createToken();
    expect(await remarks({ ENABLE_TOKEN: 'false', ADMIN_TOKEN: token })).toEqual([]);
    for (const other of ['hush', `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`, `tk_${'a'.repeat(33)}`])
      expect(await remarks({ ENABLE_TOKEN: 'false', ADMIN_TOKEN: other })).toEqual(['error ADMIN_TOKEN']);
  });

  it('has one line per setting, without its value', async () => {
    const lines: string[] = [];
    await reportSettings(settings({ ADMIN_TOKEN: 'tk_hush', JWT_A_KEY: 'hush' }), (line) => lines.push(JSON.stringify(line)));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', event: 'setting_refused', variable: 'ADMIN_TOKEN' },
      { level: 'error', event: 'setting_refused', variable: 'JWT_A_KEY' },
    ]);
    expect(lines.join()).not.toContain('hush');
  });
});
