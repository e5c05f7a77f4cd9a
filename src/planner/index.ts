/** The planner: a SELECT over an ontology -> one SQL statement over the mapped tables. Pure: no I/O, no clock. */
import { Budget, PLAN_LIMITS } from '../budget.ts';
import { badRequest, SvcError } from '../errors.ts';
import type { Source } from '../language/statements.ts';
import type { Shape } from '../ontology/shape.ts';
import { refuseOuterMeasures } from './aggregate/measures.ts';
import { requireInterruptible } from './effort/index.ts';
import { jsonRows, type OutputOptions } from './output.ts';
import { printSelect } from './print.ts';
import { requireReadableText } from './readable.ts';
import { Resolver } from './resolve.ts';
import type { Declared } from './verify/index.ts';
import { type BoundValue, boundText, type NamedRelation, type PlanContext, Work } from './work.ts';

export { checkModel } from './check.ts';
export type { OutputOptions } from './output.ts';
export { leadsToMany } from './path.ts';
export type { BoundValue, NamedRelation, PlanContext, SystemTable } from './work.ts';

/** The longest statement that is sent: PostgreSQL would need gigabytes to plan a longer one. The verifier parses it once more. */
const MAX_CHARACTERS = 256 * 1024;

/** The most sets of rows that a statement may build in memory: with PostgreSQL's own work_mem and hash_mem_multiplier each may take 8 MB. */
const MOST_SETS = 160;

/** One statement for one datasource. */
export interface Plan {
  readonly datasource: string;
  /** Yields one column of type json: the row's object, its values as PostgreSQL's to_json writes them. */
  readonly sql: string;
  /** Values of $1, $2, ... */
  readonly params: readonly (string | null)[];
  /** What the verifier lets the SQL name. */
  readonly declared: Declared;
  /** The keys of a row, in their order. */
  readonly columns: readonly string[];
  /** What they mean. */
  readonly shape: Shape;
  /** What the statement's own text reads by name. */
  readonly relations: readonly NamedRelation[];
  /** Whether rows are made for folding: they hold the columns of `nestedOrder(shape)` in that order, under short keys. */
  readonly nested: boolean;
  /** Places of `sql` (UTF-16 offsets, rising) beside those of the caller's statement (offsets from its beginning) that they come from. */
  readonly places: readonly (readonly [number, number])[];
  /** Whether the statement gives another result each time it runs, or with the clock: not to be cached. */
  readonly volatile: boolean;
  /** Whether it depends on what the bound values are: else `rebind` makes it the plan of others. */
  readonly readsBound: boolean;
  /** Whether it holds who asks (svc_username() and its like): a plan for this caller alone. */
  readonly readsCaller: boolean;
  /** Whether nothing of what it reads is kept from the caller: no policy is in force on it, and nothing of it is hidden. */
  readonly isOpen: boolean;
  /** Whether its mappings and raw views leave out no rows of tables that the caller may not query: estimates of the database tell of such rows. */
  readonly isWhole: boolean;
  /** Whether a value that it reads stands behind a mask. */
  readonly isMasked: boolean;
  /** Whether the database's messages may quote a value that is kept from the caller: they are not to be handed on. */
  readonly quiet: boolean;
}

export interface PlanOptions extends OutputOptions {
  /** The values of `$1`, `$2`, ... in a statement that the service itself has written; in any other one parameters are refused. */
  readonly bound?: readonly BoundValue[];
}

/**
 * Plans a SELECT. Errors: 400 with the offset in the whole text of the request: `syntax_error`, `unknown_*`, `ambiguous_*`, `wrong_schema`,
 * `bad_path`, `bad_depth`, `forbidden_*`, `unsupported_syntax`, `too_complex`, `duplicate_column`, `several_datasources`, `fanout`.
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

function plan(context: PlanContext, source: Source, options: PlanOptions, fenced = false): Plan {
  const work = new Work(context, options.bound, fenced);
  const parsed = work.parse(source.text, source.offset, options.bound !== undefined);
  requireReadableText(work, parsed);
  const columns = new Resolver(work, parsed, work.seen).query(work.bindCaller(parsed.stmt), undefined);
  const { query, keys, shape, nested } = jsonRows(work, parsed, columns, options);
  // what may fail on a value must not see the rows that a policy hides: the whole again, with the policies asked first
  if ((work.guarded || work.barred) && work.leaky && !fenced) return plan(context, source, options, true);
  if (work.datasources.size > 1) {
    throw badRequest('several_datasources', `the query would need several datasources: ${[...work.datasources].join(', ')}`, {
      hint: 'a query runs on one datasource; ask each of them',
    });
  }
  if (work.namesMeasures) refuseOuterMeasures(query);
  requireInterruptible(query, work.params, parsed.offsetOf);
  const places: [number, number][] = [];
  const sql = printSelect(query, {
    longest: MAX_CHARACTERS,
    mostSets: MOST_SETS,
    mark: (offset, location) => {
      const place = parsed.offsetOf(location);
      if (place !== undefined) places.push([offset, place - source.offset]);
    },
  });
  return {
    datasource: [...work.datasources][0] ?? context.activeDatasource,
    sql,
    places,
    params: work.params,
    declared: work.declared,
    columns: keys,
    shape,
    relations: work.relations,
    nested,
    volatile: work.volatile || work.clock,
    readsBound: work.readsBound,
    readsCaller: work.readsCaller,
    isMasked: work.masked,
    isOpen: !work.guarded && !work.masked && !work.readsHidden,
    isWhole: !work.barred,
    quiet: work.quiet,
  };
}

/** The same plan for other bound values; only where it does not read them. */
export const rebind = (plan: Plan, bound: readonly BoundValue[]): Plan => ({ ...plan, params: [...bound.map(boundText), ...plan.params.slice(bound.length)] });

/**
 * The place in the caller's statement (offset from its beginning) of a position that PostgreSQL tells of the plan's SQL (1-based, in
 * characters); undefined where that comes from the model.
 */
export function placeOf(plan: Plan, position: number): number | undefined {
  let at = 0;
  for (let n = 1; n < position && at < plan.sql.length; n++) at += (plan.sql.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return plan.places.find(([offset]) => offset === at)?.[1];
}
