/** `kg introspect DATASOURCE`: prints a starting script for the tables of a datasource. It connects to the datasource itself. */
import { type Datasource, parseDatasourceSecret } from '../engine/datasource.ts';
import { didYouMean, nearest, SvcError } from '../errors.ts';
import { Failure } from './failure.ts';
import { type DbTable, readTables } from './introspect-read.ts';
import { startingScript } from './introspect-script.ts';
import { sessionConnection, sessionFile } from './service-client.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The tables to include: by default all tables that the datasource's role may read. Views must be named. */
export interface Selection {
  readonly schema: string | undefined;
  /** A comma-separated list of `table` or `schema.table`. */
  readonly tables: string | undefined;
}

/**
 * Reads the tables of a datasource and generates modelling statements for them.
 *
 * @returns the script
 * @throws Failure that says what is missing
 */
export async function introspect(name: string, selection: Selection, env: Env): Promise<string> {
  return startingScript(await selectedTables(name, selection, env), name);
}

/** The tables of a selection, as the datasource has them. @throws Failure */
export async function selectedTables(name: string, selection: Selection, env: Env): Promise<DbTable[]> {
  const datasource = await findDatasource(name, env);
  try {
    return chosen(await readTables(datasource), selection);
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    const cause = e.cause instanceof Error ? `: ${e.cause.message}` : '';
    throw new Failure(`${e.message}${cause} (${e.code})`);
  }
}

/** The variable with the secret of a datasource. */
export const secretName = (datasource: string): string => `DATASOURCE_${datasource.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;

/** The secret DATASOURCE_<NAME> of the environment, or else, for `main`, the database of the session file. */
async function findDatasource(name: string, env: Env): Promise<Datasource> {
  const variable = secretName(name);
  const secret = env[variable]?.trim();
  if (secret) {
    try {
      return { name, ...parseDatasourceSecret(secret) };
    } catch (e) {
      if (e instanceof SvcError) throw new Failure(`${variable}: ${e.message}`);
      throw e;
    }
  }
  const isMain = name.toLowerCase() === 'main';
  const started = isMain ? await sessionConnection(env, 'database_url') : undefined;
  if (started !== undefined) return { name, ...started };
  const orStart = isMain ? `, or start a service here with npm start (there is no session file ${sessionFile(env)})` : '';
  throw new Failure(`no connection to the datasource ${name}: set ${variable}${orStart}`);
}

/** The tables of a selection. @throws Failure if there are none, or if a named one is unknown */
export function chosen(tables: readonly DbTable[], { schema, tables: named }: Selection): DbTable[] {
  const inSchema = schema === undefined ? tables : tables.filter((t) => t.schema === schema);
  if (inSchema.length === 0) {
    const where = schema === undefined ? 'in this datasource' : `in the schema ${schema}`;
    const near = schema === undefined ? undefined : nearest(schema, new Set(tables.map((t) => t.schema)));
    throw new Failure(`no tables ${where} that its role may read${didYouMean(near, String)}`);
  }
  if (named === undefined) {
    const own = inSchema.filter((t) => !t.isView);
    if (own.length === 0) throw new Failure('there are only views; name the wanted ones with --tables');
    return own;
  }
  const wanted = named.split(',').flatMap((n) => (n.trim() === '' ? [] : [n.trim()]));
  const found = new Set<DbTable>();
  for (const name of wanted) {
    const matches = inSchema.filter((t) => t.name === name || `${t.schema}.${t.name}` === name);
    if (matches.length === 0) {
      const near = nearest(
        name,
        inSchema.map((t) => (name.includes('.') ? `${t.schema}.${t.name}` : t.name)),
      );
      throw new Failure(`no table ${name} that the datasource's role may read${didYouMean(near, String)}`);
    }
    for (const table of matches) found.add(table);
  }
  if (found.size === 0) throw new Failure('--tables names no table', 2);
  return inSchema.filter((t) => found.has(t));
}
