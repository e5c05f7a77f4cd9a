/** FROM: its relations, their names and their columns. */

import { RESULT_COLUMNS, ROW_FUNCTIONS, SHAPED_BY_ARGUMENTS } from './fields.ts';
import { figure } from './figure.ts';
import { isFunction } from './functions.ts';
import { append, cteOf, Level, type Relation, type Side } from './level.ts';
import { PARTS } from './nodes.ts';
import { refuse } from './refusal.ts';
import { Columns, NOTHING, Row } from './row.ts';
import { columnOf, table } from './scope.ts';
import { type Body, listOf, namesOf, type Tree, typeOf } from './tree.ts';
import type { Verifier } from './verifier.ts';

/** Adds the items of a FROM clause to a level. LATERAL sub-selects and functions may refer to the items before them. */
export function fromClause(verifier: Verifier, items: unknown, level: Level): void {
  for (const node of listOf(items)) level.add(item(verifier, node, level));
}

function item(verifier: Verifier, node: Tree, level: Level): Side {
  const type = typeOf(node);
  verifier.enter();
  const side = type === 'JoinExpr' ? joins(verifier, node, level) : single(relation(verifier, type, node, level));
  verifier.leave();
  return side;
}

const single = (relation: Relation): Side => ({ relations: [relation], rows: [relation.columns] });

interface Alias {
  readonly alias: string | undefined;
  readonly names: readonly string[];
}

function aliasOf(verifier: Verifier, value: unknown, level: Level): Alias {
  if (value === undefined) return { alias: undefined, names: [] };
  const body = value as Body;
  verifier.members('Alias', body, PARTS.Alias, level);
  return { alias: String(body.aliasname), names: namesOf(body.colnames) };
}

function relation(verifier: Verifier, type: string, node: Tree, level: Level): Relation {
  if (type !== 'RangeVar' && type !== 'RangeSubselect' && type !== 'RangeFunction') refuse('node', type);
  const body = verifier.part(node, type, level);
  const { alias, names } = aliasOf(verifier, body.alias, level);
  if (type === 'RangeVar') return named(verifier, body, alias, names, level);
  if (type === 'RangeFunction') return functions(verifier, body, alias, names, level);
  const columns = verifier.query(body.subquery as Tree, body.lateral ? level : level.parent, level.ctes);
  const row = renamed(verifier, columns, names);
  return { alias, columns: row, whole: row };
}

/** A declared table, or a common table expression. Any other unqualified name could be a table of PostgreSQL's catalog. */
function named(verifier: Verifier, body: Body, alias: string | undefined, names: readonly string[], level: Level): Relation {
  const { schemaname: schema, relname: name, inh, relpersistence } = body as { schemaname?: string; relname?: string; inh?: boolean; relpersistence?: string };
  if (name === undefined) refuse('relation', '');
  if (inh !== true) refuse('relation', `ONLY ${name}`);
  if (relpersistence !== 'p') refuse('relation', name);
  if (schema !== undefined) {
    return table(verifier.table(schema, name) ?? refuse('relation', `${schema}.${name}`), alias, names);
  }
  const cte = cteOf(level.ctes, name) ?? refuse('relation', name);
  const columns = renamed(verifier, cte.columns ?? NOTHING, names);
  return { alias: alias ?? name, columns, whole: columns };
}

/** Adds a join. Joins lean to the left, so they are read in a loop. */
function joins(verifier: Verifier, top: Tree, level: Level): Side {
  const chain: Body[] = [];
  let left = top;
  for (; typeOf(left) === 'JoinExpr'; left = (left.JoinExpr as Body).larg as Tree) chain.push(verifier.part(left, 'JoinExpr', level));
  let side = item(verifier, left, level);
  for (const body of chain.reverse()) side = join(verifier, body, side, level);
  return side;
}

function join(verifier: Verifier, body: Body, left: Side, level: Level): Side {
  const mark = level.mark();
  // the right side may refer to the left one with LATERAL
  level.add(left);
  const right = item(verifier, body.rarg as Tree, level);
  level.backTo(mark);
  if (body.isNatural) {
    const rows = [...left.rows, ...right.rows];
    verifier.spend(sizeOf(rows));
    for (const row of rows) row.whole();
  }
  const merged = body.isNatural ? common(Row.of(left.rows), Row.of(right.rows)) : namesOf(body.usingClause);
  if (!body.isNatural) for (const name of merged) for (const side of [left, right]) columnOf(side.rows, name);
  append(left, right);
  if (body.quals !== undefined) verifier.expression(body.quals as Tree, new Level(level.parent, level.ctes, left));
  if (body.isNatural || merged.length > 0 || body.alias !== undefined) verifier.spend(sizeOf(left.rows));
  const all = body.isNatural || merged.length > 0 ? [mergedRow(merged, left.rows, body.isNatural === true)] : left.rows;
  const using = aliasOf(verifier, body.join_using_alias, level);
  if (using.alias !== undefined) {
    const columns = new Row(merged);
    left.relations.push({ alias: using.alias, columns, whole: columns });
  }
  if (body.alias === undefined) return { relations: left.relations, rows: all };
  const { alias, names } = aliasOf(verifier, body.alias, level);
  const columns = Row.of(all).renamed(names);
  return single({ alias, columns, whole: columns });
}

const sizeOf = (rows: readonly Row[]): number => rows.reduce((n, row) => n + row.names.length + row.tables.length, 0);

/** The columns of a relation with the names of an alias's column list. */
function renamed(verifier: Verifier, columns: Row, names: readonly string[]): Row {
  if (names.length > 0) verifier.spend(columns.names.length);
  return columns.renamed(names);
}

/** The known columns that NATURAL merges. */
const common = (left: Row, right: Row): string[] => left.names.filter((name) => right.has(name));

/** The columns of a join. Merged columns come first. */
function mergedRow(merged: readonly string[], rows: readonly Row[], isNatural: boolean): Row {
  const row = Row.of([new Row(merged), ...rows.map((r) => r.without(new Set(merged)))]);
  // NATURAL also merges columns of tables, which are not known here, so all positions are uncertain
  return isNatural && row.isOpen ? new Row(row.names, row.fields, 0, row.tables) : row;
}

/** Functions in FROM, with the columns that PostgreSQL gives them (addRangeTableEntryForFunction in parse_relation.c). */
function functions(verifier: Verifier, body: Body, alias: string | undefined, names: readonly string[], level: Level): Relation {
  const calls = listOf(body.functions).map((entry) => {
    if (typeOf(entry) !== 'List') refuse('node', typeOf(entry));
    const [call, definitions] = listOf((entry.List as Body).items);
    if (!call) refuse('node', 'RangeFunction');
    const before = verifier.tableRows;
    verifier.expression(call, level);
    return { call, ofRows: verifier.tableRows > before, defined: definitions && 'List' in definitions ? (definitions.List as Body).items : undefined };
  });
  const first = calls[0]?.call ?? refuse('node', 'RangeFunction');
  const called = alias ?? figure(first, verifier.firsts);
  const columns = new Columns();
  let isRow = calls.length > 1 || body.ordinality === true;
  for (const { call, ofRows, defined = body.coldeflist } of calls) {
    const given = definedColumns(verifier, defined, level) ?? resultColumns(call, calls.length === 1 ? called : figure(call, verifier.firsts), ofRows);
    isRow ||= given.isRow;
    columns.addAll(new Row(given.names));
  }
  if (body.ordinality) columns.add('ordinality');
  const row = columns.row().renamed(names);
  return { alias: called, columns: row, whole: isRow ? row : undefined };
}

interface Given {
  readonly names: readonly string[];
  /** True if the value is certainly a row. */
  readonly isRow: boolean;
}

function definedColumns(verifier: Verifier, definitions: unknown, level: Level): Given | undefined {
  if (definitions === undefined) return undefined;
  return { names: listOf(definitions).map((d) => String(verifier.part(d, 'ColumnDef', level).colname)), isRow: true };
}

/** True for COALESCE, GREATEST, LEAST, NULLIF and unnest: the result has the type of an argument, or of its elements. */
const givesArgument = (call: Tree): boolean =>
  'FuncCall' in call ? namesOf((call.FuncCall as Body).funcname).at(-1) === 'unnest' : ['CoalesceExpr', 'MinMaxExpr', 'A_Expr'].includes(typeOf(call));

/**
 * The known columns of a call in FROM.
 * @param called the name of a column that the function does not name
 * @param ofRows whether rows of tables are among its arguments, so that the result may have the columns of the table
 */
function resultColumns(call: Tree, called: string, ofRows: boolean): Given {
  if (ofRows && givesArgument(call)) return { names: [], isRow: false };
  // if the value is a row, it has no column of that name, and PostgreSQL would read `called.called` as a call
  const scalar: Given = { names: ROW_FUNCTIONS.has(called) ? [] : [called], isRow: false };
  if (!('FuncCall' in call)) return scalar;
  const { funcname, args } = call.FuncCall as Body;
  const path = namesOf(funcname);
  const name = path.at(-1) as string;
  // a function of the datasource may have any result columns
  if ((path.length > 1 && path[0] !== 'pg_catalog') || !isFunction(name) || SHAPED_BY_ARGUMENTS.has(name)) return { names: [], isRow: false };
  if (name === 'unnest' && path.length === 1 && listOf(args).length > 1) return { names: listOf(args).map(() => name), isRow: true };
  const names = RESULT_COLUMNS.get(name);
  return names ? { names, isRow: names.length > 1 } : scalar;
}
