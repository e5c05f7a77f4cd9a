/** (b) Planning against parsing the same text, in Node and in workerd. */
import { worldModel } from '../../examples/world/graph.ts';
import { QUESTIONS } from '../../examples/world/questions.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { buildBenchWorker } from '../lib/build.ts';
import { interleaved, median, ratio, us } from '../lib/measure.ts';
import { planning } from '../lib/planning.ts';
import { post, startScripts } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

type Figures = Record<'parse' | 'cold' | 'verify' | 'warm', number>;

export async function run(): Promise<void> {
  const model = await worldModel();
  report('Node, processor time', await inNode(model));
  report('workerd', await inWorkerd(model));
  note(
    'Cold: a new text, over a model that is in memory. Verify: the check of its finished SQL, once for a plan. Warm: the same text again, from splitting the script to the plan in the cache.',
  );
}

function report(runtime: string, figures: readonly Figures[]): void {
  const rows = figures.map((f, i) => figuresRow(`${i + 1}. ${shortened(QUESTIONS[i]?.question ?? '')}`, f));
  const middle = (key: keyof Figures): number => median(figures.map((f) => f[key]));
  const inWorkers = runtime === 'workerd';
  if (inWorkers) aim('b', 'planning a new text against parsing it, median', middle('cold') / middle('parse'), { most: 6 });
  if (inWorkers) aim('b', 'planning a cached text, median', middle('warm') * 1000, { most: 20 }, 'us');
  rows.push(figuresRow('median', { parse: middle('parse'), cold: middle('cold'), verify: middle('verify'), warm: middle('warm') }));
  table(
    `(b) planning against parsing the same text, ${runtime}`,
    ['question of docs/world.md', 'parse', 'cold', 'verify', 'warm', 'cold / parse', 'verify / cold'],
    rows,
  );
}

const figuresRow = (name: string, f: Figures): string[] => [
  name,
  us(f.parse),
  us(f.cold),
  us(f.verify),
  us(f.warm),
  ratio(f.cold, f.parse),
  ratio(f.verify, f.cold),
];
const shortened = (text: string): string => (text.length > 50 ? `${text.slice(0, 47)}...` : text);

async function inNode(model: string): Promise<Figures[]> {
  const { parse, cold, verify, warm } = planning(model, await loadNodeParser());
  // Processor time: on a busy machine, longer batches are interrupted more often than short ones.
  const since = (start: NodeJS.CpuUsage): number => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000 / 20;
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
        verify: () => each(() => verify(sql)),
        warm: () => eachAwaited(() => warm(sql)),
      },
      30,
      10,
    );
    figures.push({ parse: median(took.parse), cold: median(took.cold), verify: median(took.verify), warm: median(took.warm) });
  }
  return figures;
}

async function inWorkerd(model: string): Promise<Figures[]> {
  const running = await startScripts({ plan: { script: await buildBenchWorker('plan') } });
  try {
    const url = running.urls.plan as string;
    await post(url, { what: 'model', text: model, n: 1 });
    const n = 100;
    for (const { sql } of QUESTIONS) for (const what of ['cold', 'verify']) await post(url, { what, text: sql, n });
    const figures: Figures[] = [];
    for (const { sql } of QUESTIONS) {
      // Timers may not advance inside a Worker, so requests of zero and of many runs are timed from outside.
      const task = (what: keyof Figures, times: number) => async () => {
        const start = performance.now();
        await post(url, { what, text: sql, n: times });
        return performance.now() - start;
      };
      const took = await interleaved(
        { nothing: task('parse', 0), parse: task('parse', n), cold: task('cold', n), verify: task('verify', n), warm: task('warm', n) },
        15,
        4,
      );
      const each = (samples: readonly number[]): number => Math.max(0, median(samples) - median(took.nothing)) / n;
      figures.push({ parse: each(took.parse), cold: each(took.cold), verify: each(took.verify), warm: each(took.warm) });
    }
    return figures;
  } finally {
    await running.stop();
  }
}
