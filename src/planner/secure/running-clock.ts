/** The clock while a statement runs. It measures the statement without the network (docs/security.md#times), and the time depends on rows that are hidden from the caller. */
import type { FuncCall } from '@pgsql/types';
import { isVolatileFunction, usesClock } from '../guard/index.ts';
import { lastName, type SelectStmt, walk } from '../plan/tree.ts';

/** A call in the text of some blocks that reads the clock while the statement runs. */
export function clockCall(blocks: readonly SelectStmt[]): FuncCall | undefined {
  let found: FuncCall | undefined;
  walk(blocks, (n) => {
    if ('FuncCall' in n) {
      const name = lastName(n.FuncCall.funcname);
      if (usesClock(name) && isVolatileFunction(name)) found ??= n.FuncCall;
    }
    return found === undefined;
  });
  return found;
}
