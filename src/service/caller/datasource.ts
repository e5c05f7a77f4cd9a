/** Finds the connection of a datasource by its name. */
import type { Caller } from '../../auth/authenticate.ts';
import { canSee } from '../../auth/grants.ts';
import { sha256 } from '../../auth/tokens.ts';
import type { DatasourceRow, OntologyRow, Snapshot } from '../../catalog/snapshot.ts';
import { type Datasource, parseDatasourceSecret } from '../../engine/datasource.ts';
import { DEFAULT_MAX_LAG_MS, maxLag, replicaNames } from '../../engine/replicas/options.ts';
import { badRequest, SvcError } from '../../errors.ts';
import { fold } from '../../ontology/names.ts';
import type { Runtime } from '../runtime.ts';
import { unknownName } from './lookup.ts';

/** Parsed secrets. The secrets of an isolate do not change. */
const parsed = new Map<string, Datasource>();

function connectionOf(name: string, secret: string): Datasource {
  const key = `${name}\u0000${secret}`;
  let datasource = parsed.get(key);
  if (datasource === undefined) {
    datasource = { name, ...parseDatasourceSecret(secret) };
    if (parsed.size >= 100) parsed.clear();
    parsed.set(key, datasource);
  }
  return datasource;
}

/** Digests by input. */
const digests = new Map<string, string>();

/**
 * Returns a digest of the connection of a datasource, keyed by a secret of the catalog. It is part of all cache keys of rows and values, so that rows of one
 * database are not found after the variable was changed to another one. Undefined if the datasource does not exist or its variable is not set.
 */
export async function connectionDigest({ config }: Runtime, { snapshot }: Caller, name: string): Promise<string | undefined> {
  const row = datasourceRow(snapshot, name);
  const secret = row === undefined ? undefined : config.datasourceSecrets[row.secret];
  if (secret === undefined) return undefined;
  const of = JSON.stringify([snapshot.maskKey, secret]);
  const known = digests.get(of);
  if (known !== undefined) return known;
  const digest = await sha256(of);
  if (digests.size >= 100) digests.clear();
  digests.set(of, digest);
  return digest;
}

/** The row of a datasource in a snapshot. */
export const datasourceRow = ({ datasources }: Pick<Snapshot, 'datasources'>, name: string): DatasourceRow | undefined =>
  datasources.find((d) => d.key === fold(name));

/** Returns the connection of a datasource. @throws SvcError 502 `datasource_failed` if its variable is not set */
export function datasourceOf(runtime: Runtime, caller: Caller, name: string): Datasource {
  const found = findDatasource(runtime, caller, name);
  if (found === undefined) {
    throw new SvcError(502, 'datasource_failed', `the datasource \`${name}\` is not configured`, {
      hint: 'Ask the operator to set its variable',
    });
  }
  return found;
}

/** Returns the connection of a datasource; undefined if its variable is not set. @throws SvcError 502 `datasource_failed` if its value is invalid */
export function findDatasource(runtime: Runtime, { snapshot }: Caller, name: string): Datasource | undefined {
  const row = datasourceRow(snapshot, name);
  const secret = row === undefined ? undefined : runtime.config.datasourceSecrets[row.secret];
  return row === undefined || secret === undefined ? undefined : connectionOf(row.name, secret);
}

/** A datasource and its replicas; undefined if it has none. A replica whose variable is missing or invalid is undefined. */
export interface WithReplicas {
  readonly replicas: readonly (Datasource | undefined)[];
  readonly maxLagMs: number;
}

/** Returns the connections of the replicas of a datasource; undefined if it has none. */
export function replicasOf({ config }: Runtime, { snapshot }: Caller, name: string): WithReplicas | undefined {
  const row = datasourceRow(snapshot, name);
  if (row === undefined) return undefined;
  const replicas = replicaNames(row.replicas).map((secret) => replicaOf(row.name, config.datasourceSecrets[secret]));
  return replicas.some((r) => r !== undefined) ? { replicas, maxLagMs: maxLag(row.maxLag) ?? DEFAULT_MAX_LAG_MS } : undefined;
}

function replicaOf(name: string, secret: string | undefined): Datasource | undefined {
  try {
    return secret === undefined ? undefined : connectionOf(name, secret);
  } catch {
    // `kg doctor` and health/ready report it
    return undefined;
  }
}

/** Returns the key of a datasource that is attached to the ontology. @throws SvcError 400 `unknown_datasource` */
export function attachedDatasource({ principal }: Caller, ontology: OntologyRow | undefined, name: string): string {
  const attached = ontology?.datasources ?? [];
  const visible = attached.filter((d) => canSee(principal, ['datasource', d]) || canSee(principal, ['ontology', ontology?.name ?? '']));
  if (!visible.includes(fold(name))) throw badRequest('unknown_datasource', unknownName('datasource', name, visible));
  return fold(name);
}
