/** Conditions that a row of NULLs cannot meet, because a comparison needs a value. */
import type { PathNode } from '../../plan/path-node.ts';
import type { References } from '../../plan/references.ts';
import { conjuncts, type Node, nameOf } from '../../plan/tree.ts';

const STRICT_OPERATORS = new Set(['=', '<>', '!=', '<', '>', '<=', '>=', '~~', '!~~', '~~*', '!~~*', '~', '~*', '!~', '!~*']);

/** True if the condition cannot be true for a row of NULLs: each leaf of the join tree has a comparison that needs a value of it. */
export function isStrict(condition: Node, nodes: ReadonlySet<PathNode>, references: References): boolean {
  const needed = new Set<PathNode>();
  for (const part of conjuncts(condition)) for (const n of strictNodes(part, references)) for (let at: PathNode | null = n; at; at = at.parent) needed.add(at);
  return [...nodes].every((n) => needed.has(n));
}

/** The nodes of whose columns a comparison needs a value. */
export function strictNodes(part: Node, references: References): PathNode[] {
  const nodeOf = (n: Node | undefined): PathNode[] => {
    const bare = n && 'TypeCast' in n ? n.TypeCast.arg : n;
    const ref = bare && 'ColumnRef' in bare ? references.of(bare.ColumnRef) : undefined;
    return ref ? [ref.node] : [];
  };
  if ('NullTest' in part) return part.NullTest.nulltesttype === 'IS_NOT_NULL' ? nodeOf(part.NullTest.arg) : [];
  if (!('A_Expr' in part)) return [];
  const { kind, name, lexpr, rexpr } = part.A_Expr;
  const op = nameOf(name?.[0]) ?? '';
  if (kind === 'AEXPR_OP' && STRICT_OPERATORS.has(op)) return [...nodeOf(lexpr), ...nodeOf(rexpr)];
  if (kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE' || kind === 'AEXPR_BETWEEN') return nodeOf(lexpr);
  if (kind === 'AEXPR_IN' && rexpr && 'List' in rexpr && op === '=') return nodeOf(lexpr);
  return [];
}
