/** The types that the operations work with: the runtime, requests, scripts and answers. */
import type { Caller, Principal } from '../auth/authenticate.ts';
import type { Earlier } from '../auth/resume.ts';
import type { Attempts } from '../auth/throttle.ts';
import type { CatalogDb } from '../catalog/db.ts';
import type { KeyValues } from '../catalog/kv.ts';
import type { Config } from '../config.ts';
import type { RowStream } from '../engine/rows.ts';
import type { SqlParser } from '../language/parser.ts';
import type { LanguageModels } from '../llm/types.ts';
import type { Presentation } from '../nesting/presentation.ts';
import type { OAuth } from '../oauth/types.ts';
import type { Shape } from '../ontology/shape.ts';
import type { BoundValue, NamedRelation } from '../planner/index.ts';
import type { BeginSpan, Timing } from '../timing.ts';
import type { Spending } from './spending.ts';

/** The dependencies of the operations. index.ts builds them for each request. */
export interface Runtime {
  readonly config: Config;
  readonly db: CatalogDb;
  readonly parser: SqlParser;
  readonly now: () => number;
  /** Lets work continue after the answer. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** Writes one structured line. */
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  /** Runs asynchronous statements; undefined: not available. */
  readonly asyncStatements?: AsyncStatements | undefined;
  /** The objects that run jobs; undefined: not available. */
  readonly jobs?: { wake(id: string, at: number): Promise<void>; ping(): Promise<void> } | undefined;
  /** Counts a request for a rate limit and returns false if it exceeds the limit; undefined: no rate limit. */
  readonly admit?: ((key: string) => Promise<boolean>) | undefined;
  /** Counts attempts to sign in; undefined: not counted. */
  readonly attempts?: Attempts | undefined;
  /** Delays an answer; undefined: answers are not delayed. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
  /** OAuth for the MCP server; undefined: not available. */
  readonly oauth?: OAuth | undefined;
  /** The language model for questions in words; undefined: not configured. */
  readonly llm?: LanguageModels | undefined;
  /** Begins a span of the request's trace; undefined: there are no traces. */
  readonly span?: BeginSpan | undefined;
  /** Counts a request, with the line of the log; undefined: not counted. */
  readonly measured?: ((line: Readonly<Record<string, unknown>>) => void) | undefined;
  /** Workers KV, as a cache of results and of the catalog; undefined: not bound. */
  readonly kv?: KeyValues | undefined;
}

/** A request with its caller. */
export interface ServiceRequest {
  readonly runtime: Runtime;
  readonly caller: Caller;
  readonly requestId: string;
  /** The budgets that all scripts of the request share. */
  readonly spending: Spending;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Ends also what goes on after the caller disconnects, as a refresh of a cached mapping does; undefined: nothing ends it. */
  readonly ends?: AbortSignal | undefined;
  /** The statements that all scripts of the request may have; null: all that the caller's rights allow. */
  readonly permitted: Permitted | null;
  /** `x-ontology-version` of the request: a version that the caller has seen. */
  readonly knownVersion: string | null;
  /** Called with the ontology and version that the answer is about. */
  readonly about: (ontology: string, version: string) => void;
  /** Called when the request has written its audit entry. */
  readonly noted?: (() => void) | undefined;
  /** Measures the request; undefined: it is not measured. */
  readonly timing?: Timing | undefined;
  /** Called with the name of the datasource that a statement is sent to. */
  readonly asks?: ((datasource: string) => void) | undefined;
  /** Called with the name of the datasource whose rows are returned, and who answered: 0 its own database, 1 its first replica. */
  readonly answeredBy?: ((datasource: string, place: number) => void) | undefined;
  /** True: no rows of replicas. */
  readonly fresh?: boolean | undefined;
  /** Called with the moment of the oldest cached rows that the answer reads, in milliseconds since 1970; undefined: it reads none. */
  readonly dataAsOf?: ((at: number | undefined) => void) | undefined;
  /** How the request uses the result cache; undefined: it does not use it. */
  readonly results?: ResultWish | undefined;
  /** Set if the request is a step of a job. */
  readonly steps?: Steps | undefined;
}

/** The steps of a job's run. */
export interface Steps {
  /** What the last step has left; undefined: this is the first one. */
  readonly state: unknown;
  /** Called with what the next step begins with, instead of an answer. */
  readonly keep: (state: unknown) => void;
}

/** The part of a request that functions with a budget need. */
export type Working = Pick<ServiceRequest, 'runtime' | 'spending'>;

/** The answer of a script: rows of the datasource as the bytes of a JSON array (`rows`), formatted rows from the result cache (`kept`), or rows of the service (`value`). */
export type Answer =
  | {
      readonly kind: 'rows';
      readonly rows: RowStream;
      /** The caller, for the memory limit of answers (answer-memory.ts). */
      readonly owner: string;
      /** What the columns of the rows are. */
      readonly shape: Shape;
      /** True if the rows are to be folded; they then have the columns of `nestedOrder(shape)`, in that order. */
      readonly nested: boolean;
      /** Stores the formatted rows in the result cache; undefined if they must not be cached. */
      readonly keep?: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined;
      /**
       * Runs the statement once more if its rows ended with an error that another plan avoids: the tables are distributed in another way by now. For callers who have passed on no row
       * yet. Undefined for any other error.
       */
      readonly again?: (error: unknown) => Promise<Answer | undefined>;
    }
  | ({ readonly kind: 'kept' } & KeptRows)
  | { readonly kind: 'value'; readonly data: readonly unknown[] };

/** How the result cache was used for an answer (`x-cache`). */
export type CacheState = 'hit' | 'miss' | 'bypass';

/** How a request uses the result cache. */
export interface ResultWish {
  /** Format and presentation of the rows. */
  readonly form: string;
  /** True: do not use a cached answer, and do not cache this one. */
  readonly bypass: boolean;
  /** Called with the state of the cache for this answer. */
  readonly onState: (state: CacheState) => void;
}

/** The formatted rows of an answer, without the text around them. */
export interface KeptRows {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of rows. */
  readonly rows: number;
}

/**
 * The statements that are permitted. `query`: a single SELECT. `read`: statements that change nothing; `read_only`: the same, by the header `x-read-only`. `model`: also statements that change ontologies and agents,
 * but not users, roles, tokens, grants, policies or datasources. `own_model`: only statements that read or change the ontology of the request.
 */
export type Permitted = 'query' | 'read' | 'read_only' | 'own_model' | 'model';

/** A text of statements, and how to run it. */
export interface Script {
  /** The ontology; `system_db` or an empty text: none. */
  readonly ontology: string;
  readonly sql: string;
  /** `results-limit`. */
  readonly limit: number | null;
  /** The datasource for queries that use no mapping; null: the active datasource. */
  readonly datasource: string | null;
  /** Values of `$1`, `$2`, ... if the service has written `sql` for a filter; undefined for a caller's text. */
  readonly bound?: readonly BoundValue[];
  /** Nest the rows if their columns allow it; `limit` and `offset` then count root objects. */
  readonly nested?: boolean;
  /** `_offset_` of a filter with nested rows. */
  readonly offset?: number;
  /** Returns whether a query may read a relation; undefined: everything that its caller may read. */
  readonly admits?: (relation: NamedRelation) => boolean;
  /** Restricts the statements further than the request does. */
  readonly permitted?: Permitted | undefined;
}

/** The reading rights of a caller, as a digest: equal digests imply equal rights. `ontology` is the ontology of the script, or null. */
export interface ReadingRights {
  readonly ontology: string | null;
  readonly digest: string;
}

/** A question in words over REST, as plain data: it may be answered after its request has ended. */
export interface RestQuestion {
  /** What is wanted: the rows, or an answer in words. */
  readonly kind: 'prompt' | 'answer';
  readonly prompt: string;
  /** Names from the headers; null if absent. */
  readonly ontology: string | null;
  readonly agent: string | null;
  /** `results-limit`. */
  readonly limit: number | null;
  readonly onAmbiguity: 'ask' | 'first' | null;
  /** The reading that the caller chose. */
  readonly reading: string | null;
  /** The id of the conversation, as sent. */
  readonly conversation: string | null;
}

/** An asynchronous statement as plain data, for storage. */
export interface AsyncJob {
  /** The `response_id`. */
  readonly id: string;
  readonly caller: Earlier & Pick<Principal, 'name'>;
  /** The owner of the result (`ownerOf`). */
  readonly owner: string;
  /** The rights when the statement was sent. */
  readonly rights: ReadingRights;
  readonly script: Script;
  readonly requestId: string;
  /** As in `ServiceRequest`; undefined: the job was stored by an earlier release, which had it in the script. */
  readonly permitted?: Permitted | null | undefined;
  /** As in `ServiceRequest`. */
  readonly fresh?: boolean | undefined;
  /** The version of the ontology when the statement was sent. */
  readonly knownVersion: string | null;
  /** The presentation of its rows. */
  readonly presentation: Presentation;
  /** Where its rows came from, for the headers of its answer. */
  readonly origin?: RowsOrigin | undefined;
  /** The question, if the job answers one. `script` then only names its ontology. */
  readonly question?: RestQuestion | undefined;
}

/** Where the rows of an answer came from: the arguments of `answeredBy` and `dataAsOf`, for its headers. */
export interface RowsOrigin {
  readonly source?: readonly [datasource: string, place: number] | undefined;
  readonly asOf?: number | undefined;
}

/** The state of an asynchronous statement. `first` is the first piece of the JSON array of rows, `pieces` the number of pieces. */
export type AsyncPoll =
  | { readonly state: 'running' }
  | {
      readonly state: 'completed';
      readonly version: string | null;
      readonly pieces: number;
      readonly first: Uint8Array;
      readonly rights: ReadingRights;
      readonly origin?: RowsOrigin | undefined;
    }
  | { readonly state: 'error'; readonly version: string | null; readonly error: string; readonly rights: ReadingRights };

/** Runs asynchronous statements: one Durable Object per statement, named by its id, and one per user that counts those that wait or run. */
export interface AsyncStatements {
  /** Counts a statement under a key (`countedAs`) for at most `leaseMs`. @returns false if `most` others wait or run */
  take(key: string, id: string, most: number, leaseMs: number): Promise<boolean>;
  /** Ends what `take` began. */
  release(key: string, id: string): Promise<void>;
  /** Stores the job, which then runs independently of the request. */
  start(job: AsyncJob): Promise<void>;
  /** Returns the state; null if the statement does not exist, was deleted, or has another owner. */
  poll(id: string, owner: string): Promise<AsyncPoll | null>;
  /** Returns a piece of the rows; null if they were deleted. */
  piece(id: string, owner: string, n: number): Promise<Uint8Array | null>;
}
