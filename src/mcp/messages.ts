/** Parses the body of a POST: one JSON-RPC message, or a batch in protocol versions that support it. Pure. */

/** A well-formed message. The server checks the parameters of its method. */
export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export type Read =
  | { readonly kind: 'messages'; readonly body: Message | readonly Message[] }
  | { readonly kind: 'invalid'; readonly code: -32700 | -32600; readonly message: string };

/** The first protocol version without batches. Versions are dates and compare as strings. */
const NO_BATCHES_FROM = '2025-06-18';

const invalid = (code: -32700 | -32600, why: string): Read => ({ kind: 'invalid', code, message: `Invalid JSON-RPC: ${why}` });

/** Maximum number of messages in a batch. */
export const MAX_MESSAGES = 100;
/** Maximum nesting of objects and lists below `params.arguments`. The libraries used walk arguments recursively. */
export const MAX_LEVELS = 64;
/** Maximum number of values and keys of a body, with those of its messages: fifty times what the calls of a full batch have. The libraries check each of them. */
export const MAX_VALUES = 20_000;
/** The levels above: the message, its `params` and their `arguments`. */
const OUTER_LEVELS = 3;

/** Parses a body. `version`: the header `mcp-protocol-version`. */
export function readMessages(text: string, version: string | null): Read {
  const isBatch = /^\s*\[/.test(text);
  const size = sizeOf(text, MAX_LEVELS + OUTER_LEVELS + (isBatch ? 1 : 0));
  if (size === 'deep') return invalid(-32600, `arguments can nest at most ${MAX_LEVELS} levels deep`);
  if (size === 'large') return invalid(-32600, `a body can have at most ${MAX_VALUES} values and keys`);
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
  if (version !== null && version >= NO_BATCHES_FROM) return invalid(-32600, `protocol version ${version} does not support batches`);
  if (body.length > MAX_MESSAGES) return invalid(-32600, `a batch can have at most ${MAX_MESSAGES} messages`);
  if (body.length === 0 || !body.every(isMessage)) return invalid(-32600, 'a batch must be an array of JSON-RPC 2.0 messages');
  return { kind: 'messages', body: body.map(completed) };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether objects and lists of a JSON text nest deeper than `levels`, or have more than MAX_VALUES values and keys. One pass over the text; of invalid JSON it
 * counts the brackets, commas and colons.
 */
function sizeOf(text: string, levels: number): 'deep' | 'large' | 'usual' {
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === BACKSLASH) i++;
      else if (c === QUOTE) inString = false;
      continue;
    }
    if (c === QUOTE) inString = true;
    // [ and {, ] and }, comma and colon
    else if (c === 0x5b || c === 0x7b) {
      depth++;
      values++;
      if (depth > levels) return 'deep';
    } else if (c === 0x5d || c === 0x7d) depth--;
    else if (c === 0x2c || c === 0x3a) values++;
    if (values > MAX_VALUES) return 'large';
  }
  return 'usual';
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

function isMessage(value: unknown): value is Message {
  if (!isObject(value) || value.jsonrpc !== '2.0') return false;
  const { id, method, params, result, error } = value;
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) return false;
  if (method === undefined) return id !== undefined && (isObject(result) || isObject(error));
  return typeof method === 'string' && (params === undefined || isObject(params));
}

/** Adds the required clientInfo, which published clients omit in `initialize` (docs/design/mcp.md#messages). */
function completed(message: Message): Message {
  const { method, params } = message;
  if (method !== 'initialize' || params === undefined || params.clientInfo !== undefined) return message;
  return { ...message, params: { ...params, clientInfo: { name: 'unnamed', version: '0' } } };
}

/**
 * Removes cancellations from a batch before it is passed to the SDK. A batch has its own server, so they could only name requests of the same batch,
 * and the SDK never answers a batch with a cancelled request. A batch that has only cancellations stays unchanged.
 */
export function withoutCancellations(body: Message | readonly Message[]): Message | readonly Message[] {
  if (!Array.isArray(body)) return body;
  const others = (body as readonly Message[]).filter(({ method }) => method !== 'notifications/cancelled');
  return others.length === 0 ? body : others;
}

/** The id for an error response: that of a single request, otherwise null. */
export const idOf = (body: Message | readonly Message[]): string | number | null => ('method' in body ? (body.id ?? null) : null);

/** The error response to a whole request. */
export const errorBody = (code: number, message: string, id: string | number | null = null): string =>
  JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id });
