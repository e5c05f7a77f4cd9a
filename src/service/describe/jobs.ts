/** The jobs of an ontology, for SYS_JOBS. */
import { can } from '../../auth/grants.ts';
import { listJobs, type StoredJob } from '../../catalog/jobs.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import type { Graph } from '../../ontology/graph.ts';
import { knowsJob } from '../caller/job-sight.ts';
import { lackForValidation } from '../caller/validation.ts';
import type { Session } from '../session.ts';

/** A line of SYS_JOBS. */
export interface JobLine {
  readonly name: string;
  readonly type: string;
  readonly target: string;
  readonly schedule: string;
  readonly timezone: string;
  readonly status: 'scheduled' | 'running' | 'succeeded' | 'failed' | 'paused';
  readonly lastRun: string | null;
  readonly nextRun: string | null;
  readonly message: string | null;
  readonly maker: string;
  readonly statement: string;
}

const TYPES: Readonly<Record<string, string>> = {
  cache_mapping: 'CACHE MAPPING',
  cache_cube: 'CACHE CUBE',
  cache_view: 'CACHE VIEW',
  validate_data: 'VALIDATE DATA',
};
const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

function statusOf({ runUntil, paused, failures, ended }: StoredJob): JobLine['status'] {
  if (runUntil !== null) return 'running';
  if (paused) return 'paused';
  return failures > 0 ? 'failed' : ended === null ? 'scheduled' : 'succeeded';
}

/**
 * Reads the jobs of an ontology, for those who may edit it, without those that cache a mapping that the caller does not see.
 * @param graph the part that the caller sees
 * @throws SvcError 503
 */
export async function visibleJobs({ caller, request }: Session, ontology: OntologyRow, graph: Graph): Promise<readonly JobLine[]> {
  if (!can(caller.principal, 'edit', ['ontology', ontology.name])) return [];
  const jobs = (await listJobs(request.runtime.db, ontology.id)).filter((job) => knowsJob(caller.principal, graph, job));
  return jobs.map((job) => ({
    name: job.name,
    type: TYPES[job.kind] ?? job.kind,
    target: job.target,
    schedule: job.schedule,
    timezone: job.timezone,
    status: statusOf(job),
    lastRun: iso(job.started),
    nextRun: iso(job.nextRun),
    message: job.message === null || readsMessage(job) ? job.message : job.failures > 0 ? 'the run failed' : 'the run ended',
    maker: job.makerName,
    statement: job.statement,
  }));

  /** A message may quote a value of the datasource, and has a number of rows. */
  function readsMessage({ target, kind }: StoredJob): boolean {
    if (kind === 'validate_data') return lackForValidation(caller, ontology, graph) === undefined;
    const { mappings, views } = graph.whole.model;
    const mayEdit = (datasource: string): boolean => can(caller.principal, 'edit', ['datasource', datasource]);
    if (kind !== 'cache_mapping') return [...mappings, ...views].every((m) => m.datasource === null || mayEdit(m.datasource));
    const datasource = graph.whole.mapping(target)?.datasource;
    return datasource === undefined ? caller.principal.isAdmin : mayEdit(datasource);
  }
}
