/** Finds the objects that a request names and that its caller may see. */
import type { Caller } from '../../auth/authenticate.ts';
import { canSee, type Holder } from '../../auth/grants.ts';
import { cacheOf } from '../../cache.ts';
import { type DatasourceRow, MAX_AGE_MS, type OntologyRow, type Snapshot } from '../../catalog/snapshot.ts';
import { readModel } from '../../catalog/versions.ts';
import { badRequest, didYouMean, forbidden, nearest, notFound, quoted, type SvcError } from '../../errors.ts';
import type { Name } from '../../language/statements.ts';
import { compile } from '../../ontology/compile.ts';
import type { Graph } from '../../ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import type { Runtime, ServiceRequest } from '../runtime.ts';

/** Returns "unknown x `n`; did you mean `m`?". @param known names that the caller may see */
export function unknownName(kind: string, name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return `unknown ${kind} ${quoted(name)}${didYouMean(near)}`;
}

/** 400 for an unknown name in a statement. */
export const unknownInStatement = (kind: string, name: Name, known: Iterable<string>): SvcError =>
  badRequest(`unknown_${kind}`, unknownName(kind, name.text, known), { offset: name.offset });

/** 403: the caller sees the object but lacks the privilege. */
export const lacks = (privilege: 'EDIT' | 'QUERY', what: string, offset?: number): SvcError =>
  forbidden('forbidden', `This needs ${privilege} on ${what}`, { hint: 'Ask an administrator for the right', offset });

export const visibleOntologies = (snapshot: Snapshot, holder: Holder): readonly OntologyRow[] =>
  snapshot.ontologies.filter((o) => canSee(holder, ['ontology', o.name]));

/** Finds an ontology by name; undefined if it does not exist or the caller may not see it. */
export function findOntology({ snapshot, principal }: Caller, name: string): OntologyRow | undefined {
  const key = fold(name);
  const found = snapshot.ontologies.find((o) => o.key === key);
  return found !== undefined && canSee(principal, ['ontology', found.name]) ? found : undefined;
}

/** Finds an ontology by name. @throws SvcError 404 `unknown_ontology` if it does not exist or the caller may not see it */
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

/** As `requireOntology`, for a name in a statement. @throws SvcError 400 `unknown_ontology` */
export function ontologyInStatement(caller: Caller, name: Name): OntologyRow {
  const found = findOntology(caller, name.text);
  if (found !== undefined) return found;
  throw unknownInStatement(
    'ontology',
    name,
    visibleOntologies(caller.snapshot, caller.principal).map((o) => o.name),
  );
}

/** Finds a datasource that the caller may see. @throws SvcError 400 `unknown_datasource` */
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

/** True if the request has run longer than a snapshot of rights may be used. */
export const outlivesRights = ({ caller, runtime }: Pick<ServiceRequest, 'caller' | 'runtime'>): boolean =>
  runtime.now() - caller.snapshot.verifiedAt >= MAX_AGE_MS;

const renewed = new WeakMap<Caller, Caller>();

/** Returns the caller of a request, authenticated again if its snapshot is too old: a question or a batch may take many minutes. @throws as `Caller.refresh` */
export async function currentCaller({ caller, runtime }: Pick<ServiceRequest, 'caller' | 'runtime'>): Promise<Caller> {
  if (!outlivesRights({ caller, runtime })) return caller;
  const known = renewed.get(caller);
  if (known !== undefined && !outlivesRights({ caller: known, runtime })) return known;
  const now = await caller.refresh();
  renewed.set(caller, now);
  return now;
}

/** Returns the caller with a snapshot that is at least as new as the version in `x-ontology-version`. @throws as `currentCaller` */
export async function upToDate(request: ServiceRequest, ontology: string): Promise<Caller> {
  const { knownVersion } = request;
  const caller = await currentCaller(request);
  if (knownVersion === null || !/^[0-9a-f-]{36}$/i.test(knownVersion)) return caller;
  return findOntology(caller, ontology)?.version === knownVersion.toLowerCase() ? caller : caller.refresh();
}

const graphs = cacheOf<Graph>('graph');

/** Loads the compiled model of the current version of an ontology. @throws SvcError 404 if it was dropped concurrently; 503 */
export async function loadGraph(runtime: Runtime, ontology: OntologyRow): Promise<Graph> {
  const key = `${ontology.version}/${ontology.name}`;
  const known = graphs.get(key);
  if (known !== undefined) return known;
  const model = await readModel(runtime, ontology.id, ontology.version);
  if (model === undefined) throw notFound('unknown_ontology', unknownName('ontology', ontology.name, []));
  const graph = compile(model, ontology.name);
  // the graph builds its indexes on demand; estimate their size
  graphs.set(key, graph, sizeOf(model) * 2);
  return graph;
}

/** Estimates the size of a model in memory, in bytes. */
const sizeOf = (model: Model): number =>
  2000 + 400 * (model.properties.length + model.measures.length + model.views.length) + 1500 * (model.concepts.length + model.mappings.length);

/** The graph for statements without an ontology. */
export const noGraph = (): Graph => compile(EMPTY_MODEL, '');
