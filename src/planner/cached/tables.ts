/** The tables of the cached cubes or views of a statement: which of them may be read, and what a plan that reads one has to know. */
import type { Budget } from '../../budget.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import type { CachedTable, PlanContext } from '../plan/context.ts';
import { column, type SelectStmt, select, target } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { triedPlan } from './select.ts';

/** The SELECT whose rows a table has. */
interface Made {
  readonly datasource: string;
  /** The state after planning. */
  readonly state: PlanState;
}

/** A table with the rows of a SELECT. */
export interface Cached<T extends Made> {
  readonly select: T;
  readonly table: CachedTable;
}

/** The table of a cube or view, if it has the rows of a SELECT. */
export type TableOf<T extends Made> = (view: ViewDef, select: T) => CachedTable | undefined;

/** The tables of cubes or of views. */
export abstract class CachedTables<T extends Made> {
  readonly #names: ReadonlySet<string>;
  readonly #tableOf: TableOf<T>;
  readonly #trials: Budget | undefined;
  readonly #known = new Map<ViewDef, Cached<T> | undefined>();

  /**
   * @param names the folded names of the cubes or views that have a table
   * @param trials budget of the plans that are compared with the tables
   */
  constructor(names: ReadonlySet<string>, tableOf: TableOf<T>, trials?: Budget) {
    this.#names = names;
    this.#tableOf = tableOf;
    this.#trials = trials;
  }

  /** Plans the SELECT of a table; or returns why it cannot be cached. */
  protected abstract planned(context: PlanContext, view: ViewDef): T | string;

  /** The table of a cube or view, if the caller may be answered from it. */
  protected find({ context }: PlanState, view: ViewDef): Cached<T> | undefined {
    if (!this.#names.has(fold(view.name))) return undefined;
    if (!this.#known.has(view)) this.#known.set(view, this.#compared(context, view));
    return this.#known.get(view);
  }

  #compared(context: PlanContext, view: ViewDef): Cached<T> | undefined {
    const made = triedPlan(() => this.planned(context, view), this.#trials);
    if (made === undefined || typeof made === 'string') return undefined;
    const table = this.#tableOf(view, made);
    return table && { select: made, table };
  }
}

/** Reads columns of a table. The plan then knows of the rows what it knows of those of the SELECT. */
export function readTable(state: PlanState, { select: made, table }: Cached<Made>, columns: readonly string[]): SelectStmt {
  const { schema, name } = table;
  const { texts } = state;
  texts.datasources.add(made.datasource);
  texts.caches.add(table);
  texts.declared.add({ schema, name, columns: new Set(columns), isWhole: false }, []);
  state.facts.include(made.state.facts);
  for (const measure of made.state.dividing) state.dividing.add(measure);
  return select({
    targetList: columns.map((c) => target(column('m', c), c)),
    fromClause: [{ RangeVar: { schemaname: schema, relname: name, inh: true, relpersistence: 'p', alias: { aliasname: 'm' } } }],
  });
}
