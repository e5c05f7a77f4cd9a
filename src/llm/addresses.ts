/**
 * Removes addresses from answers in words. A value of the database may instruct a language model to write an address that contains other values. A client that shows
 * the answer as Markdown or HTML loads images without a click, and would send these values to that address. Pure.
 */
import { line } from './fence.ts';

/** A text without foreign addresses, and whether it had any. */
export interface Cleaned {
  readonly text: string;
  readonly hadForeign: boolean;
}

// browsers also follow other spellings (https:/host, \\host), so each destination of a Markdown link counts as an address
const LINK = String.raw`(?<=\]\(\s{0,9}|^ {0,3}\[[^\]\n]{1,200}\]:\s{0,9})(?:<[^>\n]{0,2000}>?|(?=[^\s()<>]*[:/\\&])[^\s()<>]+)`;
const SCHEME = String.raw`\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s<>"'\`)\]}]+|\b(?:data|javascript|vbscript):[^\s<>"'\`)\]}]+`;
const HOST = String.raw`(?<![\w:/])\/\/[a-z0-9-]{1,63}\.[^\s<>"'\`)\]}]+|\bwww\.[^\s<>"'\`)\]}]+`;
const ADDRESS = new RegExp(`${LINK}|${SCHEME}|${HOST}`, 'gim');

/** Punctuation that ends the sentence of an address. */
const END = '.,;:!?';
/** The number of addresses that are searched in the known texts. Further ones are foreign. */
const MAX_SEARCHED = 50;

/**
 * Removes addresses that the given texts do not contain. Images and HTML elements lose the characters that make them.
 * @param known the rows, the question and what else may have addresses
 */
export function withoutForeignAddresses(text: string, known: readonly string[]): Cleaned {
  let hadForeign = false;
  let searched = 0;
  const cleaned = text.replace(ADDRESS, (whole) => {
    let length = whole.length;
    while (END.includes(whole[length - 1] ?? ' ')) length--;
    const address = whole.slice(0, length);
    if (searched++ < MAX_SEARCHED && known.some((k) => k.includes(address))) return whole;
    hadForeign = true;
    return `(address removed)${whole.slice(length)}`;
  });
  return { text: cleaned.replace(/!(?=\[)/g, '').replace(/<(?=[a-z/!?])/gi, '< '), hadForeign };
}

/** Cleans what a language model writes in addition to the answer, such as a reason: one line, without any address. */
export const remark = (text: string, most: number): string => line(withoutForeignAddresses(text, []).text, most);
