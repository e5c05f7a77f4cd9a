/** A changed copy of a syntax tree. */
import { visited } from '../../budget.ts';
import { hasOnlyNames, isNodeName, type Node } from './tree.ts';

/** As `rewrite`, but leaves the value as it is: returns a tree that shares with it what has not changed. */
export function mapped(value: unknown, visit: (node: Node) => Node | undefined): unknown {
  if (value === null || typeof value !== 'object') return value;
  visited();
  if (Array.isArray(value)) {
    const items = value.map((item) => mapped(item, visit));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  let made: Record<string, unknown> | undefined;
  for (const [k, v] of Object.entries(value)) {
    if (typeof v !== 'object' || v === null) continue;
    if (isNodeName(k)) {
      const replaced = visit(value as Node);
      if (replaced !== undefined) return replaced;
    }
    if (hasOnlyNames(k)) continue;
    const by = mapped(v, visit);
    if (by === v) continue;
    made ??= { ...value };
    made[k] = by;
  }
  return made ?? value;
}
