/** The syntax trees of the statements about caches and jobs. */
import type { Base, Name, TagList } from './statements.ts';

/** A text without quotes, with the start of its quote in the whole text of the request. */
export interface JobText {
  readonly text: string;
  readonly offset: number;
}
/** Caches the rows of a mapping, or refreshes them. */
export interface CacheMapping extends Base {
  readonly kind: 'cache_mapping';
  readonly name: Name;
  /** The datasource with the cached rows; null: that of the mapping. */
  readonly datasource: Name | null;
  /** null: as they are. */
  readonly options: TagList | null;
}
export interface UncacheMapping extends Base {
  readonly kind: 'uncache_mapping';
  readonly name: Name;
}
/** Caches partial aggregates of a cube or the rows of a view, or refreshes them. */
interface Caching<K> extends Base {
  readonly kind: K;
  readonly name: Name;
  /** null: as they are. */
  readonly options: TagList | null;
}
export type CacheCube = Caching<'cache_cube'>;
export type CacheView = Caching<'cache_view'>;
interface Uncaching<K> extends Base {
  readonly kind: K;
  readonly name: Name;
}
export type UncacheCube = Uncaching<'uncache_cube'>;
export type UncacheView = Uncaching<'uncache_view'>;
/** Checks and counts the data of the ontology. Only jobs run it. */
export interface ValidateData extends Base {
  readonly kind: 'validate_data';
  readonly name: Name;
}
/** The statements about caches. */
export type CachingStatement = CacheMapping | UncacheMapping | CacheCube | UncacheCube | CacheView | UncacheView;
/** What a job runs. */
export type JobRun = CacheMapping | CacheCube | CacheView | ValidateData;
export interface JobSchedule {
  readonly schedule: JobText;
  /** null: UTC. */
  readonly timezone: JobText | null;
}
export interface CreateJob extends Base, JobSchedule {
  readonly kind: 'create_job';
  readonly replace: boolean;
  readonly name: Name;
  readonly run: JobRun;
  /** The text of `run`. */
  readonly text: string;
}
export interface AlterJob extends Base {
  readonly kind: 'alter_job';
  readonly name: Name;
  readonly action: 'pause' | 'resume' | JobSchedule;
}
export interface RunJob extends Base {
  readonly kind: 'run_job';
  readonly name: Name;
}
export interface DropJob extends Base {
  readonly kind: 'drop_job';
  readonly name: Name;
  /** True for IF EXISTS. */
  readonly lenient: boolean;
}
