/** What a face hands on to another protocol's face under the product's path. */
import type { Caller } from '../auth/authenticate.ts';
import type { Runtime } from './runtime.ts';

/** A request as it is handed on. */
export interface Exchange {
  readonly request: Request;
  readonly runtime: Runtime;
  readonly requestId: string;
  /** The address whose host the client asked for. */
  readonly host: URL;
  /** The body's text. @throws SvcError 413, 400 */
  readText(): Promise<string>;
  /** Judges a credential and counts the request. @throws SvcError 401, 429, 503 */
  admitted(judge: () => Promise<Caller>): Promise<Caller>;
  /** Told what the log and the audit say of the request; `noted`: what it did is in the audit already. */
  tell(told: { readonly code?: string; readonly noted?: boolean }): void;
}

/** A path under `/<product>` and what answers there, whatever the method. */
export interface Mount {
  readonly path: string;
  answer(exchange: Exchange): Promise<Response>;
}
