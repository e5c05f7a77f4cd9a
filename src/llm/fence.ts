/** Text of others inside a prompt: marked as data, so that what stands in it is not taken for an instruction. Pure. */

/** `text` between marks that it cannot hold itself; control characters but line ends and tabs become spaces. */
export const fenced = (text: string): string => `<<<${inner(text)}>>>`;

/** The same without the marks, for a part of what is fenced. */
export const inner = (text: string): string => clean(text).replace(/<{3,}|>{3,}/g, (marks) => [...marks].join(' '));

/** A text of whole characters, with spaces for those that control a terminal or the direction of writing; line ends and tabs stay. */
export const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ');

/** A text without what models think aloud, which may contain drafts. Only up to the last end mark, so that each begin mark finds an end. */
export function withoutThoughts(text: string): string {
  const end = [...text.matchAll(END)].at(-1);
  if (end === undefined) return text;
  const after = end.index + end[0].length;
  return text.slice(0, after).replace(THOUGHTS, '') + text.slice(after);
}

const END = /<\/think(?:ing)?>/gi;
const THOUGHTS = /<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/gi;

/** A text in one line, cut between characters where it is longer. */
export const line = (text: string, most: number): string => cut(inner(text).replace(/\s+/g, ' ').trim(), most);

/** A text of at most so many UTF-16 units, cut between characters. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most - 1);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}
