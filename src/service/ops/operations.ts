/** Operations other than scripts: lists, details, rows of concepts and views by name, settings. */

import { can } from '../../auth/grants.ts';
import { DatasourceFault } from '../../engine/errors.ts';
import { badRequest, notFound, quoted, SvcError } from '../../errors.ts';
import { type FilterRequest, parseFilters } from '../../language/filters.ts';
import type { Concept, Graph } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { type FilterQuery, filterConcept, filterView } from '../../planner/filter/index.ts';
import type { PlanContext } from '../../planner/index.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { filteredAgents, listOf } from '../caller/agents.ts';
import { currentCaller, lacks, loadGraph, requireOntology, unknownName, upToDate, visibleOntologies } from '../caller/lookup.ts';
import { accessOf, factsOf } from '../caller/policies.ts';
import { seenBy } from '../caller/sight.ts';
import { Texts } from '../caller/texts.ts';
import { ontologyDetail } from '../describe/detail.ts';
import type { Answer, Script, ServiceRequest } from '../runtime.ts';
import { requireChanges } from './permitted.ts';
import { runScript } from './script.ts';

/** Lists the names of the ontologies that the caller may see. */
export const listOntologies = ({ caller }: ServiceRequest): readonly string[] => visibleOntologies(caller.snapshot, caller.principal).map((o) => o.name);

/** Lists the agents with an ontology that the caller may see (docs/design/rights-and-visibility.md#agents-and-their-lists). @throws SvcError 503 */
export async function listAgents(request: ServiceRequest): Promise<readonly unknown[]> {
  const list = (text: string | undefined): readonly string[] => listOf(text).filter((name) => name !== 'none');
  return (await filteredAgents(request.runtime, await currentCaller(request))).map(({ agent, ontologies }) => ({
    name: agent.name,
    description: agent.description,
    ontologies,
    default_ontology: ontologies[0] ?? null,
    concepts: list(agent.options.concepts_list),
    views: list(agent.options.views_list),
    options: agent.options,
  }));
}

/** Returns a variable that the settings expose (docs/design/platform-rules.md#configuration). @throws SvcError 404 for all other variables */
export function getConfig({ runtime }: ServiceRequest, name: string): Readonly<Record<string, string>> {
  const value = runtime.config.exposed.get(name);
  if (value === undefined) throw notFound('unknown_config', `unknown config name ${quoted(name)}`);
  return { [name]: value };
}

/** Describes an ontology. @throws SvcError 404 `unknown_ontology`, 503 */
export async function getOntology(
  request: ServiceRequest,
  name: string,
): Promise<{ readonly name: string; readonly version: string; readonly detail: unknown }> {
  const caller = await upToDate(request, name);
  const row = requireOntology(caller, name);
  const graph = seenBy(caller.principal, await loadGraph(request.runtime, row), request.runtime.parser);
  const datasources = row.datasources
    .flatMap((key) => caller.snapshot.datasources.find((d) => d.key === key) ?? [])
    .map((d) => ({ name: d.name, type: d.type, is_active: d.key === row.active }));
  const { parser, config } = request.runtime;
  const texts = new Texts(parser, config.product, caller.principal, graph, allowedFunctionsOf(row));
  request.about(row.name, row.version);
  return { name: row.name, version: row.version, detail: ontologyDetail(graph, row.version, datasources, texts, request.spending.answers) };
}

/**
 * Clears the cached results of an ontology. It needs EDIT, because the next query of every caller goes to the datasource.
 * @throws SvcError 403 `read_only`; 404 `unknown_ontology`; 403 `forbidden` without EDIT on the ontology; 503 `not_configured` without a cache backend
 */
export async function clearCache({ runtime, caller, permitted }: ServiceRequest, name: string): Promise<void> {
  requireChanges({ permitted });
  const row = requireOntology(caller, name);
  if (!can(caller.principal, 'edit', ['ontology', row.name])) throw lacks('EDIT', `ontology.${row.name}`);
  if (runtime.kv === undefined) {
    throw new SvcError(503, 'not_configured', 'This service has no cache backend', { hint: 'Ask the operator to bind a KV namespace as CACHE' });
  }
  const changes = await import('../../catalog/changes.ts');
  await changes.commit(runtime.db, changes.clearCache(row.id), null);
}

/** Rows of a concept or view, and the SQL that selects them. */
export interface Listed {
  readonly answer: Answer;
  readonly executed: string;
}

/** A request for rows of a concept or view: the query string with the filters, and `results-limit`. */
export interface RowsQuery {
  readonly search: string;
  readonly limit: number | null;
  /** Nest the rows if their columns allow it; limits and `_offset_` then count root objects. */
  readonly nested: boolean;
}

/** Returns the rows of a concept. @throws SvcError 404 `unknown_concept`, 403 without QUERY, 400 for an invalid filter */
export const conceptRows = (request: ServiceRequest, ontology: string, concept: string, query: RowsQuery): Promise<Listed> =>
  listed(request, ontology, 'concept', concept, query, (graph) => graph.concepts);

/** Returns the rows of a view. @throws SvcError 404 `unknown_view`, 403 without QUERY, 400 for an invalid filter */
export const viewRows = (request: ServiceRequest, ontology: string, view: string, query: RowsQuery): Promise<Listed> =>
  listed(request, ontology, 'view', view, query, (graph) => graph.model.views);

async function listed(
  request: ServiceRequest,
  ontology: string,
  kind: 'concept' | 'view',
  name: string,
  { search, limit, nested }: RowsQuery,
  all: (graph: Graph) => readonly { readonly name: string }[],
): Promise<Listed> {
  const caller = await upToDate(request, ontology);
  const row = requireOntology(caller, ontology);
  const { runtime } = request;
  const graph = seenBy(caller.principal, await loadGraph(runtime, row), runtime.parser);
  request.about(row.name, row.version);
  const known = all(graph);
  // the root of all concepts can be read although it is not listed
  const thing = kind === 'concept' && fold(name) === fold(graph.thing.name) ? graph.thing : undefined;
  const found = known.find((o) => fold(o.name) === fold(name)) ?? thing;
  if (found === undefined) {
    throw notFound(
      `unknown_${kind}`,
      unknownName(
        kind,
        name,
        known.map((o) => o.name),
      ),
    );
  }
  const readable = kind === 'concept' ? (found as Concept).readable : graph.reads(found as ViewDef);
  if (!readable) throw lacks('QUERY', `ontology.${row.name}.${kind}.${found.name}`);
  const filters = parseFilters(search);
  const context: PlanContext = {
    graph,
    parser: runtime.parser,
    product: runtime.config.product,
    activeDatasource: row.active ?? 'main',
    caller: factsOf(caller.principal),
    access: accessOf(caller, row),
    allowedFunctions: allowedFunctionsOf(row),
  };
  const query = (of: FilterRequest): FilterQuery =>
    kind === 'concept' ? filterConcept(context, found as Concept, of) : filterView(context, found as ViewDef, of);
  const { executed, ...flat } = query(filters);
  // limits on root objects are applied after folding; in the statement they would count rows
  const { text, bound } = nested ? query({ ...filters, limit: undefined, offset: undefined }) : flat;
  const window = nested ? { nested, ...windowOf(filters, limit) } : { limit };
  const script: Script = { ontology: row.name, sql: text, bound, datasource: null, ...window };
  const answer = await runScript({ ...request, caller, knownVersion: null }, script).catch((error) => {
    throw withColumns(error, flat.untyped);
  });
  return { answer, executed };
}

/** Combines `_limit_`, `_offset_` and `results-limit` to a limit and offset of root objects. */
function windowOf({ limit, offset }: FilterRequest, most: number | null): { limit: number | null; offset?: number } {
  const counts = [...(limit === undefined ? [] : [Number(limit)]), ...(most === null ? [] : [most])];
  return { limit: counts.length === 0 ? null : Math.min(...counts), ...(offset === undefined ? {} : { offset: Number(offset) }) };
}

/** Adds to PostgreSQL's error about a value the columns whose types only PostgreSQL knows. */
function withColumns(error: unknown, untyped: readonly string[]): unknown {
  if (untyped.length === 0 || !(error instanceof SvcError) || !(error.cause instanceof DatasourceFault) || !error.cause.sqlstate?.startsWith('22'))
    return error;
  return badRequest('bad_value', `a value does not fit ${untyped.map(quoted).join(' or ')}: ${error.message}`, { cause: error.cause });
}
