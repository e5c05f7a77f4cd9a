/** CACHE MAPPING and UNCACHE MAPPING (docs/design/caches.md#cached-mappings). */
import { type CacheOptions, findCache } from '../../catalog/caches.ts';
import { isSendable, type TransferColumn } from '../../engine/transfer.ts';
import { badRequest, quoted, SvcError } from '../../errors.ts';
import type { Name } from '../../language/statements.ts';
import type { CacheMapping, UncacheMapping } from '../../language/statements-of-jobs.ts';
import { find } from '../../ontology/apply/lists.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { cachedSelect, type Uncacheable } from '../../planner/cached.ts';
import { cachedColumn } from '../../planner/read/cached-rows.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { attachedDatasource, findDatasource } from '../caller/datasource.ts';
import { unknownInStatement } from '../caller/lookup.ts';
import { digestIn } from '../caller/mapping-digest.ts';
import { mayMakePolicies } from '../caller/policies.ts';
import { seenBy, seesAll } from '../caller/sight.ts';
import { sqlFor, targetNow } from '../read/placements.ts';
import { verified } from '../read/verified.ts';
import { cacheOptions } from './cache-options.ts';
import { editable, editedDatasource, findOrRoom, refreshing, removing, requireFresh, requireWriter } from './caching.ts';
import type { Changing, Done } from './changing.ts';
import type { Draft } from './draft.ts';
import { incrementalOf, keyOf } from './increments.ts';
import type { Kinds } from './kinds.ts';
import { indexesOf } from './refresh-cache.ts';

const WHY: Readonly<Record<Uncacheable, string>> = {
  volatile: 'its SELECT depends on the time or on chance',
  functions: 'its SELECT calls functions of the datasource, whose results may depend on the time or on the role that calls them',
  collation: 'its SELECT has COLLATE, which a column of a table does not keep',
};

async function cacheMapping(ctx: Changing, { name, datasource: other, options: written, source }: CacheMapping): Promise<Done> {
  const draft = editable(ctx, source.offset);
  const graph = await draft.graph();
  const { principal } = ctx;
  const { runtime } = ctx.session.request;
  const seen = seenBy(principal, graph.whole, runtime.parser).model.mappings;
  const mapping = find(seen, name.text) && graph.whole.mapping(name.text);
  if (mapping === undefined) {
    throw unknownInStatement(
      'mapping',
      name,
      seen.map((m) => m.name),
    );
  }
  const own = editedDatasource(ctx, mapping.datasource, source.offset);
  const datasource = other === null || fold(other.text) === own.key ? own : editedDatasource(ctx, attached(ctx, draft, other), other.offset);
  const from = datasource === own ? undefined : { name: own.name, columns: sendable(mapping, name.offset) };
  const key = fold(mapping.name);
  const old = await findOrRoom(ctx, draft, key, source.offset);
  const writer = requireWriter(runtime, datasource, source.offset);
  const isWritten = written !== null || old === undefined;
  const rowKey = keyOf(graph, mapping);
  const options = isWritten ? cacheOptions(written ?? [], source.offset, mapping, rowKey) : stillPossible(old, mapping, rowKey, source.offset);
  requireFresh(ctx, draft, { old, options }, source.offset);
  const select = cachedSelect(graph, runtime.parser, mapping, allowedFunctionsOf(draft.row));
  if (typeof select === 'string')
    throw badRequest('not_supported', `the mapping ${quoted(mapping.name)} cannot be cached: ${WHY[select]}`, { offset: name.offset });
  const placed = await targetNow(ctx.caller.snapshot, findDatasource(runtime, ctx.caller, mapping.datasource));
  const { sql, relied } = sqlFor(placed, runtime.parser, select);
  const rows = verified(runtime, sql, select.declared);
  const indexes = options.indexes ? indexesOf(graph, mapping) : [];
  const mayLengthen = mayMakePolicies(principal, draft.name);
  const read = { rows, relied, sources: select.declared.tables, indexes };
  const digest = await digestIn(runtime, ctx.caller, mapping, datasource.key);
  const target = {
    ontologyId: draft.row.id,
    key,
    digest,
    letter: 'm' as const,
    datasource,
    writer,
    options,
    isWritten,
    mayLengthen,
    mapping,
    rowKey,
    from,
    ...read,
  };
  return refreshing(ctx, { key, name: mapping.name, kind: 'mapping' }, old, target);
}

/** The key of a datasource that is attached to the ontology. @throws SvcError 400 `unknown_datasource` */
function attached(ctx: Changing, { row }: Draft, { text, offset }: Name): string {
  try {
    return attachedDatasource(ctx.caller, row, text);
  } catch (error) {
    throw error instanceof SvcError ? error.at(offset) : error;
  }
}

/** The columns of a table in another datasource. @throws SvcError 400 `not_supported` for a type or collation that it may not have */
function sendable(mapping: MappingDef, offset: number): readonly TransferColumn[] {
  return mapping.columns.map(({ name, type = '', collation }, i) => {
    const refused = (what: string): SvcError =>
      badRequest('not_supported', `the mapping ${quoted(mapping.name)} cannot be cached in another datasource: the column ${quoted(name)} has ${what}`, {
        offset,
      });
    // the types of a database have no known names
    if (!isSendable(type)) throw refused(`${type.startsWith('oid:') ? 'a type of the database' : `the type ${type}`}, which may be another one there`);
    const [, plain] = /^"(C|POSIX)"$/.exec(collation ?? '') ?? [];
    if (collation !== undefined && plain === undefined) throw refused('a collation other than the default, C and POSIX');
    return { name: cachedColumn(i), type, collation: plain };
  });
}

/** The options of a cache, whose mapping may have changed since they were given. @throws SvcError 400 if it has no increments any more */
function stillPossible(old: CacheOptions, mapping: MappingDef, key: readonly number[] | undefined, offset: number): CacheOptions {
  const { incremental } = old;
  if (incremental !== null) incrementalOf({ incremental: incremental.column, overlap: undefined, full_every: undefined, at: () => offset, mapping, key });
  return old;
}

async function uncacheMapping(ctx: Changing, { name, source }: UncacheMapping): Promise<Done> {
  const draft = editable(ctx, source.offset);
  const key = fold(name.text);
  const { runtime } = ctx.session.request;
  const { whole } = await draft.graph();
  // the mapping itself may have been dropped
  const isSeen = seesAll(ctx.principal, draft.name) || find(seenBy(ctx.principal, whole, runtime.parser).model.mappings, name.text) !== undefined;
  if (!isSeen || (await findCache(ctx.db, draft.row.id, key)) === undefined) {
    throw badRequest('not_cached', `the mapping ${quoted(name.text)} is not cached`, { offset: name.offset });
  }
  return removing(ctx, draft, { key, name: name.text, kind: 'mapping' }, whole.mapping(name.text)?.datasource, source.offset);
}

export const CACHES: Kinds<'cache_mapping' | 'uncache_mapping'> = {
  cache_mapping: { apply: cacheMapping },
  uncache_mapping: { apply: uncacheMapping },
};
