/**
 * The HTTP interface of the MCP server: checks the credential, the origin and the JSON-RPC body, and passes valid calls to the
 * principal's object, without any credential.
 */
import { authenticate, type Caller } from '../auth/authenticate.ts';
import { badRequest, loggedLine, SvcError } from '../errors.ts';
import { authenticateOAuth, oauthTokenOf } from '../oauth/authenticate.ts';
import { insufficientScope, placeOf, withChallenge } from '../oauth/place.ts';
import type { Exchange, Mount } from '../service/exchange.ts';
import { isReadOnly, type Named, namedBy, ownerOf, targetOf, wantsFresh } from '../service.ts';
import { callerOf, type McpCall } from './call.ts';
import { faultResponse } from './faults.ts';
import { guarded, RECHECK_MS, recheck } from './guarded.ts';
import { errorBody, type Message, readMessages } from './messages.ts';
import type { McpPath } from './mounts.ts';
import type { Client, Principals } from './object.ts';
import { allowedOrigin, corsHeaders, PREFLIGHT_HEADERS } from './origins.ts';

/** The protocol's headers that the server uses. */
const PROTOCOL_HEADER = /^(mcp-(?!session-id$)[a-z0-9-]+|traceparent|tracestate|baggage)$/;
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;
const EVENT_STREAM = /(?:^|,)\s*text\/event-stream\s*(?:[,;]|$)/i;
const STREAM_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The handlers of the MCP server's routes, by their path (mounts.ts). */
export function mcpAnswers(product: string, version: string, principals: Principals): Readonly<Record<McpPath, Mount['answer']>> {
  const front = new Front(`/${product}/api/mcp`, principals);
  const health = async (): Promise<Response> => Response.json({ status: 'ok', name: product, version });
  return {
    '/api/mcp': (e) => checked(e, ['POST'], () => front.streamable(e)),
    '/api/mcp/sse': (e) => checked(e, ['GET'], () => front.openStream(e)),
    '/api/mcp/message': (e) => checked(e, ['POST'], () => front.message(e)),
    '/api/mcp/health': (e) => checked(e, ['GET'], health, true),
  };
}

/** Checks that precede every route (origins and preflights), and headers and errors that follow. `open`: for health, which is public. */
async function checked(exchange: Exchange, methods: readonly string[], answer: () => Promise<Response>, open = false): Promise<Response> {
  const { request, runtime, host } = exchange;
  const origin = request.headers.get('origin');
  const allowed = origin === null ? null : allowedOrigin(runtime.config.mcp.corsOrigins, origin, host);
  let response: Response;
  if (origin !== null && allowed === null && !open)
    response = faultResponse(new SvcError(403, 'origin_not_allowed', 'Pages from this origin are not allowed to use this server'));
  else if (request.method === 'OPTIONS') response = new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
  else {
    try {
      if (open && !methods.includes(request.method)) throw otherMethod(methods);
      response = await answer();
    } catch (error) {
      const code = error instanceof SvcError ? error.code : 'internal_error';
      exchange.record({ code });
      if (!(error instanceof SvcError) || error.status >= 500) logFault(exchange, error);
      response = faultResponse(error);
    }
  }
  const headers = new Headers(response.headers);
  headers.set('cache-control', 'private, no-store');
  headers.set('x-content-type-options', 'nosniff');
  headers.set('x-request-id', exchange.requestId);
  for (const [name, value] of Object.entries(allowed === null ? {} : corsHeaders(allowed))) headers.set(name, value);
  return new Response(response.body, { status: response.status, headers });
}

const otherMethod = (methods: readonly string[]): SvcError =>
  new SvcError(405, 'method_not_allowed', 'This path does not support that method', { headers: { allow: methods.join(', ') } });

function logFault({ runtime, requestId }: Exchange, error: unknown): void {
  const cause = error instanceof SvcError ? error.cause : error;
  runtime.log({
    level: 'error',
    event: 'mcp_failed',
    request_id: requestId,
    cause: loggedLine(cause),
  });
}

/** An authenticated caller. */
interface Authenticated {
  readonly caller: Caller;
  /** Scopes of an OAuth access token; null for other credentials. */
  readonly scopes: readonly string[] | null;
}

/** The caller, with what the headers and the URL specify. */
interface Identified extends Authenticated {
  readonly search: URLSearchParams;
  readonly named: Named;
  /** Whether the URL has `?mode=model`. */
  readonly asksToModel: boolean;
  /** Whether the URL does not have `?content=structured`. */
  readonly repeatsRows: boolean;
  /** Whether the header `x-consistency` asks for the rows of the primary. */
  readonly fresh: boolean;
}

/**
 * Checks the credential of a request (docs/design/credentials.md#the-order-of-credentials). An OAuth access token of this service is sent as `Authorization:
 * Bearer` and is not an API token. The error says where a client gets a token (RFC 9728).
 * @throws SvcError 401, 503
 */
async function authenticated({ request, runtime }: Exchange): Promise<Authenticated> {
  const token = oauthTokenOf(request.headers, runtime.config);
  if (token !== null) {
    const caller = await authenticateOAuth(token, request, runtime);
    return { caller, scopes: caller.principal.scopes };
  }
  const caller = await authenticate(request.headers, runtime.config, runtime).catch((error: unknown) => {
    throw withChallenge(error, request, runtime.config);
  });
  return { caller, scopes: null };
}

class Front {
  readonly #path: string;
  readonly #principals: Principals;

  constructor(path: string, principals: Principals) {
    this.#path = path;
    this.#principals = principals;
  }

  /** Streamable HTTP: a POST with messages. There are no sessions, so GET and DELETE are not supported. */
  async streamable(exchange: Exchange): Promise<Response> {
    const identified = await identify(exchange, ['POST']);
    const body = await readBody(exchange);
    if (body instanceof Response) return body;
    exchange.record({ noted: true });
    const { userId } = identified.caller.principal;
    const { now } = exchange.runtime;
    const begun = now();
    const response = await this.#principals.post(userId, callOf(exchange, identified, body), clientOf(exchange));
    if (now() - begun >= RECHECK_MS) {
      await recheck(() => authenticated(exchange)).catch(async (error: unknown) => {
        await response.body?.cancel();
        throw error;
      });
    }
    return this.#watched(exchange, response);
  }

  /** SSE: opens a stream. Its first event contains the address for messages. */
  async openStream(exchange: Exchange): Promise<Response> {
    const { caller, named, asksToModel, repeatsRows } = await identify(exchange, ['GET']);
    const id = crypto.randomUUID();
    // messages use the ontology and agent of the stream
    const { ontology, agent } = named;
    const query = new URLSearchParams({ sessionId: id });
    if (ontology !== null) query.set('ontology', ontology);
    if (agent !== null) query.set('agent', agent);
    if (asksToModel) query.set('mode', 'model');
    if (!repeatsRows) query.set('content', 'structured');
    exchange.record({ noted: true });
    const endpoint = `${this.#path}/message?${query}`;
    const { principal } = caller;
    return this.#watched(exchange, await this.#principals.open(principal.userId, id, await ownerOf(principal), endpoint, clientOf(exchange)));
  }

  /** SSE: accepts a message for a stream. Sender and stream must have the same user and claims, because rows that one may see must not reach the other. */
  async message(exchange: Exchange): Promise<Response> {
    const identified = await identify(exchange, ['POST']);
    const id = identified.search.get('sessionId') ?? '';
    const body = await readBody(exchange);
    if (body instanceof Response) return body;
    exchange.record({ noted: true });
    const { principal } = identified.caller;
    // a malformed id needs no lookup
    const taken = STREAM_ID.test(id) && (await this.#principals.message(principal.userId, id, await ownerOf(principal), callOf(exchange, identified, body)));
    if (!taken) throw new SvcError(404, 'unknown_stream', 'The stream does not exist', { hint: 'Open one with GET on the path that ends in /sse' });
    return new Response('Accepted', { status: 202 });
  }

  /** Ends a stream when the credential that opened it becomes invalid. */
  #watched(exchange: Exchange, response: Response): Response {
    if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    return new Response(
      guarded(response.body, () => authenticated(exchange)),
      response,
    );
  }
}

const clientOf = ({ request, runtime }: Exchange): Client => ({ signal: request.signal, waitUntil: runtime.waitUntil });

/** @throws SvcError 401, 429, 503; 405; 400 `impersonation_not_here`, `bad_consistency`; 403 `no_access` for an ontology or agent in the headers or the URL */
async function identify(exchange: Exchange, methods: readonly string[]): Promise<Identified> {
  const { request, runtime } = exchange;
  let scopes: Authenticated['scopes'] = null;
  const caller = await exchange.admitted(async () => {
    const auth = await authenticated(exchange);
    scopes = auth.scopes;
    return auth.caller;
  });
  if (!methods.includes(request.method)) throw otherMethod(methods);
  if (request.headers.has('x-api-impersonate-user')) {
    throw badRequest('impersonation_not_here', 'The MCP server does not support x-api-impersonate-user', { hint: 'Use a credential of that user' });
  }
  const search = new URL(request.url).searchParams;
  const named = namedBy(request.headers, search);
  const has = (parameter: string, value: string): boolean => search.get(parameter)?.toLowerCase() === value;
  targetOf(caller, named, runtime.config.mcp);
  const asksToModel = has('mode', 'model') && !isReadOnly(request.headers);
  return { caller, scopes, search, named, asksToModel, repeatsRows: !has('content', 'structured'), fresh: wantsFresh(request.headers) };
}

/** The messages of a POST, or the error response if the body is invalid. @throws SvcError 413, 415 */
async function readBody(exchange: Exchange): Promise<Message | readonly Message[] | Response> {
  const { request } = exchange;
  const text = await exchange.readText();
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? '')) {
    throw new SvcError(415, 'unsupported_media_type', 'The content-type of the body is not supported', { hint: 'Send content-type: application/json' });
  }
  const read = readMessages(text, request.headers.get('mcp-protocol-version'));
  if (read.kind === 'messages') return read.body;
  exchange.record({ code: 'invalid_json_rpc' });
  return new Response(errorBody(read.code, read.message), { status: 400, headers: { 'content-type': 'application/json' } });
}

function callOf(exchange: Exchange, { caller, scopes, named, asksToModel, repeatsRows, fresh }: Identified, body: Message | readonly Message[]): McpCall {
  const { request, requestId, runtime } = exchange;
  const { config } = runtime;
  const mayModel = scopes === null || scopes.includes('model');
  return {
    callId: crypto.randomUUID(),
    caller: callerOf(caller.principal, scopes),
    named,
    modelling: asksToModel && mayModel,
    fresh,
    scopeChallenge: asksToModel && !mayModel ? insufficientScope(placeOf(config, request), config.product, 'read model') : null,
    body,
    repeatsRows,
    takesStreams: EVENT_STREAM.test(request.headers.get('accept') ?? ''),
    headers: Object.fromEntries([...request.headers].filter(([name]) => PROTOCOL_HEADER.test(name))),
    requestId,
  };
}
