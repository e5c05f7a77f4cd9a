/** GROUP BY taken apart: its expressions, and the sets of GROUPING SETS, ROLLUP and CUBE. */
import { badRequest } from '../../errors.ts';
import { ownerOf } from '../references.ts';
import { fieldsOf, type Node, type SelectStmt } from '../tree.ts';

/** One grouping: some of the block's group expressions (the same objects). */
export interface GroupSet {
  readonly expressions: readonly Node[];
}

const MAX_SETS = 64;

/** The distinct group expressions of a block and its sets (one without GROUPING SETS). Numbers and aliases are undone. */
export function groupSets(stmt: SelectStmt): { readonly expressions: readonly Node[]; readonly sets: readonly GroupSet[]; readonly several: boolean } {
  const expressions: Node[] = [];
  const intern = (written: Node): Node => {
    const node = meant(written, stmt);
    const key = keyOf(node);
    const known = expressions.find((e) => keyOf(e) === key);
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

/** The sets that one item of GROUP BY stands for. */
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

/** GROUP BY 1 and GROUP BY alias mean an item of the select list. */
function meant(node: Node, stmt: SelectStmt): Node {
  if ('A_Const' in node && node.A_Const.ival) {
    const item = stmt.targetList?.[(node.A_Const.ival.ival ?? 0) - 1];
    if (item && 'ResTarget' in item && item.ResTarget.val) return item.ResTarget.val;
  }
  if ('ColumnRef' in node && ownerOf(node.ColumnRef) === undefined) {
    const name = fieldsOf(node.ColumnRef)[0];
    const item = stmt.targetList?.find((t) => 'ResTarget' in t && t.ResTarget.name === name);
    if (item && 'ResTarget' in item && item.ResTarget.val) return item.ResTarget.val;
  }
  return node;
}

/** The bits of GROUPING(...) in a set: 1 for each argument that the set leaves out. */
export function groupingBits(node: Node, set: GroupSet): number {
  const there = new Set(set.expressions.map(keyOf));
  const args = 'GroupingFunc' in node ? (node.GroupingFunc.args ?? []) : [];
  return args.reduce((bits, a) => bits * 2 + (there.has(keyOf(a)) ? 0 : 1), 0);
}

/** An expression as text without places: equal for what is written alike. */
export const keyOf = (node: unknown): string =>
  JSON.stringify(node, (k, v) =>
    k === 'location' || k === 'list_start' || k === 'list_end' || k === 'rexpr_list_start' || k === 'rexpr_list_end' ? undefined : v,
  );
