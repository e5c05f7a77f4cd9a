import { describe, expect, it } from 'vitest';
import { secretName } from '../../../src/cli/introspect.ts';
import { allowed, firstFree, labelColumns, NameSet, roleOf, sharedPrefix, shortened, singular } from '../../../src/cli/introspect-names.ts';

describe('names that introspect guesses', () => {
  it.each([
    ['customers', 'customer'],
    ['order_lines', 'order_line'],
    ['OrderLines', 'OrderLine'],
    ['CATEGORIES', 'CATEGORY'],
    ['categories', 'category'],
    ['addresses', 'address'],
    ['branches', 'branch'],
    ['boxes', 'box'],
    ['houses', 'house'],
    ['statuses', 'status'],
    ['People', 'Person'],
    ['movies', 'movie'],
    ['series', 'series'],
    ['status', 'status'],
    ['address', 'address'],
    ['analysis', 'analysis'],
    ['person', 'person'],
    ['news', 'news'],
    ['bus', 'bus'],
    ['ties', 'tie'],
    ['as', 'as'],
    ['events_2026', 'events_2026'],
    ['', ''],
  ])('%s is %s', (plural, one) => {
    expect(singular(plural)).toBe(one);
  });

  it('removes the common prefix of all tables', () => {
    expect(sharedPrefix(['t_a', 't_b', 't_c'])).toBe('t_');
    expect(sharedPrefix(['t_a', 't_b'])).toBe('');
    expect(sharedPrefix(['t_a', 't_b', 'c'])).toBe('');
    expect(sharedPrefix(['t_a', 't_b', 't_1'])).toBe('');
    expect(sharedPrefix([])).toBe('');
  });

  it.each([
    ['manager_id', 'manager'],
    ['managerId', 'manager'],
    ['billing_address_id', 'billing_address'],
    ['country_code', 'country'],
    ['o_custkey', undefined],
    ['id', undefined],
    ['_id', undefined],
    ['paid', undefined],
  ])('%s refers to %s', (column, role) => {
    expect(roleOf(column)).toBe(role);
  });

  it('finds the label of an object', () => {
    expect(labelColumns(['code', 'title', 'name'], 'x')).toEqual(['name']);
    expect(labelColumns(['file_name', 'product_name'], 'product')).toEqual(['product_name']);
    expect(labelColumns(['last_name', 'first_name'], 'x')).toEqual(['first_name', 'last_name']);
    expect(labelColumns(['short_nm', 'long_nm'], 'x')).toEqual(['short_nm']);
    expect(labelColumns(['surnames', 'unnamed'], 'x')).toEqual([]);
  });

  it('creates valid names', () => {
    expect(allowed('a[b]\tc')).toBe('a(b) c');
    expect(allowed('~x')).toBe('x~x');
    expect(allowed('Measure.x')).toBe('xMeasure.x');
    expect(new TextEncoder().encode(shortened('ä'.repeat(40))).length).toBe(62);
    const used = new NameSet();
    const long = 'x'.repeat(63);
    for (const expected of [long, `${'x'.repeat(61)}_2`, `${'x'.repeat(61)}_3`]) {
      expect(used.add(firstFree([long], (n) => !used.has(n.toUpperCase())))).toBe(expected);
    }
  });

  it('knows the variable of a datasource', () => {
    expect(secretName('sales-eu')).toBe('DATASOURCE_SALES_EU');
  });
});
