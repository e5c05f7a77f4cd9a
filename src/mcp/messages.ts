/** What a POST to the MCP server holds: one JSON-RPC message, or a batch where the protocol's revision has them. Pure. */

/** A message that has the form of one; what its method wants is judged by the server. */
export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export type Read =
  | { readonly kind: 'messages'; readonly body: Message | readonly Message[] }
  | { readonly kind: 'invalid'; readonly code: -32700 | -32600; readonly message: string };

/** The first revision without batches; dates compare as texts. */
const NO_BATCHES_FROM = '2025-06-18';

const invalid = (code: -32700 | -32600, why: string): Read => ({ kind: 'invalid', code, message: `Invalid JSON-RPC: ${why}` });

/** Messages of one batch. */
export const MOST_MESSAGES = 100;
/** Levels of objects and lists below `params.arguments`. The libraries behind walk arguments by recursion. */
export const MOST_LEVELS = 64;
/** The message, its `params` and their `arguments`. */
const OUTER_LEVELS = 3;

/** Reads a body. `version`: the header `mcp-protocol-version`. */
export function readMessages(text: string, version: string | null): Read {
  const isBatch = /^\s*\[/.test(text);
  if (nestsDeeper(text, MOST_LEVELS + OUTER_LEVELS + (isBatch ? 1 : 0))) return invalid(-32600, `arguments nest at most ${MOST_LEVELS} levels deep`);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return invalid(-32700, 'the body is not JSON');
  }
  if (!Array.isArray(body)) {
    if (!isMessage(body)) return invalid(-32600, 'the body is not a message of JSON-RPC 2.0');
    return { kind: 'messages', body: completed(body) };
  }
  if (version !== null && version >= NO_BATCHES_FROM) return invalid(-32600, `there are no batches in the protocol version ${version}`);
  if (body.length > MOST_MESSAGES) return invalid(-32600, `a batch has at most ${MOST_MESSAGES} messages`);
  if (body.length === 0 || !body.every(isMessage)) return invalid(-32600, 'a batch is an array of messages of JSON-RPC 2.0');
  return { kind: 'messages', body: body.map(completed) };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether objects and lists of a JSON text nest deeper than `levels`. One pass over the text; one that is no JSON is judged by its brackets. */
function nestsDeeper(text: string, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === BACKSLASH) i++;
      else if (c === QUOTE) inString = false;
      continue;
    }
    if (c === QUOTE) inString = true;
    // [ and {, ] and }
    else if (c === 0x5b || c === 0x7b) {
      depth++;
      if (depth > levels) return true;
    } else if (c === 0x5d || c === 0x7d) depth--;
  }
  return false;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

function isMessage(value: unknown): value is Message {
  if (!isObject(value) || value.jsonrpc !== '2.0') return false;
  const { id, method, params, result, error } = value;
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) return false;
  if (method === undefined) return id !== undefined && (isObject(result) || isObject(error));
  return typeof method === 'string' && (params === undefined || isObject(params));
}

/** Published clients send `initialize` without clientInfo, which the protocol requires (docs/design/mcp.md#messages). */
function completed(message: Message): Message {
  const { method, params } = message;
  if (method !== 'initialize' || params === undefined || params.clientInfo !== undefined) return message;
  return { ...message, params: { ...params, clientInfo: { name: 'unnamed', version: '0' } } };
}

/**
 * What the SDK is handed: a batch without its cancellations. A batch has a server of its own, so they could name only requests of the same batch, and
 * the SDK never answers a batch of which a request was cancelled. A batch of nothing else stays as it is.
 */
export function withoutCancellations(body: Message | readonly Message[]): Message | readonly Message[] {
  if (!Array.isArray(body)) return body;
  const others = (body as readonly Message[]).filter(({ method }) => method !== 'notifications/cancelled');
  return others.length === 0 ? body : others;
}

/** The id that an error answers to: that of a single request. */
export const idOf = (body: Message | readonly Message[]): string | number | null => ('method' in body ? (body.id ?? null) : null);

/** An answer that is an error of the whole request. */
export const errorBody = (code: number, message: string, id: string | number | null = null): string =>
  JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id });
