/**
 * The interface between the question chain and a language model. models.ts implements it over the AI SDK; index.ts passes it as
 * `Runtime.llm`, so that the chain also runs in plain Node.
 */
import type { z } from 'zod';

/** The purpose of a turn, which is also a member of its schema: `concept`, `sql` or `answer` (docs/design/mcp.md#questions). */
export type Stage = 'concept' | 'sql' | 'answer';

/** One turn: the instructions, the input, and the schema of the answer. */
export interface Turn<T> {
  readonly stage: Stage;
  readonly system: string;
  readonly user: string;
  readonly schema: z.ZodType<T>;
}

/** The model's reply to a turn. */
export interface Reply<T> {
  /** Undefined if the reply does not match the schema. */
  readonly value: T | undefined;
  /** The reply, verbatim. */
  readonly text: string;
  /** Whether the reply was truncated, so that no part of it can be used. */
  readonly cutOff?: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly durationMs: number;
}

/** The deadline of a question. */
export interface Deadline {
  /** Aborted at the deadline, and when the client no longer waits. */
  readonly signal: AbortSignal;
  /** The remaining milliseconds; 0 or less if there are none. */
  left(): number;
}

/** The configured language model. */
export interface LanguageModels {
  /** Provider and model from the settings, for `verbose` and the log. Contains no secret. */
  readonly name: string;
  /** The time-out of one call (LLM_TIMEOUT). */
  readonly timeoutMs: number;
  /**
   * Performs one turn: a call of the provider, with at most two retries after 429 or 5xx, never after a time-out (docs/design/mcp.md#questions).
   * @throws SvcError 502 `llm_failed`, 502 `llm_refused` (the provider rejects the request or the key), 504 `llm_timeout`, 500 `llm_misconfigured`. The errors
   *   contain nothing that the provider said
   */
  ask<T>(turn: Turn<T>, deadline: Deadline): Promise<Reply<T>>;
  /** Returns one vector for each text, all of the same length. Undefined if no embeddings are available. @throws SvcError 502 `llm_failed` */
  readonly embed?: ((texts: readonly string[], deadline: Deadline) => Promise<readonly (readonly number[])[]>) | undefined;
}
