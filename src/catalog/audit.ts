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

/** A change of a model or of rights. */
export interface ChangeLine {
  /** ISO 8601. */
  readonly at: string;
  readonly user: string;
  /** The user who impersonated `user`. */
  readonly actor: string | null;
  /** The kinds of the statements. */
  readonly action: string;
  /** What the statements name; null for changes before this was stored. */
  readonly object: string | null;
  readonly ontology: string | null;
  readonly requestId: string | null;
}

// entries of requests have a status; limited in number and in total characters
const READ = sql`SELECT coalesce(json_agg(json_build_object('at', (to_json(at AT TIME ZONE 'UTC') #>> '{}') || '+00:00', 'user', user_name, 'actor', actor, 'action', action,
    'object', object, 'ontology', ontology, 'requestId', request_id) ORDER BY at DESC, id DESC), '[]')::text AS lines
  FROM (SELECT a.*, sum(300 + length(action) + coalesce(length(object), 0)) OVER (ORDER BY at DESC, id DESC) AS size
    FROM (SELECT * FROM kg_catalog.audit WHERE status IS NULL AND action NOT IN ('login', 'logout', 'give_token', 'oauth_grant', 'oauth_revoke')
      ORDER BY at DESC, id DESC LIMIT 10000) a) sized
  WHERE size <= 4000000`;

/** Reads the changes of models and rights, newest first: at most 10,000 and at most 4 million characters. @throws SvcError 503 */
export async function readChanges(db: CatalogDb): Promise<readonly ChangeLine[]> {
  const [row] = await db.query(READ, []);
  return JSON.parse(String(row?.lines ?? '[]')) as ChangeLine[];
}

/** A replacer for JSON.stringify: texts that PostgreSQL can store. A line with another text would be lost together with the lines of other requests. */
const storable = (_name: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value);

/** Inserts audit lines and adds to the counts of refused credentials. @param failures counts by error code @throws SvcError 503 */
export async function writeAudit(db: CatalogDb, lines: readonly AuditLine[], failures: ReadonlyMap<string, number>): Promise<void> {
  const counts = [...failures].map(([code, count]) => ({ code, count })).sort((a, b) => (a.code < b.code ? -1 : 1));
  await db.batch([
    ...(lines.length === 0 ? [] : [{ sql: WRITE, params: [JSON.stringify(lines, storable)] }]),
    ...(counts.length === 0 ? [] : [{ sql: COUNT, params: [JSON.stringify(counts)] }]),
  ]);
}
