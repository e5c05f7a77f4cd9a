/** Decides which jobs a caller may see: a job reveals that the object which it caches exists. */
import type { Holder } from '../../auth/grants.ts';
import type { StoredJob } from '../../catalog/jobs.ts';
import { find } from '../../ontology/apply/lists.ts';
import type { Graph } from '../../ontology/graph.ts';
import { seesAll } from './sight.ts';

/**
 * True if a caller may see a job.
 * @param seen the part of the ontology that the caller sees
 */
export const knowsJob = (holder: Holder, seen: Graph, { kind, target }: Pick<StoredJob, 'kind' | 'target'>): boolean =>
  kind === 'validate_data' ||
  seesAll(holder, seen.ontology) ||
  find<{ readonly name: string }>(kind === 'cache_mapping' ? seen.model.mappings : seen.model.views, target) !== undefined;
