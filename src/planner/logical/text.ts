/** A logical plan as indented text with one step in each line: EXPLAIN for callers who may not see the tables. */
import type { LogicalBlock, LogicalItem, LogicalPath, LogicalPlan } from './plan.ts';

/** A line of the text, and the steps below it. */
interface Step {
  readonly text: string;
  readonly below: readonly Step[];
}

/** The plan as text. */
export function logicalText(plan: LogicalPlan): string {
  const lines: string[] = [];
  const write = (step: Step, depth: number): void => {
    lines.push(`${'  '.repeat(depth)}${depth === 0 ? '' : '-> '}${step.text}`);
    for (const s of step.below) write(s, depth + 1);
  };
  for (const step of stepsOf(plan)) write(step, 0);
  return lines.join('\n');
}

function stepsOf(plan: LogicalPlan): Step[] {
  const steps = (plan.with ?? []).map(({ name, query }) => ({ text: `With ${name}`, below: stepsOf(query) }));
  const step = queryStep(plan.query);
  const sorted = plan.sort ? { text: `Sort by ${count(plan.sort.length, 'expression')}`, below: [step] } : step;
  return [...steps, plan.limit !== undefined || plan.offset !== undefined ? { text: 'Limit', below: [sorted] } : sorted];
}

function queryStep(query: LogicalPlan['query']): Step {
  if (query.kind === 'values') return { text: `Values: ${count(query.rows, 'row')}`, below: [] };
  if (query.kind === 'block') return blockStep(query);
  const word = `${query.kind[0]?.toUpperCase()}${query.kind.slice(1)}`;
  return { text: `${word}${query.all ? ' all' : ''}`, below: [...stepsOf(query.left), ...stepsOf(query.right)] };
}

function blockStep({ from, where, group, having, distinct, aggregates, windows, queries }: LogicalBlock): Step {
  const reads = from.flatMap(itemSteps);
  let step: Step = reads.length === 1 && reads[0] ? reads[0] : { text: reads.length === 0 ? 'Result' : `Join of ${reads.length}`, below: reads };
  if (queries) step = { text: 'With sub-queries', below: [step, ...queries.flatMap(stepsOf)] };
  if (where !== undefined) step = { text: 'Filter', below: [step] };
  if (aggregates) {
    const by = group ? `Group by ${count(group.length, 'expression')}` : 'Aggregate';
    step = { text: having === undefined ? by : `${by}, with a condition on groups`, below: [step] };
  }
  if (windows) step = { text: 'Window', below: [step] };
  return distinct ? { text: 'Distinct', below: [step] } : step;
}

function itemSteps(item: LogicalItem): Step[] {
  if (item.kind === 'join') return [...itemSteps(item.left), ...itemSteps(item.right)];
  if (item.kind === 'query') return [{ text: `Sub-query${item.alias === '' ? '' : ` ${item.alias}`}`, below: stepsOf(item.query) }];
  if (item.kind === 'function') return [{ text: 'Function', below: [] }];
  const { alias } = item;
  const name = item.kind === 'concept' ? item.concept : item.name;
  const as = alias === name.slice(name.lastIndexOf('.') + 1) ? '' : ` as ${alias}`;
  const what = item.kind === 'read' ? '' : item.kind === 'system' ? 'system table ' : `${item.kind} `;
  return [{ text: `Read ${what}${name}${as}`, below: item.kind === 'concept' ? (item.paths ?? []).map(pathStep) : [] }];
}

const pathStep = ({ path, cardinality, steps, paths = [] }: LogicalPath): Step => ({
  text: `Path ${path} (${steps === undefined ? `to ${cardinality}` : `walk of up to ${count(steps, 'step')}`})`,
  below: paths.map(pathStep),
});

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
