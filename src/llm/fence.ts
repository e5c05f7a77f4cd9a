/** Marks foreign text in a prompt as data, so that a model does not follow instructions in it. Pure. */

/** Encloses `text` in marks that it cannot contain itself. Control characters other than line breaks and tabs become spaces. */
export const fenced = (text: string): string => `<<<${inner(text)}>>>`;

/** The same without the marks, for a part of fenced text. */
export const inner = (text: string): string => clean(text).replace(/<{3,}|>{3,}/g, (marks) => [...marks].join(' '));

/** A well-formed text, with spaces for characters that control a terminal or the writing direction. Line breaks and tabs are kept. */
export const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ');

/** Removes the parts in which a model thinks aloud, which may contain drafts. Searches only up to the last end mark, so that each start mark has an end. */
export function withoutThoughts(text: string): string {
  const end = [...text.matchAll(END)].at(-1);
  if (end === undefined) return text;
  const after = end.index + end[0].length;
  return text.slice(0, after).replace(THOUGHTS, '') + text.slice(after);
}

const END = /<\/think(?:ing)?>/gi;
const THOUGHTS = /<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/gi;

/** A text on one line, truncated between characters. */
export const line = (text: string, most: number): string => cut(inner(text).replace(/\s+/g, ' ').trim(), most);

/** A text of at most `most` UTF-16 units, truncated between characters. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most - 1);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}
