/** Cached views in FROM: a view whose rows are the same for the caller as for nobody is read from its table (docs/design/caches.md#cached-views). */
import type { Budget } from '../../budget.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import type { OutColumn } from '../bind/relations.ts';
import { type MadeItem, viewItem } from '../bind/views.ts';
import { requireInterruptible } from '../effort/index.ts';
import { refuseOuterMeasures } from '../lower/aggregate/measures.ts';
import { lowerBlocks } from '../lower/finish.ts';
import type { CachedTable, PlanContext, ViewTables } from '../plan/context.ts';
import { column, select, subselect, target } from '../plan/tree.ts';
import { declaredType } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { printSelect, STATEMENT_LIMITS } from '../print/index.ts';
import { cachedColumn } from '../read/cached-rows.ts';
import type { Declared } from '../verify/index.ts';
import { isExact } from './partials.ts';
import { steadyState, triedPlan, type Uncacheable, uncacheable } from './select.ts';

/** The SELECT whose rows the table of a cached view has. */
export interface ViewSelect {
  readonly sql: string;
  readonly declared: Declared;
  readonly datasource: string;
  /** The columns of the view, in order. Those of the table have the names of `cachedColumn`. */
  readonly columns: readonly OutColumn[];
  /** The state after planning. */
  readonly state: PlanState;
}

/** Why a view cannot be cached, or not for a caller. */
export type UncacheableView = Uncacheable | 'datasources';

/**
 * Plans the rows of a view. The SELECT depends only on the model as the context has it, and on the rights and policies of its caller.
 * @throws SvcError as a query on the view
 */
export function viewSelect(context: PlanContext, view: ViewDef): ViewSelect | UncacheableView {
  const state = steadyState(context);
  const { query, columns } = viewItem(state, view);
  lowerBlocks(state);
  const why = uncacheable(state);
  if (why !== undefined) return why;
  if (state.texts.datasources.size !== 1) return 'datasources';
  const names = columns.map((_, i) => cachedColumn(i));
  const stmt = select({ targetList: names.map((n) => target(column('m', n), n)), fromClause: [subselect(query, 'm', { columns: names })] });
  if (state.references.hasMeasures) refuseOuterMeasures(stmt, state.references);
  requireInterruptible(stmt, [], state.longestRows, () => undefined);
  return { sql: printSelect(stmt, STATEMENT_LIMITS), declared: state.declared, datasource: state.datasource, columns, state };
}

/** The positions of the columns of a view that are a key of a concept or an end of a relationship, and whether their values are short. */
export function lookupsOf({ columns }: ViewSelect, graph: Graph): readonly { readonly index: number; readonly isShort: boolean }[] {
  const { whole } = graph;
  const ends = new Set<string>();
  for (const { key, relationships } of whole.concepts)
    for (const list of [key?.properties ?? [], ...relationships.map((r) => r.source)]) if (list.length === 1) for (const p of list) ends.add(p.name);
  return columns.flatMap(({ meaning }, index) => {
    const def = meaning?.kind === 'value' ? meaning.property : undefined;
    if (def === undefined || !ends.has(def.name)) return [];
    const type = declaredType(whole, def);
    return isExact(type) ? [{ index, isShort: type !== 'text' && !type.startsWith('numeric') }] : [];
  });
}

/** The table of a view, if it has the rows of a SELECT. */
export type TableOfView = (view: ViewDef, select: ViewSelect) => CachedTable | undefined;

/** The cached views of a statement. */
export class CachedViews implements ViewTables {
  readonly #names: ReadonlySet<string>;
  readonly #tableOf: TableOfView;
  readonly #trials: Budget | undefined;
  readonly #known = new Map<ViewDef, Cached | undefined>();

  /**
   * @param names the folded names of the views that have a table
   * @param trials budget of the plans that are compared with the tables
   */
  constructor(names: ReadonlySet<string>, tableOf: TableOfView, trials?: Budget) {
    this.#trials = trials;
    this.#names = names;
    this.#tableOf = tableOf;
  }

  item(state: PlanState, view: ViewDef): MadeItem | undefined {
    if (!this.#names.has(fold(view.name))) return undefined;
    if (!this.#known.has(view)) this.#known.set(view, this.#find(state.context, view));
    const cached = this.#known.get(view);
    return cached && read(state, cached);
  }

  #find(context: PlanContext, view: ViewDef): Cached | undefined {
    const made = triedPlan(() => viewSelect(context, view), this.#trials);
    const table = made === undefined || typeof made === 'string' ? undefined : this.#tableOf(view, made);
    return made === undefined || typeof made === 'string' || table === undefined ? undefined : { select: made, table };
  }
}

interface Cached {
  readonly select: ViewSelect;
  readonly table: CachedTable;
}

/** The rows of a view in its table. */
function read(state: PlanState, { select: made, table }: Cached): MadeItem {
  const { schema, name } = table;
  const names = made.columns.map((_, i) => cachedColumn(i));
  state.texts.datasources.add(made.datasource);
  state.texts.caches.add(table);
  state.texts.declared.add({ schema, name, columns: new Set(names), isWhole: false }, []);
  state.texts.declared.isExact &&= made.state.texts.declared.isExact;
  state.facts.include(made.state.facts);
  for (const measure of made.state.dividing) state.dividing.add(measure);
  const query = select({
    targetList: names.map((n) => target(column('m', n), n)),
    fromClause: [{ RangeVar: { schemaname: schema, relname: name, inh: true, relpersistence: 'p', alias: { aliasname: 'm' } } }],
  });
  return { query: { SelectStmt: query }, columns: made.columns };
}
