/** CACHE CUBE and UNCACHE CUBE (docs/design/caches.md#cached-cubes). */
import { cubeKey, findCache } from '../../catalog/caches.ts';
import { badRequest, quoted, SvcError } from '../../errors.ts';
import type { CacheCube, UncacheCube } from '../../language/statements-of-jobs.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { sameName } from '../../ontology/names.ts';
import { type CubeSelect, cubeSelect, type UncacheableCube } from '../../planner/cached/select.ts';
import { cubeContext, cubeDigest, selectOfCube } from '../caller/cube-digest.ts';
import { unknownInStatement } from '../caller/lookup.ts';
import { mayMakePolicies } from '../caller/policies.ts';
import { seenBy, seesAll } from '../caller/sight.ts';
import { verified } from '../read/verified.ts';
import { cacheOptions } from './cache-options.ts';
import { editable, editedDatasource, findOrRoom, refreshing, removing, requireFresh, requireWriter } from './caching.ts';
import type { Changing, Done } from './changing.ts';
import type { Kinds } from './kinds.ts';

const WHY: Readonly<Record<UncacheableCube, string>> = {
  restricted: 'it reads the properties of a caller',
  paths: 'it follows a path that may lead to several rows, has a measure of another concept, or reads more than one concept',
  volatile: 'it depends on the time or on chance',
  collation: 'a column of its concept has a collation other than the default, C and POSIX, or an expression has COLLATE',
  key: 'its dimensions contain the primary key, so it has a row for each row of the concept',
  measures: 'it has no measure of sums, counts, minima, maxima and averages of integers and decimals',
};
const MOST_INDEXES = 8;

/** The cubes of a model that a caller sees. */
const cubesOf = (seen: Graph): readonly ViewDef[] => seen.model.views.filter((v) => v.cube);

async function cacheCube(ctx: Changing, { name, options: written, source }: CacheCube): Promise<Done> {
  const draft = editable(ctx, source.offset);
  const { whole } = await draft.graph();
  const { principal } = ctx;
  const { runtime } = ctx.session.request;
  const seen = cubesOf(seenBy(principal, whole, runtime.parser));
  const known = seen.find((v) => sameName(v.name, name.text));
  const view = known && whole.view(known.name);
  if (view === undefined) {
    throw unknownInStatement(
      'cube',
      name,
      seen.map((v) => v.name),
    );
  }
  const select = selectOf(ctx, whole, view, name.offset);
  const datasource = editedDatasource(ctx, select.datasource, source.offset);
  const writer = requireWriter(runtime, datasource, source.offset);
  const key = cubeKey(view.name);
  const old = await findOrRoom(ctx, draft, key, source.offset);
  const isWritten = written !== null || old === undefined;
  const options = isWritten ? cacheOptions(written ?? [], source.offset, undefined, undefined) : old;
  requireFresh(ctx, draft, { old, options }, source.offset);
  const rows = verified(runtime, select.sql, select.declared);
  const indexes = options.indexes ? select.columns.slice(0, Math.min(select.dimensions, MOST_INDEXES)).map((c) => ({ columns: [c], isShort: false })) : [];
  const read = { rows, sources: select.declared.tables, indexes, counted: select.counted };
  const of = { ontologyId: draft.row.id, key, digest: cubeDigest(select), letter: 'c' as const, datasource, writer };
  const target = { ...of, options, isWritten, mayLengthen: mayMakePolicies(principal, draft.name), mapping: undefined, rowKey: undefined, ...read };
  return refreshing(ctx, { key, name: view.name, kind: 'cube' }, old, target);
}

/** The SELECT of the table of a cube, for no caller. @throws SvcError 400 `not_supported`, and as a query on the cube */
function selectOf(ctx: Changing, whole: Graph, view: ViewDef, offset: number): CubeSelect {
  const refused = (why: string): SvcError => badRequest('not_supported', `the cube ${quoted(view.name)} cannot be cached: ${why}`, { offset });
  let select: ReturnType<typeof cubeSelect>;
  try {
    select = cubeSelect(cubeContext(ctx.session.request.runtime, whole), view);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'forbidden_function') throw refused('a mapping or an expression calls functions of the datasource');
    throw error instanceof SvcError && error.offset === undefined ? error.at(offset) : error;
  }
  if (typeof select === 'string') throw refused(WHY[select]);
  return select;
}

async function uncacheCube(ctx: Changing, { name, source }: UncacheCube): Promise<Done> {
  const draft = editable(ctx, source.offset);
  const key = cubeKey(name.text);
  const { runtime } = ctx.session.request;
  const { whole } = await draft.graph();
  // the cube itself may have been dropped
  const isSeen = seesAll(ctx.principal, draft.name) || cubesOf(seenBy(ctx.principal, whole, runtime.parser)).some((v) => sameName(v.name, name.text));
  if (!isSeen || (await findCache(ctx.db, draft.row.id, key)) === undefined) {
    throw badRequest('not_cached', `the cube ${quoted(name.text)} is not cached`, { offset: name.offset });
  }
  const view = whole.view(name.text);
  const select = view?.cube ? selectOfCube(runtime, whole, view) : undefined;
  return removing(ctx, draft, { key, name: name.text, kind: 'cube' }, select?.datasource, source.offset);
}

export const CUBE_CACHES: Kinds<'cache_cube' | 'uncache_cube'> = {
  cache_cube: { apply: cacheCube },
  uncache_cube: { apply: uncacheCube },
};
