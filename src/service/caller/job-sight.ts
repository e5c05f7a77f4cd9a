/** Which jobs a caller may know of: a job that caches a mapping or cube tells that there is such a mapping or cube. */
import type { Holder } from '../../auth/grants.ts';
import type { StoredJob } from '../../catalog/jobs.ts';
import { find } from '../../ontology/apply/lists.ts';
import type { Graph } from '../../ontology/graph.ts';
import { seesAll } from './sight.ts';

/**
 * Tells whether a caller may know of a job.
 * @param seen the part of the ontology that the caller sees
 */
export const knowsJob = (holder: Holder, seen: Graph, { kind, target }: Pick<StoredJob, 'kind' | 'target'>): boolean =>
  kind === 'validate_data' ||
  seesAll(holder, seen.ontology) ||
  find<{ readonly name: string }>(kind === 'cache_cube' ? seen.model.views : seen.model.mappings, target) !== undefined;
