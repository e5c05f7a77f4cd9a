/** What an answer shows. Answers contain ids, hashes, tokens and times, which differ in each run and contain any short text by chance. */

/** Texts that differ in each run: UUIDs, times, addresses with a port, and long runs of letters and digits that have both. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?/g, '<time>'],
  [/\b(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}\b/g, '<address>'],
  [/\b\d{13}\b/g, '<time>'],
  [/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{24,}(?![\w-])/g, '<random>'],
  [/\b\d+(\.\d+)? ms\b/g, '<time>'],
];

/** A text without what differs in each run. Compare a text with a pattern of digits or short words only after this. */
export const steady = (text: string): string => VARYING.reduce((left, [pattern, name]) => left.replace(pattern, name), text);

/** The values that a text contains, outside of what differs in each run. `except`: a text whose own values do not count, such as the question. */
export function shows(text: string, values: readonly string[], except = ''): string[] {
  const left = steady(text);
  return values.filter((value) => left.includes(value) && !except.includes(value));
}
