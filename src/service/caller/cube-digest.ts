/** Digests of cached cubes, and how the SELECT of their tables is planned for no caller. */
import { createHash } from 'node:crypto';
import { SvcError } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { type CubeSelect, cubeSelect } from '../../planner/cached/select.ts';
import type { PlanContext } from '../../planner/index.ts';
import type { Runtime } from '../runtime.ts';

/** Plans with the whole model, without policies. */
export const cubeContext = ({ parser, config }: Pick<Runtime, 'parser' | 'config'>, graph: Graph): PlanContext => ({
  graph: graph.whole,
  parser,
  product: config.product,
  activeDatasource: 'main',
});

/** The SELECT of the table of a cube, for no caller; undefined if it cannot be cached. */
export function selectOfCube(runtime: Pick<Runtime, 'parser' | 'config'>, graph: Graph, view: ViewDef): CubeSelect | undefined {
  try {
    const select = cubeSelect(cubeContext(runtime, graph), view);
    return typeof select === 'string' ? undefined : select;
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}

/** A digest of the SELECT of a cube's table and of its datasource, as 24 hexadecimal digits. */
export const cubeDigest = ({ sql, datasource }: Pick<CubeSelect, 'sql' | 'datasource'>): string =>
  createHash('sha256')
    .update(JSON.stringify([sql, datasource.toLowerCase()]))
    .digest('hex')
    .slice(0, 24);
