/**
 * What the question chain asks of a language model. models.ts implements it over the AI SDK; index.ts hands it in as
 * `Runtime.llm`, so that the chain runs in plain Node too.
 */
import type { z } from 'zod';

/** The purpose of a turn, which is also a member of its schema: `concept`, `sql` or `answer` (docs/design/mcp.md#questions). */
export type Stage = 'concept' | 'sql' | 'answer';

/** One turn: instructions, what is asked, and the form of the answer. */
export interface Turn<T> {
  readonly stage: Stage;
  readonly system: string;
  readonly user: string;
  readonly schema: z.ZodType<T>;
}

/** What came of a turn. */
export interface Told<T> {
  /** Undefined: what the model said does not have the form. */
  readonly value: T | undefined;
  /** What it said, word for word. */
  readonly text: string;
  /** True: it did not come to its end, so that no part of it can be taken for the whole. */
  readonly cutOff?: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly durationMs: number;
}

/** When a question must be at its end. */
export interface Deadline {
  /** Aborted at the end, and when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Milliseconds that are left; 0 or less: none. */
  left(): number;
}

/** The configured language model. */
export interface LanguageModels {
  /** Provider and model as the settings name them, for `verbose` and the log; no secret. */
  readonly name: string;
  /** Milliseconds that one call may take (LLM_TIMEOUT). */
  readonly timeoutMs: number;
  /**
   * Asks for one turn: a call of the provider, repeated at most twice after 429 or 5xx, never after a time-out (docs/design/mcp.md#questions).
   * @throws SvcError 502 `llm_failed`, 502 `llm_refused` (the provider declines the request or the key), 504 `llm_timeout`, 500 `llm_misconfigured`; nothing
   *   that the provider said
   */
  ask<T>(turn: Turn<T>, deadline: Deadline): Promise<Told<T>>;
  /** One vector a text, all of one length; undefined: no embeddings are at hand. @throws SvcError 502 `llm_failed` */
  readonly embed?: ((texts: readonly string[], deadline: Deadline) => Promise<readonly (readonly number[])[]>) | undefined;
}
