/** The cached mappings, cubes and views that a statement may read (docs/design/caches.md#cached-mappings). Loaded if the ontology of a request has some. */
import type { Budget } from '../../budget.ts';
import { ByteStore } from '../../cache.ts';
import { viewOfKey } from '../../catalog/caches.ts';
import type { CacheRow } from '../../catalog/snapshot.ts';
import { DatasourceFault } from '../../engine/errors.ts';
import { SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef, ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { CachedCubes } from '../../planner/cached/reading.ts';
import type { CubeSelect } from '../../planner/cached/select.ts';
import { CachedViews, type ViewSelect } from '../../planner/cached/views.ts';
import type { CachedTable, Plan } from '../../planner/index.ts';
import { connectionDigest } from '../caller/datasource.ts';
import { digestIn } from '../caller/mapping-digest.ts';
import { viewDigest } from '../caller/view-digest.ts';
import type { Session } from '../session.ts';
import type { Caches } from './read.ts';

// the tables that have turned out to be gone; the next snapshot names others
const gone = new ByteStore(16 * 1024).view<true>('gone');

/** Upper bound on the clock skew between the isolate and the catalog. */
const CLOCK_SKEW_MS = 2000;

/**
 * True if rows that were read at a moment are not too old. The age is the larger one by the clock of this isolate and by that of the catalog, which goes on since the snapshot
 * was read. Rows of the future have no known age: the catalog's clock was changed.
 */
function isYoung({ request, caller }: Pick<Session, 'request' | 'caller'>, { asOf, maxAge }: CacheRow): boolean {
  const now = request.runtime.now();
  const { verifiedAt, readAt = now } = caller.snapshot;
  const age = Math.max(now, verifiedAt + Math.max(0, now - readAt)) - asOf;
  return age < maxAge && age > -CLOCK_SKEW_MS;
}

/** Finds the cached tables that a statement may read: they are young enough, and made of the same mapping on the same database. */
export async function cachesOf(session: Session, graph: Graph): Promise<Caches> {
  const { caller, request } = session;
  const places = await placesOf(session);
  const tables = new Map<MappingDef, CachedTable>();
  /** Those in another datasource than their mapping. */
  const others = new Map<MappingDef, CachedTable>();
  const views: ViewTable[] = [];
  for (const row of session.draft?.row.caches ?? []) {
    const datasources = places.get(row.connection) ?? [];
    if (datasources.length === 0 || gone.get(row.table) || !isYoung(session, row)) continue;
    const view = viewOfKey(row.mapping);
    if (view !== undefined) {
      if (graph.whole.view(view.name)?.cube === (view.kind === 'cube')) views.push({ ...view, row, datasources });
      continue;
    }
    const mapping = graph.whole.mapping(row.mapping);
    if (mapping === undefined) continue;
    for (const key of datasources) {
      if ((await digestIn(request.runtime, caller, mapping, key)) !== row.digest) continue;
      const table = { mapping: mapping.name, schema: row.schema, name: row.table, asOf: row.asOf };
      if (key === fold(mapping.datasource)) tables.set(mapping, table);
      else others.set(mapping, { ...table, datasource: graph.whole.model.mappings.find((m) => fold(m.datasource) === key)?.datasource ?? key });
    }
  }
  const of = (mapping: MappingDef): CachedTable | undefined => tables.get(mapping);
  const across = [...new Set([...others.values()].map((t) => t.datasource))].map((datasource) => (mapping: MappingDef): CachedTable | undefined => {
    const other = others.get(mapping);
    return other?.datasource === datasource ? other : of(mapping);
  });
  const key = [...[...tables.values(), ...others.values()].map((t) => t.name), ...views.map((v) => JSON.stringify([v.row.table, ...v.datasources]))].join();
  return { of, across, key, ...(views.length > 0 ? tablesOf(views, request.spending.trials) : {}) };
}

/** The table of a cube or view that is young enough. */
interface ViewTable {
  readonly kind: 'cube' | 'view';
  /** The folded name. */
  readonly name: string;
  readonly row: CacheRow;
  /** The keys of the datasources with the connection of the table. */
  readonly datasources: readonly string[];
}

/** The keys of the datasources of the ontology, by the digests of their connections. */
async function placesOf({ request, caller, draft }: Session): Promise<ReadonlyMap<string, readonly string[]>> {
  const places = new Map<string, string[]>();
  for (const key of draft?.row.datasources ?? []) {
    const connection = await connectionDigest(request.runtime, caller, key);
    if (connection !== undefined) places.set(connection, [...(places.get(connection) ?? []), key]);
  }
  return places;
}

/** The tables of cubes and views: one may be read if the SELECT of its rows, planned for the caller, is the one that made it. */
function tablesOf(tables: readonly ViewTable[], trials: Budget): Pick<Caches, 'cubes' | 'views'> {
  const names = (kind: ViewTable['kind']): ReadonlySet<string> => new Set(tables.filter((t) => t.kind === kind).map((t) => t.name));
  const tableOf = (view: ViewDef, select: CubeSelect | ViewSelect): CachedTable | undefined => {
    const table = tables.find((t) => t.name === fold(view.name) && t.datasources.includes(fold(select.datasource)) && t.row.digest === viewDigest(select));
    return table && { mapping: view.name, of: table.kind, schema: table.row.schema, name: table.row.table, asOf: table.row.asOf };
  };
  return { cubes: new CachedCubes(names('cube'), tableOf, trials), views: new CachedViews(names('view'), tableOf, trials) };
}

const messageOf = (error: unknown): string => (error instanceof SvcError && error.cause instanceof Error ? error.cause.message : '');

/** A missing schema or table. */
const MISSING = new Set(['3F000', '42P01']);
/** A right that the reader lacks. */
const DENIED = '42501';

/**
 * True if a statement failed because a cached table that it reads may be gone; it must then be planned again, without any cached table. This isolate does not read
 * a table again that the database names as missing; what is missing may also be a table of another mapping.
 */
export function lostCaches(error: unknown, { caches }: Plan): boolean {
  const state = error instanceof SvcError && error.cause instanceof DatasourceFault ? (error.cause.sqlstate ?? '') : '';
  if (caches.length === 0 || (state !== DENIED && !MISSING.has(state))) return false;
  if (state !== DENIED) for (const { name } of caches) if (messageOf(error).includes(name)) gone.set(name, true, 100);
  return true;
}
