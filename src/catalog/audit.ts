/** Writes the audit of requests and the counts of failed authentications. Audit entries of changes are written in the transaction of the change (changes.ts). */
import { type CatalogDb, sql } from './db.ts';

/** A request that was answered or refused. Contains neither its values nor its answer. */
export interface AuditLine {
  /** Time of arrival, ISO 8601. */
  readonly at: string;
  readonly user: string;
  /** The user who impersonated `user`. */
  readonly actor: string | null;
  /** Kind of credential. */
  readonly credential: string;
  /** Method and route. */
  readonly action: string;
  readonly ontology: string | null;
  /** Digest of the statement without its values. */
  readonly digest: string | null;
  readonly request_id: string;
  readonly status: number;
  readonly code: string | null;
  readonly rows: number | null;
  readonly duration_ms: number;
}

const WRITE = sql`INSERT INTO kg_catalog.audit (at, user_name, actor, credential, action, ontology, digest, request_id, status, code, rows, duration_ms)
  SELECT at, "user", actor, credential, action, ontology, digest, request_id, status, code, rows, duration_ms FROM json_to_recordset($1::json) AS l(
    at timestamptz, "user" text, actor text, credential text, action text, ontology text, digest text, request_id text, status int, code text, rows bigint, duration_ms int)`;
const COUNT = sql`INSERT INTO kg_catalog.audit_failures (hour, code, count)
  SELECT date_trunc('hour', now()), code, count FROM json_to_recordset($1::json) AS f(code text, count bigint)
  ON CONFLICT (hour, code) DO UPDATE SET count = kg_catalog.audit_failures.count + excluded.count`;

/** Inserts audit lines and adds to the counts of refused credentials. @param failures counts by error code @throws SvcError 503 */
export async function writeAudit(db: CatalogDb, lines: readonly AuditLine[], failures: ReadonlyMap<string, number>): Promise<void> {
  const counts = [...failures].map(([code, count]) => ({ code, count })).sort((a, b) => (a.code < b.code ? -1 : 1));
  await db.batch([
    ...(lines.length === 0 ? [] : [{ sql: WRITE, params: [JSON.stringify(lines)] }]),
    ...(counts.length === 0 ? [] : [{ sql: COUNT, params: [JSON.stringify(counts)] }]),
  ]);
}
