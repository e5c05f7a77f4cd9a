/**
 * Field selection. PostgreSQL reads `(x).f` as the call f(x) where `x` has no field `f`, for values of every type (PostgreSQL manual, "Using
 * Composite Types in Queries": functional notation). So a field may be selected only from a value that is known to have it.
 */

import type { A_Indirection, ColumnRef, Node } from '@pgsql/types';
import { nameOf, namesOf } from '../tree.ts';

/** What is known of a composite value: the names of its fields. PostgreSQL knows no fields of a field: `((ROW(ROW(1))).f1).f1` is a call again. */
export interface Composite {
  readonly fields: ReadonlySet<string>;
}

/** The answer for a reference that is judged later, where the columns are known. */
export const LATER = Symbol('later');

/** The result columns of the functions on the list that return a composite value. */
export const RESULT_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map(
  ['json_each', 'json_each_text', 'jsonb_each', 'jsonb_each_text'].map((name) => [name, ['key', 'value']] as const),
);

/** A step of an A_Indirection: the field's name, `*`, or undefined for a subscript. */
export function stepName(step: Node): string | undefined {
  return 'A_Star' in step ? '*' : nameOf(step);
}

/**
 * What is known of the fields of an expression's value; undefined: nothing. `reference` answers for the references in it.
 */
export function compositeOf<L = never>(node: Node | undefined, reference: (ref: ColumnRef) => Composite | undefined | L): Composite | undefined | L {
  if (!node) return undefined;
  if ('ColumnRef' in node) return reference(node.ColumnRef);
  if ('A_Indirection' in node) return afterSteps(node.A_Indirection, reference, () => undefined);
  if ('RowExpr' in node) {
    const args = node.RowExpr.args ?? [];
    if (args.some((a) => 'ColumnRef' in a && a.ColumnRef.fields?.some((f) => 'A_Star' in f))) return undefined;
    return { fields: new Set(args.map((_, i) => `f${i + 1}`)) };
  }
  if ('FuncCall' in node) {
    const path = namesOf(node.FuncCall.funcname);
    const builtIn = path.length === 1 || (path.length === 2 && path[0] === 'pg_catalog');
    const columns = builtIn ? RESULT_COLUMNS.get(path.at(-1) ?? '') : undefined;
    return columns && { fields: new Set(columns) };
  }
  return undefined;
}

/**
 * Follows the steps of an A_Indirection. `refused` hears the first field that the value before it is not known to have.
 * @returns what is known of the result's fields
 */
export function afterSteps<L>(
  { arg, indirection = [] }: A_Indirection,
  reference: (ref: ColumnRef) => Composite | undefined | L,
  refused: (field: string) => undefined,
): Composite | undefined | L {
  let known = compositeOf<L>(arg, reference);
  for (const [i, step] of indirection.entries()) {
    const name = stepName(step);
    if (name === undefined) known = undefined;
    else if (known === LATER) return i === 0 ? known : refused(name);
    else {
      const fields = (known as Composite | undefined)?.fields;
      if (name === '*' ? !fields : !fields?.has(name)) return refused(name);
      known = undefined;
    }
  }
  return known;
}
