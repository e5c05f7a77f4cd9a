/** What the hourly cron job deletes. */
import { type CatalogDb, sql } from './db.ts';

const OLD_AUDIT = sql`DELETE FROM kg_catalog.audit WHERE at < now() - make_interval(days => $1::int)`;
const OLD_HISTORY = sql`DELETE FROM kg_catalog.agents_history WHERE started < now() - make_interval(days => $1::int)`;
const OLD_FAILURES = sql`DELETE FROM kg_catalog.audit_failures WHERE hour < now() - make_interval(days => $1::int)`;
const ENDED_SESSIONS = sql`DELETE FROM kg_catalog.ended_sessions WHERE until < now()`;
// longer than any pause between two runs
const OLD_STARTS = sql`DELETE FROM kg_catalog.job_starts WHERE started < now() - interval '1 day'`;
const DEAD_TOKENS = sql`DELETE FROM kg_catalog.tokens WHERE expires < now() - interval '30 days' OR revoked < now() - interval '30 days'`;

/** So many versions of each ontology are always kept: the current one, which requests of up to a minute ago may still use, and those before it. */
const NEWEST = 20;
const OLD_VERSIONS = sql`DELETE FROM kg_catalog.ontology_versions v USING kg_catalog.ontologies o
  WHERE o.id = v.ontology_id AND v.version <> o.version AND v.seq <= o.seq - $2::int AND v.created < now() - make_interval(days => $1::int)`;

/** Days for which rows are kept. */
interface Retention {
  readonly auditRetentionDays: number;
  readonly historyRetentionDays: number;
  /** 0: for ever. */
  readonly versionRetentionDays: number;
}

/** Deletes rows that are older than their retention period. @throws SvcError 503 */
export async function housekeeping(db: CatalogDb, { auditRetentionDays, historyRetentionDays, versionRetentionDays }: Retention): Promise<void> {
  await db.batch([
    { sql: OLD_AUDIT, params: [auditRetentionDays] },
    { sql: OLD_FAILURES, params: [auditRetentionDays] },
    { sql: OLD_HISTORY, params: [historyRetentionDays] },
    { sql: DEAD_TOKENS, params: [] },
    { sql: ENDED_SESSIONS, params: [] },
    { sql: OLD_STARTS, params: [] },
    ...(versionRetentionDays === 0 ? [] : [{ sql: OLD_VERSIONS, params: [versionRetentionDays, NEWEST] }]),
  ]);
}

/** Runs the parts of the hourly work one after the other. One that fails does not prevent the next ones. @throws the first fault, after all parts */
export async function inTurn(parts: readonly (() => Promise<void>)[]): Promise<void> {
  const faults: unknown[] = [];
  for (const part of parts) await part().catch((fault: unknown) => faults.push(fault));
  if (faults.length > 0) throw faults[0];
}
