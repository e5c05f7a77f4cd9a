/** Distributed datasources (Citus): statements that one refuses are rewritten and planned again, and plans are made for where it has its tables. */
import type { Snapshot } from '../../catalog/snapshot.ts';
import type { Datasource } from '../../engine/datasource.ts';
import { isDistributed, keepsNames } from '../../engine/settings.ts';
import { SvcError } from '../../errors.ts';
import type { FinishedRewrite, Plan, Target } from '../../planner/index.ts';
import { datasourceRow } from '../caller/datasource.ts';
import type { Session } from '../session.ts';
import { DatasourceFacts, factStore } from './facts.ts';
import { onDatasource } from './watched.ts';

/**
 * The rewrite for a plan that its datasource refused with an error; undefined if the error has another cause, or if the datasource is known to be undistributed. A refused
 * statement says nothing of its datasource, so nothing may be known of it yet. The rewrite is loaded when it is needed.
 */
export async function rewriteAfter(error: unknown, { isRewritten, nextRewrite }: Plan, datasource: Datasource): Promise<FinishedRewrite | undefined> {
  if (!(error instanceof SvcError) || error.code !== 'feature_not_supported' || keepsNames(datasource)) return undefined;
  if (isRewritten) return nextRewrite;
  const { decorrelate } = await import('../../planner/lower/decorrelate.ts');
  return decorrelate;
}

/** Where a datasource has its tables. */
export interface Places {
  readonly target: Target | undefined;
  /** Equal for tables that are distributed in the same way. */
  readonly text: string;
}

const PLACES = factStore<Places>('targets', {
  load: async (session) => (await import('./placements.ts')).placesOf(session),
  none: async () => (await import('./placements.ts')).UNKNOWN,
  bytesOf: ({ text }) => 500 + 4 * text.length,
});

/** Forgets where tables are, for tests. */
export const forgetTargets = (): void => PLACES.known.clear();

/**
 * True if a plan was made before the datasource was known to be distributed: its first answer says so. Citus may lose rows of such a statement, so it must be planned again
 * (docs/design/sql-shapes.md#unions-in-joins).
 */
export const isUnplaced = ({ target }: Plan, datasource: Datasource): boolean => target === undefined && isDistributed(datasource);

/** Where distributed datasources have their tables, during the planning of one statement. */
export class Targets extends DatasourceFacts<Places> {
  readonly #session: Session;

  constructor(session: Session) {
    super(session, PLACES);
    this.#session = session;
  }

  /** Undefined for a datasource that is not known to be distributed. What the catalog has decides, otherwise the settings of the datasource. @throws FactsNeeded */
  targetOf(datasource: Datasource | undefined): Target | undefined {
    if (datasource === undefined) return undefined;
    const { snapshot } = this.#session.caller;
    const placed = datasourceRow(snapshot, datasource.name)?.placed;
    if (!placed) return isDistributed(datasource) ? this.of(datasource).target : undefined;
    // older facts give slower plans, never other rows: what a plan relies on is checked with its rows
    if (snapshot.verifiedAt - placed.at >= 600_000)
      void import('./placements.ts').then((m) => m.renewLater(this.#session.request.runtime, snapshot, datasource));
    return this.of(datasource, placed.digest).target;
  }

  /** Reads again where a datasource has its tables. */
  async renew(datasource: Datasource): Promise<void> {
    const { placesNow } = await import('./placements.ts');
    const version = datasourceRow(this.#session.caller.snapshot, datasource.name)?.placed?.digest;
    this.replace(datasource, version, await onDatasource(this.#session, datasource.name, () => placesNow(this.#session, datasource)));
  }
}

/** True if a plan relied on a layout that its datasource does not have any more, or may not have. */
export const isOutdated = async (error: unknown, { relied }: Plan): Promise<boolean> =>
  relied.length > 0 && (await import('../../engine/placements.ts')).mayBeOutdated(error);

/** A part of the key of a plan: where the datasources of an ontology have their tables; empty without Citus. */
export const placedKey = ({ datasources }: Pick<Snapshot, 'datasources'>, attached: readonly string[]): string =>
  datasources.map((d) => (d.placed && attached.includes(d.key) ? `${d.key} ${d.placed.digest}` : '')).join('');
