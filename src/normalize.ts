/** Unicode normalisation in linear time. */

/**
 * Marks, and the letters that decompose to marks. The marks of a letter are sorted when a text is normalised, in quadratic time: 64,000 marks in a row take
 * five seconds.
 */
const MANY_MARKS = /[\p{M}\uff9e\uff9f]{256}(?=[\p{M}\uff9e\uff9f])/gu;
/** U+034F, which ends the marks of a letter. */
const JOINER = '\u034f';

/**
 * Normalises a text. In longer rows of marks, a joiner comes after each 256, as in the Stream-Safe Text Process (UAX #15, 13). Up to 256 marks are sorted fast, and the
 * result is that of Unicode, also for passwords that were hashed before the marks were limited.
 */
export const normalized = (text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string => text.replace(MANY_MARKS, `$&${JOINER}`).normalize(form);
