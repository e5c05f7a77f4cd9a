/** Views in FROM. A view over concepts becomes a sub-select that is planned like the caller's text; a raw view is SQL over tables, like a mapping. */
import type { SelectStmt } from '@pgsql/types';
import { badRequest } from '../../errors.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { multiplies } from '../facts/total.ts';
import { isPlainType } from '../guard/index.ts';
import { frozen } from '../plan/shared.ts';
import { cast, clone, column, type Node, OFFSET_ZERO, select, subselect, target } from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import { leavesOut } from '../read/mapped.ts';
import type { Parsed } from '../read/texts.ts';
import { noteClock } from '../secure/running-clock.ts';
import { asDefiner } from './definer.ts';
import type { OutColumn } from './relations.ts';
import { Resolver } from './resolve.ts';

const PARSED = new WeakMap<ViewDef, Parsed>();

/** The parsed text of a view. If it is kept, it cannot be changed: clone it before you change it. */
export function parsedView(state: PlanState, view: ViewDef): Parsed {
  const offset = state.texts.offsets.get(view.name);
  // the view is being checked, so its text may still change: do not keep it
  if (offset !== undefined) return state.texts.parse(view.sql, offset);
  let parsed = PARSED.get(view);
  if (!parsed) {
    parsed = state.texts.parse(view.sql, undefined);
    frozen(parsed.stmt);
    PARSED.set(view, parsed);
  } else {
    state.texts.use(parsed.facts);
  }
  // a cube becomes a part of the block that reads it, a view becomes a sub-query
  state.facts.noteExpression(parsed.stmt, view.cube ? undefined : true, true);
  return parsed;
}

/** The query that replaces an item of FROM. `needsBarrier`: in a statement with barriers, outer conditions must not be pushed down into it. */
export interface MadeItem {
  readonly query: Node;
  readonly columns: readonly OutColumn[];
  readonly needsBarrier?: boolean;
}

/** Wraps a query in a barrier. */
export function withBarrier(state: PlanState, query: Node): Node {
  const all: Node = { ResTarget: { val: { ColumnRef: { fields: [{ A_Star: {} }] } } } };
  return { SelectStmt: select({ targetList: [all], fromClause: [subselect(query, state.alias())], ...OFFSET_ZERO }) };
}

/** True if a query has a star, so that its columns may change with the tables. */
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
 * The rows of a raw view. Columns with a type that must not be combined with texts are cast to text (guard/types.ts). Columns that a table got after the view was created
 * are left out.
 */
function plainColumns(state: PlanState, view: ViewDef, stmt: SelectStmt): Node {
  const rows: Node = { SelectStmt: stmt };
  if (view.columns.every((c) => isPlainType(c.type)) && !hasStar(stmt)) return rows;
  const alias = state.alias();
  const names = view.columns.map((_, i) => `c${i}`);
  const targetList = view.columns.map((c, i) => {
    const value = column(alias, `c${i}`);
    return target(isPlainType(c.type) ? value : cast(value, 'text'), `c${i}`);
  });
  return { SelectStmt: select({ targetList, fromClause: [subselect(rows, alias, { columns: names })] }) };
}

/** The query of a view in FROM, and its columns. @throws SvcError 400 `circular_view`, 403 `view_unreadable` */
export function viewItem(state: PlanState, view: ViewDef): MadeItem {
  const isSeen = state.seen.view(view.name) !== undefined;
  return state.grows(
    () => (isSeen ? `the view \`${view.name}\`` : 'a view in a view'),
    () => viewQuery(state, view),
  );
}

function viewQuery(state: PlanState, view: ViewDef): MadeItem {
  if (state.position.reads(view.name)) throw badRequest('circular_view', `the view \`${view.name}\` reads itself`);
  state.facts.readsHidden ||= state.seen.view(view.name) === undefined;
  const parsed = parsedView(state, view);
  noteClock(state, parsed.stmt);
  if (view.datasource !== null) {
    asDefiner(state, view, () => undefined);
    state.texts.datasources.add(view.datasource);
    const { stmt } = state.texts.tableQuery(view, parsed);
    state.facts.noteTableColumns(view.columns);
    state.facts.noteJoins(multiplies({ SelectStmt: stmt }) ? 2 : 1);
    const hides = leavesOut(stmt) && state.hidesTables(view.datasource);
    state.facts.hidesRows ||= hides;
    const rows = plainColumns(state, view, stmt);
    return { query: rows, columns: view.columns.map((c) => ({ name: c.name, key: c.name })), needsBarrier: hides };
  }
  const hides = state.hidesRows();
  state.facts.hidesRows ||= hides;
  return state.position.reading(view.name, () => {
    const stmt = state.forCaller(clone(parsed.stmt), parsed.facts);
    const columns = asDefiner(state, view, (graph) => new Resolver(state, parsed, graph).query(stmt, undefined));
    return { query: { SelectStmt: stmt }, columns, needsBarrier: hides };
  });
}
