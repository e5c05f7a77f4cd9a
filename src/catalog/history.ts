/** Questions to the AI tools and their outcomes (SYS_AGENTS_HISTORY). */
import { type CatalogDb, DbError, sql } from './db.ts';

/** One question. */
export interface HistoryEntry {
  /** The user whose rights applied. */
  readonly userId: string;
  readonly user: string;
  /** The user who impersonated `user`. */
  readonly actor: string | null;
  readonly agent: string | null;
  readonly ontologyId: string | null;
  readonly ontology: string | null;
  readonly question: string;
  readonly concept: string | null;
  readonly query: string | null;
  readonly status: string;
  /** ISO 8601. */
  readonly started: string;
  readonly durationMs: number;
  /** Input and output tokens of all calls of the language model. */
  readonly tokens: number;
  /** Number of queries that were tried. */
  readonly tries: number;
  readonly error: string | null;
  /** The conversation that the question belongs to, or null for a single question. */
  readonly conversation: ConversationKey | null;
  /** A digest of the claims of the credential, or null if it has no claims. */
  readonly claimsKey: string | null;
}

/** A conversation of one user. */
export interface ConversationKey {
  /** The UUID that the client chose. */
  readonly id: string;
  /** A digest of the caller and its rights. */
  readonly key: string;
}

/** An earlier question of a conversation. */
export interface Turn {
  readonly question: string;
  readonly concept: string | null;
  readonly query: string | null;
}

export type HistoryLine = Omit<HistoryEntry, 'userId' | 'conversation' | 'claimsKey'>;

const WRITE = sql`INSERT INTO kg_catalog.agents_history
    (user_id, user_name, actor, agent_name, ontology_id, ontology, question, concept, query, status, started, duration_ms, tokens, tries, error, conversation,
     conversation_key, claims_key)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::timestamptz, $12, $13, $14, $15, $16::uuid, $17, $18)`;

/** Stores a question. @throws SvcError 503 */
export async function writeHistory(db: CatalogDb, e: HistoryEntry): Promise<void> {
  const { userId, user, actor, agent, ontologyId, ontology, question, concept, query, status, started, durationMs, tokens, tries, error } = e;
  const { id, key } = e.conversation ?? { id: null, key: null };
  await db.query(WRITE, [
    userId,
    user,
    actor,
    agent,
    ontologyId,
    ontology,
    question,
    concept,
    query,
    status,
    started,
    durationMs,
    tokens,
    tries,
    error,
    id,
    key,
    e.claimsKey,
  ]);
}

// the newest entries, limited in number and in total characters
const READ = sql`SELECT coalesce(json_agg(json_build_object('user', user_name, 'actor', actor, 'agent', agent_name, 'ontologyId', ontology_id, 'ontology', ontology,
    'question', question, 'concept', concept, 'query', query, 'status', status, 'started', (to_json(started AT TIME ZONE 'UTC') #>> '{}') || '+00:00', 'durationMs', duration_ms, 'tokens', tokens, 'tries', tries,
    'error', error) ORDER BY started DESC, id DESC), '[]')::text AS lines
  FROM (SELECT h.*, sum(300 + length(question) + coalesce(length(query), 0) + coalesce(length(error), 0)) OVER (ORDER BY started DESC, id DESC) AS size
    FROM (SELECT * FROM kg_catalog.agents_history WHERE ($1::uuid IS NULL OR user_id = $1::uuid AND claims_key IS NOT DISTINCT FROM $3::text) AND ($2::uuid IS NULL OR ontology_id = $2::uuid)
      ORDER BY started DESC, id DESC LIMIT 10000) h) sized
  WHERE size <= 4000000`;

/**
 * Reads questions, newest first: at most 10,000 and at most 4 million characters.
 * @param of filters by user and its claims, or by ontology; null: no filter
 * @throws SvcError 503
 */
export async function readHistory(
  db: CatalogDb,
  of: { readonly user: Pick<HistoryEntry, 'userId' | 'claimsKey'> | null; readonly ontologyId: string | null },
): Promise<readonly HistoryLine[]> {
  try {
    const [row] = await db.query(READ, [of.user?.userId ?? null, of.ontologyId, of.user?.claimsKey ?? null]);
    return JSON.parse(String(row?.lines ?? '[]')) as HistoryLine[];
  } catch (error) {
    // the table does not exist until its migration is applied
    if (error instanceof DbError && error.sqlstate === '42P01') return [];
    throw error;
  }
}

const TURNS = sql`SELECT coalesce(json_agg(json_build_object('question', question, 'concept', concept, 'query', query) ORDER BY id), '[]')::text AS turns
  FROM (SELECT id, question, concept, query FROM kg_catalog.agents_history
    WHERE user_id = $1 AND conversation = $2::uuid AND conversation_key = $3 AND ontology_id = $4 AND status IN ('success', 'clarify') ORDER BY id DESC LIMIT $5) t`;

/** Reads the last answered questions of a user's conversation about an ontology, oldest first. @throws SvcError 503 */
export async function readTurns(
  db: CatalogDb,
  of: { readonly userId: string; readonly ontologyId: string; readonly conversation: ConversationKey },
  most: number,
): Promise<readonly Turn[]> {
  const [row] = await db.query(TURNS, [of.userId, of.conversation.id, of.conversation.key, of.ontologyId, most]);
  return JSON.parse(String(row?.turns ?? '[]')) as Turn[];
}
