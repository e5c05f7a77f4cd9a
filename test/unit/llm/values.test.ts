/** Sampled values, and reading several samples; test/integration/llm-values.test.ts reads real ones. */
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { isSecret, matches, NO_SAMPLES, samplesOf, samplesWithin } from '../../../src/llm/values.ts';
import { type Sample, type ServiceRequest, Spending } from '../../../src/service.ts';
import { generated } from '../../support/generated.ts';
import { modelOf, subject } from './subjects.ts';

type Rows = readonly (readonly (string | null)[])[];
// Files in one process share their modules; those of earlier files import the real service.
vi.hoisted(() => vi.resetModules());
const datasource = vi.hoisted(() => ({ read: async (_request: unknown, _sample: unknown): Promise<unknown> => [] }));
vi.mock('../../../src/service/ops/questions.ts', async (original) => ({
  ...(await original<typeof import('../../../src/service/ops/questions.ts')>()),
  sampleRows: (request: unknown, sample: unknown) => datasource.read(request, sample),
}));
afterAll(() => {
  vi.doUnmock('../../../src/service/ops/questions.ts');
  vi.resetModules();
});

const NAME = [{ name: 'name', type: 'string' }];
const one = (...values: readonly string[]) =>
  samplesOf(
    NAME,
    values.map((v) => [v]),
  );
const found = (question: string, ...values: readonly string[]): readonly string[] => matches(question, one(...values)).map((m) => m.value);

describe('samplesOf', () => {
  it('counts values, omits empty ones, and reports whether they are all', () => {
    const { rows, columns } = samplesOf(
      [
        { name: 'a', type: 'string' },
        { name: 'b', type: null },
        { name: 'c', type: null },
      ],
      [
        ['x', '1', 'a 1'],
        ['y', '2.5', null],
        ['x', null, 'b'],
        [' ', '2024-01-01', 'b'],
      ],
    );
    expect(rows).toBe(4);
    // numbers and dates of a column without a type are not used
    expect(columns).toEqual([
      {
        name: 'a',
        values: [
          { value: 'x', count: 2 },
          { value: 'y', count: 1 },
        ],
        distinct: 2,
        complete: true,
      },
      {
        name: 'c',
        values: [
          { value: 'b', count: 2 },
          { value: 'a 1', count: 1 },
        ],
        distinct: 2,
        complete: true,
      },
    ]);
  });

  it('keeps a limited number of short values, from a limited number of rows', () => {
    const some = (rows: number, columns = 1) =>
      samplesOf(
        Array.from({ length: columns }, (_, i) => ({ name: `c${i}`, type: 'string' })),
        Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, () => `value ${i}`)),
      ).columns;
    expect(some(999)[0]).toMatchObject({ distinct: 999, complete: false });
    expect([some(999)[0]?.values.length, some(300)[0]?.values.length]).toEqual([300, 300]);
    expect(some(300)[0]?.complete).toBe(true);
    // any thousand of the rows
    expect(some(1_000)[0]).toMatchObject({ distinct: 1_000, complete: false });
    expect(some(1_000)[0]?.values.length).toBe(100);
    expect(some(400, 12).map((c) => c.values.length)).toEqual([300, 300, 300, 300, 300]);
    expect(one('short', 'x'.repeat(61)).columns[0]).toMatchObject({ distinct: 1, complete: false });
    expect(one('x'.repeat(61), 'y'.repeat(61)).columns).toEqual([]);
  });
});

describe('matches', () => {
  it.each<[string, string[], string[]]>([
    ['orders of new york city', ['New York', 'York', 'new'], ['New York', 'new', 'York']],
    ['Kobenhavn', ['K\u00f8benhavn'], ['K\u00f8benhavn']],
    ['anything in The Hague?', ['The Hague'], ['The Hague']],
    ['ordered laptops', ['Laptop'], ['Laptop']],
    ['\u6771\u4eac\u306e\u4eba\u53e3', ['\u6771\u4eac', '\u4eac\u90fd'], ['\u6771\u4eac']],
    ['in the US, tell us', ['US', 'us'], ['US']],
    ['segment A of a kind', ['A', 'B'], ['A']],
    ['A segment', ['A'], []],
    ['can I see it', ['I'], []],
    ['the 10 best of 2024', ['10', '2024'], ['2024']],
    ['what is not there', ['not', 'what', 'there'], []],
    ['a b c d e f g', ['a b c d e f g'], []],
    ['yes', ['yes'], []],
    ['what lies where', ['LIE', 'lie'], []],
    ['the lie of it', ['LIE'], ['LIE']],
    ['', ['x'], []],
  ])('%j with %j: %j', (question, values, expected) => expect(found(question, ...values)).toEqual(expected));

  it('returns column and position', () => {
    const samples = samplesOf([...NAME, { name: 'nick', type: 'string' }], [['Ann Lee', 'ann lee']]);
    expect(matches('Is ann lee here', samples)).toEqual([
      { column: 'name', value: 'Ann Lee', count: 1, from: 1, to: 3 },
      { column: 'nick', value: 'ann lee', count: 1, from: 1, to: 3 },
    ]);
  });

  it('finds a value in a question that contains it', () => {
    const word = fc.stringMatching(/^[a-z]{3,9}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 2, maxLength: 5 }), fc.string({ unit: 'binary', maxLength: 20 }), (parts, before) => {
        const value = parts.join(' ');
        expect(found(`${before} - ${value.toUpperCase()}?`, value)).toContain(value);
      }),
      generated(),
    );
  });

  it('handles any question', () => {
    const samples = one('constructor', '__proto__', '\ud800', '(', '.*', 'x');
    for (const question of ['constructor '.repeat(20_000), '\ud800'.repeat(1_000), '('.repeat(100_000), '__proto__'])
      expect(() => matches(question, samples)).not.toThrow();
  });
});

describe('isSecret', () => {
  it.each<[string, Record<string, string>, boolean]>([
    ['password_hash', {}, true],
    ['apiKey', {}, true],
    ['access-token', {}, true],
    ['SSN', {}, true],
    ['card_number', {}, true],
    ['name', { PII: 'true' }, true],
    ['name', { personal_data: 'yes' }, true],
    ['name', { pii: 'no' }, false],
    ['name', { pii: '' }, false],
    ['tokenizer', {}, false],
    ['secretary', {}, false],
    ['shipping', {}, false],
    ['number', {}, false],
  ])('%s %j: %s', (name, tags, expected) => expect(isSecret({ name, tags })).toBe(expected));
});

describe('samplesWithin', () => {
  const subjects = Array.from({ length: 8 }, (_, i) => subject(`s${i}`, { columns: ['name'] }));
  let later: Promise<unknown>[] = [];
  let now = 0;
  const request = (signal = new AbortController().signal) =>
    ({
      spending: new Spending(),
      signal,
      runtime: { now: () => now, waitUntil: (work: Promise<unknown>) => void later.push(work) },
    }) as unknown as ServiceRequest;

  beforeEach(() => {
    later = [];
    now += 3_600_000;
    vi.useRealTimers();
  });

  it('reads three at a time, each once', async () => {
    let running = 0;
    let most = 0;
    const asked: string[] = [];
    datasource.read = async (_, sample) => {
      most = Math.max(most, ++running);
      asked.push((sample as Sample).relation);
      await new Promise((done) => setTimeout(done, 1));
      running--;
      return [['Oslo']];
    };
    const model = modelOf(subjects);
    const samples = await samplesWithin(request(), model, subjects, 10_000);
    expect([samples.size, most, asked.sort()]).toEqual([8, 3, subjects.map((s) => s.name)]);
    expect(samples.get('c:s3')?.columns[0]?.values).toEqual([{ value: 'Oslo', count: 1 }]);
    await samplesWithin(request(), model, subjects, 10_000);
    expect(asked.length).toBe(8);
    expect(later).toEqual([]);
  });

  it('does not wait longer than allowed, starts nothing after that, and cancels reads that do not end', async () => {
    vi.useFakeTimers();
    const signals: AbortSignal[] = [];
    datasource.read = (made, sample) =>
      (sample as Sample).relation === 's0'
        ? Promise.resolve([['Oslo']])
        : new Promise((_, fail) => {
            const { signal } = made as ServiceRequest;
            signals.push(signal);
            signal.addEventListener('abort', () => fail(new Error('gone')));
          });
    const model = modelOf(subjects);
    const waited = samplesWithin(request(), model, subjects, 1_500);
    await vi.advanceTimersByTimeAsync(1_499);
    expect(signals.length).toBe(3);
    await vi.advanceTimersByTimeAsync(1);
    expect([...(await waited).keys()]).toEqual(['c:s0']);
    expect([signals.map((s) => s.aborted), later.length]).toEqual([[false, false, false], 1]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(signals.every((s) => s.aborted)).toBe(true);
    await Promise.all(later);
    // these are not read again at once, and others were never read
    await samplesWithin(request(), model, subjects.slice(1, 4), 1_500);
    expect(signals.length).toBe(3);
  });

  it('caches late results for the next question', async () => {
    vi.useFakeTimers();
    datasource.read = () => new Promise((done) => setTimeout(() => done([['Oslo']]), 2_000));
    const model = modelOf(subjects);
    const [first] = subjects;
    if (first === undefined) throw new Error();
    const waited = samplesWithin(request(), model, [first], 1_500);
    await vi.advanceTimersByTimeAsync(1_500);
    expect((await waited).size).toBe(0);
    await vi.advanceTimersByTimeAsync(500);
    await Promise.all(later);
    expect((await samplesWithin(request(), model, [first], 0)).get('c:s0')?.rows).toBe(1);
  });

  it('returns nothing for a failed read, and caches nothing if the caller has disconnected', async () => {
    let asked = 0;
    datasource.read = async () => {
      asked++;
      throw new Error('no datasource');
    };
    const model = modelOf(subjects);
    const some = subjects.slice(0, 2);
    const gone = AbortSignal.abort();
    expect([...(await samplesWithin(request(gone), model, some, 1_000)).values()]).toEqual([NO_SAMPLES, NO_SAMPLES]);
    expect([...(await samplesWithin(request(), model, some, 1_000)).values()]).toEqual([NO_SAMPLES, NO_SAMPLES]);
    expect(asked).toBe(4);
    await samplesWithin(request(), model, some, 1_000);
    expect(asked).toBe(4);
  });

  it('reads no column without texts, or with secrets', async () => {
    const asked: Sample[] = [];
    datasource.read = async (_, sample) => {
      asked.push(sample as Sample);
      return [] satisfies Rows;
    };
    const column = subject('x', { columns: ['name'] }).columns[0];
    if (column === undefined) throw new Error();
    const subjects = [
      {
        ...subject('s', { kind: 'view' as const }),
        columns: [
          { ...column, name: 'n', type: 'bigint' },
          { ...column, name: 'm', isMeasure: true },
          { ...column, name: 'secret' },
          { ...column, name: 'entity_id' },
          { ...column, name: 'old', inheritedFrom: 'p' },
          { ...column, name: 'list', isMulti: true },
          { ...column, name: 'other list', isMulti: true },
          { ...column, name: 'own', type: 'character varying(20)' },
          { ...column, name: 'label', isLabel: true, inheritedFrom: 'p' },
        ],
      },
      { ...subject('t'), columns: [{ ...column, type: 'bigint' }] },
    ];
    await samplesWithin(request(), modelOf(subjects), subjects, 1_000);
    expect(asked).toEqual([{ ontology: 'test', isView: true, relation: 's', columns: ['label', 'list', 'own', 'old'], characters: 61, rows: 1_000 }]);
  });
});
