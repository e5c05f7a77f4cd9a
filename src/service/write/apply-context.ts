/** What applying modelling statements to an ontology needs. */
import type { Caller } from '../../auth/authenticate.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { createSqlReader } from '../../language/expressions.ts';
import { type ApplyContext, Places } from '../../ontology/apply.ts';
import type { Runtime } from '../runtime.ts';

/** The names of the datasources that are attached to an ontology, and of the active one. */
export function datasourcesOf(
  { snapshot }: Pick<Caller, 'snapshot'>,
  { datasources, active }: Pick<OntologyRow, 'datasources' | 'active'>,
): { readonly datasources: readonly string[]; readonly activeDatasource: string | null } {
  const name = (key: string): string => snapshot.datasources.find((d) => d.key === key)?.name ?? key;
  return { datasources: datasources.map(name), activeDatasource: active === null ? null : name(active) };
}

/** The context for the statements of one script. */
export function applyContext(
  { parser, config }: Runtime,
  caller: Pick<Caller, 'snapshot'>,
  row: Pick<OntologyRow, 'name' | 'datasources' | 'active'>,
): ApplyContext {
  const reader = createSqlReader(parser, config.product);
  return { ...reader, ontology: row.name, ...datasourcesOf(caller, row), product: config.product, places: new Places(Math.random()) };
}
