/** Connections of the commands that open a database: to the catalog, and to datasources with the role that queries use. */
import { parseConnection } from '../config.ts';
import type { Connection } from '../connection.ts';
import { type Datasource, parseDatasourceSecret } from '../engine/datasource.ts';
import { Failure } from './failure.ts';
import { sessionConnection } from './service-client.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Parses a connection. @throws Failure that names the variable, never the value */
function readable<T>(variable: string, read: () => T): T {
  try {
    return read();
  } catch (e) {
    throw new Failure(e instanceof Error && e.message.startsWith(variable) ? e.message : `${variable}: ${e instanceof Error ? e.message : 'not usable'}`);
  }
}

/**
 * The catalog's connection: the Worker's CATALOG_URL, or else CATALOG_OWNER_URL, or else the session file. Undefined if they are all missing.
 *
 * @throws Failure if a value is invalid
 */
export async function catalogConnection(env: Env): Promise<Connection | undefined> {
  for (const variable of ['CATALOG_URL', 'CATALOG_OWNER_URL']) {
    const value = env[variable]?.trim();
    if (value) return readable(variable, () => parseConnection(value, variable));
  }
  return sessionConnection(env, 'catalog_url');
}

/**
 * The connection of a datasource, from its variable; for DATASOURCE_MAIN also from the session file, with the role that queries use.
 * Undefined if it is not set.
 *
 * @throws Failure if a value is invalid
 */
export async function secretConnection(name: string, variable: string, env: Env): Promise<Datasource | undefined> {
  const secret = env[variable]?.trim();
  if (secret) return readable(variable, () => ({ name, ...parseDatasourceSecret(secret) }));
  if (variable !== 'DATASOURCE_MAIN') return undefined;
  const started = await sessionConnection(env, 'reader_url');
  return started && { name, ...started };
}
