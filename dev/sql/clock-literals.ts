/** Literals whose value depends on the time at which PostgreSQL prepares their statement. */

/**
 * Where a literal, a quoted identifier or a comment begins. What single or double quotes enclose is a whole token; the group for its last quote is empty if it has
 * no end.
 */
const TOKEN =
  /(?<![\w$\u0080-\uffff])(?:e'(?:[^'\\]|\\[\s\S]|'')*('?)|u&'|\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|'(?:[^']|'')*('?)|"(?:[^"]|"")*("?)|--[^\n\r]*|\/\*/gi;
/** Words that PostgreSQL replaces by a time when it prepares `'now'::timestamptz`. */
const TIMES = /(?<![a-z])(?:now|today|tomorrow|yesterday)(?![a-z])/i;
/** Characters that values of arrays, ranges and rows may contain within such a word: PostgreSQL removes them. */
const REMOVED = /["\\]/g;
/** An escape of a letter in a literal such as `E'n\x6fw'`. */
const ESCAPED_LETTER = /^e'(?:[^\\]|\\\W)*\\\w/i;

/** Whether the value of a literal of a text may depend on the time, or a part of the text has no end. Calls of now() do not matter. */
export function readsClock(text: string): boolean {
  const tokens = new RegExp(TOKEN);
  let end: number | undefined;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [token] = found;
    // an empty group; with U&, any character may be the escape character
    if (found.includes('') || /^u/i.test(token)) return true;
    if (token === '/*') tokens.lastIndex = afterComment(text, tokens.lastIndex);
    if (token.startsWith('$')) {
      const last = text.indexOf(token, tokens.lastIndex);
      if (last < 0 || isTime(text.slice(tokens.lastIndex, last))) return true;
      tokens.lastIndex = last + token.length;
    }
    if (!/^(?:e?'|E')/.test(token)) continue;
    // two parts of one literal
    if (end !== undefined && isBlank(text.slice(end, found.index))) return true;
    if (ESCAPED_LETTER.test(token) || isTime(token)) return true;
    end = tokens.lastIndex;
  }
  return false;
}

const isTime = (literal: string): boolean => TIMES.test(literal) || TIMES.test(literal.replace(REMOVED, ''));

/** Whether a text has only spaces and comments of lines. */
const isBlank = (text: string): boolean => text.replace(/--[^\n\r]*/g, '').trim() === '';

/** The end of a comment, in which others may be nested; the end of the text if it has none. */
function afterComment(text: string, from: number): number {
  const bounds = /\/\*|\*\//g;
  bounds.lastIndex = from;
  let depth = 1;
  for (let found = bounds.exec(text); found !== null; found = bounds.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return bounds.lastIndex;
  }
  return text.length;
}
