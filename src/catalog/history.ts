/** What was asked of the AI tools, and what came of it (SYS_AGENTS_HISTORY). */
import { type CatalogDb, DbError, sql } from './db.ts';

/** One question. */
export interface HistoryEntry {
  /** Whom it was answered as. */
  readonly userId: string;
  readonly user: string;
  /** Who came in the user's place. */
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
  /** Of all calls of the language model, what was told and what was said. */
  readonly tokens: number;
  /** Queries that were tried. */
  readonly tries: number;
  readonly error: string | null;
}

export type HistoryLine = Omit<HistoryEntry, 'userId'>;

const WRITE = sql`INSERT INTO kg_catalog.agents_history
    (user_id, user_name, actor, agent_name, ontology_id, ontology, question, concept, query, status, started, duration_ms, tokens, tries, error)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::timestamptz, $12, $13, $14, $15)`;

/** @throws SvcError 503 */
export async function writeHistory(db: CatalogDb, e: HistoryEntry): Promise<void> {
  const { userId, user, actor, agent, ontologyId, ontology, question, concept, query, status, started, durationMs, tokens, tries, error } = e;
  await db.query(WRITE, [userId, user, actor, agent, ontologyId, ontology, question, concept, query, status, started, durationMs, tokens, tries, error]);
}

// the newest ones, as far as they fit: by their number, and by their characters in all
const READ = sql`SELECT coalesce(json_agg(json_build_object('user', user_name, 'actor', actor, 'agent', agent_name, 'ontologyId', ontology_id, 'ontology', ontology,
    'question', question, 'concept', concept, 'query', query, 'status', status, 'started', (to_json(started AT TIME ZONE 'UTC') #>> '{}') || '+00:00', 'durationMs', duration_ms, 'tokens', tokens, 'tries', tries,
    'error', error) ORDER BY started DESC, id DESC), '[]')::text AS lines
  FROM (SELECT h.*, sum(300 + length(question) + coalesce(length(query), 0) + coalesce(length(error), 0)) OVER (ORDER BY started DESC, id DESC) AS size
    FROM (SELECT * FROM kg_catalog.agents_history WHERE ($1::uuid IS NULL OR user_id = $1::uuid) AND ($2::uuid IS NULL OR ontology_id = $2::uuid)
      ORDER BY started DESC, id DESC LIMIT 10000) h) sized
  WHERE size <= 4000000`;

/** The newest questions, the newest first: 10,000 at most, and 4 million characters. `userId`, `ontologyId`: of these alone. @throws SvcError 503 */
export async function readHistory(db: CatalogDb, of: { readonly userId: string | null; readonly ontologyId: string | null }): Promise<readonly HistoryLine[]> {
  try {
    const [row] = await db.query(READ, [of.userId, of.ontologyId]);
    return JSON.parse(String(row?.lines ?? '[]')) as HistoryLine[];
  } catch (error) {
    // a catalog whose migrations are behind has none
    if (error instanceof DbError && error.sqlstate === '42P01') return [];
    throw error;
  }
}
