/** Text of others inside a prompt: marked as data, so that what stands in it is not taken for an instruction. Pure. */

/** `text` between marks that it cannot hold itself; control characters but line ends become spaces. */
export const fenced = (text: string): string => `<<<${inner(text)}>>>`;

/** The same without the marks, for a part of what is fenced. */
export const inner = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, ' ').replace(/<{3,}|>{3,}/g, (marks) => [...marks].join(' '));

/** A text in one line, cut where it is longer. */
export function line(text: string, most: number): string {
  const one = inner(text).replace(/\s+/g, ' ').trim();
  return one.length <= most ? one : `${one.slice(0, most - 1)}…`;
}
