/**
 * What a distributed planner needs in a finished statement to run it on the workers (docs/design/sql-shapes.md#where-a-datasource-has-its-tables): each part of a union
 * of mappings yields the column that distributes its table.
 */
import { visited } from '../../budget.ts';
import type { Placed, Placements, Target } from '../plan/context.ts';
import { column, type Node, type SelectStmt, target } from '../plan/tree.ts';
import type { Declared } from '../verify/index.ts';
import { keepExists } from './collected.ts';
import { blocksOf, namesColumns, starOf } from './correlated.ts';
import { dropRepeated, sendFilters } from './far-filters.ts';
import { joinRow } from './one-row.ts';
import { isPlain } from './refused.ts';
import { separateUnions } from './separate-unions.ts';
import { dropUnread } from './unread.ts';
import { walkSteps } from './walk-together.ts';

/** The name of the column. No other column begins so. */
const KEY = '~d';

const isDistributed = (placed: ReturnType<Placements['get']>): boolean => Boolean(placed) && placed !== 'union';

const isPlaced = (placements: Placements, schema: string, table: string): boolean => {
  const placed = placements.get(JSON.stringify([schema, table]));
  return placed !== undefined && placed !== 'union';
};

/** What plans need for tables that are distributed in this way. */
export const targetFor = (placements: Placements): Target => ({
  ...targetOf(placements, placements),
  joinRow: (statement, declared) => declared.some((d) => isDistributed(placements.get(JSON.stringify([d.schema, d.name])))) && joinRow(statement),
});

/** @param known undefined: nothing is known, and `placements` is empty */
const targetOf = (known: Placements | undefined, placements: Placements): Target => ({
  apply: (statement, declared, isExact = false) => {
    const repeated = sendFilters(statement, (schema, table) => Boolean(placements.get(JSON.stringify([schema, table]))), isExact);
    if (declared.some((d) => placements.get(JSON.stringify([d.schema, d.name])) !== null)) dropUnread(statement);
    keyUnions(statement, placements, declared);
    keepExists(statement, (schema, table) => isPlaced(placements, schema, table));
    const separated = separateUnions(statement, known, declared);
    // the steps before look at comparisons
    dropRepeated(repeated);
    return separated;
  },
  walksOver: (schema, table) => (placements.get(JSON.stringify([schema, table])) ? walkSteps : undefined),
});

/** What plans need if nothing is known of a distributed datasource: each table may be distributed, or a view with a union. */
export const ANYWHERE: Target = targetOf(undefined, new Map());

/**
 * Adds the distributing column to the unions in FROM whose parts all read tables of one group (in place). Nothing reads it.
 * @param declared the tables of the statement: a column that is not among theirs is not added
 */
export function keyUnions(statement: SelectStmt, all: Placements, declared: Declared['tables']): void {
  const placements = new Map<string, Placed>();
  for (const { schema, name, columns } of declared) {
    const key = JSON.stringify([schema, name]);
    const placed = all.get(key);
    if (placed && placed !== 'union' && columns.has(placed.column)) placements.set(key, placed);
  }
  const keys = new Keys(placements);
  for (const block of blocksOf(statement)) for (const [alias, query] of unionsOf(block.fromClause)) if (addsUnseen(block, alias)) keys.of(query)?.add();
}

/** The unions among the items of FROM, by their aliases. In a join with an alias, a column of one side moves those of the other. */
function unionsOf(from: readonly Node[] = []): [string, SelectStmt][] {
  return from.flatMap((item): [string, SelectStmt][] => {
    if ('JoinExpr' in item) return item.JoinExpr.alias ? [] : unionsOf([item.JoinExpr.larg, item.JoinExpr.rarg].filter((n) => n !== undefined));
    if (!('RangeSubselect' in item)) return [];
    const { subquery, alias } = item.RangeSubselect;
    const query = subquery && 'SelectStmt' in subquery ? subquery.SelectStmt : undefined;
    return query?.larg && (alias?.colnames?.length ?? 0) <= widthOf(query) ? [[alias?.aliasname ?? '', query]] : [];
  });
}

/** How many columns a query names. */
const widthOf = (query: SelectStmt): number => (query.larg ? widthOf(query.larg) : (query.targetList ?? []).length);

/** True if a block returns the same rows if an item of its FROM has one more column, the key. */
const addsUnseen = (block: SelectStmt, alias: string): boolean => namesColumns(block, (name) => name === alias || name === KEY);

/** The distributing column of the rows of a query. */
interface Key {
  readonly group: number;
  /** Adds it to the select list. */
  readonly add: () => void;
}

class Keys {
  readonly #placements: ReadonlyMap<string, Placed>;

  constructor(placements: ReadonlyMap<string, Placed>) {
    this.#placements = placements;
  }

  /** The key of a query that does not have it yet: a union may be a part of another one. */
  of(query: SelectStmt): Key | undefined {
    visited();
    const { larg, rarg, targetList = [] } = query;
    if (larg && rarg) {
      if (query.op !== 'SETOP_UNION' || query.all !== true || query.limitCount || query.limitOffset) return undefined;
      const [left, right] = [this.of(larg), this.of(rarg)];
      if (!left || left.group !== right?.group) return undefined;
      return {
        group: left.group,
        add: () => {
          left.add();
          right.add();
        },
      };
    }
    // the names of all of its columns must be known: of another name, PostgreSQL makes a call with the whole row
    const isKnown = !targetList.some((t) => starOf(t) || ('ResTarget' in t && t.ResTarget.name === KEY));
    const found = isKnown && isPlain(query) ? this.#ofItem(query.fromClause?.[0], query) : undefined;
    return (
      found && {
        group: found.group,
        add: () => {
          found.add();
          query.targetList = [...targetList, target(found.value, KEY)];
        },
      }
    );
  }

  /** The column of an item of the FROM of a block, of which every row remains, or every row that meets a condition. */
  #ofItem(item: Node | undefined, block: SelectStmt): (Key & { readonly value: Node }) | undefined {
    if (!item) return undefined;
    if ('JoinExpr' in item) {
      const { jointype, larg, alias } = item.JoinExpr;
      return alias === undefined && (jointype === 'JOIN_LEFT' || jointype === 'JOIN_INNER') ? this.#ofItem(larg, block) : undefined;
    }
    if ('RangeVar' in item) {
      const { schemaname = '', relname = '', alias } = item.RangeVar;
      const placed = this.#placements.get(JSON.stringify([schemaname, relname]));
      return placed && !alias?.colnames?.length
        ? { group: placed.group, add: () => undefined, value: column(alias?.aliasname ?? relname, placed.column) }
        : undefined;
    }
    if (!('RangeSubselect' in item)) return undefined;
    const { subquery, alias } = item.RangeSubselect;
    if (!subquery || !('SelectStmt' in subquery) || !alias?.aliasname || alias.colnames?.length || !addsUnseen(block, alias.aliasname)) return undefined;
    const inner = this.of(subquery.SelectStmt);
    return inner && { ...inner, value: column(alias.aliasname, KEY) };
  }
}
