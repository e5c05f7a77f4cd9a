/** The configured language model, through the AI SDK (docs/design/mcp.md#providers, docs/ai.md). Providers are loaded with the first question. */
import type { Config } from '../config.ts';
import { SvcError } from '../errors.ts';
import { modelFailed, outOfTime } from './failures.ts';
import { embeddings } from './providers/embeddings.ts';
import { misconfigured, overloaded, refused } from './providers/errors.ts';
import { boundedFetch, type Fetch } from './providers/fetch.ts';
import { valueIn } from './providers/form.ts';
import type { AiBinding, Connection, Open } from './providers/open.ts';
import type { Failure, ModelOutput, OpenedModel } from './providers/sdk.ts';
import { type Provider, type ProviderSettings, providerSettings } from './providers/settings.ts';
import { within } from './providers/within.ts';
import type { Deadline, LanguageModels, Reply, Turn } from './types.ts';

/** What the models use in addition to their settings. */
export interface Surroundings {
  readonly log?: ((line: Readonly<Record<string, unknown>>) => void) | undefined;
  /** The binding of Workers AI, if there is one. */
  readonly ai?: AiBinding | undefined;
  readonly fetch?: Fetch | undefined;
  /** The pauses before the first and the second retry, if the provider does not specify one. */
  readonly pausesMs?: readonly [number, number] | undefined;
  /** Replaces the providers of this file. */
  readonly open?: Open | undefined;
}

type Sdk = typeof import('./providers/sdk.ts');

/** The number of retries of a call that failed with 429 or 5xx (docs/design/mcp.md#questions). */
const REPETITIONS = 2;

/** scripts/build.ts finds these import specifiers to build without a provider. */
const PROVIDERS: Readonly<Record<Provider, () => Promise<{ readonly open: Open }>>> = {
  openai: () => import('./providers/openai.ts'),
  anthropic: () => import('./providers/anthropic.ts'),
  google: () => import('./providers/google.ts'),
  azure: () => import('./providers/azure.ts'),
  bedrock: () => import('./providers/bedrock.ts'),
  'openai-compatible': () => import('./providers/openai-compatible.ts'),
  'workers-ai': () => import('./providers/workers-ai.ts'),
};

/** The model of the LLM_ settings; undefined if LLM_TYPE is not set. With invalid settings its `ask` throws. */
export function languageModels(llm: Config['llm'], surroundings: Surroundings = {}): LanguageModels | undefined {
  if (llm.type === null) return undefined;
  const { log = () => undefined, ai, fetch = (input, init) => globalThis.fetch(input, init), pausesMs = [1000, 3000], open } = surroundings;
  const checked = providerSettings(llm, ai !== undefined);
  const timeoutMs = llm.timeoutSeconds * 1000;
  const embed = ai === undefined ? undefined : embeddings(ai, timeoutMs, log);
  if ('faults' in checked) return { name: 'none', timeoutMs, ask: () => Promise.reject(misconfigured()), embed };
  const name = `${checked.provider}/${checked.model}`;
  const asking: Asking = { name, settings: checked, connection: { fetch: boundedFetch(fetch), ai }, timeoutMs, pausesMs, log, open, warned: new Set() };
  return { name, timeoutMs, ask: (turn, deadline) => ask(asking, turn, deadline), embed };
}

interface Asking {
  readonly name: string;
  readonly settings: ProviderSettings;
  readonly connection: Connection;
  readonly timeoutMs: number;
  readonly pausesMs: readonly [number, number];
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  readonly open: Open | undefined;
  /** Warnings of the SDK that were logged already. */
  readonly warned: Set<string>;
  /** Never a promise: a request must not wait for a promise of another request. */
  opened?: { readonly sdk: Sdk; readonly model: OpenedModel };
}

async function ask<T>(asking: Asking, turn: Turn<T>, deadline: Deadline): Promise<Reply<T>> {
  const began = Date.now();
  const { sdk, model } = await opened(asking);
  const asked = { name: turn.stage, system: turn.system, user: turn.user, schema: sdk.strictSchema(turn.schema) };
  const { text, whole, inputTokens, outputTokens } = await callModel(asking, turn.stage, deadline, sdk, (signal) => sdk.generate(model, asked, signal));
  return { value: whole ? valueIn(text, turn.schema) : undefined, text, cutOff: !whole, inputTokens, outputTokens, durationMs: Date.now() - began };
}

/** Loads the provider's code and the SDK on first use. @throws SvcError 500 `llm_misconfigured` */
async function opened(asking: Asking): Promise<NonNullable<Asking['opened']>> {
  if (asking.opened !== undefined) return asking.opened;
  const { settings, connection, log, name } = asking;
  try {
    const open = asking.open ?? (await PROVIDERS[settings.provider]()).open;
    const model = open(settings, connection);
    asking.opened = { sdk: await import('./providers/sdk.ts'), model };
    return asking.opened;
  } catch (error) {
    const fault = error instanceof SvcError ? error.cause : error instanceof Error ? error.name : undefined;
    log({ level: 'error', event: 'llm_misconfigured', llm: name, fault });
    throw misconfigured();
  }
}

/** One call with at most two retries. @throws SvcError as LanguageModels.ask */
async function callModel(
  asking: Asking,
  stage: string,
  deadline: Deadline,
  sdk: Sdk,
  call: (signal: AbortSignal) => Promise<ModelOutput>,
): Promise<ModelOutput> {
  const { name: llm, timeoutMs, pausesMs, log } = asking;
  for (let repetition = 0; ; repetition++) {
    const began = Date.now();
    const line = () => ({ llm, stage, repetition, ms: Date.now() - began });
    let failure: Failure;
    try {
      const output = await within(deadline, timeoutMs, call);
      const news = output.warnings.filter((feature) => !asking.warned.has(feature));
      for (const feature of news) asking.warned.add(feature);
      if (news.length > 0) log({ level: 'warn', event: 'llm_warning', llm, features: news });
      return output;
    } catch (error) {
      if (error instanceof SvcError) {
        log({ level: 'error', event: error.code, ...line() });
        throw error;
      }
      failure = sdk.failureOf(error, Date.now());
    }
    const { status, misconfigured: isMisconfigured, retryAfterMs, fault } = failure;
    log({ level: 'error', event: 'llm_failed', ...line(), status: status ?? null, fault });
    if (isMisconfigured) throw misconfigured();
    const repeatable = status === 429 || (status !== undefined && status >= 500);
    if (!repeatable) throw status !== undefined && status >= 400 && status !== 408 ? refused() : modelFailed();
    const pause = retryAfterMs ?? pausesMs[repetition] ?? 0;
    // do not wait for a provider that asks for a longer pause than a call may take
    if (repetition === REPETITIONS || pause >= Math.min(timeoutMs, deadline.left())) throw status === 429 ? overloaded() : modelFailed();
    await waiting(pause, deadline.signal);
  }
}

/** Waits. @throws SvcError 504 `llm_timeout` if the question ends first */
function waiting(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(outOfTime());
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
