/** The text of statements, as the user sees it before they run. Pure. */

/** Characters that are invisible, or change the order of others (`DI`: Default_Ignorable_Code_Point). Line breaks and tabs are not among them. */
const HIDDEN = /[\p{DI}\p{Zl}\p{Zp}\0-\x08\v-\x1f\x7f-\x9f]/gu;
/** More blanks than a text needs: they push what follows out of the window. */
const GAP = /\s{41,}/g;

/** Shows hidden characters as codes, and long gaps as `…`, so that they cannot hide a statement. */
export const visible = (text: string): string => text.replace(GAP, '\n…\n').replace(HIDDEN, (c) => `\\u${c.codePointAt(0)?.toString(16)}`);
