/** (d) The script: its size, and the cost of starting it compared with an empty one. */
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildBenchWorker, buildService, firstModules, type Script } from '../lib/build.ts';
import { interleaved, median, ms } from '../lib/measure.ts';
import { SERVICE_BINDINGS, startScripts } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';
import { workerdCpu } from '../lib/workerd.ts';

const cpuText = (value: number): string => (Number.isNaN(value) ? '-' : `${value.toFixed(0)} ms`);
const kB = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`;

/** Bytes, and bytes gzipped. */
type Size = readonly [number, number];
interface Sizes {
  readonly first: Size;
  readonly later: Size;
  readonly grammar: Size;
}

const sum = (...sizes: readonly Size[]): Size => [sizes.reduce((n, [bytes]) => n + bytes, 0), sizes.reduce((n, [, gzipped]) => n + gzipped, 0)];
const sizeText = ([bytes, gzipped]: Size): string[] => [kB(bytes), kB(gzipped)];

async function sizesOf(script: Script): Promise<Sizes> {
  const firsts = await firstModules(script);
  const of = (fits: (name: string, type: Script['modules'][number]['type']) => boolean): Size =>
    sum(...script.modules.filter((m) => fits(basename(m.path), m.type)).map((m): Size => [m.contents.length, gzipSync(m.contents).length]));
  return {
    first: of((name, type) => type === 'ESModule' && firsts.has(name)),
    later: of((name, type) => type === 'ESModule' && !firsts.has(name)),
    grammar: of((_, type) => type === 'CompiledWasm'),
  };
}

export async function run(): Promise<void> {
  const service = await buildService();
  const without = await buildService('service-none', undefined, []);
  const empty = await buildBenchWorker('empty');
  const [all, none] = [await sizesOf(service), await sizesOf(without)];
  const row = (part: string, of: (sizes: Sizes) => Size, aim: string): string[] => [part, ...sizeText(of(all)), ...sizeText(of(none)), aim];
  table(
    '(d) size of the built script, with all providers of language models and with none (--llm none)',
    ['part', 'bytes', 'gzipped', 'bytes, none', 'gzipped, none', 'aim, gzipped'],
    [
      row('JavaScript, loaded before the first request', ({ first }) => first, '-'),
      row('JavaScript, loaded on demand', ({ later }) => later, '-'),
      row('PostgreSQL grammar (WebAssembly)', ({ grammar }) => grammar, '-'),
      row('before the first REST answer, with the grammar', ({ first, grammar }) => sum(first, grammar), '600 kB'),
      row('everything', ({ first, later, grammar }) => sum(first, later, grammar), '1100 kB'),
    ],
  );

  const gzipped = (size: Size): number => size[1] / 1000;
  aim('d', 'script before the first REST answer, gzipped', gzipped(sum(all.first, all.grammar)), { most: 600 }, 'kB');
  aim('d', 'whole script, gzipped', gzipped(sum(all.first, all.later, all.grammar)), { most: 1100 }, 'kB');

  const started = (script: Script, more: typeof SERVICE_BINDINGS, cpu: number[]) => async () => {
    const start = performance.now();
    const running = await startScripts({ script: { script, more } });
    const response = await fetch(`${running.urls.script}/svc/api/health`);
    await response.arrayBuffer();
    const took = performance.now() - start;
    cpu.push(workerdCpu());
    await running.stop();
    return took;
  };
  // The same bindings for both, because they cost too.
  const objects = await buildBenchWorker('objects');
  const cpu = { service: [] as number[], none: [] as number[], empty: [] as number[], bare: [] as number[] };
  const took = await interleaved(
    {
      service: started(service, SERVICE_BINDINGS, cpu.service),
      none: started(without, SERVICE_BINDINGS, cpu.none),
      empty: started(objects, SERVICE_BINDINGS, cpu.empty),
      bare: started(empty, {}, cpu.bare),
    },
    12,
    1,
  );
  const least = (samples: readonly number[]): number => Math.min(...samples);
  const line = (name: string, samples: readonly number[], used: readonly number[]): string[] => [
    name,
    ms(least(samples)),
    ms(median(samples)),
    cpuText(median(used)),
  ];
  const difference = (name: string, samples: readonly number[], used: readonly number[]): string[] => [
    name,
    ms(least(samples) - least(took.empty)),
    ms(median(samples) - median(took.empty)),
    cpuText(median(used) - median(cpu.empty)),
  ];
  aim('d', 'script start, no provider, processor time', median(cpu.none) - median(cpu.empty), { most: 80 }, 'ms');
  aim('d', 'script start, all providers, processor time', median(cpu.service) - median(cpu.empty), { most: 80 }, 'ms');
  table(
    '(d) from the start of workerd to the first answer',
    ['script', 'least', 'median', 'processor time'],
    [
      line('empty', took.bare, cpu.bare),
      line("empty, with the service's bindings", took.empty, cpu.empty),
      line('service (health), no provider', took.none, cpu.none),
      line('service (health), all providers', took.service, cpu.service),
      difference('script start, no provider: the difference to the second (aim: 80 ms of processor time)', took.none, cpu.none),
      difference('script start, all providers (aim: the same)', took.service, cpu.service),
    ],
  );
  note(
    'The difference contains loading and evaluating the script and its first request, which neither parses SQL nor queries a database. On a busy machine the minimum of the runs and the processor time (of workerd, median) are more reliable than the median.',
  );
}
