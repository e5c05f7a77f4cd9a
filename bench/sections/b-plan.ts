/** (b) Planning against parsing the same text, in Node and in workerd. */
import { worldModel } from '../../examples/world/graph.ts';
import { QUESTIONS } from '../../examples/world/questions.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { buildBenchWorker } from '../lib/build.ts';
import { interleaved, median, ratio, us } from '../lib/measure.ts';
import { planning } from '../lib/planning.ts';
import { post, startScripts } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

/** `made`: parsing the finished SQL. */
type Figures = Record<'parse' | 'cold' | 'made' | 'verify' | 'warm', number>;

/** The first plans in a new isolate or process, before the engine has compiled the code: the mean of the first `FIRST` of each question. */
type First = Record<'parse' | 'cold', number>;

interface Measured {
  readonly figures: readonly Figures[];
  readonly first: First;
}

const FIRST = 100;

export async function run(): Promise<void> {
  const model = await worldModel();
  report('Node, processor time', await inNode(model));
  report('workerd', await inWorkerd(model));
  note(
    'Cold: a new text, over a model that is in memory, after a thousand plans. Its SQL: parsing the finished SQL by the same grammar, which planning does not do. Verify: the check of that SQL, once for a plan. Warm: the same text again, from splitting the script to the plan in the cache. The last row: the mean of the first 100 of each question, in a new process or isolate.',
  );
}

function report(runtime: string, { figures, first }: Measured): void {
  const rows = figures.map((f, i) => figuresRow(`${i + 1}. ${shortened(QUESTIONS[i]?.question ?? '')}`, f));
  const middle = (key: keyof Figures): number => median(figures.map((f) => f[key]));
  const inWorkers = runtime === 'workerd';
  if (inWorkers) aim('b', 'planning a new text against parsing it, median', middle('cold') / middle('parse'), { most: 6 });
  if (inWorkers) aim('b', 'planning a cached text, median', middle('warm') * 1000, { most: 20 }, 'us');
  rows.push(figuresRow('median', { parse: middle('parse'), cold: middle('cold'), made: middle('made'), verify: middle('verify'), warm: middle('warm') }));
  rows.push([`the first ${FIRST} of each`, us(first.parse), us(first.cold), '', '', '', ratio(first.cold, first.parse), '', '']);
  table(
    `(b) planning against parsing the same text, ${runtime}`,
    ['question of docs/world.md', 'parse', 'cold', 'its SQL', 'verify', 'warm', 'cold / parse', 'its SQL / parse', 'verify / cold'],
    rows,
  );
}

const figuresRow = (name: string, f: Figures): string[] => [
  name,
  us(f.parse),
  us(f.cold),
  us(f.made),
  us(f.verify),
  us(f.warm),
  ratio(f.cold, f.parse),
  ratio(f.made, f.parse),
  ratio(f.verify, f.cold),
];
const shortened = (text: string): string => (text.length > 50 ? `${text.slice(0, 47)}...` : text);

async function inNode(model: string): Promise<Measured> {
  const { parse, cold, made, verify, warm } = planning(model, await loadNodeParser());
  // Processor time: on a busy machine, longer batches are interrupted more often than short ones.
  const since = (start: NodeJS.CpuUsage, times = 20): number => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000 / times;
  };
  const each = async (step: () => unknown): Promise<number> => {
    const start = process.cpuUsage();
    for (let i = 0; i < 20; i++) step();
    return since(start);
  };
  const eachAwaited = async (step: () => Promise<unknown>): Promise<number> => {
    const start = process.cpuUsage();
    for (let i = 0; i < 20; i++) await step();
    return since(start);
  };
  const firstOf = (step: (sql: string) => unknown): number => {
    const start = process.cpuUsage();
    for (let i = 0; i < FIRST; i++) for (const { sql } of QUESTIONS) step(sql);
    return since(start, FIRST * QUESTIONS.length);
  };
  const first = { parse: firstOf(parse), cold: firstOf(cold) };
  // The code must be compiled before the measurement, as in an isolate that has lived for a while.
  for (let i = 0; i < 100; i++) {
    for (const { sql } of QUESTIONS) {
      cold(sql);
      verify(sql);
    }
  }
  const figures: Figures[] = [];
  for (const { sql } of QUESTIONS) {
    const took = await interleaved(
      {
        parse: () => each(() => parse(sql)),
        cold: () => each(() => cold(sql)),
        made: () => each(() => made(sql)),
        verify: () => each(() => verify(sql)),
        warm: () => eachAwaited(() => warm(sql)),
      },
      30,
      10,
    );
    figures.push({ parse: median(took.parse), cold: median(took.cold), made: median(took.made), verify: median(took.verify), warm: median(took.warm) });
  }
  return { figures, first };
}

async function inWorkerd(model: string): Promise<Measured> {
  const running = await startScripts({ plan: { script: await buildBenchWorker('plan') } });
  try {
    const url = running.urls.plan as string;
    await post(url, { what: 'model', text: model, n: 1 });
    const n = 100;
    const firstOf = async (what: keyof Figures): Promise<number> => {
      const start = performance.now();
      for (const { sql } of QUESTIONS) await post(url, { what, text: sql, n: FIRST });
      return (performance.now() - start) / FIRST / QUESTIONS.length;
    };
    const first = { parse: await firstOf('parse'), cold: await firstOf('cold') };
    for (const { sql } of QUESTIONS) await post(url, { what: 'verify', text: sql, n });
    const figures: Figures[] = [];
    for (const { sql } of QUESTIONS) {
      // Timers may not advance inside a Worker, so requests of zero and of many runs are timed from outside.
      const task = (what: keyof Figures, times: number) => async () => {
        const start = performance.now();
        await post(url, { what, text: sql, n: times });
        return performance.now() - start;
      };
      const took = await interleaved(
        { nothing: task('parse', 0), parse: task('parse', n), cold: task('cold', n), made: task('made', n), verify: task('verify', n), warm: task('warm', n) },
        15,
        4,
      );
      const each = (samples: readonly number[]): number => Math.max(0, median(samples) - median(took.nothing)) / n;
      figures.push({ parse: each(took.parse), cold: each(took.cold), made: each(took.made), verify: each(took.verify), warm: each(took.warm) });
    }
    return { figures, first };
  } finally {
    await running.stop();
  }
}
