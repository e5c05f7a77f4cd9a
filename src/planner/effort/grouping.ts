/** The sets of GROUP BY. */
import type { Node } from '../plan/tree.ts';

/** The maximum number of sets of GROUP BY. PostgreSQL refuses more before it writes them out. */
const MAX_SETS = 4096;

/** The third power of a number of sets of GROUP BY that costs as much as a column, if they are not part of each other. 4,000 of them took 50 s. */
const SETS_OF_A_COLUMN = 7_000;

/**
 * The columns of all sets of GROUP BY together, which PostgreSQL writes out when it plans: CUBE of 12 columns has 4,096 sets. It computes sets that are parts of each other
 * together, and plans the others slowly.
 */
export function columnsOfSets(groupClause: readonly Node[]): number {
  const sets = groupClause.reduce((all, node) => all * setsOf(node), 1);
  if (sets <= 1 || sets > MAX_SETS) return 0;
  const apart = groupClause.reduce((all, node) => all * setsApart(node), 1);
  return sets * groupClause.reduce((all, node) => all + groupedIn(node), 0) + apart ** 3 / SETS_OF_A_COLUMN;
}

/** The sets of an item of GROUP BY that are not part of each other. */
function setsApart(node: Node): number {
  if (!('GroupingSet' in node)) return 1;
  const { kind, content = [] } = node.GroupingSet;
  // the largest number of sets with the same number of columns
  if (kind === 'GROUPING_SET_CUBE') return content.reduce((all, _, i) => (i < content.length / 2 ? (all * (content.length - i)) / (i + 1) : all), 1);
  if (kind !== 'GROUPING_SET_SETS') return 1;
  let all = 0;
  const different = new Set<string>();
  for (const set of content) {
    if ('GroupingSet' in set) all += set.GroupingSet.kind === 'GROUPING_SET_EMPTY' ? 0 : setsApart(set);
    else different.add(JSON.stringify(set, (key, value: unknown) => (key === 'location' ? undefined : value)));
  }
  return Math.max(1, all + different.size);
}

function setsOf(node: Node): number {
  if (!('GroupingSet' in node)) return 1;
  const { kind, content = [] } = node.GroupingSet;
  if (kind === 'GROUPING_SET_CUBE') return 2 ** content.length;
  if (kind === 'GROUPING_SET_ROLLUP') return content.length + 1;
  return kind === 'GROUPING_SET_SETS' ? content.reduce((all, inner) => all + setsOf(inner), 0) : 1;
}

/** The columns of the largest set of an item of GROUP BY. */
function groupedIn(node: Node): number {
  if (!('GroupingSet' in node)) return 1;
  const { kind, content = [] } = node.GroupingSet;
  const columns = content.map(groupedIn);
  return kind === 'GROUPING_SET_SETS' ? Math.max(1, ...columns) : columns.reduce((all, n) => all + n, 0);
}
