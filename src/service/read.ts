/** Reading statements: planned over the model as it stands, run on the datasource in one round trip. */

import { STEPS_OF_A_CHARACTER, visited } from '../budget.ts';
import { cacheOf } from '../cache.ts';
import type { Datasource } from '../engine/datasource.ts';
import { httpEngine } from '../engine/engine.ts';
import { DatasourceFault } from '../engine/errors.ts';
import { EXPLAIN } from '../engine/statement.ts';
import { badRequest, SvcError } from '../errors.ts';
import type { ReadStatement, Source } from '../language/statements.ts';
import type { Graph } from '../ontology/graph.ts';
import { type NamedRelation, type OutputOptions, type Plan, type PlanContext, placeOf, planSelect, rebind } from '../planner/index.ts';
import { allowedFunctionsOf } from '../planner/own-functions.ts';
import type { Verified } from '../planner/verify/index.ts';
import type { Session } from './changes.ts';
import { attachedDatasource, connectionDigest, datasourceOf } from './datasource.ts';
import { Definers } from './definers.ts';
import { describeRelation } from './describe-relation.ts';
import { explainRows } from './explain.ts';
import { noGraph, quoted } from './lookup.ts';
import { physicalNames } from './physical.ts';
import { accessKey, accessOf, factsKey, factsOf } from './policies.ts';
import { type ResultPlace, resultPlace } from './results.ts';
import type { Answer } from './runtime.ts';
import type { Script } from './script.ts';
import { type LateRows, prepareShow, systemContext, withLate } from './show.ts';
import { seenBy, sightKey, tablesKey, tablesOf } from './sight.ts';
import { isLate, SYSTEM_TABLES, systemTables } from './system.ts';
import { verified } from './verified.ts';

/** A larger answer is 400 `result_too_large` (docs/design/rows-and-json.md#streaming-and-limits-of-size). */
export const MAX_BYTES = 50_000_000;

/** A plan whose SQL has passed the verifier: once for all requests that share it. */
interface Ready {
  readonly plan: Plan;
  readonly text: Verified;
}

/** A SELECT that holds and waits for its turn. */
interface Planned extends Ready {
  readonly kind: 'query';
  readonly context: PlanContext;
  readonly datasource: Datasource;
  readonly graph: Graph;
  /** The caller's own text: database errors are placed in it. */
  readonly source: Source;
  /** It reads what the catalog is asked for when its turn has come (users, roles, grants, numbers of rows): the plan with their rows. */
  readonly late?: () => Promise<Ready>;
  /** It reads system tables, whose rows are the caller's own. */
  readonly readsSystem: boolean;
}

/** A reading statement that holds and waits for its turn. */
export type Prepared = Planned | { readonly kind: 'rows'; readonly rows: LateRows };

/**
 * Understands a reading statement over an ontology, as far as its caller sees it.
 * @throws SvcError 400 where it does not hold, 403 without the right to it, 502 where the datasource has no usable secret
 */
export async function prepareRead(session: Session, statement: ReadStatement, whole: Graph | undefined, last: boolean): Promise<Prepared> {
  const known = whole && seenBy(session.caller.principal, whole, session.request.runtime.parser);
  const definers = new Definers(session.request.runtime, session.caller);
  switch (statement.kind) {
    case 'select':
      return definers.whileNeeded(() => plan(session, statement.source, known, last ? outputOf(session.script) : {}, definers));
    case 'show':
      return { kind: 'rows', rows: await prepareShow(session, statement, known) };
    case 'describe': {
      const rows = describeRelation(session, statement, known);
      return { kind: 'rows', rows: async () => rows };
    }
    case 'explain': {
      const planned = await definers.whileNeeded(() => plan(session, statement.query, known, {}, definers));
      const rows = (): Promise<readonly unknown[]> =>
        explainRows(session, planned).catch((error: unknown) => {
          throw placed(error, planned.plan, planned.source, EXPLAIN.length);
        });
      return { kind: 'rows', rows };
    }
  }
}

/** What is asked of the rows of a script's last statement. */
const outputOf = ({ limit, offset, nested }: Script): OutputOptions => ({
  ...(limit === null ? {} : { limit }),
  ...(offset === undefined ? {} : { offset }),
  ...(nested ? { nested } : {}),
});

/** Plans a SELECT. @throws as `prepareRead` */
function plan(session: Session, source: Source, known: Graph | undefined, output: OutputOptions, definers: Definers): Planned {
  const { runtime } = session.request;
  const { principal } = session.caller;
  const graph = known ?? noGraph();
  const row = session.draft?.row;
  const system = systemContext(session, graph);
  const tables = systemTables(system);
  const read = new Set<string>();
  const context: PlanContext = {
    graph,
    parser: runtime.parser,
    product: runtime.config.product,
    activeDatasource: chosenDatasource(session) ?? row?.active ?? 'main',
    systemTables: SYSTEM_TABLES,
    systemTable: (name) => {
      const table = tables(name);
      if (table !== undefined) read.add(name);
      return table;
    },
    caller: factsOf(principal),
    access: row && accessOf(session.caller, row),
    queriesTables: row && tablesOf(principal, row),
    definer: (view) => definers.sees(view, graph.whole),
    allowedFunctions: allowedFunctionsOf(row),
  };
  const key = planKey(session, source.text, context, output);
  const { bound } = session.script;
  // a plan that has looked at its values is one for these values alone
  const exactly = key === undefined || bound === undefined ? key : `${key}\u0000${JSON.stringify(bound)}`;
  // nor is one that has looked at who asks for another caller
  const own = (place: string): string => `${place}\u0000${factsKey(factsOf(principal))}`;
  // nor is one that has looked at the rights of a view's definer for others than these
  const ruled = (place: string): string => `${place}\u0000${session.caller.snapshot.permissions}`;
  const kept = key === undefined || exactly === undefined ? undefined : findPlan([key, exactly].flatMap((k) => [k, own(k), ruled(k), ruled(own(k))]));
  const within = <T>(make: () => T): T => session.request.spending.reads.run(make, source.offset);
  const ready = (made: Plan): Ready => {
    within(() => visited(made.sql.length * STEPS_OF_A_CHARACTER));
    return { plan: made, text: verified(runtime, made.sql, made.declared) };
  };
  const admitted = (made: Ready): Planned => {
    for (const relation of made.plan.relations) if (session.script.admits?.(relation) === false) throw outside(relation);
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
  if (kept !== undefined) return admitted(bound === undefined ? kept : { plan: rebind(kept.plan, bound), text: kept.text });
  let made = within(() => planSelect(context, source, { ...output, ...(bound === undefined ? {} : { bound }) }));
  // results-limit does not apply to reads of system tables (docs/design/rows-and-json.md#limits)
  if (output.limit !== undefined && read.size > 0) made = within(() => planSelect(context, source));
  // the rows of a system table are the caller's own, and stand in its parameters
  const place = made.readsBound ? exactly : key;
  const whole = ready(made);
  if (place !== undefined && read.size === 0) {
    const owned = made.readsCaller ? own(place) : place;
    plans.set(
      definers.used ? ruled(owned) : owned,
      whole,
      2 * (made.sql.length + made.params.reduce((n, p) => n + (p?.length ?? 0), 0)) + 500 + 200 * made.columns.length,
    );
  }
  if (![...read].some(isLate)) return admitted(whole);
  const late = async (): Promise<Ready> => {
    const systemTable = systemTables(await withLate(session, system, read));
    return ready(within(() => planSelect({ ...context, systemTable }, source)));
  };
  return { ...admitted(whole), late };
}

/** What a script is not to read, though its caller may. */
const outside = ({ kind, name }: NamedRelation): SvcError =>
  badRequest('outside_scope', `${quoted(name)} is not among the ${kind === 'system' ? 'concepts and views' : `${kind}s`} that may be read here`);

const plans = cacheOf<Ready>('plan');

function findPlan(places: readonly string[]): Ready | undefined {
  for (const place of new Set(places)) {
    const found = plans.get(place);
    if (found !== undefined) return found;
  }
  return undefined;
}
/** A longer statement is planned each time (docs/design/caches.md#plans). */
const KEPT_CHARACTERS = 8 * 1024;

/** What a plan depends on; undefined: it is not kept, because the model is a draft's, or the text is long. */
function planKey(session: Session, text: string, context: PlanContext, output: OutputOptions): string | undefined {
  const { draft } = session;
  if (draft === undefined || draft.changed || text.length > KEPT_CHARACTERS) return undefined;
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
    text,
  ].join('\u0000');
}

/** `?datasource=d` of the openapi family. @throws SvcError 400 `unknown_datasource` */
function chosenDatasource(session: Session): string | null {
  const { datasource } = session.script;
  return datasource === null ? null : attachedDatasource(session.caller, session.draft?.row, datasource);
}

/** A fault of the datasource with its place in the caller's text, where it has one; `before`: characters that were sent before the plan's own. */
function placed(error: unknown, plan: Plan, source: Source, before = 0): unknown {
  if (!(error instanceof SvcError) || !(error.cause instanceof DatasourceFault) || error.cause.position === undefined) return error;
  const place = placeOf(plan, error.cause.position - before);
  return place === undefined ? error : error.at(source.offset + place);
}

/** Where the answer of a statement may be kept; undefined: it goes past the result cache. */
async function placeOfResult({ request, caller, draft }: Session, { plan, datasource, readsSystem, context }: Planned): Promise<ResultPlace | undefined> {
  if (request.results === undefined || draft === undefined || draft.changed || readsSystem || plan.volatile) return undefined;
  const connection = await connectionDigest(request.runtime, caller, datasource.name);
  if (connection === undefined) return undefined;
  return resultPlace(request, { ontology: draft.row, datasource: { name: datasource.name, connection }, plan, access: context.access });
}

/**
 * Runs an understood statement, or takes its kept answer. `last`: what is not the last one of its script is run for its
 * faults alone; `only`: it is the whole script, so that its answer may be kept.
 * @throws SvcError 400, 502, 504 before the first row
 */
export async function runRead(session: Session, prepared: Prepared, last: boolean, only: boolean): Promise<Answer> {
  if (prepared.kind === 'rows') return { kind: 'value', data: await prepared.rows() };
  const { runtime, signal } = session.request;
  const { datasource, graph, source, late } = prepared;
  const place = only ? await placeOfResult(session, prepared) : undefined;
  const found = await place?.find();
  if (place !== undefined) session.request.results?.tell(found === undefined ? 'miss' : 'hit');
  if (found !== undefined) return { kind: 'kept', bytes: found.bytes, rows: found.rows };
  const { plan, text } = late === undefined ? prepared : await late();
  const rows = await httpEngine
    .rows(datasource, {
      text,
      params: plan.params,
      timeoutMs: runtime.config.statementTimeoutMs,
      maxBytes: MAX_BYTES,
      signal,
      physicalNames: physicalNames(graph),
      quiet: plan.quiet,
    })
    .catch((error: unknown) => {
      throw placed(error, plan, source);
    });
  if (!last) rows.cancel();
  const keep = place && ((bytes: Uint8Array<ArrayBuffer>) => void rows.done.then((counts) => place.keep({ bytes, rows: counts.rows })).catch(() => undefined));
  return { kind: 'rows', rows, shape: plan.shape, nested: plan.nested, keep };
}
