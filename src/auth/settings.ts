/** What the operator is told of the settings of credentials and logins, once an isolate: a bad one is named and refused, and the rest goes on working. */

import type { Config } from '../config.ts';
import { isSafeAddress } from '../connection.ts';
import { loggedLine } from '../errors.ts';
import { remarksOnTenants, type SettingRemark } from './tenants.ts';
import { isToken } from './tokens.ts';

type Settings = Pick<Config, 'adminToken' | 'jwt' | 'mcp'>;

const remark = (level: SettingRemark['level'], variable: string, text: string): SettingRemark => ({ level, variable, message: `${variable}: ${text}` });

/** Remarks on ADMIN_TOKEN, the JWT settings and those of OAuth; they name variables, never values. */
export async function remarksOnSettings({ adminToken, jwt, mcp }: Settings): Promise<readonly SettingRemark[]> {
  const remarks = [...(await remarksOnTenants(jwt)), ...remarksOnOAuth(mcp)];
  if (adminToken === null || isToken(adminToken)) return remarks;
  const text = 'is no API token (tk_ and 33 characters that end in a checksum) and opens nothing; npm run kg -- token --new makes one';
  return [remark('error', 'ADMIN_TOKEN', text), ...remarks];
}

/**
 * With an issuer the client's id and secret are this service's credentials there, else those of a client registered in advance
 * (docs/design/credentials.md#the-user-of-an-upstream-login).
 */
function remarksOnOAuth({ issuer, clientId, clientSecret, redirectUris }: Config['mcp']): SettingRemark[] {
  if (issuer !== null) {
    return [
      ...(isSafeAddress(issuer) ? [] : [remark('error', 'MCP_OAUTH_ISSUER', 'is no https address (http on loopback only), so nobody can log in')]),
      ...(clientId === null ? [remark('error', 'MCP_OAUTH_CLIENT_ID', 'is not set, though MCP_OAUTH_ISSUER is, so nobody can log in')] : []),
      ...(redirectUris.length === 0 ? [] : [remark('warn', 'MCP_OAUTH_REDIRECT_URIS', 'is not used, since MCP_OAUTH_ISSUER is set')]),
    ];
  }
  if (clientId !== null)
    return redirectUris.length > 0 ? [] : [remark('warn', 'MCP_OAUTH_REDIRECT_URIS', 'is not set, so the client of MCP_OAUTH_CLIENT_ID cannot log anybody in')];
  return [
    ...(clientSecret === null ? [] : [remark('warn', 'MCP_OAUTH_CLIENT_SECRET', 'is not used, since MCP_OAUTH_CLIENT_ID is not set')]),
    ...(redirectUris.length === 0 ? [] : [remark('warn', 'MCP_OAUTH_REDIRECT_URIS', 'is not used, since MCP_OAUTH_CLIENT_ID is not set')]),
  ];
}

/** Writes a line for each of them, and for `more` ones. Never throws. */
export async function reportSettings(
  settings: Settings,
  log: (line: Readonly<Record<string, unknown>>) => void,
  more: readonly SettingRemark[] = [],
): Promise<void> {
  try {
    for (const { level, variable, message } of [...(await remarksOnSettings(settings)), ...more])
      log({ level, event: level === 'warn' ? 'setting_warning' : 'setting_refused', variable, message });
  } catch (error) {
    log({ level: 'error', event: 'settings_unread', message: loggedLine(error) });
  }
}
