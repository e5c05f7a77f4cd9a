/** CACHE MAPPING and UNCACHE MAPPING (docs/design/caches.md#cached-mappings). */
import { can } from '../../auth/grants.ts';
import { type CacheOptions, findCache, makeCache, nameCache, removeCache } from '../../catalog/caches.ts';
import type { DatasourceRow } from '../../catalog/snapshot.ts';
import { badRequest, forbidden, quoted } from '../../errors.ts';
import type { CacheMapping, UncacheMapping } from '../../language/statements-of-jobs.ts';
import { find } from '../../ontology/apply/lists.ts';
import type { MappingDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { cachedSelect, type Uncacheable } from '../../planner/cached.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { lacks, unknownInStatement } from '../caller/lookup.ts';
import { mappingDigest } from '../caller/mapping-digest.ts';
import { mayMakePolicies } from '../caller/policies.ts';
import { seenBy, seesAll } from '../caller/sight.ts';
import { verified } from '../read/verified.ts';
import type { Runtime } from '../runtime.ts';
import { cacheOptions } from './cache-options.ts';
import { type Changing, type Done, done } from './changing.ts';
import type { Draft } from './draft.ts';
import { incrementalOf, keyOf } from './increments.ts';
import type { Kinds } from './kinds.ts';
import { graceSeconds, indexesOf, refreshCache, sweepCaches, writerSecret } from './refresh-cache.ts';

/** Every snapshot of rights lists the caches of an ontology. */
export const MOST_CACHES = 200;

const WHY: Readonly<Record<Uncacheable, string>> = {
  volatile: 'its SELECT depends on the time or on chance',
  functions: 'its SELECT calls functions of the datasource, whose results may depend on the time or on the role that calls them',
  collation: 'its SELECT has COLLATE, which a column of a table does not keep',
};

/** The ontology of the request, which the caller may edit. @throws SvcError 400 `no_ontology`, 403 */
export function editable(ctx: Changing, offset: number): Draft {
  const { draft } = ctx.session;
  if (draft === undefined) {
    const hint = 'Send the name of the ontology in ontology_name';
    throw badRequest('no_ontology', 'This statement is about an ontology, but the request names none', { offset, hint });
  }
  if (!can(ctx.principal, 'edit', ['ontology', draft.name])) throw lacks('EDIT', `ontology.${draft.name}`, offset);
  return draft;
}

/** The variable of a datasource's writer. @throws SvcError 400 `secret_not_set` */
export function requireWriter({ config }: Pick<Runtime, 'config'>, { secret }: DatasourceRow, offset: number): string {
  const writer = writerSecret(secret);
  if (config.datasourceSecrets[writer] !== undefined) return writer;
  const hint = 'Ask the operator to set it to the connection of a role that may create tables in one schema, and read the tables of the mapping';
  throw badRequest('secret_not_set', `the variable ${writer} is not set`, { offset, hint });
}

async function cacheMapping(ctx: Changing, { name, datasource: other, options: written, source }: CacheMapping): Promise<Done> {
  const draft = editable(ctx, source.offset);
  const graph = await draft.graph();
  const { caller, principal } = ctx;
  const { runtime, ends } = ctx.session.request;
  const seen = seenBy(principal, graph.whole, runtime.parser).model.mappings;
  const mapping = find(seen, name.text) && graph.whole.mapping(name.text);
  if (mapping === undefined) {
    throw unknownInStatement(
      'mapping',
      name,
      seen.map((m) => m.name),
    );
  }
  const datasource = caller.snapshot.datasources.find((d) => d.key === fold(mapping.datasource));
  if (datasource === undefined || !can(principal, 'edit', ['datasource', datasource.name]))
    throw lacks('EDIT', `datasource.${mapping.datasource}`, source.offset);
  if (other !== null && fold(other.text) !== datasource.key)
    throw badRequest('not_supported', 'a mapping can only be cached in its own datasource', { offset: other.offset });
  const writer = requireWriter(runtime, datasource, source.offset);
  const key = fold(mapping.name);
  const old = await findCache(ctx.db, draft.row.id, key);
  if (old === undefined && (draft.row.caches?.length ?? 0) >= MOST_CACHES)
    throw badRequest('too_many_caches', `an ontology can have at most ${MOST_CACHES} cached mappings`, { offset: source.offset });
  const isWritten = written !== null || old === undefined;
  const rowKey = keyOf(graph, mapping);
  const options = isWritten ? cacheOptions(written ?? [], source.offset, mapping, rowKey) : stillPossible(old, mapping, rowKey, source.offset);
  requireFresh(ctx, draft, { old, options }, source.offset);
  const select = cachedSelect(graph, runtime.parser, mapping, allowedFunctionsOf(draft.row));
  if (typeof select === 'string')
    throw badRequest('not_supported', `the mapping ${quoted(mapping.name)} cannot be cached: ${WHY[select]}`, { offset: name.offset });
  const rows = verified(runtime, select.sql, select.declared);
  const indexes = options.indexes ? indexesOf(graph, mapping) : [];
  const mayLengthen = mayMakePolicies(principal, draft.name);
  const read = { rows, sources: select.declared.tables, indexes };
  const digest = await mappingDigest(mapping);
  const target = { ontologyId: draft.row.id, key, digest, letter: 'm' as const, datasource, writer, options, isWritten, mayLengthen, mapping, rowKey, ...read };
  const named = { key, name: mapping.name };
  let answer: Readonly<Record<string, unknown>> = {};
  return {
    // other options apply when the rows are read
    calls: [old === undefined ? makeCache(draft.row.id, named, options) : nameCache(draft.row.id, named)],
    perform: async () => {
      const work = refreshCache(runtime, caller, target, ends);
      runtime.waitUntil(work.catch(() => undefined));
      const { asOf, count, maxAge } = await work;
      answer = { mapping: mapping.name, rows: count, as_of: new Date(asOf).toISOString(), max_age: maxAge };
    },
    rows: () => [answer],
  };
}

/** The options of a cache, whose mapping may have changed since they were given. @throws SvcError 400 if it has no increments any more */
function stillPossible(old: CacheOptions, mapping: MappingDef, key: readonly number[] | undefined, offset: number): CacheOptions {
  const { incremental } = old;
  if (incremental !== null) incrementalOf({ incremental: incremental.column, overlap: undefined, full_every: undefined, at: () => offset, mapping, key });
  return old;
}

/**
 * Checks that the caller may let policies read rows of an earlier moment: rows that a policy hides now may be visible as they were then. A refresh with the same
 * options makes them younger, so everyone who may cache may do it.
 * @throws SvcError 403 `forbidden` in an ontology with policies, without the right to make them
 */
export function requireFresh(
  ctx: Changing,
  { row, name }: Draft,
  { old, options }: { old: CacheOptions | undefined; options: CacheOptions },
  offset: number,
): void {
  const { incremental } = options;
  // an increment keeps rows that have changed without a change of the column
  const isFull = incremental === null || JSON.stringify(incremental) === JSON.stringify(old?.incremental);
  if (row.policies.length === 0 || (old !== undefined && options.maxAge <= old.maxAge && isFull) || mayMakePolicies(ctx.principal, name)) return;
  throw forbidden('forbidden', `The ontology has policies, which would read older rows: this needs EDIT ON ALL ontology.${name} WITH GRANT OPTION`, { offset });
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
  const datasource = whole.mapping(name.text)?.datasource;
  if (datasource !== undefined && !can(ctx.principal, 'edit', ['datasource', datasource])) throw lacks('EDIT', `datasource.${datasource}`, source.offset);
  return {
    ...done([removeCache(draft.row.id, key, graceSeconds(runtime.config))], { mapping: name.text, cached: false }),
    perform: () => sweepCaches(runtime),
  };
}

export const CACHES: Kinds<'cache_mapping' | 'uncache_mapping'> = {
  cache_mapping: { apply: cacheMapping },
  uncache_mapping: { apply: uncacheMapping },
};
