/** Locations in the trees of texts. */
import type { SelectStmt } from '../plan/tree.ts';

/** Removes the locations of all nodes (in place). */
export function forgetLocations(value: unknown): void {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    for (const v of value) forgetLocations(v);
    return;
  }
  const o = value as Record<string, unknown>;
  delete o.location;
  for (const k in o) forgetLocations(o[k]);
}

/** The locations of a query's select list; of a set operation, those of its first SELECT. */
export const locationsOf = (stmt: SelectStmt): readonly (number | undefined)[] =>
  stmt.larg ? locationsOf(stmt.larg) : (stmt.targetList ?? []).map((t) => ('ResTarget' in t ? t.ResTarget.location : undefined));
