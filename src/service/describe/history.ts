/**
 * The history of questions (docs/design/statements-and-versions.md#history-of-questions). It is written after the answer, and shown to the user who asked and to
 * administrators.
 */
import type { Caller, Principal } from '../../auth/authenticate.ts';
import { sha256 } from '../../auth/tokens.ts';
import { type ConversationKey, type HistoryEntry, type HistoryLine, readHistory, writeHistory } from '../../catalog/history.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { loggedFault, SvcError } from '../../errors.ts';
import { findOntology, visibleOntologies } from '../caller/lookup.ts';
import type { Runtime, ServiceRequest } from '../runtime.ts';

/** A question and its outcome. */
export interface QuestionRecord {
  readonly agent: string | null;
  /** The name of the ontology, or null if the question failed before one was found. */
  readonly ontology: string | null;
  readonly question: string;
  readonly concept: string | null;
  /** The query that answered the question, or else the last query that was tried. */
  readonly query: string | null;
  /** The status, in one word. */
  readonly status: string;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly durationMs: number;
  readonly tokens: number;
  /** The number of queries that were tried. */
  readonly tries: number;
  /** The thrown error or an error message; null if there was none. For internal errors, only a generic message is stored. */
  readonly error: unknown;
  /** The conversation that the question belongs to. */
  readonly conversation?: ConversationKey | null;
}

const MAX_CHARACTERS = { question: 4000, query: 20_000, error: 2000 } as const;

/** Prepares a text for the catalog: well-formed, without NUL, at most `max` characters. */
export function storable(text: string, max: number): string {
  const clean = text.toWellFormed().replaceAll('\0', '\ufffd');
  const characters = [...clean.slice(0, 2 * max)];
  return characters.length <= max && clean.length <= 2 * max ? clean : `${characters.slice(0, max - 1).join('')}…`;
}

const toInteger = (n: number): number => (Number.isFinite(n) ? Math.min(Math.max(0, Math.round(n)), 2_000_000_000) : 0);

/** Stores a question in the background. An error is logged and does not affect the answer. */
export function recordQuestion(request: ServiceRequest, record: QuestionRecord): void {
  request.runtime.waitUntil(storeQuestion(request, record));
}

/** The same, for a caller that waits for it, because the next question of the conversation needs it. Never fails. */
export async function storeQuestion(request: ServiceRequest, record: QuestionRecord): Promise<void> {
  const { runtime } = request;
  await writeHistory(runtime.db, await historyEntry(request, record)).catch((error: unknown) => {
    runtime.log({ level: 'error', event: 'history_failed', cause: loggedFault(error).message });
  });
}

/** The entry of a question, with texts that the catalog can store. */
export async function historyEntry({ caller }: ServiceRequest, record: QuestionRecord): Promise<HistoryEntry> {
  const { principal } = caller;
  const row = record.ontology === null ? undefined : findOntology(caller, record.ontology);
  const orNull = (text: string | null, max: number): string | null => (text === null ? null : storable(text, max));
  return {
    userId: principal.userId,
    user: principal.name,
    actor: principal.actor?.name ?? null,
    agent: orNull(record.agent, 128),
    ontologyId: row?.id ?? null,
    ontology: row?.name ?? null,
    question: storable(record.question, MAX_CHARACTERS.question),
    concept: orNull(record.concept, 128),
    query: orNull(record.query, MAX_CHARACTERS.query),
    status: storable(record.status, 40),
    started: new Date(record.started).toISOString(),
    durationMs: toInteger(record.durationMs),
    tokens: toInteger(record.tokens),
    tries: toInteger(record.tries),
    error: orNull(errorText(record.error), MAX_CHARACTERS.error),
    conversation: record.conversation ?? null,
    claimsKey: await claimsKeyOf(principal),
  };
}

/** A digest of the claims of a credential, or null if it has no claims. */
export async function claimsKeyOf({ claims }: Principal): Promise<string | null> {
  const entries = Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? null : sha256(JSON.stringify(entries));
}

function errorText(error: unknown): string | null {
  if (error === null || error === undefined) return null;
  if (typeof error === 'string') return error;
  return error instanceof SvcError ? error.message : 'The service failed to answer this request';
}

/**
 * Returns the questions that a caller sees, newest first: those that it asked with the same claims, because queries contain values that other claims may not see, or
 * those of all users for administrators. The number is limited as in `readHistory`.
 * @param ontology only questions about this ontology; undefined: questions about all ontologies that the caller sees
 * @throws SvcError 503
 */
export async function visibleHistory(runtime: Runtime, { principal, snapshot }: Caller, ontology: OntologyRow | undefined): Promise<readonly HistoryLine[]> {
  const lines = await readHistory(runtime.db, {
    user: principal.isAdmin ? null : { userId: principal.userId, claimsKey: await claimsKeyOf(principal) },
    ontologyId: ontology?.id ?? null,
  });
  if (principal.isAdmin || ontology !== undefined) return lines;
  const seen = new Set(visibleOntologies(snapshot, principal).map((o) => o.id));
  return lines.filter((line) => line.ontologyId === null || seen.has(line.ontologyId));
}
