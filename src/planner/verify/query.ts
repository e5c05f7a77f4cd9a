/** Queries: SELECT, VALUES, set operations and WITH. */

import { ROW_FUNCTIONS } from './fields.ts';
import { figure } from './figure.ts';
import { fromClause } from './from.ts';
import { type Cte, Level } from './level.ts';
import { PARTS } from './nodes.ts';
import { refuse } from './refusal.ts';
import { Columns, Row } from './row.ts';
import { type Body, listOf, namesOf, type Tree, typeOf } from './tree.ts';
import type { Verifier } from './verifier.ts';

/**
 * Checks a query.
 * @param parent the relations that it may refer to
 * @param ctes the common table expressions in scope
 * @param onLeft called with the columns of the left side of a set operation before the right side is checked
 * @returns its columns
 */
export function query(verifier: Verifier, node: Tree, parent: Level | undefined, ctes: Cte | undefined, onLeft?: (columns: Row) => void): Row {
  if (typeOf(node) !== 'SelectStmt') refuse('statement', typeOf(node));
  return select(verifier, node.SelectStmt as Body, parent, ctes, onLeft);
}

function select(verifier: Verifier, body: Body, parent: Level | undefined, outer: Cte | undefined, onLeft?: (columns: Row) => void): Row {
  verifier.enter();
  const ctes = body.withClause === undefined ? outer : withClause(verifier, body.withClause as Body, parent, outer);
  const level = new Level(parent, ctes);
  const isSet = isSetOperation(body);
  verifier.members('SelectStmt', body, isSet ? PARTS.SetOperation : body.valuesLists ? PARTS.Values : PARTS.SelectStmt, level);
  const columns = isSet ? setOperation(verifier, body, parent, ctes, onLeft) : body.valuesLists ? values(verifier, body, level) : block(verifier, body, level);
  if (isSet) {
    level.add({ relations: [], rows: [columns] });
    order(verifier, body, level, columns);
  }
  // LIMIT of a set operation cannot name its columns: a name there is a column of an outer query
  const around = isSet ? new Level(parent, ctes) : level;
  for (const count of [body.limitCount, body.limitOffset]) if (count !== undefined) verifier.expression(count as Tree, around);
  verifier.leave();
  return columns;
}

const isSetOperation = (body: Body): boolean => body.op !== undefined && body.op !== 'SETOP_NONE';

/** Checks a set operation. Set operations lean to the left, so they are read in a loop. The columns have the names of the leftmost query. */
function setOperation(verifier: Verifier, top: Body, parent: Level | undefined, ctes: Cte | undefined, onLeft?: (columns: Row) => void): Row {
  const chain = [top];
  let left = top.larg as Body;
  for (; isPlainSet(left); left = left.larg as Body) {
    verifier.members('SelectStmt', left, PARTS.SetOperation, new Level(parent, ctes));
    chain.push(left);
  }
  const columns = select(verifier, left, parent, ctes);
  for (const step of chain.reverse()) {
    if (step === top) onLeft?.(columns);
    select(verifier, step.rarg as Body, parent, ctes);
  }
  return columns;
}

/** True for a set operation without clauses besides its two sides. */
const isPlainSet = (body: Body): boolean => isSetOperation(body) && !['withClause', 'sortClause', 'limitCount', 'limitOffset'].some((tail) => tail in body);

function values(verifier: Verifier, body: Body, level: Level): Row {
  let width = 0;
  for (const list of listOf(body.valuesLists)) {
    if (typeOf(list) !== 'List') refuse('node', typeOf(list));
    verifier.members('List', list.List as Body, PARTS.ValuesList, level);
    let known = 0;
    for (const item of listOf((list.List as Body).items)) {
      // a star may expand to no column
      const star = verifier.star(item, level);
      if (!star) verifier.expression(item, level);
      known += star ? star.names.length : 1;
    }
    verifier.spend(known);
    width = Math.max(width, known);
  }
  const columns = new Row(Array.from({ length: width }, (_, i) => `column${i + 1}`));
  // ORDER BY of VALUES can name them
  level.add({ relations: [], rows: [columns] });
  order(verifier, body, level, columns);
  return columns;
}

function block(verifier: Verifier, body: Body, level: Level): Row {
  fromClause(verifier, body.fromClause, level);
  const columns = new Columns();
  for (const item of listOf(body.targetList)) {
    const { name, val } = verifier.part(item, 'ResTarget', level) as { name?: string; val?: Tree };
    if (!val) refuse('node', 'ResTarget');
    const star = verifier.star(val, level);
    if (star) {
      verifier.spend(star.names.length);
      columns.addAll(star);
    } else {
      const fields = verifier.expression(val, level);
      columns.add(name ?? figure(val, verifier.firsts), fields);
    }
  }
  const row = columns.row();
  for (const condition of [body.whereClause, body.havingClause]) if (condition !== undefined) verifier.expression(condition as Tree, level);
  for (const window of listOf(body.windowClause)) verifier.part(window, 'WindowDef', level);
  order(verifier, body, level, row);
  return row;
}

/** Checks the clauses that may also name columns of the select list. */
function order(verifier: Verifier, body: Body, level: Level, columns: Row): void {
  if (!body.groupClause && !body.sortClause && !body.distinctClause) return;
  level.outputs = new Set(columns.names);
  for (const item of listOf(body.groupClause)) group(verifier, item, level);
  for (const item of listOf(body.sortClause)) {
    level.isItem = isName((item.SortBy as Body | undefined)?.node);
    verifier.part(item, 'SortBy', level);
  }
  // a plain DISTINCT is a list with one empty node
  for (const item of listOf(body.distinctClause)) {
    level.isItem = isName(item);
    if (Object.keys(item).length > 0) verifier.expression(item, level);
  }
  level.isItem = false;
  level.outputs = undefined;
}

const isName = (node: unknown): boolean => typeof node === 'object' && node !== null && 'ColumnRef' in node;

function group(verifier: Verifier, item: Tree, level: Level): void {
  if (!('GroupingSet' in item)) {
    level.isItem = isName(item) && !level.isOpen;
    verifier.expression(item, level);
    return;
  }
  verifier.enter();
  for (const inner of listOf(verifier.part(item, 'GroupingSet', level).content)) group(verifier, inner, level);
  verifier.leave();
}

/** Checks common table expressions. Without RECURSIVE each one can name only those before it, as in PostgreSQL, and not itself. */
function withClause(verifier: Verifier, body: Body, parent: Level | undefined, outer: Cte | undefined): Cte | undefined {
  const level = new Level(parent, outer);
  verifier.members('WithClause', body, PARTS.WithClause, level);
  const all = listOf(body.ctes).map((node) => {
    if (typeOf(node) !== 'CommonTableExpr') refuse('node', typeOf(node));
    return node.CommonTableExpr as Body;
  });
  let ctes = outer;
  if (!body.recursive) {
    for (const cte of all) ctes = { name: String(cte.ctename), columns: common(verifier, cte, level, ctes), next: ctes };
    return ctes;
  }
  const made = all.map((cte) => {
    const entry: Cte = { name: String(cte.ctename), columns: undefined, next: ctes };
    ctes = entry;
    return entry;
  });
  for (const [i, cte] of all.entries()) {
    const entry = made[i] as Cte;
    entry.columns = common(verifier, cte, level, ctes, (columns) => {
      entry.columns = columns;
    });
  }
  return ctes;
}

/** Checks a common table expression. @param onColumns called with its columns as soon as they are known */
function common(verifier: Verifier, cte: Body, level: Level, ctes: Cte | undefined, onColumns?: (columns: Row) => void): Row {
  verifier.members('CommonTableExpr', cte, PARTS.CommonTableExpr, level);
  const [search, cycle] = [cte.search_clause, cte.cycle_clause] as (Body | undefined)[];
  if (search) verifier.members('CTESearchClause', search, PARTS.CTESearchClause, level);
  if (cycle) verifier.members('CTECycleClause', cycle, PARTS.CTECycleClause, level);
  for (const list of [search?.search_col_list, cycle?.cycle_col_list]) namesOf(list);
  const more = [search?.search_seq_column, cycle?.cycle_mark_column, cycle?.cycle_path_column].filter((n) => n !== undefined).map(String);
  const named = (columns: Row, added: readonly string[]): Row =>
    Row.of([columns.renamed(namesOf(cte.aliascolnames)), ...(added.length > 0 ? [new Row(added)] : [])]);
  // the query itself can name these columns, but its star does not include them
  const within = more.filter((name) => !ROW_FUNCTIONS.has(name));
  return named(query(verifier, cte.ctequery as Tree, level.parent, ctes, onColumns && ((columns) => onColumns(named(columns, within)))), more);
}
