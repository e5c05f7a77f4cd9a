/** Case-insensitive names, and the names of inverse relationships. */

/** Folds a name for comparison: names are case-insensitive (docs/design/paths-and-cardinality.md#names-in-a-query). */
export const fold = (name: string): string => name.toLowerCase();

export const sameName = (a: string, b: string): boolean => a === b || fold(a) === fold(b);

/** The built-in root concept. */
export const THING = 'thing';

/** Columns that every concept has in addition to its properties. */
export const ENTITY_COLUMNS: readonly string[] = ['entity_id', 'entity_type', 'entity_label'];

/** The default name of the inverse, folded: `~name`, and `name` for `~name`. */
export const otherWay = (name: string): string => (name.startsWith('~') ? name.slice(1) : `~${name}`);

/** Indexes values by folded name. Of two equal names the first one wins. */
export function byName<T extends { readonly name: string }>(values: readonly T[]): ReadonlyMap<string, T> {
  const map = new Map<string, T>();
  for (const value of values) if (!map.has(fold(value.name))) map.set(fold(value.name), value);
  return map;
}
