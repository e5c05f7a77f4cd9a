/** The planner turns a SELECT over an ontology into one SQL statement over the mapped tables. It does no I/O and reads no clock. */
import type { FuncCall } from '@pgsql/types';
import { Budget, PLAN_LIMITS } from '../budget.ts';
import { badRequest, SvcError } from '../errors.ts';
import { asWritten } from '../language/prepare.ts';
import type { Source } from '../language/statements.ts';
import type { Shape } from '../ontology/shape.ts';
import { requireReadableText } from './bind/readable.ts';
import { Resolver } from './bind/resolve.ts';
import { requireInterruptible } from './effort/index.ts';
import type { BoundQuery } from './logical/index.ts';
import { refuseOuterMeasures } from './lower/aggregate/measures.ts';
import { lowerBlocks } from './lower/finish.ts';
import { jsonRows, type OutputOptions } from './lower/output.ts';
import { settleBarriers } from './plan/barriers.ts';
import {
  type BoundValue,
  boundText,
  type CachedTable,
  type FinishedRewrite,
  type NamedRelation,
  type PlanContext,
  plainName,
  type Target,
} from './plan/context.ts';
import { dropUnusedParameters } from './plan/parameters.ts';
import { ownCopy } from './plan/shared.ts';
import type { SelectStmt } from './plan/tree.ts';
import { lastName } from './plan/tree.ts';
import { PlanState } from './plan-state.ts';
import { printStatement, STATEMENT_LIMITS } from './print/index.ts';
import { nameCalls } from './read/caller.ts';
import type { Parsed } from './read/texts.ts';
import { clockCall } from './secure/running-clock.ts';
import type { Declared } from './verify/index.ts';

export { checkModel } from './check.ts';
export type { OutputOptions } from './lower/output.ts';
export type {
  BoundValue,
  CachedTable,
  CubeTables,
  FinishedRewrite,
  NamedRelation,
  Placed,
  Placements,
  PlanContext,
  SystemTable,
  Target,
  ViewTables,
} from './plan/context.ts';
export { leadsToMany } from './plan/hop.ts';

/** One statement for one datasource. */
export interface Plan {
  readonly datasource: string;
  /** SQL that returns one column of type json: an object for each row, with values as PostgreSQL's to_json writes them. */
  readonly sql: string;
  /** The values of $1, $2, ... */
  readonly params: readonly (string | null)[];
  /** The tables, functions and parameters that the SQL may name, for the verifier. */
  readonly declared: Declared;
  /** The keys of a row, in order. */
  readonly columns: readonly string[];
  /** The meaning of the columns. */
  readonly shape: Shape;
  /** The relations that the statement's own text names. */
  readonly relations: readonly NamedRelation[];
  /** True if the rows are made for nested results: they have the columns of `nestedOrder(shape)` in that order, under short keys. */
  readonly nested: boolean;
  /** True if the SQL relies on a datasource that keeps the names of a derived table's columns. */
  readonly keepsNames: boolean;
  /** True if the SQL was rewritten, as far as it can be (`PlanContext.rewrite`). */
  readonly isRewritten: boolean;
  /** The rewrite to try next, if the datasource refuses this SQL too. */
  readonly nextRewrite: FinishedRewrite | undefined;
  /** What was known of a distributed datasource when it was made (`PlanContext.target`). */
  readonly target: Target | undefined;
  /** What it relies on (`Target.apply`): reference tables, and tables that are no views with unions. Its rows may be used only if they still are that when it runs. */
  readonly relied: readonly string[];
  /** The foreign keys of the datasource that it relies on (`PlanContext.enforces`). It is valid only as long as they are enforced. */
  readonly trusted: readonly string[];
  /** The length of the part of `sql` that only makes the JSON of a row. Plans that differ in this part only return the same values, under the keys of `shape`. */
  readonly rowLength: number;
  /** Pairs of an offset in `sql` (UTF-16, ascending) and the offset in the caller's statement that it comes from. */
  readonly places: readonly (readonly [number, number])[];
  /** True if the result depends on the clock or differs from run to run. It must not be cached. */
  readonly volatile: boolean;
  /** True if the plan depends on the bound values. If not, `rebind` makes a plan for other values. */
  readonly readsBound: boolean;
  /** True if the plan contains facts about the caller (svc_username() and the like). It is valid for this caller only. */
  readonly readsCaller: boolean;
  /** True if nothing that the plan reads is hidden from the caller, neither by policies nor by grants. */
  readonly isOpen: boolean;
  /** True if the mappings and raw views leave out no rows of tables that the caller may not query. Otherwise the estimates of the database would reveal such rows. */
  readonly isWhole: boolean;
  /** True if the plan reads a value that is masked for the caller. */
  readonly isMasked: boolean;
  /** True if an error message of the database may quote a value that is hidden from the caller. Such messages must not be passed on. */
  readonly mayQuote: boolean;
  /** The tables of cached mappings that the SQL reads. */
  readonly caches: readonly CachedTable[];
  /** True if a text other than the SELECTs of mappings calls a function of the datasource: the statement, a view, a policy or a property. */
  readonly callsOwn: boolean;
  /** The measures and calculated properties that may divide by zero, as messages call them. Only those that the caller sees. */
  readonly dividing: readonly string[];
}

/** Options of a plan. */
export interface PlanOptions extends OutputOptions {
  /** The values of `$1`, `$2`, ... in a statement that the service has written. Without them, parameters are refused. */
  readonly bound?: readonly BoundValue[];
  /** Gets the query after its names are resolved, such as `logicalPlan`. It must not change it. */
  readonly inspect?: (query: BoundQuery) => void;
}

/**
 * Plans a SELECT.
 * @throws SvcError 400 with the offset in the request: `syntax_error`, `unknown_*`, `ambiguous_*`, `wrong_schema`, `bad_path`, `bad_depth`, `forbidden_*`,
 * `unsupported_syntax`, `too_complex`, `duplicate_column`, `several_datasources`, `fanout`; 403 for what the caller may not read
 */
export function planSelect(context: PlanContext, source: Source, options: PlanOptions = {}): Plan {
  try {
    return new Budget(PLAN_LIMITS, 'the plan of the statement').run(() => plan(context, source, options), source.offset);
  } catch (e) {
    if (e instanceof SvcError && e.code === 'too_complex' && e.offset === undefined) throw e.at(source.offset);
    if (!(e instanceof RangeError)) throw e;
    throw badRequest('too_complex', 'the statement is nested too deeply', { offset: source.offset, cause: e });
  }
}

function plan(context: PlanContext, source: Source, options: PlanOptions): Plan {
  const state = new PlanState(context, options.bound);
  const parsed = state.texts.parse(source.text, source.offset, options.bound !== undefined);
  try {
    return planned(state, parsed, source, options);
  } catch (e) {
    // errors name relations and columns as the tree has them
    if (parsed.standIns.size === 0 || !(e instanceof SvcError)) throw e;
    const { status, code, message, hint, ...details } = e;
    throw new SvcError(status, code, asWritten(parsed, message), { hint: hint && asWritten(parsed, hint), ...details });
  }
}

/**
 * Refuses what would reveal hidden rows.
 * @param clock a call in the caller's text. One in a text of the model has no position there
 * @throws SvcError 400 `forbidden_function`; 403 `forbidden`
 */
function refuseRevealing(state: PlanState, parsed: Parsed, clock: FuncCall | undefined, hasBarriers: boolean): void {
  if (hasBarriers && state.barrierRefusal) throw state.barrierRefusal;
  const call = clock ?? state.facts.runningClock;
  if (!call) return;
  throw badRequest('forbidden_function', `\`${lastName(call.funcname)}\` would measure the time that hidden rows take`, {
    hint: `Use now(), the time at which the statement began${clock ? '' : ', in the text of a view, a measure or a logic concept that it reads'}`,
    offset: clock && parsed.offsetOf(clock.location),
  });
}

function planned(state: PlanState, parsed: Parsed, source: Source, options: PlanOptions): Plan {
  const { context } = state;
  requireReadableText(state, parsed);
  if (parsed.facts.callsReplaced) nameCalls(parsed.stmt, context.product, context.caller);
  const clock = parsed.facts.volatile ? clockCall(parsed.stmt) : undefined;
  const resolver = new Resolver(state, parsed, state.seen);
  const columns = resolver.query(state.forCaller(parsed.stmt, parsed.facts), undefined);
  options.inspect?.({ state, stmt: parsed.stmt, written: (name) => resolver.written(name) });
  state.outermost = state.blocks.at(-1)?.block.stmt;
  lowerBlocks(state);
  const { query: written, keys, shape, nested } = jsonRows(state, parsed, columns, options);
  // an expression that may raise an error must not be evaluated on rows that a policy hides
  const hidesRows = state.facts.hasRowPolicies || state.facts.hidesRows;
  const hasBarriers = hidesRows && state.facts.mayRaise;
  if (hidesRows) refuseRevealing(state, parsed, clock, hasBarriers);
  const target = context.target?.(state.datasource);
  // without hidden rows only walks for a distributed datasource are marked; the printer would refuse a mark that is left
  if (hidesRows || state.late.length > 0 || target || context.rewrite) settleBarriers(written, state, hasBarriers);
  const { query, relies, isJoined } = forDatasource(state, written, target, !hasBarriers && !state.facts.volatile);
  dropUnusedParameters(query, state, state.bound.length);
  refuseSeveralDatasources(state);
  if (state.references.hasMeasures) refuseOuterMeasures(query, state.references);
  requireInterruptible(query, state.params, state.longestRows, parsed.offsetOf);
  const places: [number, number][] = [];
  const { text: sql, listLength } = printStatement(query, {
    ...STATEMENT_LIMITS,
    mark: (offset, location) => {
      const place = parsed.offsetOf(location);
      if (place !== undefined) places.push([offset, place - source.offset]);
    },
  });
  return {
    datasource: state.datasource,
    sql,
    rowLength: isJoined ? 0 : listLength,
    places,
    params: state.params,
    declared: state.declared,
    columns: keys,
    shape,
    relations: state.relations,
    nested,
    keepsNames: state.keepsNames,
    isRewritten: context.rewrite !== undefined,
    nextRewrite: context.rewrite?.next,
    ...relies,
    trusted: [...state.trusted],
    volatile: state.facts.volatile || state.facts.clock,
    readsBound: state.facts.readsBound,
    readsCaller: state.facts.readsCaller,
    isMasked: state.facts.isMasked,
    isOpen: !state.facts.hasRowPolicies && !state.facts.isMasked && !state.facts.readsHidden,
    isWhole: !state.facts.hidesRows,
    mayQuote: state.facts.mayQuote,
    caches: [...state.texts.caches],
    callsOwn: state.texts.callsOwn,
    dividing: [...state.dividing],
  };
}

/** A statement as its datasource needs it. Its parts are shared with other plans, or occur in it twice, so a copy is changed. */
function forDatasource(
  state: PlanState,
  written: SelectStmt,
  target: Target | undefined,
  isSimple: boolean,
): { query: SelectStmt; relies: Pick<Plan, 'target' | 'relied'>; isJoined?: boolean | undefined } {
  const { rewrite: asked } = state.context;
  const rewrite = isSimple || asked?.isForAll ? asked : undefined;
  if (!rewrite && !target) return { query: written, relies: { target, relied: [] } };
  const query = ownCopy(written);
  rewrite?.(query, () => state.alias(), state.texts.declared.isExact, state.declared.tables, isSimple);
  const relied = new Set(target?.apply(query, state.declared.tables, state.texts.declared.isExact));
  // the service makes the cached tables
  for (const { schema, name } of state.texts.caches) relied.delete(plainName(JSON.stringify([schema, name])));
  return { query, relies: { target, relied: [...relied] }, isJoined: isSimple && target?.joinRow?.(query, state.declared.tables) };
}

/** @throws SvcError 400 `several_datasources` */
function refuseSeveralDatasources(state: PlanState): void {
  if (state.texts.datasources.size > 1) {
    throw badRequest('several_datasources', `the query would need several datasources: ${[...state.texts.datasources].join(', ')}`, {
      hint: 'a query runs on a single datasource; send one query to each of them, or keep the rows of the mappings of one in the other: CACHE MAPPING m USING d',
    });
  }
}

/** The same plan with other bound values. Valid only if `readsBound` is false. */
export const rebind = (plan: Plan, bound: readonly BoundValue[]): Plan => ({ ...plan, params: [...bound.map(boundText), ...plan.params.slice(bound.length)] });

/**
 * Maps the position of an error of PostgreSQL (1-based, in characters of the plan's SQL) to an offset in the caller's statement; undefined if that part of the SQL comes
 * from the model.
 */
export function placeOf(plan: Plan, position: number): number | undefined {
  let at = 0;
  for (let n = 1; n < position && at < plan.sql.length; n++) at += (plan.sql.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return plan.places.find(([offset]) => offset === at)?.[1];
}
