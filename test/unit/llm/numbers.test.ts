import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unfoundNumbers } from '../../../src/llm/numbers.ts';
import { generated } from '../../support/generated.ts';

const unfound = (answer: string, ...rows: Readonly<Record<string, unknown>>[]) => unfoundNumbers(answer, rows, []);

describe('numbers of an answer', () => {
  it.each([
    ['It cost 24.75.', { total: 24.75 }],
    ['It cost 24,75 Euro.', { total: 24.75 }],
    ['About 25.', { total: 24.75 }],
    ['1,234,567 people', { n: 1234567 }],
    ["1'234'567 or 1.234.567", { n: 1234567 }],
    ['1.234.567,50', { n: 1234567.5 }],
    ['1.2 million and 1.23m', { n: 1234567 }],
    ['3 billion', { n: '2950000000' }],
    ['45 percent, that is 45.1%', { share: 0.4512 }],
    ['45%', { percent: 45 }],
    ['On 2024-03-05 it was -7.', { day: '2024-03-05', degrees: -7 }],
    ['A loss of 12', { profit: -12 }],
    ['There are 3 of them', { a: { b: [1, { c: 3 }] } }],
    ['B52 and h2o are names', { n: 0 }],
    ['1. Anna\n2. Ben', { name: 'x' }],
    ['no number at all', {}],
  ])('finds %s', (answer, row) => {
    expect(unfound(answer, row)).toEqual([]);
  });

  it.each([
    ['It cost 98765.43.', { total: 24.75 }, ['98765.43']],
    ['24.7', { total: 24.85 }, ['24.7']],
    ['24', { total: 24.75 }, ['24']],
    ['1.3 million', { n: 1234567 }, ['1.3']],
    ['7 and 7 and 8', { n: 1 }, ['7', '8']],
  ])('misses %s', (answer, row, missing) => {
    expect(unfound(answer, row)).toEqual(missing);
  });

  it('reads long texts in rows up to a limit', () => {
    const long = '7 '.repeat(60_000);
    expect(unfound('It is 42.', { first: `42 ${long}` })).toEqual([]);
    expect(unfound('It is 42.', { first: long, later: '42', n: 1 })).toEqual(['42']);
    expect(unfound('It is 1.', { first: long, later: '42', n: 1 })).toEqual([]);
  });

  const YEARS = [
    { region: 'North', sales_2023: 1234567.89, sales_2024: 1500000 },
    { region: 'South', sales_2023: 987654, sales_2024: 2350 },
  ];
  const STAFF = [
    { name: 'Ann', hired: '2024-03-05', at: '2024-03-05T14:30:00Z', share: 0.4512, pay: 12345.5 },
    { name: 'Ben', hired: '2021-11-30', at: '2021-11-30T09:05:00Z', share: 0.0731, pay: 1234 },
    { name: 'Cid', hired: '2019-01-02', at: '2019-01-02T00:15:00Z', share: 0.4757, pay: 8000000 },
  ];
  // answers as models write them, and their numbers that need a warning
  it.each<[string, readonly Readonly<Record<string, unknown>>[], readonly string[]]>([
    // English
    ['In 2023 North sold 1,234,567.89 and South 987,654.', YEARS, []],
    ['North sold about 1.2 million in 2023 and 1.5M in 2024; South only 2,350.', YEARS, []],
    ['North grew from $1,234,568 to $1,500,000, South fell below 2,400.', YEARS, []],
    ['North sold roughly 1,200,000, over 1,234,000 to be exact.', YEARS, []],
    ['North grew by 265,432.11, that is 21.5%.', YEARS, ['265,432.11', '21.5']],
    ['In 2022 North sold 1,234,567.89.', YEARS, ['2022']],
    ['North sold 1,200,000 in 2023.', YEARS, ['1,200,000']],
    ['Ann was hired on March 5th, 2024 at 2:30 PM, Ben on 11/30/2021 at 9:05 am, Cid on 2 January 2019 at 12:15 a.m.', STAFF, []],
    ['Ann was hired on March 6, 2024.', STAFF, ['6']],
    ['Ann was hired at 7:30 pm.', STAFF, ['7']],
    ['Top 3 earners:\n1. **Cid** (8 million)\n2. **Ann** ($12,345.50)\n3. **Ben** ($1,234)', STAFF, []],
    ['| # | Name | Pay |\n|---|---|---|\n| 1 | Cid | 8,000,000 |\n| 2 | Ann | 12,345.50 |', STAFF, []],
    ['The ranking is 1. Cid, 2. Ann, 3. Ben. Cid is #1, Ben is 3rd.', STAFF, []],
    ['The three earn 8,013,579.50 in total; the 4th is unknown, and #7 too.', STAFF, ['8,013,579.50', '4', '7']],
    ['Ann holds 45%, Ben 7.3 percent, Cid 47.57%.', STAFF, []],
    ['Ann holds 46%.', STAFF, ['46']],
    ['The ids are 1,2,3.', [{ id: 1 }, { id: 2 }, { id: 3 }], []],
    ['The ids are 1,2,4.', [{ id: 1 }, { id: 2 }, { id: 3 }], ['1,2,4']],
    ['It is 5 m tall and 5m wide.', [{ height: 5 }], []],
    ['It has 5 million inhabitants.', [{ inhabitants: 5 }], ['5']],
    ['It has 5.2 million inhabitants.', [{ inhabitants_millions: 5.2 }], []],
    ['It is worth 2.5 trillion dollars, or $2.5tn.', [{ worth: 2.5e12 }], []],
    ['There were 12,34,567 visits.', [{ n: 1234567 }], []],
    ['Room 12 345 is free.', [{ room: 12 }, { room: 345 }], []],
    ['COVID-19 cases: 300.', [{ disease: 'COVID-19', n: 300 }], []],
    ['Between 10-20 of them, 3/4 of it.', [{ a: 10, b: 20, c: 3, d: 4 }], []],
    // German
    ['Der Norden hat 2023 1.234.567,89 \u20ac verkauft, der S\u00fcden 987.654 \u20ac.', YEARS, []],
    ['Der Norden hat rund 1,2 Mio. Euro verkauft, 2024 sogar 1,5 Millionen, der S\u00fcden gut 2.300.', YEARS, []],
    ['Ann wurde am 05.03.2024 eingestellt, Ben am 30.11.21, Cid am 2. Januar 2019.', STAFF, []],
    ['Ann wurde am 06.03.2024 eingestellt.', STAFF, ['06.03.2024']],
    ['Ann verdient 12.345,50 \u20ac, Ben 1.234 \u20ac und Cid 8 Mio. \u20ac.', STAFF, []],
    ['Ann verdient 12.345,60 \u20ac.', STAFF, ['12.345,60']],
    ['Auf Platz 1 steht Cid, auf Platz 2 Ann. Ann h\u00e4lt 45,1 %, Ben 7,31 Prozent.', STAFF, []],
    ['Die Schulden betragen 2,5 Billionen Euro oder 1,3 Mrd. im Jahr.', [{ debt: 2.5e12, yearly: 1.3e9 }], []],
    ['Es sind 3 Tsd. St\u00fcck.', [{ n: 3000 }], []],
    // French and Swiss
    ['Le nord a vendu 1 234 567,89 \u20ac en 2023 et 1 500 000 \u20ac en 2024.', YEARS, []],
    ['Le nord a vendu 1\u202f234\u202f567,89\u00a0\u20ac, soit environ 1,2 million.', YEARS, []],
    ['Le nord a vendu 1 234 568 \u20ac, le sud 987 655 \u20ac.', YEARS, ['987 655']],
    ['Ann d\u00e9tient 45,12 % et Cid 47,6 pour cent; Cid est 1er, Ann 2e.', STAFF, []],
    ["Norden: 1\u2019234\u2019567.89, S\u00fcden: 987'654.", YEARS, []],
    ['La dette est de 1,3 milliard, soit plus de 1 milliard.', [{ debt: 1.3e9 }], []],
  ])('warns correctly of: %s', (answer, rows, wanted) => {
    expect(unfoundNumbers(answer, rows, [])).toEqual(wanted);
  });

  it('accepts numbers of the row count, the question and the SQL', () => {
    expect(unfoundNumbers('2 orders over 100', [{}, {}], ['more than 100'])).toEqual([]);
  });

  it('finds each number of the rows, in any notation', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.integer({ min: 0, max: 4 }), (n, places) => {
        const written = Math.abs(n).toFixed(places);
        const grouped = Math.abs(n).toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places });
        expect(unfound(`so ${written} or ${grouped}`, { n })).toEqual([]);
      }),
      generated(300),
    );
  });

  it('reads hostile text in linear time', () => {
    for (const text of ['1,', '9', '1 234 ', "1'234", '12,34,', '1.2.', '| 1 |', '1e', 'about ', '1\n']) {
      expect(unfound(text.repeat(20_000), { text: text.repeat(20_000) }).length).toBeLessThan(20_001);
    }
  });
});
