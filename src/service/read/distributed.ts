/** Distributed datasources (Citus): statements that one refuses are rewritten and planned again, and plans are made for where it has its tables. */
import { cacheOf } from '../../cache.ts';
import type { Datasource } from '../../engine/datasource.ts';
import { isDistributed, keepsNames, keyOf } from '../../engine/settings.ts';
import { SvcError } from '../../errors.ts';
import type { FinishedRewrite, Plan, Target } from '../../planner/index.ts';
import type { Session } from '../session.ts';
import { onDatasource } from './watched.ts';

/**
 * The rewrite for a plan that its datasource refused with an error; undefined if the error has another cause, or if the datasource is known to be undistributed. A refused
 * statement says nothing of its datasource, so nothing may be known of it yet. The rewrite is loaded when it is needed.
 */
export async function rewriteAfter(error: unknown, { isRewritten }: Plan, datasource: Datasource): Promise<FinishedRewrite | undefined> {
  if (isRewritten || !(error instanceof SvcError) || error.code !== 'feature_not_supported' || keepsNames(datasource)) return undefined;
  const { decorrelate } = await import('../../planner/lower/decorrelate.ts');
  return decorrelate;
}

/** A plan needs to know where a datasource has its tables. */
class TargetNeeded extends Error {
  readonly datasource: Datasource;

  constructor(datasource: Datasource) {
    super();
    this.datasource = datasource;
  }
}

interface Known {
  readonly target: Target | undefined;
  /** Equal for tables that are distributed in the same way. */
  readonly text: string;
  readonly at: number;
}

const known = cacheOf<Known>('targets');
const MAX_AGE_MS = 60_000;
const TIMEOUT_MS = 2_000;

/** Forgets where tables are, for tests. */
export const forgetTargets = (): void => known.clear();

/** Where distributed datasources have their tables, during the planning of one statement. It is read when a plan asks for it, and again when it is a minute old. */
export class Targets {
  readonly #session: Session;
  readonly #read = new Map<string, Target | undefined>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Undefined for a datasource that is not known to be distributed. @throws TargetNeeded */
  of(datasource: Datasource | undefined): Target | undefined {
    if (datasource === undefined || !isDistributed(datasource)) return undefined;
    const place = keyOf(datasource);
    if (this.#read.has(place)) return this.#read.get(place);
    const found = known.get(place);
    if (found === undefined || this.#session.request.runtime.now() - found.at >= MAX_AGE_MS) throw new TargetNeeded(datasource);
    return found.target;
  }

  /** Calls `make`, and calls it again after reading what it needs. @throws what `make` throws */
  async whileNeeded<T>(make: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await make();
      } catch (error) {
        if (!(error instanceof TargetNeeded)) throw error;
        await this.#load(error.datasource);
      }
    }
  }

  /** Reads where the tables are. If that fails, statements are planned without it. */
  async #load(datasource: Datasource): Promise<void> {
    const place = keyOf(datasource);
    const at = this.#session.request.runtime.now();
    const before = known.get(place);
    let [target, text] = [before?.target, before?.text ?? ''];
    try {
      const [{ placementsOf }, { keyUnions }] = await Promise.all([import('../../engine/placements.ts'), import('../../planner/lower/placed.ts')]);
      const placements = await onDatasource(this.#session, datasource.name, () => placementsOf(datasource, TIMEOUT_MS));
      const now = JSON.stringify([...placements]);
      if (now !== text) target = placements.size > 0 ? { apply: (statement, declared) => keyUnions(statement, placements, declared) } : undefined;
      text = now;
    } catch {
      [target, text] = [undefined, ''];
    }
    this.#read.set(place, target);
    known.set(place, { target, text, at }, 500 + 4 * text.length);
  }
}
