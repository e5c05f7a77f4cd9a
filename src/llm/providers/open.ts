/** What each file of a provider exports. */
import type { Fetch } from './fetch.ts';
import type { OpenedModel } from './sdk.ts';
import type { ProviderSettings } from './settings.ts';

/** The binding of Workers AI, as far as it is used. */
export interface AiBinding {
  run(model: string, inputs: Readonly<Record<string, unknown>>, options?: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** What a provider calls out with. */
export interface Means {
  readonly fetch: Fetch;
  readonly ai: AiBinding | undefined;
}

/** The model of the settings, which hold what the provider needs. Calls nobody yet. @throws SvcError 500 `llm_misconfigured` */
export type Open = (settings: ProviderSettings, means: Means) => OpenedModel;
