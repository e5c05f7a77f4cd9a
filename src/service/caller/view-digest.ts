/** Digests of cached cubes and views, and how the SELECT of their tables is planned for no caller. */
import { createHash } from 'node:crypto';
import type { Graph } from '../../ontology/graph.ts';
import { isRaw, type ViewDef } from '../../ontology/model.ts';
import { type CubeSelect, cubeSelect, triedPlan, type UncacheableCube } from '../../planner/cached/select.ts';
import { type UncacheableView, type ViewSelect, viewSelect } from '../../planner/cached/views.ts';
import type { PlanContext } from '../../planner/index.ts';
import type { Runtime } from '../runtime.ts';

/**
 * Plans the SELECT of the table of a cube or view with the whole model, without policies; or returns why it cannot be cached.
 * @throws SvcError as a query on it
 */
export function plannedForNobody(
  { parser, config }: Pick<Runtime, 'parser' | 'config'>,
  graph: Graph,
  view: ViewDef,
): CubeSelect | ViewSelect | UncacheableCube | UncacheableView {
  const context: PlanContext = { graph: graph.whole, parser, product: config.product, activeDatasource: 'main' };
  return view.cube ? cubeSelect(context, view) : viewSelect(context, view);
}

/** The datasource of the table of a cube or view, and a digest of what decides its rows; undefined if it cannot be cached. */
export function digestForNobody(runtime: Pick<Runtime, 'parser' | 'config'>, graph: Graph, view: ViewDef): { datasource: string; digest: string } | undefined {
  const select = triedPlan(() => plannedForNobody(runtime, graph, view));
  return select === undefined || typeof select === 'string' ? undefined : { datasource: select.datasource, digest: viewDigest(view, select) };
}

/** A digest of the SELECT of a table and of its datasource, as 24 hexadecimal digits; of a raw view also of the types of its columns. */
export const viewDigest = (view: ViewDef, { sql, datasource }: Pick<CubeSelect, 'sql' | 'datasource'>): string =>
  createHash('sha256')
    .update(JSON.stringify([sql, datasource.toLowerCase(), ...(isRaw(view) ? view.columns.map((c) => [c.type, c.modifier, c.collation]) : [])]))
    .digest('hex')
    .slice(0, 24);
