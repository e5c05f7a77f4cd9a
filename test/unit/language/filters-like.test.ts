import { describe, expect, it } from 'vitest';
import { likePattern } from '../../../src/language/filters-like.ts';

describe('patterns of like', () => {
  it.each([
    ['a%b_c', 'LIKE', 'a%b_c'],
    ['a\\b', 'LIKE', 'a\\\\b'],
    ['50[%]', 'LIKE', '50\\%'],
    ['[_][[]x]', 'LIKE', '\\_[x]'],
    ['%%%a', 'LIKE', '%a'],
    ['[a-f]%', '~', '^[a-f].*$'],
    ['[^x]%', '~', '^[^x].*$'],
    ['[]x]', '~', '^[\\]x]$'],
    ['[^]]', '~', '^[^\\]]$'],
    ['[a-]', '~', '^[a\\-]$'],
    ['[ab].(1|2)+', '~', '^[ab]\\.\\(1\\|2\\)\\+$'],
    ['[[:alpha:]]', '~', '^[\\[\\:alpha\\:]\\]$'],
    ['[äö]_东', '~', '^[äö].东$'],
  ])('%s: %s %s', (text, operator, pattern) => expect(likePattern(text)).toEqual({ operator, pattern }));

  it.each(['[abc', 'x[', '[', '[]', '[^]', '[f-a]', '[a-f][z-y]'])('%s is 400', (text) =>
    expect(() => likePattern(text)).toThrow(expect.objectContaining({ status: 400, code: 'bad_pattern' })),
  );
});
