/** Which values of a concept the search of the data view reads. */
import { expect, it } from 'vitest';
import { conditionsOf } from '../../../console/src/data/conditions.ts';
import { Model } from '../../../console/src/model/model.ts';

const property = (name: string, type: string, more: object = {}) => ({
  name,
  type,
  description: null,
  is_multi: false,
  is_measure: false,
  inherited_from: null,
  ...more,
});
const model = new Model('m', {
  version: '',
  datasources: [],
  views: {},
  properties: { code: { expression: 'concat(no)', tags: {}, description: null } },
  ontology: [
    {
      concept: 'visit',
      inheritance: ['thing'],
      description: null,
      primary_keys: ['no'],
      label_keys: ['title'],
      query: null,
      properties: [
        property('title', 'string'),
        property('no', 'integer'),
        property('price', 'decimal(10,2)'),
        property('day', 'date'),
        property('at', 'timestamptz'),
        property('opens', 'time'),
        property('key', 'uuid'),
        property('open', 'boolean'),
        property('code', 'string'),
        property('notes', 'string', { is_multi: true }),
        property('count', 'bigint', { is_measure: true }),
        property('parent_text', 'string', { inherited_from: 'event' }),
      ],
      relationships: [],
      mappings: [],
      tags: {},
    },
  ],
});
const names = (wanted: string, isOwn = false): string[] => conditionsOf(model, 'visit', wanted, isOwn).map((c) => c.name);

it('reads texts, and other values that can be the text', () => {
  const texts = ['title', 'code', 'notes', 'parent_text'];
  expect(names('x_%')).toEqual(texts);
  expect(names('12').sort()).toEqual(['no', 'price', ...texts].sort());
  expect(names('2026').sort()).toEqual(['no', 'price', 'day', 'at', 'opens', 'key', ...texts].sort());
  expect(names('2026-02-01T09:30').sort()).toEqual(['day', 'at', ...texts].sort());
  expect(names('09:30').sort()).toEqual(['opens', 'key', ...texts].sort());
  expect(names('')).toEqual([]);
});

it('leaves labels and inherited properties to the other parts of a search over all concepts', () => {
  expect(names('x', true)).toEqual(['code', 'notes']);
});

it('writes what is wanted as a literal', () => {
  const sql = new Map(conditionsOf(model, 'visit', "O'_", false).map((c) => [c.name, c]));
  expect(sql.get('title')?.sql).toBe(`"title" ILIKE '%O''\\_%'`);
  expect(conditionsOf(model, 'visit', '2026-02-01T09', false).find((c) => c.name === 'day')?.sql).toBe(
    `to_char("day", 'YYYY-MM-DD HH24:MI:SS') LIKE '2026-02-01 09%'`,
  );
  expect([...sql.values()].map(({ name, isMulti, isCalculated }) => [name, isMulti, isCalculated])).toEqual([
    ['title', false, false],
    ['code', false, true],
    ['notes', true, false],
    ['parent_text', false, false],
  ]);
});
