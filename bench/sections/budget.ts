/** The cost of a short text that expands before it is refused: processor time and memory, against planning a report of 300 columns. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Budget, SCRIPT_LIMITS } from '../../src/budget.ts';
import { SvcError } from '../../src/errors.ts';
import { parseStatement } from '../../src/language/classify.ts';
import { createSqlReader } from '../../src/language/expressions.ts';
import { splitScript } from '../../src/language/split.ts';
import type { ModelStatement, RollbackOntology } from '../../src/language/statements.ts';
import { applyStatement, finish, Places } from '../../src/ontology/apply.ts';
import { EMPTY_MODEL } from '../../src/ontology/model.ts';
import { checkModel, planSelect } from '../../src/planner/index.ts';
import { HEAVY_SCRIPTS, HEAVY_STATEMENTS } from '../../test/support/heavy.ts';
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

function costOf(make: () => void): Cost {
  collect();
  const held = (): number => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = held();
  const cpu = process.cpuUsage();
  let outcome = 'planned';
  try {
    make();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    outcome = error.code;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { ms: (user + system) / 1000, mb: Math.max(0, held() - before) / 2 ** 20, outcome };
}

/** The median of five. */
function typical(make: () => void): Cost {
  const costs = Array.from({ length: 5 }, () => costOf(make));
  return { ms: median(costs.map((c) => c.ms)), mb: median(costs.map((c) => c.mb)), outcome: costs[0]?.outcome ?? '' };
}

const plan = (text: string) => () => void planSelect(context, { text, offset: 0 });

function script(text: string): void {
  const budget = new Budget(SCRIPT_LIMITS, 'the script');
  const apply = {
    ...createSqlReader(context.parser, 'svc'),
    ontology: 'm',
    datasources: ['main'],
    activeDatasource: 'main',
    product: 'svc',
    places: new Places(),
  };
  let model = EMPTY_MODEL;
  for (const source of splitScript(text)) {
    const statement = parseStatement(source) as Exclude<ModelStatement, RollbackOntology>;
    model = budget.run(() => applyStatement(model, statement, apply), source.offset);
  }
  const checked = budget.run(() => finish(EMPTY_MODEL, model, apply));
  budget.run(() => checkModel(checked.graph, context.parser, checked.pieces));
}

export async function run(): Promise<void> {
  const report = `SELECT ${Array.from({ length: 300 }, (_, i) => `salary + ${i} AS c${i}`).join(', ')} FROM svc.employee`;
  for (let i = 0; i < 20; i++) plan(report)();
  const baseline = typical(plan(report));
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
  const statements = Object.entries(HEAVY_STATEMENTS).map(([name, sql]) => row(name, sql.length, typical(plan(sql))));
  table('(budget) statements that grow', head, [row('a report of 300 columns', report.length, baseline), ...statements]);
  table(
    '(budget) scripts that grow',
    head,
    Object.entries(HEAVY_SCRIPTS).map(([name, text]) =>
      row(
        name,
        text.length,
        typical(() => script(text)),
      ),
    ),
  );
  note(
    `Processor time of the process, including garbage collection; memory is what was allocated and not collected in that time. Aim for refused texts: ${AIM.ms} ms and ${AIM.mb} MB.`,
  );
}
