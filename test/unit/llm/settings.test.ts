import { describe, expect, it } from 'vitest';
import { settingsOf } from '../../../src/llm/settings.ts';

describe('the settings of a question', () => {
  it('have defaults', () => {
    expect(settingsOf({}, {})).toEqual({
      scope: { concepts: 'all', views: 'all', tags: [] },
      note: '',
      maxLimit: 500,
      retries: 3,
      emptyRetries: 2,
      caseSensitive: false,
      reviews: 0,
      depth: undefined,
      onAmbiguity: undefined,
      reading: null,
      earlier: 5,
      hiddenColumns: [],
    });
    // an empty text means the default
    expect(settingsOf({ retries: '', max_limit: '', note: '', enable_reasoning: '', concepts_list: '' }, {})).toEqual(settingsOf({}, {}));
  });

  it('use the options of the agent', () => {
    const options = {
      retries: '1',
      retry_if_no_results: 'false',
      no_results_max_retries: '5',
      db_is_case_sensitive: 'true',
      enable_reasoning: 'true',
      reasoning_steps: '3',
      max_graph_depth: '4',
      note: 'A',
    };
    expect(settingsOf(options, { note: ' B ' })).toMatchObject({ retries: 1, emptyRetries: 0, caseSensitive: true, reviews: 3, depth: 4, note: 'A\nB' });
    expect(settingsOf({ enable_reasoning: 'true' }, {}).reviews).toBe(1);
    expect(settingsOf({ reasoning_steps: '3' }, {}).reviews).toBe(0);
    expect(settingsOf({ no_results_max_retries: '5' }, {}).emptyRetries).toBe(5);
  });

  it('obey the options of other programs', () => {
    expect(settingsOf({ graph_depth: '1', exclude_properties: 'entity_id, Secret' }, {})).toMatchObject({ depth: 1, hiddenColumns: ['entity_id', 'Secret'] });
    expect(settingsOf({ graph_depth: '1', max_graph_depth: '3' }, {}).depth).toBe(3);
    expect(settingsOf({ schema: 'dsvc' }, {})).toEqual(settingsOf({}, {}));
    expect(settingsOf({ schema: 'VSVC' }, { concepts_list: ['*'] }).scope).toMatchObject({ concepts: [], views: 'all' });
    expect(settingsOf({ schema: 'vacme' }, {}, 'acme').scope.concepts).toEqual([]);
    expect(settingsOf({ schema: 'eacme', graph_depth: '4' }, {}, 'acme').depth).toBe(0);
    expect(settingsOf({ should_validate_sql: 'false', retries: '5' }, {}).retries).toBe(0);
    expect(settingsOf({ memory_window_size: '2' }, {}).earlier).toBe(2);
    expect(settingsOf({ memory_window_size: '2', enable_memory: 'false' }, {}).earlier).toBe(0);
    expect(settingsOf({ include_logic_concepts: 'false' }, {}).scope.withoutLogic).toBe(true);
    expect(settingsOf({ include_logic_concepts: 'true' }, {}).scope).toEqual(settingsOf({}, {}).scope);
  });

  it.each([
    [undefined, undefined, 500],
    [undefined, 700, 700],
    [undefined, 3, 3],
    ['2', undefined, 2],
    ['2', 1, 1],
    ['2', 100, 2],
    ['1000', undefined, 1000],
    ['1000', 600, 600],
  ])('limit rows to those of the agent (%s) and of the call (%s)', (agent, call, most) => {
    expect(settingsOf(agent === undefined ? {} : { max_limit: agent }, { max_limit: call }).maxLimit).toBe(most);
  });

  it('allow a call to narrow the lists of the agent, never to widen them', () => {
    const agent = { concepts_list: 'Order, customer', views_list: 'none', include_tags: 'area=sales' };
    expect(settingsOf(agent, {}).scope).toEqual({ concepts: ['order', 'customer'], views: [], tags: [[{ tag: 'area', value: 'sales' }]] });
    expect(settingsOf(agent, { concepts_list: ['customer', 'city'], views_list: ['*'], include_tags: ['new'] }).scope).toEqual({
      concepts: ['customer'],
      views: [],
      tags: [[{ tag: 'area', value: 'sales' }], [{ tag: 'new', value: null }]],
    });
    expect(settingsOf(agent, { concepts_list: [] }).scope.concepts).toEqual(['order', 'customer']);
  });
});
