/**
 * Rewrites correlated sub-queries of WHERE and of the select list as joins and lists, for statements that a distributed datasource refused
 * (docs/design/sql-shapes.md#correlated-sub-queries). The planner of such a datasource runs uncorrelated sub-queries once, and refuses most others. A sub-query is
 * not changed if the result cannot be proved equal.
 */
import type { FuncCall, SubLink } from '@pgsql/types';
import { isAggregate, SET_RETURNING } from '../guard/index.ts';
import type { FinishedRewrite } from '../plan/context.ts';
import {
  and,
  call,
  clone,
  coalesce,
  column,
  conjuncts,
  equals,
  fieldsOf,
  integer,
  isNotNull,
  isNull,
  isSubQuery,
  join,
  lastName,
  type Node,
  not,
  operator,
  or,
  rewrite,
  type SelectStmt,
  select,
  subselect,
  target,
  walk,
} from '../plan/tree.ts';
import { collect } from './collected.ts';
import { blocksOf, type Correlated, correlationOf, fails, familyOf, type Items, isExactNumber, itemsOf, type Link, namesColumns } from './correlated.ts';
import { gatherRecursions } from './recursions.ts';
import { changesRows, dependsOnRows, isOneSelect, joinInner, readBeforeSets, readNothing } from './refused.ts';
import { walkSteps } from './walk-together.ts';

/** Aggregates that are NULL without rows, and depend on the order of the rows in the last digits of floating-point numbers only. `count` is 0. */
const NULL_OF_NONE: ReadonlySet<string> = new Set([
  ...['sum', 'avg', 'min', 'max', 'bool_and', 'bool_or', 'every', 'stddev', 'stddev_pop', 'stddev_samp', 'variance', 'var_pop', 'var_samp'],
]);

/** Those of them that raise an error on no values. The others add up, which may overflow for floating-point numbers. */
const NEVER_OVERFLOW: ReadonlySet<string> = new Set(['count', 'min', 'max', 'bool_and', 'bool_or', 'every']);

/**
 * Rewrites what a distributed datasource refuses in all blocks of a finished statement (in place), inner blocks first. No part of it may be volatile.
 * @param alias makes an alias that is unique in the statement
 * @param isExact whether no text that it reads may have a nondeterministic collation
 */
export function decorrelate(statement: SelectStmt, alias: () => string, isExact: boolean): void {
  for (const block of blocksOf(statement).reverse()) {
    readNothing(block);
    if (!block.fromClause?.length) continue;
    rewriteBlock(block, alias, isExact);
    joinInner(block);
    readBeforeSets(block);
  }
}

decorrelate.walks = walkSteps;

/** What the datasource refuses also so is read in one place. */
const collected: FinishedRewrite = (statement, alias, isExact, declared, isSimple) => {
  if (isSimple) decorrelate(statement, alias, isExact);
  gatherRecursions(statement, collect(statement, declared, isSimple, isExact), alias);
};
collected.walks = walkSteps;
collected.isForAll = true;
decorrelate.next = collected;

function rewriteBlock(block: SelectStmt, alias: () => string, isExact: boolean): void {
  const items = itemsOf(block.fromClause);
  if (!items) return;
  const place = { block, items, alias, isExact };
  const { targetList = [], groupClause, havingClause, distinctClause, sortClause } = block;
  // DISTINCT requires that the select list has the expressions of ORDER BY
  const isOrdered = distinctClause !== undefined && hasSubLink([distinctClause, sortClause]);
  // an aggregate over the rows of the block would have to be grouped by the joined values
  if (hasSubLink(targetList) && !isOrdered && !groupClause?.length && !havingClause && !changesRows(targetList))
    block.targetList = targetList.map((t) => replaced(t, place));
  if (!hasSubLink(block.whereClause)) return;
  const conditions = conjuncts(block.whereClause).map((condition) => asCondition(condition, place) ?? replaced(condition, place));
  const whereClause = and(conditions);
  if (whereClause) block.whereClause = whereClause;
}

function hasSubLink(tree: unknown): boolean {
  let found = false;
  walk(tree, (n) => {
    found ||= 'SubLink' in n;
    return !found;
  });
  return found;
}

/** A condition that rows must meet, without its correlation: NULL counts as false here. */
function asCondition(condition: Node, place: Place): Node | undefined {
  if ('SubLink' in condition && condition.SubLink.subLinkType === 'EXISTS_SUBLINK') return existing(condition.SubLink, place)?.isMember;
  if ('SubLink' in condition && condition.SubLink.subLinkType === 'ANY_SUBLINK') return member(condition.SubLink, place.items);
  if (!('BoolExpr' in condition) || condition.BoolExpr.boolop !== 'NOT_EXPR') return undefined;
  const [arg] = condition.BoolExpr.args ?? [];
  return arg && 'SubLink' in arg && arg.SubLink.subLinkType === 'EXISTS_SUBLINK' ? existing(arg.SubLink, place)?.isNotMember : undefined;
}

/** A correlated sub-query of one SELECT. */
interface Found extends Correlated {
  readonly query: SelectStmt;
}

/** A sub-query of one SELECT, and its correlation; undefined if it has clauses that decide which rows it has. */
function plain({ subselect: query }: SubLink, outer: Items): Found | undefined {
  const stmt = query && 'SelectStmt' in query ? query.SelectStmt : undefined;
  if (!stmt?.fromClause?.length || stmt.withClause || !isOneSelect(stmt)) return undefined;
  const found = correlationOf(stmt, outer);
  return found && { ...found, query: stmt };
}

/** A sub-query returns the values of its links that are not NULL. */
function values(query: SelectStmt, { links, rest }: Correlated, others: readonly Node[] = []): Node {
  const inner = [...links.map((l) => l.inner), ...others];
  return {
    SelectStmt: select({
      targetList: inner.map((node) => target(clone(node))),
      ...(query.fromClause ? { fromClause: query.fromClause } : {}),
      whereClause: and([...rest, ...links.map((l) => isNotNull(clone(l.inner)))]) as Node,
    }),
  };
}

const row = (nodes: readonly Node[]): Node => (nodes.length === 1 ? (nodes[0] as Node) : { RowExpr: { args: [...nodes], row_format: 'COERCE_IMPLICIT_CAST' } });
const inValues = (left: readonly Node[], query: Node): Node => ({ SubLink: { subLinkType: 'ANY_SUBLINK', testexpr: row(left), subselect: query } });
const outerOf = (links: readonly Link[]): Node[] => links.map((l) => clone(l.outer));

/** EXISTS, as conditions that rows must meet and as a boolean that is never NULL. Equal keys of several rows do not matter. */
function existing(link: SubLink, place: Place) {
  const found = plain(link, place.items);
  if (!found || found.query.sortClause?.length || changesRows(found.query.targetList) || fails(found.query, found.rest)) return undefined;
  if (found.unequal) return differing(found, found.unequal, place);
  const isMember = inValues(outerOf(found.links), values(found.query, found));
  // the list has no NULL, so IN is true or false for keys that are not NULL
  const isNotMember = or([...outerOf(found.links).map(isNull), not(isMember)]);
  return { isMember, isNotMember, value: and([...outerOf(found.links).map(isNotNull), isMember]) as Node };
}

/** Families of types with `min` and `max`. */
const ORDERED: ReadonlySet<string> = new Set(['int', 'numeric', 'text', 'date']);

/** The same for `EXISTS (SELECT ... WHERE t.k = o.k AND t.v <> o.v)`: the smallest or the largest v of the group differs. */
function differing(found: Found, unequal: Link, place: Place) {
  const family = commonFamily(unequal, found.query, place);
  if (family === undefined || !ORDERED.has(family)) return undefined;
  const calls = ['min', 'max'].map((name) => call(name, [clone(unequal.inner)]));
  const relation = joinGroups(found, place, calls, [unequal]);
  if (relation === undefined) return undefined;
  const differs = or(calls.map((_, i) => operator('<>', column(relation, `a${i}`), clone(unequal.outer))));
  const test = (booltesttype: 'IS_TRUE' | 'IS_NOT_TRUE'): Node => ({ BooleanTest: { arg: differs, booltesttype } });
  return { isMember: differs, isNotMember: test('IS_NOT_TRUE'), value: test('IS_TRUE') };
}

/** `x IN (SELECT y FROM t WHERE t.k = o.k)`, where NULL counts as false, is `(o.k, x) IN (SELECT t.k, y FROM t)`. */
function member(link: SubLink, outer: Items): Node | undefined {
  const { testexpr, operName } = link;
  const found = plain(link, outer);
  const [only, ...others] = found?.query.targetList ?? [];
  const value = only && 'ResTarget' in only ? only.ResTarget.val : undefined;
  if (!found || found.unequal || !testexpr || 'RowExpr' in testexpr || !value || others.length > 0 || (operName && lastName(operName) !== '='))
    return undefined;
  if (found.query.sortClause?.length || dependsOnRows(found.query.targetList) || fails(found.query, [...found.rest, value])) return undefined;
  return inValues([...outerOf(found.links), testexpr], values(found.query, found, [value]));
}

/** Where a sub-query is. */
interface Place {
  readonly block: SelectStmt;
  readonly items: Items;
  readonly alias: () => string;
  readonly isExact: boolean;
}

/** The family of the types of both columns of a link; undefined if they differ, or if GROUP BY and the link may disagree on which texts are equal. */
function commonFamily({ inner, outer }: Link, query: SelectStmt, { items, isExact }: Place): string | undefined {
  const family = familyOf(inner, itemsOf(query.fromClause));
  return family === familyOf(outer, items) && (family !== 'text' || isExact) ? family : undefined;
}

/** Replaces the sub-queries of an expression that may be anywhere in it by values (in place). */
const replaced = (condition: Node, place: Place): Node =>
  rewrite(condition, (n) => {
    if (!('SubLink' in n)) return isSubQuery(n) ? n : undefined;
    const { subLinkType } = n.SubLink;
    if (subLinkType === 'EXISTS_SUBLINK') return existing(n.SubLink, place)?.value ?? n;
    return (subLinkType === 'EXPR_SUBLINK' ? joinedValue(n.SubLink, place) : undefined) ?? n;
  }) as Node;

/** A sub-query of aggregates has the values of its group; a row without a group has those of aggregates over no rows. */
function joinedValue(link: SubLink, place: Place): Node | undefined {
  const found = plain(link, place.items);
  const [only, ...others] = found?.query.targetList ?? [];
  const value = only && 'ResTarget' in only ? only.ResTarget.val : undefined;
  if (!found || found.unequal || !value || others.length > 0 || found.query.sortClause?.length) return undefined;
  const computed = aggregatesOf(value);
  if (!computed || fails(found.query, [...found.rest, ...computed.calls.flatMap(argumentsOf)]) || computed.calls.some((c) => overflows(c, found.query)))
    return undefined;
  const relation = joinGroups(found, place, computed.calls);
  return relation === undefined ? undefined : computed.over(relation);
}

/**
 * Joins a sub-query to its block, grouped by its links, with columns a0, a1 and so on for aggregates. A row has at most one group, because the links compare
 * values as GROUP BY does.
 * @param used further links that the caller uses
 * @returns the alias; undefined if that cannot be proved, if no single item of FROM has the columns, or if the block does not name its columns one by one
 */
function joinGroups({ query, links, rest }: Found, place: Place, calls: readonly Node[], used: readonly Link[] = []): string | undefined {
  const { block, alias } = place;
  const at = itemWith(block.fromClause ?? [], [...links, ...used]);
  if (at === undefined || links.some((l) => commonFamily(l, query, place) === undefined)) return undefined;
  const from = block.fromClause as Node[];
  const items = itemsOf([from[at] as Node]);
  // the columns of the join must not be among those that the block names in another way
  if (!namesColumns(block, (column) => items?.has(column) === true || /^[ak]\d+$/.test(column))) return undefined;
  const name = alias();
  const whereClause = and(rest);
  const grouped = select({
    targetList: [...links.map((l, i) => target(clone(l.inner), `k${i}`)), ...calls.map((c, i) => target(c, `a${i}`))],
    ...(query.fromClause ? { fromClause: query.fromClause } : {}),
    ...(whereClause ? { whereClause } : {}),
    groupClause: links.map((l) => clone(l.inner)),
  });
  const on = and(links.map((l, i) => equals(column(name, `k${i}`), clone(l.outer)))) as Node;
  from[at] = join('JOIN_LEFT', from[at] as Node, subselect(grouped, name), on);
  return name;
}

/** The position of the item of FROM that has all outer columns of the links. */
function itemWith(from: readonly Node[], links: readonly Link[]): number | undefined {
  const at = from.findIndex((item) => {
    const items = itemsOf([item]);
    return links.every(({ outer }) => 'ColumnRef' in outer && items?.has(fieldsOf(outer.ColumnRef)[0] ?? ''));
  });
  return at < 0 ? undefined : at;
}

/** The aggregates of an expression, and the expression over their columns in a relation; undefined without aggregates, or with others than those listed above. */
function aggregatesOf(value: Node): { readonly calls: readonly Node[]; readonly over: (relation: string) => Node } | undefined {
  const calls: Node[] = [];
  let isKnown = true;
  const over = (relation: string): Node => {
    calls.length = 0;
    const [made] = rewrite([clone(value)], (n) => {
      if (isSubQuery(n) || 'ColumnRef' in n || ('FuncCall' in n && (n.FuncCall.over || SET_RETURNING.has(lastName(n.FuncCall.funcname))))) isKnown = false;
      if (!('FuncCall' in n) || !isAggregate(lastName(n.FuncCall.funcname))) return undefined;
      const name = lastName(n.FuncCall.funcname);
      if ((!NULL_OF_NONE.has(name) && name !== 'count') || n.FuncCall.agg_within_group || hasSubLink(n)) isKnown = false;
      const at = column(relation, `a${calls.push(n) - 1}`);
      return name === 'count' ? coalesce(at, integer('0')) : at;
    }) as [Node];
    return made;
  };
  over('');
  return isKnown && calls.length > 0 ? { calls: [...calls], over } : undefined;
}

const argumentsOf = (call: Node): Node[] => {
  const { args = [], agg_filter } = (call as { FuncCall: FuncCall }).FuncCall;
  return [...args, ...(agg_filter ? [agg_filter] : [])];
};

/** True if an aggregate may overflow. A group that no row of the block needs is computed too. */
function overflows(call: Node, { fromClause }: SelectStmt): boolean {
  const { funcname, args } = (call as { FuncCall: FuncCall }).FuncCall;
  return !NEVER_OVERFLOW.has(lastName(funcname)) && !isExactNumber(args?.[0], itemsOf(fromClause));
}
