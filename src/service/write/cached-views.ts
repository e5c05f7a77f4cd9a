/** CACHE CUBE, CACHE VIEW, and how they end (docs/design/caches.md#cached-cubes, #cached-views). */
import { findCache, viewKey } from '../../catalog/caches.ts';
import type { CachedIndex } from '../../engine/cached-table.ts';
import { badRequest, quoted, SvcError } from '../../errors.ts';
import type { CacheCube, CacheView, UncacheCube, UncacheView } from '../../language/statements-of-jobs.ts';
import { find } from '../../ontology/apply/lists.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { isOfNames, unreadable } from '../../planner/bind/definer.ts';
import type { CubeSelect, UncacheableCube } from '../../planner/cached/select.ts';
import { lookupsOf, type UncacheableView, type ViewSelect } from '../../planner/cached/views.ts';
import { cachedColumn } from '../../planner/read/cached-rows.ts';
import { findDatasource } from '../caller/datasource.ts';
import { unknownInStatement } from '../caller/lookup.ts';
import { mayMakePolicies } from '../caller/policies.ts';
import { seenBy, seesAll } from '../caller/sight.ts';
import { plannedForNobody, viewDigest } from '../caller/view-digest.ts';
import { sqlFor, targetNow } from '../read/placements.ts';
import { verified } from '../read/verified.ts';
import { cacheOptions } from './cache-options.ts';
import { editable, editedDatasource, findOrRoom, refreshing, removing, requireFresh, requireSomeDatasource, requireWriter } from './caching.ts';
import type { Changing, Done } from './changing.ts';
import type { Draft } from './draft.ts';
import type { Kinds } from './kinds.ts';

const WHY: Readonly<Record<UncacheableCube | UncacheableView, string>> = {
  restricted: 'its rows depend on the caller',
  paths: 'it follows a path that may lead to several rows, has a measure of another concept, or reads more than one concept',
  volatile: 'it depends on the time or on chance',
  collation: 'a column of its concept has a collation other than the default, C and POSIX, or an expression has COLLATE',
  key: 'its dimensions contain the primary key, so it has a row for each row of the concept',
  measures: 'it has no measure of sums, counts, minima, maxima and averages of integers and decimals',
  datasources: 'it reads no datasource, or several',
};
type Kind = 'cube' | 'view';

/** The cubes or views of a model that a caller sees. */
const viewsOf = ({ model }: Graph, kind: Kind): readonly ViewDef[] => model.views.filter((v) => v.cube === (kind === 'cube'));

async function cache(ctx: Changing, kind: Kind, { name, options: written, source }: CacheCube | CacheView): Promise<Done> {
  const draft = editable(ctx, source.offset);
  const { whole } = await draft.graph();
  const { principal } = ctx;
  const { runtime } = ctx.session.request;
  const seen = viewsOf(seenBy(principal, whole, runtime.parser), kind);
  const known = find(seen, name.text);
  const view = known && whole.view(known.name);
  if (view === undefined) {
    throw unknownInStatement(
      kind,
      name,
      seen.map((v) => v.name),
    );
  }
  if (view.datasource === null) requireSomeDatasource(ctx, draft, source.offset);
  else editedDatasource(ctx, view.datasource, source.offset);
  const select = selectOf(ctx, draft, whole, view, name.offset);
  const datasource = editedDatasource(ctx, select.datasource, source.offset);
  const writer = requireWriter(runtime, datasource, source.offset);
  const key = viewKey(kind, view.name);
  const old = await findOrRoom(ctx, draft, key, source.offset);
  const isWritten = written !== null || old === undefined;
  const options = isWritten ? cacheOptions(written ?? [], source.offset, undefined, undefined) : old;
  requireFresh(ctx, draft, { old, options }, source.offset);
  const placed = await targetNow(ctx.caller.snapshot, findDatasource(runtime, ctx.caller, select.datasource));
  const { sql, relied } = sqlFor(placed, runtime.parser, select);
  const rows = verified(runtime, sql, select.declared);
  const counted = 'counted' in select ? select.counted : undefined;
  const read = { rows, relied, sources: select.declared.tables, indexes: options.indexes ? indexesOf(select, whole) : [], counted };
  const letter = kind === 'cube' ? ('c' as const) : ('v' as const);
  const of = { ontologyId: draft.row.id, key, digest: viewDigest(select), letter, datasource, writer };
  const target = { ...of, options, isWritten, mayLengthen: mayMakePolicies(principal, draft.name), mapping: undefined, rowKey: undefined, ...read };
  return refreshing(ctx, { key, name: view.name, kind }, old, target);
}

/** The indexes of a table: on each of the first dimensions of a cube, or on the keys that a view has. */
function indexesOf(select: CubeSelect | ViewSelect, whole: Graph): readonly CachedIndex[] {
  if ('kept' in select) return select.columns.slice(0, select.dimensions).map((column) => ({ columns: [column], isShort: false }));
  return lookupsOf(select, whole).map(({ index, isShort }) => ({ columns: [cachedColumn(index)], isShort }));
}

/** An error of a plan with the whole model, for a caller who does not see all of it: its message may name what is hidden. */
function withoutNames(error: SvcError, view: ViewDef, refused: (why: string) => SvcError): SvcError {
  if (error.code === 'too_complex') return badRequest('too_complex', `the plan of ${quoted(view.name)} becomes too large`);
  if (isOfNames(error)) return unreadable(view.cube ? 'cube' : 'view', view.name, error);
  return refused('a query on it fails');
}

/** The SELECT of the table of a cube or view, for no caller. @throws SvcError 400 `not_supported`, and as a query on it */
function selectOf(ctx: Changing, draft: Draft, whole: Graph, view: ViewDef, offset: number): CubeSelect | ViewSelect {
  const refused = (why: string): SvcError =>
    badRequest('not_supported', `the ${view.cube ? 'cube' : 'view'} ${quoted(view.name)} cannot be cached: ${why}`, { offset });
  let select: ReturnType<typeof plannedForNobody>;
  try {
    const { runtime, spending } = ctx.session.request;
    select = plannedForNobody(runtime, whole, view, spending.reads);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'forbidden_function') throw refused('a mapping or an expression calls functions of the datasource');
    if (error instanceof SvcError && !seesAll(ctx.principal, draft.name)) throw withoutNames(error, view, refused).at(offset);
    throw error instanceof SvcError && error.offset === undefined ? error.at(offset) : error;
  }
  if (typeof select === 'string') throw refused(WHY[select]);
  return select;
}

async function uncache(ctx: Changing, kind: Kind, { name, source }: UncacheCube | UncacheView): Promise<Done> {
  const draft = editable(ctx, source.offset);
  const key = viewKey(kind, name.text);
  const { runtime } = ctx.session.request;
  const { whole } = await draft.graph();
  // the cube or view itself may have been dropped
  const isSeen = seesAll(ctx.principal, draft.name) || find(viewsOf(seenBy(ctx.principal, whole, runtime.parser), kind), name.text) !== undefined;
  if (!isSeen || (await findCache(ctx.db, draft.row.id, key)) === undefined) {
    throw badRequest('not_cached', `the ${kind} ${quoted(name.text)} is not cached`, { offset: name.offset });
  }
  // its text may name another datasource by now
  return removing(ctx, draft, { key, name: name.text, kind }, undefined, source.offset);
}

export const VIEW_CACHES: Kinds<'cache_cube' | 'uncache_cube' | 'cache_view' | 'uncache_view'> = {
  cache_cube: { apply: (ctx, statement) => cache(ctx, 'cube', statement) },
  uncache_cube: { apply: (ctx, statement) => uncache(ctx, 'cube', statement) },
  cache_view: { apply: (ctx, statement) => cache(ctx, 'view', statement) },
  uncache_view: { apply: (ctx, statement) => uncache(ctx, 'view', statement) },
};
