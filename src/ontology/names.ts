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

/** Letters whose script joins letters, without those of the Arabic block that do not join to the left: after these a non-joiner changes nothing. */
const JOINS_NEXT =
  /(?![\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef])[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Nkoo}]/u;
const VIRAMA = /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]/u;
const LETTER = /\p{L}/u;
const MARK = /\p{M}/u;
const PICTURE = /\p{Extended_Pictographic}/u;
/** Emoji that a variation selector does not change. */
const COLOURED = /\p{Emoji_Presentation}/u;
const SKIN = /\p{Emoji_Modifier}/u;

/** A name without joiners where scripts need them (Unicode Standard Annex 31), and without those of emoji. Reads each character once. */
function withoutJoiners(name: string): string {
  const characters = [...name];
  const at = (index: number) => characters[index] ?? '';
  let letter = ''; // the last character that is not a mark
  const isJoiner = (character: string, index: number): boolean => {
    const before = at(index - 1);
    const after = at(index + 1);
    if (character === '\ufe0f') return PICTURE.test(before) && !COLOURED.test(before);
    if (character !== '\u200c' && character !== '\u200d') return false;
    if (VIRAMA.test(before) && LETTER.test(letter)) return true;
    if (character === '\u200c') return JOINS_NEXT.test(letter) && LETTER.test(after);
    const selected = before === '\ufe0f' ? index - 2 : index - 1;
    return PICTURE.test(at(SKIN.test(at(selected)) ? selected - 1 : selected)) && PICTURE.test(after);
  };
  return characters
    .filter((character, index) => {
      const isKept = !isJoiner(character, index);
      if (!MARK.test(character)) letter = character;
      return isKept;
    })
    .join('');
}

/** True if a name has characters that nobody sees, so that it may look like another name. */
export const looksLikeAnother = (name: string): boolean => INVISIBLE.test(name) && INVISIBLE.test(withoutJoiners(name));

/** The schema that a name means, which may be the neutral one or the product's; undefined for other names. */
export function schemaNamed(name: string, product: string): 'svc' | 'esvc' | 'dsvc' | 'vsvc' | undefined {
  return (['svc', 'esvc', 'dsvc', 'vsvc'] as const).find((schema) => fold(name) === schema || fold(name) === schema.replace('svc', product));
}
