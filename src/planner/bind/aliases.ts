/** Aliases of the select list, and aggregates in expressions. */
import { visited } from '../../budget.ts';
import { isAggregate } from '../guard/index.ts';
import { isSubQuery, lastName, type Node, walk } from '../plan/tree.ts';
import type { Scope } from './scope.ts';

/** The alias of the select list that a name means: an exact match, else a case-insensitive one. */
export function aliasOf(scope: Scope, name: string): string | undefined {
  if (scope.aliases.has(name)) return name;
  visited(scope.aliases.size);
  const lower = name.toLowerCase();
  for (const a of scope.aliases.keys()) if (a.toLowerCase() === lower) return a;
  return undefined;
}

/** True if an expression calls an aggregate outside of its sub-queries. */
export function hasAggregate(node: Node): boolean {
  let found = false;
  walk(node, (n) => {
    if (isSubQuery(n)) return false;
    if ('FuncCall' in n && !n.FuncCall.over && isAggregate(lastName(n.FuncCall.funcname))) found = true;
    return !found;
  });
  return found;
}
