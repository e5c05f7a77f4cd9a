/** `kg introspect DATASOURCE`: prints a starting script for the tables of a datasource. It connects to the datasource itself. */
import { neonEndpoint } from '../connection.ts';
import { type Datasource, parseDatasourceSecret } from '../engine/datasource.ts';
import { didYouMean, nearest, SvcError } from '../errors.ts';
import { printConcept, printMapping, printProperty } from '../language/print.ts';
import { quoteBack } from '../language/quote.ts';
import { EMPTY_MODEL, type PropertyDef } from '../ontology/model.ts';
import { Failure } from './failure.ts';
import { type StartingModel, startingModel } from './introspect-model.ts';
import { type DbTable, readTables } from './introspect-read.ts';
import { readSession } from './service-client.ts';

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
  const file = env.SESSION_FILE?.trim() || '.dev/session.json';
  const { database_url: url, sql_endpoint: endpoint } = name.toLowerCase() === 'main' ? await readSession(file) : {};
  if (typeof url === 'string' && URL.canParse(url))
    return { name, url, endpoint: typeof endpoint === 'string' ? endpoint : neonEndpoint(new URL(url).hostname) };
  const orStart = name.toLowerCase() === 'main' ? `, or start a service here with npm start (there is no session file ${file})` : '';
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

/** The script for a list of tables: notes as comments, then properties with descriptions, concepts and mappings. */
function startingScript(tables: readonly DbTable[], datasource: string): string {
  const starting = startingModel(tables, datasource);
  const comments = [
    `A starting script for the datasource ${datasource}: review it, rename things as needed, then run`,
    'npm run kg -- apply FILE --ontology NAME',
    ...(datasource.toLowerCase() === 'main' ? [] : [`The ontology needs the datasource: ALTER ONTOLOGY NAME ADD DATASOURCE ${quoteBack(datasource)}`]),
    ...starting.notes,
  ];
  return [comments.map(comment).join('\n'), ...statementsOf(starting, [])].join('\n\n');
}

/** A line as a comment. */
export const comment = (line: string): string => `-- ${line.replace(/\p{Cc}/gu, ' ')}`;

/** The statements of a starting model, in groups. @param known properties that concepts list and that exist */
export function statementsOf({ properties, concepts, mappings }: StartingModel, known: readonly PropertyDef[]): string[] {
  const model = { ...EMPTY_MODEL, properties: [...properties, ...known], concepts };
  const groups = [
    properties.filter((p) => p.description !== null).map((p) => `${printProperty(p)};`),
    concepts.map((c) => `${printConcept(c, model, 'svc')};`),
    mappings.map((m) => `${printMapping(m)};`),
  ];
  return groups.flatMap((lines) => (lines.length === 0 ? [] : [lines.join('\n')]));
}
