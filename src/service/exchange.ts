/** How `http/` passes requests on to other protocols under the product's path. */
import type { Caller } from '../auth/authenticate.ts';
import type { Runtime } from './runtime.ts';

/** A request that is passed on. */
export interface Exchange {
  readonly request: Request;
  readonly runtime: Runtime;
  readonly requestId: string;
  /** The origin of the request. */
  readonly host: URL;
  /** Reads the body as text. @throws SvcError 413, 400 */
  readText(): Promise<string>;
  /** Authenticates the request and applies the rate limits. @throws SvcError 401, 429, 503 */
  admitted(authenticate: () => Promise<Caller>): Promise<Caller>;
  /** Records the outcome for the log and the audit. @param outcome `noted`: the audit entry has already been written */
  record(outcome: { readonly code?: string; readonly noted?: boolean }): void;
}

/** A path under `/<product>` and its handler for all methods. */
export interface Mount {
  readonly path: string;
  answer(exchange: Exchange): Promise<Response>;
}
