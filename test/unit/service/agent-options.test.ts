import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/errors.ts';
import { agentOptions } from '../../../src/service/agent-options.ts';

function told(options: Record<string, string>): unknown {
  const list = Object.entries(options).map(([text, value], i) => ({ key: { text, offset: i }, value }));
  try {
    return agentOptions(list, Object.fromEntries(Object.entries(options).map(([k, v]) => [k.toLowerCase(), v])));
  } catch (e) {
    if (e instanceof SvcError) return `${e.status} ${e.code}`;
    throw e;
  }
}

describe('options of an agent', () => {
  it('are kept as given, under names in lower case', () => {
    expect(told({ MAX_limit: '50', note: 'be; short', enable_reasoning: 'TRUE', retries: '' })).toEqual({
      max_limit: '50',
      note: 'be; short',
      enable_reasoning: 'true',
      retries: '',
    });
  });

  it('are known ones with values of their kind', () => {
    for (const [key, value] of [
      ['max_limit', '0'],
      ['max_limit', 'many'],
      ['retries', '-1'],
      ['retries', '1.5'],
      ['enable_reasoning', 'yes'],
      ['max_graph_depth', '33'],
    ])
      expect(told({ [key as string]: value as string })).toBe('400 bad_value');
    expect(told({ colour: 'red' })).toBe('400 unknown_option');
    expect(told({ constructor: 'x' })).toBe('400 unknown_option');
  });
});
