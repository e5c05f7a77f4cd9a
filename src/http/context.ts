/** The context of a request in Hono. */
import type { Context } from 'hono';
import type { Caller } from '../auth/authenticate.ts';
import type { Runtime } from '../service/runtime.ts';
import type { CacheState } from '../service.ts';
import type { Timing } from '../timing.ts';

export interface Variables {
  requestId: string;
  timing: Timing;
  /** Set after authentication. */
  caller?: Caller;
  /** The SQL of the request; positions of errors refer to it. */
  sql?: string;
  /** Name of the ontology that the request is about, for the log. */
  ontology?: string;
  /** The value of x-ontology-version in answers about an ontology. */
  version?: string;
  /** The moment of the oldest cached rows that the answer reads. */
  dataAsOf?: number | undefined;
  /** How the result cache was used; unset if it is off. */
  cache?: CacheState;
  /** The number of rows that were sent, if it is known before the log line is written. */
  rows?: number;
  /** The size of the answer with its rows: of the whole body, or of the rows that the datasource has streamed. */
  bytes?: number;
  /** Name of the datasource that was asked last, for the log. */
  datasource?: string;
  /** The value of x-datasource: which database has returned the rows. */
  source?: string;
  /** Settles when the rows of an answer have been sent. */
  sent?: Promise<unknown>;
  /** Forgets the memory of the body (large-body.ts). */
  release?: () => void;
  /** The code of an error answer. */
  code?: string;
  /** True if the audit entry of the request was already written. */
  noted?: boolean;
  /** The underlying fault of an error answer, for the log. */
  cause?: unknown;
}

export interface AppEnv {
  /** Created by index.ts for each request. */
  Bindings: {
    readonly runtime: Runtime;
    /** The files of the console; undefined if they were not built. */
    readonly assets?: Pick<Fetcher, 'fetch'> | undefined;
  };
  Variables: Variables;
}

export type AppContext = Context<AppEnv>;
