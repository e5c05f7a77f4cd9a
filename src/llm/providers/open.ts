/** The interface of the provider files. */
import type { Fetch } from './fetch.ts';
import type { OpenedModel } from './sdk.ts';
import type { ProviderSettings } from './settings.ts';

/** The part of Workers AI's binding that is used. */
export interface AiBinding {
  run(model: string, inputs: Readonly<Record<string, unknown>>, options?: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** What a provider uses for its calls. */
export interface Connection {
  readonly fetch: Fetch;
  readonly ai: AiBinding | undefined;
}

/** Creates the model of valid settings, without calling the provider. @throws SvcError 500 `llm_misconfigured` */
export type Open = (settings: ProviderSettings, connection: Connection) => OpenedModel;
