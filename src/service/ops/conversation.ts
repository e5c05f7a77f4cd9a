/**
 * Conversations: the earlier questions of one user, which a question may refer to (docs/design/mcp.md#conversations). They belong to the user, the claims of its
 * credential and the user who impersonates it. A change of its rights ends them.
 */
import { sha256 } from '../../auth/tokens.ts';
import { type ConversationKey, readTurns, type Turn } from '../../catalog/history.ts';
import { requireOntology, upToDate } from '../caller/lookup.ts';
import { ownerOf } from '../caller/owner.ts';
import { rightsOf } from '../caller/reading-rights.ts';
import type { ServiceRequest } from '../runtime.ts';

/** A conversation about an ontology, as the caller may continue it. */
export interface Conversation {
  readonly key: ConversationKey;
  /** Oldest first. */
  readonly turns: readonly Turn[];
}

/** Finds a conversation. One that does not exist, or that belongs to somebody else, has no turns. @throws SvcError 404 `unknown_ontology`, 503 */
export async function conversationOf(request: ServiceRequest, ontology: string, id: string, most: number): Promise<Conversation> {
  const caller = await upToDate(request, ontology);
  const row = requireOntology(caller, ontology);
  const { principal } = caller;
  const { digest } = await rightsOf(caller, row);
  const key: ConversationKey = { id, key: await sha256(JSON.stringify([await ownerOf(principal), digest])) };
  if (most <= 0) return { key, turns: [] };
  return { key, turns: await readTurns(request.runtime.db, { userId: principal.userId, ontologyId: row.id, conversation: key }, most) };
}
