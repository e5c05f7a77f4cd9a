/**
 * The MCP server's face to the network: who asks, from where, and whether the body is JSON-RPC. What holds is handed to the
 * principal's object without any credential.
 */
import { authenticate, type Caller } from '../auth/authenticate.ts';
import { badRequest, loggedLine, SvcError } from '../errors.ts';
import { judgeOAuthBearer, oauthTokenOf } from '../oauth/judge.ts';
import { insufficientScope, placeOf, withChallenge } from '../oauth/place.ts';
import type { Exchange, Mount } from '../service/exchange.ts';
import { ownerOf } from '../service.ts';
import { callerOf, type McpCall } from './call.ts';
import { faultResponse } from './faults.ts';
import { guarded, JUDGE_MS, judgedAgain } from './guarded.ts';
import { errorBody, type Message, readMessages } from './messages.ts';
import type { Client, Principals } from './object.ts';
import { allowedOrigin, corsHeaders, PREFLIGHT_HEADERS } from './origins.ts';
import { type Named, namedBy, targetOf } from './target.ts';

/** Of the protocol's headers, what the server reads. */
const PROTOCOL_HEADER = /^(mcp-(?!session-id$)[a-z0-9-]+|traceparent|tracestate|baggage)$/;
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;
const EVENT_STREAM = /(?:^|,)\s*text\/event-stream\s*(?:[,;]|$)/i;
const STREAM_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The MCP server's paths. */
export function mcpMounts(product: string, version: string, principals: Principals): readonly Mount[] {
  const face = new Face(`/${product}/api/mcp`, principals);
  const health = async (): Promise<Response> => Response.json({ status: 'ok', name: product, version });
  return [
    { path: '/api/mcp', answer: (e) => checked(e, ['POST'], () => face.streamable(e)) },
    { path: '/api/mcp/sse', answer: (e) => checked(e, ['GET'], () => face.openStream(e)) },
    { path: '/api/mcp/message', answer: (e) => checked(e, ['POST'], () => face.message(e)) },
    { path: '/api/mcp/health', answer: (e) => checked(e, ['GET'], health, true) },
  ];
}

/** What stands before each path: origins and preflights; afterwards headers and errors. `open`: health, which anybody may ask. */
async function checked(exchange: Exchange, methods: readonly string[], answer: () => Promise<Response>, open = false): Promise<Response> {
  const { request, runtime, host } = exchange;
  const origin = request.headers.get('origin');
  const allowed = origin === null ? null : allowedOrigin(runtime.config.mcp.corsOrigins, origin, host);
  let response: Response;
  if (origin !== null && allowed === null && !open)
    response = faultResponse(new SvcError(403, 'origin_not_allowed', 'Pages of this origin may not use this server'));
  else if (request.method === 'OPTIONS') response = new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
  else {
    try {
      if (open && !methods.includes(request.method)) throw otherMethod(methods);
      response = await answer();
    } catch (error) {
      const code = error instanceof SvcError ? error.code : 'internal_error';
      exchange.tell({ code });
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
  new SvcError(405, 'method_not_allowed', 'This path does not take that method', { headers: { allow: methods.join(', ') } });

function logFault({ runtime, requestId }: Exchange, error: unknown): void {
  const cause = error instanceof SvcError ? error.cause : error;
  runtime.log({
    level: 'error',
    event: 'mcp_failed',
    request_id: requestId,
    cause: loggedLine(cause),
  });
}

/** A caller whose credential holds. */
interface Judged {
  readonly caller: Caller;
  /** Scopes of an OAuth access token; null: another credential. */
  readonly scopes: readonly string[] | null;
}

/** The same with what headers and the address say. */
interface Identified extends Judged {
  readonly search: URLSearchParams;
  readonly named: Named;
  /** The address says `?mode=model`. */
  readonly asksToModel: boolean;
}

/**
 * Judges the credential of a request (docs/design/credentials.md#the-order-of-credentials). An OAuth access token of this service comes as `Authorization:
 * Bearer` and is not an API token. A refusal says where a client gets one (RFC 9728).
 * @throws SvcError 401, 503
 */
async function judge({ request, runtime }: Exchange): Promise<Judged> {
  const token = oauthTokenOf(request.headers, runtime.config);
  if (token !== null) {
    const caller = await judgeOAuthBearer(token, request, runtime);
    return { caller, scopes: caller.principal.scopes };
  }
  const caller = await authenticate(request.headers, runtime.config, runtime).catch((error: unknown) => {
    throw withChallenge(error, request, runtime.config);
  });
  return { caller, scopes: null };
}

class Face {
  readonly #path: string;
  readonly #principals: Principals;

  constructor(path: string, principals: Principals) {
    this.#path = path;
    this.#principals = principals;
  }

  /** Streamable HTTP: a POST of messages. There are no sessions, so a GET or DELETE has nothing to listen to or to end. */
  async streamable(exchange: Exchange): Promise<Response> {
    const judged = await identify(exchange, ['POST']);
    const body = await readBody(exchange);
    if (body instanceof Response) return body;
    exchange.tell({ noted: true });
    const { userId } = judged.caller.principal;
    const { now } = exchange.runtime;
    const begun = now();
    const response = await this.#principals.post(userId, callOf(exchange, judged, body), clientOf(exchange));
    if (now() - begun >= JUDGE_MS) {
      await judgedAgain(() => judge(exchange)).catch(async (error: unknown) => {
        await response.body?.cancel();
        throw error;
      });
    }
    return this.#watched(exchange, response);
  }

  /** SSE: a stream whose first event says where messages go. */
  async openStream(exchange: Exchange): Promise<Response> {
    const { caller, named, asksToModel } = await identify(exchange, ['GET']);
    const id = crypto.randomUUID();
    // what the stream was opened for holds for its messages too
    const { ontology, agent } = named;
    const query = new URLSearchParams({ sessionId: id });
    if (ontology !== null) query.set('ontology', ontology);
    if (agent !== null) query.set('agent', agent);
    if (asksToModel) query.set('mode', 'model');
    exchange.tell({ noted: true });
    const endpoint = `${this.#path}/message?${query}`;
    const { principal } = caller;
    return this.#watched(exchange, await this.#principals.open(principal.userId, id, await ownerOf(principal), endpoint, clientOf(exchange)));
  }

  /** SSE: a message to a stream of the same user with the same claims: rows that one may see are not sent where the other reads. */
  async message(exchange: Exchange): Promise<Response> {
    const judged = await identify(exchange, ['POST']);
    const id = judged.search.get('sessionId') ?? '';
    const body = await readBody(exchange);
    if (body instanceof Response) return body;
    exchange.tell({ noted: true });
    const { principal } = judged.caller;
    // an id that was never given out asks no object
    const taken = STREAM_ID.test(id) && (await this.#principals.message(principal.userId, id, await ownerOf(principal), callOf(exchange, judged, body)));
    if (!taken) throw new SvcError(404, 'unknown_stream', 'There is no such stream', { hint: 'Open one by GET of the path that ends in /sse' });
    return new Response('Accepted', { status: 202 });
  }

  /** A stream ends with the credential that opened it. */
  #watched(exchange: Exchange, response: Response): Response {
    if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    return new Response(
      guarded(response.body, () => judge(exchange)),
      response,
    );
  }
}

const clientOf = ({ request, runtime }: Exchange): Client => ({ signal: request.signal, waitUntil: runtime.waitUntil });

/** @throws SvcError 401, 429, 503; 405; 400 `impersonation_not_here`; 403 `no_access` for what headers or the address name */
async function identify(exchange: Exchange, methods: readonly string[]): Promise<Identified> {
  const { request, runtime } = exchange;
  let scopes: Judged['scopes'] = null;
  const caller = await exchange.admitted(async () => {
    const judged = await judge(exchange);
    scopes = judged.scopes;
    return judged.caller;
  });
  if (!methods.includes(request.method)) throw otherMethod(methods);
  if (request.headers.has('x-api-impersonate-user')) {
    throw badRequest('impersonation_not_here', 'x-api-impersonate-user is not taken by the MCP server', { hint: 'Come with a credential of that user' });
  }
  const search = new URL(request.url).searchParams;
  const named = namedBy(request.headers, search);
  targetOf(caller, named, runtime.config.mcp);
  return { caller, scopes, search, named, asksToModel: search.get('mode')?.toLowerCase() === 'model' };
}

/** The messages of a POST, or the answer to what is none. @throws SvcError 413, 415 */
async function readBody(exchange: Exchange): Promise<Message | readonly Message[] | Response> {
  const { request } = exchange;
  const text = await exchange.readText();
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? '')) {
    throw new SvcError(415, 'unsupported_media_type', 'The content-type of the body is not supported here', { hint: 'Send content-type: application/json' });
  }
  const read = readMessages(text, request.headers.get('mcp-protocol-version'));
  if (read.kind === 'messages') return read.body;
  exchange.tell({ code: 'invalid_json_rpc' });
  return new Response(errorBody(read.code, read.message), { status: 400, headers: { 'content-type': 'application/json' } });
}

function callOf(exchange: Exchange, { caller, scopes, named, asksToModel }: Identified, body: Message | readonly Message[]): McpCall {
  const { request, requestId, runtime } = exchange;
  const { config } = runtime;
  const mayModel = scopes === null || scopes.includes('model');
  return {
    callId: crypto.randomUUID(),
    caller: callerOf(caller.principal, scopes),
    named,
    modelling: asksToModel && mayModel,
    scopeChallenge: asksToModel && !mayModel ? insufficientScope(placeOf(config, request), config.product, 'read model') : null,
    body,
    takesStreams: EVENT_STREAM.test(request.headers.get('accept') ?? ''),
    headers: Object.fromEntries([...request.headers].filter(([name]) => PROTOCOL_HEADER.test(name))),
    requestId,
  };
}
