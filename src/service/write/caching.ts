/** What CACHE MAPPING, CACHE CUBE and CACHE VIEW have in common (docs/design/caches.md). */
import { can } from '../../auth/grants.ts';
import { type CacheOptions, datasourceOfCache, findCache, makeCache, nameCache, removeCache } from '../../catalog/caches.ts';
import type { DatasourceRow } from '../../catalog/snapshot.ts';
import { badRequest, forbidden } from '../../errors.ts';
import { fold } from '../../ontology/names.ts';
import { lacks } from '../caller/lookup.ts';
import { mayMakePolicies } from '../caller/policies.ts';
import type { Runtime } from '../runtime.ts';
import { type Changing, type Done, done } from './changing.ts';
import type { Draft } from './draft.ts';
import { type CacheTarget, graceSeconds, refreshCache, sweepCaches, writerSecret } from './refresh-cache.ts';

/** Every snapshot of rights lists the caches of an ontology. */
const MOST_CACHES = 200;

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

/** The datasource of the rows, which the caller may edit. @throws SvcError 403 */
export function editedDatasource({ caller, principal }: Changing, name: string, offset: number): DatasourceRow {
  const found = caller.snapshot.datasources.find((d) => d.key === fold(name));
  if (found !== undefined && can(principal, 'edit', ['datasource', found.name])) return found;
  throw lacks('EDIT', `datasource.${name}`, offset);
}

/** Refuses a caller who may edit no datasource of an ontology, before the datasource of the rows is known. @throws SvcError 403 */
export function requireSomeDatasource(ctx: Changing, { row }: Draft, offset: number): void {
  if (!row.datasources.some((key) => can(ctx.principal, 'edit', ['datasource', key])))
    editedDatasource(ctx, row.active ?? row.datasources[0] ?? 'main', offset);
}

/** The variable of a datasource's writer. @throws SvcError 400 `secret_not_set` */
export function requireWriter({ config }: Pick<Runtime, 'config'>, { secret }: DatasourceRow, offset: number): string {
  const writer = writerSecret(secret);
  if (config.datasourceSecrets[writer] !== undefined) return writer;
  const hint = 'Ask the operator to set it to the connection of a role that may create tables in one schema, and read the tables of the rows';
  throw badRequest('secret_not_set', `the variable ${writer} is not set`, { offset, hint });
}

/** The keys of the caches that earlier statements of a script remove. */
const removed = new WeakMap<Changing, Set<string>>();

/** The cache with a key, if there is one, or room for it. Its table ends with the next one. @throws SvcError 400 `too_many_caches`, 403 */
export async function findOrRoom(ctx: Changing, { row }: Draft, key: string, offset: number): ReturnType<typeof findCache> {
  const isRemoved = removed.get(ctx)?.delete(`${row.id} ${key}`) ?? false;
  const old = isRemoved ? undefined : await findCache(ctx.db, row.id, key);
  const place = old && (await datasourceOfCache(ctx.db, row.id, key));
  if (isDatasource(ctx, place)) editedDatasource(ctx, place, offset);
  if (old === undefined && (row.caches?.length ?? 0) >= MOST_CACHES)
    throw badRequest('too_many_caches', `an ontology can have at most ${MOST_CACHES} caches`, { offset });
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

/** What a statement caches: under which key, with which name, and how its answer calls it. */
export interface Named {
  readonly key: string;
  readonly name: string;
  readonly kind: 'mapping' | 'cube' | 'view';
}

/** Stores the options of a cache, and then reads its rows. The cache is new, or `old`. */
export function refreshing(ctx: Changing, { key, name, kind }: Named, old: CacheOptions | undefined, target: CacheTarget): Done {
  const { runtime, ends, steps } = ctx.session.request;
  const { ontologyId, options } = target;
  // a later step of a job makes no cache: it may have been removed since the first one
  const isNew = old === undefined && steps?.state === undefined;
  let answer: Readonly<Record<string, unknown>> = {};
  return {
    // other options apply when the rows are read
    calls: [isNew ? makeCache(ontologyId, { key, name }, options) : nameCache(ontologyId, { key, name })],
    perform: async () => {
      const work = refreshCache(runtime, ctx.caller, target, ends, steps);
      runtime.waitUntil(work.catch(() => undefined));
      const made = await work;
      // the next step of the job goes on
      if (made === undefined) return;
      const { asOf, count, maxAge } = made;
      answer = { [kind]: name, rows: count, as_of: new Date(asOf).toISOString(), max_age: maxAge };
    },
    rows: () => [answer],
  };
}

const isDatasource = ({ caller }: Changing, name: string | undefined): name is string =>
  name !== undefined && caller.snapshot.datasources.some((d) => d.key === fold(name));

/**
 * Removes a cache, whose object may have been dropped.
 * @param datasource that of its object
 * @throws SvcError 403 without EDIT on that and on the one that has the table
 */
export async function removing(ctx: Changing, draft: Draft, { key, name, kind }: Named, datasource: string | undefined, offset: number): Promise<Done> {
  const { runtime } = ctx.session.request;
  const { row } = draft;
  const places = [datasource, await datasourceOfCache(ctx.db, row.id, key)].filter((place) => isDatasource(ctx, place));
  // the datasource may have been dropped too
  if (places.length === 0) requireSomeDatasource(ctx, draft, offset);
  for (const place of places) editedDatasource(ctx, place, offset);
  removed.set(ctx, (removed.get(ctx) ?? new Set()).add(`${row.id} ${key}`));
  return {
    ...done([removeCache(row.id, key, graceSeconds(runtime.config))], { [kind]: name, cached: false }),
    perform: () => sweepCaches(runtime),
  };
}
