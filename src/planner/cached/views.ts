/** Cached views in FROM: a view whose rows are the same for the caller as for nobody is read from its table (docs/design/caches.md#cached-views). */
import type { Graph } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import type { OutColumn } from '../bind/relations.ts';
import { type MadeItem, viewItem } from '../bind/views.ts';
import { requireInterruptible } from '../effort/index.ts';
import { refuseOuterMeasures } from '../lower/aggregate/measures.ts';
import { lowerBlocks } from '../lower/finish.ts';
import type { PlanContext, ViewTables } from '../plan/context.ts';
import { column, select, subselect, target } from '../plan/tree.ts';
import { declaredType } from '../plan/wanted.ts';
import type { PlanState } from '../plan-state.ts';
import { printSelect, STATEMENT_LIMITS } from '../print/index.ts';
import { cachedColumn } from '../read/cached-rows.ts';
import type { Declared } from '../verify/index.ts';
import { isExact } from './partials.ts';
import { steadyState, type Uncacheable, uncacheable } from './select.ts';
import { CachedTables, readTable } from './tables.ts';

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

/** The cached views of a statement. */
export class CachedViews extends CachedTables<ViewSelect> implements ViewTables {
  protected override planned(context: PlanContext, view: ViewDef): ViewSelect | UncacheableView {
    return viewSelect(context, view);
  }

  item(state: PlanState, view: ViewDef): MadeItem | undefined {
    const cached = this.find(state, view);
    if (cached === undefined) return undefined;
    const { columns, state: made } = cached.select;
    const names = columns.map((_, i) => cachedColumn(i));
    state.texts.declared.isExact &&= made.texts.declared.isExact;
    return { query: { SelectStmt: readTable(state, cached, names) }, columns };
  }
}
