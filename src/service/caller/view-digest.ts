/** Digests of cached cubes and views, and how the SELECT of their tables is planned for no caller. */
import { createHash } from 'node:crypto';
import { type Budget, STEPS_OF_A_CHARACTER, visited } from '../../budget.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { type CubeSelect, cubeSelect, decides, limitedPlan, triedPlan, type UncacheableCube } from '../../planner/cached/select.ts';
import { type UncacheableView, type ViewSelect, viewSelect } from '../../planner/cached/views.ts';
import type { PlanContext } from '../../planner/index.ts';
import type { Runtime } from '../runtime.ts';

type Planning = Pick<Runtime, 'parser' | 'config'>;
type Made = CubeSelect | ViewSelect | UncacheableCube | UncacheableView;

/** Plans the SELECT of the table of a cube or view with the whole model, without policies; or returns why it cannot be cached. */
function planned({ parser, config }: Planning, graph: Graph, view: ViewDef): Made {
  const context: PlanContext = { graph: graph.whole, parser, product: config.product, activeDatasource: 'main' };
  return view.cube ? cubeSelect(context, view) : viewSelect(context, view);
}

/**
 * The same within a budget, with the verification of the SQL.
 * @throws SvcError 400 `too_complex`, and as a query on the cube or view
 */
export const plannedForNobody = (runtime: Planning, graph: Graph, view: ViewDef, budget: Budget): Made =>
  budget.run(() => {
    const made = limitedPlan(`the plan of the ${view.cube ? 'cube' : 'view'} \`${view.name}\``, () => planned(runtime, graph, view));
    if (typeof made !== 'string') visited(made.sql.length * STEPS_OF_A_CHARACTER);
    return made;
  });

/** The datasource of the table of a cube or view, and a digest of what decides its rows; undefined if it cannot be cached, or if its plan becomes too large for the budget. */
export function digestForNobody(runtime: Planning, graph: Graph, view: ViewDef, budget: Budget): { datasource: string; digest: string } | undefined {
  const select = triedPlan(() => planned(runtime, graph, view), budget);
  return select === undefined || typeof select === 'string' ? undefined : { datasource: select.datasource, digest: viewDigest(select) };
}

/** A digest of the SELECT of a table and of what it reads, as 24 hexadecimal digits. */
export const viewDigest = (select: Parameters<typeof decides>[0]): string => createHash('sha256').update(decides(select)).digest('hex').slice(0, 24);
