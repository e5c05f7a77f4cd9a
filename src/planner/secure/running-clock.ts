/** The clock while a statement runs. It measures the statement without the network (docs/security.md#times), and the time depends on rows that are hidden from the caller. */
import type { FuncCall } from '@pgsql/types';
import { isVolatileFunction, usesClock } from '../guard/index.ts';
import { lastName, walk } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';

/** A call in a tree that reads the clock while the statement runs. */
export function clockCall(tree: unknown): FuncCall | undefined {
  let found: FuncCall | undefined;
  walk(tree, (n) => {
    if ('FuncCall' in n) {
      const name = lastName(n.FuncCall.funcname);
      if (usesClock(name) && isVolatileFunction(name)) found ??= n.FuncCall;
    }
    return found === undefined;
  });
  return found;
}

/** Notes a call in a view, a measure or the condition of a logic concept, which users without rights to policies write. Policies may read the clock. */
export function noteClock({ facts, position }: PlanState, ...trees: readonly unknown[]): void {
  if (facts.volatile && !position.isTrusted) facts.runningClock ??= clockCall(trees);
}
