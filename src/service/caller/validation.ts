/** Who may check the data of an ontology: the checks read all rows, without policies, and store counts and frequent values. */
import type { Caller } from '../../auth/authenticate.ts';
import { can } from '../../auth/grants.ts';
import type { DatasourceRow, OntologyRow } from '../../catalog/snapshot.ts';
import { forbidden, type SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { lacks } from './lookup.ts';
import { seesAllRows } from './policies.ts';

/** The names of the datasources that the mappings and views of a model read. */
export const datasourcesOf = ({ model }: Graph): ReadonlySet<string> =>
  new Set([...model.mappings.map((m) => m.datasource), ...model.views.flatMap((v) => (v.datasource === null ? [] : [v.datasource]))]);

/** The right that a caller lacks to check the data of an ontology: EDIT and QUERY on all of it without policies, and EDIT on its datasources; undefined: it lacks no right. */
export function lackForValidation(caller: Caller, ontology: OntologyRow, graph: Graph, offset?: number): SvcError | undefined {
  const { principal } = caller;
  if (!can(principal, 'edit', ['ontology', ontology.name])) return lacks('EDIT', `ontology.${ontology.name}`, offset);
  for (const name of datasourcesOf(graph)) {
    const row: DatasourceRow | undefined = caller.snapshot.datasources.find((d) => d.key === fold(name));
    if (row === undefined || !can(principal, 'edit', ['datasource', row.name])) return lacks('EDIT', `datasource.${name}`, offset);
  }
  if (seesAllRows(caller, ontology.name) !== 'edits') {
    return forbidden('forbidden', 'This reads all rows: it needs EDIT and QUERY on all of the ontology, and that no policy applies', { offset });
  }
  return undefined;
}
