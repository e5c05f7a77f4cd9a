/** The names that a query sees while its effort is measured, and the sizes of what they mean. */
import type { Node, SelectStmt } from '../tree.ts';
import { DATA, type Size, sum, UNKNOWN } from './sizes.ts';

/** The columns of a relation in FROM: their sizes by name, or those of a table, whose names do not matter. */
export type Columns = ReadonlyMap<string, Size> | 'table';

/** A query of WITH. `generates`: whether it makes rows that no table has. */
export interface Named {
  readonly columns: Columns;
  readonly generates: boolean;
}

export interface Scope {
  readonly relations: Map<string, Columns>;
  readonly ctes: ReadonlyMap<string, Named>;
  readonly outer: Scope | undefined;
  /** Whether FROM makes rows that no table has: without them, what is gathered is data. */
  generates: boolean;
}

export const withNamed = (ctes: ReadonlyMap<string, Named>, name: string | undefined, columns: ReadonlyMap<string, Size>): ReadonlyMap<string, Named> =>
  name === undefined ? ctes : new Map(ctes).set(name, { columns, generates: true });

/** Whether FROM of a query makes rows that no table has. */
export function makesRows(stmt: SelectStmt, ctes: ReadonlyMap<string, Named>): boolean {
  if (stmt.withClause?.recursive) return true;
  if (stmt.larg && stmt.rarg) return makesRows(stmt.larg, ctes) || makesRows(stmt.rarg, ctes);
  const makes = (node: Node): boolean => {
    if ('RangeFunction' in node) return true;
    if ('RangeVar' in node) return node.RangeVar.schemaname === undefined && ctes.get(node.RangeVar.relname ?? '')?.generates === true;
    if ('RangeSubselect' in node)
      return (
        node.RangeSubselect.subquery !== undefined && 'SelectStmt' in node.RangeSubselect.subquery && makesRows(node.RangeSubselect.subquery.SelectStmt, ctes)
      );
    return 'JoinExpr' in node && [node.JoinExpr.larg, node.JoinExpr.rarg].some((n) => n !== undefined && makes(n));
  };
  return (stmt.fromClause ?? []).some(makes);
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
