/** Checks that no relationship joins by a value of other rows. */
import { badRequest, quoted } from '../../errors.ts';
import type { Graph } from '../graph.ts';
import type { PropertyDef } from '../model.ts';
import { isPath } from '../paths.ts';
import type { Places } from './context.ts';
import type { Expressions } from './expressions.ts';
import { placeOf } from './finish-concepts.ts';

/**
 * Refuses foreign keys over calculated properties that follow paths. Joins read true values of all rows, so the rows that such a relationship leads to would reveal
 * values that its reader may not see.
 * @throws SvcError 400 `bad_relationship`
 */
export function checkJoins(graph: Graph, expressions: Expressions, places: Places): void {
  const known = new Map<PropertyDef, boolean>();
  const readsOtherRows = (def: PropertyDef | undefined): boolean => {
    if (def === undefined || def.expression === null) return false;
    const found = known.get(def);
    if (found !== undefined) return found;
    // a circle is refused elsewhere
    known.set(def, false);
    const reads = expressions.namesIn({ kind: 'property', def }).some(({ name }) => {
      const property = graph.property(name);
      return isPath(name) || property?.multi === true || readsOtherRows(property);
    });
    known.set(def, reads);
    return reads;
  };
  for (const c of graph.concepts) {
    for (const r of c.def?.relationships ?? []) {
      const name = [...r.source, ...r.references].find((n) => readsOtherRows(graph.property(n)));
      if (name === undefined) continue;
      const path = ['relationship', r.name];
      throw badRequest(
        'bad_relationship',
        `the relationship ${quoted(r.name)} of ${quoted(c.name)} compares ${quoted(name)}, which is calculated from other rows`,
        {
          offset: placeOf(c, places, ...path, 'source', name) ?? placeOf(c, places, ...path) ?? places.get('property', name),
          hint: 'Compare columns of the tables.',
        },
      );
    }
  }
}
