/** From the name of a datasource to its connection. */
import type { Caller } from '../auth/authenticate.ts';
import { canSee } from '../auth/grants.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { type Datasource, parseDatasourceSecret } from '../engine/datasource.ts';
import { badRequest, SvcError } from '../errors.ts';
import { fold } from '../ontology/names.ts';
import { unknownName } from './lookup.ts';
import type { Runtime } from './runtime.ts';

/** What secrets have been read as: they change with the isolate only. */
const read = new Map<string, Datasource>();

function connectionOf(name: string, secret: string): Datasource {
  const key = `${name}\u0000${secret}`;
  let datasource = read.get(key);
  if (datasource === undefined) {
    datasource = { name, ...parseDatasourceSecret(secret) };
    if (read.size >= 100) read.clear();
    read.set(key, datasource);
  }
  return datasource;
}

/** The name of the variable that holds a datasource's connection; undefined: there is no such datasource. */
export const secretOf = ({ snapshot }: Caller, name: string): string | undefined => snapshot.datasources.find((d) => d.key === fold(name))?.secret;

/** The connection of a datasource. @throws SvcError 502 `datasource_failed` where its variable is not set */
export function datasourceOf(runtime: Runtime, { snapshot }: Caller, name: string): Datasource {
  const row = snapshot.datasources.find((d) => d.key === fold(name));
  const secret = row === undefined ? undefined : runtime.config.datasourceSecrets[row.secret];
  if (row === undefined || secret === undefined) {
    throw new SvcError(502, 'datasource_failed', `the datasource \`${name}\` is not configured`, {
      hint: 'The operator of the service has to set its variable',
    });
  }
  return connectionOf(row.name, secret);
}

/** The key of a datasource that is attached to the ontology, by its name. @throws SvcError 400 `unknown_datasource` */
export function attachedDatasource({ principal }: Caller, ontology: OntologyRow | undefined, name: string): string {
  const attached = ontology?.datasources ?? [];
  const visible = attached.filter((d) => canSee(principal, ['datasource', d]) || canSee(principal, ['ontology', ontology?.name ?? '']));
  if (!visible.includes(fold(name))) throw badRequest('unknown_datasource', unknownName('datasource', name, visible));
  return fold(name);
}
