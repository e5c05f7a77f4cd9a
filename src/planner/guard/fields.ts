/**
 * Field selection. If `x` has no field `f`, PostgreSQL reads `(x).f` as the call f(x), for values of every type (functional notation, Using Composite Types in Queries in its
 * manual). So a field may be selected only from a value that is known to have it.
 */

import type { A_Indirection, ColumnRef, Node } from '@pgsql/types';
import { badRequest, type SvcError } from '../../errors.ts';
import { nameOf, namesOf } from '../plan/tree.ts';

/** The hint for a refused field. */
export const FIELD_HINT =
  "A field can be selected from a row of a relation, (c).name, from ROW(...), and from a function with result columns such as jsonb_each. For another composite value write to_jsonb(x) ->> 'field'.";

/** The known fields of a composite value. Fields of a field are never known: PostgreSQL reads `((ROW(ROW(1))).f1).f1` as a call. */
export interface Composite {
  readonly fields: ReadonlySet<string>;
}

/** The result for a reference that is checked later, when its columns are known. */
export const LATER = Symbol('later');

/** The result columns of the allowed functions that return a composite value. */
export const RESULT_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map(
  ['json_each', 'json_each_text', 'jsonb_each', 'jsonb_each_text'].map((name) => [name, ['key', 'value']] as const),
);

/** The field that a step of an A_Indirection selects: a name, `*`, or undefined for a subscript. */
export function stepName(step: Node): string | undefined {
  return 'A_Star' in step ? '*' : nameOf(step);
}

/**
 * The known fields of the value of an expression; undefined: none.
 * @param reference returns the known fields of a column
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
 * Follows the steps of an A_Indirection.
 * @param reference returns the known fields of a column
 * @param refused called for the first field that the value is not known to have
 * @returns the known fields of the result
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

/** The message for a refused field. */
export const notAField = (field: string): string =>
  field === '*'
    ? '`.*` needs a value whose fields are known'
    : `\`${field}\` is not known to be a field of this value: PostgreSQL may call a function of that name`;

/** The error for a field that a value is not known to have. */
export const refusedField = (field: string): SvcError => badRequest('forbidden_function', notAField(field), { hint: FIELD_HINT });
