/** Views in FROM: over concepts and views a sub-select that is planned like the caller's own; over raw tables as mappings are. */
import type { SelectStmt } from '@pgsql/types';
import { badRequest, forbidden, SvcError } from '../errors.ts';
import type { Graph } from '../ontology/graph.ts';
import type { ViewDef } from '../ontology/model.ts';
import { isPlainType } from './guard/index.ts';
import { isTotal, multiplies } from './leak.ts';
import { leavesOut } from './mapped.ts';
import { printSelect } from './print.ts';
import type { OutColumn } from './relations.ts';
import { Resolver } from './resolve.ts';
import { cast, clone, column, FENCE, fragment, type Node, select, subselect, target } from './tree.ts';
import type { Parsed, Work } from './work.ts';

const PARSED = new WeakMap<ViewDef, Parsed>();

/** The parsed text of a view, shared: clone it before changing it. */
export function parsedView(work: Work, view: ViewDef): Parsed {
  const offset = work.textOffsets.get(view.name);
  // its writer checks it: nothing is kept from the text
  if (offset !== undefined) return work.parse(view.sql, offset);
  let parsed = PARSED.get(view);
  if (!parsed) {
    parsed = work.parse(view.sql, undefined);
    PARSED.set(view, parsed);
  } else {
    work.met(parsed.facts);
  }
  // a cube becomes a part of the block that reads it, a view a sub-query of its own
  work.weigh(parsed.stmt, view.cube ? undefined : true);
  return parsed;
}

/**
 * What a view's text names, as its definer sees it now. A fault of that is none of the caller's text: what is named there stays
 * hidden. @throws SvcError 403 `view_unreadable`
 */
export function asDefiner<T>(work: Work, view: ViewDef, make: (graph: Graph) => T): T {
  const { definer } = work.context;
  // a text that is being checked is its writer's own, and its faults are told as they are
  if (definer === undefined || work.textOffsets.has(view.name)) return work.inView(() => make(definer?.(view) ?? work.graph));
  try {
    return work.inView(() => make(definer(view)));
  } catch (error) {
    if (!(error instanceof SvcError) || (error.status !== 403 && !error.code.startsWith('unknown_')) || OWN.has(error.code)) throw error;
    throw forbidden('view_unreadable', `the view \`${view.name}\` cannot be read: who defined it may not read all that it names`, {
      hint: 'Ask who maintains the view',
      cause: error,
    });
  }
}

/** Refusals that are the caller's own: values that are masked for it, a view in the view that cannot be read. */
const OWN = new Set(['masked', 'view_unreadable']);

/** A query that lets no condition from outside in, where it is to be one. */
function fencedIf(isFenced: boolean, work: Work, query: Node): Node {
  if (!isFenced) return query;
  const all: Node = { ResTarget: { val: { ColumnRef: { fields: [{ A_Star: {} }] } } } };
  return { SelectStmt: select({ targetList: [all], fromClause: [subselect(query, work.alias())], ...FENCE }) };
}

/** Whether a query has all columns of something, whatever they are by now. */
function hasStar({ targetList = [], larg, rarg }: SelectStmt): boolean {
  if (larg && rarg) return hasStar(larg) || hasStar(rarg);
  return targetList.some((t) => {
    const value = 'ResTarget' in t ? t.ResTarget.val : undefined;
    if (!value) return false;
    const last = 'ColumnRef' in value ? value.ColumnRef.fields?.at(-1) : 'A_Indirection' in value ? value.A_Indirection.indirection?.at(-1) : undefined;
    return last !== undefined && 'A_Star' in last;
  });
}

/**
 * The rows of a raw view: with a cast to text for columns whose type a text must not meet (guard/types.ts), and without columns that a table got
 * after the view was made.
 */
function plainColumns(work: Work, view: ViewDef, stmt: SelectStmt): Node {
  const rows = fragment(printSelect(stmt));
  if (view.columns.every((c) => isPlainType(c.type)) && !hasStar(stmt)) return rows;
  const alias = work.alias();
  const names = view.columns.map((_, i) => `c${i}`);
  const targetList = view.columns.map((c, i) => {
    const value = column(alias, `c${i}`);
    return target(isPlainType(c.type) ? value : cast(value, 'text'), `c${i}`);
  });
  return { SelectStmt: select({ targetList, fromClause: [subselect(rows, alias, { columns: names })] }) };
}

/** A view as a FROM item's query, with its columns. */
export function viewItem(work: Work, view: ViewDef): { query: Node; columns: readonly OutColumn[] } {
  const isSeen = work.seen.view(view.name) !== undefined;
  return work.grows(
    () => (isSeen ? `the view \`${view.name}\`` : 'a view in a view'),
    () => viewQuery(work, view),
  );
}

function viewQuery(work: Work, view: ViewDef): { query: Node; columns: readonly OutColumn[] } {
  if (work.reading.includes(view.name)) throw badRequest('circular_view', `the view \`${view.name}\` reads itself`);
  work.readsHidden ||= work.seen.view(view.name) === undefined;
  const parsed = parsedView(work, view);
  if (view.datasource !== null) {
    asDefiner(work, view, () => undefined);
    work.datasources.add(view.datasource);
    const { stmt } = work.tableQuery(view, parsed);
    work.readsTable(view.columns);
    work.joins(multiplies({ SelectStmt: stmt }) ? 2 : 1);
    const hides = leavesOut(stmt) && work.hides(view.datasource);
    if (hides) work.quiet ||= !isTotal(stmt);
    const rows = plainColumns(work, view, stmt);
    return { query: fencedIf(hides && work.fenced, work, rows), columns: view.columns.map((c) => ({ name: c.name, key: c.name })) };
  }
  const bars = work.bars();
  work.reading.push(view.name);
  try {
    const stmt = work.bindCaller(clone(parsed.stmt));
    const columns = asDefiner(work, view, (graph) => new Resolver(work, parsed, graph).query(stmt, undefined));
    return { query: fencedIf(bars && work.fenced, work, { SelectStmt: stmt }), columns };
  } finally {
    work.reading.pop();
  }
}
