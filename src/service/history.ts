/**
 * The history of questions (docs/design/statements-and-versions.md#history-of-questions): written after the answer, shown to the user who asked and to
 * administrators.
 */
import type { Caller } from '../auth/authenticate.ts';
import { type HistoryLine, readHistory, writeHistory } from '../catalog/history.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { loggedFault, SvcError } from '../errors.ts';
import { findOntology, visibleOntologies } from './lookup.ts';
import type { Runtime, ServiceRequest } from './runtime.ts';

/** A question, and what came of it. */
export interface Asked {
  readonly agent: string | null;
  /** The ontology's name; null: none was found. */
  readonly ontology: string | null;
  readonly question: string;
  readonly concept: string | null;
  /** The query that answered, or the last one that was tried. */
  readonly query: string | null;
  /** One word. */
  readonly status: string;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly durationMs: number;
  readonly tokens: number;
  /** Queries that were tried. */
  readonly tries: number;
  /** What was thrown, or what is wrong in the service's own words; null: nothing. Of an error that is not the caller's to see, only that there was one is kept. */
  readonly error: unknown;
}

const MOST_CHARACTERS = { question: 4000, query: 20_000, error: 2000 } as const;

/** A text as the catalog takes it: whole characters, no zero bytes, not longer than `most`. */
function kept(text: string, most: number): string {
  const clean = text.toWellFormed().replaceAll('\0', '\ufffd');
  const characters = [...clean.slice(0, 2 * most)];
  return characters.length <= most && clean.length <= 2 * most ? clean : `${characters.slice(0, most - 1).join('')}…`;
}

const whole = (n: number): number => (Number.isFinite(n) ? Math.min(Math.max(0, Math.round(n)), 2_000_000_000) : 0);

/** Takes a question down behind the answer; whatever happens to the entry, the answer stands. */
export function recordQuestion({ runtime, caller }: ServiceRequest, asked: Asked): void {
  const { principal } = caller;
  const row = asked.ontology === null ? undefined : findOntology(caller, asked.ontology);
  const orNull = (text: string | null, most: number): string | null => (text === null ? null : kept(text, most));
  const written = writeHistory(runtime.db, {
    userId: principal.userId,
    user: principal.name,
    actor: principal.actor?.name ?? null,
    agent: orNull(asked.agent, 128),
    ontologyId: row?.id ?? null,
    ontology: row?.name ?? null,
    question: kept(asked.question, MOST_CHARACTERS.question),
    concept: orNull(asked.concept, 128),
    query: orNull(asked.query, MOST_CHARACTERS.query),
    status: kept(asked.status, 40),
    started: new Date(asked.started).toISOString(),
    durationMs: whole(asked.durationMs),
    tokens: whole(asked.tokens),
    tries: whole(asked.tries),
    error: orNull(errorText(asked.error), MOST_CHARACTERS.error),
  }).catch((error: unknown) => {
    runtime.log({ level: 'error', event: 'history_failed', cause: loggedFault(error).message });
  });
  runtime.waitUntil(written);
}

function errorText(error: unknown): string | null {
  if (error === null || error === undefined) return null;
  if (typeof error === 'string') return error;
  return error instanceof SvcError ? error.message : 'The service failed to answer this request';
}

/**
 * The questions that a caller is told of, the newest first: its own, admins those of all; of the ontology, or without one of those that it
 * sees. Bounded as the catalog reads them.
 * @throws SvcError 503
 */
export async function toldHistory(runtime: Runtime, { principal, snapshot }: Caller, ontology: OntologyRow | undefined): Promise<readonly HistoryLine[]> {
  const lines = await readHistory(runtime.db, { userId: principal.isAdmin ? null : principal.userId, ontologyId: ontology?.id ?? null });
  if (principal.isAdmin || ontology !== undefined) return lines;
  const seen = new Set(visibleOntologies(snapshot, principal).map((o) => o.id));
  return lines.filter((line) => line.ontologyId === null || seen.has(line.ontologyId));
}
