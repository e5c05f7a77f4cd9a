/** The expressions of GROUP BY, and the sets of GROUPING SETS, ROLLUP and CUBE. */
import { visited } from '../../../budget.ts';
import { badRequest } from '../../../errors.ts';
import { LocatedError } from '../../plan/located-error.ts';
import type { References } from '../../plan/references.ts';
import { clone, fieldsOf, isSame, type Node, rewrite, type SelectStmt, walk } from '../../plan/tree.ts';
import type { BlockFacts } from './spine.ts';

/** A grouping set: some of the block's group expressions (the same objects). */
export interface GroupSet {
  readonly expressions: readonly Node[];
}

const MAX_SETS = 64;

/**
 * The distinct group expressions of a block and its sets (one without GROUPING SETS). Column numbers and aliases are replaced by the expressions that they
 * refer to.
 * @throws SvcError 400 `too_complex` for more than 64 sets
 */
export function groupSets(
  stmt: SelectStmt,
  references: References,
): { readonly expressions: readonly Node[]; readonly sets: readonly GroupSet[]; readonly several: boolean } {
  const expressions: Node[] = [];
  const intern = (written: Node): Node => {
    const node = selectItem(written, stmt, references);
    const known = expressions.find((e) => isSame(e, node, visited));
    if (known) return known;
    expressions.push(node);
    return node;
  };
  let sets: Node[][] = [[]];
  let several = false;
  for (const item of stmt.groupClause ?? []) {
    if ('GroupingSet' in item) several = true;
    const alternatives = setsOf(item, intern);
    sets = sets.flatMap((s) => alternatives.map((a) => [...new Set([...s, ...a])]));
    if (sets.length > MAX_SETS) throw badRequest('too_complex', 'too many grouping sets over several paths');
  }
  return { expressions, sets: sets.map((s) => ({ expressions: s })), several };
}

/** The sets of one item of GROUP BY. */
function setsOf(item: Node, intern: (n: Node) => Node): Node[][] {
  if (!('GroupingSet' in item)) return [columnsOf(item, intern)];
  const { kind, content = [] } = item.GroupingSet;
  if (kind === 'GROUPING_SET_EMPTY') return [[]];
  if (kind === 'GROUPING_SET_SETS') return content.flatMap((c) => setsOf(c, intern));
  const units = content.map((c) => columnsOf(c, intern));
  if (kind === 'GROUPING_SET_ROLLUP') return Array.from({ length: units.length + 1 }, (_, i) => units.slice(0, units.length - i).flat());
  if (kind === 'GROUPING_SET_CUBE') {
    if (units.length > 6) throw badRequest('too_complex', 'too many grouping sets over several paths');
    return Array.from({ length: 2 ** units.length }, (_, i) => units.filter((_, u) => ((2 ** units.length - 1 - i) >> (units.length - 1 - u)) & 1).flat());
  }
  return [content.flatMap((c) => columnsOf(c, intern))];
}

const columnsOf = (node: Node, intern: (n: Node) => Node): Node[] => ('RowExpr' in node ? (node.RowExpr.args ?? []).map(intern) : [intern(node)]);

/** Resolves GROUP BY 1 and GROUP BY alias to an item of the select list. */
export function selectItem(node: Node, stmt: SelectStmt, references: References): Node {
  if ('A_Const' in node && node.A_Const.ival) {
    const item = stmt.targetList?.[(node.A_Const.ival.ival ?? 0) - 1];
    if (item && 'ResTarget' in item && item.ResTarget.val) return item.ResTarget.val;
  }
  if ('ColumnRef' in node && references.owner(node.ColumnRef) === undefined) {
    const name = fieldsOf(node.ColumnRef)[0];
    const item = stmt.targetList?.find((t) => 'ResTarget' in t && t.ResTarget.name === name);
    if (item && 'ResTarget' in item && item.ResTarget.val) return item.ResTarget.val;
  }
  return node;
}

/** The bits of GROUPING(...) for a set: 1 for each argument that is not in the set. */
export function groupingBits(node: Node, set: GroupSet): number {
  const args = 'GroupingFunc' in node ? (node.GroupingFunc.args ?? []) : [];
  return args.reduce((bits, a) => bits * 2 + (set.expressions.some((e) => isSame(e, a, visited)) ? 0 : 1), 0);
}

/** The GROUPING(...) calls of a block. */
export function groupingsIn(stmt: SelectStmt): Node[] {
  const found: Node[] = [];
  walk([stmt.targetList, stmt.havingClause, stmt.sortClause], (n) => {
    if ('SelectStmt' in n) return false;
    if ('GroupingFunc' in n) found.push(n);
    return undefined;
  });
  return found;
}

/** A grouped expression and the column of the levels that has its value. */
export interface GroupColumn {
  readonly expression: Node;
  readonly column: Node;
}

/**
 * Replaces calls and grouped expressions by the columns of the levels.
 * @throws SvcError 400 `grouping_error` for a column that is neither grouped nor aggregated
 */
export function replaceGrouped<T>(tree: T, names: ReadonlyMap<Node, Node>, groups: readonly GroupColumn[], { references, scope }: BlockFacts): T {
  return rewrite(tree, (n) => {
    const named = names.get(n);
    if (named) return clone(named);
    if (groups.length > 0 && !('ResTarget' in n) && !('SortBy' in n)) {
      const group = groups.find(({ expression }) => isSame(expression, n, visited));
      if (group) return clone(group.column);
    }
    if ('ColumnRef' in n && references.owner(n.ColumnRef) === scope) {
      throw new LocatedError('grouping_error', 'a column must appear in GROUP BY or in an aggregate function', n, {
        hint: 'Add it to GROUP BY, or aggregate it.',
      });
    }
    return undefined;
  }) as T;
}
