/** (d) The script: its size, and what starting it costs beyond starting an empty one. */
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { buildBenchWorker, buildService, type Script } from '../lib/build.ts';
import { interleaved, median, ms } from '../lib/measure.ts';
import { SERVICE_BINDINGS, startScripts } from '../lib/stack.ts';
import { note, table } from '../lib/table.ts';

/** Processor time of this process's workerd so far, in milliseconds: Linux counts it in hundredths of a second. NaN elsewhere. */
function workerdCpu(): number {
  if (process.platform !== 'linux') return Number.NaN;
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, command, rest = ''] = /\((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      const fields = rest.split(' ');
      if (command === 'workerd' && Number(fields[1]) === process.pid) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks * 10;
}

const cpuText = (value: number): string => (Number.isNaN(value) ? '-' : `${value.toFixed(0)} ms`);
const kB = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`;

export async function run(): Promise<void> {
  const service = await buildService();
  const empty = await buildBenchWorker('empty');
  const sizes = service.modules.map((m): [string, number, number] => [
    m.type === 'CompiledWasm' ? 'PostgreSQL grammar (WebAssembly)' : 'JavaScript',
    m.contents.length,
    gzipSync(m.contents).length,
  ]);
  const sum = (i: 1 | 2): number => sizes.reduce((total, s) => total + s[i], 0);
  table(
    '(d) size of the built script',
    ['part', 'bytes', 'gzipped'],
    [...sizes.map(([name, bytes, gzipped]) => [name, kB(bytes), kB(gzipped)]), ['together', kB(sum(1)), kB(sum(2))]],
  );

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
  // The same bindings for both, for they cost too.
  const objects = await buildBenchWorker('objects');
  const cpu = { service: [] as number[], empty: [] as number[], bare: [] as number[] };
  const took = await interleaved(
    { service: started(service, SERVICE_BINDINGS, cpu.service), empty: started(objects, SERVICE_BINDINGS, cpu.empty), bare: started(empty, {}, cpu.bare) },
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
  table(
    '(d) from the start of workerd to the first answer',
    ['script', 'least', 'median', 'processor time'],
    [
      line('empty', took.bare, cpu.bare),
      line("empty, with the service's bindings", took.empty, cpu.empty),
      line('service (health)', took.service, cpu.service),
      [
        'script start: the difference of the last two',
        ms(least(took.service) - least(took.empty)),
        ms(median(took.service) - median(took.empty)),
        cpuText(median(cpu.service) - median(cpu.empty)),
      ],
    ],
  );
  note(
    'The difference holds loading and evaluating the script and its first request, which neither parses SQL nor asks a database. On a busy machine the least of the runs and the processor time (of workerd, median) say more than the median.',
  );
}
