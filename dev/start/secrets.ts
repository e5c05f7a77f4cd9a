import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createToken } from '../../src/auth/tokens.ts';
import { CATALOG_OWNER, DEVELOPER, newPassword, READER } from '../roles.ts';
import { StartFailure } from './failure.ts';
import { writePrivate } from './places.ts';

/** Random values that are created once for a data folder. */
export interface Secrets {
  passwords: { [CATALOG_OWNER]: string; [READER]: string; [DEVELOPER]: string };
  adminToken: string;
  sessionSecret: string;
  demoToken?: string;
}

/** Reads the secrets of a data folder, or creates them. */
export function readSecrets(stateDir: string): Secrets {
  const file = `${stateDir}/secrets.json`;
  if (existsSync(file)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Secrets;
    } catch {
      throw new StartFailure(`${file} is damaged; npm run reset clears it together with the data folder`);
    }
  }
  const secrets: Secrets = {
    passwords: { [CATALOG_OWNER]: newPassword(), [READER]: newPassword(), [DEVELOPER]: newPassword() },
    adminToken: createToken(),
    sessionSecret: randomBytes(32).toString('base64url'),
  };
  saveSecrets(stateDir, secrets);
  return secrets;
}

/** Stores them in the folder next to the data folder, readable only by its owner. */
export const saveSecrets = (stateDir: string, secrets: Secrets): void => writePrivate(`${stateDir}/secrets.json`, `${JSON.stringify(secrets, null, 2)}\n`);

/**
 * The password of a role on a server of DATABASE_URL. Roles belong to the whole server, so every start with the same
 * DATABASE_URL must use the same password: it is derived from that URL's password, or from the data folder's secret if the URL has none.
 */
export function rolePassword(databaseUrl: string, role: string, fallback: string): string {
  const { password } = new URL(databaseUrl);
  return password ? createHmac('sha256', password).update(`role ${role}`).digest('base64url').replace(/[-_]/g, 'x') : fallback;
}
