/** What the operations work with: the parts of the service, and the request that they answer. */
import type { Caller } from '../auth/authenticate.ts';
import type { Attempts } from '../auth/throttle.ts';
import type { CatalogDb } from '../catalog/db.ts';
import type { KeyValues } from '../catalog/kv.ts';
import type { Config } from '../config.ts';
import type { RowStream } from '../engine/rows.ts';
import type { SqlParser } from '../language/parser.ts';
import type { LanguageModels } from '../llm/types.ts';
import type { OAuth } from '../oauth/types.ts';
import type { Shape } from '../ontology/shape.ts';
import type { AsyncStatements } from './async.ts';
import type { KeptRows, ResultWish } from './results.ts';
import type { Spending } from './spending.ts';

/** The parts, as index.ts puts them together for a request. */
export interface Runtime {
  readonly config: Config;
  readonly db: CatalogDb;
  readonly parser: SqlParser;
  readonly now: () => number;
  /** Lets work go on after the answer. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** Writes one structured line. */
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  /** Where statements run on after their request; undefined: nowhere. */
  readonly asyncStatements?: AsyncStatements | undefined;
  /** Counts a request of that key; false: one too many. Undefined: nothing is counted. */
  readonly admit?: ((key: string) => Promise<boolean>) | undefined;
  /** Counts attempts to sign in; undefined: they are not counted. */
  readonly attempts?: Attempts | undefined;
  /** Waits, with an answer that is held back; undefined: nothing is waited for. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
  /** OAuth for the MCP server; undefined: not offered. */
  readonly oauth?: OAuth | undefined;
  /** The language model for questions in words; undefined: none is configured. */
  readonly llm?: LanguageModels | undefined;
  /** Workers KV: results, and what spares cold isolates reads of the catalog. Undefined: none is bound. */
  readonly kv?: KeyValues | undefined;
}

/** A request with its caller. */
export interface ServiceRequest {
  readonly runtime: Runtime;
  readonly caller: Caller;
  readonly requestId: string;
  /** What all scripts of the request may use together. */
  readonly spending: Spending;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  /** `x-ontology-version` of the request: a version that the caller has seen. */
  readonly knownVersion: string | null;
  /** Says which ontology, in which version, the answer is about. */
  readonly about: (ontology: string, version: string) => void;
  /** Told when the request has written an entry of its own to the audit. */
  readonly noted?: (() => void) | undefined;
  /** What it says of the result cache; undefined: nothing is looked up or kept. */
  readonly results?: ResultWish | undefined;
}

/** A request as that which works for it needs it. */
export type Working = Pick<ServiceRequest, 'runtime' | 'spending'>;

/** What a script answers: rows of the datasource as the bytes of a JSON array, rows in the form that was asked for out of the result cache, or rows of the service's own. */
export type Answer =
  | {
      readonly kind: 'rows';
      readonly rows: RowStream;
      /** What the columns of the rows are. */
      readonly shape: Shape;
      /** Whether the rows are made for folding: they hold the columns of `nestedOrder(shape)`, in that order. */
      readonly nested: boolean;
      /** Takes the rows as they are sent, where they may be kept. */
      readonly keep?: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined;
    }
  | ({ readonly kind: 'kept' } & KeptRows)
  | { readonly kind: 'value'; readonly data: readonly unknown[] };
