/** What stored expressions must not contain. */
import { badRequest } from '../../errors.ts';
import { refusedField } from '../guard/index.ts';
import { isSubQuery, type Node, string, walk } from '../plan/tree.ts';

/**
 * Refuses window functions outside of sub-queries. A stored expression is computed for the rows of a mapping, below the policies, so a window would read rows that the
 * caller may not.
 * @throws SvcError 400 `bad_expression`
 */
export function refuseWindows(expression: Node, offsetOf: (location: number | undefined) => number | undefined): void {
  walk(expression, (n) => {
    if ('FuncCall' in n && n.FuncCall.over) {
      const hint = 'A query or a view may have it, and a condition may have it in a sub-query.';
      throw badRequest('bad_expression', 'a calculated property, measure, condition or mask must not contain a window function', {
        hint,
        offset: offsetOf(n.FuncCall.location),
      });
    }
    return !isSubQuery(n);
  });
}

/** A part of a name, as it is written: the name of a path may be longer than PostgreSQL's identifiers. */
export function withOwnName(field: Node, standIns: ReadonlyMap<string, string>): Node {
  const name = 'String' in field ? standIns.get(field.String.sval ?? '') : undefined;
  return name === undefined ? field : string(name);
}

/** Refuses a field of a value at an offset. */
export const refuseField =
  (offset: number | undefined) =>
  (field: string): undefined => {
    throw refusedField(field).at(offset);
  };
