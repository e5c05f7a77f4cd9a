/**
 * The requests of a public client's chains, in their order: the file that sends each of them, and what that file reads of the answer. Version: langchain_timbr at 97d160a; paths
 * below src/langchain_timbr. client-chains.test.ts sends them.
 */
import { expect } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: answers of many requests
export type Json = any;

/** A request of a chain. `sql` goes to the ontology of the chain, or to that of the row. */
export interface Step {
  readonly file: string;
  readonly sql?: string;
  readonly ontology?: string;
  /** The path below the address, and the body of a POST; without a body it is a GET. */
  readonly path?: string;
  readonly body?: object;
  /** Reads the answer as the file does. */
  readonly reads: (answer: Json) => void;
}

const HELD = '018f5d2e-0000-7000-8000-000000000001';
const FOLLOWS = '018f5d2e-0000-7000-8000-000000000002';
export const CONVERSATION = 'chat 7';
export const SQL = 'SELECT `made_by[maker].maker_name` AS maker, COUNT(*) AS n FROM `dtimbr`.`item` GROUP BY 1 ORDER BY 1';
export const NEXT = "SELECT COUNT(*) AS n FROM `dtimbr`.`item` WHERE `made_by[maker].maker_name` = 'Aco'";

const ok = (answer: Json): void => expect(answer).toEqual({ status: 'success' });
const template =
  (...placeholders: string[]) =>
  (answer: Json): void => {
    expect(answer.status).toBe('success');
    const text: string = answer.data.map((m: Json) => m.template).join('\n');
    // what remains of Python's format() after its doubled braces are removed
    const used = [...text.replaceAll(/\{\{|\}\}/g, '').matchAll(/\{(\w+)\}/g)].map((m) => m[1]);
    expect([...new Set(used)].sort()).toEqual(placeholders.sort());
  };

/** The first questions of utils/timbr_llm_utils.py, determine_concept. */
export const IDENTIFY: readonly Step[] = [
  { file: 'utils/timbr_utils.py', sql: 'SHOW VERSION', reads: (a) => expect(a[0].id).toMatch(/^[0-9a-f-]{36}$/) },
  { file: 'utils/timbr_utils.py', sql: 'SHOW TAGS', reads: (a) => expect(a).toEqual([]) },
  { file: 'utils/timbr_utils.py', sql: 'SHOW TABLES IN dtimbr', reads: (a) => expect(a.length).toBeGreaterThan(0) },
  {
    file: 'utils/timbr_utils.py',
    sql: `SELECT * FROM (
                SELECT concept, description, 'false' AS is_view
                FROM timbr.sys_concepts WHERE concept IN (SELECT DISTINCT concept FROM timbr.sys_concept_properties)
                UNION ALL
                SELECT view_name AS concept, description, 'true' AS is_view
                FROM timbr.sys_views
            ) AS combined
            ORDER BY is_view ASC`,
    reads: (a) => expect(a.map((r: Json) => r.concept).sort()).toEqual(['item', 'maker']),
  },
  { file: 'utils/prompt_service.py', path: '/timbr/api/llm_prompts/identify_concept', body: {}, reads: template('question', 'concepts', 'note') },
];

/** From the concept to the SQL and its check: utils/timbr_llm_utils.py, generate_sql. */
export const generate = (sql: string): readonly Step[] => [
  {
    file: 'kbclient.py',
    sql: "SELECT knowledge_bases FROM timbr.sys_agents WHERE LOWER(agent_name) = LOWER('seller')",
    reads: (a) => expect(a[0].knowledge_bases).toBe('shop'),
  },
  {
    file: 'kbclient.py',
    sql: "SELECT knowledge_base, rule_name, rule_type, target_name, target_type, instructions, changed_on FROM timbr.sys_knowledgebase_rules WHERE knowledge_base IN ('shop')",
    reads: (a) => expect(a).toEqual([]),
  },
  {
    file: 'utils/timbr_utils.py',
    sql: 'SHOW DATASOURCES',
    reads: (a) => expect(a.filter((r: Json) => r.is_active).map((r: Json) => r.target_type)).toEqual(['postgres']),
  },
  {
    file: 'utils/timbr_utils.py',
    sql: "describe concept `dtimbr`.`item` options (graph_depth='1')",
    reads: (a) => expect(a.map((r: Json) => r.col_name)).toEqual(expect.arrayContaining(['sku', 'title', 'made_by[maker].maker_name'])),
  },
  {
    file: 'technical_context/statistics_loader/stats_fetcher.py',
    sql: "SELECT property_name, target_name, target_type, distinct_count, non_null_count, stats, updated_at FROM timbr.sys_properties_statistics WHERE target_type = 'mapping' AND target_name IN ('map_item') AND property_name IN ('title')",
    reads: (a) => expect(a).toEqual([]),
  },
  { file: 'utils/timbr_utils.py', sql: `EXPLAIN ${sql}`, reads: (a) => expect(a[0].PLAN).toMatch(/\S/) },
  { file: 'utils/timbr_utils.py', sql: `SELECT * FROM (${sql}) explainable_query WHERE 1=0`, reads: (a) => expect(a).toEqual([]) },
];

export const AGENT: readonly Step[] = [
  {
    file: 'utils/timbr_utils.py',
    ontology: 'shop',
    sql: "SELECT option_name, option_value FROM timbr.sys_agents_options WHERE LOWER(agent_name) = LOWER('seller')",
    reads: (a) =>
      expect(Object.fromEntries(a.map((r: Json) => [r.option_name, r.option_value]))).toEqual({ ontology: 'shop', note: 'In euro', enable_trace: 'true' }),
  },
  {
    file: 'utils/chain_logger.py',
    path: '/timbr-server/log_agent/running',
    body: {
      query_id: HELD,
      agent_name: 'seller',
      chain_type: 'TimbrSqlAgent',
      ontology: 'shop',
      question: 'Items by maker',
      start_time: '2026-01-01 10:00:00',
    },
    reads: ok,
  },
  {
    file: 'utils/memory.py',
    path: `/timbr/api/fetch_conversation_history/?conversation_id=${encodeURIComponent(CONVERSATION)}&top=3`,
    reads: (a) => expect(a.data).toEqual([]),
  },
  {
    file: 'kbclient.py',
    path: '/timbr/api/kb/search',
    body: { question: 'How many items are there', knowledge_bases: ['shop'], top_k: 5, high_threshold: 0.8, medium_threshold: 0.5 },
    reads: (a) => {
      expect(a.match_level).toBe('high');
      expect(a.matches).toHaveLength(1);
      const [{ confidence, validate_sql, ...match }] = a.matches;
      expect([confidence, validate_sql]).toEqual([1, 1]);
      expect(match).toMatchObject({
        knowledge_base: 'shop',
        example_name: 'How many items are there?',
        instructions: 'Counts all items',
        query: 'SELECT COUNT(*) AS n FROM timbr.item',
      });
    },
  },
  {
    file: 'utils/prompt_service.py',
    path: '/timbr/api/llm_prompts/memory_kb_classifier',
    body: {},
    reads: template('question', 'conversation_history', 'concept_names', 'kb_examples'),
  },
  ...IDENTIFY,
  {
    file: 'utils/chain_logger.py',
    path: '/timbr-server/log_agent/running_update_step',
    body: { query_id: HELD, agent_name: 'seller', current_step: 'generating_sql', concept: 'item' },
    reads: ok,
  },
  ...generate(SQL),
  {
    file: 'langchain/execute_timbr_query_chain.py',
    sql: SQL,
    reads: (a) =>
      expect(a).toEqual([
        { maker: 'Aco', n: 2 },
        { maker: 'Bex', n: 1 },
      ]),
  },
  {
    file: 'utils/prompt_service.py',
    path: '/timbr/api/llm_prompts/generate_answer',
    body: {},
    reads: template('question', 'additional_context', 'note', 'formatted_rows'),
  },
  {
    file: 'utils/chain_logger.py',
    path: '/timbr-server/log_agent/trace',
    body: { trace_id: 't', query_id: HELD, chain_type: 'GenerateTimbrSqlChain', sequence: 1, status: 'completed' },
    reads: ok,
  },
  {
    file: 'utils/chain_logger.py',
    path: '/timbr-server/log_agent/history',
    body: {
      query_id: HELD,
      agent_name: 'seller',
      ontology: 'shop',
      schema: 'dtimbr',
      question: 'Items by maker',
      start_time: '2026-01-01 10:00:00',
      end_time: '2026-01-01 10:00:02',
      duration: 2000,
      status: 'completed',
      concept: 'item',
      generated_sql: SQL,
      total_tokens: 900,
      retry_count: 1,
      no_results_retry_count: 0,
      answer: 'Aco makes two.',
      has_results: true,
      results: [{ maker: 'Aco', n: 2 }],
      conversation_id: CONVERSATION,
    },
    reads: ok,
  },
];

export const SECOND: readonly Step[] = [
  {
    file: 'utils/memory.py',
    path: `/timbr/api/fetch_conversation_history/?conversation_id=${encodeURIComponent(CONVERSATION)}&top=3`,
    reads: (a) =>
      expect(a.data).toMatchObject([
        { message_id: HELD, question: 'Items by maker', answer: 'Aco makes two.', sql: SQL, is_follow_up: false, parent_query_id: null },
      ]),
  },
  ...generate(NEXT),
  { file: 'langchain/execute_timbr_query_chain.py', sql: NEXT, reads: (a) => expect(a).toEqual([{ n: 2 }]) },
  {
    file: 'utils/chain_logger.py',
    path: '/timbr-server/log_agent/history',
    body: {
      query_id: FOLLOWS,
      agent_name: 'seller',
      ontology: 'shop',
      question: 'and of Aco?',
      start_time: '2026-01-01 10:01:00',
      duration: 900,
      status: 'completed',
      concept: 'item',
      generated_sql: NEXT,
      is_follow_up: true,
      parent_query_id: HELD,
      answer: 'Two.',
      conversation_id: CONVERSATION,
    },
    reads: ok,
  },
  {
    // the last message, with the one that it follows
    file: 'utils/memory.py',
    path: `/timbr/api/fetch_conversation_history/?conversation_id=${encodeURIComponent(CONVERSATION)}&top=1`,
    reads: (a) =>
      expect(a.data.map((m: Json) => [m.message_id, m.is_follow_up, m.parent_query_id])).toEqual([
        [HELD, false, null],
        [FOLLOWS, true, HELD],
      ]),
  },
];

export const SEVERAL: readonly Step[] = [
  {
    file: 'utils/timbr_utils.py',
    ontology: 'system_db',
    sql: "SELECT option_name, option_value FROM timbr.sys_agents_options WHERE LOWER(agent_name) = LOWER('both')",
    reads: (a) => expect(a).toEqual([{ option_name: 'ontology', option_value: 'shop,depot' }]),
  },
  ...['shop', 'depot'].flatMap((ontology): Step[] => [
    {
      file: 'utils/timbr_utils.py',
      ontology,
      sql: `SELECT description FROM timbr.sys_ontologies WHERE ontology = '${ontology}'`,
      reads: (a) => expect(a[0].description).toMatch(/goods|places/),
    },
    {
      file: 'utils/timbr_utils.py',
      ontology,
      sql: `SELECT name, description, ontologies FROM timbr.sys_domains WHERE ontologies like '%${ontology}%'`,
      reads: (a) => expect(a).toEqual([]),
    },
    {
      file: 'utils/timbr_utils.py',
      ontology,
      sql: "SELECT concept, description, 'false' AS is_view FROM timbr.sys_concepts ORDER BY is_view ASC",
      reads: (a) => expect(a.length).toBe(ontology === 'shop' ? 2 : 1),
    },
  ]),
  {
    file: 'langchain/execute_timbr_query_chain.py',
    ontology: 'depot',
    sql: 'SELECT COUNT(*) AS n FROM `dtimbr`.`shelf`',
    reads: (a) => expect(a).toEqual([{ n: 2 }]),
  },
  {
    file: 'kbclient.py',
    sql: 'SELECT knowledge_base, ontologies, changed_on FROM timbr.sys_knowledgebase',
    reads: (a) => expect(a.map((r: Json) => r.ontologies).sort()).toEqual(['depot', 'shop']),
  },
];

export const BENCHMARK: readonly Step[] = [
  {
    file: 'utils/timbr_utils.py',
    ontology: 'system_db',
    sql: "SELECT * FROM timbr.SYS_AGENTS_BENCHMARKS WHERE LOWER(benchmark_name) = LOWER('Seller')",
    reads: (a) => {
      expect(a[0]).toMatchObject({ benchmark_name: 'seller', agent_name: 'seller', number_of_questions: 1, changed_by_user: 'admin' });
      const questions = JSON.parse(a[0].benchmark);
      expect(questions).toEqual({
        Q1: { question: 'How many items are there?', correct_sql: 'SELECT COUNT(*) AS n FROM timbr.item', correct_ontology: 'shop' },
      });
    },
  },
  { file: 'utils/benchmark.py', path: '/timbr-server/log_benchmark/running', body: { run_id: 'r1', agent_name: 'seller', total: 1 }, reads: ok },
  { file: 'utils/benchmark.py', sql: 'SELECT COUNT(*) AS n FROM timbr.item', reads: (a) => expect(a).toEqual([{ n: 3 }]) },
  {
    file: 'utils/prompt_service.py',
    path: '/timbr/api/llm_prompts/benchmark_judge',
    body: {},
    reads: template('question', 'generated_sql', 'answer_context', 'expected_sql_context', 'expected_answer_context'),
  },
  {
    file: 'utils/benchmark.py',
    path: '/timbr-server/log_benchmark/running_update_completed',
    body: { run_id: 'r1', completed: 1, agent_name: 'seller' },
    reads: ok,
  },
  { file: 'utils/benchmark.py', path: '/timbr-server/log_benchmark/history', body: { run_id: 'r1', agent_name: 'seller', results: {} }, reads: ok },
];
