/** The sizes of constants and of texts of the statement. */
import type { A_Const } from '@pgsql/types';
import { FIXED, MAX_DIGITS, ofBytes, type Size, withMarks } from './sizes.ts';

/** The size of a constant. For a number: the number of its digits. */
export function sizeOfConstant(constant: A_Const): Size {
  if (constant.sval) return sizeOfText(constant.sval.sval ?? '');
  if (constant.fval) return textSize(constant.fval.fval ?? '');
  if (constant.bsval) return ofBytes(4 * (constant.bsval.bsval?.length ?? 0));
  return FIXED;
}

/** A number with an exponent in a document or array, without the quotes and backslashes that may be within it. */
const NUMBER_IN_TEXT = /(?<![\w.])[\d._]+e[-+]?([\d_]{3,})(?!\w)/gi;
/** The digits that an exponent adds. It may have leading zeros and underscores. */
const digitsOfExponent = (exponent: string): number => Math.min(Number(exponent.replaceAll('_', '')), MAX_DIGITS);

/** The size of a text of the statement or of a parameter. One with an exponent in it may have numbers with many digits. */
export function sizeOfText(text: string): Size {
  const size = textSize(text);
  if (!/[e\\]/i.test(text) || !/\d\D*\d\D*\d\D*\d/.test(text)) return size;
  let wild = 0;
  for (const [, exponent] of text.replace(/["\\]/g, '').matchAll(NUMBER_IN_TEXT)) wild += digitsOfExponent(exponent as string);
  return withMarks(size, wild, true);
}

/** The size of a text. For a number with an exponent: the number of its digits. */
export function textSize(text: string): Size {
  const exponent = /^\s*[-+]?[\d._]+e[-+]?([\d_]+)\s*$/i.exec(text)?.[1];
  return ofBytes(2 * text.length + (exponent === undefined ? 0 : digitsOfExponent(exponent)));
}

/** The value of an integer constant; undefined for other constants. */
export function wholeNumber(constant: A_Const | undefined): number | undefined {
  if (constant?.ival) return constant.ival.ival ?? 0;
  const digits = constant?.fval?.fval ?? constant?.sval?.sval ?? '';
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}
