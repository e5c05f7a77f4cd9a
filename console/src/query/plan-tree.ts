/** The plan of EXPLAIN as a tree, from its indented text. Pure. */

export interface PlanNode {
  /** The step, without its estimates. */
  readonly title: string;
  /** The highest estimated cost, or null for a step without estimates. */
  readonly cost: number | null;
  readonly rows: number | null;
  /** Lines about the step, such as its condition. */
  readonly details: readonly string[];
  readonly below: readonly PlanNode[];
}

interface Growing extends PlanNode {
  readonly indent: number;
  readonly details: string[];
  readonly below: Growing[];
}

const ESTIMATES = /\s*\(cost=[\d.]+\.\.([\d.]+) rows=(\d+) width=\d+\)/;
/** Lines that begin a part of a plan without an arrow. */
const PART = /^(?:CTE|InitPlan|SubPlan) /;

/** Parses PLAN. Returns the steps without a parent. */
export function planTree(text: string): readonly PlanNode[] {
  const roots: Growing[] = [];
  const open: Growing[] = [];
  for (const line of text.split('\n')) {
    const { length: spaces } = /^ */.exec(line)?.[0] ?? '';
    const content = line.trim();
    if (content === '') continue;
    while (open.length > 0 && (open.at(-1) as Growing).indent >= spaces) open.pop();
    const parent = open.at(-1);
    if (parent !== undefined && !content.startsWith('->') && !PART.test(content)) {
      parent.details.push(content);
      continue;
    }
    const estimates = ESTIMATES.exec(content);
    const node: Growing = {
      indent: spaces,
      title: content.replace(/^->\s*/, '').replace(ESTIMATES, ''),
      cost: estimates?.[1] === undefined ? null : Number(estimates[1]),
      rows: estimates?.[2] === undefined ? null : Number(estimates[2]),
      details: [],
      below: [],
    };
    (parent?.below ?? roots).push(node);
    open.push(node);
  }
  return roots;
}
