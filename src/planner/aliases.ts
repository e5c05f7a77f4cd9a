/** Select aliases as names of expressions, and what those expressions call. */
import { visited } from '../budget.ts';
import { isAggregate } from './guard/index.ts';
import type { Scope } from './scope.ts';
import { isSubQuery, lastName, type Node, walk } from './tree.ts';

/** The select alias that a name means, exactly or else without case. */
export function aliasOf(scope: Scope, name: string): string | undefined {
  if (scope.aliases.has(name)) return name;
  visited(scope.aliases.size);
  const lower = name.toLowerCase();
  for (const a of scope.aliases.keys()) if (a.toLowerCase() === lower) return a;
  return undefined;
}

/** Whether an expression calls an aggregate (not in a sub-query of its own). */
export function hasAggregate(node: Node): boolean {
  let found = false;
  walk(node, (n) => {
    if (isSubQuery(n)) return false;
    if ('FuncCall' in n && !n.FuncCall.over && isAggregate(lastName(n.FuncCall.funcname))) found = true;
    return !found;
  });
  return found;
}
