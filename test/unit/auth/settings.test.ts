import { describe, expect, it } from 'vitest';
import { remarksOnSettings, reportSettings } from '../../../src/auth/settings.ts';
import { readConfig } from '../../../src/config.ts';

const ISSUER = { MCP_OAUTH_ISSUER: 'https://login.example' };
const CLIENT = { MCP_OAUTH_CLIENT_ID: 'hush-client' };
const SECRET = { MCP_OAUTH_CLIENT_SECRET: 'hush-secret' };
const REDIRECT = { MCP_OAUTH_REDIRECT_URIS: 'https://hush.example/callback' };

describe('settings of OAuth', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['nothing', {}, []],
    ['a client with its addresses', { ...CLIENT, ...SECRET, ...REDIRECT }, []],
    ['a public client with its addresses', { ...CLIENT, ...REDIRECT }, []],
    ['a client that has no address to come back to', { ...CLIENT, ...SECRET }, ['warn MCP_OAUTH_REDIRECT_URIS']],
    ['an empty list of redirect URIs', { ...CLIENT, MCP_OAUTH_REDIRECT_URIS: ' , ' }, ['warn MCP_OAUTH_REDIRECT_URIS']],
    ['a secret without a client', SECRET, ['warn MCP_OAUTH_CLIENT_SECRET']],
    ['redirect URIs without a client', REDIRECT, ['warn MCP_OAUTH_REDIRECT_URIS']],
    ['a provider with our credentials there', { ...ISSUER, ...CLIENT, ...SECRET }, []],
    ['a provider without them', ISSUER, ['error MCP_OAUTH_CLIENT_ID']],
    ['a provider, and addresses that are for no client', { ...ISSUER, ...CLIENT, ...REDIRECT }, ['warn MCP_OAUTH_REDIRECT_URIS']],
    ['a provider over plain http', { ...CLIENT, MCP_OAUTH_ISSUER: 'http://login.example' }, ['error MCP_OAUTH_ISSUER']],
    ['a provider on loopback', { ...CLIENT, MCP_OAUTH_ISSUER: 'http://127.0.0.1:9000' }, []],
  ])('%s', async (_, env, expected) => {
    const remarks = await remarksOnSettings(readConfig(env));
    expect(remarks.map(({ level, variable }) => `${level} ${variable}`)).toEqual(expected);
    expect(remarks.filter(({ variable, message }) => !message.startsWith(`${variable}: `) || /hush|login\.example/.test(message))).toEqual([]);
  });

  it('are written as one line each', async () => {
    const lines: Readonly<Record<string, unknown>>[] = [];
    await reportSettings(readConfig(CLIENT), (line) => lines.push(line));
    expect(lines).toEqual([
      { level: 'warn', event: 'setting_warning', variable: 'MCP_OAUTH_REDIRECT_URIS', message: expect.stringContaining('cannot log in') },
    ]);
  });
});
