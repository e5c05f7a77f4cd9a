/** What the front Worker hands to a principal's object: plain data, as arguments of RPC methods. */
import type { Principal } from '../auth/authenticate.ts';
import { type Earlier, earlierOf } from '../auth/resume.ts';
import type { Runtime, ServiceRequest, Spending } from '../service.ts';
import type { Message } from './messages.ts';
import type { Spliced } from './spliced.ts';
import type { Named, Target } from './target.ts';

/** Who came in and how; no credential. */
export interface McpCaller extends Earlier {
  readonly name: string;
  /** Scopes of an OAuth access token; null: another credential, which is not bounded by scopes. */
  readonly scopes: readonly string[] | null;
}

/** One POST. */
export interface McpCall {
  /** Its own, by which it is ended when its client leaves. */
  readonly callId: string;
  readonly caller: McpCaller;
  readonly named: Named;
  /** The address says `?mode=model`. */
  readonly modelling: boolean;
  /** What to say in `www-authenticate` to a statement that changes the model, where the access token lacks the scope; null: it does not. */
  readonly scopeChallenge: string | null;
  readonly body: Message | readonly Message[];
  /** Whether the client takes `text/event-stream`, in which notifications can come before an answer. */
  readonly takesStreams: boolean;
  /** The headers that the protocol reads. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string;
}

/** What the tools, resources and prompts of a call work with. */
export interface Session {
  readonly runtime: Runtime;
  readonly caller: ServiceRequest['caller'];
  readonly target: Target;
  /** Whether execute_sql may change the model: the address says so, and no scope forbids it. */
  readonly modelling: boolean;
  /** Told of a statement that the scope of the access token alone forbids. */
  readonly lacksScope?: (() => void) | undefined;
  readonly requestId: string;
  /** What all its messages may use together. */
  readonly spending: Spending;
  /** Takes the rows of results that go into the answer as they are. */
  readonly spliced: Spliced;
  /** Its messages. */
  readonly body: McpCall['body'];
}

/** What is kept of a principal to go on as it. */
export const callerOf = (principal: Principal, scopes: readonly string[] | null): McpCaller => ({ ...earlierOf(principal), name: principal.name, scopes });
