/** Where datasources on Citus have their tables: read from the catalog, and from the datasource if the catalog does not have it or has had it for some time. */
import { keepPlacements, storedPlacements } from '../../catalog/placements.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import type { Datasource } from '../../engine/datasource.ts';
import { httpEngine } from '../../engine/engine.ts';
import { placementsOf } from '../../engine/placements.ts';
import { isDistributed, knownRole } from '../../engine/settings.ts';
import { loggedLine } from '../../errors.ts';
import type { SqlParser } from '../../language/parser.ts';
import type { Placed, Placements, Plan, Target } from '../../planner/index.ts';
import { ANYWHERE, targetFor } from '../../planner/lower/placed.ts';
import { printSelect, STATEMENT_LIMITS } from '../../planner/print/index.ts';
import type { Declared } from '../../planner/verify/index.ts';
import { datasourceRow } from '../caller/datasource.ts';
import type { Runtime } from '../runtime.ts';
import type { Session } from '../session.ts';
import type { Places } from './distributed.ts';

const TIMEOUT_MS = 15_000;
/** An isolate does not read a datasource again while a read is younger: the snapshots with what was stored may be as old. */
const PAUSE_MS = 90_000;

type Store = Pick<Runtime, 'db' | 'waitUntil' | 'log'>;

/** When a datasource was last read to renew what the catalog has, by its variable. */
const renewed = new Map<string, number>();

/** What is known of a distributed datasource that does not say where it has its tables: each of them may be distributed. */
export const UNKNOWN: Places = { target: ANYWHERE, text: '' };
/** A database without Citus, on a server with it. */
const UNDISTRIBUTED: Places = { target: { apply: () => [] }, text: 'null' };

/** Forgets what was read, for tests. */
export const forgetRenewals = (): void => renewed.clear();

/** The function that reads where datasources have their tables, with that of a digest from the catalog. @returns what was known before if nothing has changed: a kept plan has the same target */
export const placesOf =
  (session: Pick<Session, 'caller' | 'request'>) =>
  async (datasource: Datasource, timeoutMs: number, before: Places | undefined, digest: string | undefined): Promise<Places> => {
    const text = await placementsText(session, datasource, timeoutMs, digest);
    return text === before?.text ? before : placesIn(text);
  };

function placesIn(text: string): Places {
  if (text === UNDISTRIBUTED.text) return UNDISTRIBUTED;
  const placements: Placements = new Map(JSON.parse(text) as [string, Placed | 'union' | null][]);
  return { target: targetFor(placements), text };
}

/** Where a datasource has its tables now. The catalog gets it, so other isolates know it after their next snapshots. If it does not say so, each table may be distributed. */
export const placesNow = (session: Pick<Session, 'caller' | 'request'>, datasource: Datasource): Promise<Places> =>
  placementsText(session, datasource, TIMEOUT_MS, undefined).then(placesIn, () => UNKNOWN);

/**
 * The JSON text of `Placements`, `null` without Citus: that with a digest, from the catalog; or from the datasource, and then the catalog gets it.
 * @throws SvcError if it cannot be read; Error if the catalog has another one by now
 */
async function placementsText(
  { caller, request }: Pick<Session, 'caller' | 'request'>,
  datasource: Datasource,
  timeoutMs: number,
  digest: string | undefined,
): Promise<string> {
  const { runtime } = request;
  if (digest !== undefined) {
    const text = await storedPlacements(runtime.db, datasource.name, digest);
    if (text === undefined) throw new Error('the snapshot is older than the catalog');
    return text;
  }
  const placements = await placementsOf(datasource, timeoutMs);
  const text = JSON.stringify(placements ? [...placements] : null);
  if (placements !== undefined) keep(runtime, datasourceRow(caller.snapshot, datasource.name)?.secret, text);
  return text;
}

/** Stores a text after the request. A failure is logged, and a later read stores the text. */
function keep({ db, waitUntil, log }: Store, secret: string | undefined, text: string | null): void {
  if (secret === undefined) return;
  waitUntil(keepPlacements(db, secret, text).catch((error: unknown) => log({ level: 'warn', event: 'placements_not_kept', message: loggedLine(error) })));
}

/** Reads after the request where a datasource has its tables, and stores it. @param isDue true: also if it was read a moment ago */
export function renewLater(runtime: Store & Pick<Runtime, 'now'>, snapshot: Pick<Snapshot, 'datasources'>, datasource: Datasource, isDue = false): void {
  const secret = datasourceRow(snapshot, datasource.name)?.secret;
  const now = runtime.now();
  if (secret === undefined || (!isDue && now - (renewed.get(secret) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS)) return;
  renewed.set(secret, now);
  const renew = async (): Promise<void> => {
    const placements = await placementsOf(datasource, TIMEOUT_MS);
    keep(runtime, secret, placements === undefined ? null : JSON.stringify([...placements]));
  };
  runtime.waitUntil(renew().catch((error: unknown) => runtime.log({ level: 'warn', event: 'placements_not_read', message: loggedLine(error) })));
}

/**
 * Where a datasource on Citus has its tables now, for statements that are not queries of a caller. If the datasource does not say so, each table may be distributed. No answer of such a
 * statement says that its plan was made for another kind of datasource, so the settings are read first if this isolate does not know them.
 * @returns undefined: nothing
 */
export async function targetNow(snapshot: Pick<Snapshot, 'datasources'>, datasource: Datasource | undefined): Promise<Target | undefined> {
  if (datasource === undefined) return undefined;
  try {
    if (!datasourceRow(snapshot, datasource.name)?.placed && !(await isOnCitus(datasource))) return undefined;
    const placements = await placementsOf(datasource, TIMEOUT_MS);
    return placements && targetFor(placements);
  } catch {
    return ANYWHERE;
  }
}

async function isOnCitus(datasource: Datasource): Promise<boolean> {
  if (knownRole(datasource) === undefined) await httpEngine.batch(datasource, [], { timeoutMs: TIMEOUT_MS, ownText: true, probes: true });
  return isDistributed(datasource);
}

/** A finished SELECT as a target needs it: the plan of the table of a cube or view knows no target, so that its digest is the same wherever the tables are. */
export function sqlFor(
  target: Target | undefined,
  parser: SqlParser,
  { sql, declared }: { readonly sql: string; readonly declared: Declared },
): Pick<Plan, 'sql' | 'relied'> {
  const statement = target && parser.parse(sql).stmts[0]?.stmt;
  if (!target || !statement || !('SelectStmt' in statement)) return { sql, relied: [] };
  const relied = [...new Set(target.apply(statement.SelectStmt, declared.tables))];
  return { sql: printSelect(statement.SelectStmt, STATEMENT_LIMITS), relied };
}
