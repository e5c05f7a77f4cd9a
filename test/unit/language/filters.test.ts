import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/errors.ts';
import { OPERATORS, parseFilters, splitList } from '../../../src/language/filters.ts';
import { generated } from '../../support/generated.ts';

const code = (search: string): string => {
  try {
    parseFilters(search);
  } catch (e) {
    if (e instanceof SvcError && e.status === 400) return e.code;
    throw e;
  }
  return 'accepted';
};

describe('groups', () => {
  it('are parsed into subject, operator, values and conjunction', () => {
    expect(parseFilters('?_subj_=name&_op_=eq&_comp_=Ann&_conj_=or&_subj1_=age&_op1_=IS_NULL').groups).toEqual([
      { number: 0, subject: 'name', operator: 'eq', values: ['Ann'], conjunction: 'AND' },
      { number: 1, subject: 'age', operator: 'is_null', values: [], conjunction: 'OR' },
    ]);
  });

  it('are in the order of their numbers, with gaps, joined by AND by default', () => {
    const { groups } = parseFilters('_subj10_=c&_op10_=not_null&_subj2_=b&_op2_=not_null&_conj2_=OR&_subj_=a&_op_=not_null');
    expect(groups.map((g) => [g.subject, g.conjunction])).toEqual([
      ['a', 'AND'],
      ['b', 'AND'],
      ['c', 'OR'],
    ]);
  });

  it('ignore an unneeded value', () => {
    expect(parseFilters('_subj_=a&_op_=is_null&_comp_=x').groups[0]?.values).toEqual([]);
  });

  it.each([
    ['_op_=eq&_comp_=a', 'missing_parameter'],
    ['_subj_=&_op_=eq&_comp_=a', 'missing_parameter'],
    ['_subj_=a&_comp_=a', 'missing_parameter'],
    ['_subj_=a&_op_=&_comp_=a', 'missing_parameter'],
    ['_subj_=a&_op_=eq', 'missing_parameter'],
    ['_subj1_=a&_op1_=eq&_comp1_=a', 'missing_parameter'],
    ['_conj_=AND', 'missing_parameter'],
    ['_subj_=a&_op_=is_null&_conj5_=AND', 'missing_parameter'],
    ['_subj_=a&_op_=like_not&_comp_=a', 'unknown_operator'],
    ['_subj_=a&_op_=constructor&_comp_=a', 'unknown_operator'],
    ['_subj_=a&_op_=is_null&_conj_=AND', 'bad_conjunction'],
    ['_subj_=a&_op_=is_null&_conj_=XOR&_subj1_=a&_op1_=is_null', 'bad_conjunction'],
    ['_subj_=a&_subj_=a&_op_=is_null', 'duplicate_parameter'],
    ['_subj_=a&_op_=is_null&_limit_=1&_limit_=1', 'duplicate_parameter'],
    ['_subj0_=a&_op0_=is_null', 'unknown_parameter'],
    ['_subj_=a&_op_=is_null&_subj01_=a&_op01_=is_null', 'unknown_parameter'],
    ['_SUBJ_=a&_op_=is_null', 'unknown_parameter'],
    ['__proto__=a', 'unknown_parameter'],
    ['=a', 'unknown_parameter'],
    ['name', 'unknown_parameter'],
    ['_select_=', 'bad_parameter'],
    ['_select_=a,,b', 'bad_parameter'],
    ['_order_=-', 'bad_parameter'],
    ['_limit_=', 'bad_parameter'],
    ['_limit_=-1', 'bad_parameter'],
    ['_limit_=1e3', 'bad_parameter'],
    ['_offset_=9999999999999999999', 'bad_parameter'],
    ['_subj_=a&_op_=eq&_comp_=%00', 'malformed_parameter'],
    ['_subj_=a&_op_=eq&_comp_=%ff', 'malformed_parameter'],
    ['_subj_=a&_op_=eq&_comp_=%ed%a0%80', 'malformed_parameter'],
  ])('%s: %s', (search, expected) => expect(code(search)).toBe(expected));
});

describe('extra parameters', () => {
  it('are lists of names and counts', () => {
    expect(parseFilters('_select_=a,%20b[c].d,e%5C,f&_order_=-a,b&_limit_=007&_offset_=0')).toEqual({
      groups: [],
      select: ['a', 'b[c].d', 'e,f'],
      order: [
        { name: 'a', descending: true },
        { name: 'b', descending: false },
      ],
      limit: '7',
      offset: '0',
    });
  });
  it('are absent unless they are given', () => {
    expect(parseFilters('')).toEqual({ groups: [], select: undefined, order: [], limit: undefined, offset: undefined });
  });
});

describe('texts of the URL', () => {
  const value = (search: string) => parseFilters(`_subj_=a&_op_=eq&_comp_=${search}`).groups[0]?.values[0];
  it('are decoded as in the URL standard', () => {
    expect(value('a+b%20c%2B')).toBe('a b c+');
    expect(value('50%')).toBe('50%');
    expect(value('%zz%4')).toBe('%zz%4');
    expect(value('a=b')).toBe('a=b');
  });
  it('are preserved with any characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(!text.includes('\0') && text.isWellFormed());
        expect(value(encodeURIComponent(text))).toBe(text);
        expect(value(new URLSearchParams({ x: text }).toString().slice(2))).toBe(text);
      }),
      generated(),
    );
  });
  it('are parsed like in URLSearchParams', () => {
    const piece = fc.oneof(fc.constantFrom('%', '%4', '%41', '+', '&', '=', '%26', '%C3%A9'), fc.string({ maxLength: 3 }).map(encodeURIComponent));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('').replaceAll('&', '').replaceAll('%00', '');
        const read = new URLSearchParams(`x=${text}`).get('x');
        // bytes that are not UTF-8 are refused, not replaced
        fc.pre(!read?.includes('\uFFFD'));
        expect(value(text)).toBe(read);
      }),
      generated(),
    );
  });
});

describe('lists', () => {
  it('are split at commas that no backslash precedes', () => {
    expect(splitList('a,b')).toEqual(['a', 'b']);
    expect(splitList('Paris\\, Texas,Berlin')).toEqual(['Paris, Texas', 'Berlin']);
    expect(splitList('a\\b, c ')).toEqual(['a\\b', ' c ']);
    expect(splitList('')).toEqual(['']);
    expect(splitList('a,')).toEqual(['a', '']);
    expect(splitList('a\\\\,b')).toEqual(['a\\,b']);
    expect(splitList('\\')).toEqual(['\\']);
  });
  it('split joined values again', () => {
    // a backslash at the end of a value cannot be distinguished from one before the next comma
    const value = fc.string({ unit: fc.constantFrom('a', ',', '\\', ' ', "'") }).filter((v) => !v.endsWith('\\') && !v.includes('\\,'));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), (values) => {
        expect(splitList(values.map((v) => v.replaceAll(',', '\\,')).join(','))).toEqual(values);
      }),
      generated(),
    );
  });
});

it('any text is parsed or is a 400', () => {
  const name = fc.oneof(
    fc.constantFrom('_subj_', '_op_', '_comp_', '_conj_', '_subj1_', '_op1_', '_comp1_', '_select_', '_order_', '_limit_', '_offset_'),
    fc.string({ unit: 'binary' }),
  );
  const text = fc.oneof(fc.constantFrom(...OPERATORS, 'AND', 'or', 'name', '5'), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(fc.tuple(name, text)), fc.boolean(), (pairs, encoded) => {
      const write = (s: string): string => (encoded ? encodeURIComponent(s.toWellFormed()) : s);
      expect(typeof code(pairs.map(([n, v]) => `${write(n)}=${write(v)}`).join('&'))).toBe('string');
    }),
    generated(2000),
  );
});
