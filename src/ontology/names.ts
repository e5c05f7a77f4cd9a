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

/** Control characters, and characters that are invisible or change the order of others (`DI`: Default_Ignorable_Code_Point; U+2800: Braille without dots). */
export const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{DI}\p{Zl}\p{Zp}\u2800]/u;

/**
 * Joiners where scripts need them (Unicode Standard Annex 31), and those of emoji. After a letter of the Arabic block that does not join to the left, a non-joiner changes nothing, and
 * so does a variation selector after an emoji that is one without it.
 */
const JOINERS =
  /(?<=(?![\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef])[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Nkoo}]\p{M}*)\u200c(?=\p{L})|(?<=\p{L}\p{M}*[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca])[\u200c\u200d]|(?<=(?!\p{EPres})\p{ExtPict})\ufe0f|(?<=\p{ExtPict}\p{EMod}?\ufe0f?)\u200d(?=\p{ExtPict})/gu;

/** True if a name has characters that nobody sees, so that it may look like another name. */
export const looksLikeAnother = (name: string): boolean => INVISIBLE.test(name) && INVISIBLE.test(name.replace(JOINERS, ''));
