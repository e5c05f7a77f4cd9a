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
}

export type HistoryLine = Omit<HistoryEntry, 'userId'>;

const WRITE = sql`INSERT INTO kg_catalog.agents_history
    (user_id, user_name, actor, agent_name, ontology_id, ontology, question, concept, query, status, started, duration_ms, tokens, tries, error)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::timestamptz, $12, $13, $14, $15)`;

/** Stores a question. @throws SvcError 503 */
export async function writeHistory(db: CatalogDb, e: HistoryEntry): Promise<void> {
  const { userId, user, actor, agent, ontologyId, ontology, question, concept, query, status, started, durationMs, tokens, tries, error } = e;
  await db.query(WRITE, [userId, user, actor, agent, ontologyId, ontology, question, concept, query, status, started, durationMs, tokens, tries, error]);
}

// the newest entries, limited in number and in total characters
const READ = sql`SELECT coalesce(json_agg(json_build_object('user', user_name, 'actor', actor, 'agent', agent_name, 'ontologyId', ontology_id, 'ontology', ontology,
    'question', question, 'concept', concept, 'query', query, 'status', status, 'started', (to_json(started AT TIME ZONE 'UTC') #>> '{}') || '+00:00', 'durationMs', duration_ms, 'tokens', tokens, 'tries', tries,
    'error', error) ORDER BY started DESC, id DESC), '[]')::text AS lines
  FROM (SELECT h.*, sum(300 + length(question) + coalesce(length(query), 0) + coalesce(length(error), 0)) OVER (ORDER BY started DESC, id DESC) AS size
    FROM (SELECT * FROM kg_catalog.agents_history WHERE ($1::uuid IS NULL OR user_id = $1::uuid) AND ($2::uuid IS NULL OR ontology_id = $2::uuid)
      ORDER BY started DESC, id DESC LIMIT 10000) h) sized
  WHERE size <= 4000000`;

/** Reads questions, newest first: at most 10,000 and at most 4 million characters. @param of filters by user or ontology; null: no filter @throws SvcError 503 */
export async function readHistory(db: CatalogDb, of: { readonly userId: string | null; readonly ontologyId: string | null }): Promise<readonly HistoryLine[]> {
  try {
    const [row] = await db.query(READ, [of.userId, of.ontologyId]);
    return JSON.parse(String(row?.lines ?? '[]')) as HistoryLine[];
  } catch (error) {
    // the table does not exist until its migration is applied
    if (error instanceof DbError && error.sqlstate === '42P01') return [];
    throw error;
  }
}
