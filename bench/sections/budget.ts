/** The cost of a short text that expands before it is refused: processor time and memory, against planning a report of 300 columns. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SvcError } from '../../src/errors.ts';
import { planSelect } from '../../src/planner/index.ts';
import { HEAVY_SCRIPTS, HEAVY_STATEMENTS } from '../../test/support/heavy.ts';
import { scripted } from '../../test/support/scripted.ts';
import { context } from '../../test/unit/planner/company.ts';
import { median, ratio } from '../lib/measure.ts';
import { note, table } from '../lib/table.ts';

/** Aims of a refused text: milliseconds of processor time, megabytes. */
const AIM = { ms: 500, mb: 32 };

interface Cost {
  readonly ms: number;
  readonly mb: number;
  readonly outcome: string;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function costOf(make: () => string | Promise<string>): Promise<Cost> {
  collect();
  const held = (): number => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = held();
  const cpu = process.cpuUsage();
  let outcome: string;
  try {
    outcome = await make();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    outcome = error.code;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { ms: (user + system) / 1000, mb: Math.max(0, held() - before) / 2 ** 20, outcome };
}

/** The median of five. */
async function typical(make: () => string | Promise<string>): Promise<Cost> {
  const costs: Cost[] = [];
  for (let i = 0; i < 5; i++) costs.push(await costOf(make));
  return { ms: median(costs.map((c) => c.ms)), mb: median(costs.map((c) => c.mb)), outcome: costs[0]?.outcome ?? '' };
}

const plan = (text: string) => (): string => {
  planSelect(context, { text, offset: 0 });
  return 'planned';
};

/** A script as a request runs it, up to the calls that write the new version. */
const script = (text: string) => async () => (await scripted(text, { parser: context.parser })).code;

export async function run(): Promise<void> {
  const report = `SELECT ${Array.from({ length: 300 }, (_, i) => `salary + ${i} AS c${i}`).join(', ')} FROM svc.employee`;
  for (let i = 0; i < 20; i++) plan(report)();
  const baseline = await typical(plan(report));
  const row = (name: string, bytes: number, c: Cost): string[] => [
    name,
    String(bytes),
    c.outcome,
    c.ms.toFixed(0),
    c.mb.toFixed(0),
    ratio(c.ms, baseline.ms),
    c.outcome === 'planned' || (c.ms <= AIM.ms && c.mb <= AIM.mb) ? '' : 'over the aim',
  ];
  const head = ['text', 'bytes', 'outcome', 'ms', 'MB', 'time / report', ''];
  const rowsOf = async (texts: Readonly<Record<string, string>>, make: (text: string) => () => string | Promise<string>): Promise<string[][]> => {
    const rows: string[][] = [];
    for (const [name, text] of Object.entries(texts)) rows.push(row(name, text.length, await typical(make(text))));
    return rows;
  };
  const statements = await rowsOf(HEAVY_STATEMENTS, plan);
  table('(budget) statements that grow', head, [row('a report of 300 columns', report.length, baseline), ...statements]);
  table('(budget) scripts that grow', head, await rowsOf(HEAVY_SCRIPTS, script));
  note(
    `Processor time of the process, including garbage collection; memory is what was allocated and not collected in that time. Aim for refused texts: ${AIM.ms} ms and ${AIM.mb} MB.`,
  );
}
