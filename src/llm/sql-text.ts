/** Extracts SQL from the text of a language model. Pure. */
import { clean, withoutThoughts } from './fence.ts';

const FENCES = /```(?:[a-z]*[ \t]*\r?\n|(?:postgre)?sql\b)?([\s\S]*?)```/gi;
const BEGINS = /^(?:select|with)\b/i;
/** The maximum length of a statement. A longer one is rejected, because a part of it would be another query. */
const MAX_CHARACTERS = 20_000;
/** How much of a text is searched. */
const MAX_TEXT = 100_000;

/** The statement in a text that does not have the required form: the content of its only code fence, or the text itself if it starts like a query. */
export function sqlIn(text: string): string | undefined {
  const answer = withoutThoughts(text.slice(0, MAX_TEXT)).trim();
  const sql = BEGINS.test(answer) ? (text.length > MAX_TEXT ? '' : statement(answer)) : fencedIn(answer);
  return sql === '' ? undefined : sql;
}

/** A statement without a fence, and without trailing semicolons and blanks. Empty if it is too long. */
export function statement(text: string): string {
  if (text.length > MAX_TEXT) return '';
  const answer = text.trim();
  return BEGINS.test(answer) ? bare(answer) : (fencedIn(answer) ?? bare(answer));
}

/** The content of code fences, if it is one statement. */
function fencedIn(text: string): string | undefined {
  const found = [...text.matchAll(FENCES)].map((m) => bare(m[1] ?? '')).filter((sql) => sql !== '');
  const [first, ...others] = found;
  return first !== undefined && others.every((other) => sameSql(first, other)) ? first : undefined;
}

function bare(text: string): string {
  const sql = clean(text);
  let end = sql.length;
  while (end > 0 && /[\s;]/.test(sql[end - 1] as string)) end--;
  const made = sql.slice(0, end).trimStart();
  return made.length > MAX_CHARACTERS ? '' : made;
}

/** Whether two statements are equal except for white space and the case of unquoted text. */
export const sameSql = (a: string, b: string): boolean => normal(a) === normal(b);

const normal = (sql: string): string =>
  sql
    .replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\s+|[^\s'"`]+/g, (part) =>
      /^\s/.test(part) ? ' ' : /^['"`]/.test(part) ? part : part.toLowerCase(),
    )
    .trim();

/** The values of string literals, which a statement compares with. */
export const literalsOf = (sql: string): readonly string[] => [...sql.matchAll(/'((?:[^']|'')*)'/g)].map((m) => (m[1] ?? '').replaceAll("''", "'"));
