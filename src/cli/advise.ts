/** `kg advise --ontology NAME`: proposes how the tables of an ontology are distributed on Citus. It changes nothing. */
import { neonDb } from '../catalog/db.ts';
import { findOntology, ontologyNames } from '../catalog/operator.ts';
import { readModel } from '../catalog/versions.ts';
import { didYouMean, nearest, SvcError } from '../errors.ts';
import type { SqlParser } from '../language/parser.ts';
import { compile } from '../ontology/compile.ts';
import { fold } from '../ontology/names.ts';
import { modelTables } from './advise-joins.ts';
import { layoutOf, SMALL_ROWS } from './advise-layout.ts';
import { readLayoutTables } from './advise-read.ts';
import { layoutLines } from './advise-text.ts';
import { Failure, printable } from './failure.ts';
import { catalogConnection, secretConnection } from './validate-data-places.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The options of the command. */
export interface AdviseOptions {
  readonly ontology: string;
  /** Default: the active datasource of the ontology. */
  readonly datasource: string | undefined;
  /** Tables of up to so many rows may become reference tables. */
  readonly small: string | undefined;
}

/**
 * Reads the model from the catalog, and the tables of a datasource with their numbers of rows.
 * @returns an SQL script: statements, and comments with the reasons
 * @throws Failure if something is unknown or does not answer
 */
export async function advise(options: AdviseOptions, env: Env, parser: SqlParser): Promise<string[]> {
  const small = options.small === undefined ? SMALL_ROWS : Number(options.small);
  if (!Number.isSafeInteger(small) || small < 0) throw new Failure('--small needs a number of rows', 2);
  try {
    return (await advised(options, small, env, parser)).map(printable);
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    const cause = e.cause instanceof Error ? `: ${e.cause.message}` : '';
    throw new Failure(`${e.message}${cause} (${e.code})`);
  }
}

async function advised({ ontology, datasource }: AdviseOptions, small: number, env: Env, parser: SqlParser): Promise<string[]> {
  const connection = await catalogConnection(env);
  if (!connection) throw new Failure('no catalog found: set CATALOG_URL to the value that the service has, or start a service here with npm start');
  const db = neonDb(connection);
  const stored = await findOntology(db, ontology);
  const model = stored && (await readModel({ db }, stored.id, stored.version));
  if (!stored || !model) throw new Failure(`unknown ontology ${ontology}${didYouMean(nearest(ontology, await ontologyNames(db)), String)}`);
  const attached = stored.datasources.find((d) => (datasource === undefined ? d.active : d.key === fold(datasource)));
  if (!attached)
    throw new Failure(datasource === undefined ? `${stored.name} has no active datasource` : `the datasource ${datasource} is not attached to ${stored.name}`);
  const place = await secretConnection(attached.name, attached.secret, env);
  if (!place) throw new Failure(`no connection to the datasource ${attached.name}: set ${attached.secret} to the value that the service has`);
  const { tables: wanted, joins } = modelTables(compile(model, stored.name), parser, attached.name);
  const tables = await readLayoutTables(place, wanted);
  if (tables.length === 0) throw new Failure(`the mappings of ${stored.name} read no table of the datasource ${attached.name}`);
  return [`-- ontology ${stored.name}, datasource ${attached.name}`, ...layoutLines(tables, joins, layoutOf(tables, joins, small))];
}
