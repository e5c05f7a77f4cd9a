import type { Source } from '../../src/language/statements.ts';
import { type Plan, type PlanContext, planSelect } from '../../src/planner/index.ts';
import { type LogicalPlan, logicalPlan } from '../../src/planner/logical/index.ts';

/** The two plans of a statement, of one resolution of its names. */
export function bothPlans(context: PlanContext, source: Source): { readonly plan: Plan; readonly logical: LogicalPlan } {
  const made: LogicalPlan[] = [];
  const plan = planSelect(context, source, { inspect: (query) => made.push(logicalPlan(query)) });
  return { plan, logical: made[0] as LogicalPlan };
}
