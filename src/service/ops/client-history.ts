/**
 * The conversations of clients with their own language model: they report each question with its answer, and read the conversation back before the next one
 * (docs/python.md). A caller reads what it reported with the same rights and claims.
 */
import { sha256 } from '../../auth/tokens.ts';
import { type ReportedQuestion, readMessages, type StoredMessage, writeReported } from '../../catalog/client-history.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { findOntology, visibleOntologies } from '../caller/lookup.ts';
import { ownerOf } from '../caller/owner.ts';
import { rightsOf } from '../caller/reading-rights.ts';
import { claimsKeyOf, historyEntry, type QuestionRecord, storable } from '../describe/history.ts';
import type { ServiceRequest } from '../runtime.ts';

/** A question as a client reports it. */
export interface ClientQuestion extends Omit<QuestionRecord, 'conversation'> {
  readonly queryId: string;
  readonly parentQueryId: string | null;
  readonly isFollowUp: boolean | null;
  readonly answer: string | null;
  readonly conversationId: string | null;
}

/** A message of a conversation as the public clients read it. */
export interface ConversationMessage {
  readonly message_id: string;
  readonly question: string;
  readonly answer: string;
  readonly sql: string;
  readonly concept: string | null;
  readonly ontology: string | null;
  readonly is_follow_up: boolean;
  readonly parent_query_id: string | null;
  readonly created: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MOST_MESSAGES = 50;

/** The UUID of a conversation: clients name conversations by any text. */
async function conversationUuid(text: string): Promise<string> {
  const id = text.trim().toLowerCase();
  if (UUID.test(id)) return id;
  const digest = await sha256(`conversation ${text.trim()}`);
  return [digest.slice(0, 8), digest.slice(8, 12), digest.slice(12, 16), digest.slice(16, 20), digest.slice(20, 32)].join('-');
}

/** What a caller must have to read a message: the same owner with the same rights on the ontology. */
async function keyOf(request: ServiceRequest, row: OntologyRow | undefined): Promise<string> {
  const { principal } = request.caller;
  const digest = row === undefined ? '' : (await rightsOf(request.caller, row)).digest;
  return sha256(JSON.stringify([await ownerOf(principal), digest]));
}

/** Stores a question that the client answered. Its rows are not stored. @throws SvcError 503 */
export async function reportQuestion(request: ServiceRequest, question: ClientQuestion): Promise<void> {
  const row = question.ontology === null ? undefined : findOntology(request.caller, question.ontology);
  const id = question.conversationId?.trim() ?? '';
  const conversation = id === '' ? null : { id: await conversationUuid(id), key: await keyOf(request, row) };
  const entry = await historyEntry(request, { ...question, conversation });
  const orNull = (text: string | null, max: number): string | null => (text === null ? null : storable(text, max));
  const reported: ReportedQuestion = {
    ...entry,
    queryId: storable(question.queryId, 100),
    parentQueryId: orNull(question.parentQueryId, 100),
    isFollowUp: question.isFollowUp,
    answer: orNull(question.answer, 4000),
  };
  await writeReported(request.runtime.db, reported);
}

/**
 * Reads the last `top` messages of a conversation and those that they follow, oldest first. A conversation that does not exist or that belongs to somebody else has none.
 * @throws SvcError 503
 */
export async function conversationMessages(request: ServiceRequest, conversation: string, top: number): Promise<readonly ConversationMessage[]> {
  const { userId } = request.caller.principal;
  const claimsKey = await claimsKeyOf(request.caller.principal);
  const stored = await readMessages(request.runtime.db, { userId, conversation: await conversationUuid(conversation), claimsKey });
  const rows = new Map(visibleOntologies(request.caller.snapshot, request.caller.principal).map((o) => [o.id, o]));
  const keys = new Map<string | null, string>();
  const own: StoredMessage[] = [];
  for (const message of stored) {
    const row = message.ontologyId === null ? undefined : rows.get(message.ontologyId);
    if (message.ontologyId !== null && row === undefined) continue;
    const key = keys.get(message.ontologyId) ?? (await keyOf(request, row));
    keys.set(message.ontologyId, key);
    if (message.key === key) own.push(message);
  }
  const newest = new Set(own.slice(-Math.min(Math.max(1, top), MOST_MESSAGES)));
  const byId = new Map(own.map((m) => [m.id, m]));
  for (const message of newest) {
    const parent = message.parentQueryId === null ? undefined : byId.get(message.parentQueryId);
    if (parent !== undefined) newest.add(parent);
  }
  return own.filter((m) => newest.has(m)).map(messageOf);
}

const messageOf = (m: StoredMessage): ConversationMessage => ({
  message_id: m.id,
  question: m.question,
  answer: m.answer ?? '',
  sql: m.query ?? '',
  concept: m.concept,
  ontology: m.ontology,
  is_follow_up: m.isFollowUp ?? false,
  parent_query_id: m.parentQueryId,
  created: m.started,
});
