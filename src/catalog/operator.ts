/** What the command line reads from the catalog: ontologies with their datasources, and the applied migrations. */
import { fold } from '../ontology/names.ts';
import { type CatalogDb, sql } from './db.ts';

/** The current state of an ontology. */
export interface StoredOntology {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly allowedFunctions: string | null;
  /** The attached datasources. `secret` is the name of the variable with the connection string. */
  readonly datasources: readonly { readonly name: string; readonly key: string; readonly secret: string; readonly active: boolean }[];
}

const ONTOLOGY = sql`SELECT json_build_object('id', o.id, 'name', o.name, 'version', o.version, 'allowedFunctions', o.allowed_functions,
  'datasources', (SELECT coalesce(json_agg(json_build_object('name', d.name, 'key', d.key, 'secret', d.secret, 'active', a.active) ORDER BY a.created, d.key), '[]')
    FROM kg_catalog.ontology_datasources a JOIN kg_catalog.datasources d ON d.id = a.datasource_id WHERE a.ontology_id = o.id))::text AS ontology
  FROM kg_catalog.ontologies o WHERE o.key = $1`;
const NAMES = sql`SELECT name FROM kg_catalog.ontologies ORDER BY key`;
const DATASOURCES = sql`SELECT name, secret FROM kg_catalog.datasources ORDER BY created, key`;
const REPLICAS = sql`SELECT name, secret, options ->> 'replicas' AS replicas, options ->> 'max_lag' AS max_lag FROM kg_catalog.datasources
  WHERE options ->> 'replicas' IS NOT NULL ORDER BY created, key`;
const MIGRATIONS = sql`SELECT name, checksum FROM kg_catalog.migrations ORDER BY name`;

/** Finds an ontology by name, ignoring case. @throws SvcError 503 */
export async function findOntology(db: CatalogDb, name: string): Promise<StoredOntology | undefined> {
  const [row] = await db.query(ONTOLOGY, [fold(name)]);
  return row === undefined ? undefined : (JSON.parse(String(row.ontology)) as StoredOntology);
}

/** Lists the names of all ontologies. @throws SvcError 503 */
export async function ontologyNames(db: CatalogDb): Promise<string[]> {
  return (await db.query(NAMES)).map((row) => String(row.name));
}

/** Maps the name of each datasource to the name of the variable with its connection string. @throws as `appliedMigrations` */
export async function datasourceSecrets(db: CatalogDb): Promise<ReadonlyMap<string, string>> {
  return new Map((await db.query(DATASOURCES)).map((row) => [String(row.name), String(row.secret)]));
}

/** A datasource with replicas: the variables with the connections, and the options as written. */
export interface StoredReplicas {
  readonly name: string;
  readonly secret: string;
  readonly replicas: string;
  readonly maxLag: string | null;
}

/** Lists the datasources that have replicas. @throws as `appliedMigrations` */
export async function storedReplicas(db: CatalogDb): Promise<readonly StoredReplicas[]> {
  const rows = await db.query(REPLICAS);
  return rows.map((r) => ({
    name: String(r.name),
    secret: String(r.secret),
    replicas: String(r.replicas),
    maxLag: r.max_lag == null ? null : String(r.max_lag),
  }));
}

/** Maps the name of each applied migration to its checksum. @throws SvcError 503; DbError if the catalog's schema does not exist */
export async function appliedMigrations(db: CatalogDb): Promise<ReadonlyMap<string, string>> {
  return new Map((await db.query(MIGRATIONS)).map((row) => [String(row.name), String(row.checksum)]));
}
