/** Connections of the commands that open a database: to the catalog, and to datasources as the service reads them. */
import { parseConnection } from '../config.ts';
import type { Connection } from '../connection.ts';
import { type Datasource, neonEndpoint, parseDatasourceSecret } from '../engine/datasource.ts';
import { Failure } from './failure.ts';
import { readSession } from './service-client.ts';

type Env = Readonly<Record<string, string | undefined>>;

const sessionFile = (env: Env): string => env.SESSION_FILE?.trim() || '.dev/session.json';

/** Reads a value that must be a connection. Throws Failure that names the variable, never the value. */
function readable<T>(variable: string, read: () => T): T {
  try {
    return read();
  } catch (e) {
    throw new Failure(e instanceof Error && e.message.startsWith(variable) ? e.message : `${variable}: ${e instanceof Error ? e.message : 'not usable'}`);
  }
}

/**
 * The catalog: CATALOG_URL as the Worker has it, else CATALOG_OWNER_URL, else that of the session file. Undefined: none is told.
 *
 * @throws Failure where a value cannot be read
 */
export async function catalogConnection(env: Env): Promise<Connection | undefined> {
  for (const variable of ['CATALOG_URL', 'CATALOG_OWNER_URL']) {
    const value = env[variable]?.trim();
    if (value) return readable(variable, () => parseConnection(value, variable));
  }
  const { catalog_url: url, sql_endpoint: endpoint } = await readSession(sessionFile(env));
  return typeof url === 'string' && typeof endpoint === 'string' ? { url, endpoint } : undefined;
}

/**
 * A datasource by the variable that holds its connection; DATASOURCE_MAIN also by the session file, with the role that queries run as.
 * Undefined: it is not told.
 *
 * @throws Failure where a value cannot be read
 */
export async function secretConnection(name: string, variable: string, env: Env): Promise<Datasource | undefined> {
  const secret = env[variable]?.trim();
  if (secret) return readable(variable, () => ({ name, ...parseDatasourceSecret(secret) }));
  if (variable !== 'DATASOURCE_MAIN') return undefined;
  const { reader_url: url, sql_endpoint: endpoint } = await readSession(sessionFile(env));
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  return { name, url, endpoint: typeof endpoint === 'string' ? endpoint : neonEndpoint(new URL(url).hostname) };
}
