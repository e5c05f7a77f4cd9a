/** The provider and model of the LLM_ settings, and errors in these settings (docs/design/mcp.md#providers, docs/ai.md). */
import type { Config, SettingRemark } from '../../config.ts';
import { isSafeAddress } from '../../connection.ts';

export const PROVIDERS = ['openai', 'anthropic', 'google', 'azure', 'bedrock', 'openai-compatible', 'workers-ai'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** Provider names in LLM_TYPE, in lower case without `-` and `_`. */
const NAMES: Readonly<Record<string, Provider>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  claude: 'anthropic',
  google: 'google',
  gemini: 'google',
  googlegenerativeai: 'google',
  azure: 'azure',
  azureopenai: 'azure',
  bedrock: 'bedrock',
  amazonbedrock: 'bedrock',
  awsbedrock: 'bedrock',
  aws: 'bedrock',
  openaicompatible: 'openai-compatible',
  compatible: 'openai-compatible',
  workersai: 'workers-ai',
  cloudflare: 'workers-ai',
};

/** The members of LLM_ADDITIONAL_PARAMS that concern the connection to a provider. All others are parameters of its API. */
const CONNECTION: Readonly<Record<Provider, readonly string[]>> = {
  openai: ['api', 'organization', 'project'],
  anthropic: [],
  google: [],
  azure: ['api', 'resourceName', 'apiVersion'],
  bedrock: ['region', 'accessKeyId', 'secretAccessKey', 'sessionToken'],
  'openai-compatible': [],
  'workers-ai': ['gateway'],
};

/** Complete settings of a model. */
export interface ProviderSettings {
  readonly provider: Provider;
  readonly model: string;
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
  readonly temperature: number | null;
  /** From LLM_ADDITIONAL_PARAMS: the members that concern the connection. */
  readonly connection: Readonly<Record<string, string>>;
  /** From LLM_ADDITIONAL_PARAMS: additional headers for each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** From LLM_ADDITIONAL_PARAMS: everything else, for the body of each request. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** The provider for a value of LLM_TYPE. `chat` before or after the name is ignored, as in `openai-chat`. */
export function providerOf(type: string): Provider | undefined {
  const plain = type.toLowerCase().replaceAll(/[-_\s]/g, '');
  return [plain, plain.replace(/^chat|chat$/, '')].map((name) => (Object.hasOwn(NAMES, name) ? NAMES[name] : undefined)).find((p) => p !== undefined);
}

/** The settings of a model, or the errors in them. `bound`: whether there is a binding of Workers AI. */
export function providerSettings(llm: Config['llm'], bound: boolean): ProviderSettings | { readonly faults: readonly SettingRemark[] } {
  const faults: SettingRemark[] = [];
  const fault = (variable: string, message: string): void => {
    faults.push({ level: 'error', variable, message: `${variable}: ${message}` });
  };
  const provider = providerOf(llm.type ?? '');
  if (provider === undefined) {
    fault('LLM_TYPE', 'is not a provider of docs/ai.md');
    return { faults };
  }
  const { headers: sentHeaders, ...others } = llm.additionalParams;
  const connection: Record<string, string> = {};
  const params: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(others)) {
    if (!CONNECTION[provider].includes(name)) params[name] = value;
    else if (typeof value === 'string' && value !== '') connection[name] = value;
    else fault('LLM_ADDITIONAL_PARAMS', `${name} must be a string`);
  }
  const headers = headersOf(sentHeaders);
  if (headers === undefined) fault('LLM_ADDITIONAL_PARAMS', 'headers must be an object of strings');
  if (llm.model === null) fault('LLM_MODEL', 'is missing');
  if (llm.baseUrl !== null && !isSafeAddress(llm.baseUrl)) fault('LLM_BASE_URL', 'is not an https address (http on loopback only)');
  for (const [variable, message] of missing(provider, llm, connection, bound)) fault(variable, message);
  if (faults.length > 0 || llm.model === null) return { faults };
  return { provider, model: llm.model, apiKey: llm.apiKey, baseUrl: llm.baseUrl, temperature: llm.temperature, connection, headers: headers ?? {}, params };
}

/** Remarks on the LLM_ settings for the log, when an isolate starts. */
export function remarksOnModel(llm: Config['llm'], bound: boolean): readonly SettingRemark[] {
  if (llm.type === null) {
    const message = 'LLM_MODEL: has no effect without LLM_TYPE, which selects the provider';
    return llm.model === null ? [] : [{ level: 'warn', variable: 'LLM_MODEL', message }];
  }
  const checked = providerSettings(llm, bound);
  return 'faults' in checked ? checked.faults : [];
}

/** The required settings of a provider that are missing or invalid, as variable and message. */
function missing(provider: Provider, llm: Config['llm'], connection: Readonly<Record<string, string>>, bound: boolean): readonly (readonly [string, string])[] {
  const faults: [string, string][] = [];
  const needs = (isMet: boolean, variable: string, message: string): void => {
    if (!isMet) faults.push([variable, message]);
  };
  const { api, region, resourceName } = connection;
  needs(api === undefined || api === 'chat' || api === 'responses', 'LLM_ADDITIONAL_PARAMS', 'api must be chat or responses');
  switch (provider) {
    case 'openai':
    case 'anthropic':
    case 'google':
      needs(llm.apiKey !== null, 'LLM_API_KEY', 'is missing');
      break;
    case 'azure':
      needs(llm.apiKey !== null, 'LLM_API_KEY', 'is missing');
      needs(llm.baseUrl !== null || resourceName !== undefined, 'LLM_BASE_URL', 'is missing; alternatively set resourceName in LLM_ADDITIONAL_PARAMS');
      needs(
        resourceName === undefined || /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(resourceName),
        'LLM_ADDITIONAL_PARAMS',
        'resourceName must be letters, digits and hyphens',
      );
      break;
    case 'bedrock': {
      const keyPair = connection.accessKeyId !== undefined && connection.secretAccessKey !== undefined;
      needs(llm.apiKey !== null || keyPair, 'LLM_API_KEY', 'is missing; alternatively set accessKeyId and secretAccessKey in LLM_ADDITIONAL_PARAMS');
      needs(
        region === undefined ? llm.baseUrl !== null && llm.apiKey !== null : /^[a-z0-9]+(-[a-z0-9]+)+$/.test(region),
        'LLM_ADDITIONAL_PARAMS',
        'region must be an AWS region',
      );
      break;
    }
    case 'openai-compatible':
      needs(llm.baseUrl !== null, 'LLM_BASE_URL', 'is missing');
      break;
    case 'workers-ai':
      needs(bound, 'LLM_TYPE', 'Workers AI needs the binding AI in wrangler.toml');
      break;
  }
  return faults;
}

function headersOf(sent: unknown): Readonly<Record<string, string>> | undefined {
  if (sent === undefined) return {};
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return undefined;
  const entries = Object.entries(sent);
  const wellFormed = entries.every(([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof value === 'string' && !/[\0\r\n]/.test(value));
  return wellFormed ? Object.fromEntries(entries as [string, string][]) : undefined;
}
