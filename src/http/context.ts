/** What travels with a request through the routes. */
import type { Context } from 'hono';
import type { Caller } from '../auth/authenticate.ts';
import type { Runtime } from '../service/runtime.ts';
import type { CacheState } from '../service.ts';

export interface Variables {
  requestId: string;
  /** Set once the credential was judged. */
  caller?: Caller;
  /** The SQL that was sent: positions of errors count its characters. */
  sql?: string;
  /** Name of the ontology that the request is about, for the log. */
  ontology?: string;
  /** What an answer about an ontology carries in x-ontology-version. */
  version?: string;
  /** What the result cache did for an answer; unset: it is off. */
  cache?: CacheState;
  /** How many rows were sent, where that is known before the log's line. */
  rows?: number;
  /** Settles when the rows of an answer have been sent. */
  sent?: Promise<unknown>;
  /** The code of an error answer. */
  code?: string;
  /** The request has its entry in the audit. */
  noted?: boolean;
  /** The fault underneath an error answer, for the log. */
  cause?: unknown;
}

export interface AppEnv {
  /** Made for each request by index.ts. */
  Bindings: { readonly runtime: Runtime };
  Variables: Variables;
}

export type AppContext = Context<AppEnv>;
