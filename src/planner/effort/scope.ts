/** The names that a query sees while its effort is measured, and the sizes of what they mean. */
import type { FuncCall } from '@pgsql/types';
import { lastName, type Node, type SelectStmt, walk } from '../tree.ts';
import { bytesOf, DATA, type Size, sum, UNKNOWN, wholeNumber } from './sizes.ts';

/** The columns of a relation in FROM: their sizes by name, or those of a table, whose names do not matter. */
export type Columns = ReadonlyMap<string, Size> | 'table';

/** A query of WITH. `rows`: how many it makes of each row of the tables that it reads. */
export interface Named {
  readonly columns: Columns;
  readonly rows: number;
}

export interface Scope {
  readonly relations: Map<string, Columns>;
  readonly ctes: ReadonlyMap<string, Named>;
  readonly outer: Scope | undefined;
  /** How many rows FROM makes of each row of the tables that it reads; 1: it reads tables only, and what is gathered is data. */
  rows: number;
}

export const withNamed = (ctes: ReadonlyMap<string, Named>, name: string | undefined, columns: ReadonlyMap<string, Size>): ReadonlyMap<string, Named> =>
  name === undefined ? ctes : new Map(ctes).set(name, { columns, rows: RECURSION_ROWS });

/** The rows that a recursion makes before it runs out of time. */
export const RECURSION_ROWS = 100_000;
/** Rows of generate_series whose bounds are no whole numbers, and of one whose bounds are not constant. */
const SERIES_ROWS = 10_000;
const ANY_ROWS = 100_000;

/** The rows that a function in FROM makes. `size`: of its arguments. */
export function rowsOfFunction(call: FuncCall | undefined, size: Size): number {
  const name = lastName(call?.funcname).toLowerCase();
  if (name !== 'generate_series' && name !== 'generate_subscripts') return Math.max(1, bytesOf(size, 1_000));
  const bounds = (call?.args ?? []).map(wholeNumberOf);
  const [from, to, step = 1] = bounds;
  if (bounds.every((b) => b !== undefined)) return Math.max(1, Math.abs((to ?? 0) - (from ?? 0)) / Math.max(1, Math.abs(step)) + 1);
  return (call?.args ?? []).every(isConstantLike) ? SERIES_ROWS : ANY_ROWS;
}

function wholeNumberOf(node: Node | undefined): number | undefined {
  if (node && 'TypeCast' in node) return wholeNumberOf(node.TypeCast.arg);
  if (node && 'A_Expr' in node && node.A_Expr.lexpr === undefined) {
    const positive = wholeNumberOf(node.A_Expr.rexpr);
    return positive === undefined ? undefined : -positive;
  }
  return node && 'A_Const' in node ? wholeNumber(node.A_Const) : undefined;
}

const isConstantLike = (node: Node): boolean => ('TypeCast' in node ? node.TypeCast.arg !== undefined && isConstantLike(node.TypeCast.arg) : 'A_Const' in node);

/** Whether a FROM item reads a table of the datasource. */
export const hasTable = (node: Node): boolean =>
  ('RangeVar' in node && node.RangeVar.schemaname !== undefined) ||
  ('JoinExpr' in node && [node.JoinExpr.larg, node.JoinExpr.rarg].some((n) => n !== undefined && hasTable(n)));

/** Whether a query reads a table of the datasource, itself or in a sub-query: then its rows are those of tables. */
export function readsTable(query: SelectStmt): boolean {
  let found = false;
  walk(query.fromClause, (n) => {
    if ('RangeVar' in n && n.RangeVar.schemaname !== undefined) found = true;
    return !found;
  });
  return found;
}

export function sizeOfColumn(fields: readonly string[], scope: Scope | undefined): Size {
  for (let at = scope; at !== undefined; at = at.outer) {
    const [first = '', second] = fields;
    const relation = at.relations.get(first);
    if (second !== undefined && relation !== undefined) return relation === 'table' ? DATA : (relation.get(second) ?? sum([...relation.values()]));
    if (second !== undefined) continue;
    for (const of of at.relations.values()) if (of !== 'table' && of.has(first)) return of.get(first) as Size;
    if (relation !== undefined) return relation === 'table' ? DATA : sum([...relation.values()]);
    if ([...at.relations.values()].includes('table')) return DATA;
  }
  return UNKNOWN;
}

/** Columns under the names that an alias gives them. */
export function renamed<T extends Columns>(columns: T, names: readonly Node[] | undefined): T | Map<string, Size> {
  if (columns === 'table' || names === undefined || names.length === 0) return columns;
  const list = [...(columns as ReadonlyMap<string, Size>)];
  return new Map(
    list.map(([name, size], i) => {
      const given = names[i];
      return [given && 'String' in given ? (given.String.sval ?? name) : name, size];
    }),
  );
}
