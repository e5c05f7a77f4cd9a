import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../../src/errors.ts';
import { agentOptions } from '../../../../src/service/caller/agent-options.ts';

function outcome(options: Record<string, string>): unknown {
  const list = Object.entries(options).map(([text, value], i) => ({ key: { text, offset: i }, value }));
  try {
    return agentOptions(list, Object.fromEntries(Object.entries(options).map(([k, v]) => [k.toLowerCase(), v])), 'acme');
  } catch (e) {
    if (e instanceof SvcError) return `${e.status} ${e.code}`;
    throw e;
  }
}

describe('options of an agent', () => {
  it('are stored as given, with names in lower case', () => {
    expect(outcome({ MAX_limit: '50', note: 'be; short', enable_reasoning: 'TRUE', retries: '' })).toEqual({
      max_limit: '50',
      note: 'be; short',
      enable_reasoning: 'true',
      retries: '',
    });
  });

  it('of other programs are stored', () => {
    const options = {
      graph_depth: '2',
      schema: 'dacme',
      exclude_properties: 'entity_id,entity_type',
      should_validate_sql: 'true',
      technical_context_mode: 'auto',
      llm_type: 'x',
      use_deterministic_scoring: 'true',
      use_llm_judge_scoring: 'false',
    };
    expect(outcome(options)).toEqual(options);
    expect(outcome({ schema: 'vsvc' })).toEqual({ schema: 'vsvc' });
    expect(outcome({ schema: 'public' })).toBe('400 bad_value');
    // every caller who sees the agent reads its options
    expect(outcome({ llm_api_key: 'sk-1' })).toBe('400 unknown_option');
    expect(outcome({ ontology: 'zoo' })).toBe('400 unknown_option');
  });

  it('must be known, with values of their type', () => {
    for (const [key, value] of [
      ['max_limit', '0'],
      ['max_limit', 'many'],
      ['retries', '-1'],
      ['retries', '1.5'],
      ['enable_reasoning', 'yes'],
      ['max_graph_depth', '33'],
    ])
      expect(outcome({ [key as string]: value as string })).toBe('400 bad_value');
    expect(outcome({ colour: 'red' })).toBe('400 unknown_option');
    expect(outcome({ constructor: 'x' })).toBe('400 unknown_option');
  });
});
