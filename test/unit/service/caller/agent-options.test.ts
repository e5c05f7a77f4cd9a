import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../../src/errors.ts';
import { agentOptions } from '../../../../src/service/caller/agent-options.ts';

function outcome(options: Record<string, string>): unknown {
  const list = Object.entries(options).map(([text, value], i) => ({ key: { text, offset: i }, value }));
  try {
    return agentOptions(list, Object.fromEntries(Object.entries(options).map(([k, v]) => [k.toLowerCase(), v])));
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
