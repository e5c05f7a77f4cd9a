/** The options of agents (docs/design/statements-and-versions.md#agents). */
import { badRequest } from '../../errors.ts';
import type { TagList } from '../../language/statements.ts';
import { fold, schemaNamed } from '../../ontology/names.ts';
import { unknownInStatement } from './lookup.ts';

type Kind =
  | { readonly type: 'text' }
  | { readonly type: 'schema' }
  | { readonly type: 'boolean' }
  | { readonly type: 'number'; readonly least: number; readonly most: number };

const text: Kind = { type: 'text' };
const boolean: Kind = { type: 'boolean' };
const number = (least: number, most: number): Kind => ({ type: 'number', least, most });

const OPTIONS: Readonly<Record<string, Kind>> = {
  concepts_list: text,
  views_list: text,
  include_tags: text,
  note: text,
  retries: number(0, 100),
  max_limit: number(1, 1_000_000),
  retry_if_no_results: boolean,
  no_results_max_retries: number(0, 100),
  db_is_case_sensitive: boolean,
  enable_reasoning: boolean,
  reasoning_steps: number(0, 100),
  max_graph_depth: number(0, 32),
  graph_depth: number(0, 32),
  schema: { type: 'schema' },
  include_logic_concepts: boolean,
  exclude_properties: text,
  should_validate_sql: boolean,
  enable_memory: boolean,
  memory_window_size: number(0, 20),
  // stored for clients that read them; they change nothing here
  concept: text,
  should_validate: boolean,
  enable_trace: boolean,
  enable_history: boolean,
  history_save_results: boolean,
  enable_ontology_questions: boolean,
  enable_technical_context: boolean,
  technical_context_mode: text,
  technical_context_max_tokens: number(0, 1_000_000),
  technical_context_properties: text,
  metadata_context_mode: text,
  metadata_context_max_tokens: number(0, 1_000_000),
  llm_type: text,
  llm_model: text,
  use_deterministic_scoring: boolean,
  use_llm_judge_scoring: boolean,
};

/** Options of other programs that are refused, with the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  ontology: 'The list ONTOLOGY (...) names the ontologies of an agent',
  llm_api_key: 'Everyone who sees the agent can read its options; a key belongs into the settings of the program that uses it',
};

/**
 * Validates options and returns them as they are stored: names and booleans in lower case. An empty text means the default.
 * @param values the values of the list, by folded name
 * @param product PRODUCT_NAME, which names of schemas may contain
 * @throws SvcError 400 `unknown_option`, `bad_value`
 */
export function agentOptions(list: TagList, values: Readonly<Record<string, string>>, product: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    list.map(({ key }) => {
      const name = fold(key.text);
      const kind = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
      if (Object.hasOwn(REFUSED, name)) {
        throw badRequest('unknown_option', `\`${name}\` cannot be an option of an agent`, { offset: key.offset, hint: REFUSED[name] });
      }
      if (kind === undefined) throw unknownInStatement('option', key, Object.keys(OPTIONS));
      const value = values[name] ?? '';
      const bad = (rule: string) => badRequest('bad_value', `the option \`${name}\` must be ${rule}`, { offset: key.offset });
      if (value === '' || kind.type === 'text') return [name, value];
      if (kind.type === 'schema') {
        if (schemaNamed(value, product) === undefined) throw bad(`one of ${['', 'e', 'd', 'v'].map((letter) => letter + product).join(', ')}`);
        return [name, value];
      }
      if (kind.type === 'boolean') {
        if (!/^(true|false)$/i.test(value)) throw bad('true or false');
        return [name, fold(value)];
      }
      if (!/^\d{1,9}$/.test(value) || Number(value) < kind.least || Number(value) > kind.most) throw bad(`a whole number from ${kind.least} to ${kind.most}`);
      return [name, value];
    }),
  );
}
