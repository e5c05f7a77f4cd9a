import { describe, expect, it } from 'vitest';
import { narrowed, type ScopeLists, scopeOf, subjectsIn } from '../../../src/llm/scope.ts';
import { modelOf, subject } from './subjects.ts';

const model = modelOf([
  subject('city', { tags: { domain: 'geo', public: '' } }),
  subject('Country', { tags: { Domain: 'Geo' } }),
  subject('order', { tags: { domain: 'sales' } }),
  subject('large_cities', { kind: 'view', tags: { domain: 'geo' } }),
  subject('figures', { kind: 'cube' }),
]);
const left = (...lists: readonly ScopeLists[]): string =>
  subjectsIn(
    model,
    lists.map(scopeOf).reduce((a, b) => narrowed(a, b)),
  )
    .map((s) => s.name)
    .join(' ');
const ALL = 'city Country order large_cities figures';

describe('a scope', () => {
  it.each<[ScopeLists, string]>([
    [{}, ALL],
    [{ concepts_list: [], views_list: [], include_tags: [] }, ALL],
    [{ concepts_list: ['*'], views_list: ['*'], include_tags: ['*'] }, ALL],
    [{ concepts_list: [' ', ''] }, ALL],
    [{ concepts_list: ['CITY', ' country '] }, 'city Country large_cities figures'],
    [{ concepts_list: ['city', '*'] }, ALL],
    [{ concepts_list: ['none'] }, 'large_cities figures'],
    [{ concepts_list: ['none', 'city'] }, 'city large_cities figures'],
    [{ views_list: ['None'] }, 'city Country order'],
    [{ views_list: ['figures'] }, 'city Country order figures'],
    [{ concepts_list: ['nothing'], views_list: ['city'] }, ''],
    [{ include_tags: ['domain'] }, 'city Country order large_cities'],
    [{ include_tags: ['domain=geo'] }, 'city Country large_cities'],
    [{ include_tags: ['DOMAIN = Geo'] }, 'city Country large_cities'],
    [{ include_tags: ['domain=sales', 'public'] }, 'city order'],
    [{ include_tags: ['public='] }, 'city'],
    [{ include_tags: ['none'] }, ''],
    [{ include_tags: ['=', 'constructor', '__proto__'] }, ''],
    [{ concepts_list: ['order', 'city'], views_list: ['none'], include_tags: ['domain=geo'] }, 'city'],
  ])('of %j leaves %j', (lists, expected) => expect(left(lists)).toBe(expected));

  it.each<[ScopeLists, ScopeLists, string]>([
    [{ concepts_list: ['city', 'order'] }, {}, 'city order large_cities figures'],
    [{ concepts_list: ['city', 'order'] }, { concepts_list: ['*'] }, 'city order large_cities figures'],
    [{ concepts_list: ['city', 'order'] }, { concepts_list: ['Order', 'country'] }, 'order large_cities figures'],
    [{ concepts_list: ['city'] }, { concepts_list: ['country'] }, 'large_cities figures'],
    [{ views_list: ['none'] }, { views_list: ['figures'] }, 'city Country order'],
    [{ include_tags: ['domain=geo', 'domain=sales'] }, { include_tags: ['public'] }, 'city'],
    [{ include_tags: ['domain=geo'] }, { include_tags: ['domain=sales'] }, ''],
  ])('of %j narrowed by %j leaves %j', (agent, call, expected) => {
    expect(left(agent, call)).toBe(expected);
    expect(left(call, agent)).toBe(expected);
  });
});
