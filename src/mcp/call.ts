/** What the front Worker passes to a principal's object: plain data, as arguments of RPC methods. */
import type { Principal } from '../auth/authenticate.ts';
import { type Earlier, earlierOf } from '../auth/resume.ts';
import type { Budget } from '../nesting/cut.ts';
import type { Named, Runtime, ServiceRequest, Spending, Target } from '../service.ts';
import type { Message } from './messages.ts';
import type { Spliced } from './spliced.ts';

/** The authenticated caller. It contains no credential. */
export interface McpCaller extends Earlier {
  readonly name: string;
  /** Scopes of an OAuth access token; null for other credentials, which have no scopes. */
  readonly scopes: readonly string[] | null;
}

/** One POST. */
export interface McpCall {
  /** A unique id, to abort the call when its client leaves. */
  readonly callId: string;
  readonly caller: McpCaller;
  readonly named: Named;
  /** Whether the URL has `?mode=model`. */
  readonly modelling: boolean;
  /** Whether no rows of replicas are wanted. */
  readonly fresh: boolean;
  /** The `www-authenticate` header for a statement that changes the model, if the access token lacks the scope; otherwise null. */
  readonly scopeChallenge: string | null;
  readonly body: Message | readonly Message[];
  /** Whether the text of a result contains its rows too: not if the URL has `?content=structured`. */
  readonly repeatsRows: boolean;
  /** Whether the client accepts `text/event-stream`, in which notifications can precede an answer. */
  readonly takesStreams: boolean;
  /** The request headers that the protocol uses. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
}

/** The context of a call, for tools, resources and prompts. */
export interface Session {
  readonly runtime: Runtime;
  readonly caller: ServiceRequest['caller'];
  readonly target: Target;
  /** Whether execute_sql may change the model: the URL asks for it, and no scope forbids it. */
  readonly modelling: boolean;
  /** Whether no rows of replicas are wanted. */
  readonly fresh?: boolean | undefined;
  /** Called for a statement that is forbidden only because of the access token's scope. */
  readonly lacksScope?: (() => void) | undefined;
  readonly requestId: string;
  /** The budget that all its messages share. */
  readonly spending: Spending;
  /** What the rows of all its answers may take together. */
  readonly answers: Budget;
  /** Takes the rows of results that go into the answer as they are. */
  readonly spliced: Spliced;
  /** Reads a file of the console's build; undefined if there is no such file. Unset in a service without the console. */
  readonly page?: ((name: string) => Promise<string | undefined>) | undefined;
  /** Its messages. */
  readonly body: McpCall['body'];
}

/** The part of a principal that is kept to resume as that caller. */
export const callerOf = (principal: Principal, scopes: readonly string[] | null): McpCaller => ({ ...earlierOf(principal), name: principal.name, scopes });

/** The service request for something that reads. No script of it changes anything. */
export const readingRequest = ({ runtime, caller, requestId, spending, fresh }: Session, signal: AbortSignal): ServiceRequest => ({
  runtime,
  caller,
  requestId,
  spending,
  signal,
  permitted: 'read',
  fresh,
  knownVersion: null,
  about: () => undefined,
});
