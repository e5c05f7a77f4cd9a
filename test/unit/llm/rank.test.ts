import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { largeModel } from '../../../bench/lib/large-model.ts';
import { QUESTIONS as SHOWN } from '../../../examples/world/questions.ts';
import { CACHE_BYTES } from '../../../src/cache.ts';
import { isCertain } from '../../../src/llm/identify.ts';
import { rank } from '../../../src/llm/rank.ts';
import { MAX_PHRASES, MAX_VOCABULARY, rankIndex } from '../../../src/llm/rank-index.ts';
import { samplesOf } from '../../../src/llm/values.ts';
import { compile } from '../../../src/ontology/compile.ts';
import { subjectsOf } from '../../../src/service/ops/question-model.ts';
import type { Subject } from '../../../src/service.ts';
import { generated } from '../../support/generated.ts';
import { subject, worldSubjects } from './subjects.ts';

const world = await worldSubjects();
const index = rankIndex(world);

/** Questions about the sample graph, with the right subjects. */
const QUESTIONS: readonly (readonly [question: string, ...right: string[]])[] = [
  ...SHOWN.map(
    ({ question }, i) =>
      [question, ...(['city', 'country', 'country', 'country', 'megacity', 'currency', 'country', 'capital', 'capital', 'place'][i] ?? '').split(' ')] as const,
  ),
  ['How many towns are in Bavaria?', 'city'],
  ['What is the population of Berlin?', 'city'],
  ['Which tongues are spoken in Belgium?', 'language'],
  ['Which money does Japan use?', 'currency'],
  ['How many states are members of the United Nations?', 'country'],
  ['List the continents', 'region'],
  ['What is the official name of Germany?', 'country'],
  ['Who speaks Portuguese?', 'country', 'language'],
  ['Population of K\u00f8benhavn', 'city'],
  ['Which subregions does Asia have?', 'subregion'],
  ['total inhabitants by region', 'city_figures', 'city'],
  ['How many million cities has China?', 'large_cities', 'city'],
  ['Seat of government of Bolivia', 'capital', 'country'],
  ['What is the symbol of the euro?', 'currency'],
  ['Which contries have no sea?', 'country'],
  ['What lies south of the equator?', 'place'],
  ['Show the flag of Nepal', 'country'],
  ['Where is Springfield?', 'place', 'city'],
  ['What is the ISO code of Swahili?', 'language'],
  ['Number of nations per continent', 'country'],
];

const names = (question: string, subjects: readonly Subject[] = world): readonly string[] => rank(question, subjects).map((r) => r.subject.name);
const first = (question: string, subjects: readonly Subject[]): string | undefined => names(question, subjects)[0];

describe('questions about the sample graph', () => {
  it.each(QUESTIONS)('%s', (question, ...right) => {
    const ranked = rank(question, world, { index }).map((r) => r.subject.name);
    expect(ranked.slice(0, 5).filter((name) => right.includes(name))).not.toEqual([]);
  });

  it('usually find the right subject first', () => {
    const hit = QUESTIONS.filter(([question, ...right]) => right.includes(rank(question, world, { index })[0]?.subject.name ?? ''));
    expect(hit.length).toBeGreaterThanOrEqual(0.9 * QUESTIONS.length);
  });

  it('are never certain about a wrong subject', () => {
    const certain = QUESTIONS.filter(([question]) => isCertain(rank(question, world, { index })));
    expect(certain.length).toBeGreaterThan(2);
    for (const [question, ...right] of certain) expect(right, question).toContain(rank(question, world, { index })[0]?.subject.name);
  });
});

describe('a rank', () => {
  it('prefers names to synonyms, synonyms before columns, columns before descriptions', () => {
    const subjects = [
      subject('a', { description: 'It has a widget' }),
      subject('b', { columns: ['widget'] }),
      subject('c', { tags: { Synonyms: 'gadget, widget' } }),
      subject('widget'),
      subject('d', { links: ['x>a'] }),
    ];
    expect(names('Which widgets are there?', subjects)).toEqual(['widget', 'c', 'b', 'a', 'd']);
    for (const tags of [{ label: 'widget' }, { alias: 'widget' }, { 'also known as': 'widget' }, { other_names: 'widget; thing' }])
      expect(rank('widget', [subject('c', { tags }), subject('b', { columns: ['widget'] })])[0]?.named).toBe(true);
  });

  it('counts measures, relationships, their targets, and conditions', () => {
    const subjects = [
      subject('line', { columns: ['no'], links: ['of_product>product'] }),
      subject('product', { columns: ['title'] }),
      subject('vip', { parents: ['client'], condition: "tier = 'gold'" }),
      subject('client', { columns: ['tier'], links: ['endorses>product'] }),
    ];
    const withMeasure = [
      { ...(subjects[0] as Subject), columns: [{ ...subject('x', { columns: ['revenue'] }).columns[0], isMeasure: true } as Subject['columns'][number]] },
      ...subjects.slice(1),
    ];
    expect(first('What is the total revenue by product?', withMeasure)).toBe('line');
    expect(first('who endorsed something', subjects)).toBe('client');
    expect(first('gold tier', subjects)).toBe('vip');
  });

  it('is higher for the subject of the question than for its limits or groups', () => {
    const subjects = [subject('order', { links: ['placed_by>customer'] }), subject('customer', { links: ['lives_in>city'] }), subject('city')];
    for (const question of [
      'How many orders did customers in this city place?',
      'Per customer, how many orders?',
      'orders for each city and customer',
      'In which orders is a customer of the city?',
    ])
      expect(first(question, subjects), question).toBe('order');
    expect(first('Which customers have orders in the city?', subjects)).toBe('customer');
    expect(first('For each customer: how many orders and cities?', subjects)).toBe('customer');
    expect(first('For every order, the city of the customer', subjects)).toBe('order');
  });

  it('prefers a longer name that contains a shorter one', () => {
    const subjects = [subject('order'), subject('order_line'), subject('OrderStatus'), subject('purchase order')];
    expect(first('Which order lines are open?', subjects)).toBe('order_line');
    expect(first('Which orderlines are open?', subjects)).toBe('order_line');
    expect(first('list every order status', subjects)).toBe('OrderStatus');
    expect(first('Which purchase orders are open?', subjects)).toBe('purchase order');
    expect(first('Which orders are open?', subjects)).toBe('order');
    expect(first('Which sales orders?', [subject('salesorder'), subject('sale'), subject('order')])).toBe('salesorder');
  });

  it('prefers a parent to its children, unless only the child has the requested property', () => {
    const inherited = (names: readonly string[]) => subject('x', { columns: names }).columns.map((c) => ({ ...c, inheritedFrom: 'customer' }));
    const child = subject('member', { parents: ['customer'] });
    const subjects = [
      subject('customer', { columns: ['name', 'segment', 'birthday'] }),
      { ...child, columns: [...inherited(['name', 'segment', 'birthday']), ...subject('x', { columns: ['points'] }).columns] },
      ...Array.from({ length: 5 }, (_, i) => ({ ...subject(`kind_${i}`, { parents: ['customer'] }), columns: inherited(['name', 'segment', 'birthday']) })),
    ];
    expect(first('segments and birthdays', subjects)).toBe('customer');
    expect(first('How many customers of each segment?', subjects)).toBe('customer');
    expect(first('customers with more than 100 points', subjects)).toBe('member');
    expect(first('members by segment', subjects)).toBe('member');
  });

  it('knows common synonyms, but prefers those of the model', () => {
    expect(first('Which clients are new?', [subject('order'), subject('customer')])).toBe('customer');
    expect(first('Which clients are new?', [subject('customer'), subject('client')])).toBe('client');
    expect(first('Which staff left?', [subject('order'), subject('employee')])).toBe('employee');
  });

  it('finds names in other scripts, and without accents', () => {
    const subjects = [
      subject('\u90fd\u5e02', { columns: ['\u4eba\u53e3'] }),
      subject('\u0433\u043e\u0440\u043e\u0434'),
      subject('for\u00eat'),
      subject('\u56fd'),
    ];
    expect(first('\u4eba\u53e3\u304c\u6700\u3082\u591a\u3044\u90fd\u5e02\u306f\uff1f', subjects)).toBe('\u90fd\u5e02');
    expect(first('\u0413\u041e\u0420\u041e\u0414', subjects)).toBe('\u0433\u043e\u0440\u043e\u0434');
    expect(first('les forets', subjects)).toBe('for\u00eat');
  });

  it('gives a reason', () => {
    const [best] = rank('Which towns have the most inhabitants?', world, { index });
    expect(best?.subject.name).toBe('city');
    expect(best?.why[0]).toBe('synonym "towns"');
    expect(best?.why).toContain('column population "inhabitants"');
    expect(rank('zzz', world, { index })[0]).toMatchObject({ score: 0, why: [], named: false, explains: false });
  });

  it('covers the remaining subjects, by an index of all', () => {
    const left = world.filter((s) => s.name === 'region' || s.name === 'capital');
    expect(rank('How many cities has Europe?', left, { index }).map((r) => [r.subject.name, r.score])).toEqual([
      ['capital', 1],
      ['region', expect.any(Number)],
    ]);
    expect(rank('How many cities?', [], { index })).toEqual([]);
    expect(rank('How many cities?', [])).toEqual([]);
  });
});

describe('values', () => {
  const country = subject('country', { columns: ['name', 'code'] });
  const city = subject('city', { columns: ['name'], links: ['in_country>country'] });
  const currency = subject('currency', { columns: ['name'] });
  const samples = new Map([
    ['c:country', samplesOf([{ name: 'name', type: 'string' }], [['France'], ['New Zealand'], ['Order']])],
    ['c:currency', samplesOf([{ name: 'name', type: 'string' }], [['Euro'], ['New Zealand dollar'], ['dollar']])],
  ]);

  it('raise the subjects that have them', () => {
    const subjects = [city, country, currency];
    expect(rank('France', subjects, { samples })[0]).toMatchObject({ subject: country, why: ['value "France" of name'] });
    // the longest value at a position
    expect(rank('what about the new zealand dollar', subjects, { samples })[0]?.subject).toBe(currency);
    // a name counts more than a value
    expect(rank('Which cities are in France?', subjects, { samples })[0]?.subject).toBe(city);
    expect(rank('orders', [country, subject('order')], { samples })[0]?.subject.name).toBe('order');
  });
});

describe('a rank for any text', () => {
  const HOSTILE = [
    '',
    ' \n\t',
    '?'.repeat(100_000),
    'city '.repeat(20_000),
    'a'.repeat(100_000),
    `${'which cities and countries '.repeat(4_000)}?`,
    'aB'.repeat(50_000),
    "city's ".repeat(15_000),
    '(((((.*)+)+)+)+$'.repeat(100),
    '[a-z]{1,99999}\\1(?<=x)',
    '\ud800 city \udfff\ud800',
    '\u0000\u0007city\u202e\ufeff\u200b',
    '__proto__ constructor hasOwnProperty toString',
    '\u6771'.repeat(100_000),
    '\u0301'.repeat(100_000),
    '\ufdfa'.repeat(50_000),
    '\ud83d\udc68\u200d\ud83d\udc69'.repeat(10_000),
  ];
  it.each(HOSTILE.map((q) => [q.slice(0, 30), q] as const))('%j throws nothing', (_, question) => {
    const ranked = rank(question, world, { index });
    expect(ranked.length).toBe(world.length);
    for (const { score } of ranked) expect(score >= 0 && score <= 1).toBe(true);
  });

  it('is in order, for any names', () => {
    const name = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('order', 'order_line', 'the', 'constructor', '__proto__', 'list'));
    const made = fc.record({ name, column: name, link: name, tag: name, description: fc.option(name), parent: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(made, { maxLength: 6 }), name, fc.string({ unit: 'binary', maxLength: 40 }), (all, word, rest) => {
        const subjects = all.map((m, i) =>
          subject(m.name, {
            columns: [m.column],
            links: [`${m.link}>${all[0]?.name}`],
            tags: { synonyms: m.tag },
            description: m.description,
            parents: i === 0 ? [] : [all[m.parent]?.name ?? ''],
          }),
        );
        const ranked = rank(`${word} ${rest}`, subjects);
        expect(ranked.length).toBe(subjects.length);
        expect(ranked.every((r, i) => r.score <= (ranked[i - 1]?.score ?? 1) && r.score >= 0)).toBe(true);
        expect(ranked[0]?.score ?? 1).toBeOneOf([0, 1]);
      }),
      generated(),
    );
  });
});

describe('a large ontology', () => {
  const KINDS = 'sales purchase service project fleet payroll travel legal quality safety'.split(' ');
  const THINGS =
    'order invoice contract vehicle claim budget audit inspection training permit shipment warehouse asset ticket meeting payment supplier customer employee site'.split(
      ' ',
    );
  const subjects = KINDS.flatMap((kind) =>
    THINGS.flatMap((thing) =>
      ['', 'line', 'status', 'archive', 'log', 'type', 'note', 'rule', 'plan', 'group'].map((part) =>
        subject([kind, thing, part].filter((p) => p !== '').join('_'), {
          description: `The ${part || 'data'} of a ${kind} ${thing}`,
          columns: ['id', 'name', 'created_at', `${thing}_number`, `${kind}_area`, 'status', 'amount'],
          links: [`of_${thing}>${kind}_${thing}`],
        }),
      ),
    ),
  );
  const large = rankIndex(subjects);

  it('is searched with the same result', () => {
    expect(subjects.length).toBe(2_000);
    const top = (question: string): readonly string[] =>
      rank(question, subjects, { index: large })
        .slice(0, 5)
        .map((r) => r.subject.name);
    expect(top('How many sales orders were placed?')[0]).toBe('sales_order');
    expect(top('Which fleet vehicles failed an inspection?')[0]).toBe('fleet_vehicle');
    expect(top('average amount of payroll claims per site')[0]).toBe('payroll_claim');
    expect(top('show the log of travel permits')).toContain('travel_permit_log');
    expect(top('List legal contract types')[0]).toBe('legal_contract_type');
  });

  it('has an index that fits into the cache of an isolate', () => {
    expect(large.bytes).toBeLessThan(8 * 1024 * 1024);
    expect(large.bytes).toBeGreaterThan(100_000);
  });
});

describe('the index of a model of 2,000 concepts', () => {
  it('is small enough to be cached', () => {
    const graph = compile(largeModel(200, 20), 'big');
    expect(10 * rankIndex(subjectsOf(graph, { condition: () => null })).bytes).toBeLessThan(CACHE_BYTES / 2);
  });

  it('have an index that fits into the cache, also with 40,000 columns', () => {
    const all = Array.from({ length: 400 }, (_, i) => subject(`thing_${i}`, { columns: Array.from({ length: 100 }, (_, c) => `attribute${i}x${c}`) }));
    const index = rankIndex(all);
    expect([index.isPartial, index.bytes < CACHE_BYTES / 2, index.rarity.size > MAX_VOCABULARY / 2]).toEqual([true, true, true]);
    // names are always found
    expect(rank('thing 399', all, { index })[0]?.subject.name).toBe('thing_399');
    expect(rankIndex(all.slice(0, 10)).isPartial).toBe(false);
  });

  it('has a bounded number of phrases if few words make many names', () => {
    const all = Array.from({ length: 450 }, (_, i) => subject(`part_${i}`, { columns: Array.from({ length: 50 }, (_, c) => `part_${i}_side_${c}`) }));
    const index = rankIndex(all);
    expect(index.phraseWords.length).toBeLessThan(MAX_PHRASES + all.length);
    expect(index.isPartial).toBe(false);
    // the last columns are found by their words
    expect(rank('side of part 449', all, { index })[0]?.subject.name).toBe('part_449');
  });
});
