/** The Durable Object of one principal: it answers the principal's MCP calls and serves its SSE streams. It stores nothing. */
import { DurableObject } from 'cloudflare:workers';
import { resume } from '../auth/resume.ts';
import { forbidden, loggedLine, SvcError } from '../errors.ts';
import { BATCH_BYTES, Budget } from '../nesting/cut.ts';
import { auditRequest, type Runtime, Spending, targetOf } from '../service.ts';
import { isEventStream, isSubscription, messagesOf, plain } from './answers.ts';
import type { McpCall, Session } from './call.ts';
import { faultResponse } from './faults.ts';
import { errorBody, idOf, type Message, withoutCancellations } from './messages.ts';
import type { Offer } from './offer.ts';
import { Running } from './running.ts';
import { Spliced } from './spliced.ts';
import { Streams } from './streams.ts';

/** An internal address for the handler. The front has already checked the URL of the request. */
const ADDRESS = 'https://mcp.internal/mcp';

type Handler = (request: Request, options: { readonly parsedBody: unknown }) => Promise<Response>;

/** What the first call loads. The SDK is slow to load. */
interface Loaded {
  readonly handle: Handler;
  readonly loggedTool: (name: unknown) => string;
}

export abstract class McpObject<E> extends DurableObject<E> {
  readonly #running = new Running();
  readonly #streams = new Streams((id) => this.#running.closed(id));
  /** The session of each request that the handler is processing. */
  readonly #sessions = new WeakMap<Request, Session>();
  #loaded: Loaded | undefined;

  protected abstract runtime(): Runtime;
  protected abstract readonly version: string;

  /** What its servers offer, loaded at the first call. */
  protected async offer(): Promise<Offer> {
    return (await import('./offer.ts')).OFFER;
  }

  /** Reads a file of the console's build, for `Session.page`. A service without the console returns undefined instead of a function. */
  protected pages(): Session['page'] {
    return undefined;
  }

  /** Answers a POST. */
  async post(call: McpCall): Promise<Response> {
    if (this.#running.isFull) return faultResponse(busy(), idOf(call.body));
    const run = this.#running.begin(call, null);
    // if the answer is a stream, the run ends with the stream
    return this.#answer(call, run.signal).finally(() => run.done());
  }

  /** Aborts the call of a POST whose client has left. */
  async leave(callId: string): Promise<void> {
    this.#running.left(callId);
  }

  /** Opens an SSE stream for an id and owner. Messages to it are posted to `endpoint`. */
  async open(id: string, owner: string, endpoint: string): Promise<Response> {
    try {
      return new Response(this.#streams.open(id, owner, endpoint), { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
    } catch (error) {
      return faultResponse(error);
    }
  }

  /** Closes a stream whose client has left. */
  async close(id: string): Promise<void> {
    this.#streams.end(id);
  }

  /** Accepts a message for a stream, which will carry the answer. Returns false if the owner has no such stream. */
  async message(id: string, owner: string, call: McpCall): Promise<boolean> {
    const stream = this.#streams.find(id, owner);
    if (stream === undefined) return false;
    for (const { method, params } of [call.body].flat() as readonly Message[]) {
      if (method === 'notifications/cancelled') this.#running.cancelled(id, params?.requestId);
    }
    if (this.#running.isFull) {
      stream.send('message', errorBody(-32000, busy().message, idOf(call.body)));
      return true;
    }
    const run = this.#running.begin(call, id);
    const answering = this.#answer({ ...call, takesStreams: true }, run.signal).then(async (answer) => {
      if (answer.body !== null && isEventStream(answer)) {
        // a subscription of the newer protocol would never end; the older transport has no subscriptions
        if (isSubscription(call.body)) return answer.body.cancel();
        for await (const message of messagesOf(answer.body)) stream.send('message', message);
        return;
      }
      const text = await answer.text();
      if (text === '') return;
      if (!text.startsWith('[')) return stream.send('message', text);
      for (const message of JSON.parse(text) as readonly unknown[]) stream.send('message', JSON.stringify(message));
    });
    this.ctx.waitUntil(answering.finally(() => run.done()));
    return true;
  }

  async #answer(call: McpCall, signal: AbortSignal): Promise<Response> {
    const runtime = this.runtime();
    const begun = runtime.now();
    const { handle, loggedTool } = await this.#load();
    let response: Response;
    let needsScope = false;
    const lacksScope = call.scopeChallenge === null ? undefined : (): boolean => (needsScope = true);
    try {
      const request = new Request(ADDRESS, { method: 'POST', headers: headersOf(call), body: '{}', signal });
      const session = await sessionOf(call, runtime);
      this.#sessions.set(request, { ...session, lacksScope, page: this.pages() });
      const parsedBody = withoutCancellations(call.body);
      response = await plain(await handle(request, { parsedBody }), parsedBody, call.takesStreams, session.spliced);
      // the server exists by now: drop the session, so that nothing keeps its rows alive
      this.#sessions.delete(request);
      // in a batch each message gets its own answer
      if (needsScope && !Array.isArray(call.body)) {
        await response.body?.cancel();
        response = faultResponse(insufficientScope(call.scopeChallenge), idOf(call.body));
      }
    } catch (error) {
      runtime.log({
        level: 'error',
        event: 'mcp_failed',
        request_id: call.requestId,
        cause: loggedLine(error),
      });
      response = faultResponse(error, idOf(call.body));
    }
    if (runtime.config.mcp.debug) {
      for (const { method, params } of [call.body].flat() as readonly Message[]) {
        const tool = method === 'tools/call' ? { tool: loggedTool(params?.name) } : {};
        runtime.log({
          level: 'debug',
          event: 'mcp',
          request_id: call.requestId,
          method: loggedMethod(method),
          ...tool,
          status: response.status,
          ms: Math.round(runtime.now() - begun),
        });
      }
    }
    return response;
  }

  async #load(): Promise<Loaded> {
    if (this.#loaded !== undefined) return this.#loaded;
    const { buildServer, createMcpHandler, loggedTool, newGates, TOOLS_AT_ONCE } = await import('./server.ts');
    const offer = await this.offer();
    // another call may have loaded it meanwhile, and its gates count the tools that run
    if (this.#loaded !== undefined) return this.#loaded;
    const surroundings = { offer, version: this.version, ...newGates(), audit: auditRequest };
    const handler = createMcpHandler(
      ({ requestInfo }) => {
        const session = requestInfo && this.#sessions.get(requestInfo);
        if (session === undefined) throw new Error('the request has no session');
        return buildServer(session, surroundings);
      },
      { corsOptions: false, allowedOriginHostnames: '*', maxSubscriptions: TOOLS_AT_ONCE },
    );
    this.#loaded = { handle: (request, options) => handler.fetch(request, options), loggedTool: (name) => loggedTool(offer, name) };
    return this.#loaded;
  }
}

/** 503: the calls of a user that wait use the memory that they may. */
const busy = (): SvcError => new SvcError(503, 'busy', 'Too many messages are waiting for an answer', { headers: { 'retry-after': '5' } });

/** A 403 that lets a client ask its user for more scopes (RFC 6750, 3.1). */
const insufficientScope = (challenge: string | null): SvcError =>
  forbidden('insufficient_scope', 'This requires the scope model', {
    hint: 'Request access again with the scopes read and model',
    headers: challenge === null ? {} : { 'www-authenticate': challenge },
  });

/** @throws SvcError 401 if the user no longer exists; 403 for the ontology or agent of the call; 503 */
async function sessionOf(call: McpCall, runtime: Runtime): Promise<Session> {
  const { db, now, waitUntil, kv, config } = runtime;
  const caller = await resume(call.caller, { db, now, waitUntil, kv, fresh: false });
  const target = targetOf(caller, call.named, config.mcp);
  return {
    runtime,
    caller,
    target,
    modelling: call.modelling,
    fresh: call.fresh,
    requestId: call.requestId,
    spending: new Spending(),
    answers: new Budget(BATCH_BYTES),
    spliced: new Spliced(call.repeatsRows),
    body: call.body,
  };
}

/** The method for the log. Anything that does not look like a method of the protocol is logged as `unknown`. */
const loggedMethod = (method: string | undefined): string =>
  method === undefined ? 'response' : /^[a-zA-Z]+(\/[a-zA-Z_]+)*$/.test(method) && method.length <= 64 ? method : 'unknown';

const headersOf = ({ headers }: McpCall): Record<string, string> => ({
  ...headers,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
});

/** The client of a request. `signal` is aborted when it leaves. */
export interface Client {
  readonly signal: AbortSignal;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** The objects, as the front addresses them: one for each user, with the location hint in its name (docs/design/platform-rules.md#names-of-durable-objects). */
export interface Principals {
  /** The call is aborted when `client` leaves. */
  post(userId: string, call: McpCall, client: Client): Promise<Response>;
  /** `owner` identifies who may send messages to the stream. The stream is closed when `client` leaves. */
  open(userId: string, id: string, owner: string, endpoint: string, client: Client): Promise<Response>;
  message(userId: string, id: string, owner: string, call: McpCall): Promise<boolean>;
}

export function mcpPrincipals(namespace: DurableObjectNamespace, hint: string | null): Principals {
  const stub = (userId: string) =>
    namespace.get(
      namespace.idFromName(`${hint ?? '-'}:${userId}`),
      hint === null ? {} : { locationHint: hint as DurableObjectLocationHint },
    ) as unknown as Pick<McpObject<unknown>, 'post' | 'leave' | 'open' | 'close' | 'message'>;
  return {
    post: async (userId, call, client) => {
      // calls through one stub arrive in order; an RPC call cannot carry an AbortSignal
      const object = stub(userId);
      const answer = object.post(call);
      const stay = onLeaving(client, () => object.leave(call.callId));
      return answer.finally(stay);
    },
    open: (userId, id, owner, endpoint, client) => {
      const object = stub(userId);
      const opened = object.open(id, owner, endpoint);
      onLeaving(client, () => object.close(id));
      return opened;
    },
    message: (userId, id, owner, call) => stub(userId).message(id, owner, call),
  };
}

/** Calls `notify` when a client leaves. @returns a function that removes the listener */
function onLeaving({ signal, waitUntil }: Client, notify: () => Promise<void>): () => void {
  const leave = (): void => waitUntil(notify().catch(() => undefined));
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return () => signal.removeEventListener('abort', leave);
}
