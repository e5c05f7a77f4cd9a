/** The text of statements that change something, as the user sees it before they run. Pure. */

/** Characters that are invisible, or change the order of others. Line breaks and tabs are not among them. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu;
/** More blanks than a text needs: they push what follows out of the window. */
const GAP = /\n(?:[^\S\n]*\n){2,}|[^\S\n]{41,}/g;

/** Shows hidden characters as codes, and long gaps as `⋯`, so that a statement cannot hide behind them. */
export const visible = (text: string): string =>
  text
    .replace(GAP, (gap) => (gap.startsWith('\n') ? '\n⋯\n' : ' ⋯ '))
    .replace(HIDDEN, (c) => `\\u${(c.codePointAt(0) as number).toString(16).padStart(4, '0')}`);
