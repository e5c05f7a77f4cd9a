/** What is made of the answers of a service, whose tools are scripted here. */
import { describe, expect, it } from 'vitest';
import { askOracle, askQuestion, type Kind } from '../../../dev/eval/outcome.ts';
import { lineOf, reportOf, totalsOf } from '../../../dev/eval/report.ts';
import type { Asked, EvalService, Said } from '../../../dev/eval/service.ts';
import type { Question } from '../../../dev/eval/set.ts';

const question = (more: Partial<Question> = {}): Question => ({
  id: 'q',
  question: 'How many?',
  concept: 'thing',
  gold: 'SELECT gold',
  tags: ['count'],
  ...more,
});
const asked = (rows: Asked['rows'], more: Partial<Asked> = {}): Said<Asked> => ({
  ok: true,
  value: { rows, truncated: false, sql: 'SELECT made', concept: 'thing', calls: 2, inputTokens: 100, outputTokens: 20, tries: 1, ...more },
});
const error = (text: string): { readonly ok: false; readonly error: string } => ({ ok: false, error: text });

/** A service whose gold SQL gives one row. */
function service(
  said: Said<Asked>,
  { run, check }: { run?: Awaited<ReturnType<EvalService['run']>>; check?: Awaited<ReturnType<EvalService['check']>> } = {},
): EvalService {
  return {
    ask: async () => said,
    run: async () => run ?? { ok: true, value: { rows: [{ n: 3 }], truncated: false } },
    check: async () => check ?? { ok: true, value: { plan: 'Plan' } },
    close: async () => undefined,
  };
}

describe('a question in words', () => {
  it.each<[string, Said<Asked>, Partial<Question>, Kind]>([
    ['the same rows', asked([{ count: 3 }]), {}, 'right'],
    ['other rows', asked([{ count: 4 }]), {}, 'wrong'],
    ['rows that were cut off', asked([{ count: 3 }], { truncated: true }), {}, 'wrong'],
    ['an error', error('No valid SQL was found for this question'), {}, 'refused'],
    ['an error where there is no answer', error('The knowledge graph cannot answer this question: no GDP'), { gold: null, concept: null }, 'declined'],
    ['rows where there is no answer', asked([{ gdp: 1 }]), { gold: null, concept: null }, 'wrong'],
    ['no rows where there is no answer', asked([]), { gold: null, concept: null }, 'wrong'],
    ['a model that failed', error('The language model took too long'), {}, 'failed'],
    ['a model that failed where there is no answer', error('LLM type is required'), { gold: null, concept: null }, 'failed'],
    ['a datasource that failed', error('the datasource failed or could not be reached'), {}, 'failed'],
  ])('%s', async (_, said, more, kind) => expect((await askQuestion(service(said), question(more))).kind).toBe(kind));

  it('is not rated if its gold SQL fails or has too many rows', async () => {
    const failing = await askQuestion(service(asked([]), { run: error('unknown property') }), question());
    expect([failing.kind, failing.why]).toEqual(['failed', 'the gold SQL fails: unknown property']);
    expect((await askQuestion(service(asked([]), { run: { ok: true, value: { rows: [], truncated: true } } }), question())).kind).toBe('failed');
  });

  it('fails where the service is away', async () => {
    const away: EvalService = { ...service(asked([])), ask: () => Promise.reject(new Error('fetch failed')) };
    expect(await askQuestion(away, question())).toMatchObject({ kind: 'failed', why: 'fetch failed' });
  });
});

describe('the oracle', () => {
  const tables = (rows: readonly Record<string, unknown>[]) => async () => rows;
  it('takes SQL that the checks take and whose rows are those of the SQL by hand', async () => {
    const by = question({ by_hand: 'SELECT hand' });
    expect((await askOracle(service(asked([])), by, tables([{ x: 3 }]))).kind).toBe('right');
    expect((await askOracle(service(asked([])), by, tables([{ x: 4 }]))).kind).toBe('wrong');
    expect((await askOracle(service(asked([])), by, undefined)).kind).toBe('right');
    expect((await askOracle(service(asked([]), { check: error('unknown property') }), by, undefined)).kind).toBe('refused');
    expect((await askOracle(service(asked([]), { run: error('division by zero') }), by, undefined)).kind).toBe('refused');
  });
});

describe('the report', () => {
  it('counts right answers, refusals and unnoticed errors', async () => {
    const made = [
      await askQuestion(service(asked([{ n: 3 }])), question({ id: 'a' })),
      await askQuestion(service(asked([{ n: 4 }], { concept: 'other' })), question({ id: 'b' })),
      await askQuestion(service(error('No SQL')), question({ id: 'c', tags: ['sum'] })),
      await askQuestion(service(error('No SQL')), question({ id: 'd', gold: null, concept: null })),
    ];
    const totals = totalsOf(made);
    expect(totals).toMatchObject({ questions: 4, accuracy: 0.5, concept: 0.5, calls: 4, inputTokens: 200, outputTokens: 40 });
    expect(totals.byKind).toEqual({ right: 1, declined: 1, refused: 1, wrong: 1, failed: 0 });
    const text = reportOf(made, false).join('\n');
    expect(text).toMatch(/4 questions: 1 right, 1 declined, 1 refused, 1 wrong, 0 failed\naccuracy 50\.0 %, silent errors 25\.0 %/);
    expect(text).toMatch(/\| count \| 3 \| 2 \|\n\| sum \| 1 \| 0 \|/);
    expect(text).toMatch(/b: How many\?\n.*\n {2}given: SELECT made\n {2}gold: {2}SELECT gold/);
    expect(lineOf({ ...(made[1] as (typeof made)[0]), milliseconds: 1234 })).toBe(
      'wrong     b                                      1.2 s  120 tokens  no column has the values of "n"',
    );
  });
});
