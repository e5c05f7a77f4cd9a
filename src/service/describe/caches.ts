/** The caches of an ontology, for SYS_CACHES. */
import type { Caller, Principal } from '../../auth/authenticate.ts';
import { can } from '../../auth/grants.ts';
import { listCaches, viewOfKey } from '../../catalog/caches.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { find } from '../../ontology/apply/lists.ts';
import type { Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { digestIn } from '../caller/mapping-digest.ts';
import { seesAll } from '../caller/sight.ts';
import { digestForNobody } from '../caller/view-digest.ts';
import type { Runtime } from '../runtime.ts';
import type { Session } from '../session.ts';

/** A line of SYS_CACHES. */
export interface CacheLine {
  /** One of the three names is not null. */
  readonly mapping: string | null;
  readonly cube: string | null;
  readonly view: string | null;
  readonly datasource: string | null;
  /** Schema and name of the table. */
  readonly table: string | null;
  readonly rows: number | null;
  /** When the rows were read. */
  readonly asOf: string | null;
  /** In seconds. */
  readonly maxAge: number;
  /**
   * `used`: queries read the table. They read the mapping's own tables if it is `expired` (too old), `changed` (made of another SELECT, or of a cube or view whose SELECT is too large) or `empty` (no refresh has
   * ended). `unknown`: the plans of other cubes and views have used the budget.
   */
  readonly state: 'used' | 'expired' | 'changed' | 'empty' | 'unknown';
  /** Why the last refresh failed, and when. */
  readonly error: string | null;
  readonly failed: string | null;
  /** The column by which refreshes find changed rows; null: they read all rows. */
  readonly incremental: string | null;
  /** When all rows were read. */
  readonly lastFull: string | null;
}

/**
 * Reads the caches of an ontology whose objects the caller sees; none without EDIT on the ontology. The number of rows includes hidden rows, so it needs QUERY on the
 * datasources of the object and of its table. Messages of the database need EDIT on both.
 * @param graph the part that the caller sees
 * @throws SvcError 503
 */
export async function visibleCaches({ caller, request }: Session, ontology: OntologyRow, graph: Graph): Promise<readonly CacheLine[]> {
  if (!can(caller.principal, 'edit', ['ontology', ontology.name])) return [];
  const { db, now } = request.runtime;
  const lines: CacheLine[] = [];
  for (const { mapping, key, schema, maxAge, error, failed, table, ...rest } of await listCaches(db, ontology.id)) {
    const view = viewOfKey(key);
    const def = view === undefined ? await mappingOf(request.runtime, caller, graph, key, table?.datasource) : viewOf(request, graph, view);
    // the cache of something that was dropped, or that the caller does not see
    if (def === undefined && !seesAll(caller.principal, ontology.name)) continue;
    const may = (right: 'query' | 'edit'): boolean => mayOn(caller.principal, right, [def?.datasource, table?.datasource ?? def?.datasource]);
    const isYoung = table !== null && now() - table.asOf < maxAge * 1000;
    lines.push({
      mapping: view === undefined ? mapping : null,
      cube: view?.kind === 'cube' ? mapping : null,
      view: view?.kind === 'view' ? mapping : null,
      datasource: table?.datasource ?? null,
      table: table && `${schema}.${table.name}`,
      rows: table !== null && may('query') ? table.rows : null,
      asOf: table && new Date(table.asOf).toISOString(),
      maxAge,
      state: table === null ? 'empty' : stateOf(def?.digest, table.digest, isYoung),
      // the message may quote a value
      error: may('edit') ? error : error && 'the refresh failed',
      failed,
      incremental: rest.incremental,
      lastFull: rest.lastFull,
    });
  }
  return lines;
}

/** The state of a table. @param digest what the table would be made of now */
function stateOf(digest: Cached['digest'], made: string, isYoung: boolean): CacheLine['state'] {
  if (digest !== null && digest !== made) return 'changed';
  if (!isYoung) return 'expired';
  return digest === null ? 'unknown' : 'used';
}

/** True if a caller has a right on the datasource of a cached object and on that of its table. If one is not known, only administrators have it. */
const mayOn = (principal: Principal, right: 'query' | 'edit', datasources: readonly (string | undefined)[]): boolean =>
  datasources.every((d) => (d === undefined ? principal.isAdmin : can(principal, right, ['datasource', d])));

/** What decides the rows of a cache now. */
interface Cached {
  /** undefined: it cannot be cached any more; null: the budget does not allow another plan. */
  readonly digest: string | null | undefined;
  readonly datasource: string | undefined;
}

/** A mapping that the caller sees. @param datasource that of its table */
async function mappingOf(runtime: Runtime, caller: Caller, graph: Graph, key: string, datasource: string | undefined): Promise<Cached | undefined> {
  const def = find(graph.model.mappings, key) && graph.whole.mapping(key);
  return def && { digest: await digestIn(runtime, caller, def, datasource ?? fold(def.datasource)), datasource: def.datasource };
}

/** A cube or view that the caller sees. */
function viewOf({ runtime, spending }: Session['request'], graph: Graph, { kind, name }: NonNullable<ReturnType<typeof viewOfKey>>): Cached | undefined {
  const view = find(graph.model.views, name) && graph.whole.view(name);
  if (view === undefined || view.cube !== (kind === 'cube')) return undefined;
  return digestForNobody(runtime, graph, view, spending.caches) ?? { digest: spending.caches.isExceeded ? null : undefined, datasource: undefined };
}
