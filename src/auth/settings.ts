/** What the operator is told of the settings of credentials, once an isolate: a bad one is named and refused, and the rest goes on working. */
import type { AuthSettings } from './authenticate.ts';
import { remarksOnTenants, type SettingRemark } from './tenants.ts';
import { isToken } from './tokens.ts';

/** Remarks on ADMIN_TOKEN and the JWT settings; they name variables, never values. */
export async function remarksOnSettings({ adminToken, jwt }: AuthSettings): Promise<readonly SettingRemark[]> {
  const remarks = await remarksOnTenants(jwt);
  if (adminToken === null || isToken(adminToken)) return remarks;
  const message = 'ADMIN_TOKEN: is no API token (tk_ and 33 characters that end in a checksum) and opens nothing; npm run kg -- token --new makes one';
  return [{ level: 'error', variable: 'ADMIN_TOKEN', message }, ...remarks];
}

/** Writes a line for each of them, and for `more` ones. Never throws. */
export async function reportSettings(
  settings: AuthSettings,
  log: (line: Readonly<Record<string, unknown>>) => void,
  more: readonly SettingRemark[] = [],
): Promise<void> {
  try {
    for (const { level, variable, message } of [...(await remarksOnSettings(settings)), ...more])
      log({ level, event: level === 'warn' ? 'setting_warning' : 'setting_refused', variable, message });
  } catch (error) {
    log({ level: 'error', event: 'settings_unread', message: String(error) });
  }
}
