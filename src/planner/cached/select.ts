/** The SELECT whose rows the table of a cached cube has: partial aggregates of the cube by its dimensions (docs/design/caches.md#cached-cubes). */
import { Budget, PLAN_LIMITS } from '../../budget.ts';
import { badRequest, SvcError } from '../../errors.ts';
import { quoteDouble } from '../../language/quote.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import type { CubeColumn } from '../bind/cubes.ts';
import { type Meaning, meaningOf } from '../bind/meaning.ts';
import type { ConceptRelation } from '../bind/relation.ts';
import { Resolver } from '../bind/resolve.ts';
import { collates } from '../facts/column-types.ts';
import { nodesIn } from '../lower/aggregate/spine.ts';
import { lowerBlock, lowerBlocks } from '../lower/finish.ts';
import type { BoundBlock } from '../plan/block.ts';
import type { PlanContext } from '../plan/context.ts';
import { clone, type Node, type SelectStmt, target } from '../plan/tree.ts';
import { PlanState } from '../plan-state.ts';
import { printSelect, STATEMENT_LIMITS } from '../print/index.ts';
import type { Declared } from '../verify/index.ts';
import { columnsOf, countStar, inTable, isExact, Partials, propertyOf, rowsIn, typeOfProperty } from './partials.ts';

/** A column of the cube that the table gives. */
export interface KeptColumn extends Pick<CubeColumn, 'name' | 'isMeasure'> {
  /** Its value over the columns of the table. */
  readonly template: Node;
  /** What a dimension means. */
  readonly meaning?: Omit<Meaning, 'root'>;
}

/** The SELECT of the table of a cube. */
export interface CubeSelect {
  readonly sql: string;
  readonly declared: Declared;
  readonly datasource: string;
  /** The names of the columns of the table, without that of `total`. */
  readonly columns: readonly string[];
  /** The number of dimensions, which are the first columns. */
  readonly dimensions: number;
  /** The columns of the cube, in order; undefined: the table cannot give it. */
  readonly kept: readonly (KeptColumn | undefined)[];
  /** The folded names of the columns that the table cannot give, and of those that differ only in case or not at all. */
  readonly lost: ReadonlySet<string>;
  /** The number of rows of the cube, over the columns of the table. */
  readonly rows: Node;
  /** The columns that show whether paths multiplied the rows of the cube; undefined: the cube has no paths. */
  readonly counted: Counted | undefined;
  /** The state after planning. */
  readonly state: PlanState;
}

/** What decides the rows of a table: its SELECT, and the types and collations of the columns that it reads. */
export const decides = ({ sql, datasource, state }: Pick<CubeSelect, 'sql' | 'datasource' | 'state'>): string => {
  const sources = [...state.texts.declared.sources].map(({ name, columns }) =>
    JSON.stringify([name, columns.map((c) => [c.name, c.type, c.modifier, c.collation])]),
  );
  return JSON.stringify([sql, datasource.toLowerCase(), sources.sort()]);
};

/** Columns of the table: the sum of `rows` is the same number as `total` if each row has at most one row of each path. */
export interface Counted {
  readonly rows: string;
  /** The number of rows that the cube has if a query names no dimension, in each row. */
  readonly total: string;
}

/** Why a cube or view cannot be cached, or not for a caller. */
export type Uncacheable = 'restricted' | 'volatile';
export type UncacheableCube = Uncacheable | 'paths' | 'collation' | 'key' | 'measures';

/** Makes a plan within the limits of one statement. @throws SvcError 400 `too_complex`, and as `plan` */
export function limitedPlan<T>(what: string, plan: () => T): T {
  try {
    return new Budget(PLAN_LIMITS, what).run(plan);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw badRequest('too_complex', `${what} is nested too deeply`, { cause: error });
  }
}

/**
 * Returns the result of a plan; undefined if it fails or becomes too large: the live query then reports the error with its position.
 * @param trials counts the plan; an enclosing budget does not, because the live plan is counted there
 */
export function triedPlan<T>(plan: () => T, trials: Budget = new Budget(PLAN_LIMITS, 'the trial')): T | undefined {
  try {
    return trials.apart(() => limitedPlan('the trial', plan));
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}

/**
 * The state of a plan whose SQL depends only on the model of the context, and on the rights and policies of its caller. Shapes of SQL that depend on counts and
 * servers would change the text; results of functions of the datasource may depend on the time or the role.
 */
export function steadyState(context: PlanContext): PlanState {
  const { rowsOf: _r, enforces: _e, keepsNames: _k, cached: _c, cubes: _u, views: _v, allowedFunctions: _a, ...rest } = context;
  return new PlanState(rest);
}

/** Why the rows that a plan reads may differ between callers or moments; undefined: they do not. */
export function uncacheable({ facts, params, late, barrierRefusal }: PlanState): Uncacheable | undefined {
  if (facts.volatile || facts.clock) return 'volatile';
  const isOpen = !facts.hasRowPolicies && !facts.isMasked && !facts.readsHidden && !facts.hidesRows && !facts.readsCaller;
  return !isOpen || params.length > 0 || late.length > 0 || barrierRefusal ? 'restricted' : undefined;
}

/**
 * Plans the SELECT of the table of a cube. It depends only on the model as the context has it, and on the rights and policies of its caller.
 * @throws SvcError as a query on the cube
 */
export function cubeSelect(context: PlanContext, view: ViewDef): CubeSelect | UncacheableCube {
  const state = steadyState(context);
  const { facts } = state;
  const stmt = bound(state, view, '*');
  const [pending, ...others] = state.blocks.splice(0);
  const [relation, ...joined] = pending?.block.relations ?? [];
  if (pending === undefined || relation === undefined || others.length > 0 || joined.length > 0) return 'paths';
  let parts: Parts | undefined;
  pending.here(() =>
    lowerBlock(state, pending.block, () => {
      parts = partsOf(state, pending.block, stmt);
    }),
  );
  if (parts === undefined || relation.root.all().some((n) => n.toMany)) return 'paths';
  const counted = parts.followsPaths ? addTotal(state, view, stmt, parts) : undefined;
  const why = uncacheable(state);
  if (why !== undefined) return why;
  if (facts.hasOtherCollations || collates(stmt)) return 'collation';
  const { kept, lost, columns, dimensions } = parts;
  if (parts.isKeyed) return 'key';
  if (!kept.some((k) => k?.isMeasure)) return 'measures';
  const { declared, datasource } = state;
  return { sql: printSelect(stmt, STATEMENT_LIMITS), declared, datasource, columns, dimensions, kept, lost, rows: rowsIn(dimensions), counted, state };
}

/** Binds a SELECT on a cube. Its blocks are not lowered yet. */
function bound(state: PlanState, { name }: ViewDef, items: string): SelectStmt {
  const parsed = state.texts.parse(`SELECT ${items} FROM vsvc.${quoteDouble(name)}`, undefined);
  new Resolver(state, parsed, state.seen).query(parsed.stmt, undefined);
  return parsed.stmt;
}

/** Adds a column with the number of rows that the cube has without paths, except for those of its condition. It is counted by the same statement, so of the same rows. */
function addTotal(state: PlanState, view: ViewDef, stmt: SelectStmt, { columns, dimensions }: Parts): Counted {
  const counting = bound(state, view, 'COUNT(*)');
  lowerBlocks(state);
  const names = columnsOf(columns.length + 1);
  const total = names.at(-1) as string;
  stmt.targetList?.push(target({ SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: counting } } }, total));
  return { rows: names[dimensions] as string, total };
}

interface Parts extends Pick<CubeSelect, 'kept' | 'lost' | 'columns' | 'dimensions'> {
  /** True if a group of the dimensions is one row: a query that is grouped by the key may then name columns that the key determines. */
  readonly isKeyed: boolean;
  /** True if the rows are joined with others. */
  readonly followsPaths: boolean;
}

/** Replaces the select list of a block, which has all columns of the cube, by that of the table. */
function partsOf(state: PlanState, { cubes, relations }: BoundBlock, stmt: SelectStmt): Parts {
  const named = cubes[0]?.relation.columns ?? [];
  const values = (stmt.targetList ?? []).map((t) => ('ResTarget' in t ? t.ResTarget.val : undefined));
  const isDimension = (value: Node | undefined, i: number): value is Node =>
    value !== undefined && named[i]?.isMeasure === false && isExact(typeOfProperty(state, value));
  const dimensions = values.filter(isDimension);
  const partials = new Partials(state, dimensions.length + 1);
  const kept = named.map(({ name, isMeasure }, i): KeptColumn | undefined => {
    const value = values[i];
    if (!isMeasure) {
      if (!isDimension(value, i)) return undefined;
      const meaning = meaningOf({ node: value, column: { name, key: name } }, state.references);
      return { name, isMeasure, template: inTable(dimensions.indexOf(value)), ...(meaning ? { meaning } : {}) };
    }
    const template = value && partials.template(value);
    return template && { name, isMeasure, template };
  });
  const columns = columnsOf(dimensions.length + 1 + partials.all.length);
  stmt.targetList = [...dimensions.map((d) => clone(d)), countStar(), ...partials.all].map((value, i) => target(value, columns[i]));
  if (dimensions.length > 0) stmt.groupClause = dimensions.map((d) => clone(d));
  else delete stmt.groupClause;
  const folded = named.map((c) => fold(c.name));
  const lost = new Set(folded.filter((name, i) => kept[i] === undefined || folded.indexOf(name) !== folded.lastIndexOf(name)));
  const followsPaths = nodesIn(stmt, relations).size > 0 || haveCalculatedPath(state, relations[0]);
  return { kept, lost, columns, dimensions: dimensions.length, isKeyed: isKeyed(state, relations[0], dimensions), followsPaths };
}

/** True if rows may have a calculated property that follows a path, directly or through another one. It joins rows too, also for a column that is left out. */
function haveCalculatedPath(state: PlanState, relation: ConceptRelation | undefined): boolean {
  if (!state.graph.model.properties.some((p) => p.expression?.includes('['))) return false;
  const wanted = relation?.root.all().flatMap((node) => [...node.columns.values()].map((c) => c.wanted)) ?? [];
  return wanted.some((w) => w.kind === 'property' && w.def.expression !== null);
}

/** True if dimensions contain the key of the rows of a relation. */
function isKeyed(state: PlanState, relation: ConceptRelation | undefined, dimensions: readonly Node[]): boolean {
  const own = dimensions.filter((d) => 'ColumnRef' in d && state.references.of(d.ColumnRef)?.node === relation?.root);
  const names = new Set(own.map((d) => propertyOf(state, d)?.name));
  return relation?.concept.key?.properties.every((p) => names.has(p.name)) === true;
}
