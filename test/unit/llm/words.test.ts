import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { family, isTypo, MAX_WORDS, plain, root, Stemmer, stem, stems, words } from '../../../src/llm/words.ts';
import { generated } from '../../support/generated.ts';

describe('words', () => {
  it.each([
    ['in_country', 'in country'],
    ['orderLine HTTPServer order-lines', 'order line http server order lines'],
    ['area_km2 alpha2', 'area km2 alpha 2'],
    ["France's don't O'Brien", 'france don o brien'],
    ['K\u00f8benhavn K\u00f6ln \u0141\u00f3d\u017a Stra\u00dfe \u0130zmir', 'kobenhavn koln lodz strasse izmir'],
    ['Ko\u0308ln \uff21\uff22', 'koln ab'],
    ['\u041c\u043e\u0441\u043a\u0432\u0430 \u0391\u03b8\u03ae\u03bd\u03b1', '\u043c\u043e\u0441\u043a\u0432\u0430 \u03b1\u03b8\u03b7\u03bd\u03b1'],
    ['\u6771\u4eac\u306e\u4eba\u53e3', '\u6771\u4eac \u4eac\u306e \u306e\u4eba \u4eba\u53e3'],
    ['\u56fd 5\u6708', '\u56fd 5 \u6708'],
    ['\ud800 a \udc00', 'a'],
    ['a\u0000b\u0007c', 'a b c'],
    ['', ''],
    ['?!()[]{}.*+^$|\\', ''],
  ])('of %j are %j', (text, expected) => {
    expect(
      words(text)
        .map((w) => w.text)
        .join(' '),
    ).toBe(expected);
  });

  it('mark function words, and ends of phrases', () => {
    expect(words('Which are the towns, by region').map((w) => [w.raw, w.stop, w.apart])).toEqual([
      ['Which', true, false],
      ['are', true, false],
      ['the', true, false],
      ['towns', false, false],
      ['by', true, true],
      ['region', false, false],
    ]);
  });

  it('are limited in number', () => {
    expect(words('ab '.repeat(50_000)).length).toBe(MAX_WORDS);
    expect(words('\u6771\u4eac'.repeat(50_000)).length).toBe(MAX_WORDS);
    expect(words('x'.repeat(100_000)).length).toBe(1);
  });

  it('are computed for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const word of words(text)) {
          expect(word.text).not.toBe('');
          expect(family(word.stem)).not.toBe('');
        }
      }),
      generated(),
    );
  });
});

describe('stems', () => {
  it('are the same from a Stemmer, which remembers words', () => {
    const stemmer = new Stemmer();
    const parts = ['orders', 'the', 'Of', 'HTTPServer', 'part2', 'km2', 'x', '7', '_', ' ', '-', "'s", '.', ', ', 'é', '\u6771', 'cities'];
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((p) => p.join('')),
          fc.string({ maxLength: 300 }),
        ),
        (text) => {
          expect(stemmer.stems(text)).toEqual(stems(text));
        },
      ),
      generated(500),
    );
  });

  it.each([
    ['city', 'cities'],
    ['country', 'countries'],
    ['movie', 'movies'],
    ['house', 'houses'],
    ['box', 'boxes'],
    ['branch', 'branches'],
    ['status', 'statuses'],
    ['address', 'addresses'],
    ['person', 'people'],
    ['child', 'children'],
    ['category', 'categories'],
    ['day', 'days'],
    ['use', 'uses'],
    ['hero', 'heroes'],
  ])('of %s and %s are the same', (one, many) => expect(stem(many)).toBe(stem(one)));

  it.each([
    ['order', 'ordered'],
    ['ship', 'shipped'],
    ['ship', 'shipping'],
    ['use', 'used'],
    ['place', 'placing'],
    ['sell', 'sold'],
  ])('of %s and %s have one root', (one, form) => expect(root(stem(form))).toBe(root(stem(one))));

  it.each([
    ['population', 'populated'],
    ['employ', 'employees'],
    ['deliver', 'delivery'],
    ['manager', 'manages'],
    ['payment', 'pays'],
    ['nation', 'nationality'],
  ])('of %s and %s are of one family', (one, other) => expect(family(stem(other))).toBe(family(stem(one))));

  it.each([
    ['order', 'border'],
    ['count', 'country'],
    ['bus', 'business'],
    ['city', 'citizen'],
    ['price', 'prince'],
  ])('of %s and %s are not', (one, other) => expect(family(stem(other))).not.toBe(family(stem(one))));

  it('omit function words, unless there is nothing else', () => {
    expect(stems('seat of the government')).toEqual([stem('seat'), stem('government')]);
    expect(stems('other')).toEqual(['other']);
  });

  it('of other scripts are unchanged', () => expect(stem(plain('\u0433\u043e\u0440\u043e\u0434\u0430'))).toBe('\u0433\u043e\u0440\u043e\u0434\u0430'));
});

describe('isTypo', () => {
  it.each([
    ['contry', 'country', true],
    ['countrry', 'country', true],
    ['coumtry', 'country', true],
    ['conutry', 'country', true],
    ['country', 'country', false],
    ['county', 'city', false],
    ['abcd', 'badc', false],
  ])('of %s for %s: %s', (a, b, expected) => {
    expect(isTypo(a, b)).toBe(expected);
    expect(isTypo(b, a)).toBe(expected);
  });
});
