/** Questions that clients with their own language model report, and the messages of a conversation. Both are rows of `agents_history`. */
import { type CatalogDb, sql } from './db.ts';
import type { HistoryEntry } from './history.ts';

/** A question that a client answered. */
export interface ReportedQuestion extends HistoryEntry {
  readonly queryId: string;
  readonly parentQueryId: string | null;
  readonly isFollowUp: boolean | null;
  readonly answer: string | null;
}

/** A message of a conversation, and what decides which callers may read it. */
export interface StoredMessage {
  /** The client's name of the question, or else the number of the row. */
  readonly id: string;
  readonly question: string;
  readonly answer: string | null;
  readonly query: string | null;
  readonly concept: string | null;
  readonly isFollowUp: boolean | null;
  readonly parentQueryId: string | null;
  readonly ontologyId: string | null;
  readonly ontology: string | null;
  readonly key: string | null;
  /** ISO 8601 in UTC. */
  readonly started: string;
}

/** The number of reported questions of a user that are kept. */
const MOST_REPORTED = 1000;

const REPORT = sql`INSERT INTO kg_catalog.agents_history
    (user_id, user_name, actor, agent_name, ontology_id, ontology, question, concept, query, status, started, duration_ms, tokens, tries, error, conversation,
     conversation_key, claims_key, query_id, parent_query_id, is_follow_up, answer)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::timestamptz, $12, $13, $14, $15, $16::uuid, $17, $18, $19, $20, $21, $22)`;
const DROP_OLD = sql`DELETE FROM kg_catalog.agents_history WHERE user_id = $1 AND query_id IS NOT NULL AND id <=
  (SELECT id FROM kg_catalog.agents_history WHERE user_id = $1 AND query_id IS NOT NULL ORDER BY id DESC OFFSET $2::int LIMIT 1)`;

/** Stores a reported question, and deletes the oldest ones of a user with too many. @throws SvcError 503 */
export async function writeReported(db: CatalogDb, e: ReportedQuestion): Promise<void> {
  const { id, key } = e.conversation ?? { id: null, key: null };
  const question = [e.userId, e.user, e.actor, e.agent, e.ontologyId, e.ontology, e.question, e.concept, e.query, e.status, e.started];
  const outcome = [e.durationMs, e.tokens, e.tries, e.error, id, key, e.claimsKey, e.queryId, e.parentQueryId, e.isFollowUp, e.answer];
  await db.batch([
    { sql: REPORT, params: [...question, ...outcome] },
    { sql: DROP_OLD, params: [e.userId, MOST_REPORTED] },
  ]);
}

const MESSAGES = sql`SELECT coalesce(json_agg(json_build_object('id', coalesce(query_id, id::text), 'question', question, 'answer', answer, 'query', query, 'concept', concept,
    'isFollowUp', is_follow_up, 'parentQueryId', parent_query_id, 'ontologyId', ontology_id, 'ontology', ontology, 'key', conversation_key,
    'started', (to_json(started AT TIME ZONE 'UTC') #>> '{}') || '+00:00') ORDER BY t.row), '[]')::text AS messages
  FROM (SELECT h.*, h.id AS row, sum(300 + length(question) + coalesce(length(answer), 0) + coalesce(length(query), 0)) OVER (ORDER BY h.id DESC) AS size
    FROM (SELECT * FROM kg_catalog.agents_history
      WHERE user_id = $1 AND conversation = $2::uuid AND claims_key IS NOT DISTINCT FROM $3::text AND status IN ('success', 'clarify', 'completed', 'completed_no_results')
      ORDER BY id DESC LIMIT 200) h) t
  WHERE size <= 1000000`;

/** Reads the newest answered questions of a user's conversation with the same claims, oldest first: at most 200 and at most a million characters. @throws SvcError 503 */
export async function readMessages(
  db: CatalogDb,
  of: { readonly userId: string; readonly conversation: string; readonly claimsKey: string | null },
): Promise<readonly StoredMessage[]> {
  const [row] = await db.query(MESSAGES, [of.userId, of.conversation, of.claimsKey]);
  return JSON.parse(String(row?.messages ?? '[]')) as StoredMessage[];
}
