/** Completion in the console's editor: what it proposes at `|`. */
import { describe, expect, it } from 'vitest';
import { Model } from '../../../console/src/model/model.ts';
import type { Concept, Property, Relationship } from '../../../console/src/model/types.ts';
import { complete, sourcesOf, statementAt } from '../../../console/src/query/complete.ts';
import { ALLOWED_FUNCTIONS } from '../../../src/planner/guard/functions.ts';

const property = (name: string, more: Partial<Property> = {}): Property => ({
  name,
  type: 'string',
  description: null,
  is_multi: false,
  is_measure: false,
  inherited_from: null,
  ...more,
});
const relationship = (name: string, target: string, more: Partial<Relationship> = {}): Relationship => ({
  name,
  target,
  inverse: null,
  is_inverse: false,
  is_mtm: false,
  transitivity: null,
  source_properties: [],
  target_properties: [],
  description: null,
  inherited_from: null,
  ...more,
});
const concept = (name: string, properties: readonly Property[], relationships: readonly Relationship[] = [], inheritance = ['thing']): Concept => ({
  concept: name,
  inheritance,
  description: null,
  primary_keys: [],
  label_keys: [],
  query: null,
  properties,
  relationships,
  mappings: [],
  tags: {},
});
const model = new Model('shop', {
  version: '',
  datasources: [],
  properties: {},
  ontology: [
    concept('order', [property('total'), property('revenue', { is_measure: true })], [relationship('made_by', 'customer')]),
    concept('customer', [property('name'), property('odd name')], [relationship('lives_in', 'town')]),
    concept('company', [property('vat')], [relationship('lives_in', 'town')], ['customer']),
    concept('town', [property('called')], [relationship('near', 'town', { transitivity: 3 })]),
  ],
  views: { big: { description: null, is_cube: false, query: null, columns: [{ name: 'amount', type: 'decimal' }], tags: {} } },
});

/** The labels that are proposed at `|`, and what is replaced. */
function at(marked: string, explicit = false): { readonly labels: readonly string[]; readonly replaced: string } | null {
  const position = marked.indexOf('|');
  const text = marked.replace('|', '');
  const found = complete(text, position, model, 'svc', explicit);
  return found === null ? null : { labels: found.proposals.map((p) => p.label), replaced: text.slice(found.from, position) };
}

describe('completion', () => {
  it('proposes columns, measures and paths of the concept in FROM', () => {
    const found = at('SELECT t| FROM dsvc.order');
    expect(found?.replaced).toBe('t');
    expect(found?.labels).toEqual(expect.arrayContaining(['total', 'entity_label', 'measure.revenue', 'made_by[customer].', 'count', 'dsvc']));
    expect(found?.labels).not.toContain('name');
  });

  it('proposes every function that is allowed, the common ones before the others', () => {
    const { proposals } = complete('SELECT | FROM dsvc.order', 7, model, 'svc', true) ?? { proposals: [] };
    const functions = new Map(proposals.filter((p) => p.type === 'function').map((p) => [p.label, p.boost]));
    expect([...functions.keys()].filter((name) => !ALLOWED_FUNCTIONS.has(name) && !['coalesce', 'nullif', 'greatest', 'least', 'trim'].includes(name))).toEqual(
      [],
    );
    for (const name of ['jsonb_path_query', 'percentile_cont', 'generate_series', 'regexp_replace']) expect(functions.has(name)).toBe(true);
    expect(functions.get('count')).toBeGreaterThan(functions.get('regr_count') ?? 0);
    expect(functions.has('pg_sleep')).toBe(false);
  });
  it('completes a path hop by hop inside quotes', () => {
    expect(at('SELECT "m|" FROM dsvc.order')).toEqual({
      labels: expect.arrayContaining(['made_by[customer].', 'total', 'measure.revenue']),
      replaced: 'm',
    });
    expect(at('SELECT "made_by[|" FROM dsvc.order')).toEqual({ labels: ['customer', 'company'], replaced: '' });
    expect(at('SELECT "made_by[customer].li|" FROM dsvc.order')?.labels).toEqual(expect.arrayContaining(['lives_in[town].', 'name', 'odd name']));
    const last = at('SELECT "made_by[customer].lives_in[town].| FROM dsvc.order');
    expect(last?.labels).toEqual(expect.arrayContaining(['called', 'near[town].']));
    expect(last?.labels).not.toContain('measure.revenue');
  });

  it('follows a walk and a narrowed target', () => {
    expect(at('SELECT "near[town*3].c|" FROM dsvc.town')?.labels).toContain('called');
    expect(at('SELECT "made_by[company].v|" FROM dsvc.order')?.labels).toContain('vat');
  });

  it('proposes nothing for a path that does not exist', () => {
    expect(at('SELECT "made_by[town].|" FROM dsvc.order')?.labels).toEqual([]);
  });

  it('proposes relations after FROM and after a schema', () => {
    expect(at('SELECT * FROM |', true)?.labels.slice(0, 5)).toEqual(['dsvc.order', 'dsvc.customer', 'dsvc.company', 'dsvc.town', 'vsvc.big']);
    expect(at('SELECT * FROM svc.c|')?.labels).toEqual(['order', 'customer', 'company', 'town']);
    expect(at('SELECT * FROM vsvc.|')?.labels).toEqual(['big']);
  });

  it('knows aliases, views and common table expressions', () => {
    expect(at('SELECT o.| FROM dsvc.order AS o JOIN dsvc.customer c ON true')?.labels).toContain('total');
    expect(at('SELECT c.| FROM dsvc.order AS o JOIN dsvc.customer c ON true')?.labels).not.toContain('total');
    expect(at('SELECT a| FROM vsvc.big')?.labels).toContain('amount');
    expect(at('WITH best AS (SELECT 1) SELECT * FROM b|')?.labels).toContain('best');
  });

  it('proposes nothing in texts and comments', () => {
    expect(at("SELECT 'to| FROM dsvc.order")).toBeNull();
    expect(at('SELECT 1 -- to|')).toBeNull();
  });

  it('reads only the statement around the cursor', () => {
    expect(at('SELECT 1 FROM dsvc.order; SELECT n| FROM dsvc.customer')?.labels).not.toContain('total');
    expect(statementAt("SELECT ';'; SELECT 2", 15)).toEqual({ from: 11, to: 20 });
  });

  it('takes no keyword for an alias', () => {
    expect(sourcesOf('SELECT * FROM dsvc.order WHERE total > 1', model)).toEqual([{ alias: 'order', concept: 'order', view: null }]);
    expect(sourcesOf('SELECT * FROM dsvc."order" LEFT JOIN `dsvc`.`town` x ON true', model)).toEqual([
      { alias: 'order', concept: 'order', view: null },
      { alias: 'x', concept: 'town', view: null },
    ]);
  });

  it('quotes names that PostgreSQL would read otherwise', () => {
    const found = complete('SELECT o FROM dsvc.customer', 8, model, 'svc');
    expect(found?.proposals.find((p) => p.label === 'odd name')?.apply).toBe('"odd name"');
  });
});
