/** Names without case, and how a relationship answers to its name in the other direction. */

/** The form in which names are compared: they match without regard to case (docs/design/paths-and-cardinality.md#names-in-a-query). */
export const fold = (name: string): string => name.toLowerCase();

export const sameName = (a: string, b: string): boolean => a === b || fold(a) === fold(b);

/** The built-in root concept. */
export const THING = 'thing';

/** Columns that every concept has beside its properties. */
export const ENTITY_COLUMNS: readonly string[] = ['entity_id', 'entity_type', 'entity_label'];

/** The folded name in the other direction where none was declared: `~name`, and `name` for `~name`. */
export const otherWay = (name: string): string => (name.startsWith('~') ? name.slice(1) : `~${name}`);

/** Names to values, without case; of two equal names the first one stays. */
export function byName<T extends { readonly name: string }>(values: readonly T[]): ReadonlyMap<string, T> {
  const map = new Map<string, T>();
  for (const value of values) if (!map.has(fold(value.name))) map.set(fold(value.name), value);
  return map;
}
