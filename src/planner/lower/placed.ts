/**
 * What a distributed planner needs in a finished statement to run it on the workers (docs/design/sql-shapes.md#where-a-datasource-has-its-tables): each part of a union
 * of mappings yields the column that distributes its table.
 */
import type { Placed, Placements } from '../plan/context.ts';
import { column, fieldsOf, type Node, type SelectStmt, target, walk } from '../plan/tree.ts';
import type { Declared } from '../verify/index.ts';
import { blocksOf } from './correlated.ts';
import { isPlain } from './refused.ts';

/** The name of the column. No other column begins so. */
const KEY = '~d';

/**
 * Adds the distributing column to the unions in FROM whose parts all read tables of one group (in place). Nothing reads it.
 * @param declared the tables of the statement: a column that is not among theirs is not added
 */
export function keyUnions(statement: SelectStmt, all: Placements, declared: Declared['tables']): void {
  const placements = new Map<string, Placed>();
  for (const { schema, name, columns } of declared) {
    const key = JSON.stringify([schema, name]);
    const placed = all.get(key);
    if (placed && columns.has(placed.column)) placements.set(key, placed);
  }
  for (const block of blocksOf(statement)) {
    for (const [alias, query] of unionsOf(block.fromClause)) if (!readsWhole(block, alias)) keyOf(query, placements)?.add();
  }
}

/** The unions among the items of FROM, by their aliases. */
function unionsOf(from: readonly Node[] = []): [string, SelectStmt][] {
  return from.flatMap((item): [string, SelectStmt][] => {
    if ('JoinExpr' in item) return unionsOf([item.JoinExpr.larg, item.JoinExpr.rarg].filter((n) => n !== undefined));
    if (!('RangeSubselect' in item)) return [];
    const { subquery, alias } = item.RangeSubselect;
    return subquery && 'SelectStmt' in subquery && subquery.SelectStmt.larg ? [[alias?.aliasname ?? '', subquery.SelectStmt]] : [];
  });
}

/** True if a block reads all columns of an item of FROM, however many there are. */
function readsWhole(block: SelectStmt, alias: string): boolean {
  const { larg: _, rarg: __, ...own } = block;
  let found = false;
  walk([{ SelectStmt: own } as Node], (n) => {
    if ('JoinExpr' in n) found ||= n.JoinExpr.isNatural === true;
    if ('ColumnRef' in n) {
      const fields = fieldsOf(n.ColumnRef);
      found ||= fields.at(-1) === '*' || (fields.length === 1 && fields[0] === alias);
    }
    return !found && !('RangeSubselect' in n && n.RangeSubselect.lateral !== true);
  });
  return found;
}

/** The distributing column of the rows of a query. */
interface Key {
  readonly group: number;
  /** Adds it to the select list. */
  readonly add: () => void;
}

function keyOf(query: SelectStmt, placements: Placements): Key | undefined {
  const { larg, rarg } = query;
  if (larg && rarg) {
    if (query.op !== 'SETOP_UNION' || query.all !== true || query.limitCount || query.limitOffset) return undefined;
    const [left, right] = [keyOf(larg, placements), keyOf(rarg, placements)];
    if (!left || left.group !== right?.group) return undefined;
    return {
      group: left.group,
      add: () => {
        left.add();
        right.add();
      },
    };
  }
  const found = isPlain(query) && !readsWhole({ targetList: query.targetList ?? [] }, '') ? keyOfItem(query.fromClause?.[0], placements) : undefined;
  return (
    found && {
      group: found.group,
      add: () => {
        const { targetList = [] } = query;
        // a statement may have a query twice
        if (targetList.some((t) => 'ResTarget' in t && t.ResTarget.name === KEY)) return;
        found.add();
        query.targetList = [...targetList, target(found.value, KEY)];
      },
    }
  );
}

/** The column of an item of FROM of which every row remains, or every row that meets a condition. */
function keyOfItem(item: Node | undefined, placements: Placements): (Key & { readonly value: Node }) | undefined {
  if (!item) return undefined;
  if ('JoinExpr' in item) {
    const { jointype, larg, alias } = item.JoinExpr;
    return alias === undefined && (jointype === 'JOIN_LEFT' || jointype === 'JOIN_INNER') ? keyOfItem(larg, placements) : undefined;
  }
  if ('RangeVar' in item) {
    const { schemaname = '', relname = '', alias } = item.RangeVar;
    const placed = placements.get(JSON.stringify([schemaname, relname]));
    return placed && !alias?.colnames?.length
      ? { group: placed.group, add: () => undefined, value: column(alias?.aliasname ?? relname, placed.column) }
      : undefined;
  }
  if (!('RangeSubselect' in item)) return undefined;
  const { subquery, alias } = item.RangeSubselect;
  if (!subquery || !('SelectStmt' in subquery) || !alias?.aliasname || alias.colnames?.length) return undefined;
  const inner = keyOf(subquery.SelectStmt, placements);
  return inner && { ...inner, value: column(alias.aliasname, KEY) };
}
