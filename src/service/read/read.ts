/** Statements that read: they are planned over the current model and run on the datasource in one round trip. */

import { STEPS_OF_A_CHARACTER, visited } from '../../budget.ts';
import type { Datasource } from '../../engine/datasource.ts';
import type { RowStream } from '../../engine/rows.ts';
import { keepsNames } from '../../engine/settings.ts';
import { EXPLAIN } from '../../engine/statement.ts';
import { badRequest, quoted, type SvcError } from '../../errors.ts';
import type { ReadStatement, Source } from '../../language/statements.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { MappingDef } from '../../ontology/model.ts';
import {
  type CachedTable,
  type FinishedRewrite,
  type NamedRelation,
  type OutputOptions,
  type Plan,
  type PlanContext,
  type PlanOptions,
  rebind,
} from '../../planner/index.ts';
import type { LogicalPlan } from '../../planner/logical/index.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { attachedDatasource, connectionDigest, datasourceOf, findDatasource } from '../caller/datasource.ts';
import { Definers } from '../caller/definers.ts';
import { noGraph } from '../caller/lookup.ts';
import { accessKey, accessOf, factsKey, factsOf } from '../caller/policies.ts';
import { seenBy, sightKey, tablesKey, tablesOf } from '../caller/sight.ts';
import { isLate, SYSTEM_TABLES, type SystemContext, systemTables } from '../describe/system.ts';
import { type LateRows, systemContext } from '../describe/system-context.ts';
import type { Answer, Script } from '../runtime.ts';
import type { Session } from '../session.ts';
import { planAcross } from './across.ts';
import { PlanCounts } from './counts.ts';
import { isOutdated, isUnplaced, placedKey, rewriteAfter, Targets } from './distributed.ts';
import { References } from './enforced.ts';
import { findPlan, isValid, keepPlan, type VerifiedPlan } from './kept.ts';
import { physicalNames } from './physical.ts';
import { type ResultPlace, resultPlace } from './results.ts';
import { rowsOf } from './sent.ts';
import { verified } from './verified.ts';
import { watched } from './watched.ts';

/** A larger answer is refused with 400 `result_too_large` (docs/design/rows-and-json.md#streaming-and-limits-of-size). */
export const MAX_BYTES = 50_000_000;

/** A planned SELECT. */
interface Planned extends VerifiedPlan {
  readonly kind: 'query';
  readonly context: PlanContext;
  readonly datasource: Datasource;
  readonly graph: Graph;
  /** The caller's text, which positions of database errors refer to. */
  readonly source: Source;
  /** Set if the statement reads system tables with late rows (users, roles, grants, row counts): loads the rows from the catalog and plans again. */
  readonly late?: () => Promise<VerifiedPlan>;
  /** True if it reads system tables, whose rows depend on the caller. */
  readonly readsSystem: boolean;
  /** Plans the statement again, without cached tables. */
  readonly live: () => Promise<Planned>;
  /** Plans it again, with a rewrite; without one, with what is known by now of the datasource. The plan is kept in place of this one. */
  readonly rewritten: (by?: FinishedRewrite) => Promise<Planned>;
  /** Reads again where the datasource has its tables, and plans it for that; undefined: that was done already. */
  readonly renewed: (() => Promise<Planned>) | undefined;
}

/** The members that plan a statement again. */
type Again = 'live' | 'rewritten' | 'renewed';

/** A prepared statement that reads. */
export type Prepared = Planned | { readonly kind: 'rows'; readonly rows: LateRows };

/**
 * Prepares a statement that reads, over the part of an ontology that its caller sees.
 * @param whole the graph of the ontology; undefined: no ontology
 * @param last true for the last statement of its script
 * @throws SvcError 400 if it is invalid, 403 without the required right, 502 if the secret of the datasource is invalid
 */
export async function prepareRead(session: Session, statement: ReadStatement, whole: Graph | undefined, last: boolean): Promise<Prepared> {
  const known = whole && seenBy(session.caller.principal, whole, session.request.runtime.parser);
  const definers = new Definers(session.request.runtime, session.caller);
  const counts = new PlanCounts(session);
  const references = new References(session);
  const targets = new Targets(session);
  const caches = whole === undefined || !session.draft?.row.caches?.length ? NO_CACHES : await (await loadCaches()).cachesOf(session, whole);
  const whileNeeded: Needs['whileNeeded'] = (make) =>
    counts.whileNeeded(() => references.whileNeeded(() => targets.whileNeeded(() => definers.whileNeeded(make))));
  const planned = async (source: Source, output: OutputOptions, more: Partial<Needs> = {}): Promise<Planned> => {
    const needs: Needs = { definers, counts, references, targets, whileNeeded, caches, inspect: undefined, rewrite: undefined, isRenewed: false, ...more };
    const made = await whileNeeded(() => plan(session, source, known, output, needs));
    return {
      ...made,
      live: () => planned(source, output, { ...more, caches: NO_CACHES }),
      rewritten: (rewrite) => planned(source, output, { ...more, rewrite }),
      renewed: needs.isRenewed ? undefined : () => targets.renew(made.datasource).then(() => planned(source, output, { ...more, isRenewed: true })),
    };
  };
  switch (statement.kind) {
    case 'select':
      return planned(statement.source, last ? outputOf(session.script) : {});
    case 'show': {
      const { prepareShow } = await import('../describe/show.ts');
      return { kind: 'rows', rows: await prepareShow(session, statement, known) };
    }
    case 'describe': {
      const { describeRelation } = await import('../describe/show.ts');
      const rows = describeRelation(session, statement, known);
      return { kind: 'rows', rows: async () => rows };
    }
    case 'explain': {
      const [{ explainRows }, { logicalPlan }] = await Promise.all([import('./explain.ts'), import('../../planner/logical/index.ts')]);
      let logical: LogicalPlan | undefined;
      const inspect: Needs['inspect'] = (bound) => {
        logical = logicalPlan(bound);
      };
      const query = await planned(statement.query, {}, { inspect });
      const explain = (of: Planned): Promise<readonly unknown[]> =>
        explainRows(session, of, logical as LogicalPlan, statement.logical).catch(async (error: unknown) => {
          const rewrite = await rewriteAfter(error, of.plan, of.datasource);
          if (rewrite) return explain(await of.rewritten(rewrite));
          if (of.plan.caches.length > 0 && (await loadCaches()).lostCaches(error, of.plan)) return explain(await of.live());
          throw (await loadFaults()).withPosition(error, of.plan, of.source, EXPLAIN.length);
        });
      return { kind: 'rows', rows: () => explain(query) };
    }
  }
}

/** The cached tables that a statement may read. */
export interface Caches extends Pick<PlanContext, 'cubes' | 'views'> {
  /** The table of a mapping of the whole model. */
  readonly of: (mapping: MappingDef) => CachedTable | undefined;
  /** For each other datasource that has tables of mappings: the table of a mapping there, or in its own datasource. */
  readonly across: readonly NonNullable<PlanContext['cached']>[];
  /** Equal for equal tables: a part of the key of a plan. */
  readonly key: string;
}

const NO_CACHES: Caches = { of: () => undefined, across: [], key: '' };

const loadFaults = (): Promise<typeof import('./faults.ts')> => import('./faults.ts');
const loadCaches = (): Promise<typeof import('./caches.ts')> => import('./caches.ts');

/** The moment of the oldest cached rows that a plan reads; undefined if it reads none. */
const asOfOldest = ({ caches }: Plan): number | undefined => (caches.length === 0 ? undefined : Math.min(...caches.map((c) => c.asOf)));

/** Limits and nesting for the rows of the last statement of a script. */
const outputOf = ({ limit, offset, nested }: Script): OutputOptions => ({
  ...(limit === null ? {} : { limit }),
  ...(offset === undefined ? {} : { offset }),
  ...(nested ? { nested } : {}),
});

/** What a SELECT is planned with, and the system tables that it has read so far. */
interface Planning {
  readonly context: PlanContext;
  readonly system: () => SystemContext;
  readonly read: ReadonlySet<string>;
}

/** What planning may have to read first, and who looks at the bound query. */
interface Needs {
  readonly definers: Definers;
  readonly counts: PlanCounts;
  readonly references: References;
  readonly targets: Targets;
  /** Calls `make`, and calls it again after reading what it needs. All planning runs in it: what is known may become too old between two plans. */
  readonly whileNeeded: <T>(make: () => T) => Promise<T>;
  readonly caches: Caches;
  /** If set, the statement is planned even if a plan of it is kept. */
  readonly inspect: PlanOptions['inspect'];
  /** The same, if a rewrite is set. */
  readonly rewrite: FinishedRewrite | undefined;
  /** True if it was read for this statement where the datasource has its tables. */
  readonly isRenewed: boolean;
}

function planningOf(session: Session, graph: Graph, { definers, counts, references, targets, caches, rewrite }: Needs): Planning {
  const { runtime } = session.request;
  const { principal } = session.caller;
  const row = session.draft?.row;
  // most statements read no system table
  let system: SystemContext | undefined;
  let tables: ReturnType<typeof systemTables> | undefined;
  const systemOf = (): SystemContext => (system ??= systemContext(session, graph));
  const read = new Set<string>();
  const context: PlanContext = {
    graph,
    parser: runtime.parser,
    product: runtime.config.product,
    activeDatasource: chosenDatasource(session) ?? row?.active ?? 'main',
    systemTables: SYSTEM_TABLES,
    systemTable: (name) => {
      tables ??= systemTables(systemOf());
      const table = tables(name);
      if (table !== undefined) read.add(name);
      return table;
    },
    caller: factsOf(principal),
    access: row && accessOf(session.caller, row),
    queriesTables: row && tablesOf(principal, row),
    definer: (view) => definers.sees(view, graph.whole),
    allowedFunctions: allowedFunctionsOf(row),
    rowsOf: (mapping) => counts.rowsOf(mapping),
    cached: caches.of,
    cubes: caches.cubes,
    views: caches.views,
    // cached rows are of another moment than those that they refer to
    enforces: (name, key) => caches.key === '' && references.enforces(findDatasource(runtime, session.caller, name), key),
    keepsNames: (name) => {
      const datasource = findDatasource(runtime, session.caller, name);
      return datasource !== undefined && keepsNames(datasource);
    },
    target: (name) => targets.targetOf(findDatasource(runtime, session.caller, name)),
    rewrite,
  };
  return { context, system: systemOf, read };
}

/** Plans a SELECT. @throws as `prepareRead` */
function plan(session: Session, source: Source, known: Graph | undefined, output: OutputOptions, needs: Needs): Omit<Planned, Again> {
  const { runtime, spending } = session.request;
  const graph = known ?? noGraph();
  const { context, system, read } = planningOf(session, graph, needs);
  const { bound } = session.script;
  const within = <T>(make: () => T): T => spending.reads.run(make, source.offset);
  const keys = within(() => planKeys(session, source.text, context, output, needs.caches));
  const verify = (made: Plan): VerifiedPlan => {
    within(() => visited(made.sql.length * STEPS_OF_A_CHARACTER));
    return { plan: made, text: verified(runtime, made.sql, made.declared) };
  };
  const admitted = (made: VerifiedPlan): Omit<Planned, Again> => {
    for (const relation of made.plan.relations) if (session.script.admits?.(relation) === false) throw outsideScope(relation);
    return {
      kind: 'query',
      context,
      ...made,
      datasource: datasourceOf(runtime, session.caller, made.plan.datasource),
      graph,
      source,
      readsSystem: read.size > 0,
    };
  };
  const { inspect } = needs;
  const kept = inspect || needs.rewrite ? undefined : keys && findPlan(keys.all());
  if (kept !== undefined && isValid(kept.plan, context)) return admitted(bound === undefined ? kept : { plan: rebind(kept.plan, bound), text: kept.text });
  const options = { ...output, ...(bound === undefined ? {} : { bound }), ...(inspect ? { inspect } : {}) };
  const planOf = (over: PlanContext, chosen: PlanOptions): Plan => within(() => planAcross(over, source, chosen, needs.caches.across));
  const { units } = spending.trials;
  let made = planOf(context, options);
  // results-limit does not apply to reads of system tables (docs/design/rows-and-json.md#limits)
  const unlimited = bound === undefined ? {} : { bound };
  if (output.limit !== undefined && read.size > 0) made = planOf(context, unlimited);
  const whole = verify(made);
  // plans that read system tables are not cached: the rows depend on the caller and are parameters of the plan
  // earlier statements may have used the budget of cached cubes and views
  if (read.size === 0 && (units === 0 || !spending.trials.isExceeded)) keepPlan(keys?.of(made, needs.definers), whole);
  if (![...read].some(isLate)) return admitted(whole);
  const late = async (): Promise<VerifiedPlan> => {
    const { withLate } = await import('../describe/show.ts');
    const systemTable = systemTables(await withLate(session, system(), read));
    return verify(await needs.whileNeeded(() => planOf({ ...context, systemTable }, unlimited)));
  };
  return { ...admitted(whole), late };
}

/** 400: the script may not read a relation, although its caller may. */
const outsideScope = ({ kind, name }: NamedRelation): SvcError =>
  badRequest('outside_scope', `${quoted(name)} is not among the ${kind === 'system' ? 'concepts and views' : `${kind}s`} that may be read here`);

/** Plans of longer statements are not cached (docs/design/caches.md#plans). */
const MAX_CACHED_CHARACTERS = 8 * 1024;

/** The cache keys of the plans of a statement, which depend on more or on less. */
interface PlanKeys {
  /** All keys under which a plan for this request may be kept. Most plans have the first one, so the others are made on demand. */
  all(): Iterable<string>;
  /** The key of a plan that was made. */
  of(made: Plan, definers: Definers): string;
}

/** Undefined if the plan is not cached. */
function planKeys(session: Session, text: string, context: PlanContext, output: OutputOptions, caches: Caches): PlanKeys | undefined {
  const key = planKey(session, text, context, output, caches);
  if (key === undefined) return undefined;
  const { bound } = session.script;
  // a plan that depends on bound values is valid for these values only
  const boundKey = bound === undefined ? key : `${key}\u0000${JSON.stringify(bound)}`;
  // a plan that depends on properties of the caller is valid for callers with the same properties only
  const perCaller = (place: string): string => `${place}\u0000${factsKey(factsOf(session.caller.principal))}`;
  // a plan that depends on the rights of a definer is valid until rights change
  const perRights = (place: string): string => `${place}\u0000${session.caller.snapshot.permissions}`;
  return {
    *all() {
      for (const place of bound === undefined ? [key] : [key, boundKey]) {
        yield place;
        yield perCaller(place);
        yield perRights(place);
        yield perRights(perCaller(place));
      }
    },
    of: (made, definers) => {
      const place = made.readsBound ? boundKey : key;
      const callerKey = made.readsCaller ? perCaller(place) : place;
      return definers.used ? perRights(callerKey) : callerKey;
    },
  };
}

/** The cache key of a plan: everything that it depends on. Undefined if the plan is not cached, because the model is a draft or the text is long. */
function planKey(session: Session, text: string, context: PlanContext, output: OutputOptions, caches: Caches): string | undefined {
  const { draft } = session;
  if (draft === undefined || draft.changed || text.length > MAX_CACHED_CHARACTERS) return undefined;
  return [
    draft.version,
    context.product,
    context.activeDatasource,
    draft.row.allowedFunctions ?? '',
    sightKey(session.caller.principal, draft.name),
    tablesKey(session.caller.principal, draft.row),
    accessKey(context.access),
    JSON.stringify(output),
    session.script.bound === undefined,
    caches.key,
    placedKey(session.caller.snapshot, draft.row.datasources),
    text,
  ].join('\u0000');
}

/** The datasource that the request selects with `?datasource=d`. @throws SvcError 400 `unknown_datasource` */
function chosenDatasource(session: Session): string | null {
  const { datasource } = session.script;
  return datasource === null ? null : attachedDatasource(session.caller, session.draft?.row, datasource);
}

/** The place of an answer in the result cache; undefined if the statement does not use the cache. */
async function placeOfResult({ request, caller, draft }: Session, { plan, datasource, readsSystem, context }: Planned): Promise<ResultPlace | undefined> {
  if (request.results === undefined || draft === undefined || draft.changed || readsSystem || plan.volatile) return undefined;
  const connection = await connectionDigest(request.runtime, caller, datasource.name);
  if (connection === undefined) return undefined;
  return resultPlace(request, { ontology: draft.row, datasource: { name: datasource.name, connection }, plan, access: context.access });
}

/**
 * Runs a prepared statement, or returns its cached answer.
 * @param last false: the statement is run only to detect errors, and its rows are dropped
 * @param only true if it is the only statement of its script, so that its answer may be cached
 * @throws SvcError 400, 502, 504 before the first row
 */
export async function runRead(session: Session, prepared: Prepared, last: boolean, only: boolean): Promise<Answer> {
  if (prepared.kind === 'rows') return { kind: 'value', data: await prepared.rows() };
  const { runtime, signal } = session.request;
  const { datasource, graph, source, late } = prepared;
  const place = only ? await placeOfResult(session, prepared) : undefined;
  const found = await place?.find();
  if (place !== undefined) session.request.results?.onState(found === undefined ? 'miss' : 'hit');
  const asOf = (): void => session.request.dataAsOf?.(asOfOldest(prepared.plan));
  if (found !== undefined) asOf();
  if (found !== undefined) return { kind: 'kept', bytes: found.bytes, rows: found.rows };
  const { plan, text } = late === undefined ? prepared : await late();
  const { principal } = session.caller;
  // a caller who impersonates several users is one caller
  const owner = principal.actor?.userId ?? principal.userId;
  const asked = {
    text,
    params: plan.params,
    timeoutMs: runtime.config.statementTimeoutMs,
    maxBytes: MAX_BYTES,
    owner,
    signal,
    physicalNames: physicalNames(graph),
    mayQuote: plan.mayQuote,
  };
  let rows: RowStream;
  try {
    rows = await watched(session, datasource.name, () => rowsOf(session, datasource, plan, asked));
  } catch (error) {
    const rewrite = await rewriteAfter(error, plan, datasource);
    if (rewrite) return runRead(session, await prepared.rewritten(rewrite), last, only);
    if (plan.caches.length > 0 && (await loadCaches()).lostCaches(error, plan)) return runRead(session, await prepared.live(), last, only);
    if (prepared.renewed && (await isOutdated(error, plan))) return runRead(session, await prepared.renewed(), last, only);
    throw (await loadFaults()).withPosition(error, plan, source);
  }
  let renewed: Promise<Planned | undefined> | undefined;
  const renew = (error: unknown): Promise<Planned | undefined> => {
    renewed ??= isOutdated(error, plan).then((is) => (is ? prepared.renewed?.() : undefined));
    return renewed;
  };
  rows.done.catch((error: unknown) => runtime.waitUntil(renew(error)));
  const again = isUnplaced(plan, datasource) ? await prepared.rewritten() : undefined;
  if (!last || again?.plan.target) rows.cancel();
  if (again?.plan.target) return runRead(session, again, last, only);
  asOf();
  const keep = place && ((bytes: Uint8Array<ArrayBuffer>) => void rows.done.then((counts) => place.keep({ bytes, rows: counts.rows })).catch(() => undefined));
  const repeated = async (error: unknown): Promise<Answer | undefined> => {
    const made = await renew(error);
    return made && runRead(session, made, last, only);
  };
  return { kind: 'rows', rows, owner, shape: plan.shape, nested: plan.nested, keep, again: repeated };
}
