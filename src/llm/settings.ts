/** The settings of a question: the options of the agent, narrowed by the arguments of the call (docs/design/mcp.md#settings-of-a-question). */
import { schemaNamed } from '../service.ts';
import type { OnAmbiguity } from './readings.ts';
import { narrowed, type Scope, scopeOf } from './scope.ts';

/** The arguments that the four tools share; undefined if absent. */
export interface Arguments {
  readonly concepts_list?: readonly string[] | undefined;
  readonly views_list?: readonly string[] | undefined;
  readonly include_tags?: readonly string[] | undefined;
  readonly max_limit?: number | undefined;
  readonly note?: string | undefined;
  readonly db_is_case_sensitive?: boolean | undefined;
  readonly on_ambiguity?: OnAmbiguity | undefined;
  readonly reading?: string | undefined;
}

export interface Settings {
  readonly scope: Scope;
  readonly note: string;
  readonly maxLimit: number;
  /** The number of additional model calls for the SQL, after the first one. */
  readonly retries: number;
  /** The number of them that may be used because a statement returned no rows; 0 for none. */
  readonly emptyRetries: number;
  readonly caseSensitive: boolean;
  /** The number of model calls that may be used to review the SQL; 0 for none. */
  readonly reviews: number;
  /** The maximum number of relationships in a path; undefined for no limit. */
  readonly depth: number | undefined;
  /** What happens if the question has several readings; undefined: the default of the tool. */
  readonly onAmbiguity: OnAmbiguity | undefined;
  /** The reading that the caller chose, or null for a first question. */
  readonly reading: string | null;
  /** How many earlier questions of the conversation the model is shown. */
  readonly earlier: number;
  /** Names of columns that the model is not shown. */
  readonly hiddenColumns: readonly string[];
}

const DEFAULT_RETRIES = 3;
const DEFAULT_ROWS = 500;
const DEFAULT_EMPTY_RETRIES = 2;
const DEFAULT_REVIEWS = 1;
const DEFAULT_EARLIER = 5;
const MAX_NOTE = 8_000;
const MAX_READING = 1_000;

/** @param options the agent's options from the catalog; an empty text means the default @param product PRODUCT_NAME, which names of schemas may contain */
export function settingsOf(options: Readonly<Record<string, string>>, args: Arguments, product = 'svc'): Settings {
  const text = (name: string): string | undefined => options[name] || undefined;
  const number = (name: string, otherwise: number): number => Number(text(name) ?? otherwise);
  const list = (name: string): readonly string[] | undefined =>
    text(name)
      ?.split(',')
      .map((t) => t.trim())
      .filter((t) => t !== '');
  const agentLimit = text('max_limit') === undefined ? undefined : number('max_limit', DEFAULT_ROWS);
  const schema = schemaNamed(text('schema') ?? '', product);
  const named = scopeOf({ concepts_list: list('concepts_list'), views_list: list('views_list'), include_tags: list('include_tags') });
  const scope = narrowed(schema === 'vsvc' ? { ...named, concepts: [] } : named, scopeOf(args));
  // other programs begin with graph_depth and go up to max_graph_depth
  const depth = text('max_graph_depth') ?? text('graph_depth');
  return {
    scope: text('include_logic_concepts') === 'false' ? { ...scope, withoutLogic: true } : scope,
    note: [text('note'), args.note?.trim()]
      .filter((t) => t)
      .join('\n')
      .slice(0, MAX_NOTE),
    maxLimit: Math.min(agentLimit ?? Number.POSITIVE_INFINITY, args.max_limit ?? agentLimit ?? DEFAULT_ROWS),
    // the statement is always checked; an invalid one is not corrected then
    retries: text('should_validate_sql') === 'false' ? 0 : number('retries', DEFAULT_RETRIES),
    emptyRetries: text('retry_if_no_results') === 'false' ? 0 : number('no_results_max_retries', DEFAULT_EMPTY_RETRIES),
    caseSensitive: args.db_is_case_sensitive ?? text('db_is_case_sensitive') === 'true',
    reviews: text('enable_reasoning') === 'true' ? number('reasoning_steps', DEFAULT_REVIEWS) : 0,
    // only dsvc has paths
    depth: schema === 'svc' || schema === 'esvc' ? 0 : depth === undefined ? undefined : Number(depth),
    onAmbiguity: args.on_ambiguity,
    reading: args.reading?.trim().slice(0, MAX_READING) || null,
    earlier: text('enable_memory') === 'false' ? 0 : number('memory_window_size', DEFAULT_EARLIER),
    hiddenColumns: list('exclude_properties') ?? [],
  };
}
