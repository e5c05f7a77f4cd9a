/** Checks the settings of credentials and logins and logs problems once per isolate. An invalid setting is refused; the rest of the service keeps working. */

import type { Config, SettingRemark } from '../config.ts';
import { isSafeAddress } from '../connection.ts';
import { loggedLine } from '../errors.ts';
import { isToken } from './tokens.ts';

type Settings = Pick<Config, 'adminToken' | 'jwt' | 'mcp'>;

const remark = (level: SettingRemark['level'], variable: string, text: string): SettingRemark => ({ level, variable, message: `${variable}: ${text}` });

/** Checks ADMIN_TOKEN, the JWT settings and the OAuth settings. Remarks name variables, never values. */
export async function remarksOnSettings({ adminToken, jwt, mcp }: Settings): Promise<readonly SettingRemark[]> {
  const onTenants = jwt.enabled ? await (await import('./tenants.ts')).remarksOnTenants(jwt) : [];
  const remarks = [...onTenants, ...remarksOnOAuth(mcp)];
  if (adminToken === null || isToken(adminToken)) return remarks;
  const text = 'is not an API token (tk_ and 33 characters that end in a checksum), so it is not accepted; npm run kg -- token --new creates one';
  return [remark('error', 'ADMIN_TOKEN', text), ...remarks];
}

/**
 * With an issuer, the client id and secret are the credentials of this service at the issuer. Without one, they belong to a client that is registered in
 * advance (docs/design/credentials.md#the-user-of-an-upstream-login).
 */
function remarksOnOAuth({ issuer, clientId, clientSecret, redirectUris }: Config['mcp']): SettingRemark[] {
  if (issuer !== null) {
    return [
      ...(isSafeAddress(issuer) ? [] : [remark('error', 'MCP_OAUTH_ISSUER', 'is not an https address (http on loopback only), so users cannot log in')]),
      ...(clientId === null ? [remark('error', 'MCP_OAUTH_CLIENT_ID', 'is not set although MCP_OAUTH_ISSUER is, so users cannot log in')] : []),
      ...(redirectUris.length === 0 ? [] : [remark('warn', 'MCP_OAUTH_REDIRECT_URIS', 'is not used, because MCP_OAUTH_ISSUER is set')]),
    ];
  }
  if (clientId !== null)
    return redirectUris.length > 0 ? [] : [remark('warn', 'MCP_OAUTH_REDIRECT_URIS', 'is not set, so users of the client MCP_OAUTH_CLIENT_ID cannot log in')];
  return [
    ...(clientSecret === null ? [] : [remark('warn', 'MCP_OAUTH_CLIENT_SECRET', 'is not used, because MCP_OAUTH_CLIENT_ID is not set')]),
    ...(redirectUris.length === 0 ? [] : [remark('warn', 'MCP_OAUTH_REDIRECT_URIS', 'is not used, because MCP_OAUTH_CLIENT_ID is not set')]),
  ];
}

/** Logs the remarks on the settings, and those in `more`. Never throws. */
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
