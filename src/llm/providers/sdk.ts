/** One model call through the AI SDK. Loaded with the first question, because the SDK is large. */
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

export { strictSchema } from './schema.ts';

// warnings are returned in `warnings` and go to the service's own log
globalThis.AI_SDK_LOG_WARNINGS = false;

type Options = Parameters<typeof generateText>[0];

/** A provider's model, with the parameters of its calls. */
export interface OpenedModel {
  readonly model: LanguageModel;
  readonly temperature: number | null;
  readonly maxOutputTokens?: number;
  readonly providerOptions?: NonNullable<Options['providerOptions']>;
}

/** The input of a call. */
export interface ModelInput {
  readonly name: string;
  readonly system: string;
  readonly user: string;
  readonly schema: JsonSchema;
}

/** The output of a call. */
export interface ModelOutput {
  readonly text: string;
  /** Whether it ended normally: not truncated, and not stopped by a filter. */
  readonly whole: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Features that the model does not support, or only in part. */
  readonly warnings: readonly string[];
}

/** Performs one call. @throws errors for `failureOf` */
export async function generate(
  { model, temperature, maxOutputTokens, providerOptions }: OpenedModel,
  input: ModelInput,
  signal: AbortSignal,
): Promise<ModelOutput> {
  try {
    const result = await generateText({
      model,
      instructions: input.system,
      prompt: input.user,
      output: Output.object({ schema: jsonSchema<unknown>(input.schema), name: input.name }),
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
): Pick<ModelOutput, 'whole' | 'inputTokens' | 'outputTokens'> {
  return {
    whole: reason !== 'length' && reason !== 'content-filter' && reason !== 'error',
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
  };
}

/** A summary of an error, without anything that the provider wrote. */
export interface Failure {
  /** The HTTP status; undefined if the provider did not answer, or its answer cannot be parsed. */
  readonly status: number | undefined;
  /** Whether the call failed before it reached the provider. */
  readonly misconfigured: boolean;
  /** The pause that the provider requests, in milliseconds. */
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

/** `retry-after-ms`, or else `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const exact = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (exact >= 0) return exact;
  const text = headers['retry-after'] ?? '';
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms >= 0 ? ms : undefined;
}
