/** What the columns of a query's result mean in terms of the model: made by the planner, read where rows are nested and formatted. */

/** A column of a result. */
export interface ColumnShape {
  /** Its key in flat rows. */
  readonly key: string;
  /** The hops of an unaliased relationship column, `works_for[company]` each; none: it belongs to the row itself. */
  readonly hops: readonly string[];
  /** Its name at the end of the hops, or its key where it has none. */
  readonly member: string;
  /** `id`: the entity_id of its level; `multi`: one value of a multi-value property; `link`: a column of the last hop's link, or the length of its walk. */
  readonly kind: 'id' | 'value' | 'multi' | 'link';
  /** Whether it belongs to the relation whose things are the roots of nested results. */
  readonly ofRoot: boolean;
  /** The tag `format` of the property that it is. */
  readonly format: string | null;
  /** Whether its values are JSON documents, in which `true` is no boolean of ours. */
  readonly json: boolean;
}

/** The columns of a result. */
export interface Shape {
  /** In the order of the select list. */
  readonly columns: readonly ColumnShape[];
  /**
   * Whether rows of one root can become one object: the root's entity_id is selected, and a relationship column or multi-value property of it
   * (docs/design/nested-results.md#when-rows-nest).
   */
  readonly nests: boolean;
}

/** The columns that nested rows carry, as positions in `columns`: those of a level stand side by side, in order of first appearance; multi-value ones last. */
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

/** The hops to the object in which a column stands. */
export const levelOf = (column: ColumnShape): readonly string[] => (column.ofRoot ? column.hops : []);

/** Whether a column's values become an array. */
export const isMulti = (column: ColumnShape): boolean => column.ofRoot && column.kind === 'multi';
