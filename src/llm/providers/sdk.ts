/** One call of a model through the AI SDK. Loaded with the first question: the SDK is large. */
import {
  APICallError,
  generateText,
  InvalidArgumentError,
  jsonSchema,
  type LanguageModel,
  LoadAPIKeyError,
  LoadSettingError,
  NoObjectGeneratedError,
  Output,
} from 'ai';
import type { JsonSchema } from './schema.ts';

// Warnings go to the service's own log, as `warnings` of a call.
globalThis.AI_SDK_LOG_WARNINGS = false;

type Options = Parameters<typeof generateText>[0];

/** A model as a provider makes it, and what its calls carry. */
export interface OpenedModel {
  readonly model: LanguageModel;
  readonly temperature: number | null;
  readonly maxOutputTokens?: number;
  readonly providerOptions?: NonNullable<Options['providerOptions']>;
}

/** What is asked of it. */
export interface Asked {
  readonly name: string;
  readonly system: string;
  readonly user: string;
  readonly schema: JsonSchema;
}

/** What it said. */
export interface Said {
  readonly text: string;
  /** Whether it ended of itself: neither cut off nor stopped by a filter. */
  readonly whole: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Features that the model does not have, or not as they were asked for. */
  readonly warnings: readonly string[];
}

/** Asks once. @throws what `failureOf` reads */
export async function generate({ model, temperature, maxOutputTokens, providerOptions }: OpenedModel, asked: Asked, signal: AbortSignal): Promise<Said> {
  try {
    const result = await generateText({
      model,
      instructions: asked.system,
      prompt: asked.user,
      output: Output.object({ schema: jsonSchema<unknown>(asked.schema), name: asked.name }),
      maxRetries: 0,
      abortSignal: signal,
      telemetry: { isEnabled: false },
      ...(temperature === null ? {} : { temperature }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(providerOptions === undefined ? {} : { providerOptions }),
    });
    const warnings = (result.warnings ?? []).map((w) => ('feature' in w ? w.feature : w.type));
    return { text: result.text, warnings, ...ended(result.finishReason, result.usage) };
  } catch (error) {
    if (!NoObjectGeneratedError.isInstance(error)) throw error;
    return { text: error.text ?? '', warnings: [], ...ended(error.finishReason, error.usage) };
  }
}

function ended(
  reason: string | undefined,
  usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined } | undefined,
): Pick<Said, 'whole' | 'inputTokens' | 'outputTokens'> {
  return {
    whole: reason !== 'length' && reason !== 'content-filter' && reason !== 'error',
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
  };
}

/** What an error of a call comes down to; nothing of what the provider wrote. */
export interface Failure {
  /** The HTTP status; undefined: there was no answer, or none that can be read. */
  readonly status: number | undefined;
  /** The provider could not even be asked. */
  readonly misconfigured: boolean;
  /** Milliseconds that it asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** The class of the error, for the log. */
  readonly fault: string;
}

export function failureOf(error: unknown, now: number): Failure {
  const fault = error instanceof Error ? error.name : typeof error;
  const misconfigured = [LoadAPIKeyError, LoadSettingError, InvalidArgumentError].some((known) => known.isInstance(error));
  if (!APICallError.isInstance(error)) return { status: undefined, misconfigured, retryAfterMs: undefined, fault };
  return { status: error.statusCode, misconfigured: false, retryAfterMs: retryAfter(error.responseHeaders ?? {}, now), fault };
}

/** `retry-after-ms`, else `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const exact = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (exact >= 0) return exact;
  const text = headers['retry-after'] ?? '';
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms >= 0 ? ms : undefined;
}
