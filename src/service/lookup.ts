/** Finding what a request names, as far as its caller may see it. */
import type { Caller } from '../auth/authenticate.ts';
import { canSee, type Holder } from '../auth/grants.ts';
import { cacheOf } from '../cache.ts';
import { type DatasourceRow, MAX_AGE_MS, type OntologyRow, type Snapshot } from '../catalog/snapshot.ts';
import { readModel } from '../catalog/versions.ts';
import { badRequest, didYouMean, forbidden, nearest, notFound, type SvcError } from '../errors.ts';
import type { Name } from '../language/statements.ts';
import { compile } from '../ontology/compile.ts';
import type { Graph } from '../ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import type { Runtime, ServiceRequest } from './runtime.ts';

export const quoted = (name: string): string => `\`${name}\``;

/** "unknown x `n`; did you mean `m`?" with the nearest of the names that the caller may see. */
export function unknownName(kind: string, name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return `unknown ${kind} ${quoted(name)}${didYouMean(near)}`;
}

/** 400 for a name inside a statement. */
export const unknownInStatement = (kind: string, name: Name, known: Iterable<string>): SvcError =>
  badRequest(`unknown_${kind}`, unknownName(kind, name.text, known), { offset: name.offset });

/** 403: the caller sees the thing, but lacks the right for this. */
export const lacks = (privilege: 'EDIT' | 'QUERY', what: string, offset?: number): SvcError =>
  forbidden('forbidden', `This needs ${privilege} on ${what}`, { hint: 'Ask an administrator for the right', offset });

export const visibleOntologies = (snapshot: Snapshot, holder: Holder): readonly OntologyRow[] =>
  snapshot.ontologies.filter((o) => canSee(holder, ['ontology', o.name]));

/** The ontology of that name, if the caller may see it. */
export function findOntology({ snapshot, principal }: Caller, name: string): OntologyRow | undefined {
  const key = fold(name);
  const found = snapshot.ontologies.find((o) => o.key === key);
  return found !== undefined && canSee(principal, ['ontology', found.name]) ? found : undefined;
}

/** @throws SvcError 404 `unknown_ontology`: it does not exist, or the caller may not see it */
export function requireOntology(caller: Caller, name: string): OntologyRow {
  const found = findOntology(caller, name);
  if (found !== undefined) return found;
  throw notFound(
    'unknown_ontology',
    unknownName(
      'ontology',
      name,
      visibleOntologies(caller.snapshot, caller.principal).map((o) => o.name),
    ),
  );
}

/** The same for a name inside a statement. @throws SvcError 400 `unknown_ontology` */
export function ontologyInStatement(caller: Caller, name: Name): OntologyRow {
  const found = findOntology(caller, name.text);
  if (found !== undefined) return found;
  throw unknownInStatement(
    'ontology',
    name,
    visibleOntologies(caller.snapshot, caller.principal).map((o) => o.name),
  );
}

/** The datasource of that name, if the caller may see it. @throws SvcError 400 `unknown_datasource` */
export function datasourceInStatement({ snapshot, principal }: Caller, name: Name): DatasourceRow {
  const key = fold(name.text);
  const visible = snapshot.datasources.filter((d) => canSee(principal, ['datasource', d.name]));
  const found = visible.find((d) => d.key === key);
  if (found !== undefined) return found;
  throw unknownInStatement(
    'datasource',
    name,
    visible.map((d) => d.name),
  );
}

/** Whether the request has gone on for longer than the rights of its caller may be remembered. */
export const outlivesRights = ({ caller, runtime }: Pick<ServiceRequest, 'caller' | 'runtime'>): boolean =>
  runtime.now() - caller.snapshot.verifiedAt >= MAX_AGE_MS;

const renewed = new WeakMap<Caller, Caller>();

/** The caller of a request, judged again where the request has gone on for long: a question or a batch may take many minutes. @throws as `Caller.refresh` */
export async function currentCaller({ caller, runtime }: Pick<ServiceRequest, 'caller' | 'runtime'>): Promise<Caller> {
  if (!outlivesRights({ caller, runtime })) return caller;
  const known = renewed.get(caller);
  if (known !== undefined && !outlivesRights({ caller: known, runtime })) return known;
  const now = await caller.refresh();
  renewed.set(caller, now);
  return now;
}

/** A caller whose snapshot is at least as new as the version that the request says it has seen. @throws as `currentCaller` */
export async function upToDate(request: ServiceRequest, ontology: string): Promise<Caller> {
  const { knownVersion } = request;
  const caller = await currentCaller(request);
  if (knownVersion === null || !/^[0-9a-f-]{36}$/i.test(knownVersion)) return caller;
  return findOntology(caller, ontology)?.version === knownVersion.toLowerCase() ? caller : caller.refresh();
}

const graphs = cacheOf<Graph>('graph');

/** The lookups over the current version of an ontology. @throws SvcError 404 where it was dropped meanwhile; 503 */
export async function loadGraph(runtime: Runtime, ontology: OntologyRow): Promise<Graph> {
  const key = `${ontology.version}/${ontology.name}`;
  const known = graphs.get(key);
  if (known !== undefined) return known;
  const model = await readModel(runtime, ontology.id, ontology.version);
  if (model === undefined) throw notFound('unknown_ontology', unknownName('ontology', ontology.name, []));
  const graph = compile(model, ontology.name);
  // lookups are made as they are asked for: a few times the model at most
  graphs.set(key, graph, sizeOf(model) * 2);
  return graph;
}

/** A rough count of a model's bytes in memory. */
const sizeOf = (model: Model): number =>
  2000 + 400 * (model.properties.length + model.measures.length + model.views.length) + 1500 * (model.concepts.length + model.mappings.length);

/** Without an ontology: nothing but what needs none. */
export const noGraph = (): Graph => compile(EMPTY_MODEL, '');
