/** What the columns of a query's result mean in terms of the model. The planner creates it; nesting and formatting of rows use it. */

/** A column of a result. */
export interface ColumnShape {
  /** Its key in flat rows. */
  readonly key: string;
  /** The hops of an unaliased relationship column, each as `works_for[company]`; empty if the column belongs to the row itself. */
  readonly hops: readonly string[];
  /** Its name at the end of the hops, or its key without hops. */
  readonly member: string;
  /** `id`: the entity_id of its level; `multi`: one value of a multi-value property; `link`: a column of the last hop's link, or the length of its walk. */
  readonly kind: 'id' | 'value' | 'multi' | 'link';
  /** Whether it belongs to the relation whose rows are the roots of nested results. */
  readonly ofRoot: boolean;
  /** The tag `format` of the property. */
  readonly format: string | null;
  /** Whether its values are JSON documents, whose booleans are not formatted. */
  readonly json: boolean;
}

/** The columns of a result. */
export interface Shape {
  /** In the order of the select list. */
  readonly columns: readonly ColumnShape[];
  /**
   * Whether rows of one root can merge into one object: the select list contains the root's entity_id, and a relationship column or multi-value property of it
   * (docs/design/nested-results.md#when-rows-nest).
   */
  readonly nests: boolean;
}

/** The order of columns in nested rows, as positions in `columns`: the columns of a level are adjacent, levels are in order of first appearance, multi-value columns are last. */
export function nestedOrder({ columns }: Shape): readonly number[] {
  const groups = new Map<string, number[]>();
  const multi: number[] = [];
  columns.forEach((column, i) => {
    if (isMulti(column)) multi.push(i);
    else {
      const level = JSON.stringify(levelOf(column));
      const group = groups.get(level);
      if (group) group.push(i);
      else groups.set(level, [i]);
    }
  });
  return [...[...groups.values()].flat(), ...multi];
}

/** The hops to the object that contains a column. */
export const levelOf = (column: ColumnShape): readonly string[] => (column.ofRoot ? column.hops : []);

/** Whether a column's values become an array. */
export const isMulti = (column: ColumnShape): boolean => column.ofRoot && column.kind === 'multi';
